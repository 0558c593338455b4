//! The one point where it is decided who may change what.
//!
//! System calls and bus verbs alike call [`decide`] before they change a file or a process. It is a pure
//! function, and what it returns is also the record of what was decided.

use askr_abi::Errno;
use askr_wire::SessionId;
use askr_wire::status::Status;

/// Nothing of agent origin changes these directories: the programs, and what people set for the agent, such as when they
/// are asked before it does something.
const PROTECTED: [&[u8]; 2] = [b"/bin", b"/disk/etc"];
/// The first process; the system ends with it.
const FIRST_PID: u32 = 1;

/// On whose behalf something happens. Every task carries one, and its children inherit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The kernel itself.
    Kernel,
    /// A human's foreground work at COM1.
    Console,
    /// The peer on COM2.
    Agent {
        /// Its session; `None` for a base peer.
        session: Option<SessionId>,
    },
}

/// What is to be changed. Paths are canonical: absolute, symbolic links followed, without `.`, `..` or empty
/// parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// Change the content or the length of a file that exists.
    Write(&'a [u8]),
    /// Make a file.
    Create(&'a [u8]),
    /// Make a directory.
    Mkdir(&'a [u8]),
    /// Remove a file or a directory.
    Remove(&'a [u8]),
    /// Move a file or a directory, and lose what was at `to`.
    Rename {
        /// Where it is.
        from: &'a [u8],
        /// Where it will be.
        to: &'a [u8],
    },
    /// Give a file a second name. Whoever may write to one of the two changes both.
    Link {
        /// A name it has.
        from: &'a [u8],
        /// The new name.
        to: &'a [u8],
    },
    /// Make a symbolic link at this path.
    Symlink(&'a [u8]),
    /// Cut or extend a file that exists.
    Truncate(&'a [u8]),
    /// Change permissions or times of a file or a directory.
    Attributes(&'a [u8]),
    /// Start the program at this path.
    Spawn(&'a [u8]),
    /// Send a signal to the process with this pid.
    Kill(u32),
    /// Change what the process with this pid may use at most.
    Limits(u32),
    /// Switch the machine off or start it again.
    Power,
    /// Answer an ask as the person at the console.
    AnswerAsk {
        /// Whether who does it is in the foreground of the console.
        in_foreground: bool,
    },
}

/// Why something was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// `/bin`, `/disk/etc` and what is under them are not changed on behalf of an agent.
    ProtectedPath,
    /// The first process is not signalled or limited on behalf of an agent.
    FirstProcess,
    /// Only what a person runs in the foreground of the console answers for the person.
    NotThePerson,
    /// The path is not canonical, so nobody can say what it protects. The caller has a fault.
    NotCanonical,
}

impl Reason {
    /// The reason in words, for the log.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::ProtectedPath => "/bin and /disk/etc are protected",
            Self::FirstProcess => "process 1 is protected",
            Self::NotThePerson => "that is for the foreground of the console",
            Self::NotCanonical => "the path is not canonical",
        }
    }

    /// What a system call returns for it.
    #[must_use]
    pub const fn errno(self) -> Errno {
        match self {
            Self::ProtectedPath | Self::FirstProcess | Self::NotThePerson => Errno::EPERM,
            Self::NotCanonical => Errno::EINVAL,
        }
    }

    /// What the bus answers for it.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::ProtectedPath | Self::FirstProcess | Self::NotThePerson => Status::Perm,
            Self::NotCanonical => Status::Inval,
        }
    }
}

/// A decision and what it was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a decision that nobody looks at protects nothing"]
pub struct Decided<'a> {
    /// Who wanted it.
    pub origin: Origin,
    /// What was wanted.
    pub action: Action<'a>,
    /// `Err` if it must not happen.
    pub decision: Result<(), Reason>,
}

/// Decides whether `origin` may do `action`.
///
/// The rules: nothing of agent origin changes `/bin`, `/disk/etc` or anything under them, puts something else in the place of
/// a directory that they are in, signals process 1, or changes its limits. Only
/// what a person runs in the foreground of the console answers an ask for the person. Everything else is allowed.
pub fn decide(origin: Origin, action: Action<'_>) -> Decided<'_> {
    let decision = match origin {
        Origin::Console if action == (Action::AnswerAsk { in_foreground: true }) => Ok(()),
        _ if matches!(action, Action::AnswerAsk { .. }) => Err(Reason::NotThePerson),
        Origin::Kernel | Origin::Console => Ok(()),
        Origin::Agent { .. } => decide_for_agent(action),
    };
    Decided { origin, action, decision }
}

fn decide_for_agent(action: Action<'_>) -> Result<(), Reason> {
    match action {
        Action::Write(path)
        | Action::Create(path)
        | Action::Mkdir(path)
        | Action::Truncate(path)
        | Action::Attributes(path) => decide_change(path),
        Action::Remove(path) | Action::Symlink(path) => decide_name(path),
        Action::Rename { from, to } | Action::Link { from, to } => {
            decide_name(from).and_then(|()| decide_name(to))
        }
        Action::Kill(FIRST_PID) | Action::Limits(FIRST_PID) => Err(Reason::FirstProcess),
        Action::AnswerAsk { .. } => Err(Reason::NotThePerson),
        Action::Spawn(_) | Action::Kill(_) | Action::Limits(_) | Action::Power => Ok(()),
    }
}

fn decide_change(path: &[u8]) -> Result<(), Reason> {
    if !is_canonical(path) {
        Err(Reason::NotCanonical)
    } else if is_protected(path) {
        Err(Reason::ProtectedPath)
    } else {
        Ok(())
    }
}

/// A change of what a name stands for: with it goes all that is under it.
fn decide_name(path: &[u8]) -> Result<(), Reason> {
    decide_change(path)?;
    let leads_there = PROTECTED.iter().any(|protected| is_within(protected, path));
    if leads_there { Err(Reason::ProtectedPath) } else { Ok(()) }
}

fn is_protected(path: &[u8]) -> bool {
    PROTECTED.iter().any(|protected| is_within(path, protected))
}

fn is_within(path: &[u8], directory: &[u8]) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn is_canonical(path: &[u8]) -> bool {
    match path {
        b"/" => true,
        [b'/', parts @ ..] => {
            parts.split(|&byte| byte == b'/').all(|part| !matches!(part, b"" | b"." | b".."))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Origin, Reason, decide};
    use askr_wire::SessionId;
    use proptest::prelude::*;

    const AGENTS: [Origin; 2] =
        [Origin::Agent { session: None }, Origin::Agent { session: Some(SessionId([7; 8])) }];

    /// Every way to change something at a path.
    fn changes(path: &[u8]) -> [Action<'_>; 11] {
        let other = b"/tmp/other";
        [
            Action::Write(path),
            Action::Create(path),
            Action::Mkdir(path),
            Action::Remove(path),
            Action::Symlink(path),
            Action::Truncate(path),
            Action::Attributes(path),
            Action::Rename { from: path, to: other },
            Action::Rename { from: other, to: path },
            Action::Link { from: path, to: other },
            Action::Link { from: other, to: path },
        ]
    }

    #[test]
    fn an_agent_changes_no_program_and_no_setting() {
        for path in [&b"/bin"[..], b"/bin/sh", b"/bin/x/y", b"/disk/etc", b"/disk/etc/agent.conf"] {
            for action in changes(path) {
                for origin in AGENTS {
                    assert_eq!(decide(origin, action).decision, Err(Reason::ProtectedPath));
                }
                assert_eq!(decide(Origin::Console, action).decision, Ok(()));
                assert_eq!(decide(Origin::Kernel, action).decision, Ok(()));
            }
        }
    }

    #[test]
    fn an_agent_changes_what_only_looks_like_bin() {
        for path in
            [&b"/"[..], b"/binary", b"/tmp/bin", b"/bi", b"/tmp/bin/sh", b"/Bin", b"/disk/etcetera", b"/etc"]
        {
            for action in changes(path) {
                assert_eq!(decide(AGENTS[0], action).decision, Ok(()));
            }
        }
        assert_eq!(decide(AGENTS[0], Action::Spawn(b"/bin/sh")).decision, Ok(()));
    }

    #[test]
    fn an_agent_puts_nothing_in_the_place_of_what_leads_to_a_setting() {
        let (path, other) = (&b"/disk"[..], &b"/tmp/other"[..]);
        for action in [
            Action::Remove(path),
            Action::Symlink(path),
            Action::Rename { from: path, to: other },
            Action::Rename { from: other, to: path },
        ] {
            assert_eq!(decide(AGENTS[0], action).decision, Err(Reason::ProtectedPath));
        }
        for action in [Action::Mkdir(path), Action::Attributes(path), Action::Create(b"/disk/file")] {
            assert_eq!(decide(AGENTS[0], action).decision, Ok(()));
        }
    }

    #[test]
    fn a_path_that_is_not_canonical_is_refused_and_not_guessed_at() {
        for path in [&b""[..], b"bin", b"//bin", b"/./bin", b"/tmp/../bin/x", b"/bin/", b"/bin//x", b"/.."] {
            for action in changes(path) {
                assert_eq!(decide(AGENTS[1], action).decision, Err(Reason::NotCanonical));
            }
        }
    }

    #[test]
    fn an_agent_signals_any_process_but_the_first() {
        assert_eq!(decide(AGENTS[0], Action::Kill(1)).decision, Err(Reason::FirstProcess));
        assert_eq!(decide(AGENTS[0], Action::Kill(2)).decision, Ok(()));
        assert_eq!(decide(Origin::Console, Action::Kill(1)).decision, Ok(()));
        assert_eq!(decide(AGENTS[0], Action::Limits(1)).decision, Err(Reason::FirstProcess));
        assert_eq!(decide(AGENTS[0], Action::Limits(2)).decision, Ok(()));
        assert_eq!(decide(Origin::Console, Action::Limits(1)).decision, Ok(()));
        assert_eq!(decide(AGENTS[0], Action::Power).decision, Ok(()));
    }

    #[test]
    fn only_the_foreground_of_the_console_answers_for_the_person() {
        for in_foreground in [true, false] {
            let action = Action::AnswerAsk { in_foreground };
            for origin in AGENTS.into_iter().chain([Origin::Kernel]) {
                assert_eq!(decide(origin, action).decision, Err(Reason::NotThePerson));
            }
            let expected = if in_foreground { Ok(()) } else { Err(Reason::NotThePerson) };
            assert_eq!(decide(Origin::Console, action).decision, expected);
        }
    }

    proptest! {
        /// Whatever the bytes: what an agent may change is canonical and has no first part `bin`.
        #[test]
        fn nothing_under_bin_ever_passes(path in "[/.binx]{0,12}") {
            if decide(AGENTS[0], Action::Write(path.as_bytes())).decision.is_ok() {
                let mut parts = path.split('/');
                prop_assert_eq!(parts.next(), Some(""));
                prop_assert_ne!(parts.next(), Some("bin"));
                prop_assert!(path == "/" || parts.all(|part| !part.is_empty() && part != ".."));
            }
        }
    }
}
