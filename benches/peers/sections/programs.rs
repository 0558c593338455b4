//! Programs: from start to end, and what they write.

use std::cell::RefCell;

use crate::Result;
use crate::alternate::{Contender, alternate};
use crate::report::{Aim, PEER, Unit};

use super::bus::Pair;
use super::{Bench, MEMORY};

const SPAWN: &str = "/bin/true, start to exit known";
const OUTPUT: &str = "1 MiB of program output";
const OUTPUT_BYTES: usize = 1 << 20;
/// The file that is written out.
const FILE: &str = "/tmp/output";
const CAT: [&str; 2] = ["/bin/cat", FILE];

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    let pairs = Pair::boot_all(bench, MEMORY)?;
    let peer = bench.boot_peer(MEMORY)?.map(RefCell::new);
    let mut all = Vec::new();
    for pair in &pairs {
        let [raw, hub] = pair.names();
        all.push(Contender::timed(raw, || pair.raw.borrow_mut().run(&["/bin/true"])));
        all.push(Contender::timed(hub, || pair.user.borrow_mut().run(&["/bin/true"]).map(drop)));
    }
    let peer = peer.as_ref();
    let run = |argv: &'static [&'static str]| peer.map(|peer| move || peer.borrow_mut().agent.run(argv));
    all.extend(run(&["/bin/true"]).map(|run| Contender::timed(PEER, move || run().map(drop))));
    alternate(bench.pace(100, 60), &mut all)?;
    bench.record(SPAWN, Unit::Time, &all);
    for pair in &pairs {
        let [raw, hub] = pair.names();
        bench.report.compare(SPAWN, &raw, PEER, Some(Aim::AtMost(0.15)));
        bench.report.compare(SPAWN, &raw, &format!("ping/{raw}"), pair.door.in_pings(12.0));
        bench.report.compare(SPAWN, &hub, PEER, None);
    }

    let text: String = "0123456789abcdef".repeat(OUTPUT_BYTES / 16);
    let mut all = Vec::new();
    for pair in &pairs {
        pair.user.borrow_mut().write_file(FILE, text.as_bytes())?;
        let [_, hub] = pair.names();
        let expected = &text;
        all.push(Contender::timed(hub, || {
            same(expected, &pair.user.borrow_mut().run_keeping(&CAT, OUTPUT_BYTES)?)
        }));
    }
    if let Some(peer) = peer {
        peer.borrow_mut().agent.write_file(FILE, text.as_bytes())?;
    }
    let expected = &text;
    all.extend(run(&CAT).map(|run| Contender::timed(PEER, move || same(expected, &run()?))));
    alternate(bench.pace(10, 90), &mut all)?;
    bench.record(OUTPUT, Unit::Rate(OUTPUT_BYTES as u64), &all);
    for pair in &pairs {
        let [_, hub] = pair.names();
        bench.report.compare(OUTPUT, &hub, PEER, pair.door.output_aim());
    }
    Ok(())
}

fn same(expected: &str, output: &str) -> Result<()> {
    if output == expected {
        Ok(())
    } else {
        Err(format!("{} bytes that are not the file's", output.len()).into())
    }
}
