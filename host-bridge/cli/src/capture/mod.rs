//! `askr-bridge capture`: the frames between host and guest as a pcapng file, for Wireshark.

mod hub;
#[cfg(test)]
mod names;
mod packet;
mod pcapng;

use std::fs::{OpenOptions, Permissions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::ArgMatches;
use host_bridge::json::Captured;

use hub::{Ender, Input};
use packet::Owned;
use pcapng::{File, Statistics};

use crate::exit::{Exit, Failure};

/// Mode of a file that only its owner reads and writes.
const OWN: u32 = 0o600;
/// Inputs that wait to be written; what the hub has beyond that waits at the hub, which counts what it cannot keep.
const INPUTS_MAX: usize = 1024;
/// Longest that anything captured waits to be read by others.
const FLUSH_AFTER: Duration = Duration::from_secs(1);
/// Longest time without a look at the clock.
const IDLE: Duration = Duration::from_secs(60);
/// Longest time for the hub's last word.
const END_MAX: Duration = Duration::from_secs(5);

type Output = BufWriter<Box<dyn Write>>;

pub(super) fn run(socket: Option<PathBuf>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let path = matches.get_one::<PathBuf>("file").cloned().unwrap_or_default();
    let wait = matches.get_flag("wait");
    let seconds = matches.get_one::<u64>("seconds").copied();
    let until = seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)));
    // Before the file is opened: it stays as it is if nothing can be captured.
    let first =
        if wait { None } else { Some(hub::begin(socket.as_ref()).map_err(|refused| refused.failure)?) };
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    let file = open(&path).and_then(File::begin).map_err(failed)?;
    let (sender, inputs) = sync_channel(INPUTS_MAX);
    let no_thread = |error: io::Error| format!("no thread can be started: {error}");
    hub::heed_signals(sender.clone()).map_err(no_thread)?;
    hub::listen(first, socket, wait, sender).map_err(no_thread)?;
    let count = matches.get_one::<u64>("count").copied();
    let mut capture = Capture::new(file, name(&path), count);
    let end = capture.go_on(&inputs, until, wait).and_then(|end| {
        capture.finish(&inputs)?;
        Ok(end)
    });
    capture.report();
    match end {
        Ok(End::Wanted) => Ok(Exit::Done),
        Ok(End::Gone(why)) => {
            Err(format!("{why}; the capture ended with it (--wait waits for the next hub)").into())
        }
        // Whoever reads has seen enough, as `head` and Wireshark do.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(error) => Err(failed(error).into()),
    }
}

fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard output".into() } else { path.display().to_string() }
}

/// What goes over the line is for this user's eyes only, as the hub's socket is.
fn open(path: &Path) -> io::Result<Output> {
    let out: Box<dyn Write> = if path == Path::new("-") {
        if io::stdout().is_terminal() {
            let what = "a capture is no text for a terminal; name a file, or pipe it to `wireshark -k -i -`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Box::new(io::stdout())
    } else {
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(OWN).open(path)?;
        // One that was there has the mode that it had.
        if file.metadata()?.is_file() {
            file.set_permissions(Permissions::from_mode(OWN))?;
        }
        Box::new(file)
    };
    Ok(BufWriter::new(out))
}

/// Why a capture ends without an error.
enum End {
    /// By a signal, or by what the command line says.
    Wanted,
    /// The hub is gone; why.
    Gone(String),
}

struct Capture {
    file: File<Output>,
    /// What the user calls it.
    name: String,
    begun: u64,
    /// Packets that may still be written.
    left: Option<u64>,
    written: u64,
    /// Lost before the next packet.
    lost_before: u64,
    /// Lost in all.
    lost: u64,
    /// Lost in all of the hubs before this one.
    lost_to_others: u64,
    /// Of the hub that is heard now.
    hub: Option<Ender>,
    had_hub: bool,
    flushed: Instant,
}

impl Capture {
    fn new(file: File<Output>, name: String, left: Option<u64>) -> Self {
        Self {
            file,
            name,
            begun: now(),
            left,
            written: 0,
            lost_before: 0,
            lost: 0,
            lost_to_others: 0,
            hub: None,
            had_hub: false,
            flushed: Instant::now(),
        }
    }

    /// Writes what comes until there is a reason to end.
    fn go_on(&mut self, inputs: &Receiver<Input>, until: Option<Instant>, wait: bool) -> io::Result<End> {
        // What stands before the first packet is to be seen at once.
        self.flush()?;
        while self.left != Some(0) {
            let left = until.map_or(IDLE, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            let input = match inputs.try_recv() {
                Ok(input) => Ok(input),
                Err(_) => {
                    self.flush()?;
                    inputs.recv_timeout(left.min(IDLE))
                }
            };
            match input {
                Ok(Input::Gone(why)) if !wait => return Ok(End::Gone(why)),
                Ok(Input::Signal) => break,
                Ok(input) => self.take(input)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(End::Gone("nothing can come any more".into()));
                }
            }
            if self.flushed.elapsed() >= FLUSH_AFTER {
                self.flush()?;
            }
        }
        Ok(End::Wanted)
    }

    /// Has the hub end its capture, writes what it has seen until then, and closes the file.
    fn finish(&mut self, inputs: &Receiver<Input>) -> io::Result<()> {
        let give_up = Instant::now() + END_MAX;
        // If the hub is gone there is no last word.
        let mut open = self.hub.as_mut().is_some_and(|hub| hub.end().is_ok());
        while open {
            match inputs.recv_timeout(give_up.saturating_duration_since(Instant::now())) {
                Ok(Input::Ended(lost)) => {
                    self.lost = self.lost.max(self.lost_to_others + lost);
                    open = false;
                }
                Ok(Input::Gone(_)) | Err(_) => open = false,
                Ok(input) => self.take(input)?,
            }
        }
        self.file.statistics(&Statistics {
            unix_ns: [self.begun, now()],
            received: self.written + self.lost,
            lost: self.lost,
        })?;
        self.flush()
    }

    fn take(&mut self, input: Input) -> io::Result<()> {
        match input {
            Input::Begun(ender) => {
                self.hub = Some(ender);
                if std::mem::replace(&mut self.had_hub, true) {
                    eprintln!("askr-bridge: a hub is there again, the capture goes on");
                    self.write(&Owned::resumed(now()))?;
                } else {
                    eprintln!("askr-bridge: capturing the frames into {}; Ctrl-C ends it", self.name);
                }
            }
            Input::Captured(Captured::Lost(count)) => {
                (self.lost, self.lost_before) = (self.lost + count, self.lost_before + count);
                eprintln!(
                    "askr-bridge: {count} frames were lost: this program, or who reads from it, is too slow"
                );
            }
            Input::Captured(captured) => {
                if let Captured::Link { door, up, .. } = captured {
                    let what = if up { "was made" } else { "ended" };
                    eprintln!("askr-bridge: the connection to {door} {what}");
                }
                if let Some(packet) = Owned::of(&captured) {
                    self.write(&packet)?;
                }
            }
            Input::Gone(why) => {
                eprintln!("askr-bridge: {why}; waiting for the next one");
                (self.hub, self.lost_to_others) = (None, self.lost);
            }
            Input::NoHub(why) => eprintln!("askr-bridge: {why}; waiting for a hub, Ctrl-C ends it"),
            Input::Ended(_) | Input::Signal => {}
        }
        Ok(())
    }

    fn write(&mut self, packet: &Owned) -> io::Result<()> {
        if self.left == Some(0) {
            return Ok(());
        }
        self.file.packet(&packet.packet(self.lost_before))?;
        self.lost_before = 0;
        self.written += 1;
        self.left = self.left.map(|left| left - 1);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushed = Instant::now();
        self.file.flush()
    }

    fn report(&self) {
        eprintln!("askr-bridge: {} packets were captured, {} were lost", self.written, self.lost);
    }
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}
