//! Jobs: processes that belong together, whether anybody waits for them, and how they ended.

use crate::Shell;
use alloc::vec::Vec;
use askr_abi::types::{SIGCONT, SIGHUP, SIGINT, SIGPIPE, WNOHANG, WUNTRACED};
use askr_userland::bytes::Bytes;
use askr_userland::process::{EXIT_NOT_FOUND, Status};
use askr_userland::sys::{self, Pid};
use askr_userland::{Errno, eprintln, print, println};

/// Most jobs that have ended and are kept for `wait`; of more, the oldest are forgotten.
const ENDED_MAX: usize = 512;

struct Process {
    pid: Pid,
    /// What it is, for messages.
    text: Vec<u8>,
    /// How it ended, or that it is stopped.
    status: Option<Status>,
}

/// Processes of one pipeline.
#[derive(Default)]
pub(crate) struct Job {
    number: usize,
    processes: Vec<Process>,
    text: Vec<u8>,
}

impl Job {
    pub(crate) fn named(text: Vec<u8>) -> Self {
        Self { text, ..Self::default() }
    }

    pub(crate) fn add(&mut self, pid: Pid, text: Vec<u8>) {
        self.processes.push(Process { pid, text, status: None });
    }

    /// Number of its process group; 0 if it has no process yet.
    pub(crate) fn leader(&self) -> Pid {
        self.processes.first().map_or(0, |process| process.pid)
    }

    /// The process whose status counts.
    pub(crate) fn last(&self) -> Option<Pid> {
        self.processes.last().map(|process| process.pid)
    }

    fn stop(&self) -> Option<Status> {
        let statuses = self.processes.iter().filter_map(|process| process.status);
        statuses.into_iter().find(|status| matches!(status, Status::Stopped(_)))
    }

    fn is_running(&self) -> bool {
        self.stop().is_none() && self.processes.iter().any(|process| process.status.is_none())
    }

    fn has_ended(&self) -> bool {
        self.stop().is_none() && !self.is_running()
    }

    fn status(&self) -> Status {
        let last = self.processes.last().and_then(|process| process.status);
        last.unwrap_or(Status::Exited(0))
    }

    /// It goes on: what was stopped runs.
    fn mark_running(&mut self) {
        for process in &mut self.processes {
            process.status = process.status.filter(|status| !matches!(status, Status::Stopped(_)));
        }
    }

    fn say(&self) {
        match self.stop() {
            Some(status) => println!("[{}] {}: {status}", self.number, Bytes(&self.text)),
            None => println!("[{}] {}: {}", self.number, Bytes(&self.text), self.status()),
        }
    }
}

/// The jobs that nobody waits for.
#[derive(Default)]
pub(crate) struct Jobs(Vec<Job>);

impl Jobs {
    /// Keeps a job; its number, counted from 1.
    pub(crate) fn insert(&mut self, mut job: Job) -> usize {
        job.number = self.0.last().map_or(1, |last| last.number + 1);
        let number = job.number;
        self.0.push(job);
        number
    }

    /// A child of the shell has none of its jobs.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }

    /// Learns which processes have ended or stopped.
    pub(crate) fn update(&mut self) {
        // Ends: each child is reported once for each change. The only error is that there are no children.
        while let Ok(Some((pid, raw))) = sys::wait4(-1, WNOHANG | WUNTRACED) {
            self.note(pid, Status::from_raw(raw));
        }
        let ended = self.0.iter().filter(|job| job.has_ended()).count();
        let mut surplus = ended.saturating_sub(ENDED_MAX);
        self.0.retain(|job| {
            let drops = surplus > 0 && job.has_ended();
            surplus -= usize::from(drops);
            !drops
        });
    }

    fn note(&mut self, pid: Pid, status: Status) {
        let processes = self.0.iter_mut().flat_map(|job| &mut job.processes);
        if let Some(process) = processes.into_iter().find(|process| process.pid == pid) {
            process.status = Some(status);
        }
    }

    /// Says which jobs have ended, and forgets them.
    pub(crate) fn report_ended(&mut self) {
        self.update();
        self.0.retain(|job| {
            if job.has_ended() {
                job.say();
            }
            !job.has_ended()
        });
    }

    /// One line for each job.
    pub(crate) fn print(&mut self, with_pid: bool) {
        self.update();
        let count = self.0.len();
        for (index, job) in self.0.iter().enumerate() {
            let mark = match count - index {
                1 => '+',
                2 => '-',
                _ => ' ',
            };
            print!("[{}] {mark} ", job.number);
            if with_pid {
                print!("{} ", job.leader());
            }
            match job.stop() {
                Some(_) => println!("Stopped  {}", Bytes(&job.text)),
                None if job.is_running() => println!("Running  {}", Bytes(&job.text)),
                None => println!("Done  {} ({})", Bytes(&job.text), job.status()),
            }
        }
        self.0.retain(|job| !job.has_ended());
    }

    /// Place of the job that `%n`, `%+`, `%-`, `%text` or a process number stands for.
    fn find(&self, text: &[u8]) -> Option<usize> {
        let number = |text: &[u8]| str::from_utf8(text).ok()?.parse::<usize>().ok();
        match text.strip_prefix(b"%") {
            Some(b"" | b"+" | b"%") => self.0.len().checked_sub(1),
            Some(b"-") => self.0.len().checked_sub(2),
            Some(name) => match number(name) {
                Some(number) => self.0.iter().position(|job| job.number == number),
                None => self.0.iter().rposition(|job| job.text.starts_with(name)),
            },
            None => {
                let pid = Pid::try_from(number(text)?).ok()?;
                self.0.iter().position(|job| job.processes.iter().any(|process| process.pid == pid))
            }
        }
    }

    /// The process group of the job that `text` names.
    pub(crate) fn group(&self, text: &[u8]) -> Option<Pid> {
        self.find(text).map(|index| self.0[index].leader())
    }
}

impl Shell {
    /// Waits for a process in the foreground; its exit status.
    pub(crate) fn finish(&mut self, pid: Pid, text: &[u8]) -> i32 {
        let mut job = Job::default();
        job.add(pid, text.to_vec());
        self.finish_job(job)
    }

    /// Waits for a job in the foreground and takes the terminal back; its exit status. Says so if a signal other than
    /// Ctrl-C's ended it; if it was stopped, keeps it.
    pub(crate) fn finish_job(&mut self, mut job: Job) -> i32 {
        for process in &mut job.processes {
            if process.status.is_none() {
                process.status = Some(self.await_process(process.pid));
            }
            if matches!(process.status, Some(Status::Stopped(_))) {
                break;
            }
        }
        self.take_back_terminal();
        if let Some(status) = job.stop() {
            if job.text.is_empty() {
                job.text = job
                    .processes
                    .iter()
                    .map(|process| process.text.clone())
                    .collect::<Vec<_>>()
                    .join(&b" | "[..]);
            }
            self.jobs.insert(job);
            println!();
            if let Some(job) = self.jobs.0.last() {
                job.say();
            }
            return status.code();
        }
        for process in &job.processes {
            match process.status {
                // The person knows: the terminal has shown it.
                Some(Status::Signaled(SIGINT)) => self.interrupted |= self.control.is_some(),
                Some(status @ Status::Signaled(signal)) if signal != SIGPIPE => {
                    eprintln!("{}: {status}", Bytes(&process.text));
                }
                _ => {}
            }
        }
        job.status().code()
    }

    /// Waits until a process ends, or is stopped where there is job control.
    fn await_process(&mut self, pid: Pid) -> Status {
        let options = if self.control.is_some() { WUNTRACED } else { 0 };
        loop {
            match sys::wait4(pid, options) {
                Ok(Some((_, raw))) => return Status::from_raw(raw),
                // A signal for us; the process goes on.
                Ok(None) | Err(Errno::EINTR) => {}
                Err(_) => return Status::Exited(u8::try_from(EXIT_NOT_FOUND).unwrap_or(1)),
            }
        }
    }

    /// Waits for a process of the shell's own work; its exit status.
    pub(crate) fn await_child(&mut self, pid: Pid) -> i32 {
        let status = self.await_process(pid);
        self.interrupted |= self.control.is_some() && status == Status::Signaled(SIGINT);
        status.code()
    }

    /// Waits until job `text` has ended; its status. `None` if there is no such job or Ctrl-C came.
    pub(crate) fn wait_for(&mut self, text: &[u8]) -> Option<i32> {
        self.jobs.update();
        let index = self.jobs.find(text)?;
        while self.jobs.0[index].is_running() {
            if !self.wait_for_change() {
                return None;
            }
        }
        let job = &self.jobs.0[index];
        let pid = str::from_utf8(text).ok().and_then(|text| text.parse::<Pid>().ok());
        let named = job.processes.iter().find(|process| Some(process.pid) == pid);
        let code = named.and_then(|process| process.status).unwrap_or(job.status()).code();
        if self.control.is_none() {
            self.jobs.0.remove(index);
        }
        Some(code)
    }

    /// Waits until no job runs; false if Ctrl-C came.
    pub(crate) fn wait_for_all(&mut self) -> bool {
        self.jobs.update();
        while self.jobs.0.iter().any(Job::is_running) {
            if !self.wait_for_change() {
                return false;
            }
        }
        if self.control.is_none() {
            self.jobs.0.retain(|job| !job.has_ended());
        }
        true
    }

    /// Waits until a child ends or stops; false if Ctrl-C came or there is none.
    fn wait_for_change(&mut self) -> bool {
        match sys::wait4(-1, WUNTRACED) {
            Ok(Some((pid, raw))) => self.jobs.note(pid, Status::from_raw(raw)),
            Ok(None) => {}
            Err(Errno::EINTR) => return !self.is_interrupted(),
            Err(_) => return false,
        }
        true
    }

    /// `fg`: a job gets the terminal and goes on; its exit status.
    pub(crate) fn resume_in_front(&mut self, text: &[u8]) -> Option<i32> {
        self.jobs.update();
        let index = self.jobs.find(text)?;
        let mut job = self.jobs.0.remove(index);
        if let Some(terminal) = self.control {
            self.let_programs_read();
            // Fails if it has ended, and then the wait is short.
            let _ = sys::set_foreground(terminal, job.leader());
        }
        // Only now: who reads it may type for the job, and Ctrl-C is the job's.
        println!("{}", Bytes(&job.text));
        job.mark_running();
        let _ = sys::kill(-job.leader(), SIGCONT);
        // Ctrl-C that came before the job had the terminal was meant for it.
        if self.control.is_some() && self.is_interrupted() {
            let _ = sys::kill(-job.leader(), SIGINT);
        }
        Some(self.finish_job(job))
    }

    /// `bg`: a job goes on without the terminal.
    pub(crate) fn resume_behind(&mut self, text: &[u8]) -> Option<()> {
        self.jobs.update();
        let index = self.jobs.find(text)?;
        let job = &mut self.jobs.0[index];
        println!("[{}] {}", job.number, Bytes(&job.text));
        job.mark_running();
        let _ = sys::kill(-job.leader(), SIGCONT);
        Some(())
    }

    /// The shell ends: what is stopped would wait for ever.
    pub(crate) fn hang_up(&mut self) {
        self.jobs.update();
        for job in self.jobs.0.iter().filter(|job| job.stop().is_some()) {
            let _ = sys::kill(-job.leader(), SIGHUP);
            let _ = sys::kill(-job.leader(), SIGCONT);
        }
    }
}
