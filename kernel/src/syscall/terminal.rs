//! `ioctl` on the terminal.

use super::Call;
use crate::{console, fs, process};
use askr_abi::Errno;
use askr_abi::terminal::{
    TCGETS, TCSETS, TCSETSF, TCSETSW, TERMIOS_SIZE, TIOCGPGRP, TIOCGWINSZ, TIOCSPGRP, TIOCSWINSZ, Winsize,
};

/// `ioctl(fd, request, argument)`: ENOTTY for anything that is not the terminal.
pub(super) fn ioctl(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, request, argument, ..] = call.args;
    let file = call.process().files().lock().get(call.int(0))?;
    if !fs::is_terminal(&file) {
        return Err(Errno::ENOTTY);
    }
    match request {
        TIOCGPGRP => call.copy_out(argument, &console::foreground().to_le_bytes())?,
        TIOCSPGRP => {
            let mut group = [0; 4];
            call.copy_in(argument, &mut group)?;
            let group = u32::from_le_bytes(group);
            if !process::group_exists(group) {
                return Err(Errno::EPERM);
            }
            console::set_foreground(group);
        }
        TIOCGWINSZ => call.copy_out(argument, &console::window().to_bytes())?,
        TIOCSWINSZ => {
            let mut size = [0; size_of::<Winsize>()];
            call.copy_in(argument, &mut size)?;
            console::set_window(Winsize::from_bytes(&size));
        }
        TCGETS => call.copy_out(argument, &console::attributes())?,
        // Output is converted when it is written, so there is nothing to wait for.
        TCSETS | TCSETSW | TCSETSF => {
            let mut attributes = [0; TERMIOS_SIZE];
            call.copy_in(argument, &mut attributes)?;
            console::set_attributes(&attributes, request == TCSETSF);
        }
        _ => return Err(Errno::ENOTTY),
    }
    Ok(0)
}
