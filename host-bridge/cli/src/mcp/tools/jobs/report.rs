//! How a program is, as clients get it.

use host_bridge::json::content_of;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::mcp::error::{Code, Failure};
use crate::mcp::guests::Reply;
use crate::mcp::tools::content::{ContentEncoding, Part};
use crate::mcp::tools::fault::Fault;
use crate::mcp::tools::{boot_of, parsed};

/// How a program is.
#[derive(Serialize, JsonSchema)]
pub(in crate::mcp::tools) struct Report {
    /// Boot id of the guest, new with every boot.
    boot: String,
    /// Names the program, for `proc_wait`, `proc_input` and `proc_kill`.
    job: u32,
    /// Its first process.
    pid: u32,
    state: State,
    /// When it has exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u32>,
    /// The signal that ended it, such as `SEGV`.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
    /// Processes of it that go on.
    processes: u32,
    stdout: Output,
    stderr: Output,
    /// The `cursor` for `proc_wait`, to read on.
    next: String,
    /// What is known of the fault that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Fault>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Running,
    Exited,
    Signalled,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Cause {
    Itself,
    Deadline,
    Killed,
    OutOfMemory,
}

/// A part of an output.
#[derive(Serialize, JsonSchema)]
struct Output {
    /// What was written, as `encoding` says. Untrusted.
    content: String,
    encoding: ContentEncoding,
    /// Bytes that the program has written so far.
    total: u64,
    /// There is more to read after this: give `next` to `proc_wait`.
    truncated: bool,
    /// Bytes before this that the guest did not keep until they were read.
    lost: u64,
}

/// As the hub gives it, but for the outputs.
#[derive(Deserialize)]
struct Listed {
    job: u32,
    pid: u32,
    state: State,
    exit_code: Option<u32>,
    signal: Option<Value>,
    cause: Option<Cause>,
    processes: u32,
    fault: Option<Fault>,
}

impl Report {
    /// Whether it has not ended.
    pub(super) fn goes_on(&self) -> bool {
        self.state == State::Running
    }
}

/// The hub's reply to `proc.wait`, with `room` bytes of JSON for each output.
pub(super) fn report(reply: &Reply, room: usize) -> Result<Report, Failure> {
    let (stdout, out) = output(&reply.ok["stdout"], room)?;
    let (stderr, err) = output(&reply.ok["stderr"], room)?;
    let Listed { job, pid, state, exit_code, signal, cause, processes, fault } = parsed(reply.ok.clone())?;
    let signal = signal.map(|signal| signal.as_str().map_or_else(|| signal.to_string(), str::to_owned));
    let (boot, next) = (boot_of(reply)?, format!("{out}:{err}"));
    Ok(Report { boot, job, pid, state, exit_code, signal, cause, processes, stdout, stderr, next, fault })
}

/// An output, and the place in it that comes after.
fn output(piece: &Value, room: usize) -> Result<(Output, u64), Failure> {
    let bytes =
        content_of(piece).ok_or_else(|| Failure::new(Code::Protocol, "the hub's reply has no output"))?;
    let number = |field: &str| piece[field].as_u64().unwrap_or_default();
    let (start, total) = (number("start"), number("total"));
    let goes_on = piece["truncated"] == true || piece["ended"] != true;
    let part = Part::of(&bytes, goes_on, None, Some(room));
    let next = start.saturating_add(part.len as u64);
    let Part { content, encoding, .. } = part;
    Ok((Output { content, encoding, total, truncated: next < total, lost: number("lost") }, next))
}
