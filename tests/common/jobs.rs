//! Jobs over COM2: SPAWN and what follows it, in the words of a test.

use std::time::{Duration, Instant};

use askr_wire::message::{
    EndCause, InputReply, InputRequest, JobState, KillReply, KillRequest, KillTarget, OutputReply,
    OutputRequest, OutputStream, ProcessFacts, Ps2Request, REGISTERS, SpawnReply, SpawnRequest, StdinPolicy,
    WaitReply, WaitRequest, Word,
};
use askr_wire::status::Status;
use askr_wire::{List, Message, code};

use super::PATIENCE;
use super::peer::{Peer, bytes};

/// Longest time that one request waits, in milliseconds.
pub(crate) const LONG: u32 = 30_000;

/// A program to be started.
#[derive(Clone, Copy)]
pub(crate) struct Start<'a> {
    pub(crate) path: &'a str,
    /// After the name of the program.
    pub(crate) arguments: &'a [&'a str],
    pub(crate) env: &'a [&'a str],
    pub(crate) cwd: &'a str,
    pub(crate) stdin: StdinPolicy,
    pub(crate) input: &'a [u8],
    pub(crate) timeout_ms: u32,
    pub(crate) output_limit: u32,
}

impl<'a> Start<'a> {
    /// A program that reads nothing.
    pub(crate) const fn program(path: &'a str, arguments: &'a [&'a str]) -> Self {
        let stdin = StdinPolicy::Closed;
        let (env, cwd, input) = (&["PATH=/bin"], "", &[]);
        Self { path, arguments, env, cwd, stdin, input, timeout_ms: 0, output_limit: 0 }
    }

    /// The same, with something to read.
    pub(crate) const fn reading(self, stdin: StdinPolicy, input: &'a [u8]) -> Self {
        Self { stdin, input, ..self }
    }

    /// The payload of SPAWN.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (mut argv, mut env) = (vec![0; 4096], vec![0; 4096]);
        let words = [self.path].into_iter().chain(self.arguments.iter().copied());
        bytes(&SpawnRequest {
            stdin: self.stdin,
            timeout_ms: self.timeout_ms,
            output_limit: self.output_limit,
            path: self.path.as_bytes(),
            cwd: self.cwd.as_bytes(),
            argv: List::build(words.map(|word| Word(word.as_bytes())), &mut argv).unwrap(),
            env: List::build(self.env.iter().map(|word| Word(word.as_bytes())), &mut env).unwrap(),
            input: self.input,
        })
    }
}

/// What WAIT says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) state: JobState,
    pub(crate) cause: EndCause,
    pub(crate) code: u32,
    pub(crate) pid: u32,
    pub(crate) processes: u32,
    pub(crate) cpu_ns: u64,
    pub(crate) stdout_total: u64,
    pub(crate) stderr_total: u64,
    pub(crate) fault: Option<Fault>,
}

/// What it says of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) signal: u8,
    pub(crate) vector: u8,
    pub(crate) error: u64,
    pub(crate) address: u64,
    pub(crate) rip: u64,
    pub(crate) registers: [u64; REGISTERS],
    pub(crate) backtrace: Vec<u64>,
}

impl Waited {
    pub(crate) fn decode(body: &[u8]) -> Self {
        let reply = WaitReply::decode(body).unwrap();
        Self {
            state: reply.state,
            cause: reply.cause,
            code: reply.code,
            pid: reply.pid,
            processes: reply.processes,
            cpu_ns: reply.cpu_ns,
            stdout_total: reply.stdout_total,
            stderr_total: reply.stderr_total,
            fault: reply.fault.map(|fault| Fault {
                signal: fault.signal,
                vector: fault.vector,
                error: fault.error,
                address: fault.address,
                rip: fault.rip,
                registers: fault.registers,
                backtrace: fault.backtrace.iter().map(|address| address.0).collect(),
            }),
        }
    }

    /// How the first process ended, and why.
    pub(crate) const fn end(&self) -> (JobState, EndCause, u32) {
        (self.state, self.cause, self.code)
    }
}

/// What OUTPUT says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) lost: u64,
    pub(crate) total: u64,
    pub(crate) ended: bool,
    pub(crate) data: Vec<u8>,
}

/// A line of PS2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) job: u32,
    pub(crate) state: askr_wire::message::TaskState,
    pub(crate) origin: askr_wire::message::ProcessOrigin,
    pub(crate) code: u32,
    pub(crate) cpu_ns: u64,
    pub(crate) memory: u64,
    pub(crate) age_ns: u64,
    pub(crate) name: String,
}

/// The payload of WAIT.
pub(crate) fn wait_bytes(job: u32, wait_ms: u32) -> Vec<u8> {
    bytes(&WaitRequest { job, wait_ms })
}

impl Peer {
    /// Starts a job; returns its number and its first process.
    #[track_caller]
    pub(crate) fn try_spawn(&mut self, start: Start<'_>) -> Result<(u32, u32), Status> {
        match self.call(code::SPAWN, &start.bytes()) {
            (Status::Ok, body) => {
                let SpawnReply { job, pid } = SpawnReply::decode(&body).unwrap();
                Ok((job, pid))
            }
            (status, _) => Err(status),
        }
    }

    /// As [`Peer::try_spawn`], of what can be started.
    #[track_caller]
    pub(crate) fn spawn(&mut self, start: Start<'_>) -> (u32, u32) {
        self.try_spawn(start).unwrap_or_else(|status| panic!("{}: {status:?}", start.path))
    }

    /// Starts a line for the guest's shell as a job.
    #[track_caller]
    pub(crate) fn spawn_line(&mut self, line: &str) -> (u32, u32) {
        self.spawn(Start::program("/bin/sh", &["-c", line]))
    }

    /// How a job is now.
    #[track_caller]
    pub(crate) fn look(&mut self, job: u32) -> Waited {
        Waited::decode(&self.ok(code::WAIT, &wait_bytes(job, 0)))
    }

    /// Waits for the end of a job's first process.
    #[track_caller]
    pub(crate) fn wait(&mut self, job: u32) -> Waited {
        let until = Instant::now() + PATIENCE;
        loop {
            let waited = Waited::decode(&self.ok(code::WAIT, &wait_bytes(job, LONG)));
            if waited.state != JobState::Running {
                return waited;
            }
            assert!(Instant::now() < until, "job {job} has not ended: {waited:?}");
        }
    }

    /// Waits until a job has this many processes.
    #[track_caller]
    pub(crate) fn wait_for_processes(&mut self, job: u32, processes: u32) -> Waited {
        let until = Instant::now() + PATIENCE;
        loop {
            let waited = self.look(job);
            if waited.processes == processes {
                return waited;
            }
            assert!(Instant::now() < until, "job {job} does not get {processes} processes: {waited:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What a job has written after `cursor`, or will within `wait_ms`.
    #[track_caller]
    pub(crate) fn output(&mut self, job: u32, stream: OutputStream, cursor: u64, wait_ms: u32) -> Output {
        let request = OutputRequest { job, stream, cursor, max: u32::MAX, wait_ms };
        let body = self.ok(code::OUTPUT, &bytes(&request));
        let OutputReply { lost, total, ended, data } = OutputReply::decode(&body).unwrap();
        Output { lost, total, ended, data: data.to_vec() }
    }

    /// All that a job writes, until nobody holds the output open any more; and how much of it was lost.
    #[track_caller]
    pub(crate) fn all_output(&mut self, job: u32, stream: OutputStream) -> (Vec<u8>, u64) {
        let (mut all, mut cursor, mut lost) = (Vec::new(), 0, 0);
        let until = Instant::now() + PATIENCE;
        loop {
            let output = self.output(job, stream, cursor, LONG);
            cursor += output.lost + output.data.len() as u64;
            lost += output.lost;
            all.extend(output.data);
            if output.ended && cursor == output.total {
                return (all, lost);
            }
            assert!(Instant::now() < until, "job {job} holds {stream:?} open");
        }
    }

    /// Waits until a job has written this to its standard output.
    #[track_caller]
    pub(crate) fn expect_output(&mut self, job: u32, text: &str) {
        let (mut all, mut cursor) = (Vec::new(), 0);
        let until = Instant::now() + PATIENCE;
        while !String::from_utf8_lossy(&all).contains(text) {
            let output = self.output(job, OutputStream::Stdout, cursor, LONG);
            cursor += output.lost + output.data.len() as u64;
            all.extend(output.data);
            assert!(!output.ended && Instant::now() < until, "{text:?} is not in {all:?}");
        }
    }

    /// Sends a signal.
    #[track_caller]
    pub(crate) fn kill(&mut self, target: KillTarget, id: u32, signal: u8) -> Result<u32, Status> {
        match self.call(code::KILL, &bytes(&KillRequest { target, id, signal })) {
            (Status::Ok, body) => Ok(KillReply::decode(&body).unwrap().processes),
            (status, _) => Err(status),
        }
    }

    /// Gives a job something to read.
    #[track_caller]
    pub(crate) fn input(&mut self, job: u32, eof: bool, data: &[u8]) -> Result<u32, Status> {
        match self.call(code::INPUT, &bytes(&InputRequest { job, eof, data })) {
            (Status::Ok, body) => Ok(InputReply::decode(&body).unwrap().accepted),
            (status, _) => Err(status),
        }
    }

    /// All processes.
    #[track_caller]
    pub(crate) fn processes(&mut self) -> Vec<Process> {
        let mut all: Vec<Process> = Vec::new();
        loop {
            let after = all.last().map_or(0, |process| process.pid);
            let body = self.ok(code::PS2, &bytes(&Ps2Request { after }));
            let list = List::<ProcessFacts<'_>>::decode(&body).unwrap();
            if list.is_empty() {
                return all;
            }
            all.extend(list.iter().map(|facts| Process {
                pid: facts.pid,
                parent: facts.parent,
                group: facts.group,
                job: facts.job,
                state: facts.state,
                origin: facts.origin,
                code: facts.code,
                cpu_ns: facts.cpu_ns,
                memory: facts.memory,
                age_ns: facts.age_ns,
                name: String::from_utf8_lossy(facts.name).into_owned(),
            }));
        }
    }
}
