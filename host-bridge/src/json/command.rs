//! What a client may want, and from which fields.

use std::time::Duration;

use askr_wire::message::{KillTarget, PowerAction, StdinPolicy};

use super::error::{Error, Problem};
use super::fields::{Fields, missing};
use super::operations::{self, Operation};
use super::{AskName, name, signal};
use crate::ops::{Look, Spawn, Until, WriteTo};

/// How long the waiting operations wait unless the request says otherwise.
const WAIT_DEFAULT: Duration = Duration::from_secs(30);
/// Longest that they wait.
const WAIT_MAX: Duration = Duration::from_secs(600);
/// Milliseconds after which `proc.run` ends its program unless the request says otherwise.
const RUN_DEADLINE_MS: u32 = 60_000;
/// Bytes of each output that come at once unless the request says otherwise.
const OUTPUT_DEFAULT: u64 = 64 * 1024;
/// Most that come at once.
const OUTPUT_MAX: u64 = 1024 * 1024;
/// Where programs without a `/` in their name are looked for, and all that their environment holds: the same as that of
/// the guest's own first program.
const PROGRAMS: &[u8] = b"/bin/";
const ENVIRONMENT: [&[u8]; 2] = [b"PATH=/bin", b"HOME=/"];

/// What a client wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of the operations, which docs/host.md tells one by one")]
pub enum Command {
    Status,
    Ping,
    Stats,
    SystemInfo,
    Power {
        action: PowerAction,
    },
    Stat {
        path: Vec<u8>,
    },
    List {
        path: Vec<u8>,
    },
    Read {
        path: Vec<u8>,
        offset: u64,
        length: Option<u64>,
    },
    Write {
        path: Vec<u8>,
        content: Vec<u8>,
        to: WriteTo,
        sync: bool,
    },
    Mkdir {
        path: Vec<u8>,
    },
    Remove {
        path: Vec<u8>,
    },
    Unlink {
        path: Vec<u8>,
    },
    Rmdir {
        path: Vec<u8>,
    },
    Rename {
        from: Vec<u8>,
        to: Vec<u8>,
    },
    Truncate {
        path: Vec<u8>,
        size: u64,
    },
    FsInfo {
        path: Vec<u8>,
    },
    Processes,
    Spawn(Spawn),
    /// Start a program and look at it.
    Run {
        spawn: Spawn,
        max: usize,
    },
    Wait(Look),
    Input {
        job: u32,
        content: Vec<u8>,
        eof: bool,
    },
    Kill {
        target: KillTarget,
        id: u32,
        signal: u8,
    },
    Events {
        cursor: u64,
        wait: Duration,
    },
    AgentStatus,
    Asks,
    WaitAsks {
        wait: Duration,
    },
    /// `None` refuses.
    Answer {
        ask: AskName,
        answer: Option<Vec<u8>>,
    },
    Subscribe(Subscription),
    Capture {
        on: bool,
    },
}

/// What a client is told of as it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Asks. Whoever wants them is there to answer them, unless it only watches.
    pub asks: bool,
    /// Events.
    pub events: bool,
    /// It only looks on: it is also told how asks end and how link and session stand.
    pub watch: bool,
}

impl Command {
    /// Whether it is carried out in a session with the guest, and so in one boot of it.
    pub(crate) const fn needs_session(&self) -> bool {
        !matches!(
            self,
            Self::Status
                | Self::Ping
                | Self::Asks
                | Self::WaitAsks { .. }
                | Self::Subscribe { .. }
                | Self::Capture { .. }
        )
    }

    /// The command that these fields are.
    pub(super) fn of(mut fields: Fields) -> Result<Self, Error> {
        let op = fields.text(name::OP)?.ok_or_else(|| missing(name::OP))?;
        let unknown_op = || Error::new(Problem::UnknownOp, operations::unknown_op(&op));
        fields.are_of(Operation::named(&op).ok_or_else(unknown_op)?)?;
        let found = match op.split_once('.') {
            Some(("fs", op)) => files(op, &mut fields)?,
            Some(("proc", op)) => processes(op, &mut fields)?,
            _ => others(&op, &mut fields)?,
        };
        found.ok_or_else(unknown_op)
    }
}

fn others(op: &str, fields: &mut Fields) -> Result<Option<Command>, Error> {
    Ok(Some(match op {
        "status" => Command::Status,
        "ping" => Command::Ping,
        "stats" => Command::Stats,
        "sys.info" => Command::SystemInfo,
        "power" => Command::Power { action: power_action(fields)? },
        "events.read" => Command::Events {
            cursor: fields.number(name::CURSOR)?.unwrap_or(0),
            wait: fields.number(name::WAIT_MS)?.map_or(Duration::ZERO, Duration::from_millis).min(WAIT_MAX),
        },
        "asks.list" => Command::Asks,
        "asks.wait" => Command::WaitAsks { wait: wait(fields)? },
        "ask.answer" => answer(fields)?,
        "subscribe" => Command::Subscribe(Subscription {
            asks: fields.flag(name::ASKS)?.unwrap_or(true),
            events: fields.flag(name::EVENTS)?.unwrap_or(false),
            watch: fields.flag(name::WATCH)?.unwrap_or(false),
        }),
        "agent.status" => Command::AgentStatus,
        "link.capture" => Command::Capture { on: fields.flag(name::ON)?.unwrap_or(true) },
        _ => return Ok(None),
    }))
}

fn files(op: &str, fields: &mut Fields) -> Result<Option<Command>, Error> {
    Ok(Some(match op {
        "stat" => Command::Stat { path: fields.path()? },
        "list" => Command::List { path: fields.path()? },
        "read" => Command::Read {
            path: fields.path()?,
            offset: fields.number(name::OFFSET)?.unwrap_or(0),
            length: fields.number(name::LENGTH)?,
        },
        "write" => Command::Write {
            path: fields.path()?,
            to: write_to(fields)?,
            sync: fields.flag(name::SYNC)?.unwrap_or(false),
            content: fields.content()?.ok_or_else(|| missing(name::CONTENT))?,
        },
        "mkdir" => Command::Mkdir { path: fields.path()? },
        "remove" => Command::Remove { path: fields.path()? },
        "unlink" => Command::Unlink { path: fields.path()? },
        "rmdir" => Command::Rmdir { path: fields.path()? },
        "rename" => Command::Rename { from: needed(fields, name::FROM)?, to: needed(fields, name::TO)? },
        "truncate" => Command::Truncate {
            path: fields.path()?,
            size: fields.number(name::SIZE)?.ok_or_else(|| missing(name::SIZE))?,
        },
        "info" => Command::FsInfo { path: fields.path()? },
        _ => return Ok(None),
    }))
}

fn processes(op: &str, fields: &mut Fields) -> Result<Option<Command>, Error> {
    Ok(Some(match op {
        "list" => Command::Processes,
        "spawn" => Command::Spawn(spawn(fields)?),
        "run" => {
            let given = spawn(fields)?;
            if given.stdin == StdinPolicy::Open {
                return Err(bad("`proc.run` gives its program all it reads; use `proc.spawn`".into()));
            }
            let deadline_ms = if given.deadline_ms == 0 { RUN_DEADLINE_MS } else { given.deadline_ms };
            Command::Run { spawn: Spawn { deadline_ms, ..given }, max: output_max(fields)? }
        }
        "wait" => Command::Wait(look(fields)?),
        "input" => input(fields)?,
        "kill" => kill(fields)?,
        _ => return Ok(None),
    }))
}

fn bad(message: String) -> Error {
    Error::new(Problem::BadRequest, message)
}

fn needed(fields: &mut Fields, field: &str) -> Result<Vec<u8>, Error> {
    fields.bytes(field)?.ok_or_else(|| missing(field))
}

fn wait(fields: &mut Fields) -> Result<Duration, Error> {
    Ok(fields.number(name::WAIT_MS)?.map_or(WAIT_DEFAULT, Duration::from_millis).min(WAIT_MAX))
}

fn write_to(fields: &mut Fields) -> Result<WriteTo, Error> {
    match (fields.text(name::MODE)?.as_deref(), fields.number(name::OFFSET)?) {
        (None, Some(offset)) => Ok(WriteTo::Offset(offset)),
        (None | Some("replace"), None) => Ok(WriteTo::Replace),
        (Some("append"), None) => Ok(WriteTo::Append),
        (Some(_), Some(_)) => Err(bad(format!("give `{}` or `{}`, not both", name::MODE, name::OFFSET))),
        (Some(other), None) => Err(bad(format!("`{}` is `replace` or `append`, not `{other}`", name::MODE))),
    }
}

fn spawn(fields: &mut Fields) -> Result<Spawn, Error> {
    let argv = fields.list(name::ARGV)?.ok_or_else(|| missing(name::ARGV))?;
    let first = argv.first().ok_or_else(|| bad(format!("`{}` is empty", name::ARGV)))?;
    let path = match fields.bytes(name::PATH)? {
        Some(path) => path,
        None if first.contains(&b'/') => first.clone(),
        None => [PROGRAMS, first].concat(),
    };
    let env = fields.environment()?.unwrap_or_else(|| ENVIRONMENT.map(<[u8]>::to_vec).to_vec());
    let given = fields.bytes(name::STDIN)?;
    let stdin = match (&given, fields.flag(name::STDIN_OPEN)?.unwrap_or(false)) {
        (_, true) => StdinPolicy::Open,
        (Some(_), false) => StdinPolicy::Given,
        (None, false) => StdinPolicy::Closed,
    };
    Ok(Spawn {
        path,
        argv,
        env,
        cwd: fields.bytes(name::CWD)?.unwrap_or_default(),
        stdin,
        input: given.unwrap_or_default(),
        deadline_ms: fields.small(name::DEADLINE_MS)?.unwrap_or(0),
        output_limit: fields.small(name::MAX_OUTPUT)?.unwrap_or(0),
    })
}

fn output_max(fields: &mut Fields) -> Result<usize, Error> {
    let max = fields.number(name::MAX)?.unwrap_or(OUTPUT_DEFAULT).clamp(1, OUTPUT_MAX);
    Ok(usize::try_from(max).unwrap_or(usize::MAX))
}

fn job(fields: &mut Fields) -> Result<u32, Error> {
    fields.small(name::JOB)?.ok_or_else(|| missing(name::JOB))
}

fn look(fields: &mut Fields) -> Result<Look, Error> {
    let until = match fields.text(name::UNTIL)?.as_deref() {
        None | Some("output") => Until::Output,
        Some("exit") => Until::Exit,
        Some(other) => return Err(bad(format!("`{}` is `output` or `exit`, not `{other}`", name::UNTIL))),
    };
    Ok(Look {
        job: job(fields)?,
        cursors: [
            fields.number(name::STDOUT_CURSOR)?.unwrap_or(0),
            fields.number(name::STDERR_CURSOR)?.unwrap_or(0),
        ],
        max: output_max(fields)?,
        wait: wait(fields)?,
        until,
    })
}

fn input(fields: &mut Fields) -> Result<Command, Error> {
    let (content, eof) = (fields.content()?, fields.flag(name::EOF)?.unwrap_or(false));
    if content.is_none() && !eof {
        return Err(bad(format!("give `{}`, or `{}` as true, or both", name::CONTENT, name::EOF)));
    }
    Ok(Command::Input { job: job(fields)?, content: content.unwrap_or_default(), eof })
}

fn kill(fields: &mut Fields) -> Result<Command, Error> {
    let tree = fields.flag(name::TREE)?.unwrap_or(false);
    let (target, id) = match (fields.small(name::PID)?, fields.small(name::JOB)?) {
        (Some(pid), None) if tree => (KillTarget::Tree, pid),
        (Some(pid), None) => (KillTarget::Process, pid),
        (None, Some(_)) if tree => {
            return Err(bad(format!(
                "`{}` is for a `{}`: a job is signalled as a whole",
                name::TREE,
                name::PID
            )));
        }
        (None, Some(job)) => (KillTarget::Job, job),
        _ => return Err(bad(format!("give `{}` or `{}`", name::PID, name::JOB))),
    };
    Ok(Command::Kill { target, id, signal: signal::take(fields)? })
}

fn power_action(fields: &mut Fields) -> Result<PowerAction, Error> {
    match fields.text(name::ACTION)?.as_deref() {
        Some("off") => Ok(PowerAction::Off),
        Some("reboot") => Ok(PowerAction::Reboot),
        Some(other) => Err(bad(format!("`{}` is `off` or `reboot`, not `{other}`", name::ACTION))),
        None => Err(missing(name::ACTION)),
    }
}

fn answer(fields: &mut Fields) -> Result<Command, Error> {
    let text = fields.text(name::ASK)?.ok_or_else(|| missing(name::ASK))?;
    let no_name = || Error::new(Problem::UnknownAsk, format!("`{text}` names no ask"));
    let ask = text.parse().map_err(|()| no_name())?;
    let answer = fields.bytes(name::ANSWER)?;
    let refuse = fields.flag(name::REFUSE)?.unwrap_or(false);
    if answer.is_some() == refuse {
        return Err(bad(format!("give `{}`, or `{}` as true", name::ANSWER, name::REFUSE)));
    }
    Ok(Command::Answer { ask, answer })
}
