//! Programs in the background, and whose turn it is at the terminal.

use alloc::string::String;
use alloc::vec::Vec;
use askr_userland::println;
use askr_userland::process::{self, Status};
use askr_userland::sys::{self, Pid};

struct Job {
    number: usize,
    pid: Pid,
    text: String,
}

/// What runs in the background.
#[derive(Default)]
pub(crate) struct Jobs(Vec<Job>);

impl Jobs {
    /// Remembers a job; its number, counted from 1.
    pub(crate) fn add(&mut self, pid: Pid, text: String) -> usize {
        let number = self.0.last().map_or(1, |job| job.number + 1);
        self.0.push(Job { number, pid, text });
        number
    }

    /// Says which jobs have ended.
    pub(crate) fn report_ended(&mut self) {
        while let Some((pid, status)) = process::reap() {
            if let Some(i) = self.0.iter().position(|job| job.pid == pid) {
                report(&self.0.remove(i), status);
            }
        }
    }

    /// Waits for all jobs; the exit status of the last one. For a person (`interactive`) each job in turn comes to
    /// the foreground, so that Ctrl-C ends it, and its end is reported.
    pub(crate) fn wait_all(&mut self, interactive: bool) -> i32 {
        let mut code = 0;
        for job in self.0.drain(..) {
            if interactive {
                // Fails if the job has ended already, and then the wait is short.
                let _ = sys::set_foreground(sys::STDIN, job.pid);
                process::set_canonical();
            }
            // The only error is that the kernel knows no such child any more.
            let Ok(status) = process::wait(job.pid) else { continue };
            code = status.code();
            if interactive {
                report(&job, status);
            }
        }
        if interactive {
            take_back_terminal();
        }
        code
    }

    /// One line for each job.
    pub(crate) fn print(&self) {
        for job in &self.0 {
            println!("[{}] {} {}", job.number, job.pid, job.text);
        }
    }
}

fn report(job: &Job, status: Status) {
    println!("[{}] {}: {status}", job.number, job.text);
}

/// Makes the shell's own group the terminal's foreground group.
pub(crate) fn take_back_terminal() {
    if let Ok(group) = sys::getpgrp() {
        // Fails where standard input is no terminal of ours, and then there is nothing to take.
        let _ = sys::set_foreground(sys::STDIN, group);
    }
}
