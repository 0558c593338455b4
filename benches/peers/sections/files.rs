//! Files, out of the guest and into it.

use std::cell::RefCell;

use crate::Result;
use crate::alternate::{Contender, alternate};
use crate::door::Door;
use crate::peer::Running;
use crate::progress::say;
use crate::report::{PEER, Report, Unit};
use crate::stats::Summary;

use super::bus::Pair;
use super::{Bench, LARGE_MEMORY};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// Sizes with their names, and how often each is measured.
const SIZES: [(usize, &str, usize); 5] = [
    (4 * KIB, "4 KiB", 50),
    (64 * KIB, "64 KiB", 20),
    (MIB, "1 MiB", 10),
    (8 * MIB, "8 MiB", 3),
    (64 * MIB, "64 MiB", 1),
];
/// The largest of a quick run.
const QUICK: usize = MIB;
/// From this size on there is something to aim at, ...
const AIMED: usize = MIB;
/// ... and from here on COM2 is measured through the hub only: over a serial port it takes minutes.
const HUB_ONLY: usize = 64 * MIB;
/// A curve begins with this size.
const CURVED: usize = 64 * KIB;
/// Bytes through the bare port.
const PORT: usize = 256 * KIB;
const FILE: &str = "/tmp/file";

pub(super) fn run(bench: &mut Bench) -> Result<()> {
    port(bench)?;
    let pairs = Pair::boot_all(bench, LARGE_MEMORY)?;
    let peer = bench.boot_peer(LARGE_MEMORY)?.map(RefCell::new);
    let largest = if bench.quick { QUICK } else { usize::MAX };
    for (size, name, rounds) in SIZES.into_iter().filter(|(size, ..)| *size <= largest) {
        say(&format!("files: {name}"));
        let content: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(size).collect();
        one_size(bench, &pairs, peer.as_ref(), (&content, name, rounds))?;
    }
    Ok(())
}

/// What a bare serial port carries.
fn port(bench: &mut Bench) -> Result<()> {
    let port = RefCell::new(bench.floor.port()?);
    let mut both = [
        Contender::timed("out of the guest", || port.borrow_mut().receive(PORT)),
        Contender::timed("into the guest", || port.borrow_mut().send(PORT)),
    ];
    alternate(bench.pace(10, 60), &mut both)?;
    bench.record("raw port", Unit::Rate(PORT as u64), &both);
    Ok(())
}

/// Writes first, then reads what was written.
fn one_size(
    bench: &mut Bench,
    pairs: &[Pair],
    peer: Option<&RefCell<Running>>,
    (content, name, rounds): (&[u8], &str, usize),
) -> Result<()> {
    for reads in [false, true] {
        let mut all = Vec::new();
        for pair in pairs {
            let [raw, hub] = pair.names();
            if pair.door != Door::Com2 || content.len() < HUB_ONLY {
                all.push(Contender::timed(raw, move || of_raw(pair, content, reads)));
            }
            all.push(Contender::timed(hub, move || of_hub(pair, content, reads)));
        }
        all.extend(peer.map(|peer| Contender::timed(PEER, move || of_peer(peer, content, reads))));
        alternate(bench.pace(rounds, 90), &mut all)?;
        let metric = format!("{} {name}", if reads { "read" } else { "write" });
        bench.record(&metric, Unit::Rate(content.len() as u64), &all);
        for pair in pairs {
            compare(bench, pair.door, &pair.names(), &metric, reads, content.len());
        }
        for contender in &all {
            note(&mut bench.report, contender, reads, content.len());
        }
    }
    Ok(())
}

fn compare(bench: &mut Bench, door: Door, [raw, hub]: &[String; 2], metric: &str, reads: bool, size: usize) {
    let (to, aim) = door.transfer_aim(reads);
    let aim = (size >= AIMED).then_some(aim);
    for who in [raw, hub] {
        // On COM2 what the line carries is aimed at; JSON beside it is of the hub's own.
        let counts = door != Door::Com2 || who == raw || size >= HUB_ONLY;
        bench.report.compare(metric, who, to, aim.filter(|_| counts));
        if to != PEER {
            bench.report.compare(metric, who, PEER, None);
        }
    }
}

/// One more point of who's curve. The smallest files are round trips rather than bytes.
#[expect(clippy::cast_precision_loss, reason = "KiB of a file")]
fn note(report: &mut Report, contender: &Contender<'_>, reads: bool, size: usize) {
    let Some(summary) = Summary::of(&contender.samples).filter(|_| size >= CURVED) else { return };
    let (name, kib) = (if reads { "read a file" } else { "write a file" }, size / KIB);
    report.point(name, &contender.who, "KiB", (kib as u64, summary.median / kib as f64));
}

fn of_raw(pair: &Pair, content: &[u8], reads: bool) -> Result<()> {
    let line = &mut pair.raw.borrow_mut().line;
    if reads { same(content, &line.read_file(FILE, content.len())?) } else { line.write_file(FILE, content) }
}

fn of_hub(pair: &Pair, content: &[u8], reads: bool) -> Result<()> {
    let mut user = pair.user.borrow_mut();
    if reads { same(content, &user.read_file(FILE, content.len())?) } else { user.write_file(FILE, content) }
}

fn of_peer(peer: &RefCell<Running>, content: &[u8], reads: bool) -> Result<()> {
    let agent = &mut peer.borrow_mut().agent;
    if reads {
        same(content, &agent.read_file(FILE, content.len())?)
    } else {
        agent.write_file(FILE, content)
    }
}

fn same(content: &[u8], read: &[u8]) -> Result<()> {
    if content == read { Ok(()) } else { Err("what was read is not what was written".into()) }
}
