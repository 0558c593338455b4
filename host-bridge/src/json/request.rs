//! From a line to an envelope.

use std::time::Duration;

use serde_json::Value;

use super::Command;
use super::error::{Error, Problem};
use super::fields::Fields;
use super::name;

/// Longest time without progress, unless the request says otherwise.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);
/// Bounds of what a request may say.
const TIMEOUT_MAX: Duration = Duration::from_secs(600);
/// Digits of a boot id.
const BOOT_DIGITS: usize = 32;

/// A request as it came: its id and what it wants, or what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Whatever the client put there; given back in the reply.
    pub id: Value,
    /// Longest time without progress.
    pub timeout: Duration,
    /// The boot of the guest that it is for, if it is for one only: 32 hex digits.
    pub boot: Option<String>,
    /// What to do.
    pub command: Result<Command, Error>,
}

/// Takes a line apart. A line that is no request has the id null.
#[must_use]
pub fn parse(line: &[u8]) -> Envelope {
    let refuse = |message: String| Envelope {
        id: Value::Null,
        timeout: TIMEOUT_DEFAULT,
        boot: None,
        command: Err(Error::new(Problem::BadRequest, message)),
    };
    let map = match serde_json::from_slice(line) {
        Ok(Value::Object(map)) => map,
        Ok(_) => return refuse("the line is no JSON object".into()),
        Err(error) => return refuse(format!("the line is no JSON: {error}")),
    };
    let mut fields = Fields(map);
    let id = fields.0.remove(name::ID).unwrap_or(Value::Null);
    match frame(&mut fields) {
        Ok((timeout, boot)) => Envelope { id, timeout, boot, command: Command::of(fields) },
        Err(error) => Envelope { id, timeout: TIMEOUT_DEFAULT, boot: None, command: Err(error) },
    }
}

/// What any operation may have beside its own fields: the longest time, and the boot that it is for.
fn frame(fields: &mut Fields) -> Result<(Duration, Option<String>), Error> {
    let timeout = fields.number(name::TIMEOUT_MS)?;
    let timeout = timeout.map_or(TIMEOUT_DEFAULT, |ms| Duration::from_millis(ms).min(TIMEOUT_MAX));
    let boot = fields.text(name::BOOT)?;
    let is_boot = |text: &String| {
        text.len() == BOOT_DIGITS && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    };
    if boot.as_ref().is_some_and(|boot| !is_boot(boot)) {
        let message = format!("`{}` is {BOOT_DIGITS} hex digits, as in a reply", name::BOOT);
        return Err(Error::new(Problem::BadRequest, message));
    }
    Ok((timeout, boot))
}

#[cfg(test)]
mod tests {
    use askr_wire::message::StdinPolicy;

    use super::*;
    use crate::ops::{Spawn, WriteTo};

    fn command(line: &str) -> Result<Command, Error> {
        parse(line.as_bytes()).command
    }

    #[test]
    fn ids_come_back_whatever_they_are() {
        for id in ["7", "\"x\"", "null", "{\"a\":[1]}"] {
            let envelope = parse(format!("{{\"id\":{id},\"op\":\"status\"}}").as_bytes());
            assert_eq!(envelope.id.to_string(), id);
            assert_eq!(envelope.command, Ok(Command::Status));
        }
        assert_eq!(parse(br#"{"id":7,"op":"nonsense"}"#).id, 7);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for line in [
            "",
            "nonsense",
            "[]",
            "7",
            "{",
            r#"{"op":7}"#,
            "{}",
            r#"{"op":"status","op2":1}"#,
            r#"{"op":"fs.read"}"#,
            r#"{"op":"fs.read","path":7}"#,
            r#"{"op":"fs.read","path":"/a","offset":-1}"#,
            r#"{"op":"fs.read","path":"/a","path_base64":"L2E="}"#,
            r#"{"op":"fs.stat","path_base64":"!"}"#,
            r#"{"op":"fs.write","path":"/a"}"#,
            r#"{"op":"fs.write","path":"/a","content":"","mode":"x"}"#,
            r#"{"op":"fs.write","path":"/a","content":"","encoding":"hex"}"#,
            r#"{"op":"ask.answer","ask":"00000000:1"}"#,
            r#"{"op":"status","timeout_ms":"1"}"#,
            r#"{"op":"status","boot":7}"#,
            r#"{"op":"status","boot":"3f9a1c02"}"#,
            r#"{"op":"status","boot":"3F9A1C02D1E84B7F9D0C6A5B4E3F2A10"}"#,
            r#"{"op":"ask.answer","ask":"00000000:1","answer":"x","refuse":true}"#,
            r#"{"op":"fs.write","path":"/a","content":"","mode":"append","offset":1}"#,
            r#"{"op":"fs.rename","from":"/a"}"#,
            r#"{"op":"proc.spawn"}"#,
            r#"{"op":"proc.spawn","argv":[]}"#,
            r#"{"op":"proc.spawn","argv":"ls"}"#,
            r#"{"op":"proc.spawn","argv":["ls",1]}"#,
            r#"{"op":"proc.spawn","argv":["ls"],"env":{"A":1}}"#,
            r#"{"op":"proc.spawn","argv":["ls"],"env":{"A=B":"x"}}"#,
            r#"{"op":"proc.spawn","argv":["ls"],"deadline_ms":4294967296}"#,
            r#"{"op":"proc.wait"}"#,
            r#"{"op":"proc.wait","job":1,"until":"x"}"#,
            r#"{"op":"proc.kill"}"#,
            r#"{"op":"proc.kill","pid":1,"job":1}"#,
            r#"{"op":"proc.kill","job":1,"tree":true}"#,
            r#"{"op":"proc.kill","pid":1,"signal":"NONSENSE"}"#,
            r#"{"op":"proc.kill","pid":1,"signal":65}"#,
            r#"{"op":"proc.input","job":1}"#,
            r#"{"op":"power","action":"x"}"#,
        ] {
            let error = command(line).unwrap_err();
            assert_eq!(error.code(), Problem::BadRequest.code(), "{line}");
        }
        assert!(parse(b"\xff\xfe").command.is_err());
    }

    #[test]
    fn bytes_come_as_text_or_base64() {
        let expected = Ok(Command::Stat { path: b"/\xff".to_vec() });
        assert_eq!(command(r#"{"op":"fs.stat","path_base64":"L/8="}"#), expected);
        let write =
            command(r#"{"op":"fs.write","path":"/a","content":"/w==","encoding":"base64","mode":"append"}"#);
        let expected =
            Command::Write { path: b"/a".to_vec(), content: vec![0xff], to: WriteTo::Append, sync: false };
        assert_eq!(write, Ok(expected));
    }

    #[test]
    fn a_program_is_named_by_its_path_or_lies_in_bin() {
        let spawn = |line: &str| match command(line) {
            Ok(Command::Spawn(spawn)) => spawn,
            other => panic!("{other:?}"),
        };
        let expected = Spawn {
            path: b"/bin/ls".to_vec(),
            argv: vec![b"ls".to_vec(), b"\xff".to_vec()],
            env: vec![b"PATH=/bin".to_vec(), b"HOME=/".to_vec()],
            cwd: Vec::new(),
            stdin: StdinPolicy::Closed,
            input: Vec::new(),
            deadline_ms: 0,
            output_limit: 0,
        };
        assert_eq!(spawn(r#"{"op":"proc.spawn","argv_base64":["bHM=","/w=="]}"#), expected);
        let given = spawn(
            r#"{"op":"proc.spawn","argv":["/tmp/x"],"env":{"A":"b"},"stdin":"hi","cwd":"/tmp","deadline_ms":5,"max_output":9}"#,
        );
        assert_eq!((&given.path[..], &given.env[..]), (&b"/tmp/x"[..], &[b"A=b".to_vec()][..]));
        assert_eq!(
            (given.stdin, &given.input[..], &given.cwd[..]),
            (StdinPolicy::Given, &b"hi"[..], &b"/tmp"[..])
        );
        assert_eq!((given.deadline_ms, given.output_limit), (5, 9));
        let open = spawn(r#"{"op":"proc.spawn","argv":["x"],"path":"/y","stdin_open":true}"#);
        assert_eq!((open.stdin, &open.path[..]), (StdinPolicy::Open, &b"/y"[..]));
    }

    #[test]
    fn signals_have_names_and_numbers() {
        for (signal, number) in [("\"KILL\"", 9), ("\"SIGTERM\"", 15), ("\"int\"", 2), ("0", 0), ("34", 34)] {
            let line = format!(r#"{{"op":"proc.kill","pid":7,"signal":{signal}}}"#);
            assert!(matches!(command(&line), Ok(Command::Kill { signal, .. }) if signal == number), "{line}");
        }
    }
}
