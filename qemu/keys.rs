//! The escape key of the terminal: Ctrl-A, as in QEMU's own `-serial mon:stdio`.

/// Ctrl-A.
const PREFIX: u8 = 0x01;

/// What to do with a byte from the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// It goes to the guest.
    Send(u8),
    /// It was the start of an escape, or an unknown one.
    Nothing,
    /// End QEMU.
    Quit,
    /// Show the keys.
    Help,
}

/// Finds escapes in what is typed.
#[derive(Default)]
pub(crate) struct Keys {
    after_prefix: bool,
}

impl Keys {
    /// Takes the next byte.
    pub(crate) fn press(&mut self, byte: u8) -> Action {
        if !self.after_prefix {
            self.after_prefix = byte == PREFIX;
            return if self.after_prefix { Action::Nothing } else { Action::Send(byte) };
        }
        self.after_prefix = false;
        match byte {
            PREFIX => Action::Send(PREFIX),
            b'x' | b'X' => Action::Quit,
            b'h' | b'H' | b'?' => Action::Help,
            _ => Action::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(bytes: &[u8]) -> Vec<Action> {
        let mut keys = Keys::default();
        bytes.iter().map(|byte| keys.press(*byte)).collect()
    }

    #[test]
    fn escapes_are_found_and_everything_else_is_sent() {
        use Action::{Help, Nothing, Quit, Send};
        assert_eq!(pressed(b"ax\x03\x00\xff"), [b'a', b'x', 3, 0, 0xff].map(Send));
        assert_eq!(pressed(b"\x01x"), [Nothing, Quit]);
        assert_eq!(pressed(b"\x01\x01x"), [Nothing, Send(1), Send(b'x')]);
        assert_eq!(pressed(b"\x01h\x01zq"), [Nothing, Help, Nothing, Nothing, Send(b'q')]);
    }
}
