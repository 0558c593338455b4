//! The switches of a terminal that programs may turn.

use askr_abi::terminal::{ECHO, ICANON, ICRNL, ISIG, ONLCR, OPOST, Termios, VMIN, VTIME};

/// What of [`Termios`] can be changed. Everything else stays as in [`Termios::CANONICAL`] whatever is asked for, as
/// `tcsetattr(3)` allows: it succeeds if it could do any of it, and `tcgetattr` tells what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    /// ICANON: input is edited here and read line by line.
    pub canonical: bool,
    /// ECHO: what is typed is shown.
    pub echo: bool,
    /// ISIG: Ctrl-C, Ctrl-\ and Ctrl-Z are signals.
    pub signals: bool,
    /// ICRNL: CR is read as NL.
    pub return_is_newline: bool,
    /// OPOST.
    pub convert_output: bool,
    /// ONLCR, if output is converted.
    pub output_newline: bool,
    /// VMIN, 0 or 1: without canonical mode, whether a read waits for a byte. More than 1 counts as 1.
    pub min: u8,
    /// VTIME: with `min` 0, how long a read waits all the same, in tenths of a second. With `min` 1 it has no
    /// meaning, because the first byte ends the read.
    pub time: u8,
}

impl Modes {
    /// [`Termios::CANONICAL`].
    pub const CANONICAL: Self = Self::from_termios(&Termios::CANONICAL);

    /// What can be done of what is asked for.
    #[must_use]
    pub const fn from_termios(termios: &Termios) -> Self {
        let min = termios.control_chars[VMIN];
        Self {
            canonical: termios.local & ICANON != 0,
            echo: termios.local & ECHO != 0,
            signals: termios.local & ISIG != 0,
            return_is_newline: termios.input & ICRNL != 0,
            convert_output: termios.output & OPOST != 0,
            output_newline: termios.output & ONLCR != 0,
            min: if min > 1 { 1 } else { min },
            time: termios.control_chars[VTIME],
        }
    }

    /// For `TCGETS`.
    #[must_use]
    pub fn to_termios(self) -> Termios {
        let mut termios = Termios::CANONICAL;
        let unless = |on: bool, flag: u32| if on { 0 } else { flag };
        termios.local &=
            !(unless(self.canonical, ICANON) | unless(self.echo, ECHO) | unless(self.signals, ISIG));
        termios.input &= !unless(self.return_is_newline, ICRNL);
        termios.output &= !(unless(self.convert_output, OPOST) | unless(self.output_newline, ONLCR));
        termios.control_chars[VMIN] = self.min;
        termios.control_chars[VTIME] = self.time;
        termios
    }

    /// Whether a newline goes out as CR LF.
    #[must_use]
    pub const fn adds_carriage_return(self) -> bool {
        self.convert_output && self.output_newline
    }
}
