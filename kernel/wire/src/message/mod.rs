//! The payloads. Every struct encodes and decodes both ways, so that kernel and host share one definition;
//! strings are bytes, since paths, names and questions need not be UTF-8.
//!
//! | code | request | body of the response |
//! |---|---|---|
//! | STAT | [`PathRequest`] | [`StatReply`] |
//! | LIST | [`ListRequest`] | [`List`](crate::List) of [`DirEntry`] |
//! | READ | [`ReadRequest`] | [`ReadReply`] |
//! | WRITE | [`WriteRequest`] | [`WriteReply`] |
//! | MKDIR, REMOVE | [`PathRequest`] | `()` |
//! | PS | [`PsRequest`] | [`List`](crate::List) of [`ProcessEntry`] |
//! | HELLO | [`HelloRequest`] | [`HelloReply`] |
//! | PING | [`PingRequest`] | [`PingReply`] |
//! | STATS | `()` | [`List`](crate::List) of [`Counter`] |
//! | ASKS | [`AsksRequest`] | [`List`](crate::List) of [`PendingAsk`] |
//! | ANSWER | [`AnswerRequest`] | [`AnswerReply`] |
//!
//! The payload of a DECISION_REQ is the question and that of a DECISION_RESP is the answer, as they are.

mod asks;
mod events;
mod files;
mod process;
mod response;
mod session;

pub use asks::{AnswerReply, AnswerRequest, AskFacts, AsksRequest, Decision, PendingAsk};
pub use events::ProcessEvent;
pub use files::{
    DirEntry, FileType, LIST_ENTRIES_MAX, ListRequest, PathRequest, ReadReply, ReadRequest, StatReply,
    WriteMode, WriteReply, WriteRequest,
};
pub use process::{ProcessEntry, ProcessState, PsRequest};
pub use response::Response;
pub use session::{Counter, GENERATION, HelloReply, HelloRequest, PingReply, PingRequest, VerbGeneration};
