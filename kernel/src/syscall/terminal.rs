//! `ioctl`: on the terminal, and the one request that works on every file.

use super::Call;
use crate::process::terminal;
use crate::{console, fs};
use askr_abi::Errno;
use askr_abi::signal::SIGWINCH;
use askr_abi::terminal::{
    FIONBIO, TCGETS, TCSETS, TCSETSF, TCSETSW, TERMIOS_SIZE, TIOCGPGRP, TIOCGSID, TIOCGWINSZ, TIOCNOTTY,
    TIOCSCTTY, TIOCSPGRP, TIOCSWINSZ, Winsize,
};
use askr_abi::types::O_NONBLOCK;

/// `ioctl(fd, request, argument)`: but for FIONBIO, ENOTTY for anything that is not the terminal.
pub(super) fn ioctl(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, request, argument, ..] = call.args;
    let file = call.process().files().lock().get(call.int(0))?;
    if request == FIONBIO {
        let mut on = [0; 4];
        call.copy_in(argument, &mut on)?;
        let others = file.flags() & !O_NONBLOCK;
        file.set_flags(if on == [0; 4] { others } else { others | O_NONBLOCK });
        return Ok(0);
    }
    if !fs::is_terminal(&file) {
        return Err(Errno::ENOTTY);
    }
    match request {
        TIOCGPGRP => call.copy_out(argument, &terminal::foreground(call.process())?.to_le_bytes())?,
        TIOCGSID => call.copy_out(argument, &terminal::session(call.process())?.to_le_bytes())?,
        TIOCSPGRP => {
            let mut group = [0; 4];
            call.copy_in(argument, &mut group)?;
            let group = u32::try_from(i32::from_le_bytes(group)).map_err(|_| Errno::EINVAL)?;
            terminal::set_foreground(call.process(), group)?;
        }
        TIOCSCTTY => terminal::acquire(call.process(), argument == 1)?,
        TIOCNOTTY => terminal::release(call.process())?,
        TIOCGWINSZ => call.copy_out(argument, &console::window().to_bytes())?,
        TIOCSWINSZ => {
            let mut size = [0; size_of::<Winsize>()];
            call.copy_in(argument, &mut size)?;
            let (size, before) = (Winsize::from_bytes(&size), console::window());
            console::set_window(size);
            if size != before {
                terminal::signal_foreground(SIGWINCH);
            }
        }
        TCGETS => call.copy_out(argument, &console::attributes())?,
        // Output is converted when it is written, so there is nothing to wait for.
        TCSETS | TCSETSW | TCSETSF => {
            let mut attributes = [0; TERMIOS_SIZE];
            call.copy_in(argument, &mut attributes)?;
            terminal::check_change(call.process())?;
            console::set_attributes(&attributes, request == TCSETSF);
        }
        _ => return Err(Errno::ENOTTY),
    }
    Ok(0)
}
