//! The guest's processes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Encoding, Tool, boot_of, bytes_in, parsed, shown};
use crate::mcp::call::Call;
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
    pid: u32,
    tid: u32,
    state: State,
    /// Runs as a program; else a task of the kernel.
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
    Zombie,
}

/// As the hub gives them, but for the name.
#[derive(Deserialize)]
struct Listed {
    pid: u32,
    tid: u32,
    state: State,
    user: bool,
}

impl Tool for ProcList {
    const NAME: &'static str = "proc_list";
    const TITLE: &'static str = "List processes";
    const DESCRIPTION: &'static str =
        "Lists the processes and kernel tasks of the guest: pid, thread id, state and program name.";
    type Arguments = Arguments;
    type Output = Output;

    async fn call(arguments: Arguments, call: &Call<'_>) -> Result<Output, Failure> {
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
    let Listed { pid, tid, state, user } = parsed(listed)?;
    Ok(Process { pid, tid, state, user, name, name_encoding })
}
