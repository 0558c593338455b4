//! Starting processes: their groups, signals and descriptors, and the way to a program's file.

use crate::job::Job;
use crate::redirect::duplicate;
use crate::simple::Assignments;
use crate::{EXIT_USAGE, Shell};
use alloc::vec::Vec;
use askr_abi::terminal::Termios;
use askr_abi::types::{O_CLOEXEC, O_RDONLY, S_IFDIR, S_IFMT, SIGINT};
use askr_userland::bytes::Bytes;
use askr_userland::process::{self, EXIT_NOT_FOUND, EXIT_NOT_STARTED};
use askr_userland::shell::print::{command_summary, summary};
use askr_userland::shell::tree::{Chain, Command, Redirect};
use askr_userland::signal::{SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};
use askr_userland::sys::{self, CStrings, Disposition, Fd, Fork, Pid};
use askr_userland::{Errno, eprintln, io, println};

/// Where programs are if `PATH` is not set.
pub(crate) const DEFAULT_PATH: &[u8] = b"/bin";
/// The shell itself, for files of commands.
const SHELL: &[u8] = b"/bin/sh";
/// Signals that a shell with a terminal keeps away from itself.
const KEPT: [u32; 5] = [SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU];

/// What a new process is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A job that has the terminal and is waited for.
    Foreground,
    /// A job that is not waited for.
    Background,
    /// A part of the shell's own work.
    Inner,
}

impl Shell {
    /// Leads a process group that has the terminal, and keeps the terminal's signals away.
    pub(crate) fn take_terminal(&mut self) {
        let terminal = duplicate(sys::STDIN);
        self.control = Some(terminal.unwrap_or(sys::STDIN));
        self.keep_signals();
        // Fails if we lead it already.
        let _ = sys::setpgid(0, 0);
        self.take_back_terminal();
    }

    /// Keeps the terminal's signals away from the shell; Ctrl-C only sets a flag.
    pub(crate) fn keep_signals(&self) {
        for signal in KEPT {
            if let Err(errno) = sys::set_signal(signal, Disposition::Ignore) {
                eprintln!("sh: cannot ignore signal {signal}: {errno}");
            }
        }
        if let Err(errno) = sys::catch_interrupts() {
            eprintln!("sh: cannot catch Ctrl-C: {errno}");
        }
    }

    /// Makes the shell's own group the terminal's foreground group.
    pub(crate) fn take_back_terminal(&self) {
        if let (Some(terminal), Ok(group)) = (self.control, sys::getpgrp()) {
            // Fails where the terminal is none of ours, and then there is nothing to take.
            let _ = sys::set_foreground(terminal, group);
        }
    }

    /// Gives the terminal the modes that programs expect. What was typed since the line is typed again for them.
    pub(crate) fn let_programs_read(&self) {
        if let Some(terminal) = self.control {
            // Fails where it is none.
            let _ = sys::set_terminal_attributes(terminal, &Termios::CANONICAL);
        }
    }

    /// While the shell's own commands run, Ctrl-C is a signal. What is typed stays for the next line.
    pub(crate) fn watch_for_interrupts(&mut self) {
        // One that came before is not meant for what begins now.
        let _ = sys::take_interrupt();
        self.interrupted = false;
        if let Some(terminal) = self.control {
            let _ = crate::terminal::set_raw(terminal, 1, 0, true);
        }
    }

    /// Gives the terminal's signals the effect that they have on programs.
    pub(crate) fn restore_signals(&self) {
        if self.control.is_some() {
            for signal in KEPT {
                let _ = sys::set_signal(signal, Disposition::Default);
            }
        }
    }

    pub(crate) fn fork_inner(&mut self) -> Result<Fork, Errno> {
        self.fork(Purpose::Inner, 0)
    }

    pub(crate) fn fork_foreground(&mut self) -> Result<Fork, Errno> {
        self.fork(Purpose::Foreground, 0)
    }

    /// Forks. With a terminal, the child is in the group `leader`, or leads its own if that is 0.
    fn fork(&mut self, purpose: Purpose, leader: Pid) -> Result<Fork, Errno> {
        // What is left in the buffer would be written by both; builtins have reported its errors.
        let _ = io::flush();
        let who = sys::fork()?;
        match who {
            Fork::Child => {
                self.join_group(purpose, 0, leader);
                self.become_child(purpose);
            }
            Fork::Parent(pid) => {
                self.join_group(purpose, pid, leader);
                // Ctrl-C that came before the job had the terminal was meant for it.
                if purpose == Purpose::Foreground && self.control.is_some() && self.is_interrupted() {
                    let _ = sys::kill(pid, SIGINT);
                }
            }
        }
        Ok(who)
    }

    /// Parent and child both do this, so that it holds whichever runs first; so errors are no matter.
    fn join_group(&self, purpose: Purpose, pid: Pid, leader: Pid) {
        let (Some(terminal), true) = (self.control, purpose != Purpose::Inner) else { return };
        let _ = sys::setpgid(pid, leader);
        if purpose == Purpose::Foreground {
            let own = if pid == 0 { sys::getpid() } else { pid };
            let _ = sys::set_foreground(terminal, if leader == 0 { own } else { leader });
        }
    }

    fn become_child(&mut self, purpose: Purpose) {
        match self.control {
            Some(terminal) => {
                // What is ignored would stay so across `execve`.
                self.restore_signals();
                // A flag that was set on the way here is that signal.
                if purpose != Purpose::Background && self.is_interrupted() {
                    let _ = sys::kill(sys::getpid(), SIGINT);
                }
                // Last, because a Ctrl-C that was typed meanwhile has its effect now.
                if purpose == Purpose::Foreground {
                    self.let_programs_read();
                }
                let _ = sys::close(terminal);
            }
            // Without job control the terminal's keys are not meant for it, nor is the input (XCU 2.9.3.1, 2.11).
            None if purpose == Purpose::Background => {
                for signal in [SIGINT, SIGQUIT] {
                    let _ = sys::set_signal(signal, Disposition::Ignore);
                }
                let _ = sys::close(sys::STDIN);
                // The lowest that is free.
                let _ = sys::open(c"/dev/null", O_RDONLY, 0);
            }
            None => {}
        }
        self.control = None;
        self.jobs.forget();
        self.interrupted = false;
        let _ = sys::take_interrupt();
    }

    pub(crate) fn cannot_fork(&mut self, errno: Errno) {
        eprintln!("sh: cannot fork: {errno}");
        self.status = EXIT_NOT_STARTED;
    }

    /// Runs a program in the foreground. `text` is what the job is called if it is stopped.
    pub(crate) fn run_program(
        &mut self,
        words: &[Vec<u8>],
        assignments: &Assignments,
        redirects: &[Redirect],
        text: &[u8],
        in_place: bool,
    ) {
        if in_place {
            self.become_program(words, assignments, redirects);
        }
        match self.fork_foreground() {
            Ok(Fork::Child) => self.become_program(words, assignments, redirects),
            Ok(Fork::Parent(pid)) => {
                let mut job = Job::named(text.to_vec());
                job.add(pid, words[0].clone());
                self.status = self.finish_job(job);
            }
            Err(errno) => self.cannot_fork(errno),
        }
    }

    fn become_program(&mut self, words: &[Vec<u8>], assignments: &Assignments, redirects: &[Redirect]) -> ! {
        if !self.redirect_for_good(redirects) {
            process::exit(self.status);
        }
        for (name, value) in assignments {
            if self.variables.set(name, value.clone()).is_err() {
                eprintln!("sh: {}: is read only", Bytes(name));
                process::exit(EXIT_USAGE);
            }
            self.variables.export(name);
        }
        let (status, message) = self.execute(words);
        eprintln!("sh: {}: {message}", Bytes(&words[0]));
        process::exit(status)
    }

    /// Replaces the shell by the program that the first word names. Returns only if that fails: the exit status and
    /// a message.
    pub(crate) fn execute(&self, words: &[Vec<u8>]) -> (i32, &'static str) {
        let name = &words[0];
        let Some(path) = self.find_program(name) else { return (EXIT_NOT_FOUND, "not found") };
        let environment = self.variables.environment();
        let mut arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let mut errno = replace_by(&path, &arguments, &environment);
        if errno == Errno::ENOEXEC && is_text(&path) {
            // A file of commands that does not say so (XCU 2.9.1.1).
            arguments.splice(..1, [SHELL, path.as_slice()]);
            errno = replace_by(SHELL, &arguments, &environment);
        }
        match errno {
            Errno::ENOENT => (EXIT_NOT_FOUND, errno.message()),
            _ => (EXIT_NOT_STARTED, errno.message()),
        }
    }

    /// The path of a program: what is named with a slash, else the first in `PATH`.
    pub(crate) fn find_program(&self, name: &[u8]) -> Option<Vec<u8>> {
        if name.contains(&b'/') {
            return Some(name.to_vec());
        }
        let folders = self.variables.get(b"PATH").unwrap_or(DEFAULT_PATH);
        let paths = folders.split(|&byte| byte == b':').map(|folder| match folder {
            b"" => name.to_vec(),
            _ => [folder, b"/", name].concat(),
        });
        paths.into_iter().find(|path| is_file(path)).filter(|_| !name.is_empty())
    }

    /// Runs commands that are connected by pipes.
    pub(crate) fn run_connected(&mut self, commands: &[Command]) {
        let mut job = Job::default();
        match self.start_connected(commands, Purpose::Foreground, &mut job) {
            Ok(()) => self.status = self.finish_job(job),
            Err(errno) => {
                // Those that run end when their pipes do.
                self.finish_job(job);
                self.cannot_fork(errno);
            }
        }
    }

    fn start_connected(
        &mut self,
        commands: &[Command],
        purpose: Purpose,
        job: &mut Job,
    ) -> Result<(), Errno> {
        let mut input: Option<Fd> = None;
        let mut result = Ok(());
        for (index, command) in commands.iter().enumerate() {
            let pipe = match index + 1 < commands.len() {
                true => sys::pipe(O_CLOEXEC).map(Some),
                false => Ok(None),
            };
            let started = pipe.and_then(|pipe| {
                let who = self.fork(purpose, job.leader());
                if matches!(who, Ok(Fork::Child)) {
                    connect(input, pipe);
                    let _ = self.run_command(command, true);
                    process::exit(self.status);
                }
                for fd in [input.take(), pipe.map(|ends| ends.1)].into_iter().flatten() {
                    let _ = sys::close(fd);
                }
                input = pipe.map(|ends| ends.0);
                who
            });
            match started {
                Ok(Fork::Parent(pid)) => job.add(pid, command_summary(command)),
                Ok(Fork::Child) => {}
                Err(errno) => {
                    result = Err(errno);
                    break;
                }
            }
        }
        if let Some(input) = input {
            let _ = sys::close(input);
        }
        result
    }

    /// Starts a chain without waiting for it.
    pub(crate) fn start_background(&mut self, chain: &Chain) {
        self.jobs.update();
        let mut job = Job::named(summary(chain));
        let started = match (chain.rest.as_slice(), chain.first.negated) {
            ([], false) => self.start_connected(&chain.first.commands, Purpose::Background, &mut job),
            _ => match self.fork(Purpose::Background, 0) {
                Ok(Fork::Child) => {
                    let _ = self.run_chain(chain);
                    process::exit(self.status)
                }
                Ok(Fork::Parent(pid)) => {
                    job.add(pid, summary(chain));
                    Ok(())
                }
                Err(errno) => Err(errno),
            },
        };
        self.status = 0;
        if let Err(errno) = started {
            self.cannot_fork(errno);
        }
        if let Some(pid) = job.last() {
            self.last_background = Some(pid);
            let number = self.jobs.insert(job);
            if self.control.is_some() {
                println!("[{number}] {pid}");
            }
        }
    }
}

/// Connects standard input and output of a child to its pipes.
fn connect(input: Option<Fd>, output: Option<(Fd, Fd)>) {
    let ends = [(input, sys::STDIN), (output.map(|ends| ends.1), sys::STDOUT)];
    for (from, to) in ends {
        let Some(from) = from else { continue };
        if from != to && sys::dup2(from, to).and_then(|()| sys::close(from)).is_err() {
            eprintln!("sh: cannot connect a pipe");
            process::exit(EXIT_NOT_STARTED);
        }
    }
    if let Some((unused, _)) = output {
        let _ = sys::close(unused);
    }
}

fn replace_by(path: &[u8], arguments: &[&[u8]], environment: &[Vec<u8>]) -> Errno {
    let environment: Vec<&[u8]> = environment.iter().map(Vec::as_slice).collect();
    match (io::c_path(path), CStrings::new(arguments), CStrings::new(&environment)) {
        (Ok(path), Ok(arguments), Ok(environment)) => sys::execve(&path, &arguments, &environment),
        _ => Errno::EINVAL,
    }
}

/// Whether a file may be one of commands: a program or other data has a byte of zero, most likely in its first line.
fn is_text(path: &[u8]) -> bool {
    let mut start = [0; 256];
    let Ok(count) = io::File::open(path).and_then(|file| file.read(&mut start)) else { return false };
    !start[..count].split(|&byte| byte == b'\n').next().is_some_and(|line| line.contains(&0))
}

fn is_file(path: &[u8]) -> bool {
    let stat = io::c_path(path).and_then(|path| sys::stat(&path));
    stat.is_ok_and(|stat| stat.mode & S_IFMT != S_IFDIR)
}
