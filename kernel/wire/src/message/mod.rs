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
//! | EVENTS | [`EventsRequest`] | [`EventsReply`] |
//! | POWER | [`PowerRequest`] | `()` |
//! | RENAME | [`RenameRequest`] | `()` |
//! | UNLINK, RMDIR | [`PathRequest`] | `()` |
//! | TRUNCATE | [`TruncateRequest`] | `()` |
//! | WRITE_AT | [`WriteAtRequest`] | [`WriteReply`] |
//! | FSINFO | [`PathRequest`] | [`FsInfoReply`] |
//! | READDIR | [`ReaddirRequest`] | [`ReaddirReply`] |
//! | SPAWN | [`SpawnRequest`] | [`SpawnReply`] |
//! | WAIT | [`WaitRequest`] | [`WaitReply`] |
//! | KILL | [`KillRequest`] | [`KillReply`] |
//! | OUTPUT | [`OutputRequest`] | [`OutputReply`] |
//! | INPUT | [`InputRequest`] | [`InputReply`] |
//! | PS2 | [`Ps2Request`] | [`List`](crate::List) of [`ProcessFacts`] |
//! | UPTIME | `()` | [`UptimeReply`] |
//! | TIME | `()` | [`TimeReply`] |
//! | MEMINFO | `()` | [`List`](crate::List) of [`Counter`] |
//! | INFO | `()` | [`List`](crate::List) of [`Fact`] |
//!
//! The payload of a DECISION_REQ is the question and that of a DECISION_RESP is the answer, as they are.

mod asks;
mod changes;
mod events;
mod facts;
mod files;
mod jobs;
mod process;
mod response;
mod session;

pub use asks::{AnswerReply, AnswerRequest, AskFacts, AsksRequest, Choice, Context, Decision, PendingAsk};
pub use changes::{
    FsInfoReply, NodeEntry, NodeType, ReaddirReply, ReaddirRequest, RenameRequest, TruncateRequest,
    WriteAtRequest,
};
pub use events::{
    Address, BACKTRACE_MAX, EventsReply, EventsRequest, FaultFacts, LoggedEvent, ProcessEvent,
    REGISTER_NAMES, REGISTERS,
};
pub use facts::{Fact, PowerAction, PowerRequest, TimeReply, UptimeReply};
pub use files::{
    DirEntry, FileType, LIST_ENTRIES_MAX, ListRequest, PathRequest, ReadReply, ReadRequest, StatReply,
    WriteMode, WriteReply, WriteRequest,
};
pub use jobs::{
    EndCause, InputReply, InputRequest, JobState, KillReply, KillRequest, KillTarget, OutputReply,
    OutputRequest, OutputStream, SpawnReply, SpawnRequest, StdinPolicy, WaitReply, WaitRequest, Word,
};
pub use process::{
    ProcessEntry, ProcessFacts, ProcessOrigin, ProcessState, Ps2Request, PsRequest, TaskState,
};
pub use response::Response;
pub use session::{Counter, GENERATION, HelloReply, HelloRequest, PingReply, PingRequest, VerbGeneration};
