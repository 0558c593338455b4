//! From scan codes (set 1, as the controller translates them; US layout) to the bytes that a terminal sends for the
//! same keys: those of xterm (ctlseqs, "PC-Style Function Keys").

use pc_keyboard::layouts::Us104Key;
use pc_keyboard::{DecodedKey, HandleControl, KeyCode, KeyEvent, KeyState, PS2Keyboard, ScancodeSet1};

/// Longest sequence of a key, in bytes.
pub const SEQUENCE_MAX: usize = 8;
const ESCAPE: u8 = 0x1b;

/// What a key press means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// Bytes for whoever reads the terminal.
    Bytes(Sequence),
    /// Ctrl-Alt-Delete: restart the machine.
    Restart,
}

/// A few bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    bytes: [u8; SEQUENCE_MAX],
    length: usize,
}

impl Sequence {
    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn of(parts: &[&[u8]]) -> Self {
        let mut sequence = Self::default();
        for &byte in parts.iter().copied().flatten().take(SEQUENCE_MAX) {
            sequence.bytes[sequence.length] = byte;
            sequence.length += 1;
        }
        sequence
    }
}

/// The state of a keyboard: which modifiers are down, which part of a scan code came.
pub struct Keyboard(PS2Keyboard<Us104Key, ScancodeSet1>);

impl Default for Keyboard {
    fn default() -> Self {
        Self::new()
    }
}

impl Keyboard {
    /// A keyboard with no key down.
    #[must_use]
    pub const fn new() -> Self {
        Self(PS2Keyboard::new(ScancodeSet1::new(), Us104Key, HandleControl::MapLettersToUnicode))
    }

    /// Takes a byte of the controller.
    pub fn scan_code(&mut self, byte: u8) -> Option<Typed> {
        // An unknown code means a key that has no meaning here.
        let event = self.0.add_byte(byte).ok().flatten()?;
        self.event(event)
    }

    fn event(&mut self, event: KeyEvent) -> Option<Typed> {
        let KeyEvent { code, state } = event.clone();
        let decoded = self.0.process_keyevent(event)?;
        if state != KeyState::Down {
            return None;
        }
        let held = self.0.get_modifiers();
        let (ctrl, alt, shift) = (held.is_ctrl(), held.lalt, held.is_shifted());
        if code == KeyCode::Delete && ctrl && held.is_alt() {
            return Some(Typed::Restart);
        }
        let sequence = special(code, ctrl, alt, shift).or_else(|| match decoded {
            // The numeric pad's, without NumLock.
            DecodedKey::Unicode('\x7f') => special(KeyCode::Delete, ctrl, alt, shift),
            DecodedKey::Unicode(character) => Some(text(code, character, ctrl, alt)),
            DecodedKey::RawKey(code) => special(numeric_pad(code).unwrap_or(code), ctrl, alt, shift),
        })?;
        Some(Typed::Bytes(sequence))
    }
}

/// Keys that send the same whatever the layout.
fn special(code: KeyCode, ctrl: bool, alt: bool, shift: bool) -> Option<Sequence> {
    let modifiers = 1 + u8::from(shift) + 2 * u8::from(alt) + 4 * u8::from(ctrl);
    let letter = |last: u8| match modifiers {
        1 => Sequence::of(&[b"\x1b[", &[last]]),
        _ => Sequence::of(&[b"\x1b[1;", &[b'0' + modifiers, last]]),
    };
    let number = |digits: &[u8]| match modifiers {
        1 => Sequence::of(&[b"\x1b[", digits, b"~"]),
        _ => Sequence::of(&[b"\x1b[", digits, b";", &[b'0' + modifiers], b"~"]),
    };
    Some(match code {
        KeyCode::ArrowUp => letter(b'A'),
        KeyCode::ArrowDown => letter(b'B'),
        KeyCode::ArrowRight => letter(b'C'),
        KeyCode::ArrowLeft => letter(b'D'),
        KeyCode::Home => letter(b'H'),
        KeyCode::End => letter(b'F'),
        KeyCode::Insert => number(b"2"),
        KeyCode::Delete => number(b"3"),
        KeyCode::PageUp => number(b"5"),
        KeyCode::PageDown => number(b"6"),
        KeyCode::Tab if shift => Sequence::of(&[b"\x1b[Z"]),
        KeyCode::Return | KeyCode::NumpadEnter => with_alt(alt, b"\r"),
        KeyCode::Backspace => with_alt(alt, b"\x7f"),
        _ => return None,
    })
}

/// What the numeric pad's keys are without NumLock; the decoder names them by their digits.
const fn numeric_pad(code: KeyCode) -> Option<KeyCode> {
    Some(match code {
        KeyCode::Numpad8 => KeyCode::ArrowUp,
        KeyCode::Numpad2 => KeyCode::ArrowDown,
        KeyCode::Numpad6 => KeyCode::ArrowRight,
        KeyCode::Numpad4 => KeyCode::ArrowLeft,
        KeyCode::Numpad7 => KeyCode::Home,
        KeyCode::Numpad1 => KeyCode::End,
        KeyCode::Numpad9 => KeyCode::PageUp,
        KeyCode::Numpad3 => KeyCode::PageDown,
        KeyCode::Numpad0 => KeyCode::Insert,
        KeyCode::NumpadPeriod => KeyCode::Delete,
        _ => return None,
    })
}

/// A character. Ctrl with other keys than letters gives what a terminal gives: the character less its upper bits.
fn text(code: KeyCode, character: char, ctrl: bool, alt: bool) -> Sequence {
    let mut utf8 = [0; 4];
    let bytes = match (code, ctrl) {
        (KeyCode::Spacebar, true) => &[0][..],
        (KeyCode::Oem4 | KeyCode::Oem5 | KeyCode::Oem6 | KeyCode::Oem7, true) if character.is_ascii() => {
            utf8[0] = u8::try_from(character).unwrap_or(0) & 0x1f;
            &utf8[..1]
        }
        _ => character.encode_utf8(&mut utf8).as_bytes(),
    };
    with_alt(alt, bytes)
}

/// Alt is an escape before the key.
fn with_alt(alt: bool, bytes: &[u8]) -> Sequence {
    if alt { Sequence::of(&[&[ESCAPE], bytes]) } else { Sequence::of(&[bytes]) }
}
