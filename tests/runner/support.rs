//! The runner as a child process, alone or on a pseudo terminal.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output as Finished, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

pub(crate) const PROMPT: &str = "askr$ ";
/// For anything that must happen.
pub(crate) const SOON: Duration = Duration::from_secs(90);
/// Pause between two looks at something that tells nobody when it changes.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The runner without an agent and without changes to the disk, so that runs side by side share nothing.
pub(crate) fn askr() -> Command {
    let mut command = with_agent();
    command.arg("--no-agent");
    command
}

/// The same with an agent.
pub(crate) fn with_agent() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_askr"));
    command.args(["--accel", "tcg", "--throwaway"]).stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub(crate) fn finish(command: &mut Command) -> Finished {
    let mut runner = Runner::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let stdout = read_all(runner.0.stdout.take().expect("a pipe"));
    let stderr = read_all(runner.0.stderr.take().expect("a pipe"));
    let status = runner.wait();
    let rest = |stream: Receiver<Vec<u8>>| stream.recv_timeout(SOON).expect("the stream's end");
    Finished { status, stdout: rest(stdout), stderr: rest(stderr) }
}

/// Reads a stream to its end, on a thread of its own.
pub(crate) fn read_all(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, all) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a stream");
        // Nobody listens after a deadline.
        let _ = sender.send(bytes);
    });
    all
}

/// What it said on standard error.
pub(crate) fn complaints(finished: &Finished) -> String {
    String::from_utf8_lossy(&finished.stderr).into_owned()
}

pub(crate) fn await_that(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < until, "{what}: not within {SOON:?}");
        thread::sleep(LOOK_AGAIN);
    }
}

/// A runner that ends with its test, passed or failed.
pub(crate) struct Runner(pub(crate) Child);

impl Drop for Runner {
    fn drop(&mut self) {
        // Fails when it ended by itself, as it should.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Runner {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.spawn().expect("runner"))
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        await_that("the runner's end", || {
            status = self.0.try_wait().expect("wait");
            status.is_some()
        });
        status.expect("it ended")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("signal");
    }

    pub(crate) fn stdout(&mut self) -> Output {
        Output::of(self.0.stdout.take().expect("a pipe"))
    }

    pub(crate) fn stderr(&mut self) -> Output {
        Output::of(self.0.stderr.take().expect("a pipe"))
    }

    /// QEMU's process id: the runner's only child.
    pub(crate) fn qemu(&self) -> i32 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.0.id())).expect("threads");
        let children = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
        children.collect::<String>().trim().parse().expect("one child")
    }

    /// QEMU's command line, its words separated by spaces.
    pub(crate) fn qemu_arguments(&self) -> String {
        let words = fs::read(format!("/proc/{}/cmdline", self.qemu())).expect("QEMU runs");
        String::from_utf8_lossy(&words).replace('\0', " ")
    }

    pub(crate) fn kill_qemu(&self) {
        kill_process(Pid::from_raw(self.qemu()).expect("process id"), Signal::KILL).expect("signal");
    }
}

/// Whether the process is gone, or dead and only waits to be collected.
pub(crate) fn is_dead(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.is_empty() || status.contains("State:\tZ")
}

/// Collects what comes out of a stream, on a thread of its own.
pub(crate) struct Output {
    pieces: Receiver<Vec<u8>>,
    pub(crate) text: String,
}

impl Output {
    pub(crate) fn of(mut stream: impl Read + Send + 'static) -> Self {
        let (sender, pieces) = mpsc::channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            // A pseudo terminal ends with EIO.
            while let Ok(count @ 1..) = stream.read(&mut piece) {
                if sender.send(piece[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { pieces, text: String::new() }
    }

    /// Takes in everything up to the stream's end.
    pub(crate) fn take_rest(&mut self) {
        let until = Instant::now() + SOON;
        while let Ok(piece) = self.pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
            self.text.push_str(&String::from_utf8_lossy(&piece));
        }
    }

    pub(crate) fn wait_for(&mut self, part: &str) {
        let until = Instant::now() + SOON;
        while !self.text.contains(part) {
            let left = until.saturating_duration_since(Instant::now());
            match self.pieces.recv_timeout(left) {
                Ok(piece) => self.text.push_str(&String::from_utf8_lossy(&piece)),
                Err(error) => panic!("no {part:?}: {error}; so far: {:?}", self.text),
            }
        }
    }
}

/// Writes a file and gives its path as text.
pub(crate) fn file(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    fs::write(&path, content).expect("file");
    path.to_str().expect("UTF-8").to_owned()
}
