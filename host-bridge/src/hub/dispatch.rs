//! From a command to its reply.

use std::sync::Arc;
use std::time::{Duration, Instant};

use askr_wire::message::{AnswerReply, Decision};
use serde_json::Value;

use super::Inner;
use super::client::Client;
use crate::json::{self, AskName, Command, Envelope, Error, Problem};
use crate::ops::{OpError, Operation};
use crate::session::{BootId, CallError};

/// Does what the envelope asks for and replies to the client.
pub(super) fn execute(hub: &Inner, client: &Arc<Client>, envelope: Envelope) {
    let Envelope { id, timeout, command } = envelope;
    match command {
        Err(error) => client.reply(json::reply_error(&id, hub.boot(), &error)),
        // These two reply by themselves: one later, the other before what it pushes.
        Ok(Command::WaitAsks { wait }) => hub.board.wait_asks(&hub.session, client, &id, wait),
        Ok(Command::Subscribe { asks, events }) => {
            hub.board.subscribe(&hub.session, client, &id, asks, events);
        }
        Ok(command) => {
            let (boot, result) = run(hub, &command, timeout);
            let line = match result {
                Ok(value) => json::reply(&id, boot, value),
                Err(error) => json::reply_error(&id, boot, &error),
            };
            client.reply(line);
        }
    }
}

fn run(hub: &Inner, command: &Command, timeout: Duration) -> (Option<BootId>, Result<Value, Error>) {
    match command {
        Command::Status => (hub.boot(), Ok(hub.status().to_value())),
        Command::Asks => (hub.boot(), Ok(json::asks(&hub.session.asks()))),
        Command::Ping => match hub.session.ping(Instant::now() + timeout) {
            Ok(pong) => (Some(pong.boot), Ok(json::pong(&pong))),
            Err(error) => (hub.boot(), Err(failed(error, None))),
        },
        command => match Operation::begin(&hub.session, timeout) {
            Err(error) => (hub.boot(), Err(failed(error, None))),
            Ok(operation) => (Some(operation.boot()), in_session(hub, &operation, command)),
        },
    }
}

/// Runs a command that needs the guest.
fn in_session(hub: &Inner, operation: &Operation<'_>, command: &Command) -> Result<Value, Error> {
    match command {
        Command::Stat { path } => operation.stat(path).map(|facts| json::stat(&facts)).map_err(on(path)),
        Command::List { path } => operation.list(path).map(|list| json::entries(&list)).map_err(on(path)),
        Command::Read { path, offset, length } => {
            operation.read(path, *offset, *length).map(|read| json::content(&read)).map_err(on(path))
        }
        Command::Write { path, content, mode } => operation
            .write(path, content, *mode)
            .map(json::written)
            .map_err(|error| Error::of_operation(&error, Some(path))),
        Command::Mkdir { path } => operation.mkdir(path).map(|()| json::done()).map_err(on(path)),
        Command::Remove { path } => operation.remove(path).map(|()| json::done()).map_err(on(path)),
        Command::Processes => {
            operation.processes().map(|list| json::processes(&list)).map_err(|error| failed(error, None))
        }
        Command::Stats => {
            let guest = operation.counters().map_err(|error| failed(error, None))?;
            let link = hub.session.link_counters(json::link_counters).unwrap_or_default();
            Ok(json::counters(&guest, &hub.session.counters().0, &link))
        }
        Command::Answer { ask, answer } => answer_ask(operation, *ask, answer.as_deref()),
        Command::Status
        | Command::Asks
        | Command::Ping
        | Command::WaitAsks { .. }
        | Command::Subscribe { .. } => Err(Error::new(Problem::UnknownOp, "needs no session with the guest")),
    }
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
            Err(Error::new(Problem::BadRequest, format!("the answer is none of the choices of ask {ask}")))
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
