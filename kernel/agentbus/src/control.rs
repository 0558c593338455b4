//! The requests that the kernel carries out.

use askr_wire::message::{
    InputRequest, KillRequest, ListRequest, OutputRequest, PathRequest, PowerRequest, Ps2Request, PsRequest,
    ReadRequest, ReaddirRequest, RenameRequest, SpawnRequest, TruncateRequest, WaitRequest, WriteAtRequest,
    WriteMode, WriteRequest,
};
use askr_wire::status::Status;
use askr_wire::{DecodeError, Message, check_path, code};

use crate::policy::Origin;
use crate::reply_slots::Token;

/// A request to carry out once the router's lock is free. Its result goes back with
/// [`Router::respond`](crate::Router::respond), in any order and at any later time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "without a call of respond the peer never gets an answer"]
pub struct Control<'a> {
    /// Names the request towards `respond`.
    pub token: Token,
    /// On whose behalf it is done.
    pub origin: Origin,
    /// The verb, and the payload as it came: what [`Request::decode`] makes the request of again, for somebody who
    /// keeps it beyond the frame.
    pub code: u16,
    /// See `code`.
    pub payload: &'a [u8],
    /// What is to be done, borrowed from the frame.
    pub request: Request<'a>,
    /// Most bytes the body of the response may have; a longer one becomes EMSGSIZE.
    pub body_max: usize,
}

/// What is to be done. Paths are absolute, without NUL and at most [`askr_wire::PATH_MAX`] bytes long; they
/// are not yet canonical. Numbers are as the peer sent them, however absurd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// Facts about a path.
    Stat {
        /// The path.
        path: &'a [u8],
    },
    /// Entries of a directory.
    List {
        /// Number of entries to skip.
        start: u32,
        /// The directory.
        path: &'a [u8],
    },
    /// Bytes of a file.
    Read {
        /// Where to start, in bytes.
        offset: u64,
        /// How many bytes at most; to be clamped to what [`Control::body_max`] leaves.
        len: u32,
        /// The file.
        path: &'a [u8],
    },
    /// Put data into a file, which is made if it is not there.
    Write {
        /// Replace or append.
        mode: WriteMode,
        /// The file.
        path: &'a [u8],
        /// The data.
        data: &'a [u8],
    },
    /// Make a directory.
    Mkdir {
        /// The directory.
        path: &'a [u8],
    },
    /// Remove a file or an empty directory.
    Remove {
        /// The path.
        path: &'a [u8],
    },
    /// Processes.
    Ps {
        /// Number of processes to skip.
        start: u32,
    },
    /// Move a file or a directory, replacing what is there.
    Rename(RenameRequest<'a>),
    /// Remove a file.
    Unlink {
        /// The file.
        path: &'a [u8],
    },
    /// Remove an empty directory.
    Rmdir {
        /// The directory.
        path: &'a [u8],
    },
    /// Cut or extend a file.
    Truncate(TruncateRequest<'a>),
    /// Write into a file at an offset.
    WriteAt(WriteAtRequest<'a>),
    /// Facts about a filesystem.
    FsInfo {
        /// A path in it.
        path: &'a [u8],
    },
    /// Entries of a directory, by cursor.
    Readdir(ReaddirRequest<'a>),
    /// Start a program. Its path and its working directory are checked like all others; an empty working directory is `/`.
    Spawn(SpawnRequest<'a>),
    /// Answer when a job has ended.
    Wait(WaitRequest),
    /// Send a signal.
    Kill(KillRequest),
    /// Answer when a job has written something.
    Output(OutputRequest),
    /// Give a job something to read.
    Input(InputRequest<'a>),
    /// Processes with all that is known of them.
    Ps2(Ps2Request),
    /// Time since boot.
    Uptime,
    /// Time of day.
    Time,
    /// Memory.
    MemInfo,
    /// Kernel and machine.
    Info,
    /// Switch the machine off or start it again.
    Power(PowerRequest),
}

impl<'a> Request<'a> {
    /// The request that a payload of a base peer is.
    ///
    /// # Errors
    /// The status to answer with.
    pub(crate) fn decode_base(code: u16, payload: &'a [u8]) -> Result<Self, Status> {
        if code >= code::HELLO { Err(Status::NoSys) } else { Self::decode(code, payload) }
    }

    /// The request that a payload in a session is.
    ///
    /// # Errors
    /// The status to answer with.
    pub fn decode(code: u16, payload: &'a [u8]) -> Result<Self, Status> {
        Ok(match code {
            code::STAT => Self::Stat { path: path_of(payload)? },
            code::LIST => {
                let ListRequest { start, path } = message(payload)?;
                Self::List { start, path: checked(path)? }
            }
            code::READ => {
                let ReadRequest { offset, len, path } = message(payload)?;
                Self::Read { offset, len, path: checked(path)? }
            }
            code::WRITE => {
                let WriteRequest { mode, path, data } = message(payload)?;
                Self::Write { mode, path: checked(path)?, data }
            }
            code::MKDIR => Self::Mkdir { path: path_of(payload)? },
            code::REMOVE => Self::Remove { path: path_of(payload)? },
            code::PS => Self::Ps { start: message::<PsRequest>(payload)?.start },
            code::RENAME | code::UNLINK | code::RMDIR | code::TRUNCATE | code::WRITE_AT => {
                Self::decode_change(code, payload)?
            }
            code::FSINFO => Self::FsInfo { path: path_of(payload)? },
            code::READDIR => Self::Readdir(with_path(payload, |request: &ReaddirRequest<'a>| request.path)?),
            code::SPAWN => Self::Spawn(spawn_of(payload)?),
            code::WAIT => Self::Wait(message(payload)?),
            code::KILL => Self::Kill(message(payload)?),
            code::OUTPUT => Self::Output(message(payload)?),
            code::INPUT => Self::Input(message(payload)?),
            code::PS2 => Self::Ps2(message(payload)?),
            code::UPTIME => nothing(payload, Self::Uptime)?,
            code::TIME => nothing(payload, Self::Time)?,
            code::MEMINFO => nothing(payload, Self::MemInfo)?,
            code::INFO => nothing(payload, Self::Info)?,
            code::POWER => Self::Power(message(payload)?),
            _ => return Err(Status::NoSys),
        })
    }

    fn decode_change(code: u16, payload: &'a [u8]) -> Result<Self, Status> {
        Ok(match code {
            code::RENAME => {
                let request: RenameRequest<'a> =
                    with_path(payload, |request: &RenameRequest<'a>| request.from)?;
                checked(request.to)?;
                Self::Rename(request)
            }
            code::UNLINK => Self::Unlink { path: path_of(payload)? },
            code::RMDIR => Self::Rmdir { path: path_of(payload)? },
            code::TRUNCATE => {
                Self::Truncate(with_path(payload, |request: &TruncateRequest<'a>| request.path)?)
            }
            code::WRITE_AT => Self::WriteAt(with_path(payload, |request: &WriteAtRequest<'a>| request.path)?),
            _ => return Err(Status::NoSys),
        })
    }
}

fn message<'a, M: Message<'a>>(payload: &'a [u8]) -> Result<M, Status> {
    M::decode(payload).map_err(malformed)
}

/// A message with a path in it that must be one.
fn with_path<'a, M: Message<'a>>(payload: &'a [u8], path: impl FnOnce(&M) -> &'a [u8]) -> Result<M, Status> {
    let message = message(payload)?;
    checked(path(&message))?;
    Ok(message)
}

fn nothing<'a>(payload: &'a [u8], request: Request<'a>) -> Result<Request<'a>, Status> {
    message::<()>(payload).map(|()| request)
}

/// A program has a name in its arguments, and none of its strings holds a NUL: they could not be given to it.
fn spawn_of(payload: &[u8]) -> Result<SpawnRequest<'_>, Status> {
    let request: SpawnRequest<'_> = with_path(payload, |request: &SpawnRequest<'_>| request.path)?;
    if !request.cwd.is_empty() {
        checked(request.cwd)?;
    }
    let mut words = request.argv.iter().chain(request.env.iter());
    if request.argv.is_empty() || words.any(|word| word.0.contains(&0)) {
        return Err(Status::Inval);
    }
    Ok(request)
}

fn path_of(payload: &[u8]) -> Result<&[u8], Status> {
    checked(message::<PathRequest<'_>>(payload)?.path)
}

fn checked(path: &[u8]) -> Result<&[u8], Status> {
    check_path(path).map(|()| path)
}

/// Every way in which a payload is not its message is EINVAL to the peer.
pub(crate) const fn malformed(_: DecodeError) -> Status {
    Status::Inval
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use askr_wire::message::{ListRequest, ReadRequest};
    use askr_wire::status::Status;
    use askr_wire::{Message, code};

    use super::Request;

    #[test]
    fn absurd_numbers_arrive_as_they_are() {
        for offset in [0, 1 << 31, 1 << 32, 1 << 63, u64::MAX] {
            for len in [0, 1 << 31, u32::MAX] {
                let mut out = [0; 64];
                let size = ReadRequest { offset, len, path: b"/f" }.encode(&mut out).unwrap();
                let request = Request::decode(code::READ, &out[..size]);
                assert_eq!(request, Ok(Request::Read { offset, len, path: b"/f" }));
            }
        }
        let mut out = [0; 64];
        let size = ListRequest { start: u32::MAX, path: b"/" }.encode(&mut out).unwrap();
        let request = Request::decode(code::LIST, &out[..size]);
        assert_eq!(request, Ok(Request::List { start: u32::MAX, path: b"/" }));
    }

    #[test]
    fn bad_paths_and_cut_payloads_are_refused() {
        let long = vec![b'/'; 1024];
        for (path, status) in [
            (&b""[..], Status::Inval),
            (b"tmp", Status::Inval),
            (b"/a\0b", Status::Inval),
            (&long, Status::NameTooLong),
        ] {
            for code in [code::STAT, code::MKDIR, code::REMOVE] {
                assert_eq!(Request::decode(code, path), Err(status));
            }
        }
        for code in [code::LIST, code::READ, code::WRITE, code::PS] {
            assert_eq!(Request::decode(code, &[0; 3]), Err(Status::Inval));
        }
        assert_eq!(Request::decode(code::PS, &[0; 5]), Err(Status::Inval));
        assert_eq!(Request::decode(code::EVENTS, &[]), Err(Status::NoSys), "the router's own");
    }
}
