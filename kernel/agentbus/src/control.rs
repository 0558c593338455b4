//! The requests that the kernel carries out.

use askr_wire::message::{ListRequest, PathRequest, PsRequest, ReadRequest, WriteMode, WriteRequest};
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
}

impl<'a> Request<'a> {
    /// The request that a payload is.
    pub(crate) fn decode(code: u16, payload: &'a [u8]) -> Result<Self, Status> {
        Ok(match code {
            code::STAT => Self::Stat { path: path_of(payload)? },
            code::LIST => {
                let ListRequest { start, path } = ListRequest::decode(payload).map_err(malformed)?;
                Self::List { start, path: checked(path)? }
            }
            code::READ => {
                let ReadRequest { offset, len, path } = ReadRequest::decode(payload).map_err(malformed)?;
                Self::Read { offset, len, path: checked(path)? }
            }
            code::WRITE => {
                let WriteRequest { mode, path, data } = WriteRequest::decode(payload).map_err(malformed)?;
                Self::Write { mode, path: checked(path)?, data }
            }
            code::MKDIR => Self::Mkdir { path: path_of(payload)? },
            code::REMOVE => Self::Remove { path: path_of(payload)? },
            code::PS => Self::Ps { start: PsRequest::decode(payload).map_err(malformed)?.start },
            _ => return Err(Status::NoSys),
        })
    }
}

fn path_of(payload: &[u8]) -> Result<&[u8], Status> {
    checked(PathRequest::decode(payload).map_err(malformed)?.path)
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
        assert_eq!(Request::decode(code::EVENTS, &[]), Err(Status::NoSys));
    }
}
