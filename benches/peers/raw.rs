//! A guest in a session of our own, without the bridge.

use std::time::{Duration, Instant};

use askr::Machine;
use askr_wire::message::{
    EventsReply, EventsRequest, LoggedEvent, PathRequest, PingReply, PingRequest, ProcessEvent, ReaddirReply,
    ReaddirRequest, SpawnReply, SpawnRequest, StdinPolicy, Word,
};
use askr_wire::message::{ListRequest, NodeEntry};
use askr_wire::{FrameType, List, Message, code};

use crate::Result;
use crate::door::Door;
use crate::guest::{Guest, PATIENCE};
use crate::line::{Line, body_of};

/// Pings by which the guest's clock is compared with ours.
const CLOCK_PINGS: usize = 8;

/// The guest, and the line to it.
pub(crate) struct Raw {
    pub(crate) line: Line,
    _guest: Guest,
    counter: u32,
    /// The guest's uptime at this moment, by a ping that took so long.
    clock: (Instant, Duration, Duration),
}

impl Raw {
    /// Boots this machine and opens a session through this door.
    pub(crate) fn boot(machine: Machine, door: Door) -> Result<Self> {
        let guest = Guest::boot(&door.built_into(machine))?;
        let mut line = Line::new(door.connect(&guest.vm)?, guest.screen.clone())?;
        line.hello()?;
        Ok(Self { line, _guest: guest, counter: 0, clock: (Instant::now(), Duration::ZERO, Duration::MAX) })
    }

    /// A ping; returns half of its bytes in both directions together.
    pub(crate) fn ping(&mut self) -> Result<usize> {
        self.counter += 1;
        let (started, received) = (Instant::now(), self.line.received);
        let (seq, sent) = self.line.send(code::PING, &PingRequest { counter: self.counter })?;
        let body = self.line.answer(seq, code::PING)?;
        let took = started.elapsed();
        if took < self.clock.2 {
            let uptime = PingReply::decode(&body).map_err(|_| "a malformed answer to PING")?.uptime_ns;
            self.clock = (started + took / 2, Duration::from_nanos(uptime), took);
        }
        Ok((sent + self.line.received - received) / 2)
    }

    /// Facts about a path.
    pub(crate) fn stat(&mut self, path: &str) -> Result<()> {
        self.line.call(code::STAT, &PathRequest { path: path.as_bytes() }).map(drop)
    }

    /// The number of entries of a directory, listed page by page with READDIR.
    pub(crate) fn readdir(&mut self, path: &str) -> Result<usize> {
        let (mut cursor, mut entries) = (0, 0);
        loop {
            let body = self.line.call(code::READDIR, &ReaddirRequest { cursor, path: path.as_bytes() })?;
            let page = ReaddirReply::decode(&body).map_err(|_| "a malformed answer to READDIR")?;
            entries += page.entries.iter().filter(|entry: &NodeEntry<'_>| !entry.name.is_empty()).count();
            if page.next == 0 {
                return Ok(entries);
            }
            cursor = page.next;
        }
    }

    /// As [`Raw::readdir`], with LIST of the base generation.
    pub(crate) fn list(&mut self, path: &str) -> Result<usize> {
        let mut start: u32 = 0;
        loop {
            let body = self.line.call(code::LIST, &ListRequest { start, path: path.as_bytes() })?;
            match body.first_chunk() {
                Some([0, 0]) => return Ok(start as usize),
                Some(count) => start += u32::from(u16::from_le_bytes(*count)),
                None => return Err("a malformed answer to LIST".into()),
            }
        }
    }

    /// Starts a program; returns its pid once its event of this kind has come, and when that was.
    pub(crate) fn spawn_until(&mut self, argv: &[&str], event: u16) -> Result<(u32, Instant)> {
        let until = Instant::now() + PATIENCE;
        let seq = self.spawn(argv)?;
        let (mut pid, mut seen) = (None, Vec::new());
        loop {
            let frame = self.line.next(format_args!("event {event:#06x} of {argv:?}"), until)?;
            let now = Instant::now();
            if frame.kind == FrameType::Response && frame.seq == seq {
                let body = body_of(&frame)?;
                pid = Some(SpawnReply::decode(&body).map_err(|_| "a malformed answer to SPAWN")?.pid);
            } else if frame.kind == FrameType::Event && frame.code == event {
                let event = ProcessEvent::decode(&frame.payload).map_err(|_| "a malformed event")?;
                seen.push((event.pid, now));
            }
            if let Some(&found) = seen.iter().find(|(of, _)| Some(*of) == pid) {
                return Ok(found);
            }
        }
    }

    fn spawn(&mut self, argv: &[&str]) -> Result<u32> {
        let mut scratch = [0; 256];
        let words = argv.iter().map(|word| Word(word.as_bytes()));
        let request = SpawnRequest {
            stdin: StdinPolicy::Closed,
            timeout_ms: 0,
            output_limit: 0,
            path: argv[0].as_bytes(),
            cwd: b"",
            argv: List::build(words, &mut scratch).map_err(|_| "arguments that are too long")?,
            env: List::EMPTY,
            input: b"",
        };
        Ok(self.line.send(code::SPAWN, &request)?.0)
    }

    /// Starts a program to its end.
    pub(crate) fn run(&mut self, argv: &[&str]) -> Result<()> {
        self.spawn_until(argv, code::EVENT_EXIT).map(drop)
    }

    /// Time from a fault, by the guest's clock, to its event here. The clocks are compared anew each time, by the fastest
    /// of some pings: they do not run equally fast.
    pub(crate) fn fault_to_event(&mut self) -> Result<f64> {
        self.clock.2 = Duration::MAX;
        for _ in 0..CLOCK_PINGS {
            self.ping()?;
        }
        let (pid, came) = self.spawn_until(&["/bin/crash"], code::EVENT_FAULT)?;
        let mut cursor = 0;
        loop {
            let body = self.line.call(code::EVENTS, &EventsRequest { cursor })?;
            let page = EventsReply::decode(&body).map_err(|_| "a malformed answer to EVENTS")?;
            let is_it = |one: &LoggedEvent<'_>| one.code == code::EVENT_FAULT && one.event.pid == pid;
            if let Some(fault) = page.events.iter().find(is_it) {
                let (moment, uptime, _) = self.clock;
                let happened = (moment + Duration::from_nanos(fault.time_ns)).checked_sub(uptime);
                return Ok(came.saturating_duration_since(happened.unwrap_or(came)).as_secs_f64());
            }
            if page.events.is_empty() {
                return Err("the fault is not among the events".into());
            }
            cursor += page.lost + u64::from(page.events.len());
        }
    }

    /// Runs a program that asks `count` times, and answers at once; the times from one ask to the next.
    pub(crate) fn asks(&mut self, count: usize) -> Result<Vec<f64>> {
        let until = Instant::now() + PATIENCE;
        self.spawn(&["/bin/asks", &count.to_string()])?;
        let mut came = Vec::new();
        while came.len() < count {
            let frame = self.line.next(format_args!("ask {} of {count}", came.len() + 1), until)?;
            if frame.kind == FrameType::DecisionReq {
                came.push(Instant::now());
                self.line.send_frame(FrameType::DecisionResp, frame.seq, frame.code, b"yes")?;
            }
        }
        Ok(came.windows(2).map(|two| (two[1] - two[0]).as_secs_f64()).collect())
    }
}
