//! What `ioctl` says about a terminal: `termios(3)` and the window's size, as Linux has them on x86-64
//! (`include/uapi/asm-generic/termbits.h`, `ioctls.h`).

/// `ioctl` of any file: reads and writes do not wait if the `int` at the argument is not 0.
pub const FIONBIO: u64 = 0x5421;
/// `ioctl`: read the terminal's attributes.
pub const TCGETS: u64 = 0x5401;
/// `ioctl`: set the terminal's attributes now.
pub const TCSETS: u64 = 0x5402;
/// `ioctl`: set them after what was written has left.
pub const TCSETSW: u64 = 0x5403;
/// `ioctl`: as [`TCSETSW`], and forget what was typed and not read.
pub const TCSETSF: u64 = 0x5404;
/// `ioctl`: make it the controlling terminal of the caller's session.
pub const TIOCSCTTY: u64 = 0x540E;
/// `ioctl`: give up the controlling terminal.
pub const TIOCNOTTY: u64 = 0x5422;
/// `ioctl`: which session the terminal belongs to.
pub const TIOCGSID: u64 = 0x5429;
/// `ioctl`: which process group the terminal belongs to.
pub const TIOCGPGRP: u64 = 0x540F;
/// `ioctl`: give the terminal to a process group.
pub const TIOCSPGRP: u64 = 0x5410;
/// `ioctl`: read the size of the window.
pub const TIOCGWINSZ: u64 = 0x5413;
/// `ioctl`: set the size of the window.
pub const TIOCSWINSZ: u64 = 0x5414;

/// Input: a carriage return is read as a newline.
pub const ICRNL: u32 = 0o400;
/// Input: what finds no room rings the bell.
pub const IMAXBEL: u32 = 0o20_000;
/// Input: erasing takes whole UTF-8 characters.
pub const IUTF8: u32 = 0o40_000;
/// Output: convert it at all.
pub const OPOST: u32 = 0o1;
/// Output: a newline is sent as carriage return and newline.
pub const ONLCR: u32 = 0o4;
/// Control: 115,200 bits per second.
pub const B115200: u32 = 0o10_002;
/// Control: eight bits in a byte.
pub const CS8: u32 = 0o60;
/// Control: the receiver is on.
pub const CREAD: u32 = 0o200;
/// Local: Ctrl-C, Ctrl-\ and Ctrl-Z are signals.
pub const ISIG: u32 = 0o1;
/// Local: input is read in lines that can be corrected.
pub const ICANON: u32 = 0o2;
/// Local: what is typed is shown.
pub const ECHO: u32 = 0o10;
/// Local: erasing is shown as erasing.
pub const ECHOE: u32 = 0o20;
/// Local: so is erasing the line.
pub const ECHOK: u32 = 0o40;
/// Local: control characters are shown as `^X`.
pub const ECHOCTL: u32 = 0o1000;
/// Local: Ctrl-W erases a word.
pub const IEXTEN: u32 = 0o100_000;

/// Index in [`Termios::control_chars`]: Ctrl-C.
pub const VINTR: usize = 0;
/// Index: Ctrl-\.
pub const VQUIT: usize = 1;
/// Index: Ctrl-Z.
pub const VSUSP: usize = 10;
/// Index: erases a character.
pub const VERASE: usize = 2;
/// Index: erases the line.
pub const VKILL: usize = 3;
/// Index: ends the file.
pub const VEOF: usize = 4;
/// Index: how long a read waits, in tenths of a second.
pub const VTIME: usize = 5;
/// Index: how many bytes a read waits for.
pub const VMIN: usize = 6;
/// Index: erases a word.
pub const VWERASE: usize = 14;

/// `struct termios` of the kernel (36 bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Termios {
    /// `c_iflag`.
    pub input: u32,
    /// `c_oflag`.
    pub output: u32,
    /// `c_cflag`.
    pub control: u32,
    /// `c_lflag`.
    pub local: u32,
    /// `c_line`.
    pub line: u8,
    /// `c_cc`.
    pub control_chars: [u8; 19],
}

/// Size of [`Termios`] in bytes.
pub const TERMIOS_SIZE: usize = 36;
const _: () = assert!(size_of::<Termios>() == TERMIOS_SIZE);

impl Termios {
    /// What a terminal starts with, and what programs may expect from the shell: lines, echo and signals, CR read as
    /// NL, NL written as CR NL.
    pub const CANONICAL: Self = {
        let mut control_chars = [0; 19];
        control_chars[VINTR] = 0x03;
        control_chars[VQUIT] = 0x1c;
        control_chars[VSUSP] = 0x1a;
        control_chars[VERASE] = 0x7f;
        control_chars[VKILL] = 0x15;
        control_chars[VEOF] = 0x04;
        control_chars[VMIN] = 1;
        control_chars[VWERASE] = 0x17;
        Self {
            input: ICRNL | IMAXBEL | IUTF8,
            output: OPOST | ONLCR,
            control: B115200 | CS8 | CREAD,
            local: ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | IEXTEN,
            line: 0,
            control_chars,
        }
    };

    /// The structure as it lies in memory.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; TERMIOS_SIZE] {
        let mut bytes = [0; TERMIOS_SIZE];
        let flags = [self.input, self.output, self.control, self.local];
        for (slot, flags) in bytes.chunks_exact_mut(4).zip(flags) {
            slot.copy_from_slice(&flags.to_le_bytes());
        }
        bytes[16] = self.line;
        bytes[17..].copy_from_slice(&self.control_chars);
        bytes
    }

    /// The structure that lies in memory so.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; TERMIOS_SIZE]) -> Self {
        let flags = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let mut control_chars = [0; 19];
        control_chars.copy_from_slice(&bytes[17..]);
        Self {
            input: flags(0),
            output: flags(4),
            control: flags(8),
            local: flags(12),
            line: bytes[16],
            control_chars,
        }
    }
}

/// `struct winsize`. Zeros say that the size is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Winsize {
    /// Rows of characters.
    pub rows: u16,
    /// Columns of characters.
    pub columns: u16,
    /// Width in pixels.
    pub x_pixels: u16,
    /// Height in pixels.
    pub y_pixels: u16,
}

impl Winsize {
    /// The structure as it lies in memory.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 8] {
        let mut bytes = [0; 8];
        let fields = [self.rows, self.columns, self.x_pixels, self.y_pixels];
        for (slot, field) in bytes.chunks_exact_mut(2).zip(fields) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    /// The structure that lies in memory so.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 8]) -> Self {
        let field = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Self { rows: field(0), columns: field(2), x_pixels: field(4), y_pixels: field(6) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Termios, VMIN, Winsize};

    #[test]
    fn layouts_are_those_of_c() {
        let bytes = Termios::CANONICAL.to_bytes();
        // c_iflag IUTF8 | IMAXBEL | ICRNL, c_oflag OPOST | ONLCR, c_cc[VINTR] after c_line.
        assert_eq!(bytes[..8], [0x00, 0x61, 0, 0, 0x05, 0, 0, 0]);
        assert_eq!((bytes[16], bytes[17], bytes[17 + VMIN]), (0, 3, 1));
        assert_eq!(Termios::from_bytes(&bytes), Termios::CANONICAL);
        let size = Winsize { rows: 24, columns: 300, x_pixels: 1, y_pixels: 2 };
        assert_eq!(size.to_bytes(), [24, 0, 44, 1, 1, 0, 2, 0]);
        assert_eq!(Winsize::from_bytes(&size.to_bytes()), size);
    }
}
