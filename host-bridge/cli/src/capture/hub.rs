//! The hub's side of a capture: its lines, one hub after the other, and the signals that end it.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use host_bridge::client::{HubClient, NoHub, Refusal, find_socket};
use host_bridge::json::{self, Answer, Captured};
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::{Exit, Failure};
use crate::waiting::Waiting;

/// Pause between two tries to find a hub.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Longest time for a hub to begin.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the capture hears of.
pub(super) enum Input {
    /// A hub was found; this ends its capture.
    Begun(Ender),
    /// Something on the line.
    Captured(Captured),
    /// The hub gives no more, and counts so many lines that were lost; by [`Ender::end`].
    Ended(u64),
    /// The hub is gone; why.
    Gone(String),
    /// There is no hub to capture from; why. Told when that has changed.
    NoHub(String),
    /// The user wants an end.
    Signal,
}

/// Tells the hub that it is enough.
pub(super) struct Ender(UnixStream);

impl Ender {
    /// Asks for the end, which is [`Input::Ended`].
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.0.write_all(format!("{}\n", request(false)).as_bytes())
    }
}

fn request(on: bool) -> Value {
    json!({ "id": on, "op": "link.capture", "on": on })
}

/// A hub that captures for us.
pub(super) struct Capturing {
    ender: Ender,
    lines: BufReader<UnixStream>,
}

/// Why a hub does not.
pub(super) struct Refused {
    pub(super) failure: Failure,
    /// Nobody listens.
    is_absent: bool,
}

impl Refused {
    const fn by_hub(exit: Exit, message: String) -> Self {
        Self { failure: Failure { exit, message }, is_absent: false }
    }
}

impl From<NoHub> for Refused {
    fn from(error: NoHub) -> Self {
        Self { failure: error.into(), is_absent: true }
    }
}

/// Has the hub begin.
pub(super) fn begin(socket: Option<&PathBuf>) -> Result<Capturing, Refused> {
    let mut hub = HubClient::connect(&find_socket(socket.cloned())?)?;
    let failed = |error: io::Error| {
        let why = match error.kind() {
            io::ErrorKind::WouldBlock => format!("it did not answer within {} s", PATIENCE.as_secs()),
            _ => error.to_string(),
        };
        Refused::by_hub(Exit::Failed, format!("the hub: {why}"))
    };
    hub.set_patience(Some(PATIENCE)).map_err(failed)?;
    // Whoever takes no more clients says so in place of this reply.
    let answer = Answer::of(&hub.request(&request(true)).map_err(failed)?);
    if let Some(refusal) = Refusal::of(&answer) {
        return Err(Refused::by_hub(Exit::of_error(&refusal.code), refusal.to_string()));
    }
    hub.set_patience(None).map_err(failed)?;
    let (writer, lines) = hub.split();
    Ok(Capturing { ender: Ender(writer), lines })
}

/// Hears this hub, and then, if `wait`, whichever comes after it, on a thread of its own.
pub(super) fn listen(
    mut first: Option<Capturing>,
    socket: Option<PathBuf>,
    wait: bool,
    inputs: SyncSender<Input>,
) -> io::Result<()> {
    thread::Builder::new().name("askr-hub".into()).spawn(move || {
        let mut waiting = Waiting::default();
        loop {
            let input = match first.take().map_or_else(|| begin(socket.as_ref()), Ok) {
                Ok(hub) => {
                    waiting.lost();
                    Some(Input::Gone(hear(hub, &inputs).unwrap_or_else(|error| error.to_string())))
                }
                Err(Refused { failure, is_absent }) => {
                    let is_news = waiting.is_news(&failure.message, is_absent);
                    is_news.then_some(Input::NoHub(failure.message))
                }
            };
            if input.is_some_and(|input| inputs.send(input).is_err()) || !wait {
                return;
            }
            thread::sleep(LOOK_AGAIN);
        }
    })?;
    Ok(())
}

/// Passes on what one hub says; why it says no more.
fn hear(hub: Capturing, inputs: &SyncSender<Input>) -> io::Result<String> {
    let Capturing { ender, mut lines } = hub;
    if inputs.send(Input::Begun(ender)).is_err() {
        return Ok(String::new());
    }
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        let value: Value = serde_json::from_str(&line)?;
        line.clear();
        let input = match (json::captured_of(&value), Answer::of(&value)) {
            (Some(captured), _) => Input::Captured(captured),
            (None, Answer::Ok(ok)) => Input::Ended(json::dropped_of(&ok).unwrap_or(0)),
            (None, answer @ Answer::Error { .. }) => {
                return Ok(Refusal::of(&answer).map_or_else(String::new, |refusal| refusal.to_string()));
            }
            (None, Answer::Other) => continue,
        };
        if inputs.send(input).is_err() {
            break;
        }
    }
    Ok("the hub ended".into())
}

/// Tells of the first signal that ends a program; the second one ends it at once, whatever it waits for, with the status
/// that shells give to what it ended.
pub(super) fn heed_signals(inputs: SyncSender<Input>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().name("askr-signals".into()).spawn(move || {
        let mut received = signals.forever();
        if received.next().is_some() {
            thread::spawn(move || inputs.send(Input::Signal));
        }
        match received.next() {
            Some(SIGTERM) => std::process::exit(Exit::Terminated.code().into()),
            Some(_) => std::process::exit(Exit::Interrupted.code().into()),
            None => {}
        }
    })?;
    Ok(())
}
