//! Askr beside what one would take instead, in the same run: `cargo bench --bench peers`. `docs/performance.md` says what it
//! measures and how to read it.

mod alternate;
mod door;
mod floor;
mod guest;
mod line;
mod load;
mod options;
mod page;
mod peer;
mod picture;
mod progress;
mod raw;
mod report;
mod screen;
mod sections;
mod stats;
mod transfer;
mod user;

use std::process::ExitCode;

use guest::{Programs, made};
use options::Options;
use peer::Peer;
use progress::say;
use report::Report;
use sections::{Bench, SECTIONS};

/// What can go wrong in a measurement is for people to read.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    let names: Vec<_> = SECTIONS.iter().map(|section| (section.name, section.what)).collect();
    let options = options::parse(&names, std::env::args()).unwrap_or_else(|error| error.exit());
    match measure(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the sections; whether all of them came to their end.
fn measure(options: &Options) -> Result<bool> {
    let mut report = Report::default();
    let programs = Programs::compile()?;
    let peer = if options.no_peer { Err("left out".into()) } else { Peer::build(&programs) };
    let peer = peer.map_err(|error| report.notes.push(format!("no peer in this run: {error}"))).ok();
    report.notes.iter().for_each(|note| say(note));
    let floor = floor::Floor::compile()?;
    let mut bench = Bench { quick: options.quick, peer, programs, floor, report };
    println!("{}", report::head());
    let mut all_ended = true;
    for section in SECTIONS.iter().filter(|section| options.only.iter().any(|name| name == section.name)) {
        say(&format!("{}: {}", section.name, section.what));
        let (rows, curves) = (bench.report.rows.len(), bench.report.curves.len());
        let others = load::Watch::start();
        let ended = (section.run)(&mut bench);
        print!("{}", bench.report.table(rows, curves));
        let mut notes = Vec::from_iter(load::warning(others.others()));
        if let Err(error) = ended {
            all_ended = false;
            notes.push(format!("not measured to the end: {error}"));
        }
        for note in notes {
            say(&format!("{}: {note}", section.name));
            bench.report.notes.push(format!("{}: {note}", section.name));
        }
        save(&bench.report, options)?;
    }
    let [json, page, picture] = ["results.json", "figures.md", "picture.svg"].map(made);
    say(&format!("written: {}, {}, {}", json?.display(), page?.display(), picture?.display()));
    Ok(all_ended)
}

/// Writes what there is so far, so that a run that is cut has something to show.
fn save(report: &Report, options: &Options) -> Result<()> {
    let kind = if options.quick { "A quick run" } else { "A full run" };
    std::fs::write(made("results.json")?, format!("{:#}\n", report.json()))?;
    std::fs::write(made("figures.md")?, page::of(report))?;
    std::fs::write(made("picture.svg")?, picture::draw(report, kind))?;
    Ok(())
}
