//! `askr-bridge watch`: what happens in the guest and on its link, as it happens.
//!
//! One thread follows the hub's pushed lines ([`source`]), one asks for figures now and then ([`figures`]), one waits
//! for signals; the main thread shows what they tell ([`screen`]), and nothing else writes. What a line says in words is
//! in [`row`] and [`session`], in which order lines are shown after a gap in [`feed`].

mod feed;
mod figures;
mod row;
mod screen;
mod session;
mod source;
mod status_line;

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use host_bridge::client::find_socket;
use serde_json::Value;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::{Exit, Failure};
use screen::Screen;

/// Seconds between two looks at the figures, with a status line and without one.
const ON_TERMINAL: u64 = 2;
const IN_LINES: u64 = 30;
/// Most lines that wait to be shown. When they are not read, the hub ends the connection, and what was missed is fetched
/// or counted later.
const WAITING_MAX: usize = 1024;
/// How often the status line is drawn anew: times in it run on.
const TICK: Duration = Duration::from_secs(1);
/// Longest that a reader of the output may hold up the end.
const END_PATIENCE: Duration = Duration::from_secs(1);

/// What the main thread is told.
enum Message {
    /// Lines to show, see [`feed::Feed::line`].
    Lines(Vec<Value>),
    /// The guest's figures, or why there are none.
    Figures(Result<Value, figures::Missing>),
    /// A signal came.
    End(Exit),
}

/// What the command line says.
struct Options {
    socket: Option<PathBuf>,
    since_boot: bool,
    /// Between two looks at the figures; zero for none.
    every: Duration,
}

/// Shows until a signal comes or nobody reads.
pub(super) fn run(socket: Option<PathBuf>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let json = matches.get_flag("json");
    let mut screen = Screen::new(json);
    let usual = if screen.has_status() { ON_TERMINAL } else { IN_LINES };
    let every = matches.get_one::<u64>("stats").copied().unwrap_or(usual);
    let options =
        Options { socket, since_boot: matches.get_flag("since-boot"), every: Duration::from_secs(every) };
    let (sender, messages) = mpsc::sync_channel(WAITING_MAX);
    watch_signals(sender.clone()).map_err(|error| format!("signals: {error}"))?;
    if !options.every.is_zero() {
        let (socket, every, sender) = (options.socket.clone(), options.every, sender.clone());
        thread::spawn(move || figures::run(&socket, every, &sender));
    }
    let (socket, since_boot) = (options.socket, options.since_boot);
    thread::spawn(move || source::run(&socket, since_boot, &sender));
    match show(&mut screen, &messages) {
        Ok(exit) => Ok(exit),
        // Whoever reads has seen enough, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(error) => Err(format!("stdout: {error}").into()),
    }
}

fn show(screen: &mut Screen, messages: &Receiver<Message>) -> io::Result<Exit> {
    let mut next_tick = Instant::now() + TICK;
    loop {
        match messages.recv_timeout(next_tick.saturating_duration_since(Instant::now())) {
            Ok(Message::Lines(lines)) => screen.show(&lines)?,
            Ok(Message::Figures(figures)) => screen.figures(figures)?,
            Ok(Message::End(exit)) => return screen.end().map(|()| exit),
            Err(RecvTimeoutError::Timeout) => {
                screen.tick()?;
                next_tick = Instant::now() + TICK;
            }
            // The threads never end; without them there is nothing to show.
            Err(RecvTimeoutError::Disconnected) => return screen.end().map(|()| Exit::Failed),
        }
    }
}

/// Ends at the first signal. If the output is not read, so that it cannot be ended well, then without that.
fn watch_signals(messages: SyncSender<Message>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || {
        let exit = match signals.forever().next() {
            Some(SIGTERM) => Exit::Terminated,
            _ => Exit::Interrupted,
        };
        let ending = Instant::now();
        // Full means that nobody takes from it.
        while messages.try_send(Message::End(exit)).is_err() && ending.elapsed() < END_PATIENCE {
            thread::sleep(END_PATIENCE / 20);
        }
        thread::sleep(END_PATIENCE.saturating_sub(ending.elapsed()));
        std::process::exit(exit.code().into());
    });
    Ok(())
}

/// The hub's socket, looked for anew each time: it may appear later.
fn socket(named: &Option<PathBuf>) -> Result<PathBuf, String> {
    find_socket(named.clone()).map_err(|error| error.to_string())
}
