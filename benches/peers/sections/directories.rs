//! Directories with more and more entries, in memory and on the disk, and on Linux beside them.

use std::time::{Duration, Instant};

use crate::Result;
use crate::progress::say;
use crate::raw::Raw;
use crate::report::Report;
use crate::user::User;

use super::{Bench, LARGE_MEMORY, seconds_each};

const SIZES: [usize; 5] = [100, 300, 1000, 3000, 10_000];
/// Longest time that one step may be expected to take.
const BUDGET: Duration = Duration::from_secs(400);

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

/// Measures all places, each until it becomes too slow.
pub(super) fn run(bench: &mut Bench, user: &mut User, raw: &mut Raw) -> Result<()> {
    grow(bench, "ramfs", |report, count| {
        in_askr(report, user, "/tmp/crowd", "ramfs", count)?;
        base(report, raw, count)
    })?;
    if let Some(mut peer) = bench.boot_peer(LARGE_MEMORY)? {
        grow(bench, "Linux", |report, count| {
            for what in ["files", "remove"] {
                let output = peer.agent.run(&["/bin/crowd", what, "/tmp/crowd", &count.to_string()])?;
                add_all(report, "Linux tmpfs", count, &output);
            }
            Ok(())
        })?;
    }
    grow(bench, "/disk", |report, count| in_askr(report, user, "/disk/crowd", "/disk", count))
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
        before = Some((count, began.elapsed()));
    }
    Ok(())
}

fn in_askr(report: &mut Report, user: &mut User, folder: &str, place: &str, count: usize) -> Result<()> {
    let number = count.to_string();
    let crowd = |report: &mut Report, user: &mut User, what| {
        let output = user.run(&["/bin/crowd", what, folder, &number])?;
        add_all(report, &format!("Askr {place}"), count, &output);
        Result::Ok(())
    };
    crowd(report, user, "files")?;
    let began = Instant::now();
    let entries = user.list(folder)?;
    if entries != count {
        return Err(format!("{folder} has {entries} entries instead of {count}").into());
    }
    let who = format!("fs.list, {place}");
    report.point("list over COM2", &who, "entry", (count as u64, each(began, count)));
    crowd(report, user, "remove")
}

/// LIST of the base generation, which counts from the front.
fn base(report: &mut Report, raw: &mut Raw, count: usize) -> Result<()> {
    let (folder, number) = ("/tmp/crowd", count.to_string());
    raw.run(&["/bin/crowd", "files", folder, &number])?;
    let began = Instant::now();
    let entries = raw.list(folder)?;
    if entries != count {
        return Err(format!("LIST gives {entries} entries instead of {count}").into());
    }
    report.point("list over COM2", "LIST of the base, ramfs", "entry", (count as u64, each(began, count)));
    raw.run(&["/bin/crowd", "remove", folder, &number])
}

/// Seconds for each of so many.
#[expect(clippy::cast_precision_loss, reason = "thousands")]
pub(super) fn each(began: Instant, count: usize) -> f64 {
    began.elapsed().as_secs_f64() / count as f64
}
