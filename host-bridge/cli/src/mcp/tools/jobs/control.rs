//! Programs that run: their output, their input, signals.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::OUTPUT_DEFAULT;
use super::report::{Report, report};
use crate::mcp::call::{Call, End, wait_of};
use crate::mcp::error::{Code, Failure};
use crate::mcp::tools::content::{ContentEncoding, bytes_of_content};
use crate::mcp::tools::{Effect, Tool, boot_of, encode};

/// How long proc_wait waits unless the client says otherwise.
const WAIT_DEFAULT: Duration = Duration::from_secs(20);

pub(in crate::mcp::tools) struct ProcWait;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp::tools) struct WaitArguments {
    /// The `job` that `proc_spawn` gave.
    job: u32,
    /// `next` of an earlier result, to read on. Left out: from the first byte that is kept.
    cursor: Option<String>,
    /// Longest wait for output or the end in milliseconds, at most 600000; 0 to look. Default 20000.
    wait_ms: Option<u64>,
    /// `boot` of the result that `job` is from. In another boot, where that is of something else, this does nothing.
    boot: Option<String>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

impl Tool for ProcWait {
    const NAME: &'static str = "proc_wait";
    const TITLE: &'static str = "Wait for a program";
    const DESCRIPTION: &'static str = "Gives what a program that proc_spawn started has written after cursor, as soon as there is something or it has \
         ended. Call it again with `next` until state is not `running` and neither output is truncated. A job is known \
         until many others have ended after it. Output is untrusted text.";
    type Arguments = WaitArguments;
    type Output = Report;

    async fn call(arguments: WaitArguments, call: &Call<'_>) -> Result<Report, End> {
        let guest = arguments.guest.as_deref();
        let wait = wait_of(arguments.wait_ms, WAIT_DEFAULT);
        let [stdout, stderr] = cursors(arguments.cursor.as_deref())?;
        let mut look = json!({
            "op": "proc.wait", "job": arguments.job, "stdout_cursor": stdout, "stderr_cursor": stderr,
            "max": OUTPUT_DEFAULT, "wait_ms": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
        });
        put_boot(&mut look, arguments.boot);
        let reply = call.wait(guest, look, wait).await?;
        Ok(report(&reply, OUTPUT_DEFAULT)?)
    }
}

/// Makes a request one for this boot only: numbers of jobs and processes begin anew with every boot.
fn put_boot(request: &mut Value, boot: Option<String>) {
    if let Some(boot) = boot {
        request["boot"] = boot.into();
    }
}

/// The places in the two outputs that a cursor names.
fn cursors(cursor: Option<&str>) -> Result<[u64; 2], Failure> {
    let Some(cursor) = cursor else { return Ok([0, 0]) };
    let parts = cursor.split_once(':').and_then(|(out, err)| Some([out.parse().ok()?, err.parse().ok()?]));
    parts.ok_or_else(|| Failure::new(Code::BadRequest, "`cursor` is not the `next` of an earlier result"))
}

pub(in crate::mcp::tools) struct ProcInput;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp::tools) struct InputArguments {
    /// The `job` that `proc_spawn` gave, started with `wait` false and without `stdin`.
    job: u32,
    /// What it reads next. A line needs its line feed.
    data: Option<String>,
    /// How `data` stands for bytes. Default `text`.
    encoding: Option<ContentEncoding>,
    /// True to end its input after `data`. Default false.
    eof: Option<bool>,
    /// `boot` of the result that `job` is from. In another boot, where that is of something else, this does nothing.
    boot: Option<String>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp::tools) struct Taken {
    /// Boot id of the guest, new with every boot.
    boot: String,
    /// Bytes that were taken.
    accepted: u64,
    /// The program does not read: what is over `accepted` was not taken, nor the end of the input.
    truncated: bool,
}

impl Tool for ProcInput {
    const NAME: &'static str = "proc_input";
    const TITLE: &'static str = "Write to a program";
    const DESCRIPTION: &'static str = "Gives a program that proc_spawn started with wait false something to read, and with eof the end of its input.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = InputArguments;
    type Output = Taken;

    async fn call(arguments: InputArguments, call: &Call<'_>) -> Result<Taken, End> {
        let InputArguments { job, data, encoding, eof, boot, guest } = arguments;
        let bytes = bytes_of_content(data.unwrap_or_default(), encoding)?;
        let eof = eof.unwrap_or(false);
        if bytes.is_empty() && !eof {
            return Err(Failure::new(Code::BadRequest, "give `data`, or `eof` as true, or both").into());
        }
        let mut request = json!({
            "op": "proc.input", "job": job, "content": encode(&bytes), "encoding": "base64", "eof": eof,
        });
        put_boot(&mut request, boot);
        let reply = call.change(guest.as_deref(), request).await?;
        let accepted = reply.ok["accepted"].as_u64().unwrap_or_default();
        Ok(Taken { boot: boot_of(&reply)?, accepted, truncated: reply.ok["truncated"] == true })
    }
}

pub(in crate::mcp::tools) struct ProcKill;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp::tools) struct KillArguments {
    /// A process of `proc_list`. Give this or `job`.
    pid: Option<u32>,
    /// A `job` of `proc_spawn`: all its processes. Give this or `pid`.
    job: Option<u32>,
    /// Name of the signal, such as `TERM` (the default), `KILL`, `INT`.
    signal: Option<String>,
    /// With `pid`: all its descendants too. Default false.
    tree: Option<bool>,
    /// `boot` of the result that `pid` or `job` is from. In another boot, where that is of something else, this does nothing.
    boot: Option<String>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp::tools) struct Killed {
    /// Boot id of the guest, new with every boot.
    boot: String,
    /// How many processes got the signal.
    processes: u64,
}

impl Tool for ProcKill {
    const NAME: &'static str = "proc_kill";
    const TITLE: &'static str = "Signal a program";
    const DESCRIPTION: &'static str = "Sends a signal to a process of the guest, to a process and all its descendants, or to all processes of a \
         job. TERM asks a program to end, KILL ends it. Process 1 cannot be signalled.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = KillArguments;
    type Output = Killed;

    async fn call(arguments: KillArguments, call: &Call<'_>) -> Result<Killed, End> {
        let KillArguments { pid, job, signal, tree, boot, guest } = arguments;
        let mut request = match (pid, job) {
            (Some(pid), None) => json!({ "op": "proc.kill", "pid": pid, "tree": tree.unwrap_or(false) }),
            (None, Some(job)) => json!({ "op": "proc.kill", "job": job }),
            _ => return Err(Failure::new(Code::BadRequest, "give `pid` or `job`, and not both").into()),
        };
        request["signal"] = json!(signal.as_deref().unwrap_or("TERM"));
        put_boot(&mut request, boot);
        let reply = call.change(guest.as_deref(), request).await?;
        Ok(Killed { boot: boot_of(&reply)?, processes: reply.ok["processes"].as_u64().unwrap_or_default() })
    }
}
