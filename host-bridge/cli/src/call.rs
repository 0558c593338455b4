//! `askr-bridge call`: one request.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::ArgMatches;
use host_bridge::client::{HubClient, Refusal, find_socket};
use host_bridge::json::{self, Answer};

use crate::exit::{Exit, Failure};

pub(super) fn run(socket: Option<PathBuf>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let op = matches.get_one::<String>("op").map_or("", String::as_str);
    let fields = matches.get_many::<String>("fields").unwrap_or_default().map(String::as_str);
    let request = json::request_of_words(op, fields).map_err(Failure::usage)?;
    let mut hub = HubClient::connect(&find_socket(socket)?)?;
    let reply = hub.request(&request).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            "the hub ended before it replied: has the guest been stopped?".to_owned()
        }
        _ => format!("the hub's reply could not be read: {error}"),
    })?;
    let answer = Answer::of(&reply);
    if matches.get_flag("json") {
        print(format!("{}\n", json::line(&reply)).as_bytes())?;
    } else {
        show(&answer)?;
    }
    Ok(exit_of(&answer))
}

fn exit_of(answer: &Answer) -> Exit {
    match answer {
        Answer::Ok(_) => Exit::Done,
        Answer::Error { code, .. } => Exit::of_error(code),
        Answer::Other => Exit::Failed,
    }
}

/// Prints what came of it. What cannot be printed is a failure of its own, whatever the answer was.
fn show(answer: &Answer) -> Result<(), Failure> {
    let printed = match answer {
        Answer::Ok(ok) => match json::content_of(ok) {
            Some(content) => print(&content),
            None => print(format!("{}\n", json::pretty(ok)).as_bytes()),
        },
        // It may quote names from the guest: nothing of theirs that a terminal obeys is shown.
        other => {
            let message = Refusal::of(other).map_or_else(
                || "the hub's reply is no reply; are hub and askr-bridge of different versions?".into(),
                |refusal| refusal.to_string(),
            );
            return Err(Failure { exit: exit_of(other), message });
        }
    };
    Ok(printed?)
}

fn print(bytes: &[u8]) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // Whoever reads has seen enough, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| format!("stdout: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_error_is_one_line_without_control_characters() {
        let reply =
            json!({ "id": 1, "error": { "code": "ENOENT", "message": "/\u{1b}[2J: gone", "hint": "look" } });
        let message = show(&Answer::of(&reply)).map_err(|failure| failure.message);
        assert_eq!(message, Err("ENOENT: /\u{fffd}[2J: gone (look)".into()));
        assert!(show(&Answer::of(&Value::Null)).is_err());
    }
}
