//! From a command to its reply.

use std::sync::Arc;
use std::time::{Duration, Instant};

use askr_wire::message::{AnswerReply, Decision, FileType, KillTarget};
use askr_wire::status::Status;
use serde_json::Value;

use super::Inner;
use super::client::Client;
use crate::json::{self, AskName, Command, Envelope, Error, Problem};
use crate::ops::{Job, Look, OpError, Operation, Spawn, Until};
use crate::session::{BootId, CallError};

/// How long after its deadline a program that is run is waited for.
const RUN_GRACE: Duration = Duration::from_secs(5);
/// How often a wait looks whether its client is still there: one that is gone takes the place of another.
const LOOK_FOR_CLIENT: Duration = Duration::from_millis(500);

/// Does what the envelope asks for and replies to the client.
pub(super) fn execute(hub: &Inner, client: &Arc<Client>, envelope: Envelope) {
    let Envelope { id, timeout, boot, command } = envelope;
    // What needs no session is of the boot that was seen last.
    let has_gone = match &command {
        Ok(command) if command.needs_session() => None,
        _ => check_boot(boot.as_deref(), hub.boot()).err(),
    };
    match command.and_then(|command| has_gone.map_or(Ok(command), Err)) {
        Err(error) => client.reply(json::reply_error(&id, hub.boot(), &error)),
        // These reply by themselves: one later, the others before what they push.
        Ok(Command::WaitAsks { wait }) => hub.board.wait_asks(&hub.session, client, &id, wait),
        Ok(Command::Subscribe(wants)) => hub.board.subscribe(&hub.session, client, &id, wants),
        Ok(Command::Capture { on: true }) => hub.captures.start(client, &id, hub.boot()),
        Ok(Command::Capture { on: false }) => hub.captures.stop(client, &id, hub.boot()),
        Ok(command) => {
            let (boot, result) = run(hub, client, &command, (timeout, boot.as_deref()));
            let line = match result {
                Ok(value) => json::reply(&id, boot, value),
                Err(error) => json::reply_error(&id, boot, &error),
            };
            client.reply(line);
        }
    }
}

/// Refuses what is for another boot than that of the guest `now`.
fn check_boot(wanted: Option<&str>, now: Option<BootId>) -> Result<(), Error> {
    match wanted {
        Some(wanted) if now.is_none_or(|now| now.to_string() != wanted) => {
            Err(Error::new(Problem::GuestRestarted, format!("the guest is not in boot {wanted} any more")))
        }
        _ => Ok(()),
    }
}

fn run(
    hub: &Inner,
    client: &Client,
    command: &Command,
    (timeout, boot): (Duration, Option<&str>),
) -> (Option<BootId>, Result<Value, Error>) {
    match command {
        Command::Status => return (hub.boot(), Ok(hub.status().to_value())),
        Command::Asks => return (hub.boot(), Ok(json::asks(&hub.session.asks()))),
        _ => {}
    }
    let deadline = Instant::now() + timeout;
    if let Err(error) = wait_ready(hub, client, deadline) {
        return (hub.boot(), Err(plain(error)));
    }
    match command {
        Command::Ping => match hub.session.ping(deadline) {
            Ok(pong) => (Some(pong.boot), Ok(json::pong(&pong))),
            Err(error) => (hub.boot(), Err(plain(error))),
        },
        command => match Operation::begin(&hub.session, timeout) {
            Err(error) => (hub.boot(), Err(plain(error))),
            Ok(operation) => {
                let is_wanted = || !client.is_gone();
                let operation = operation.wanted_while(&is_wanted);
                let result = check_boot(boot, Some(operation.boot()))
                    .and_then(|()| in_session(hub, client, &operation, command));
                (Some(operation.boot()), result)
            }
        },
    }
}

/// Waits for a guest, as long as the client does.
fn wait_ready(hub: &Inner, client: &Client, deadline: Instant) -> Result<(), CallError> {
    loop {
        match hub.session.wait_ready(deadline.min(Instant::now() + LOOK_FOR_CLIENT)) {
            Err(CallError::NotReady) if Instant::now() < deadline && !client.is_gone() => {}
            result => return result.map(drop),
        }
    }
}

/// Runs a command that needs the guest.
fn in_session(
    hub: &Inner,
    client: &Client,
    operation: &Operation<'_>,
    command: &Command,
) -> Result<Value, Error> {
    match command {
        Command::Stats => {
            let guest = operation.counters().map_err(plain)?;
            let link = json::link_counters(hub.session.link_counters());
            Ok(json::counters(&guest, &hub.session.counters().0, &link))
        }
        Command::SystemInfo => {
            let (info, memory) = (operation.info().map_err(plain)?, operation.memory().map_err(plain)?);
            Ok(json::system_info(&info, &memory, operation.time().map_err(plain)?))
        }
        Command::Power { action } => operation.power(*action).map(|()| json::done()).map_err(plain),
        Command::Processes => operation.processes().map(|list| json::processes(&list)).map_err(plain),
        Command::Spawn(spawn) => {
            operation.spawn(spawn).map(json::job).map_err(|error| not_started(operation, spawn, error))
        }
        Command::Run { spawn, max } => run_program(operation, spawn, *max),
        Command::Wait(look) => {
            operation.look(look).map(|report| json::report(look.job, &report)).map_err(on_job(look.job))
        }
        Command::Input { job, content, eof } => operation
            .input(*job, content, *eof)
            .map(|taken| json::accepted_input(taken, content.len()))
            .map_err(|error| Error::of_operation(&error, Some(format!("job {job}").as_bytes()))),
        Command::Kill { target, id, signal } => {
            let what = if *target == KillTarget::Job { "job" } else { "process" };
            operation
                .kill(*target, *id, *signal)
                .map(json::killed)
                .map_err(|error| failed(error, Some(format!("{what} {id}").as_bytes())))
        }
        Command::AgentStatus => Ok(hub.agent_status().to_value()),
        Command::Events { cursor, wait } => events(hub, client, operation, *cursor, *wait),
        Command::Answer { ask, answer } => answer_ask(operation, *ask, answer.as_deref()),
        command => on_files(operation, command),
    }
}

fn on_files(operation: &Operation<'_>, command: &Command) -> Result<Value, Error> {
    match command {
        Command::Stat { path } => operation.stat(path).map(|facts| json::stat(&facts)).map_err(on(path)),
        Command::List { path } => operation.list(path).map(|list| json::entries(&list)).map_err(on(path)),
        Command::Read { path, offset, length } => {
            operation.read(path, *offset, *length).map(|read| json::content(&read)).map_err(on(path))
        }
        Command::Write { path, content, to, sync } => operation
            .write(path, content, *to, *sync)
            .map(json::written)
            .map_err(|error| Error::of_operation(&error, Some(path))),
        Command::Mkdir { path } => operation.mkdir(path).map(|()| json::done()).map_err(on(path)),
        Command::Remove { path } => operation.remove(path).map(|()| json::done()).map_err(on(path)),
        Command::Unlink { path } => operation.unlink(path).map(|()| json::done()).map_err(on(path)),
        Command::Rmdir { path } => operation.rmdir(path).map(|()| json::done()).map_err(on(path)),
        Command::Rename { from, to } => operation.rename(from, to).map(|()| json::done()).map_err(on(from)),
        Command::Truncate { path, size } => {
            operation.truncate(path, *size).map(|()| json::done()).map_err(on(path))
        }
        Command::FsInfo { path } => {
            operation.fs_info(path).map(|info| json::fs_info(&info)).map_err(on(path))
        }
        _ => Err(Error::new(Problem::UnknownOp, "needs no session with the guest")),
    }
}

/// Starts a program and waits for its end, which its deadline brings at the latest.
fn run_program(operation: &Operation<'_>, spawn: &Spawn, max: usize) -> Result<Value, Error> {
    let Job { job, .. } = operation.spawn(spawn).map_err(|error| not_started(operation, spawn, error))?;
    let wait = Duration::from_millis(spawn.deadline_ms.into()) + RUN_GRACE;
    let look = Look { job, cursors: [0, 0], max, wait, until: Until::Exit };
    let report = operation.look(&look).map_err(|error| {
        let error = match error {
            CallError::NotReady | CallError::TimedOut | CallError::SessionLost => {
                CallError::OutcomeUnknown("the program's end was not seen")
            }
            other => other,
        };
        let before = Some(format!("it was started as job {job}"));
        Error::of_operation(&OpError { error, before }, Some(&spawn.path))
    })?;
    Ok(json::report(job, &report))
}

/// Events from `cursor` on, at once if there are any, else when there are or the wait is over.
fn events(
    hub: &Inner,
    client: &Client,
    operation: &Operation<'_>,
    cursor: u64,
    wait: Duration,
) -> Result<Value, Error> {
    let give_up = Instant::now() + wait;
    loop {
        let seen = hub.board.changes();
        let mut page = operation.events(cursor).map_err(plain)?;
        page.events.iter_mut().for_each(|event| hub.board.locate(event));
        let has_news = !page.events.is_empty() || page.lost > 0;
        if has_news || !wait_change(hub, client, seen, give_up) {
            return Ok(json::events(&page));
        }
    }
}

/// Waits until more was changed than the `seen` changes. `false` when the wait is over before that.
fn wait_change(hub: &Inner, client: &Client, seen: u64, give_up: Instant) -> bool {
    while hub.board.changes() == seen {
        let now = Instant::now();
        let is_over = now >= give_up || client.is_gone();
        if is_over || !hub.board.wait_change(seen, give_up.min(now + LOOK_FOR_CLIENT)) {
            return false;
        }
    }
    true
}

fn answer_ask(operation: &Operation<'_>, ask: AskName, answer: Option<&[u8]>) -> Result<Value, Error> {
    let Some(id) = ask.in_boot(operation.boot()) else {
        return Err(Error::new(
            Problem::GuestRestarted,
            format!("ask {ask} is of another boot of the guest"),
        ));
    };
    let decision = answer.map_or(Decision::Refuse, Decision::Answer);
    match operation.answer(id, decision).map_err(|error| failed(error, None))? {
        AnswerReply::Accepted => Ok(json::accepted()),
        AnswerReply::Late => Err(Error::new(Problem::Late, format!("ask {ask} is settled already"))),
        AnswerReply::NotAChoice => {
            Err(Error::new(Problem::NotAChoice, format!("the answer is none of the choices of ask {ask}")))
        }
        AnswerReply::Unknown => Err(Error::new(Problem::UnknownAsk, format!("the guest knows no ask {ask}"))),
    }
}

fn failed(error: CallError, what: Option<&[u8]>) -> Error {
    Error::of_operation(&OpError::from(error), what)
}

fn on(path: &[u8]) -> impl FnOnce(CallError) -> Error + '_ {
    move |error| failed(error, Some(path))
}

/// The guest has one status for the program and the directory that it is to start in: which of them it is about is asked.
fn not_started(operation: &Operation<'_>, spawn: &Spawn, error: CallError) -> Error {
    let about_a_path = matches!(error, CallError::Guest(Status::NoEnt | Status::NotDir | Status::Inval));
    let no_directory = about_a_path
        && !spawn.cwd.is_empty()
        && match operation.stat(&spawn.cwd) {
            Ok(stat) => stat.file_type != FileType::Directory,
            Err(error) => matches!(error, CallError::Guest(_)),
        };
    failed(error, Some(if no_directory { &spawn.cwd } else { &spawn.path }))
}

fn plain(error: CallError) -> Error {
    failed(error, None)
}

fn on_job(job: u32) -> impl Fn(CallError) -> Error {
    move |error| failed(error, Some(format!("job {job}").as_bytes()))
}
