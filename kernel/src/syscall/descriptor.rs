//! Descriptors: duplicating them, their flags, and pipes.

use super::Call;
use super::file::descriptor;
use crate::{fs, mm};
use askr_abi::Errno;
use askr_abi::types::{
    F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_GETFL, F_SETFD, F_SETFL, FD_CLOEXEC, O_CLOEXEC, O_NONBLOCK,
};
use askr_core::areas::Access;

/// `dup(oldfd)`
pub(super) fn dup(call: &mut Call<'_>) -> Result<u64, Errno> {
    duplicate(call, 0, false)
}

/// `dup2(oldfd, newfd)`
pub(super) fn dup2(call: &mut Call<'_>) -> Result<u64, Errno> {
    let (old, new) = (call.int(0), call.int(1));
    if old == new {
        descriptor(call, old)?;
        return Ok(number(new));
    }
    replace(call, old, new, false)
}

/// `dup3(oldfd, newfd, flags)`
pub(super) fn dup3(call: &mut Call<'_>) -> Result<u64, Errno> {
    let (old, new, flags) = (call.int(0), call.int(1), call.args[2] as u32);
    if flags & !O_CLOEXEC != 0 || old == new {
        return Err(Errno::EINVAL);
    }
    replace(call, old, new, flags & O_CLOEXEC != 0)
}

/// What `new` was before is closed without a word about errors, as Linux does it.
fn replace(call: &Call<'_>, old: i32, new: i32, close_on_exec: bool) -> Result<u64, Errno> {
    let process = call.process();
    let limit = process.descriptor_limit();
    let before = process.files().lock().replace(old, new, close_on_exec, limit)?;
    drop(before);
    Ok(number(new))
}

fn duplicate(call: &Call<'_>, from: usize, close_on_exec: bool) -> Result<u64, Errno> {
    let file = descriptor(call, call.int(0))?;
    let process = call.process();
    let limit = process.descriptor_limit();
    process.files().lock().add_from(from, file, close_on_exec, limit).map(number)
}

/// `fcntl(fd, command, argument)`
pub(super) fn fcntl(call: &mut Call<'_>) -> Result<u64, Errno> {
    let (fd, argument) = (call.int(0), call.args[2]);
    let file = descriptor(call, fd)?;
    let files = call.process().files();
    match call.args[1] as u32 {
        command @ (F_DUPFD | F_DUPFD_CLOEXEC) => {
            let from =
                usize::try_from(argument).ok().filter(|&from| from < call.process().descriptor_limit());
            duplicate(call, from.ok_or(Errno::EINVAL)?, command == F_DUPFD_CLOEXEC)
        }
        F_GETFD => Ok(u64::from(files.lock().closes_on_exec(fd)?) * u64::from(FD_CLOEXEC)),
        F_SETFD => {
            files.lock().set_close_on_exec(fd, argument as u32 & FD_CLOEXEC != 0)?;
            Ok(0)
        }
        F_GETFL => Ok(u64::from(file.flags())),
        F_SETFL => {
            file.set_flags(argument as u32);
            Ok(0)
        }
        _ => Err(Errno::EINVAL),
    }
}

/// `pipe(pipefd)`
pub(super) fn pipe(call: &mut Call<'_>) -> Result<u64, Errno> {
    make_pipe(call, 0)
}

/// `pipe2(pipefd, flags)`
pub(super) fn pipe2(call: &mut Call<'_>) -> Result<u64, Errno> {
    make_pipe(call, call.args[1] as u32)
}

fn make_pipe(call: &Call<'_>, flags: u32) -> Result<u64, Errno> {
    const SIZE: usize = 8;
    if flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
        return Err(Errno::EINVAL);
    }
    let address = call.args[0];
    call.process().with_space(|space| mm::user::check(space, address, SIZE, Access::Write))?;
    let files = call.process().files();
    let limit = call.process().descriptor_limit();
    files.lock().require_room(2, limit)?;
    let (read, write) = fs::pipe(flags)?;
    let close_on_exec = flags & O_CLOEXEC != 0;
    let mut table = files.lock();
    let pair = [table.add(read, close_on_exec, limit)?, table.add(write, close_on_exec, limit)?];
    drop(table);
    let mut bytes = [0; SIZE];
    bytes[..4].copy_from_slice(&pair[0].to_le_bytes());
    bytes[4..].copy_from_slice(&pair[1].to_le_bytes());
    call.copy_out(address, &bytes)?;
    Ok(0)
}

fn number(fd: i32) -> u64 {
    u64::from(fd.unsigned_abs())
}
