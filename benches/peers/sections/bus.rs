//! Short requests, listings, events and asks.

use std::cell::{Cell, RefCell};

use crate::Result;
use crate::alternate::{Contender, alternate};
use crate::door::Door;
use crate::floor::Mirror;
use crate::peer::Running;
use crate::raw::Raw;
use crate::report::{Aim, PEER, Unit};
use crate::user::User;

use super::{Bench, MEMORY};

/// Entries of the directory that is listed.
const ENTRIES: usize = 1000;
const FOLDER: &str = "/tmp/many";
/// Asks of one program.
const ASKS: usize = 50;
const ECHO: &str = "echo of the same size";
const FAULT: &str = "fault to its event";
const ASK: &str = "ask and its answer";

/// The guests behind one door.
pub(super) struct Pair {
    pub(super) door: Door,
    pub(super) raw: RefCell<Raw>,
    pub(super) user: RefCell<User>,
}

impl Pair {
    pub(super) fn boot_all(bench: &Bench, memory_mib: u32) -> Result<Vec<Self>> {
        let boot = |door| {
            let (raw, user) =
                (Raw::boot(bench.machine(memory_mib), door)?, User::boot(bench.machine(memory_mib), door)?);
            Ok(Self { door, raw: RefCell::new(raw), user: RefCell::new(user) })
        };
        Door::ALL.into_iter().map(boot).collect()
    }

    /// Who speaks frames itself, and who goes through the hub.
    pub(super) fn names(&self) -> [String; 2] {
        ["raw", "hub"].map(|how| format!("{} {how}", self.door.name()))
    }
}

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    let pairs = Pair::boot_all(bench, MEMORY)?;
    let peer = bench.boot_peer(MEMORY)?.map(RefCell::new);
    let mirror = RefCell::new(Mirror::boot(MEMORY)?);
    pings(bench, &pairs, peer.as_ref(), &mirror)?;
    drop(mirror);
    facts(bench, &pairs, peer.as_ref())?;
    listings(bench, &pairs, peer.as_ref())?;
    drop(peer);
    events(bench, &pairs)
}

fn pings(
    bench: &mut Bench,
    pairs: &[Pair],
    peer: Option<&RefCell<Running>>,
    mirror: &RefCell<Mirror>,
) -> Result<()> {
    let bytes = Cell::new(0);
    let mut all = Vec::new();
    for pair in pairs {
        let [raw, hub] = pair.names();
        all.push(Contender::timed(raw, || {
            bytes.set(pair.raw.borrow_mut().ping()?);
            Ok(())
        }));
        all.push(Contender::timed(hub, || {
            pair.user.borrow_mut().call(serde_json::json!({ "op": "ping" })).map(drop)
        }));
    }
    all.push(Contender::timed(ECHO, || mirror.borrow_mut().echo(bytes.get())));
    all.extend(peer.map(|peer| Contender::timed(PEER, || peer.borrow_mut().agent.ping())));
    alternate(bench.pace(500, 60), &mut all)?;
    bench.record("ping", Unit::Time, &all);
    for pair in pairs {
        let [raw, hub] = pair.names();
        bench.report.compare("ping", &raw, PEER, Some(pair.door.ping_aim()));
        bench.report.compare("ping", &hub, PEER, None);
        if pair.door == Door::Com2 {
            bench.report.compare("ping", &raw, ECHO, Some(Aim::AtMost(1.3)));
        }
    }
    Ok(())
}

fn facts(bench: &mut Bench, pairs: &[Pair], peer: Option<&RefCell<Running>>) -> Result<()> {
    let mut all = Vec::new();
    for pair in pairs {
        let [raw, hub] = pair.names();
        all.push(Contender::timed(raw, || pair.raw.borrow_mut().stat("/bin/true")));
        let stat =
            || pair.user.borrow_mut().call(serde_json::json!({ "op": "fs.stat", "path": "/bin/true" }));
        all.push(Contender::timed(hub, move || stat().map(drop)));
    }
    let stat =
        |peer: &RefCell<Running>| peer.borrow_mut().agent.run(&["/bin/stat", "/bin/busybox"]).map(drop);
    all.extend(peer.map(|peer| Contender::timed(PEER, move || stat(peer))));
    alternate(bench.pace(200, 60), &mut all)?;
    bench.record("stat", Unit::Time, &all);
    for pair in pairs {
        let [raw, hub] = pair.names();
        bench.report.compare("stat", &raw, &format!("ping/{raw}"), pair.door.in_pings(1.5));
        bench.report.compare("stat", &raw, PEER, None);
        bench.report.compare("stat", &hub, PEER, None);
    }
    Ok(())
}

fn listings(bench: &mut Bench, pairs: &[Pair], peer: Option<&RefCell<Running>>) -> Result<()> {
    let metric = format!("list of {ENTRIES} entries");
    let count = ENTRIES.to_string();
    let make = ["/bin/crowd", "files", FOLDER, &count];
    let mut all = Vec::new();
    for pair in pairs {
        pair.raw.borrow_mut().run(&make)?;
        pair.user.borrow_mut().run(&make)?;
        let [raw, hub] = pair.names();
        all.push(Contender::timed(raw, || whole(pair.raw.borrow_mut().readdir(FOLDER)?)));
        all.push(Contender::timed(hub, || whole(pair.user.borrow_mut().list(FOLDER)?)));
    }
    if let Some(peer) = peer {
        peer.borrow_mut().agent.run(&make)?;
        all.push(Contender::timed(PEER, || {
            let lines = peer.borrow_mut().agent.run(&["/bin/ls", "-l", FOLDER])?;
            // The first one is a sum.
            whole(lines.lines().count() - 1)
        }));
    }
    alternate(bench.pace(20, 60), &mut all)?;
    bench.record(&metric, Unit::Time, &all);
    for who in pairs.iter().flat_map(Pair::names) {
        bench.report.compare(&metric, &who, PEER, None);
    }
    Ok(())
}

fn whole(entries: usize) -> Result<()> {
    if entries == ENTRIES { Ok(()) } else { Err(format!("{entries} entries instead of {ENTRIES}").into()) }
}

/// What the guest says on its own; the peer has nothing like it.
fn events(bench: &mut Bench, pairs: &[Pair]) -> Result<()> {
    let pace = bench.pace(60, 120);
    let mut faults = Vec::new();
    for pair in pairs {
        let [raw, _] = pair.names();
        faults.push(Contender::new(raw, || pair.raw.borrow_mut().fault_to_event()));
    }
    alternate(pace, &mut faults)?;
    bench.record(FAULT, Unit::Time, &faults);
    let mut asks = vec![[Vec::new(), Vec::new()]; pairs.len()];
    for _ in 0..pace.rounds.div_ceil(10) {
        for (pair, [of_raw, of_hub]) in pairs.iter().zip(&mut asks) {
            of_raw.extend(pair.raw.borrow_mut().asks(ASKS)?);
            of_hub.extend(pair.user.borrow_mut().asks(ASKS)?);
        }
    }
    for (pair, asks) in pairs.iter().zip(&asks) {
        let [raw, _] = &pair.names();
        bench.report.compare(FAULT, raw, &format!("ping/{raw}"), pair.door.in_pings(5.0));
        for (who, samples) in pair.names().iter().zip(asks) {
            bench.report.add(ASK, who, Unit::Time, samples);
            bench.report.compare(ASK, who, &format!("ping/{who}"), None);
        }
    }
    Ok(())
}
