//! `askr-bridge json`: the hub's lines on stdin and stdout.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use host_bridge::client::{HubClient, find_socket};
use host_bridge::json::Answer;

use crate::exit::{Exit, Failure};

/// How many replies came.
#[derive(Default)]
struct Replies {
    came: Mutex<u64>,
    changed: Condvar,
}

impl Replies {
    fn add_one(&self) {
        *self.came.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }

    /// Waits until `count` replies came.
    fn wait_for(&self, count: u64) {
        let mut came = self.came.lock().unwrap_or_else(PoisonError::into_inner);
        while *came < count {
            came = self.changed.wait(came).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

pub(super) fn run(socket: Option<PathBuf>) -> Result<Exit, Failure> {
    let hub = HubClient::connect(&find_socket(socket)?)?;
    let (writer, reader) = hub.split();
    let replies = Arc::new(Replies::default());
    let theirs = Arc::clone(&replies);
    let copies_out = thread::spawn(move || {
        let Failure { exit, message } = copy_out(reader, &theirs);
        // Nobody reads any more, or the hub is gone: stdin may never end, so end here.
        eprintln!("askr-bridge: {message}");
        std::process::exit(exit.code().into());
    });
    match copy_in(writer) {
        Ok(sent) => replies.wait_for(sent),
        // Why, it may have said: the other thread ends the program.
        Err(error) if is_closed(&error) => drop(copies_out.join()),
        Err(error) => return Err(format!("the requests could not be passed on: {error}").into()),
    }
    Ok(Exit::Done)
}

/// Whether the hub has closed the connection.
fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
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

/// Copies the hub's lines to stdout and counts those that are replies. Returns why it ended.
fn copy_out(mut hub: BufReader<UnixStream>, replies: &Replies) -> Failure {
    let mut line = Vec::new();
    let mut exit = Exit::Failed;
    loop {
        match hub.read_until(b'\n', &mut line) {
            Ok(1..) => {}
            Ok(0) => return Failure { exit, message: "the hub closed the connection".into() },
            Err(error) if is_closed(&error) => {
                return Failure { exit, message: "the hub closed the connection".into() };
            }
            Err(error) => return format!("the hub: {error}").into(),
        }
        let mut out = io::stdout().lock();
        if let Err(error) = out.write_all(&line).and_then(|()| out.flush()) {
            return format!("stdout: {error}").into();
        }
        match serde_json::from_slice(&line).as_ref().map(Answer::of) {
            // It turns this connection away, whatever was asked.
            Ok(Answer::Error { code, .. }) if Exit::of_error(&code) == Exit::NoHub => exit = Exit::NoHub,
            Ok(Answer::Other) | Err(_) => {}
            Ok(_) => replies.add_one(),
        }
        line.clear();
    }
}
