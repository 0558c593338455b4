//! A hub on a line whose other end is the test's, and captures of it.

use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use host_bridge::Hub;
use host_bridge::link::{Connect, Stream};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::guest::PATIENCE;

/// A hub that connects again and again; nobody answers it but the test.
pub(crate) struct Line {
    _hub: Hub,
    ports: Receiver<UnixStream>,
    folder: TempDir,
}

impl Line {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (sender, ports) = channel();
        let connect = move || {
            let (ours, theirs) = UnixStream::pair()?;
            sender.send(theirs).map_err(|_| std::io::ErrorKind::NotFound)?;
            Stream::try_from(ours)
        };
        let hub =
            Hub::start_on(Box::new(connect) as Connect, &folder.path().join("agent.sock"), false).unwrap();
        Self { _hub: hub, ports, folder }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("agent.sock")
    }

    /// The guest's end of the next connection.
    pub(crate) fn port(&self) -> UnixStream {
        self.ports.recv_timeout(PATIENCE).expect("the hub connects")
    }
}

/// Name of the file that is captured into.
const FILE: &str = "x.pcapng";

/// Longest that a program lives: whoever waits for it in vain sees its end.
const LIFE_MAX: Duration = PATIENCE.saturating_mul(4);

/// Kills the program with this process id after a time, unless this is dropped before. Drop it before the program is waited
/// for: after that the number may be another's.
pub(crate) struct Deadline(#[allow(dead_code, reason = "its end is what is noticed")] Sender<()>);

impl Deadline {
    pub(crate) fn of(child: &Child, life: Duration) -> Self {
        let (sender, dropped) = channel();
        let pid = Pid::from_child(child);
        thread::spawn(move || {
            if dropped.recv_timeout(life) == Err(RecvTimeoutError::Timeout) {
                // It may have ended by itself.
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        Self(sender)
    }
}

/// The program, capturing.
pub(crate) struct Capture {
    child: Child,
    said: BufReader<ChildStderr>,
    file: PathBuf,
    deadline: Option<Deadline>,
    _folder: TempDir,
}

/// How it ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) said: String,
    pub(crate) file: PathBuf,
    _folder: TempDir,
}

impl Capture {
    /// Of the hub at `socket`. It captures when this returns.
    pub(crate) fn start(socket: &Path, words: &[&str]) -> Self {
        let mut capture = Self::launch(socket, words);
        capture.wait_for("capturing the frames");
        capture
    }

    /// Does not wait for anything.
    pub(crate) fn launch(socket: &Path, words: &[&str]) -> Self {
        Self::launch_in(tempfile::tempdir().unwrap(), socket, words)
    }

    /// Into a file that has this in it.
    pub(crate) fn launch_over(content: &str, socket: &Path, words: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), content).unwrap();
        Self::launch_in(folder, socket, words)
    }

    fn launch_in(folder: TempDir, socket: &Path, words: &[&str]) -> Self {
        let file = folder.path().join(FILE);
        let mut bridge = Command::new(env!("CARGO_BIN_EXE_askr-bridge"));
        bridge.arg("--socket").arg(socket).arg("capture").args(words).arg(&file);
        let mut child = bridge.stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let deadline = Some(Deadline::of(&child, LIFE_MAX));
        Self { child, said, file, deadline, _folder: folder }
    }

    /// Reads what it says up to a line with these words.
    pub(crate) fn wait_for(&mut self, words: &str) -> String {
        let mut all = String::new();
        while !all.contains(words) {
            let count = self.said.read_line(&mut all).unwrap();
            assert!(count > 0, "it ended without a word of `{words}`: {all}");
        }
        all
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// What is in the file now.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.file).unwrap()
    }

    /// Waits until the file holds these bytes.
    pub(crate) fn wait_for_bytes(&self, wanted: &[u8]) {
        let give_up = Instant::now() + PATIENCE;
        while !self.bytes().windows(wanted.len()).any(|bytes| bytes == wanted) {
            assert!(Instant::now() < give_up, "these bytes were not captured: {wanted:02x?}");
            std::thread::yield_now();
        }
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn interrupt(self) -> Ended {
        self.signal(Signal::INT);
        self.ended()
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> Ended {
        let mut said = String::new();
        while self.said.read_line(&mut said).unwrap() > 0 {}
        self.deadline = None;
        let code = self.child.wait().unwrap().code();
        let folder = std::mem::replace(&mut self._folder, tempfile::tempdir().unwrap());
        Ended { code, said, file: self.file.clone(), _folder: folder }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.deadline = None;
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
