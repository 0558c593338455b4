//! `askr-bridge json`: the hub's lines on stdin and stdout.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use host_bridge::client::{HubClient, find_socket};
use host_bridge::json::Answer;

use crate::exit::{Exit, Failure};

/// How many replies came, and whether more can come.
#[derive(Default)]
struct Replies {
    state: Mutex<(u64, bool)>,
    changed: Condvar,
}

impl Replies {
    fn update(&self, change: impl FnOnce(&mut (u64, bool))) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    /// Waits until `count` replies came. `false` when the hub ended before.
    fn wait_for(&self, count: u64) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.0 < count && !state.1 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.0 >= count
    }
}

pub(super) fn run(socket: Option<PathBuf>) -> Result<Exit, Failure> {
    let hub = HubClient::connect(&find_socket(socket)?)?;
    let (writer, reader) = hub.split();
    let replies = Arc::new(Replies::default());
    let theirs = Arc::clone(&replies);
    thread::spawn(move || {
        let result = copy_out(reader, &theirs);
        theirs.update(|state| state.1 = true);
        if let Err(error) = result {
            // Nobody reads any more, or the hub is gone: stdin may never end, so end here.
            eprintln!("askr-bridge: {error}");
            std::process::exit(Exit::Failed.code().into());
        }
    });
    let sent = copy_in(writer).map_err(|error| format!("the hub takes no more requests: {error}"))?;
    if replies.wait_for(sent) {
        Ok(Exit::Done)
    } else {
        Err("the hub ended before it replied to everything".to_owned().into())
    }
}

/// Copies stdin to the hub and counts the requests: lines that are not blank.
fn copy_in(mut hub: UnixStream) -> io::Result<u64> {
    let (mut input, mut line, mut sent) = (io::stdin().lock(), Vec::new(), 0);
    while input.read_until(b'\n', &mut line)? > 0 {
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        sent += u64::from(!line.trim_ascii().is_empty());
        hub.write_all(&line)?;
        line.clear();
    }
    Ok(sent)
}

/// Copies the hub's lines to stdout and counts those that are replies.
fn copy_out(mut hub: BufReader<UnixStream>, replies: &Replies) -> Result<(), String> {
    let mut line = Vec::new();
    while hub.read_until(b'\n', &mut line).map_err(|error| format!("the hub: {error}"))? > 0 {
        let mut out = io::stdout().lock();
        out.write_all(&line).and_then(|()| out.flush()).map_err(|error| format!("stdout: {error}"))?;
        let is_reply = serde_json::from_slice(&line).is_ok_and(|line| Answer::of(&line) != Answer::Other);
        replies.update(|state| state.0 += u64::from(is_reply));
        line.clear();
    }
    Err("the hub closed the connection".into())
}
