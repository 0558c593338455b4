//! The hub's side of a capture: its lines, one hub after the other, and the signals that end it.

use std::io::{self, BufRead, Write};
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

/// Pause between two tries to find a hub.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Exit status of a program that ends by its second SIGINT, as shells give it.
const INTERRUPTED: i32 = 130;

/// What the capture hears of.
pub(super) enum Input {
    /// A hub was found; this ends its capture.
    Begun(Ender),
    /// Something on the line.
    Captured(Captured),
    /// The hub gives no more, and counts so many lines that were lost; by [`Ender::end`].
    Ended(u64),
    /// The hub is gone, or never captured; why.
    Gone(String),
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

/// Connects to the hub.
pub(super) fn connect(socket: Option<&PathBuf>) -> Result<HubClient, NoHub> {
    HubClient::connect(&find_socket(socket.cloned())?)
}

/// Hears this hub, and then, if `wait`, whichever comes after it, on a thread of its own.
pub(super) fn listen(
    mut first: Option<HubClient>,
    socket: Option<PathBuf>,
    wait: bool,
    inputs: SyncSender<Input>,
) -> io::Result<()> {
    thread::Builder::new().name("askr-hub".into()).spawn(move || {
        loop {
            if let Some(hub) = first.take().or_else(|| connect(socket.as_ref()).ok()) {
                let why = hear(hub, &inputs).unwrap_or_else(|error| error.to_string());
                if inputs.send(Input::Gone(why)).is_err() || !wait {
                    return;
                }
            }
            thread::sleep(LOOK_AGAIN);
        }
    })?;
    Ok(())
}

/// Passes on what one hub says; why it says no more.
fn hear(mut hub: HubClient, inputs: &SyncSender<Input>) -> io::Result<String> {
    hub.send(request(true).to_string().as_bytes())?;
    let (writer, mut reader) = hub.split();
    let mut ender = Some(Ender(writer));
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        let value: Value = serde_json::from_str(&line)?;
        line.clear();
        let input = if let Some(captured) = json::captured_of(&value) {
            Input::Captured(captured)
        } else {
            match (Answer::of(&value), ender.take()) {
                (Answer::Ok(_), Some(ender)) => Input::Begun(ender),
                (Answer::Ok(ok), None) => Input::Ended(json::dropped_of(&ok).unwrap_or(0)),
                (answer @ Answer::Error { .. }, _) => {
                    return Ok(Refusal::of(&answer).map_or_else(String::new, |refusal| refusal.to_string()));
                }
                (Answer::Other, unused) => {
                    ender = unused;
                    continue;
                }
            }
        };
        if inputs.send(input).is_err() {
            break;
        }
    }
    Ok("the hub ended".into())
}

/// Tells of the first signal that ends a program; the second one ends it at once, whatever it waits for.
pub(super) fn heed_signals(inputs: SyncSender<Input>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().name("askr-signals".into()).spawn(move || {
        let mut received = signals.forever();
        if received.next().is_some() {
            thread::spawn(move || inputs.send(Input::Signal));
        }
        if received.next().is_some() {
            std::process::exit(INTERRUPTED);
        }
    })?;
    Ok(())
}
