//! Programs that are started over the bus, their input and their output.

use std::thread;
use std::time::{Duration, Instant};

use askr_wire::message::{
    EndCause, InputReply, InputRequest, JobState, KillReply, KillRequest, KillTarget, OutputReply,
    OutputRequest, OutputStream, SpawnReply, SpawnRequest, StdinPolicy, WaitReply, WaitRequest, Word,
};
use askr_wire::{List, SESSION_PAYLOAD_MAX, code};

use super::{OpError, Operation, decode};
use crate::session::{CallError, Fault};

/// Longest that one request waits in the guest: it takes a place in the window that everybody shares.
const GUEST_WAIT: Duration = Duration::from_millis(250);
/// Pause between two looks at a job when others wait in the guest already.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// The program: an absolute path.
    pub path: Vec<u8>,
    /// Its arguments, its name first.
    pub argv: Vec<Vec<u8>>,
    /// Its environment: `NAME=value` each.
    pub env: Vec<Vec<u8>>,
    /// Where it starts; empty for `/`.
    pub cwd: Vec<u8>,
    /// What it reads.
    pub stdin: StdinPolicy,
    /// What it reads first.
    pub input: Vec<u8>,
    /// Milliseconds after which all of it is killed; 0 for never.
    pub deadline_ms: u32,
    /// Most bytes that the guest keeps of each output; 0 for its usual number.
    pub output_limit: u32,
}

/// A started program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its number among the jobs of this boot.
    pub job: u32,
    /// Its first process.
    pub pid: u32,
}

/// When a look at a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// As soon as there is output that was not read, or the job has ended.
    Output,
    /// When the job has ended.
    Exit,
}

/// What is wanted of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The job.
    pub job: u32,
    /// Bytes of its outputs that were read before: standard output, standard error output.
    pub cursors: [u64; 2],
    /// Most bytes of each output. What is over them stays to be read, as far as the guest keeps it.
    pub max: usize,
    /// Longest time.
    pub wait: Duration,
    /// When it ends before that.
    pub until: Until,
}

/// A part of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where `data` begins among all that was written.
    pub start: u64,
    /// The bytes. They do not end inside a UTF-8 character that goes on.
    pub data: Vec<u8>,
    /// Bytes after the cursor, before `start`, that the guest did not keep.
    pub lost: u64,
    /// Bytes written so far.
    pub total: u64,
    /// Nothing will be written after `total`.
    pub ended: bool,
}

impl Piece {
    const fn new(cursor: u64) -> Self {
        Self { start: cursor, data: Vec::new(), lost: 0, total: 0, ended: false }
    }

    /// The cursor of what follows.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.start + self.data.len() as u64
    }

    /// Leaves out the front part of a character at the end, if the rest is still to come.
    fn end_at_a_character(&mut self) {
        if self.ended && self.next() == self.total {
            return;
        }
        let cut = self.data.utf8_chunks().last().map_or(0, |last| {
            let invalid = last.invalid();
            let begins = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if begins { invalid.len() } else { 0 }
        });
        self.data.truncate(self.data.len() - cut);
    }
}

/// How a job is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How its first process is.
    pub state: JobState,
    /// Why that has ended.
    pub cause: EndCause,
    /// Its exit code or the number of the signal.
    pub code: u32,
    /// Its first process.
    pub pid: u32,
    /// Processes of it that have not ended.
    pub processes: u32,
    /// Time computed, in nanoseconds.
    pub cpu_ns: u64,
    /// Its standard output from the cursor on.
    pub stdout: Piece,
    /// Its standard error output from the cursor on.
    pub stderr: Piece,
    /// What is known of the fault that ended it.
    pub fault: Option<Fault>,
}

impl Operation<'_> {
    /// Starts a program.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`]; [`CallError::TooLarge`] when it does not fit one frame.
    pub fn spawn(&self, spawn: &Spawn) -> Result<Job, CallError> {
        let limit = self.room();
        let too_large = |_| CallError::TooLarge { limit };
        let (mut argv, mut env) = (vec![0; SESSION_PAYLOAD_MAX], vec![0; SESSION_PAYLOAD_MAX]);
        let request = SpawnRequest {
            stdin: spawn.stdin,
            timeout_ms: spawn.deadline_ms,
            output_limit: spawn.output_limit,
            path: &spawn.path,
            cwd: &spawn.cwd,
            argv: List::build(spawn.argv.iter().map(|word| Word(word)), &mut argv).map_err(too_large)?,
            env: List::build(spawn.env.iter().map(|word| Word(word)), &mut env).map_err(too_large)?,
            input: &spawn.input,
        };
        let SpawnReply { job, pid } = decode(&self.request(code::SPAWN, &request, true)?)?;
        Ok(Job { job, pid })
    }

    /// Looks at a job until there is what is wanted.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn look(&self, look: &Look) -> Result<Report, CallError> {
        let give_up = Instant::now() + look.wait;
        let [mut stdout, mut stderr] = look.cursors.map(Piece::new);
        let mut wait = Duration::ZERO;
        loop {
            // The state first: what is read after the end is all of the output.
            let body =
                self.read_request(code::WAIT, &WaitRequest { job: look.job, wait_ms: millis(wait) })?;
            let state: WaitReply<'_> = decode(&body)?;
            self.collect(look, OutputStream::Stdout, &mut stdout)?;
            self.collect(look, OutputStream::Stderr, &mut stderr)?;
            let left = give_up.saturating_duration_since(Instant::now());
            let has_news = [&stdout, &stderr].iter().any(|piece| !piece.data.is_empty() || piece.lost > 0);
            let is_over = state.state != JobState::Running || !(self.is_wanted)();
            if is_over || left.is_zero() || (look.until == Until::Output && has_news) {
                stdout.end_at_a_character();
                stderr.end_at_a_character();
                let fault = state.fault.map(Fault::from);
                let WaitReply { state, cause, code, pid, processes, cpu_ns, .. } = state;
                return Ok(Report { state, cause, code, pid, processes, cpu_ns, stdout, stderr, fault });
            }
            wait = self.pause(look.until, left);
        }
    }

    /// How long the next request may wait in the guest. Where it may not, this waits itself.
    fn pause(&self, until: Until, left: Duration) -> Duration {
        // A job that ends is told at once by the guest; one that writes is not, so it is looked at more often.
        if until == Until::Exit && self.session.counters().1 == 0 {
            return left.min(GUEST_WAIT);
        }
        thread::sleep(left.min(LOOK_AGAIN));
        Duration::ZERO
    }

    /// Reads what there is of an output, as far as it is wanted.
    fn collect(&self, look: &Look, stream: OutputStream, piece: &mut Piece) -> Result<(), CallError> {
        if piece.data.len() >= look.max {
            return self.count(look.job, stream, piece);
        }
        while piece.data.len() < look.max {
            let room = (self.room() - 1 - OutputReply::HEAD_LEN).min(look.max - piece.data.len());
            let max = u32::try_from(room).unwrap_or(u32::MAX);
            let (job, cursor) = (look.job, piece.next());
            let request = OutputRequest { job, stream, cursor, max, wait_ms: 0 };
            let body = self.read_request(code::OUTPUT, &request)?;
            let reply: OutputReply<'_> = decode(&body)?;
            if reply.data.len() > room {
                return Err(CallError::Protocol("more output came than was asked for"));
            }
            (piece.total, piece.ended) = (reply.total, reply.ended);
            if reply.lost > 0 {
                // What was gathered before a gap comes first; the next look begins with the gap.
                if !piece.data.is_empty() {
                    return Ok(());
                }
                piece.lost += reply.lost;
                piece.start = piece.start.saturating_add(reply.lost);
            }
            piece.data.extend_from_slice(reply.data);
            if reply.data.is_empty() || piece.next() >= reply.total {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Sees how much was written, of an output that is not read any further.
    fn count(&self, job: u32, stream: OutputStream, piece: &mut Piece) -> Result<(), CallError> {
        let request = OutputRequest { job, stream, cursor: piece.next(), max: 1, wait_ms: 0 };
        let body = self.read_request(code::OUTPUT, &request)?;
        let reply: OutputReply<'_> = decode(&body)?;
        (piece.total, piece.ended) = (reply.total, reply.ended);
        Ok(())
    }

    /// Gives a job bytes to read, and the end of its input if `eof`; waits while the job does not read, at most for the
    /// operation's timeout. Returns how many bytes were taken.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`]; [`OpError::before`] tells what was taken before.
    pub fn input(&self, job: u32, data: &[u8], eof: bool) -> Result<usize, OpError> {
        let room = self.room() - InputRequest::HEAD_LEN;
        let (mut taken, mut give_up) = (0, self.deadline());
        loop {
            let end = data.len().min(taken + room);
            let request = InputRequest { job, eof: eof && end == data.len(), data: &data[taken..end] };
            let told = |error| OpError {
                error,
                before: (taken > 0).then(|| format!("{taken} of {} bytes were taken", data.len())),
            };
            let reply: InputReply =
                self.request(code::INPUT, &request, true).and_then(|body| decode(&body)).map_err(told)?;
            let accepted = reply.accepted as usize;
            if accepted > request.data.len() {
                return Err(CallError::Protocol("more input was taken than was given").into());
            }
            taken += accepted;
            if taken == data.len() || Instant::now() >= give_up {
                return Ok(taken);
            }
            if accepted > 0 {
                give_up = self.deadline();
            } else {
                thread::sleep(LOOK_AGAIN);
            }
        }
    }

    /// Sends a signal. Returns how many processes got it.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn kill(&self, target: KillTarget, id: u32, signal: u8) -> Result<u32, CallError> {
        let request = KillRequest { target, id, signal };
        let reply: KillReply = decode(&self.request(code::KILL, &request, true)?)?;
        Ok(reply.processes)
    }
}

fn millis(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::Piece;

    fn shown(data: &[u8], total: u64, ended: bool) -> Vec<u8> {
        let mut piece = Piece { data: data.to_vec(), total, ended, ..Piece::new(0) };
        piece.end_at_a_character();
        piece.data
    }

    #[test]
    fn a_piece_ends_with_a_whole_character_unless_it_is_the_end() {
        assert_eq!(shown("aé".as_bytes(), 9, false), "aé".as_bytes());
        assert_eq!(shown(&"aé".as_bytes()[..2], 9, false), b"a");
        assert_eq!(shown(&"€€".as_bytes()[..5], 9, false), "€".as_bytes());
        assert_eq!(shown(&"aé".as_bytes()[..2], 2, true), &"aé".as_bytes()[..2], "nothing comes after it");
        assert_eq!(shown(&"aé".as_bytes()[..2], 3, true), b"a", "the rest was not read yet");
        assert_eq!(shown(b"a\xff", 9, false), b"a\xff", "no character begins so");
        assert_eq!(shown(b"", 9, false), b"");
    }
}
