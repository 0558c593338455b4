//! Redirections (POSIX.1-2017, XCU 2.7).

use crate::session::OWN_DESCRIPTORS;
use crate::{EXIT_USAGE, Shell};
use alloc::vec::Vec;
use askr_abi::types::{
    F_DUPFD_CLOEXEC, F_GETFD, O_APPEND, O_CLOEXEC, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY,
    S_IFMT, S_IFREG,
};
use askr_userland::bytes::Bytes;
use askr_userland::shell::expand::{self, Failure};
use askr_userland::shell::tree::{Access, Here, HereText, Redirect, Target};
use askr_userland::sys::{self, Fd, Fork};
use askr_userland::{Errno, clock, eprintln, io, process};

/// Permissions of a file that a redirection makes.
const MODE: u32 = 0o666;
/// A here-document up to this length fits into a pipe (`PIPE_BUF`); for a longer one a process writes.
const PIPE_ROOM: usize = 4096;

/// Descriptors as they were: each with a copy, or with none if it was closed.
#[derive(Default)]
pub(crate) struct Saved(Vec<(Fd, Option<Fd>)>);

impl Saved {
    /// Keeps a copy of what is at `fd`.
    fn keep(&mut self, fd: Fd) -> Result<(), Errno> {
        let copy = match duplicate(fd) {
            Ok(copy) => Some(copy),
            Err(Errno::EBADF) => None,
            Err(errno) => return Err(errno),
        };
        self.0.push((fd, copy));
        Ok(())
    }

    /// Puts everything back.
    pub(crate) fn restore(self) {
        // What was written before goes where it was meant to go; an error is kept for the builtin that wrote.
        for (fd, copy) in self.0.into_iter().rev() {
            // Neither can fail but for a descriptor that the command closed itself.
            let _ = match copy {
                Some(copy) => sys::dup2(copy, fd).and_then(|()| sys::close(copy)),
                None => sys::close(fd),
            };
        }
    }
}

/// What is wrong with a redirection: the name it is about, if there is one, and the error.
enum Problem {
    Word(Failure),
    Named(Vec<u8>, Errno),
}

impl Shell {
    /// Redirects, and returns what was there before; on an error says what is wrong, changes nothing, and returns
    /// `None`.
    pub(crate) fn redirect(&mut self, redirects: &[Redirect]) -> Option<Saved> {
        let mut saved = Saved::default();
        for redirect in redirects {
            if let Err(problem) = self.redirect_one(redirect, Some(&mut saved)) {
                saved.restore();
                self.report(&problem);
                return None;
            }
        }
        Some(saved)
    }

    /// Redirects for the rest of the process's life; false, with a message, if it fails.
    pub(crate) fn redirect_for_good(&mut self, redirects: &[Redirect]) -> bool {
        for redirect in redirects {
            if let Err(problem) = self.redirect_one(redirect, None) {
                self.report(&problem);
                return false;
            }
        }
        true
    }

    fn report(&mut self, problem: &Problem) {
        match problem {
            // It counts when the next command begins.
            Problem::Word(Failure::Interrupted) => {}
            Problem::Word(failure) => eprintln!("sh: {failure}"),
            Problem::Named(name, errno) => eprintln!("sh: {}: {errno}", Bytes(name)),
        }
        self.status = EXIT_USAGE;
    }

    fn redirect_one(&mut self, redirect: &Redirect, saved: Option<&mut Saved>) -> Result<(), Problem> {
        let (standard, source, close_source) = match &redirect.target {
            Target::File(access, word) => {
                let path = expand::text(word, self).map_err(Problem::Word)?;
                let fd = self.open(&path, *access).map_err(|errno| Problem::Named(path, errno))?;
                (access_default(*access), Some(fd), true)
            }
            Target::Duplicate(output, word) => {
                let text = expand::text(word, self).map_err(Problem::Word)?;
                let source = match text.as_slice() {
                    b"-" => None,
                    digits => {
                        let fd = clock::parse_u64(digits).and_then(|fd| Fd::try_from(fd).ok());
                        let open = fd.filter(|&fd| sys::fcntl(fd, F_GETFD, 0).is_ok());
                        Some(open.ok_or_else(|| Problem::Named(text.clone(), Errno::EBADF))?)
                    }
                };
                (Fd::from(*output), source, false)
            }
            Target::Here(here) => {
                let text = self.here_text(here).map_err(Problem::Word)?;
                let fd = self.here_pipe(&text).map_err(|errno| Problem::Named(b"<<".to_vec(), errno))?;
                (0, Some(fd), true)
            }
        };
        let both = matches!(redirect.target, Target::File(Access::WriteBoth | Access::AppendBoth, _));
        let first = redirect.descriptor.and_then(|fd| Fd::try_from(fd).ok()).unwrap_or(standard);
        let all: &[Fd] = if both { &[first, sys::STDERR] } else { &[first] };
        let result = lead(all, source, saved);
        if let Some(source) = source.filter(|fd| close_source && !all.contains(fd)) {
            // Opened here and copied to where it belongs.
            let _ = sys::close(source);
        }
        result.map_err(|errno| Problem::Named(alloc::format!("{first}").into_bytes(), errno))
    }

    fn open(&self, path: &[u8], access: Access) -> Result<Fd, Errno> {
        let c_path = io::c_path(path)?;
        let flags = match access {
            Access::Read => O_RDONLY,
            Access::Write if self.options.no_clobber => {
                // Anything but a regular file may be written to all the same (XCU 2.7.2).
                match sys::stat(&c_path) {
                    Ok(stat) if stat.mode & S_IFMT == S_IFREG => return Err(Errno::EEXIST),
                    Ok(_) => O_WRONLY,
                    Err(_) => O_WRONLY | O_CREAT | O_EXCL,
                }
            }
            Access::Write | Access::Clobber | Access::WriteBoth => O_WRONLY | O_CREAT | O_TRUNC,
            Access::Append | Access::AppendBoth => O_WRONLY | O_CREAT | O_APPEND,
            Access::ReadWrite => O_RDWR | O_CREAT,
        };
        let fd = sys::open(&c_path, flags | O_CLOEXEC, MODE)?;
        if fd >= OWN_DESCRIPTORS {
            return Ok(fd);
        }
        // Out of the way of those that a script names. It may be the very one that is to be changed.
        let own = duplicate(fd);
        let _ = sys::close(fd);
        own
    }

    fn here_text(&mut self, Here(text): &Here) -> Result<Vec<u8>, Failure> {
        match text.get() {
            Some(HereText::Plain(text)) => Ok(text.clone()),
            Some(HereText::Parts(parts)) => expand::quoted(parts, self),
            None => Ok(Vec::new()),
        }
    }

    /// A pipe from which the text can be read.
    fn here_pipe(&mut self, text: &[u8]) -> Result<Fd, Errno> {
        let (from, to) = sys::pipe(O_CLOEXEC)?;
        let written = if text.len() <= PIPE_ROOM {
            io::write_all(to, text)
        } else {
            match self.fork_inner() {
                Ok(Fork::Child) => {
                    let _ = sys::close(from);
                    process::exit(i32::from(io::write_all(to, text).is_err()))
                }
                Ok(Fork::Parent(_)) => Ok(()),
                Err(errno) => Err(errno),
            }
        };
        let _ = sys::close(to);
        let own = written.and_then(|()| duplicate(from));
        let _ = sys::close(from);
        own
    }
}

/// A copy of `fd` among the shell's own descriptors, closed on `execve`.
pub(crate) fn duplicate(fd: Fd) -> Result<Fd, Errno> {
    let copy = sys::fcntl(fd, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS.cast_unsigned())?;
    Fd::try_from(copy).map_err(|_| Errno::EIO)
}

const fn access_default(access: Access) -> Fd {
    if matches!(access, Access::Read | Access::ReadWrite) { sys::STDIN } else { sys::STDOUT }
}

/// Makes each of `all` lead where `source` leads, or closes it.
fn lead(all: &[Fd], source: Option<Fd>, mut saved: Option<&mut Saved>) -> Result<(), Errno> {
    for &fd in all {
        if source.is_some_and(|source| source == fd) {
            // It has to be open, and leads there already.
            sys::dup2(fd, fd)?;
            continue;
        }
        if let Some(saved) = saved.as_deref_mut() {
            saved.keep(fd)?;
        }
        match source {
            Some(source) => sys::dup2(source, fd)?,
            // Closing what is closed is no mistake.
            None => drop(sys::close(fd)),
        }
    }
    Ok(())
}
