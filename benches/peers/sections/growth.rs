//! How cost grows with the number of files, processes and requests. (With the size of a file: `files`.)

use std::thread;
use std::time::Instant;

use askr::Disk;
use serde_json::json;

use crate::Result;
use crate::door::Door;
use crate::guest::{self, PATIENCE};
use crate::progress::say;
use crate::raw::Raw;
use crate::user::{User, call};

use super::directories::{self, each};
use super::{Bench, LARGE_MEMORY, seconds_each};

const PROCESSES: [usize; 3] = [100, 300, 1000];
/// Clients that each have a request outstanding; the hub has room for 64.
const CLIENTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Requests of all clients together.
const REQUESTS: usize = 1920;

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    let folder = tempfile::tempdir_in(guest::folder())?;
    let disk = Disk::open(&folder.path().join("disk.img"), false)?;
    let mut user = User::boot(bench.machine(LARGE_MEMORY).disk(disk), Door::Com2)?;
    let mut raw = Raw::boot(bench.machine(LARGE_MEMORY), Door::Com2)?;
    requests(bench, &mut user)?;
    processes(bench, &mut user)?;
    directories::run(bench, &mut user, &mut raw)
}

fn requests(bench: &mut Bench, user: &mut User) -> Result<()> {
    for clients in CLIENTS {
        say(&format!("growth: {clients} requests outstanding"));
        let each_has = if bench.quick { REQUESTS / 10 } else { REQUESTS } / clients;
        // The user's own connection is one of the 64.
        let others = (1..clients).map(|_| user.client()).collect::<Result<Vec<_>>>()?;
        let began = Instant::now();
        thread::scope(|scope| {
            let asking = others.into_iter().map(|mut client| {
                scope.spawn(move || (0..each_has).try_for_each(|_| call(&mut client, stat()).map(drop)))
            });
            let asking: Vec<_> = asking.collect();
            (0..each_has).try_for_each(|_| user.call(stat()).map(drop))?;
            asking.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a panic".into())))
        })?;
        let point = (clients as u64, each(began, clients * each_has));
        bench.report.point("requests outstanding", "fs.stat", "request", point);
    }
    Ok(())
}

fn stat() -> serde_json::Value {
    json!({ "op": "fs.stat", "path": "/bin/true" })
}

/// Processes that sleep, all children of one.
fn processes(bench: &mut Bench, user: &mut User) -> Result<()> {
    let sizes = if bench.quick { &PROCESSES[..2] } else { &PROCESSES };
    // What is new the first time is no part of the growth.
    crowd(user, PROCESSES[0])?;
    for &count in sizes {
        say(&format!("growth: {count} processes"));
        let (listing, output) = crowd(user, count)?;
        let mut point =
            |who, seconds| bench.report.point("processes", who, "process", (count as u64, seconds));
        let times = seconds_each(&output);
        for (name, who) in [("fork", "fork"), ("end", "kill and wait")] {
            point(who, *times.get(name).ok_or_else(|| format!("no {name} in {output:?}"))?);
        }
        point("proc.list over COM2", listing);
    }
    Ok(())
}

/// Starts so many, lists them, and ends them; the time of the listing for each, and what their parent said.
fn crowd(user: &mut User, count: usize) -> Result<(f64, String)> {
    let argv = ["/bin/crowd", "processes", &count.to_string()];
    let job = user.call(json!({ "op": "proc.spawn", "argv": argv, "stdin_open": true }))?["job"].clone();
    let wait_ms = u64::try_from(PATIENCE.as_millis())?;
    let hear = |user: &mut User, until: &str, cursor: usize| -> Result<String> {
        let request = json!({ "op": "proc.wait", "job": job, "until": until, "wait_ms": wait_ms, "stdout_cursor": cursor });
        Ok(user.call(request)?["stdout"]["content"].as_str().unwrap_or_default().to_owned())
    };
    let mut output = hear(user, "output", 0)?;
    let began = Instant::now();
    let listed = user.call(json!({ "op": "proc.list" }))?["processes"].as_array().map_or(0, Vec::len);
    let listing = each(began, listed.max(1));
    if listed <= count {
        return Err(
            format!("proc.list gives {listed} processes, of {count} and their parent; {output:?}").into()
        );
    }
    user.call(json!({ "op": "proc.input", "job": job, "content": "", "eof": true }))?;
    output += &hear(user, "exit", output.len())?;
    Ok((listing, output))
}
