//! Running what was parsed.

use crate::{Shell, ai, builtin, job};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use askr_abi::types::SIGINT;
use askr_userland::bytes::Bytes;
use askr_userland::process::{self, Group, Status};
use askr_userland::shell::{Chain, Command, Link};
use askr_userland::sys::{Fork, Pid};
use askr_userland::{Errno, env, eprintln, println};

/// Where programs are that are named without a slash.
const BIN: &[u8] = b"/bin/";
/// Status when a program could not even be tried.
const EXIT_NOT_STARTED: i32 = process::EXIT_NOT_STARTED;

type Words = Vec<Vec<u8>>;

impl Shell {
    /// Runs a list of commands until its end or `exit`.
    pub(crate) fn run_chains(&mut self, chains: &[Chain]) {
        for chain in chains {
            if self.leaving {
                return;
            }
            if chain.background {
                self.status = self.start_background(chain);
            } else {
                self.run_chain(chain);
            }
        }
    }

    fn run_chain(&mut self, chain: &Chain) {
        for (link, command) in &chain.commands {
            let wanted = match link {
                Link::First => true,
                Link::And => self.status == 0,
                Link::Or => self.status != 0,
            };
            if wanted && !self.leaving {
                self.status = self.run_command(command);
            }
        }
    }

    /// The words of a command with `$` replaced.
    fn expand(&self, command: &Command) -> Words {
        command.0.iter().filter_map(|word| word.expand(self.status, env::variable)).collect()
    }

    /// Asks the agent. An interactive shell ignores Ctrl-C, so it leaves the waiting to a copy of itself, which
    /// Ctrl-C ends.
    pub(crate) fn run_ai(&mut self, text: &[u8]) -> i32 {
        if !self.interactive {
            return ai::run(text);
        }
        match process::fork_into(Group::Foreground) {
            Ok(Fork::Child) => process::exit(ai::run(text)),
            Ok(Fork::Parent(pid)) => self.wait_foreground(b"ai", Ok(pid)),
            Err(errno) => self.wait_foreground(b"ai", Err(errno)),
        }
    }

    /// Runs a command in the foreground; its exit status.
    fn run_command(&mut self, command: &Command) -> i32 {
        let words = self.expand(command);
        let Some((name, arguments)) = words.split_first() else { return 0 };
        if name == b"ai" {
            return self.run_ai(&arguments.join(&b' '));
        }
        if let Some(builtin) = builtin::find(name) {
            return builtin(self, arguments);
        }
        let group = if self.interactive { Group::Foreground } else { Group::Inherit };
        self.wait_foreground(name, start(&words, group))
    }

    /// Waits for what was started as `name`, takes the terminal back, and says if it did not start or if a signal
    /// other than Ctrl-C's ended it.
    fn wait_foreground(&self, name: &[u8], started: Result<Pid, Errno>) -> i32 {
        let ended = started.and_then(process::wait);
        if self.interactive {
            job::take_back_terminal();
        }
        match ended {
            // The person knows: it was Ctrl-C, and the terminal has shown it.
            Ok(Status::Exited(_) | Status::Signaled(SIGINT)) => {}
            Ok(status @ Status::Signaled(_)) => eprintln!("{}: {status}", Bytes(name)),
            Err(errno) => eprintln!("sh: {}: {errno}", Bytes(name)),
        }
        ended.map_or(EXIT_NOT_STARTED, Status::code)
    }

    /// Starts a chain without waiting for it.
    fn start_background(&mut self, chain: &Chain) -> i32 {
        let group = if self.interactive { Group::Own } else { Group::Inherit };
        let pid = match chain.commands.as_slice() {
            [(_, command)] => {
                let words = self.expand(command);
                let own = words.first().is_none_or(|name| name == b"ai" || builtin::find(name).is_some());
                if own { self.fork_chain(chain, group) } else { start(&words, group) }
            }
            _ => self.fork_chain(chain, group),
        };
        match pid {
            Ok(pid) => {
                let number = self.jobs.add(pid, describe(chain));
                if self.interactive {
                    println!("[{number}] {pid}");
                }
                0
            }
            Err(errno) => {
                eprintln!("sh: {}: {errno}", describe(chain));
                EXIT_NOT_STARTED
            }
        }
    }

    /// Runs a chain in a copy of the shell.
    fn fork_chain(&mut self, chain: &Chain, group: Group) -> Result<Pid, Errno> {
        match process::fork_into(group)? {
            Fork::Parent(pid) => Ok(pid),
            Fork::Child => {
                self.interactive = false;
                self.run_chain(chain);
                process::exit(self.status)
            }
        }
    }
}

/// Starts the program that the first word names.
fn start(words: &[Vec<u8>], group: Group) -> Result<Pid, Errno> {
    let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let name = *arguments.first().ok_or(Errno::EINVAL)?;
    if name.contains(&b'/') {
        return process::spawn("sh", name, &arguments, group);
    }
    process::spawn("sh", &[BIN, name].concat(), &arguments, group)
}

/// The chain as text, for messages.
fn describe(chain: &Chain) -> String {
    let mut text = Vec::new();
    for (link, command) in &chain.commands {
        text.extend_from_slice(match link {
            Link::First => b"",
            Link::And => b" && ",
            Link::Or => b" || ",
        });
        let words: Words = command.0.iter().map(|word| word.source()).collect();
        text.extend(words.join(&b' '));
    }
    Bytes(&text).to_string()
}
