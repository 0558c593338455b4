//! The terminal in raw mode, and back again however this process ends.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};

/// Ends colours and shows the cursor (ECMA-48 SGR 0, DECTCEM): a guest that is cut off may leave both changed.
const SCREEN_RESET: &[u8] = b"\x1b[0m\x1b[?25h";

struct Modes {
    before: Termios,
    raw: Termios,
}

/// The modes while the terminal is raw. Global, because the panic hook needs them too.
static MODES: Mutex<Option<Modes>> = Mutex::new(None);

/// Raw mode of the terminal on stdin; ends on drop, on panic, and with [`restore`].
pub(crate) struct RawMode(());

impl RawMode {
    /// Switches the terminal to raw mode: every key goes to the guest, Ctrl-C included. Output processing stays
    /// on, so that messages of this program look right.
    pub(crate) fn enter() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.input_modes -= InputModes::ICRNL
            | InputModes::INLCR
            | InputModes::IGNCR
            | InputModes::ISTRIP
            | InputModes::IXON
            | InputModes::BRKINT;
        raw.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        restore_on_panic();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        *MODES.lock().unwrap_or_else(PoisonError::into_inner) = Some(Modes { before, raw });
        Ok(Self(()))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        restore();
    }
}

/// The size of the terminal as a word of the guest kernel's command line; nothing if it has no size.
pub(crate) fn size_word() -> Option<String> {
    let size = tcgetwinsize(io::stdin()).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then(|| format!("winsize={}x{}", size.ws_row, size.ws_col))
}

/// Back to raw mode after the process was stopped and continued: the shell has set modes of its own.
pub(crate) fn reenter() {
    if let Some(modes) = &*MODES.lock().unwrap_or_else(PoisonError::into_inner) {
        // A terminal that is gone ends the input, which ends this program.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes.raw);
    }
}

/// Puts the terminal back as it was; does nothing when it already is.
pub(crate) fn restore() {
    let Some(modes) = MODES.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return;
    };
    // The terminal may be gone (SIGHUP): then there is nothing to restore.
    let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes.before);
    let mut stdout = io::stdout();
    if stdout.is_terminal() {
        let _ = stdout.write_all(SCREEN_RESET).and_then(|()| stdout.flush());
    }
}

/// A panic in any thread restores the terminal before its message is printed, and ends the process.
fn restore_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore();
        print(info);
        std::process::exit(101);
    }));
}
