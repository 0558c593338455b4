//! System calls: the same static binary, on Askr and on Linux, in the same QEMU and on the same processor.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::Result;
use crate::door::Door;
use crate::peer::CPU;
use crate::report::{Aim, PEER, Unit};
use crate::user::User;

use super::{Bench, MEMORY, seconds_each};

/// What the program calls them, and what they are called here.
const NAMES: [(&str, &str); 5] = [
    ("getpid", "getpid"),
    ("read", "read 4 KiB of /dev/zero"),
    ("fork", "fork, exit and wait"),
    ("pipe", "a byte through a pipe"),
    ("switch", "a byte to a process and back"),
];
const ASKR: &str = "Askr";
const AIM: Aim = Aim::AtMost(1.0);

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    let mut askr = User::boot(bench.machine(MEMORY).cpu(CPU), Door::Data)?;
    let mut peer = bench.boot_peer(MEMORY)?;
    let (pace, scale) = (bench.pace(10, 120), if bench.quick { "1" } else { "10" });
    let mut samples: BTreeMap<(&str, String), Vec<f64>> = BTreeMap::new();
    let mut take = |who, output: &str| {
        for (name, seconds) in seconds_each(output) {
            samples.entry((who, name)).or_default().push(seconds);
        }
    };
    let (began, argv) = (Instant::now(), ["/bin/syscalls", scale]);
    for round in 0..pace.rounds {
        if round > 0 && began.elapsed() > pace.budget {
            break;
        }
        take(ASKR, &askr.run(&argv)?);
        if let Some(peer) = &mut peer {
            take(PEER, &peer.agent.run(&argv)?);
        }
    }
    for (name, metric) in NAMES {
        for who in [PEER, ASKR] {
            let empty = Vec::new();
            let samples = samples.get(&(who, name.to_owned())).unwrap_or(&empty);
            bench.report.add(metric, who, Unit::Time, samples);
        }
        bench.report.compare(metric, ASKR, PEER, Some(AIM));
    }
    Ok(())
}
