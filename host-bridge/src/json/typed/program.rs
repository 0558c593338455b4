//! Programs: how they are started, and how they ended.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{request, small, text};
use crate::json::{bytes, content_of, name};

/// Most bytes of each output that a guest keeps, and that one reply has.
pub(super) const OUTPUT_MAX: u32 = 1 << 20;

/// A program to start in the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    argv: Vec<Vec<u8>>,
    env: Option<Vec<Vec<u8>>>,
    cwd: Option<Vec<u8>>,
    stdin: Option<Vec<u8>>,
    deadline: Option<Duration>,
}

impl Program {
    /// The program and its arguments. Without a slash in its name it is looked for in `/bin`.
    pub fn new<Word: AsRef<[u8]>>(argv: impl IntoIterator<Item = Word>) -> Self {
        let argv = argv.into_iter().map(|word| word.as_ref().to_vec()).collect();
        Self { argv, env: None, cwd: None, stdin: None, deadline: None }
    }

    /// Its environment, `NAME=value` each, instead of `PATH=/bin` and `HOME=/`.
    #[must_use]
    pub fn env<Word: AsRef<[u8]>>(self, env: impl IntoIterator<Item = Word>) -> Self {
        Self { env: Some(env.into_iter().map(|word| word.as_ref().to_vec()).collect()), ..self }
    }

    /// Where it starts, instead of `/`.
    #[must_use]
    pub fn cwd(self, path: impl AsRef<[u8]>) -> Self {
        Self { cwd: Some(path.as_ref().to_vec()), ..self }
    }

    /// What it reads, instead of nothing.
    #[must_use]
    pub fn stdin(self, input: impl AsRef<[u8]>) -> Self {
        Self { stdin: Some(input.as_ref().to_vec()), ..self }
    }

    /// The guest kills it and all that it started after this time, to the millisecond.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    pub(crate) fn request(&self, op: &str) -> Value {
        let mut fields = Map::new();
        bytes::put_list(&mut fields, name::ARGV, &self.argv);
        self.env.iter().for_each(|env| bytes::put_list(&mut fields, name::ENV, env));
        for (field, given) in [(name::CWD, &self.cwd), (name::STDIN, &self.stdin)] {
            given.iter().for_each(|given| bytes::put(&mut fields, field, given));
        }
        if let Some(deadline) = self.deadline {
            // Zero would be none.
            let deadline = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX).max(1);
            fields.insert(name::DEADLINE_MS.into(), deadline.into());
        }
        fields.insert(name::MAX_OUTPUT.into(), OUTPUT_MAX.into());
        if op == "proc.run" {
            fields.insert(name::MAX.into(), OUTPUT_MAX.into());
        }
        request(op, fields)
    }
}

/// A started program, with all that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its number among the jobs of this boot.
    pub job: u32,
    /// Its first process.
    pub pid: u32,
}

impl Job {
    pub(crate) fn of(ok: &Value) -> Option<Self> {
        Some(Self { job: small(ok, name::JOB)?, pid: small(ok, name::PID)? })
    }
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Exited(u32),
    /// By this signal, such as `SEGV`; one without a name is its number.
    Signalled(String),
}

/// Why a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// By itself, or by a fault of its own.
    Itself,
    /// Its deadline passed.
    Deadline,
    /// Somebody killed it over the bus.
    Killed,
    /// Memory ran out.
    OutOfMemory,
}

/// What a program wrote: the last MiB of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The bytes from `start` on.
    pub content: Vec<u8>,
    /// How many bytes before those were not kept.
    pub start: u64,
    /// How many bytes were written.
    pub total: u64,
    /// Whether nothing more will be written: other processes of the job may still do that.
    pub ended: bool,
}

impl Output {
    fn of(piece: &Value) -> Option<Self> {
        let (start, total) = (piece["start"].as_u64()?, piece["total"].as_u64()?);
        Some(Self { content: content_of(piece)?, start, total, ended: piece["ended"].as_bool()? })
    }

    /// Whether `content` is all of it.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.ended && self.content.len() as u64 == self.total
    }
}

/// A program that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Which it was.
    pub job: Job,
    /// How it ended.
    pub end: End,
    /// Why.
    pub cause: Cause,
    /// What it wrote to standard output.
    pub stdout: Output,
    /// What it wrote to standard error output.
    pub stderr: Output,
    /// What it did wrong, as `docs/host.md` has it, if a fault ended it.
    pub fault: Option<Value>,
}

impl Finished {
    /// Whether it exited with the code 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.end == End::Exited(0)
    }

    pub(crate) fn of(ok: &Value) -> Option<Self> {
        let end = match ok["state"].as_str()? {
            "exited" => End::Exited(small(ok, "exit_code")?),
            "signalled" => {
                let number = || Some(small(ok, name::SIGNAL)?.to_string());
                End::Signalled(text(ok, name::SIGNAL).or_else(number)?)
            }
            _ => return None,
        };
        let cause = match ok["cause"].as_str()? {
            "itself" => Cause::Itself,
            "deadline" => Cause::Deadline,
            "killed" => Cause::Killed,
            "out_of_memory" => Cause::OutOfMemory,
            _ => return None,
        };
        let (stdout, stderr) = (Output::of(&ok["stdout"])?, Output::of(&ok["stderr"])?);
        Some(Self { job: Job::of(ok)?, end, cause, stdout, stderr, fault: ok.get("fault").cloned() })
    }
}

#[cfg(test)]
mod tests {
    use askr_wire::message::StdinPolicy;

    use super::*;
    use crate::json::{Command, parse};

    #[test]
    fn a_program_is_started_as_it_was_described() {
        let program = Program::new([&b"cat"[..], b"\xff"]).cwd("/tmp").stdin(b"\0\xfe");
        let program = program.env(["A=b"]).deadline(Duration::from_nanos(1));
        let command = |op| parse(program.request(op).to_string().as_bytes()).command;
        let Ok(Command::Run { spawn, max }) = command("proc.run") else { panic!("{program:?}") };
        assert_eq!((&spawn.path[..], &spawn.argv[1][..]), (&b"/bin/cat"[..], &b"\xff"[..]));
        assert_eq!((&spawn.cwd[..], &spawn.input[..]), (&b"/tmp"[..], &b"\0\xfe"[..]));
        assert_eq!((spawn.stdin, spawn.env.len(), spawn.deadline_ms), (StdinPolicy::Given, 1, 1));
        assert_eq!((max, spawn.output_limit), (1 << 20, 1 << 20));
        assert_eq!(command("proc.spawn"), Ok(Command::Spawn(spawn)));
    }

    #[test]
    fn an_end_is_read_and_what_is_none_is_not() {
        let piece = serde_json::json!({ "content": "/w==", "encoding": "base64", "start": 2, "total": 3, "ended": true });
        let mut ok = serde_json::json!({
            "job": 1, "pid": 2, "state": "signalled", "signal": "SEGV", "cause": "itself", "stdout": piece, "stderr": piece,
        });
        let finished = Finished::of(&ok).unwrap();
        assert_eq!(finished.end, End::Signalled("SEGV".into()));
        assert_eq!(finished.stdout, Output { content: vec![0xff], start: 2, total: 3, ended: true });
        assert!(!finished.is_success() && !finished.stdout.is_whole());
        ok["state"] = "running".into();
        assert!(Finished::of(&ok).is_none() && super::super::is_running(&ok));
    }
}
