//! One job: a program started over the bus, and all that descend from it.

use alloc::boxed::Box;

use askr_abi::signal::SIGKILL;
use askr_wait::Nanos;
use askr_wire::message::{EndCause, FaultFacts, JobState, OutputStream, WaitReply};
use askr_wire::status::Status;
use askr_wire::{Message, NoRoom};

use super::output::Output;
use crate::Fault;

/// How the first process of a job has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// With a code, or by a signal.
    pub how: HowEnded,
    /// Time it has computed, in nanoseconds.
    pub cpu_ns: u64,
    /// Whether memory was used up and it had to go.
    pub out_of_memory: bool,
    /// The fault that ended it.
    pub fault: Option<Box<Fault>>,
}

/// With a code, or by a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowEnded {
    /// By itself, with this exit code.
    Code(u8),
    /// By this signal.
    Signal(u32),
}

/// A job. `I` is what its input is given through.
#[derive(Debug)]
pub(super) struct Job<I> {
    pub(super) id: u32,
    /// Its first process.
    pub(super) pid: u32,
    /// Its processes that have not ended.
    pub(super) living: u32,
    /// Place in the order in which jobs became empty; `None` while it has processes.
    pub(super) over: Option<u64>,
    /// When all of it is killed.
    pub(super) deadline: Option<Nanos>,
    pub(super) input: Option<I>,
    /// Whether its first process has ended and waits to be reaped.
    pub(super) to_reap: bool,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
    /// The signals that KILL sent to its first process, one bit each.
    killed_with: u64,
    timed_out: bool,
    end: Option<(End, EndCause)>,
}

impl<I> Job<I> {
    pub(super) fn new(id: u32, pid: u32, outputs: (Output, Output), input: Option<I>) -> Self {
        let (stdout, stderr) = outputs;
        Self {
            id,
            pid,
            living: 1,
            over: None,
            deadline: None,
            input,
            to_reap: false,
            stdout,
            stderr,
            killed_with: 0,
            timed_out: false,
            end: None,
        }
    }

    pub(super) const fn output(&self, stream: OutputStream) -> &Output {
        match stream {
            OutputStream::Stdout => &self.stdout,
            OutputStream::Stderr => &self.stderr,
        }
    }

    pub(super) const fn output_mut(&mut self, stream: OutputStream) -> &mut Output {
        match stream {
            OutputStream::Stdout => &mut self.stdout,
            OutputStream::Stderr => &mut self.stderr,
        }
    }

    /// Bytes of memory that its outputs have.
    pub(super) fn memory(&self) -> usize {
        self.stdout.memory() + self.stderr.memory()
    }

    /// Whether its first process has ended.
    pub(super) const fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Its time is over and all of it is being killed.
    pub(super) const fn time_out(&mut self) {
        self.deadline = None;
        // Who is killed already does not end because of the time.
        self.timed_out = self.killed_with & bit(SIGKILL) == 0;
    }

    /// KILL has sent this signal to its first process.
    pub(super) const fn note_kill(&mut self, signal: u32) {
        if !self.timed_out {
            self.killed_with |= bit(signal);
        }
    }

    /// Its first process has ended.
    pub(super) fn end_first(&mut self, end: End) {
        let cause = match end.how {
            HowEnded::Signal(_) if end.out_of_memory => EndCause::OutOfMemory,
            HowEnded::Signal(SIGKILL) if self.timed_out => EndCause::Deadline,
            HowEnded::Signal(signal) if self.killed_with & bit(signal) != 0 && end.fault.is_none() => {
                EndCause::Killed
            }
            _ => EndCause::Itself,
        };
        self.end = Some((end, cause));
        self.to_reap = true;
    }

    /// Encodes how it is. `cpu_of` tells how long a process that runs has computed.
    pub(super) fn encode(&self, cpu_of: impl FnOnce(u32) -> u64, out: &mut [u8]) -> Result<usize, Status> {
        let (state, code) = match self.end.as_ref().map(|(end, _)| end.how) {
            None => (JobState::Running, 0),
            Some(HowEnded::Code(code)) => (JobState::Exited, code.into()),
            Some(HowEnded::Signal(signal)) => (JobState::Signalled, signal),
        };
        let end = self.end.as_ref().map(|(end, _)| end);
        let cpu_ns = end.map_or_else(|| cpu_of(self.pid), |end| end.cpu_ns);
        let mut put = |fault: Option<FaultFacts<'_>>| {
            let reply = WaitReply {
                state,
                cause: self.end.as_ref().map_or(EndCause::Itself, |&(_, cause)| cause),
                code,
                pid: self.pid,
                processes: self.living,
                cpu_ns,
                stdout_total: self.stdout.total(),
                stderr_total: self.stderr.total(),
                fault,
            };
            reply.encode(out).map_err(|NoRoom| Status::MsgSize)
        };
        match end.and_then(|end| end.fault.as_deref()) {
            Some(fault) => fault.with_facts(|facts| put(Some(facts))),
            None => put(None),
        }
    }
}

/// The bit of a signal's number; those that are none have none.
const fn bit(signal: u32) -> u64 {
    match 1_u64.checked_shl(signal.wrapping_sub(1)) {
        Some(bit) => bit,
        None => 0,
    }
}
