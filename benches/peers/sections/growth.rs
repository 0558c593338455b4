//! How cost grows with the number of files, processes and requests. (With the size of a file: `files`.)

use std::thread;
use std::time::Instant;

use askr::Disk;
use serde_json::{Value, json};

use crate::Result;
use crate::door::Door;
use crate::guest::{self, PATIENCE};
use crate::progress::say;
use crate::user::{Client, User};

use super::directories::{self, each};
use super::{Bench, LARGE_MEMORY, seconds_each};

const PROCESSES: [usize; 3] = [100, 300, 1000];
/// Clients that each have a request outstanding; the hub has room for 64.
const CLIENTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Requests of all clients together.
const REQUESTS: usize = 1920;
/// How often each is measured; the median counts.
const TIMES: usize = 3;

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    let folder = tempfile::tempdir_in(guest::folder())?;
    for door in Door::ALL {
        let mut machine = bench.machine(LARGE_MEMORY);
        if door == Door::Data {
            machine = machine.disk(Disk::open(&folder.path().join("disk.img"), false)?);
        }
        let mut user = User::boot(machine, door)?;
        requests(bench, &mut user, door)?;
        processes(bench, &mut user, door)?;
        directories::run(bench, &mut user, door)?;
    }
    directories::beside(bench)
}

fn requests(bench: &mut Bench, user: &mut User, door: Door) -> Result<()> {
    // The user's own connection is one of the 64. All of them stay, for the hub forgets one some time after its end.
    let mut others = (1..CLIENTS[CLIENTS.len() - 1]).map(|_| user.client()).collect::<Result<Vec<_>>>()?;
    for clients in CLIENTS {
        say(&format!("growth: {clients} requests outstanding, {}", door.name()));
        let each_has = if bench.quick { REQUESTS / 10 } else { REQUESTS } / clients;
        for _ in 0..TIMES {
            let took = outstanding(user, &mut others[..clients - 1], each_has)?;
            let who = format!("fs.stat, {}", door.name());
            bench.report.point("requests outstanding", &who, "request", (clients as u64, took));
        }
    }
    Ok(())
}

/// Seconds for each of the requests of these clients and the user.
fn outstanding(user: &mut User, others: &mut [Client], each_has: usize) -> Result<f64> {
    let (began, clients) = (Instant::now(), others.len() + 1);
    thread::scope(|scope| {
        let asking =
            others.iter_mut().map(|client| scope.spawn(move || ask(each_has, |stat| client.call(stat))));
        let asking: Vec<_> = asking.collect();
        ask(each_has, |stat| user.call(stat))?;
        asking.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a panic".into())))
    })?;
    Ok(each(began, clients * each_has))
}

/// One request after the other.
fn ask(times: usize, mut call: impl FnMut(Value) -> Result<Value>) -> Result<()> {
    (0..times).try_for_each(|_| call(json!({ "op": "fs.stat", "path": "/bin/true" })).map(drop))
}

/// Processes that sleep, all children of one. What they cost the guest is the same behind each door.
fn processes(bench: &mut Bench, user: &mut User, door: Door) -> Result<()> {
    let sizes = if bench.quick { &PROCESSES[..2] } else { &PROCESSES };
    // What is new the first time, such as memory that the host has not given yet, is no part of the growth.
    crowd(user, sizes[sizes.len() - 1])?;
    for &count in sizes {
        say(&format!("growth: {count} processes, {}", door.name()));
        for _ in 0..TIMES {
            let (listing, output) = crowd(user, count)?;
            let mut point =
                |who: &str, seconds| bench.report.point("processes", who, "process", (count as u64, seconds));
            point(&format!("proc.list, {}", door.name()), listing);
            let times = seconds_each(&output);
            for (name, who) in [("fork", "fork"), ("end", "kill and wait")] {
                let seconds = *times.get(name).ok_or_else(|| format!("no {name} in {output:?}"))?;
                if door == Door::Data {
                    point(who, seconds);
                }
            }
        }
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
