//! Requests of the agent, carried out with the functions that the system calls use.

mod facts;
mod files;
mod listing;
mod power;
mod processes;
mod reading;
mod upload;

use listing::Listing;
use reading::Reading;
use upload::Upload;

use super::jobs;
use crate::arch::clock::Nanos;
use crate::{fs, mm};
use alloc::vec;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::Timespec;
use askr_agentbus::policy::Origin;
use askr_agentbus::{Control, Request};
use askr_wire::message::{PowerRequest, ReaddirRequest, RenameRequest, TruncateRequest};
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
        Request::Uptime => facts::uptime(body),
        Request::Time => facts::time(body),
        Request::MemInfo => facts::meminfo(body),
        Request::Info => facts::info(body),
        _ => Err(Errno::ENOSYS),
    })
}

/// What requests of [`Lane::Files`] keep open for the next one.
pub(super) struct Kept {
    upload: Upload,
    listing: Listing,
    reading: Reading,
}

impl Kept {
    pub(super) const fn new() -> Self {
        Self { upload: Upload::new(), listing: Listing::new(), reading: Reading::new() }
    }

    /// When something of it has not been used for so long that it is to be closed.
    pub(super) fn idle_at(&self) -> Option<Nanos> {
        [self.upload.idle_at(), self.listing.idle_at(), self.reading.idle_at()].into_iter().flatten().min()
    }

    /// Closes what has not been used for so long.
    pub(super) fn close_idle(&mut self, now: Nanos) {
        let is_over = |idle_at: Option<Nanos>| idle_at.is_some_and(|idle_at| idle_at <= now);
        if is_over(self.upload.idle_at()) {
            self.upload.close();
        }
        if is_over(self.listing.idle_at()) {
            self.listing.close();
        }
        if is_over(self.reading.idle_at()) {
            self.reading.close();
        }
    }
}

/// As [`at_once`], of [`Lane::Files`].
///
/// # Errors
/// The status to answer with.
pub(super) fn files(control: &Control<'_>, kept: &mut Kept) -> Result<Vec<u8>, Status> {
    if needs_room(&control.request) {
        mm::require_heap_room().map_err(status)?;
    }
    let Control { origin, request, .. } = *control;
    if let Request::Power(PowerRequest { action }) = request {
        return Err(power::end(control, action));
    }
    let Kept { upload, listing, reading } = kept;
    answer(control, |body| match request {
        Request::Stat { path } => files::stat(path, body),
        Request::List { start, path } => files::list(start, path, listing, body),
        Request::Read { offset, len, path } => files::read(origin, offset, len, path, reading, body),
        Request::Readdir(ReaddirRequest { cursor, path }) => listing::readdir(cursor, path, listing, body),
        Request::FsInfo { path } => listing::fsinfo(path, body),
        Request::Write { mode, path, data } => files::write(origin, mode, path, data, body),
        Request::WriteAt(request) => upload.write_at(origin, &request, body),
        other => {
            let changed = change(origin, &other);
            // Whoever removes something to have its room expects it to be free, so it is not kept open.
            upload.close();
            if matches!(other, Request::Remove { .. } | Request::Rmdir { .. }) {
                listing.close();
            }
            changed.map(|()| 0)
        }
    })
}

/// Changes of one step, which say nothing but whether they were done.
fn change(origin: Origin, request: &Request<'_>) -> Result<(), Errno> {
    let root = &fs::root();
    match *request {
        Request::Mkdir { path } => fs::make_directory(origin, root, path, DIRECTORY_MODE),
        Request::Remove { path } => fs::remove(origin, root, path),
        Request::Rename(RenameRequest { from, to }) => fs::rename(origin, (root, from), (root, to), true),
        Request::Unlink { path } => fs::unlink(origin, root, path),
        Request::Rmdir { path } => fs::remove_directory(origin, root, path),
        Request::Truncate(TruncateRequest { size, path }) => match i64::try_from(size) {
            Ok(_) => fs::truncate(origin, root, path, size),
            Err(_) => Err(Errno::EFBIG),
        },
        _ => Err(Errno::ENOSYS),
    }
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
    matches!(
        request,
        Request::Write { .. }
            | Request::WriteAt(_)
            | Request::Mkdir { .. }
            | Request::Rename(_)
            | Request::Truncate(_)
    )
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

/// A time as the bus tells it.
fn seconds(time: Timespec) -> u64 {
    u64::try_from(time.sec).unwrap_or(0)
}

const fn too_big(_: NoRoom) -> Errno {
    Errno::EOVERFLOW
}

/// What the bus says for an error of the system calls. What has no status of its own is EIO.
pub(super) const fn status(errno: Errno) -> Status {
    match errno {
        Errno::ENOENT => Status::NoEnt,
        // Across file systems: the two paths do not go together.
        Errno::EINVAL | Errno::EXDEV => Status::Inval,
        Errno::EEXIST => Status::Exist,
        Errno::EPERM => Status::Perm,
        // Of open files there are too many for a moment.
        Errno::EAGAIN | Errno::ENFILE => Status::Again,
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
