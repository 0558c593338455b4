//! Requests of the agent, carried out with the functions that the system calls use.

mod files;
mod processes;

use super::jobs;
use crate::{fs, mm};
use alloc::vec;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_agentbus::{Control, Request};
use askr_wire::status::Status;
use askr_wire::{Message, NoRoom};

/// Rights of a directory that the agent makes.
const DIRECTORY_MODE: u32 = 0o755;

/// Where a request is carried out. One lane never waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// In the task of the bus: what looks at no file and waits for nothing.
    AtOnce,
    /// In the task of the bus too, when what it waits for has happened or its time is over.
    Later,
    /// In a task of its own, in the order of the requests: what may take as long as a disk takes.
    Files,
    /// In another one: starting a program, whose file may be on a disk too.
    Programs,
}

/// The lane of a request.
pub(super) const fn lane(request: &Request<'_>) -> Lane {
    match request {
        Request::Wait(_) | Request::Output(_) => Lane::Later,
        Request::Ps { .. }
        | Request::Kill(_)
        | Request::Input(_)
        | Request::Ps2(_)
        | Request::Uptime
        | Request::Time
        | Request::MemInfo
        | Request::Info => Lane::AtOnce,
        Request::Spawn(_) => Lane::Programs,
        Request::Stat { .. }
        | Request::List { .. }
        | Request::Read { .. }
        | Request::Write { .. }
        | Request::Mkdir { .. }
        | Request::Remove { .. }
        | Request::Rename(_)
        | Request::Unlink { .. }
        | Request::Rmdir { .. }
        | Request::Truncate(_)
        | Request::WriteAt(_)
        | Request::FsInfo { .. }
        | Request::Readdir(_)
        | Request::Power(_) => Lane::Files,
    }
}

/// Carries out a request of [`Lane::AtOnce`] and returns the body of the answer.
///
/// # Errors
/// The status to answer with.
pub(super) fn at_once(control: &Control<'_>) -> Result<Vec<u8>, Status> {
    if let Request::Input(request) = control.request {
        return encoded(control, &jobs::input(&request)?);
    }
    answer(control, |body| match control.request {
        Request::Ps { start } => processes::ps(start, body),
        Request::Ps2(request) => processes::ps2(request, body),
        Request::Kill(request) => processes::kill(control.origin, request, body),
        _ => Err(Errno::ENOSYS),
    })
}

/// As [`at_once`], of [`Lane::Files`].
///
/// # Errors
/// The status to answer with.
pub(super) fn files(control: &Control<'_>) -> Result<Vec<u8>, Status> {
    if needs_room(&control.request) {
        mm::require_heap_room().map_err(status)?;
    }
    let Control { origin, request, .. } = *control;
    answer(control, |body| match request {
        Request::Stat { path } => files::stat(path, body),
        Request::List { start, path } => files::list(start, path, body),
        Request::Read { offset, len, path } => files::read(origin, offset, len, path, body),
        Request::Write { mode, path, data } => files::write(origin, mode, path, data, body),
        Request::Mkdir { path } => done(fs::make_directory(origin, &fs::root(), path, DIRECTORY_MODE)),
        Request::Remove { path } => done(fs::remove(origin, &fs::root(), path)),
        _ => Err(Errno::ENOSYS),
    })
}

/// As [`at_once`], of [`Lane::Programs`].
///
/// # Errors
/// The status to answer with.
pub(super) fn programs(control: &Control<'_>) -> Result<Vec<u8>, Status> {
    match control.request {
        Request::Spawn(request) => encoded(control, &jobs::spawn(control.origin, &request)?),
        _ => Err(Status::NoSys),
    }
}

/// Whether a request makes the kernel remember something, for which there must be room.
const fn needs_room(request: &Request<'_>) -> bool {
    matches!(request, Request::Write { .. } | Request::Mkdir { .. })
}

/// The body that `fill` writes, as long as it says.
fn answer(
    control: &Control<'_>,
    fill: impl FnOnce(&mut [u8]) -> Result<usize, Errno>,
) -> Result<Vec<u8>, Status> {
    let mut body = vec![0; control.body_max];
    let length = fill(&mut body).map_err(status)?;
    body.truncate(length);
    Ok(body)
}

/// The body that is this message.
fn encoded<'a>(control: &Control<'_>, reply: &impl Message<'a>) -> Result<Vec<u8>, Status> {
    answer(control, |body| reply.encode(body).map_err(too_big))
}

/// The empty body of what has been done.
fn done(result: Result<(), Errno>) -> Result<usize, Errno> {
    result.map(|()| 0)
}

const fn too_big(_: NoRoom) -> Errno {
    Errno::EOVERFLOW
}

/// What the bus says for an error of the system calls. What has no status of its own is EIO.
pub(super) const fn status(errno: Errno) -> Status {
    match errno {
        Errno::ENOENT => Status::NoEnt,
        Errno::EINVAL => Status::Inval,
        Errno::EEXIST => Status::Exist,
        Errno::EPERM => Status::Perm,
        Errno::EAGAIN => Status::Again,
        Errno::EBUSY => Status::Busy,
        Errno::ENOSPC => Status::NoSpc,
        Errno::ENOTDIR => Status::NotDir,
        Errno::EISDIR => Status::IsDir,
        Errno::ENOTEMPTY => Status::NotEmpty,
        Errno::ENAMETOOLONG => Status::NameTooLong,
        Errno::EFBIG => Status::FBig,
        Errno::ESRCH => Status::Srch,
        Errno::ENOEXEC => Status::NoExec,
        Errno::ENOMEM => Status::NoMem,
        Errno::ETIMEDOUT => Status::TimedOut,
        Errno::ENOSYS => Status::NoSys,
        Errno::EOVERFLOW | Errno::E2BIG => Status::MsgSize,
        Errno::EROFS => Status::RoFs,
        Errno::EACCES => Status::Acces,
        Errno::ESTALE => Status::Stale,
        Errno::ELOOP => Status::Loop,
        Errno::ECANCELED => Status::Canceled,
        _ => Status::Io,
    }
}
