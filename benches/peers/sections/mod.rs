//! What is measured, in sections that can be run alone.

mod boot;
mod bus;
mod directories;
mod files;
mod growth;
mod idle;
mod programs;
mod syscalls;

use std::collections::BTreeMap;
use std::time::Duration;

use askr::Machine;

use crate::Result;
use crate::alternate::{Contender, Pace};
use crate::floor::Floor;
use crate::guest::Programs;
use crate::peer::{Peer, Running};
use crate::report::{Report, Unit};

/// Memory of all machines whose size is not what matters, in MiB.
const MEMORY: u32 = 256;
/// Memory where files are large: of Askr an eighth of it is for files in memory.
const LARGE_MEMORY: u32 = 1024;

/// A section.
pub(crate) struct Section {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) run: fn(&mut Bench) -> Result<()>,
}

/// All of them, in their order: later ones compare with what earlier ones have measured.
pub(crate) const SECTIONS: [Section; 7] = [
    Section { name: "boot", what: "from QEMU's start to the prompt and to the first answer", run: boot::run },
    Section { name: "bus", what: "pings, facts, listings, events and asks", run: bus::run },
    Section { name: "programs", what: "a program from start to end, and its output", run: programs::run },
    Section { name: "files", what: "files of 4 KiB to 64 MiB, both ways", run: files::run },
    Section { name: "idle", what: "processor and memory of a guest that does nothing", run: idle::run },
    Section {
        name: "syscalls",
        what: "system calls, against Linux with the same binary",
        run: syscalls::run,
    },
    Section { name: "growth", what: "many files, processes and requests", run: growth::run },
];

/// What sections work with.
pub(crate) struct Bench {
    pub(crate) quick: bool,
    pub(crate) peer: Option<Peer>,
    pub(crate) programs: Programs,
    pub(crate) floor: Floor,
    pub(crate) report: Report,
}

impl Bench {
    /// So many rounds within so many seconds; a tenth of the rounds in a quick run.
    fn pace(&self, rounds: usize, seconds: u64) -> Pace {
        let (rounds, seconds) =
            if self.quick { (rounds.div_ceil(10), seconds.div_ceil(5)) } else { (rounds, seconds) };
        Pace { rounds, budget: Duration::from_secs(seconds) }
    }

    /// A machine with the programs of the benchmark.
    fn machine(&self, memory_mib: u32) -> Machine {
        self.programs.put_into(Machine::new().memory_mib(memory_mib))
    }

    /// The peer, booted, if there is one.
    fn boot_peer(&self, memory_mib: u32) -> Result<Option<Running>> {
        self.peer.as_ref().map(|peer| peer.boot(memory_mib).map(|(running, _)| running)).transpose()
    }

    /// Adds what these have measured.
    fn record(&mut self, metric: &str, unit: Unit, contenders: &[Contender<'_>]) {
        for contender in contenders {
            self.report.add(metric, &contender.who, unit, &contender.samples);
        }
    }
}

/// The lines of our programs, `name count nanoseconds`: seconds for each, by name.
fn seconds_each(output: &str) -> BTreeMap<String, f64> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, count, nanos) =
            (words.next()?, words.next()?.parse::<f64>().ok()?, words.next()?.parse::<f64>().ok()?);
        Some((name.to_owned(), nanos / 1e9 / count))
    };
    output.lines().filter_map(line).collect()
}
