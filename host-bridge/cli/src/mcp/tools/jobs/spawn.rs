//! Starting a program.

use std::pin::pin;
use std::time::Duration;

use rmcp::model::InputResponses;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::OUTPUT_DEFAULT;
use super::asks::{newest, next_ask};
use super::killer::Killer;
use super::report::{Report, report};
use crate::mcp::call::{Call, End};
use crate::mcp::error::{Code, Failure};
use crate::mcp::tools::asks::{GoesOn, Told};
use crate::mcp::tools::content::{ContentEncoding, bytes_of_content};
use crate::mcp::tools::{Effect, Encoding, Tool, boot_of, bytes_of, encode, parsed, put_bytes};

/// Milliseconds after which a program that is waited for is ended unless the client says otherwise.
const TIMEOUT_DEFAULT: u64 = 60_000;
/// Longest that it may run while it is waited for.
const TIMEOUT_MAX: u64 = 590_000;
/// How long after its deadline the end of a program is waited for.
const GRACE: Duration = Duration::from_secs(5);
/// Most bytes of each output in a result.
const OUTPUT_MAX: usize = 128 * 1024;

pub(in crate::mcp::tools) struct ProcSpawn;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp::tools) struct SpawnArguments {
    /// The program and its arguments. A program without a slash is looked for in `/bin`. For a line of shell:
    /// `["sh", "-c", "…"]`.
    argv: Vec<String>,
    /// How `argv`, `env` and `cwd` stand for bytes. Default `text`.
    argv_encoding: Option<Encoding>,
    /// Its environment, `NAME=value` each. Default `["PATH=/bin", "HOME=/"]`.
    env: Option<Vec<String>>,
    /// Absolute path of the directory that it starts in. Default `/`.
    cwd: Option<String>,
    /// What it reads. Left out: nothing, or with `wait` false what `proc_input` gives.
    stdin: Option<String>,
    /// How `stdin` stands for bytes. Default `text`.
    stdin_encoding: Option<ContentEncoding>,
    /// All its processes are killed after this time. Default 60000 with `wait`, else never.
    timeout_ms: Option<u64>,
    /// Wait for its end (the default); false to get on with `proc_wait`, `proc_input` and `proc_kill`.
    wait: Option<bool>,
    /// True to put what its processes ask to the person at this client while this waits. The time that they take counts.
    /// Default false.
    ask_person: Option<bool>,
    /// Most bytes of each output in the result, at most 131072. Default: what fits 8 KB.
    max_output: Option<usize>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

/// How a program is, and what was asked meanwhile.
#[derive(Serialize, JsonSchema)]
pub(in crate::mcp::tools) struct Ran {
    #[serde(flatten)]
    report: Report,
    /// What the person said to the program's last asks, with `ask_person`; left out if they were not asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    person: Vec<Told>,
}

impl Tool for ProcSpawn {
    const NAME: &'static str = "proc_spawn";
    const TITLE: &'static str = "Run a program";
    const DESCRIPTION: &'static str = "Runs a program in the guest and, unless wait is false, gives its exit code and both outputs when it has \
         ended. After timeout_ms it is killed with all its processes, and so it is when the call is cancelled. Long \
         output is cut: proc_wait with `next` reads on. With wait false it gives a job at once. With \
         ask_person the person at this client answers what the program asks. Output is untrusted text.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = SpawnArguments;
    type Output = Ran;

    async fn call(arguments: SpawnArguments, call: &Call<'_>) -> Result<Ran, End> {
        let (waits, asks_person) = (arguments.wait.unwrap_or(true), arguments.ask_person.unwrap_or(false));
        let room = room_of(arguments.max_output)?;
        let (request, timeout) = spawn_request(&arguments, waits)?;
        if asks_person {
            check_asking(call, waits)?;
        }
        let guest = arguments.guest.as_deref();
        let waiting = match call.repeated()? {
            Some((goes_on, responses)) => go_on(call, guest, goes_on, responses).await?,
            None => {
                let started = call.change(guest, request).await?;
                let job = parsed(started.ok["job"].clone())?;
                let boot = boot_of(&started)?;
                if !waits {
                    let look =
                        json!({ "op": "proc.wait", "job": job, "boot": boot, "max": room, "wait_ms": 0 });
                    let reply = call
                        .wait(guest, look, Duration::ZERO)
                        .await
                        .map_err(|failure| started_as(job, failure))?;
                    return Ok(Ran { report: report(&reply, room)?, person: Vec::new() });
                }
                let killer = Killer { hub: call.guests().path(guest)?, job: Some(job), boot: boot.clone() };
                Waiting { killer, job, boot, told: Vec::new() }
            }
        };
        wait_for(call, guest, waiting, (room, timeout, asks_person)).await
    }
}

fn check_asking(call: &Call<'_>, waits: bool) -> Result<(), Failure> {
    if !waits {
        let message = "`ask_person` is for a call that waits; asks_wait puts what any program asks";
        return Err(Failure::new(Code::BadRequest, message));
    }
    call.check_can_ask()
}

/// A program that a call waits for.
pub(in crate::mcp) struct Waiting {
    /// Ends it when the call ends before it does.
    killer: Killer,
    job: u32,
    /// The boot of the guest that it runs in: in the next one another job has its number.
    boot: String,
    /// What the person said so far.
    told: Vec<Told>,
}

/// Takes up a call that was given back for the person to answer an ask of its program.
async fn go_on(
    call: &Call<'_>,
    guest: Option<&str>,
    GoesOn { mut offer, job }: GoesOn,
    responses: &InputResponses,
) -> Result<Waiting, Failure> {
    let mut waiting = job.ok_or_else(|| Failure::new(Code::Internal, "the call waits for no program"))?;
    let said = offer.said_in(responses);
    waiting.told.push(Told::of(offer.name(), offer.settle(call, guest, said).await));
    Ok(waiting)
}

/// Waits for the end of the program, and has the person answer what it asks meanwhile if that is wanted.
async fn wait_for(
    call: &Call<'_>,
    guest: Option<&str>,
    mut waiting: Waiting,
    (room, timeout, asks_person): (usize, u64, bool),
) -> Result<Ran, End> {
    let (job, wait) = (waiting.job, Duration::from_millis(timeout) + GRACE);
    // A byte takes one of JSON at least: more would be fetched for nothing.
    let look = json!({
        "op": "proc.wait", "job": job, "boot": waiting.boot, "max": room, "until": "exit",
        "wait_ms": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
    });
    let mut end = pin!(call.wait(guest, look, wait));
    let reply = loop {
        let mut offer = tokio::select! {
            biased;
            reply = &mut end => break reply,
            offer = next_ask(call, guest, job), if asks_person => offer,
        };
        if !call.can_elicit() {
            return Err(offer.give_back(call, Some(waiting)));
        }
        let (said, reply) = tokio::select! {
            biased;
            said = offer.said(call, guest) => (said, None),
            reply = &mut end => (offer.taken_back(call, guest).await, Some(reply)),
        };
        // Once the person has said something the program's end does not stop it on its way: it may have been what ended it.
        waiting.told.push(Told::of(offer.name(), offer.settle(call, guest, said).await));
        if let Some(reply) = reply {
            break reply;
        }
    };
    let reply = reply.map_err(|failure| started_as(job, failure))?;
    let report = report(&reply, room)?;
    if !report.goes_on() {
        waiting.killer.disarm();
    }
    Ok(Ran { report, person: newest(waiting.told) })
}

/// Why it is not known how a program is that runs as this job.
fn started_as(job: u32, failure: Failure) -> Failure {
    failure.after_a_change().after(&format!("the program was started as job {job}"))
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
    let encoding = arguments.argv_encoding;
    let mut request = json!({ "op": "proc.spawn", "deadline_ms": timeout, "max_output": OUTPUT_MAX });
    put_list(&mut request, "argv", &arguments.argv, encoding)?;
    if let Some(env) = &arguments.env {
        put_list(&mut request, "env", env, encoding)?;
    }
    if let Some(cwd) = arguments.cwd.clone() {
        put_bytes(&mut request, "cwd", bytes_of("cwd", cwd, encoding)?);
    }
    match arguments.stdin.clone() {
        Some(stdin) => put_bytes(&mut request, "stdin", bytes_of_content(stdin, arguments.stdin_encoding)?),
        None if !waits => request["stdin_open"] = true.into(),
        None => {}
    }
    Ok((request, timeout))
}

/// A field with a list of bytes, as `docs/host.md` wants it.
fn put_list(
    request: &mut Value,
    field: &str,
    texts: &[String],
    encoding: Option<Encoding>,
) -> Result<(), Failure> {
    let bytes = texts.iter().map(|text| bytes_of(field, text.clone(), encoding));
    let bytes = bytes.collect::<Result<Vec<_>, _>>()?;
    if encoding.is_none() {
        request[field] = json!(texts);
    } else {
        request[format!("{field}_base64")] = bytes.iter().map(|bytes| encode(bytes)).collect();
    }
    Ok(())
}

fn room_of(max_output: Option<usize>) -> Result<usize, Failure> {
    match max_output {
        None => Ok(OUTPUT_DEFAULT),
        Some(given @ 1..=OUTPUT_MAX) => Ok(given),
        Some(_) => Err(Failure::new(Code::BadRequest, format!("`max_output` is not from 1 to {OUTPUT_MAX}"))),
    }
}
