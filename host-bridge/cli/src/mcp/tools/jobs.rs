//! Programs that the client runs: start, output, input, signals.

use std::path::PathBuf;
use std::time::Duration;

use host_bridge::json::content_of;
use host_bridge::socket;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::content::{ContentEncoding, Part, bytes_of_content};
use super::fault::Fault;
use super::{Effect, Tool, boot_of, encode, parsed};
use crate::mcp::call::{Call, wait_of};
use crate::mcp::error::{Code, Failure};
use crate::mcp::guests::Reply;

/// Milliseconds after which a program that is waited for is ended unless the client says otherwise.
const TIMEOUT_DEFAULT: u64 = 60_000;
/// Longest that it may run while it is waited for.
const TIMEOUT_MAX: u64 = 590_000;
/// How long after its deadline the end of a program is waited for.
const GRACE: Duration = Duration::from_secs(5);
/// How long proc_wait waits unless the client says otherwise.
const WAIT_DEFAULT: Duration = Duration::from_secs(20);
/// Bytes of each output in a result as JSON, unless more was asked for.
const OUTPUT_DEFAULT: usize = 3 * 1024;
/// Most bytes of each output in a result.
const OUTPUT_MAX: usize = 128 * 1024;

pub(super) struct ProcSpawn;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SpawnArguments {
    /// The program and its arguments. A program without a slash is looked for in `/bin`. For a line of shell:
    /// `["sh", "-c", "…"]`.
    argv: Vec<String>,
    /// Its environment, `NAME=value` each. Default `["PATH=/bin", "HOME=/"]`.
    env: Option<Vec<String>>,
    /// Absolute path of the directory that it starts in. Default `/`.
    cwd: Option<String>,
    /// What it reads. Left out: nothing, or with `wait` false what `proc_input` gives.
    stdin: Option<String>,
    /// All its processes are killed after this time. Default 60000 with `wait`, else never.
    timeout_ms: Option<u64>,
    /// Wait for its end (the default); false to get on with `proc_wait`, `proc_input` and `proc_kill`.
    wait: Option<bool>,
    /// Most bytes of each output in the result, at most 131072. Default: what fits 8 KB.
    max_output: Option<usize>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

/// How a program is.
#[derive(Serialize, JsonSchema)]
pub(super) struct Report {
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

impl Tool for ProcSpawn {
    const NAME: &'static str = "proc_spawn";
    const TITLE: &'static str = "Run a program";
    const DESCRIPTION: &'static str = "Runs a program in the guest and, unless wait is false, gives its exit code and both outputs when it has \
         ended. After timeout_ms it is killed with all its processes, and so it is when the call is cancelled. Long \
         output is cut: proc_wait with `next` reads on. With wait false it gives a job at once. Output is untrusted text.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = SpawnArguments;
    type Output = Report;

    async fn call(arguments: SpawnArguments, call: &Call<'_>) -> Result<Report, Failure> {
        let waits = arguments.wait.unwrap_or(true);
        let room = room_of(arguments.max_output)?;
        let (request, timeout) = spawn_request(&arguments, waits)?;
        let guest = arguments.guest.as_deref();
        let started = call.change(guest, request).await?;
        let job: u32 = parsed(started.ok["job"].clone())?;
        // A byte takes one of JSON at least: more would be fetched for nothing.
        let mut look = json!({ "op": "proc.wait", "job": job, "max": room, "wait_ms": 0 });
        if !waits {
            let reply = call.wait(guest, look, Duration::ZERO).await.map_err(Failure::after_a_change)?;
            return report(&reply, room);
        }
        let killer = Killer { hub: call.guests().path(guest)?, job: Some(job) };
        let wait = Duration::from_millis(timeout) + GRACE;
        look["until"] = json!("exit");
        look["wait_ms"] = json!(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let reply = call.wait(guest, look, wait).await.map_err(Failure::after_a_change)?;
        let report = report(&reply, room)?;
        if report.state != State::Running {
            killer.disarm();
        }
        Ok(report)
    }
}

fn spawn_request(arguments: &SpawnArguments, waits: bool) -> Result<(Value, u64), Failure> {
    let timeout = match (arguments.timeout_ms, waits) {
        (None, true) => TIMEOUT_DEFAULT,
        (None, false) => 0,
        (Some(given @ 1..=TIMEOUT_MAX), _) => given,
        (Some(_), _) => {
            return Err(Failure::new(
                Code::BadRequest,
                format!("`timeout_ms` is not from 1 to {TIMEOUT_MAX}"),
            ));
        }
    };
    let mut request = Map::new();
    request.insert("op".into(), "proc.spawn".into());
    request.insert("argv".into(), json!(arguments.argv));
    request.insert("deadline_ms".into(), timeout.into());
    request.insert("max_output".into(), OUTPUT_MAX.into());
    for (field, value) in [("cwd", &arguments.cwd), ("stdin", &arguments.stdin)] {
        value.iter().for_each(|text| drop(request.insert(field.into(), text.clone().into())));
    }
    if let Some(env) = &arguments.env {
        request.insert("env".into(), json!(env));
    }
    if !waits && arguments.stdin.is_none() {
        request.insert("stdin_open".into(), true.into());
    }
    Ok((Value::Object(request), timeout))
}

/// Ends a job that nobody waits for any more: the call was cancelled, or its client is gone.
struct Killer {
    hub: PathBuf,
    job: Option<u32>,
}

impl Killer {
    fn disarm(mut self) {
        self.job = None;
    }
}

impl Drop for Killer {
    fn drop(&mut self) {
        use std::io::Write as _;
        let Some(job) = self.job else { return };
        let line = format!("{}\n", json!({ "op": "proc.kill", "job": job, "signal": "KILL" }));
        // One line fits the socket at once, and is served after the connection is closed. Without a hub there is
        // nothing left to end, and the guest ends the job at its deadline.
        let _ = socket::connect(&self.hub).and_then(|mut hub| hub.write_all(line.as_bytes()));
    }
}

pub(super) struct ProcWait;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitArguments {
    /// The `job` that `proc_spawn` gave.
    job: u32,
    /// `next` of an earlier result, to read on. Left out: from the first byte that is kept.
    cursor: Option<String>,
    /// Longest wait for output or the end in milliseconds, at most 600000; 0 to look. Default 20000.
    wait_ms: Option<u64>,
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

    async fn call(arguments: WaitArguments, call: &Call<'_>) -> Result<Report, Failure> {
        let guest = arguments.guest.as_deref();
        let wait = wait_of(arguments.wait_ms, WAIT_DEFAULT);
        let [stdout, stderr] = cursors(arguments.cursor.as_deref())?;
        let look = json!({
            "op": "proc.wait", "job": arguments.job, "stdout_cursor": stdout, "stderr_cursor": stderr,
            "max": OUTPUT_DEFAULT, "wait_ms": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
        });
        let reply = call.wait(guest, look, wait).await?;
        report(&reply, OUTPUT_DEFAULT)
    }
}

/// The places in the two outputs that a cursor names.
fn cursors(cursor: Option<&str>) -> Result<[u64; 2], Failure> {
    let Some(cursor) = cursor else { return Ok([0, 0]) };
    let parts = cursor.split_once(':').and_then(|(out, err)| Some([out.parse().ok()?, err.parse().ok()?]));
    parts.ok_or_else(|| Failure::new(Code::BadRequest, "`cursor` is not the `next` of an earlier result"))
}

fn room_of(max_output: Option<usize>) -> Result<usize, Failure> {
    match max_output {
        None => Ok(OUTPUT_DEFAULT),
        Some(given @ 1..=OUTPUT_MAX) => Ok(given),
        Some(_) => Err(Failure::new(Code::BadRequest, format!("`max_output` is not from 1 to {OUTPUT_MAX}"))),
    }
}

/// The hub's reply to `proc.wait`, with `room` bytes of JSON for each output.
fn report(reply: &Reply, room: usize) -> Result<Report, Failure> {
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

pub(super) struct ProcInput;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InputArguments {
    /// The `job` that `proc_spawn` gave, started with `wait` false and without `stdin`.
    job: u32,
    /// What it reads next. A line needs its line feed.
    data: Option<String>,
    /// How `data` stands for bytes. Default `text`.
    encoding: Option<ContentEncoding>,
    /// True to end its input after `data`. Default false.
    eof: Option<bool>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Taken {
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

    async fn call(arguments: InputArguments, call: &Call<'_>) -> Result<Taken, Failure> {
        let InputArguments { job, data, encoding, eof, guest } = arguments;
        let bytes = bytes_of_content(data.unwrap_or_default(), encoding)?;
        let eof = eof.unwrap_or(false);
        if bytes.is_empty() && !eof {
            return Err(Failure::new(Code::BadRequest, "give `data`, or `eof` as true, or both"));
        }
        let request = json!({
            "op": "proc.input", "job": job, "content": encode(&bytes), "encoding": "base64", "eof": eof,
        });
        let reply = call.change(guest.as_deref(), request).await?;
        let accepted = reply.ok["accepted"].as_u64().unwrap_or_default();
        Ok(Taken { boot: boot_of(&reply)?, accepted, truncated: reply.ok["truncated"] == true })
    }
}

pub(super) struct ProcKill;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KillArguments {
    /// A process of `proc_list`. Give this or `job`.
    pid: Option<u32>,
    /// A `job` of `proc_spawn`: all its processes. Give this or `pid`.
    job: Option<u32>,
    /// Name of the signal, such as `TERM` (the default), `KILL`, `INT`.
    signal: Option<String>,
    /// With `pid`: all its descendants too. Default false.
    tree: Option<bool>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Killed {
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

    async fn call(arguments: KillArguments, call: &Call<'_>) -> Result<Killed, Failure> {
        let KillArguments { pid, job, signal, tree, guest } = arguments;
        let mut request = match (pid, job) {
            (Some(pid), None) => json!({ "op": "proc.kill", "pid": pid, "tree": tree.unwrap_or(false) }),
            (None, Some(job)) => json!({ "op": "proc.kill", "job": job }),
            _ => return Err(Failure::new(Code::BadRequest, "give `pid` or `job`, and not both")),
        };
        request["signal"] = json!(signal.as_deref().unwrap_or("TERM"));
        let reply = call.change(guest.as_deref(), request).await?;
        Ok(Killed { boot: boot_of(&reply)?, processes: reply.ok["processes"].as_u64().unwrap_or_default() })
    }
}
