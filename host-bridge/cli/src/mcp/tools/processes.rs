//! The guest's processes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Encoding, Tool, boot_of, bytes_in, parsed, shown};
use crate::mcp::call::{Call, End};
use crate::mcp::error::Failure;
use crate::mcp::page::Page;
use crate::mcp::text::Shape;

pub(super) struct ProcList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// `next` of an earlier result, to go on with that list.
    cursor: Option<String>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// Boot id of the guest, new with every boot.
    boot: String,
    /// In order of process id.
    processes: Vec<Process>,
    /// Number of processes.
    total: usize,
    /// There are more: give `next` as `cursor`.
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Process {
    #[serde(flatten)]
    facts: Listed,
    /// The same as `pid`: a process has one thread.
    tid: u32,
    /// Runs as a program: so do all.
    user: bool,
    /// Program, as the guest names it. Untrusted.
    name: String,
    /// `escaped` when `name` is; left out when it stands for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    name_encoding: Option<Encoding>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Ready,
    Running,
    Blocked,
    Stopped,
    Zombie,
}

/// On whose behalf a process runs: a person's at the guest's console, an agent's, or the kernel's.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Origin {
    Console,
    Agent,
    Kernel,
}

/// As the hub gives them, but for the name.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Listed {
    pid: u32,
    /// The process that it is a child of; 0 for none.
    parent: u32,
    /// The `job` of `proc_spawn` that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<u32>,
    state: State,
    origin: Origin,
    /// Of a zombie.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u32>,
    /// Time that it has computed, in nanoseconds.
    cpu_ns: u64,
    /// Memory in use for it, in bytes.
    memory: u64,
}

impl Tool for ProcList {
    const NAME: &'static str = "proc_list";
    const TITLE: &'static str = "List processes";
    const DESCRIPTION: &'static str = "Lists the processes of the guest: pid, parent, state, on whose behalf, processor time, memory and program name.";
    type Arguments = Arguments;
    type Output = Output;

    async fn call(arguments: Arguments, call: &Call<'_>) -> Result<Output, End> {
        let reply = call.request(arguments.guest.as_deref(), json!({ "op": "proc.list" })).await?;
        let boot = boot_of(&reply)?;
        let listed: Vec<Value> = parsed(reply.ok["processes"].clone())?;
        let all = listed.into_iter().map(process).collect::<Result<Vec<_>, _>>()?;
        let page = Page::of(all, arguments.cursor.as_deref(), &boot)?;
        let cut = page.next.is_some() || reply.ok["truncated"] == true;
        Ok(Output { boot, processes: page.items, total: page.total, truncated: cut, next: page.next })
    }
}

fn process(listed: Value) -> Result<Process, Failure> {
    let (name, name_encoding) = shown(&bytes_in(&listed, "name").unwrap_or_default(), Shape::Line);
    let facts: Listed = parsed(listed)?;
    Ok(Process { tid: facts.pid, facts, user: true, name, name_encoding })
}
