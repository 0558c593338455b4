//! The client's side in types: the requests of a program on the host, and what comes back.

mod program;
mod told;

use std::time::Duration;

use serde_json::{Map, Value, json};

pub use program::{Cause, End, Finished, Job, Output, Program};
pub use told::{Ask, Event, Pushed};

use super::{bytes, name};

/// What a call brought.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The boot of the guest that it is of, 32 hex digits; `None` when no guest was seen yet.
    pub boot: Option<String>,
    /// What `docs/host.md` lists under `ok` for the operation.
    pub ok: Value,
}

/// A request without an id.
pub(crate) fn request(op: &str, mut fields: Map<String, Value>) -> Value {
    fields.insert(name::OP.into(), op.into());
    Value::Object(fields)
}

pub(crate) fn set_id(request: &mut Value, id: u64) {
    request[name::ID] = id.into();
}

/// The id of a line, if it is one of ours.
pub(crate) fn id_of(line: &Value) -> Option<u64> {
    line.get(name::ID)?.as_u64()
}

pub(crate) fn boot_of(line: &Value) -> Option<String> {
    text(line, name::BOOT)
}

/// Whether there is more after this part of a file.
pub(crate) fn goes_on(ok: &Value) -> bool {
    ok["truncated"] == true
}

pub(crate) fn is_running(ok: &Value) -> bool {
    ok["state"] == "running"
}

fn of_file(op: &str, path: &[u8], more: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let mut fields: Map<String, Value> =
        more.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    bytes::put(&mut fields, name::PATH, path);
    request(op, fields)
}

pub(crate) fn read(path: &[u8], offset: usize) -> Value {
    of_file("fs.read", path, [(name::OFFSET, offset.into())])
}

/// The first piece of a file.
pub(crate) fn replace(path: &[u8], piece: &[u8]) -> Value {
    with_content(of_file("fs.write", path, []), piece)
}

/// A later piece.
pub(crate) fn write_at(path: &[u8], offset: usize, piece: &[u8]) -> Value {
    with_content(of_file("fs.write", path, [(name::OFFSET, offset.into())]), piece)
}

fn with_content(mut request: Value, content: &[u8]) -> Value {
    request.as_object_mut().into_iter().for_each(|fields| bytes::put_short_content(fields, content));
    request
}

fn milliseconds(time: Duration) -> Value {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).into()
}

pub(crate) fn wait_for_asks(wait: Duration) -> Value {
    json!({ name::OP: "asks.wait", name::WAIT_MS: milliseconds(wait) })
}

pub(crate) fn wait_for_end(job: Job, wait: Duration) -> Value {
    json!({
        name::OP: "proc.wait", name::JOB: job.job, name::UNTIL: "exit", name::MAX: program::OUTPUT_MAX,
        name::WAIT_MS: milliseconds(wait),
    })
}

/// An answer, or a refusal without one.
pub(crate) fn answer(ask: &str, answer: Option<&[u8]>) -> Value {
    let mut fields = Map::new();
    fields.insert(name::ASK.into(), ask.into());
    match answer {
        Some(answer) => bytes::put(&mut fields, name::ANSWER, answer),
        None => drop(fields.insert(name::REFUSE.into(), true.into())),
    }
    request("ask.answer", fields)
}

pub(crate) fn subscribe(asks: bool, events: bool) -> Value {
    json!({ name::OP: "subscribe", name::ASKS: asks, name::EVENTS: events })
}

pub(crate) fn asks_of(ok: &Value) -> Option<Vec<Ask>> {
    ok.get(name::ASKS)?.as_array()?.iter().map(Ask::of).collect()
}

fn text(from: &Value, field: &str) -> Option<String> {
    from.get(field)?.as_str().map(str::to_owned)
}

fn small(from: &Value, field: &str) -> Option<u32> {
    from.get(field)?.as_u64()?.try_into().ok()
}

/// The bytes of a name: text, or base64 under the name that says so.
fn bytes_of(from: &Value, field: &str) -> Option<Vec<u8>> {
    match from.get(field) {
        Some(text) => Some(text.as_str()?.as_bytes().to_vec()),
        None => bytes::decode(from.get(format!("{field}{}", name::BASE64_SUFFIX))?.as_str()?),
    }
}

/// The bytes of a member of a list: text, or an object with base64.
fn bytes_of_value(value: &Value) -> Option<Vec<u8>> {
    match value.as_str() {
        Some(text) => Some(text.as_bytes().to_vec()),
        None => bytes::decode(value.get(name::BASE64)?.as_str()?),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::{Command, Subscription, parse};
    use crate::ops::WriteTo;

    fn command(request: &Value) -> Command {
        parse(request.to_string().as_bytes()).command.unwrap()
    }

    #[test]
    fn what_is_asked_for_is_what_the_hub_reads() {
        assert!(matches!(command(&wait_for_asks(Duration::from_secs(1))), Command::WaitAsks { .. }));
        let wants = Subscription { asks: false, events: true, watch: false };
        assert_eq!(command(&subscribe(false, true)), Command::Subscribe(wants));
        assert!(
            matches!(command(&wait_for_end(Job { job: 3, pid: 9 }, Duration::ZERO)), Command::Wait(look) if look.job == 3)
        );
        assert!(matches!(command(&answer("01010101:1", None)), Command::Answer { answer: None, .. }));
    }

    proptest! {
        #[test]
        fn any_bytes_get_to_the_hub_as_they_are(path: Vec<u8>, content: Vec<u8>, offset in 0_usize..1 << 40) {
            let written = command(&write_at(&path, offset, &content));
            let to = WriteTo::Offset(offset as u64);
            prop_assert_eq!(written, Command::Write { path: path.clone(), content: content.clone(), to, sync: false });
            let all = command(&replace(&path, &content));
            prop_assert_eq!(all, Command::Write { path: path.clone(), content: content.clone(), to: WriteTo::Replace, sync: false });
            prop_assert_eq!(command(&read(&path, offset)), Command::Read { path, offset: offset as u64, length: None });
            let said = command(&answer("01010101:1", Some(&content)));
            let is_said = matches!(said, Command::Answer { answer: Some(answer), .. } if answer == content);
            prop_assert!(is_said);
        }

        #[test]
        fn any_bytes_come_back_as_they_are(given: Vec<u8>) {
            let mut fields = Map::new();
            bytes::put(&mut fields, "x", &given);
            prop_assert_eq!(bytes_of(&fields.into(), "x"), Some(given.clone()));
            prop_assert_eq!(bytes_of_value(&bytes::value(&given)), Some(given));
        }
    }
}
