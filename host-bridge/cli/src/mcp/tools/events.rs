//! What happened in the guest.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fault::Fault;
use super::{Encoding, Tool, boot_of, bytes_in, parsed, shown};
use crate::mcp::call::{Call, End, wait_of};
use crate::mcp::error::Failure;
use crate::mcp::page::{Cursor, fitting};
use crate::mcp::text::Shape;

pub(super) struct EventsRead;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// `next` of an earlier result, for what came after it. Left out: from the oldest event that is kept.
    cursor: Option<String>,
    /// Longest wait for an event in milliseconds, at most 600000. Default 0.
    wait_ms: Option<u64>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// Boot id of the guest, new with every boot.
    boot: String,
    /// Oldest first, without a gap.
    events: Vec<Event>,
    /// Events after the cursor that the guest does not keep any more.
    lost: u64,
    /// Number of events since boot.
    total: u64,
    /// There are more: give `next` as `cursor`.
    truncated: bool,
    /// The `cursor` of what comes after these.
    next: String,
}

#[derive(Serialize, JsonSchema)]
struct Event {
    #[serde(flatten)]
    facts: Facts,
    /// The program; where a full disk is mounted; the message of a panic. Untrusted.
    name: String,
    /// `escaped` when `name` is; left out when it stands for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    name_encoding: Option<Encoding>,
}

/// As the hub gives them.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Facts {
    /// Which event of this boot it is, from 0.
    number: u64,
    /// Nanoseconds since boot.
    time_ns: u64,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Of a spawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    /// Of an exit; 128 and the number of the signal if one ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u32>,
    /// Of a fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    vector: Option<u32>,
    /// Of running out of memory: who wanted more.
    #[serde(skip_serializing_if = "Option::is_none")]
    wanted_by: Option<u32>,
    /// Of running out of memory: KiB that the process had.
    #[serde(skip_serializing_if = "Option::is_none")]
    freed_kib: Option<u32>,
    /// Of a fault, for the last 64 of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Fault>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Spawn,
    Exit,
    Fault,
    Oom,
    DiskFull,
    Boot,
    LinkLost,
    Panic,
    Other,
}

impl Tool for EventsRead {
    const NAME: &'static str = "events_read";
    const TITLE: &'static str = "Read events";
    const DESCRIPTION: &'static str = "Tells what happened in the guest: processes that started, ended or faulted (with registers and backtrace), \
         memory that ran out, a full disk, and more. The guest keeps the last 1024 events; call this again with `next` \
         for what comes after, and with wait_ms to wait for it. After a crash look here for the fault.";
    type Arguments = Arguments;
    type Output = Output;

    async fn call(arguments: Arguments, call: &Call<'_>) -> Result<Output, End> {
        let guest = arguments.guest.as_deref();
        let wait = wait_of(arguments.wait_ms, Duration::ZERO);
        let cursor = arguments.cursor.as_deref();
        let start = cursor.map(Cursor::read).transpose()?.map_or(0, |cursor| cursor.start);
        let request = json!({
            "op": "events.read", "cursor": start, "wait_ms": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
        });
        let reply = match call.wait(guest, request, wait).await {
            Ok(reply) => reply,
            Err(failure) => {
                // An event that never was may have been one of an earlier boot.
                failure.boot().map_or(Ok(start), |boot| Cursor::start_in(cursor, boot))?;
                return Err(failure.into());
            }
        };
        let boot = boot_of(&reply)?;
        Cursor::start_in(cursor, &boot)?;
        let listed: Vec<Value> = parsed(reply.ok["events"].clone())?;
        let mut events = listed.into_iter().map(event).collect::<Result<Vec<_>, _>>()?;
        events.truncate(fitting(&events));
        let number = |field: &str| reply.ok[field].as_u64().unwrap_or_default();
        let (lost, total) = (number("lost"), number("count"));
        let next = start as u64 + lost + events.len() as u64;
        let cursor = Cursor { boot: &boot, start: usize::try_from(next).unwrap_or(usize::MAX) }.write();
        Ok(Output { events, lost, total, truncated: next < total, next: cursor, boot })
    }
}

fn event(listed: Value) -> Result<Event, Failure> {
    let (name, name_encoding) = shown(&bytes_in(&listed, "name").unwrap_or_default(), Shape::Line);
    Ok(Event { facts: parsed(listed)?, name, name_encoding })
}
