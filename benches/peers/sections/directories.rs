//! Directories with more and more entries, in memory and on the disk, and on Linux beside them.

use std::time::{Duration, Instant};

use crate::Result;
use crate::door::Door;
use crate::progress::say;
use crate::raw::Raw;
use crate::report::Report;
use crate::user::User;

use super::{Bench, LARGE_MEMORY, seconds_each};

const SIZES: [usize; 5] = [100, 300, 1000, 3000, 10_000];
/// Longest time that one step may be expected to take.
const BUDGET: Duration = Duration::from_secs(400);
/// How often each is measured that takes less than a long time; the median counts.
const TIMES: usize = 3;
const LONG: Duration = Duration::from_secs(10);

/// Name of the curves of what the bus lists.
const LISTING: &str = "list over the bus";

/// What the program tells of so many entries.
fn add_all(report: &mut Report, who: &str, count: usize, output: &str) {
    for (name, seconds) in seconds_each(output) {
        let name = match name.as_str() {
            "create" => "make files",
            "walk" => "list and stat in the guest",
            "remove" => "remove files",
            _ => continue,
        };
        report.point(name, who, "entry", (count as u64, seconds));
    }
}

/// A guest's own directories through this door, until it becomes too slow. What it does alone costs the same behind each door.
pub(super) fn run(bench: &mut Bench, user: &mut User, door: Door) -> Result<()> {
    grow(bench, &format!("ramfs, {}", door.name()), |report, count| {
        in_askr(report, user, door, ("/tmp/crowd", "ramfs"), count)
    })?;
    if door == Door::Data {
        grow(bench, "/disk", |report, count| in_askr(report, user, door, ("/disk/crowd", "/disk"), count))?;
    }
    Ok(())
}

/// What is told beside them: listings of the base generation, and Linux.
pub(super) fn beside(bench: &mut Bench) -> Result<()> {
    let mut raw = Raw::boot(bench.machine(LARGE_MEMORY), Door::Data)?;
    grow(bench, "LIST of the base", |report, count| base(report, &mut raw, count))?;
    drop(raw);
    let Some(mut peer) = bench.boot_peer(LARGE_MEMORY)? else { return Ok(()) };
    grow(bench, "Linux", |report, count| {
        for what in ["files", "remove"] {
            let output = peer.agent.run(&["/bin/crowd", what, "/tmp/crowd", &count.to_string()])?;
            add_all(report, "Linux tmpfs", count, &output);
        }
        Ok(())
    })
}

/// Runs the step with each size, as long as the next one is not expected to take too long.
fn grow(
    bench: &mut Bench,
    place: &str,
    mut step: impl FnMut(&mut Report, usize) -> Result<()>,
) -> Result<()> {
    let sizes = if bench.quick { &SIZES[..3] } else { &SIZES };
    // What is new the first time is no part of the growth.
    step(&mut Report::default(), SIZES[0])?;
    let mut before: Option<(usize, Duration)> = None;
    for &count in sizes {
        if let Some((smaller, took)) = before {
            // What gets worse with the size squared is what is looked for here.
            let times = u32::try_from((count / smaller).pow(2))?;
            if took * times > BUDGET {
                let note =
                    format!("{place}: {count} entries left out, {smaller} took {:.1} s", took.as_secs_f64());
                say(&format!("growth: {note}"));
                bench.report.notes.push(format!("growth: {note}"));
                return Ok(());
            }
        }
        say(&format!("growth: {place}, {count} entries"));
        let began = Instant::now();
        step(&mut bench.report, count)?;
        let took = began.elapsed();
        // What takes long is not disturbed much.
        for _ in 1..if took < LONG { TIMES } else { 1 } {
            step(&mut bench.report, count)?;
        }
        before = Some((count, took));
    }
    Ok(())
}

fn in_askr(
    report: &mut Report,
    user: &mut User,
    door: Door,
    (folder, place): (&str, &str),
    count: usize,
) -> Result<()> {
    let number = count.to_string();
    let crowd = |report: &mut Report, user: &mut User, what| {
        let output = user.run(&["/bin/crowd", what, folder, &number])?;
        if door == Door::Data {
            add_all(report, &format!("Askr {place}"), count, &output);
        }
        Result::Ok(())
    };
    crowd(report, user, "files")?;
    let began = Instant::now();
    let entries = user.list(folder)?;
    if entries != count {
        return Err(format!("{folder} has {entries} entries instead of {count}").into());
    }
    let who = format!("fs.list of {place}, {}", door.name());
    report.point(LISTING, &who, "entry", (count as u64, each(began, count)));
    crowd(report, user, "remove")
}

/// LIST of the base generation, whose pages are counted from the front.
fn base(report: &mut Report, raw: &mut Raw, count: usize) -> Result<()> {
    let (folder, number) = ("/tmp/crowd", count.to_string());
    raw.run(&["/bin/crowd", "files", folder, &number])?;
    let began = Instant::now();
    let entries = raw.list(folder)?;
    if entries != count {
        return Err(format!("LIST gives {entries} entries instead of {count}").into());
    }
    report.point(LISTING, "LIST of ramfs, data door", "entry", (count as u64, each(began, count)));
    raw.run(&["/bin/crowd", "remove", folder, &number])
}

/// Seconds for each of so many.
#[expect(clippy::cast_precision_loss, reason = "thousands")]
pub(super) fn each(began: Instant, count: usize) -> f64 {
    began.elapsed().as_secs_f64() / count as f64
}
