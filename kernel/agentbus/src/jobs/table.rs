//! All jobs, and the requests that wait for them.

use alloc::vec::Vec;

use askr_wait::Nanos;
use askr_wire::message::{OutputRequest, OutputStream};
use askr_wire::status::Status;

use super::job::{End, Job};
use super::output::Output;
use super::question::{Pending, Question, Waiting};
use crate::reply_slots::Token;
use crate::{NANOS_PER_MS, WINDOW_MAX};

/// Most jobs that are known, those that are over included; EAGAIN when as many have processes.
pub const JOBS_MAX: usize = 32;
/// Bytes that are kept of an output where SPAWN says nothing about it.
pub const OUTPUT_LIMIT: u32 = 64 << 10;
/// Most bytes that SPAWN may ask for; EINVAL.
pub const OUTPUT_LIMIT_MAX: u32 = 1 << 20;

/// What a job is started with.
#[derive(Clone, Copy, Debug)]
pub struct NewJob<I> {
    /// Its first process.
    pub pid: u32,
    /// After so many milliseconds all of it is killed; 0 for never.
    pub timeout_ms: u32,
    /// Most bytes that are kept of each output; 0 for [`OUTPUT_LIMIT`].
    pub output_limit: u32,
    /// What INPUT is given through, if there is to be any.
    pub input: Option<I>,
}

/// What is to be done, once the table's lock is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "somebody waits for this"]
pub enum Action<I> {
    /// Answer this request with [`JobTable::answer`].
    Answer(Waiting),
    /// Kill all processes of this job: its time is over.
    Kill(u32),
    /// Reap this process.
    Reap(u32),
    /// Nobody of the job is left: close this input.
    Close(I),
}

/// The jobs. `I` is what INPUT is given through.
#[derive(Debug)]
pub struct JobTable<I> {
    jobs: Vec<Job<I>>,
    pending: Vec<Pending>,
    /// Most bytes that all outputs may grow to, beside the first block of each.
    budget: usize,
    last_id: u32,
    /// Number of jobs that became empty so far.
    over: u64,
}

impl<I: Clone> JobTable<I> {
    /// No jobs; the outputs of those to come share `budget` bytes.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        let (jobs, pending) = (Vec::with_capacity(JOBS_MAX), Vec::with_capacity(WINDOW_MAX));
        Self { jobs, pending, budget, last_id: 0, over: 0 }
    }

    /// Whether a job with this limit of its outputs could be opened now.
    ///
    /// # Errors
    /// EINVAL for a limit that is too high; EAGAIN when all jobs have processes, or are still being asked about.
    pub fn check(&self, output_limit: u32) -> Result<(), Status> {
        if output_limit > OUTPUT_LIMIT_MAX {
            return Err(Status::Inval);
        }
        let has_room = self.jobs.len() < JOBS_MAX || self.oldest_over().is_some();
        if has_room && self.last_id < u32::MAX { Ok(()) } else { Err(Status::Again) }
    }

    /// Opens a job for a process that begins now, and returns its number. The oldest one that is over goes if room is needed.
    ///
    /// # Errors
    /// Those of [`Self::check`]; ENOMEM. Nothing has changed then.
    pub fn open(&mut self, now: Nanos, job: NewJob<I>) -> Result<u32, Status> {
        let NewJob { pid, timeout_ms, output_limit, input } = job;
        self.check(output_limit)?;
        let limit = if output_limit == 0 { OUTPUT_LIMIT } else { output_limit } as usize;
        let outputs = (Output::new(limit)?, Output::new(limit)?);
        if self.jobs.len() == JOBS_MAX {
            self.forget_oldest();
        }
        self.last_id += 1;
        let mut job = Job::new(self.last_id, pid, outputs, input);
        job.deadline = (timeout_ms != 0).then(|| now.saturating_add(Nanos::from(timeout_ms) * NANOS_PER_MS));
        self.jobs.push(job);
        Ok(self.last_id)
    }

    /// One process more in a job; 0 is no job.
    pub fn joined(&mut self, id: u32) {
        if let Some(job) = self.get_mut(id) {
            job.living += 1;
        }
    }

    /// A process of a job has ended. If it was the first, `end` tells how.
    pub fn left(&mut self, id: u32, pid: u32, end: impl FnOnce() -> End) {
        let over = self.over;
        let Some(job) = self.get_mut(id) else { return };
        if job.pid == pid && !job.has_ended() {
            job.end_first(end());
        }
        job.living = job.living.saturating_sub(1);
        if job.living == 0 {
            (job.over, job.deadline) = (Some(over), None);
            self.over += 1;
        }
    }

    /// A job writes; it never waits. With `may_grow` memory may be taken for it. Returns whether somebody waits for that.
    pub fn write(&mut self, id: u32, stream: OutputStream, bytes: &[u8], may_grow: bool) -> bool {
        let Some(job) = self.get(id) else { return false };
        let growth = job.output(stream).growth(bytes.len());
        let growth = if growth > 0 && may_grow { self.make_room(growth) } else { 0 };
        let Some(job) = self.get_mut(id) else { return false };
        let output = job.output_mut(stream);
        output.grow(growth);
        output.append(bytes);
        self.is_awaited(id)
    }

    /// Nobody holds an output open any more. Returns whether somebody waits for that.
    pub fn close(&mut self, id: u32, stream: OutputStream) -> bool {
        if let Some(job) = self.get_mut(id) {
            job.output_mut(stream).close();
        }
        self.is_awaited(id)
    }

    /// What input is given through.
    ///
    /// # Errors
    /// ESRCH for an unknown job or one without processes; EINVAL where the input has ended, or never was open.
    pub fn input(&self, id: u32) -> Result<I, Status> {
        let job = self.get(id).filter(|job| job.living > 0).ok_or(Status::Srch)?;
        job.input.clone().ok_or(Status::Inval)
    }

    /// Ends the input of a job and returns what it was given through.
    pub fn end_input(&mut self, id: u32) -> Option<I> {
        self.get_mut(id)?.input.take()
    }

    /// KILL has sent `signal` to process `pid` of a job; 0 is no job.
    pub fn note_kill(&mut self, id: u32, pid: u32, signal: u32) {
        if let Some(job) = self.get_mut(id).filter(|job| job.pid == pid && !job.has_ended()) {
            job.note_kill(signal);
        }
    }

    /// Takes on a request that waits. Its answer is an [`Action`], also if it need not wait.
    ///
    /// # Errors
    /// ESRCH for an unknown job, EINVAL for a cursor where nothing has been written yet, EBUSY when too many wait.
    pub fn ask(&mut self, now: Nanos, waiting: Waiting) -> Result<(), Status> {
        let question = waiting.question;
        let job = self.get(question.job()).ok_or(Status::Srch)?;
        if let Question::Output(OutputRequest { stream, cursor, .. }) = question
            && cursor > job.output(stream).total()
        {
            return Err(Status::Inval);
        }
        if self.pending.len() == WINDOW_MAX {
            return Err(Status::Busy);
        }
        self.pending.push(Pending::new(now, waiting));
        Ok(())
    }

    /// Forgets the requests that nobody waits for any more, because their session has ended.
    pub fn retain(&mut self, is_awaited: impl Fn(Token) -> bool) {
        self.pending.retain(|pending| is_awaited(pending.waiting.token));
    }

    /// What is to be done now; call this until it returns `None`.
    pub fn next(&mut self, now: Nanos) -> Option<Action<I>> {
        for job in &mut self.jobs {
            if core::mem::take(&mut job.to_reap) {
                return Some(Action::Reap(job.pid));
            }
            if job.over.is_some()
                && let Some(input) = job.input.take()
            {
                return Some(Action::Close(input));
            }
            if job.deadline.is_some_and(|deadline| deadline <= now) {
                job.time_out();
                return Some(Action::Kill(job.id));
            }
        }
        let is_due =
            |pending: &Pending| pending.deadline <= now || self.is_answered(&pending.waiting.question);
        let due = self.pending.iter().position(is_due)?;
        Some(Action::Answer(self.pending.remove(due).waiting))
    }

    /// When [`Self::next`] has something to say by the clock.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Nanos> {
        let jobs = self.jobs.iter().filter_map(|job| job.deadline);
        jobs.chain(self.pending.iter().map(|pending| pending.deadline)).min()
    }

    /// The body of the answer to a question, as things are now. `cpu_of` tells how long a process that runs has computed.
    ///
    /// # Errors
    /// The status to answer with.
    pub fn answer(
        &self,
        question: &Question,
        cpu_of: impl FnOnce(u32) -> u64,
        out: &mut [u8],
    ) -> Result<usize, Status> {
        let job = self.get(question.job()).ok_or(Status::Srch)?;
        match *question {
            Question::Wait(_) => job.encode(cpu_of, out),
            Question::Output(OutputRequest { stream, cursor, max, .. }) => {
                job.output(stream).encode(cursor, max, out)
            }
        }
    }

    /// Whether there is such a job.
    #[must_use]
    pub fn is_known(&self, id: u32) -> bool {
        self.get(id).is_some()
    }

    /// Bytes of memory that all outputs have.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.jobs.iter().map(Job::memory).sum()
    }

    fn get(&self, id: u32) -> Option<&Job<I>> {
        self.jobs.iter().find(|job| job.id == id)
    }

    fn get_mut(&mut self, id: u32) -> Option<&mut Job<I>> {
        self.jobs.iter_mut().find(|job| job.id == id)
    }

    fn is_awaited(&self, id: u32) -> bool {
        self.pending.iter().any(|pending| {
            pending.waiting.question.job() == id && self.is_answered(&pending.waiting.question)
        })
    }

    fn is_answered(&self, question: &Question) -> bool {
        self.get(question.job()).is_none_or(|job| match *question {
            Question::Wait(_) => job.has_ended(),
            Question::Output(OutputRequest { stream, cursor, .. }) => job.output(stream).has_news(cursor),
        })
    }

    /// Forgets jobs that are over until `more` bytes are within the budget, and returns how many of them are.
    fn make_room(&mut self, more: usize) -> usize {
        // Each round forgets a job.
        loop {
            let left = self.budget.saturating_sub(self.memory());
            if left >= more || !self.forget_oldest() {
                return left.min(more);
            }
        }
    }

    /// The job that is over longest. One that somebody waits for stays, and one whose process is not reaped yet.
    fn oldest_over(&self) -> Option<usize> {
        let is_asked =
            |job: &Job<I>| self.pending.iter().any(|pending| pending.waiting.question.job() == job.id);
        let over =
            self.jobs.iter().enumerate().filter(|(_, job)| {
                job.over.is_some() && !job.to_reap && job.input.is_none() && !is_asked(job)
            });
        over.min_by_key(|(_, job)| job.over).map(|(index, _)| index)
    }

    fn forget_oldest(&mut self) -> bool {
        let oldest = self.oldest_over();
        if let Some(index) = oldest {
            self.jobs.remove(index);
        }
        oldest.is_some()
    }
}
