//! Facts about the guest, its processes, its events, and its power.

use askr_wire::message::{
    Counter, EventsReply, EventsRequest, Fact, PowerAction, PowerRequest, ProcessFacts, ProcessOrigin,
    Ps2Request, TaskState, TimeReply, UptimeReply,
};
use askr_wire::{List, code};

use super::{ENTRIES_MAX, Listing, Operation, decode};
use crate::session::{CallError, Event};

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// The process it is a child of; 0 for none.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// The job it belongs to; 0 for none.
    pub job: u32,
    /// What it is doing.
    pub state: TaskState,
    /// On whose behalf.
    pub origin: ProcessOrigin,
    /// Its exit code while it is a zombie.
    pub code: u32,
    /// Time it has computed, in nanoseconds.
    pub cpu_ns: u64,
    /// Memory in use for it, in bytes.
    pub memory: u64,
    /// Time since it was started, in nanoseconds.
    pub age_ns: u64,
    /// Name of the program.
    pub name: Vec<u8>,
}

/// Events of one boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPage {
    /// In order, without a gap.
    pub events: Vec<Event>,
    /// Events from the cursor on that the guest did not keep; `events` begins after them.
    pub lost: u64,
    /// The cursor of what follows.
    pub next: u64,
    /// Number of events since boot.
    pub count: u64,
}

impl Operation<'_> {
    /// The guest's counters.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn counters(&self) -> Result<Vec<(String, u64)>, CallError> {
        self.numbers(code::STATS)
    }

    /// How much memory there is, by name, in bytes.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn memory(&self) -> Result<Vec<(String, u64)>, CallError> {
        self.numbers(code::MEMINFO)
    }

    fn numbers(&self, code: u16) -> Result<Vec<(String, u64)>, CallError> {
        let body = self.read_request(code, &())?;
        let counters: List<'_, Counter<'_>> = decode(&body)?;
        Ok(counters.iter().map(|c| (String::from_utf8_lossy(c.name).into_owned(), c.value)).collect())
    }

    /// What kernel and machine it is: names and what they are.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn info(&self) -> Result<Vec<(String, Vec<u8>)>, CallError> {
        let body = self.read_request(code::INFO, &())?;
        let facts: List<'_, Fact<'_>> = decode(&body)?;
        let own = |fact: Fact<'_>| (String::from_utf8_lossy(fact.name).into_owned(), fact.value.to_vec());
        Ok(facts.iter().map(own).collect())
    }

    /// Time since boot and time since 1970, both in nanoseconds.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn time(&self) -> Result<(u64, u64), CallError> {
        let uptime: UptimeReply = decode(&self.read_request(code::UPTIME, &())?)?;
        let time: TimeReply = decode(&self.read_request(code::TIME, &())?)?;
        Ok((uptime.uptime_ns, time.unix_ns))
    }

    /// All processes.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn processes(&self) -> Result<Listing<Process>, CallError> {
        let (mut entries, mut after) = (Vec::new(), 0);
        while entries.len() < ENTRIES_MAX {
            let body = self.read_request(code::PS2, &Ps2Request { after })?;
            let page: List<'_, ProcessFacts<'_>> = decode(&body)?;
            match page.iter().last() {
                Some(last) if last.pid > after => after = last.pid,
                Some(_) => return Err(CallError::Protocol("processes come out of order")),
                None => return Ok(Listing { entries, truncated: false }),
            }
            entries.extend(page.iter().map(Process::from));
        }
        Ok(Listing { entries, truncated: true })
    }

    /// Events from number `cursor` on, as many as the guest gives at once.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn events(&self, cursor: u64) -> Result<EventPage, CallError> {
        let body = self.read_request(code::EVENTS, &EventsRequest { cursor })?;
        let page: EventsReply<'_> = decode(&body)?;
        let first = cursor.saturating_add(page.lost);
        let events: Vec<Event> = (first..)
            .zip(page.events)
            .map(|(number, one)| Event::logged(self.boot(), number, &one))
            .collect();
        Ok(EventPage { next: first + events.len() as u64, events, lost: page.lost, count: page.count })
    }

    /// Switches the guest off, or starts it again.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`]; a guest that is gone before its answer is
    /// [`CallError::OutcomeUnknown`] or [`CallError::GuestRestarted`].
    pub fn power(&self, action: PowerAction) -> Result<(), CallError> {
        decode(&self.request(code::POWER, &PowerRequest { action }, true)?)
    }
}

impl From<ProcessFacts<'_>> for Process {
    fn from(facts: ProcessFacts<'_>) -> Self {
        let ProcessFacts { pid, parent, group, job, state, origin, code, cpu_ns, memory, age_ns, name } =
            facts;
        let name = name.to_vec();
        Self { pid, parent, group, job, state, origin, code, cpu_ns, memory, age_ns, name }
    }
}
