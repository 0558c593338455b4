//! The JSON contract of the hub: every name that it reads or writes in JSON is written in this folder and nowhere
//! else. `docs/host.md` is the same for people, and for clients such as the MCP server of `askr-bridge`.

mod ask_name;
mod bytes;
mod capture;
mod command;
mod error;
mod fields;
mod operations;
mod reply;
mod request;
mod signal;
pub(crate) mod typed;
mod words;

pub use ask_name::AskName;
pub use capture::{Captured, capture_lost_pushed, captured_of, captured_pushed, dropped_of};
pub use command::{Command, Subscription};
pub use error::{Error, Problem};
pub use operations::{COMMON_FIELDS, OPERATIONS, Operation};
pub use reply::{
    AgentStatus, Status, ask_ended_pushed, ask_pushed, event_pushed, events_lost_pushed, reply, reply_error,
    state_pushed,
};
pub use request::{Envelope, parse};
pub use typed::{Ask, Cause, End, Event, Finished, Job, Output, Program, Pushed, Reply};
pub use words::{Answer, content_of, line, pretty, request_of_words};

pub(crate) use capture::capture;
pub(crate) use reply::{
    accepted, accepted_input, asks, content, counters, done, entries, events, fs_info, job, killed,
    link_counters, pong, processes, report, stat, subscribed, system_info, written,
};

/// Field names that requests and replies share.
mod name {
    pub(super) const ID: &str = "id";
    pub(super) const OP: &str = "op";
    pub(super) const TIMEOUT_MS: &str = "timeout_ms";
    pub(super) const PATH: &str = "path";
    pub(super) const NAME: &str = "name";
    pub(super) const OFFSET: &str = "offset";
    pub(super) const LENGTH: &str = "length";
    pub(super) const CONTENT: &str = "content";
    pub(super) const ENCODING: &str = "encoding";
    pub(super) const MODE: &str = "mode";
    pub(super) const WAIT_MS: &str = "wait_ms";
    pub(super) const CURSOR: &str = "cursor";
    pub(super) const FROM: &str = "from";
    pub(super) const TO: &str = "to";
    pub(super) const SIZE: &str = "size";
    pub(super) const SYNC: &str = "sync";
    pub(super) const ARGV: &str = "argv";
    pub(super) const ENV: &str = "env";
    pub(super) const CWD: &str = "cwd";
    pub(super) const STDIN: &str = "stdin";
    pub(super) const STDIN_OPEN: &str = "stdin_open";
    pub(super) const DEADLINE_MS: &str = "deadline_ms";
    pub(super) const MAX_OUTPUT: &str = "max_output";
    pub(super) const MAX: &str = "max";
    pub(super) const UNTIL: &str = "until";
    pub(super) const STDOUT_CURSOR: &str = "stdout_cursor";
    pub(super) const STDERR_CURSOR: &str = "stderr_cursor";
    pub(super) const JOB: &str = "job";
    pub(super) const PID: &str = "pid";
    pub(super) const SIGNAL: &str = "signal";
    pub(super) const TREE: &str = "tree";
    pub(super) const EOF: &str = "eof";
    pub(super) const ACTION: &str = "action";
    pub(super) const ASK: &str = "ask";
    pub(super) const ANSWER: &str = "answer";
    pub(super) const REFUSE: &str = "refuse";
    pub(super) const ASKS: &str = "asks";
    pub(super) const CONNECTED: &str = "connected";
    pub(super) const READY: &str = "ready";
    pub(super) const DOOR: &str = "door";
    pub(super) const EVENTS: &str = "events";
    pub(super) const ON: &str = "on";
    pub(super) const WATCH: &str = "watch";
    pub(super) const QUESTION: &str = "question";
    pub(super) const PROGRAM: &str = "program";
    pub(super) const BOOT: &str = "boot";
    pub(super) const OK: &str = "ok";
    pub(super) const ERROR: &str = "error";
    pub(super) const CODE: &str = "code";
    pub(super) const MESSAGE: &str = "message";
    pub(super) const HINT: &str = "hint";
    pub(super) const TEXT: &str = "text";
    pub(super) const BASE64: &str = "base64";
    /// Ends the name of a field whose bytes are no UTF-8.
    pub(super) const BASE64_SUFFIX: &str = "_base64";
}
