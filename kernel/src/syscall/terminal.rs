//! `ioctl` on the terminal.

use super::Call;
use crate::{console, fs, process};
use askr_abi::Errno;
use askr_abi::types::{TCGETS, TIOCGPGRP, TIOCGWINSZ, TIOCSPGRP};

/// Size that is reported for the window: the classic terminal's, since a serial line does not tell.
const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

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
        TIOCGWINSZ => {
            let size = [ROWS, COLUMNS, 0, 0].map(u16::to_le_bytes);
            call.copy_out(argument, size.as_flattened())?;
        }
        TCGETS => call.copy_out(argument, &console::attributes())?,
        _ => return Err(Errno::ENOTTY),
    }
    Ok(0)
}
