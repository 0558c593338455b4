//! Frames and messages between host and kernel, the same on both sides of the wire.
//!
//! `docs/protocol.md` is the contract in words; this crate is the only code that knows the bytes. The kernel
//! and the bridge on the host both use it, so neither can drift from the other.
//!
//! Bytes come in through [`Deframer::take`] or, one by one, [`Deframer::push`], which yields a [`Frame`]; its `code`
//! tells which structs of [`message`] decode its payload. The other way round, a struct of [`message`] encodes itself
//! into a payload and [`encode`] makes the bytes of the frame.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "vectors")]
extern crate alloc;

mod cobs;
pub mod code;
mod cursor;
mod deframe;
mod door;
pub mod ext;
mod frame;
mod list;
pub mod message;
mod path;
pub mod status;
#[cfg(feature = "vectors")]
pub mod vectors;

pub use cursor::{DecodeError, Message, NoRoom, Reader, Writer};
pub use deframe::{Deframer, FrameError};
pub use door::Door;
pub use ext::ext_items;
pub use frame::{
    BASE_PAYLOAD_MAX, EncodeError, FRAME_MAX, Frame, FrameType, SESSION_HEAD_LEN, SESSION_PAYLOAD_MAX,
    SessionHead, SessionId, encode,
};
pub use list::{List, ListIter, ListWriter};
pub use path::{PATH_MAX, check_path};
