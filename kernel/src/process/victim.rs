//! Who is to end when memory is used up: the kernel's choice, or the agent's. Nothing here asks for memory but short
//! names.

use super::{Process, table};
use crate::arch::clock::{Nanos, SECOND};
use crate::bus::{Decided, ask_for_kernel};
use crate::sched::Task;
use alloc::sync::Arc;
use askr_agentbus::AskExtra;
use askr_core::oom::{Candidate, OFFERED_MAX, offer};
use core::fmt::Write;

/// How long the agent may think.
pub(super) const PATIENCE: Nanos = 2 * SECOND;
/// Bytes of a program's name that the agent is shown.
const NAME_SHOWN: usize = 16;

/// A number in decimal.
type Decimal = heapless::String<10>;

/// The processes to choose from, the kernel's choice first. The tasks are kept, so that no number can come to mean another
/// process meanwhile.
pub(super) struct Offered {
    candidates: [Candidate; OFFERED_MAX],
    tasks: [Option<Arc<Task>>; OFFERED_MAX],
    count: usize,
}

impl Offered {
    pub(super) fn new(all: &[Candidate], chosen: Candidate) -> Self {
        let (candidates, count) = offer(all, chosen);
        let tasks = core::array::from_fn(|at| table::find(candidates[at].pid).filter(|_| at < count));
        Self { candidates, tasks, count }
    }

    /// Who is to end, with the bytes of memory it has: the agent's choice if it makes one in time and that process is still
    /// there, else the kernel's. `None` if that has ended meanwhile, too.
    pub(super) fn choose(&self, wanted_by: &Process) -> Option<(Arc<Task>, u64)> {
        let chosen = if self.count > 1 { self.ask(wanted_by).and_then(|at| self.living(at)) } else { None };
        chosen.or_else(|| self.living(0))
    }

    fn living(&self, at: usize) -> Option<(Arc<Task>, u64)> {
        let task = self.tasks[at].as_ref()?;
        let resident = task.process()?.with_space(|space| Ok(space.resident())).ok()?;
        Some((task.clone(), resident))
    }

    /// Asks the agent; `None` if it names nobody.
    fn ask(&self, wanted_by: &Process) -> Option<usize> {
        let mut extra = AskExtra::default();
        let mut question = heapless::String::<256>::new();
        question.push_str("memory is used up: which process is to end?").ok()?;
        for candidate in &self.candidates[..self.count] {
            let pid = decimal(candidate.pid)?;
            extra.choice(pid.as_bytes()).ok()?;
            write!(question, " {pid}").ok()?;
        }
        extra.context(b"wanted_by", describe(wanted_by, None)?.as_bytes()).ok()?;
        for (candidate, task) in self.candidates[..self.count].iter().zip(&self.tasks) {
            let process = task.as_ref()?.process()?;
            let words = describe(process, Some(candidate.resident))?;
            extra.context(decimal(candidate.pid)?.as_bytes(), words.as_bytes()).ok()?;
        }
        extra.default_answer(decimal(self.candidates[0].pid)?.as_bytes());
        let mut answer = [0; 10];
        let Decided { length, .. } = ask_for_kernel(question.as_bytes(), &extra, PATIENCE, &mut answer)?;
        let pid: u32 = core::str::from_utf8(&answer[..length]).ok()?.parse().ok()?;
        self.candidates[..self.count].iter().position(|candidate| candidate.pid == pid)
    }
}

fn decimal(number: u32) -> Option<Decimal> {
    let mut text = Decimal::new();
    write!(text, "{number}").ok()?;
    Some(text)
}

/// A process in words: number and name, or name and memory.
fn describe(process: &Process, resident: Option<u64>) -> Option<heapless::String<96>> {
    let name = process.name();
    let name = name[..name.len().min(NAME_SHOWN)].escape_ascii();
    let mut text = heapless::String::new();
    match resident {
        Some(resident) => write!(text, "{name}, {} KiB", resident / 1024).ok()?,
        None => write!(text, "{} {name}", process.pid()).ok()?,
    }
    Some(text)
}
