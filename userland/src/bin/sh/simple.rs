//! Running simple commands (POSIX.1-2017, XCU 2.9.1).

use crate::builtin::{self, Builtin};
use crate::{EXIT_USAGE, Leave, Run, Shell};
use alloc::rc::Rc;
use alloc::vec::Vec;
use askr_userland::bytes::Bytes;
use askr_userland::shell::expand::{self, Failure};
use askr_userland::shell::print::simple_summary;
use askr_userland::shell::tree::{Command, Redirect, Simple};
use askr_userland::shell::variables::Variable;
use askr_userland::{eprint, eprintln, io};
use core::mem::replace;
use core::ops::ControlFlow::{Break, Continue};

/// Values for variables.
pub(crate) type Assignments = Vec<(Vec<u8>, Vec<u8>)>;

impl Shell {
    /// A word could not be expanded, or a variable not be set: a script ends.
    pub(crate) fn fail(&mut self, failure: &Failure) -> Run {
        if *failure == Failure::Interrupted {
            return self.check_interrupt();
        }
        eprintln!("sh: {failure}");
        self.status = EXIT_USAGE;
        Break(self.fatal())
    }

    pub(crate) fn run_simple(&mut self, simple: &Simple, in_place: bool) -> Run {
        self.substituted = None;
        let words = match expand::fields(&simple.words, self) {
            Ok(words) => words,
            Err(failure) => return self.fail(&failure),
        };
        let mut assignments = Vec::new();
        for (name, word) in &simple.assignments {
            match expand::value(word, self) {
                // A later one may use it.
                Ok(value) if words.is_empty() => {
                    if let Err(failure) = self.variables.set(name, value.clone()) {
                        return self.fail(&failure);
                    }
                    assignments.push((name.clone(), value));
                }
                Ok(value) => assignments.push((name.clone(), value)),
                Err(failure) => return self.fail(&failure),
            }
        }
        self.trace(&assignments, &words);
        let Some(name) = words.first() else {
            self.status = self.substituted.unwrap_or(0);
            return self.with_redirects(&simple.redirects, |_| Continue(()));
        };
        match (builtin::find(name), self.functions.get(name).cloned()) {
            (Some(builtin), _) if builtin.special => self.run_special(&builtin, simple, &assignments, &words),
            (_, Some(body)) => self.with_all(simple, &assignments, |shell| shell.call(&body, &words[1..])),
            (Some(builtin), None) => {
                self.with_all(simple, &assignments, |shell| shell.run_builtin(&builtin, &words[1..]))
            }
            (None, None) => {
                let text = simple_summary(simple);
                self.run_program(&words, &assignments, &simple.redirects, &text, in_place);
                Continue(())
            }
        }
    }

    /// Shows a command before it runs, after `set -x`.
    fn trace(&self, assignments: &Assignments, words: &[Vec<u8>]) {
        if !self.options.trace {
            return;
        }
        eprint!("+");
        for (name, value) in assignments {
            eprint!(" {}={}", Bytes(name), Bytes(value));
        }
        for word in words {
            eprint!(" {}", Bytes(word));
        }
        eprintln!("");
    }

    /// A special builtin (XCU 2.14): what is assigned stays, and a redirection that fails ends a script.
    fn run_special(
        &mut self,
        builtin: &Builtin,
        simple: &Simple,
        assignments: &Assignments,
        words: &[Vec<u8>],
    ) -> Run {
        for (name, value) in assignments {
            if let Err(failure) = self.variables.set(name, value.clone()) {
                return self.fail(&failure);
            }
        }
        if builtin.name == "exec" {
            if !self.redirect_for_good(&simple.redirects) {
                return Break(self.fatal());
            }
            return self.run_builtin(builtin, &words[1..]);
        }
        let Some(saved) = self.redirect(&simple.redirects) else { return Break(self.fatal()) };
        let run = self.run_builtin(builtin, &words[1..]);
        saved.restore();
        run
    }

    /// Runs `body` with redirections and assignments that end with it.
    fn with_all(
        &mut self,
        simple: &Simple,
        assignments: &Assignments,
        body: impl FnOnce(&mut Self) -> Run,
    ) -> Run {
        self.with_redirects(&simple.redirects, |shell| {
            let mut before: Vec<(Vec<u8>, Option<Variable>)> = Vec::new();
            for (name, value) in assignments {
                before.push(shell.variables.save(name));
                if let Err(failure) = shell.variables.set(name, value.clone()) {
                    return shell.fail(&failure);
                }
                shell.variables.export(name);
            }
            let run = body(shell);
            before.into_iter().rev().for_each(|saved| shell.variables.put_back(saved));
            run
        })
    }

    /// Runs a builtin and writes out what it printed.
    pub(crate) fn run_builtin(&mut self, builtin: &Builtin, arguments: &[Vec<u8>]) -> Run {
        let run = (builtin.run)(self, arguments);
        if let Err(errno) = io::flush() {
            eprintln!("sh: {}: write error: {errno}", builtin.name);
            self.status = 1;
        }
        run
    }

    /// Calls a function.
    fn call(&mut self, body: &Rc<Command>, arguments: &[Vec<u8>]) -> Run {
        let positional = replace(&mut self.positional, arguments.to_vec());
        let loops = replace(&mut self.loops, 0);
        self.calls += 1;
        self.variables.enter();
        let run = self.run_command(body, false);
        self.variables.leave();
        self.calls -= 1;
        self.loops = loops;
        self.positional = positional;
        match run {
            Break(Leave::Return) => Continue(()),
            other => other,
        }
    }

    /// Runs `body` with descriptors that lead elsewhere until it ends.
    pub(crate) fn with_redirects(
        &mut self,
        redirects: &[Redirect],
        body: impl FnOnce(&mut Self) -> Run,
    ) -> Run {
        if redirects.is_empty() {
            return body(self);
        }
        let Some(saved) = self.redirect(redirects) else { return self.check_interrupt() };
        let run = body(self);
        saved.restore();
        run
    }
}
