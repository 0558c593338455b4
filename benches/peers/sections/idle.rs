//! What a guest costs that does nothing: all at the same time, with whoever talks to them attached.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;
use crate::door::Door;
use crate::report::{Aim, PEER, Unit};
use crate::user::User;

use super::{Bench, MEMORY};

const PROCESSOR: &str = "processor of an idle guest";
const RESIDENT: &str = "memory of QEMU (-m 256M)";
/// Time until what happens after a boot has happened.
const SETTLE: Duration = Duration::from_secs(4);

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    let boot = |door| User::boot(bench.machine(MEMORY), door);
    let users = Door::ALL.into_iter().map(boot).collect::<Result<Vec<_>>>()?;
    let peer = bench.boot_peer(MEMORY)?;
    let mut guests: Vec<(&str, u32)> =
        Door::ALL.iter().zip(&users).map(|(door, user)| (door.name(), user.pid())).collect();
    guests.extend(peer.as_ref().map(|peer| (PEER, peer.guest.vm.pid())));
    let (windows, window) = if bench.quick { (2, 2) } else { (5, 5) };
    thread::sleep(SETTLE);
    let mut used = vec![Vec::new(); guests.len()];
    for _ in 0..windows {
        let before = guests.iter().map(|(_, pid)| computed(*pid)).collect::<Result<Vec<f64>>>()?;
        let began = Instant::now();
        thread::sleep(Duration::from_secs(window));
        let took = began.elapsed().as_secs_f64();
        for ((used, before), (_, pid)) in used.iter_mut().zip(before).zip(&guests) {
            used.push((computed(*pid)? - before) / took * 100.0);
        }
    }
    for ((who, pid), used) in guests.iter().zip(&used) {
        bench.report.add(PROCESSOR, who, Unit::Percent, used);
        bench.report.add(RESIDENT, who, Unit::Mebibytes, &[resident(*pid)?]);
    }
    bench.report.rows.sort_by_key(|row| row.metric == RESIDENT);
    for door in Door::ALL {
        bench.report.compare(PROCESSOR, door.name(), PEER, Some(Aim::AtMost(0.1)));
        bench.report.compare(RESIDENT, door.name(), PEER, Some(Aim::AtMost(0.35)));
    }
    Ok(())
}

/// The seconds that all threads of a process have computed, to the nanosecond (Linux's `Documentation/scheduler/sched-stats.rst`).
fn computed(pid: u32) -> Result<f64> {
    let mut nanos = 0.0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        // One that has ended meanwhile did nothing that counts.
        let stat = fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
        nanos += stat.split_whitespace().next().and_then(|first| first.parse::<f64>().ok()).unwrap_or(0.0);
    }
    Ok(nanos / 1e9)
}

/// Its resident memory in MiB.
fn resident(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<f64>()? / 1024.0)
}
