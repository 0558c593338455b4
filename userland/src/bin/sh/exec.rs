//! Running lists, pipelines and compound commands (POSIX.1-2017, XCU 2.9.2 to 2.9.5).

use crate::{EXIT_USAGE, LEVELS_MAX, Leave, Run, Shell};
use alloc::vec::Vec;
use askr_userland::shell::expand;
use askr_userland::shell::pattern::matches;
use askr_userland::shell::tree::{Chain, Command, Compound, Link, List, Pipeline, Word};
use askr_userland::sys::Fork;
use askr_userland::{eprintln, process};
use core::ops::ControlFlow::{Break, Continue};

impl Shell {
    /// Runs commands until their end or until they are left.
    pub(crate) fn run_list(&mut self, list: &List) -> Run {
        for item in &list.0 {
            self.check_interrupt()?;
            if self.options.no_commands && self.control.is_none() {
                continue;
            }
            if item.background {
                self.start_background(&item.chain);
            } else {
                self.run_chain(&item.chain)?;
            }
        }
        Continue(())
    }

    /// Runs pipelines joined by `&&` and `||`.
    pub(crate) fn run_chain(&mut self, chain: &Chain) -> Run {
        self.run_pipeline(&chain.first, !chain.rest.is_empty())?;
        for (index, (link, pipeline)) in chain.rest.iter().enumerate() {
            if (*link == Link::And) == (self.status == 0) {
                self.run_pipeline(pipeline, index + 1 < chain.rest.len())?;
            }
        }
        Continue(())
    }

    /// Runs a pipeline whose failure is `tested`, or ends the shell after `set -e`.
    fn run_pipeline(&mut self, pipeline: &Pipeline, tested: bool) -> Run {
        let tested = usize::from(tested || pipeline.negated);
        self.tested += tested;
        let run = match pipeline.commands.as_slice() {
            [command] => self.run_command(command, false),
            commands => {
                self.run_connected(commands);
                Continue(())
            }
        };
        self.tested -= tested;
        run?;
        // What fails in another compound command was tested there, or has ended the shell.
        let counts = match pipeline.commands.as_slice() {
            [Command::Compound(compound, _)] => matches!(compound, Compound::Subshell(_)),
            [Command::Function(..)] => false,
            _ => true,
        };
        if pipeline.negated {
            self.status = i32::from(self.status == 0);
        } else if counts && self.status != 0 && self.options.exit_on_error && self.tested + tested == 0 {
            return Break(Leave::Exit);
        }
        Continue(())
    }

    /// Runs one command. With `in_place` the process is there for it alone, so that a program can take its place.
    pub(crate) fn run_command(&mut self, command: &Command, in_place: bool) -> Run {
        if self.levels >= LEVELS_MAX {
            eprintln!("sh: more than {LEVELS_MAX} commands in one another");
            self.status = EXIT_USAGE;
            return Break(self.fatal());
        }
        self.levels += 1;
        let run = match command {
            Command::Simple(simple) => self.run_simple(simple, in_place),
            Command::Compound(compound, redirects) if redirects.is_empty() => self.run_compound(compound),
            Command::Compound(compound, redirects) => {
                self.with_redirects(redirects, |shell| shell.run_compound(compound))
            }
            Command::Function(name, body) => {
                self.functions.insert(name.clone(), body.clone());
                self.status = 0;
                Continue(())
            }
        };
        self.levels -= 1;
        run
    }

    fn run_compound(&mut self, compound: &Compound) -> Run {
        match compound {
            Compound::Group(list) => self.run_list(list),
            Compound::Subshell(list) => {
                self.run_subshell(list);
                Continue(())
            }
            Compound::If { branches, otherwise } => {
                for (condition, list) in branches {
                    if self.test(condition)? {
                        return self.run_list(list);
                    }
                }
                self.status = 0;
                otherwise.as_ref().map_or(Continue(()), |list| self.run_list(list))
            }
            Compound::Loop { until, condition, body } => self.run_loop(|shell, last| {
                if shell.test(condition)? == *until {
                    shell.status = *last;
                    return Continue(false);
                }
                let run = shell.run_list(body);
                *last = shell.status;
                run.map_continue(|()| true)
            }),
            Compound::For { name, words, body } => self.run_for(name, words.as_deref(), body),
            Compound::Case { word, arms } => self.run_case(word, arms),
        }
    }

    /// Runs a condition; whether it succeeded.
    fn test(&mut self, condition: &List) -> core::ops::ControlFlow<Leave, bool> {
        self.tested += 1;
        let run = self.run_list(condition);
        self.tested -= 1;
        run.map_continue(|()| self.status == 0)
    }

    /// Makes rounds as long as they return true. The rounds keep a status from one to the next.
    fn run_loop(
        &mut self,
        mut round: impl FnMut(&mut Self, &mut i32) -> core::ops::ControlFlow<Leave, bool>,
    ) -> Run {
        self.loops += 1;
        let mut last = 0;
        let run = loop {
            if let Break(leave) = self.check_interrupt() {
                break Break(leave);
            }
            match round(self, &mut last) {
                Continue(true) | Break(Leave::Continue(1)) => {}
                Continue(false) | Break(Leave::Break(1)) => break Continue(()),
                Break(Leave::Break(count)) => break Break(Leave::Break(count - 1)),
                Break(Leave::Continue(count)) => break Break(Leave::Continue(count - 1)),
                Break(other) => break Break(other),
            }
        };
        self.loops -= 1;
        run
    }

    fn run_for(&mut self, name: &[u8], words: Option<&[Word]>, body: &List) -> Run {
        let fields = match words {
            Some(words) => expand::fields(words, self),
            None => Ok(self.positional.clone()),
        };
        let fields: Vec<Vec<u8>> = match fields {
            Ok(fields) => fields,
            Err(failure) => return self.fail(&failure),
        };
        self.status = 0;
        let mut fields = fields.into_iter();
        self.run_loop(|shell, _| {
            let Some(field) = fields.next() else { return Continue(false) };
            if let Err(failure) = shell.variables.set(name, field) {
                return shell.fail(&failure).map_continue(|()| false);
            }
            shell.run_list(body).map_continue(|()| true)
        })
    }

    fn run_case(&mut self, word: &Word, arms: &[(Vec<Word>, List)]) -> Run {
        let text = match expand::text(word, self) {
            Ok(text) => text,
            Err(failure) => return self.fail(&failure),
        };
        self.status = 0;
        for (patterns, list) in arms {
            for pattern in patterns {
                match expand::pattern(pattern, self) {
                    Ok(pattern) if matches(&pattern, &text) => return self.run_list(list),
                    Ok(_) => {}
                    Err(failure) => return self.fail(&failure),
                }
            }
        }
        Continue(())
    }

    fn run_subshell(&mut self, list: &List) {
        match self.fork_foreground() {
            Ok(Fork::Child) => {
                let _ = self.run_list(list);
                process::exit(self.status)
            }
            Ok(Fork::Parent(pid)) => self.status = self.finish(pid, b"( ... )"),
            Err(errno) => self.cannot_fork(errno),
        }
    }
}
