//! What expansions ask of the shell.

use crate::{EXIT_INTERRUPTED, Shell};
use alloc::format;
use alloc::vec::Vec;
use askr_abi::types::O_CLOEXEC;
use askr_userland::shell::expand::{EXPANSION_MAX, Failure, Host};
use askr_userland::shell::tree::List;
use askr_userland::sys::{self, Fd, Fork};
use askr_userland::{Errno, io, process};
use core::ops::ControlFlow::Break;

/// Bytes read from a substitution at a time.
const PIECE: usize = 4096;

impl Host for Shell {
    fn parameter(&self, name: &[u8]) -> Option<Vec<u8>> {
        let number = |number: i64| Some(format!("{number}").into_bytes());
        match name {
            b"?" => number(i64::from(self.status)),
            b"$" => number(i64::from(self.pid)),
            b"#" => number(i64::try_from(self.positional.len()).unwrap_or(i64::MAX)),
            b"!" => self.last_background.and_then(|pid| number(i64::from(pid))),
            b"-" => Some(self.options.letters()),
            b"0" => Some(self.name.clone()),
            [b'0'..=b'9', ..] => {
                let index = str::from_utf8(name).ok()?.parse::<usize>().ok()?;
                self.positional.get(index.checked_sub(1)?).cloned()
            }
            _ => self.variables.get(name).map(<[u8]>::to_vec),
        }
    }

    fn positional(&self) -> &[Vec<u8>] {
        &self.positional
    }

    fn assign(&mut self, name: &[u8], value: Vec<u8>) -> Result<(), Failure> {
        self.variables.set(name, value)
    }

    fn substitute(&mut self, list: &List) -> Result<Vec<u8>, Failure> {
        let failed = |errno: Errno| Failure::Commands(format!("command substitution: {errno}"));
        let (from, to) = sys::pipe(O_CLOEXEC).map_err(failed)?;
        self.let_programs_read();
        let child = match self.fork_inner() {
            Ok(Fork::Child) => {
                if sys::dup2(to, sys::STDOUT).is_err() {
                    process::exit(process::EXIT_NOT_STARTED);
                }
                let _ = (sys::close(from), sys::close(to));
                let _ = self.run_list(list);
                process::exit(self.status)
            }
            Ok(Fork::Parent(pid)) => pid,
            Err(errno) => {
                let _ = (sys::close(from), sys::close(to));
                return Err(failed(errno));
            }
        };
        // Ours has to be closed, else the end would never come.
        let _ = sys::close(to);
        let output = self.read_all(from);
        let _ = sys::close(from);
        self.substituted = Some(self.await_child(child));
        if self.is_interrupted() {
            return Err(Failure::Interrupted);
        }
        output
    }

    fn names(&mut self, directory: &[u8]) -> Vec<Vec<u8>> {
        io::list_directory(directory).unwrap_or_default()
    }

    fn exists(&mut self, path: &[u8]) -> bool {
        io::c_path(path).and_then(|path| sys::stat(&path)).is_ok()
    }

    fn requires_values(&self) -> bool {
        self.options.no_unset
    }

    fn ignores_patterns(&self) -> bool {
        self.options.no_names
    }
}

impl Shell {
    /// What comes out of a pipe; what is too much is an error.
    fn read_all(&mut self, from: Fd) -> Result<Vec<u8>, Failure> {
        let mut output = Vec::new();
        let mut piece = [0; PIECE];
        loop {
            match sys::read(from, &mut piece) {
                Ok(0) => return Ok(output),
                // No value can hold one (XCU 2.6.3 leaves it open).
                Ok(count) => output.extend(piece[..count].iter().filter(|&&byte| byte != 0)),
                Err(Errno::EINTR) if self.is_interrupted() => return Err(Failure::Interrupted),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(Failure::Commands(format!("command substitution: {errno}"))),
            }
            if output.len() > EXPANSION_MAX {
                return Err(Failure::TooMuch("output of a command substitution"));
            }
        }
    }

    /// Whether Ctrl-C came; it counts until [`Shell::check_interrupt`].
    pub(crate) fn is_interrupted(&mut self) -> bool {
        self.interrupted |= sys::take_interrupt();
        self.interrupted
    }

    /// Leaves what runs if Ctrl-C came.
    pub(crate) fn check_interrupt(&mut self) -> crate::Run {
        if !self.is_interrupted() {
            return crate::Run::Continue(());
        }
        self.interrupted = false;
        self.status = EXIT_INTERRUPTED;
        Break(self.fatal())
    }
}
