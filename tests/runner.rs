//! `cargo run`: the terminal is given back at every end, QEMU never outlives the runner, and streams work.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Termios, tcgetattr};

const PROMPT: &str = "askr$ ";
/// For anything that must happen.
const SOON: Duration = Duration::from_secs(60);
/// Pause between two looks at something that tells nobody when it changes.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// Without an agent, so that runs side by side don't share a socket.
const ARGUMENTS: [&str; 3] = ["--accel", "tcg", "--no-agent"];

fn askr() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_askr"));
    command.args(ARGUMENTS);
    command
}

fn await_that(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < until, "{what}: not within {SOON:?}");
        thread::sleep(LOOK_AGAIN);
    }
}

/// A runner that ends with its test, passed or failed.
struct Runner(Child);

impl Drop for Runner {
    fn drop(&mut self) {
        // Fails when it ended by itself, as it should.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(command: &mut Command) -> Runner {
    Runner(command.spawn().expect("runner"))
}

fn wait(Runner(child): &mut Runner) -> ExitStatus {
    let mut status = None;
    await_that("the runner's end", || {
        status = child.try_wait().expect("wait");
        status.is_some()
    });
    status.expect("it ended")
}

/// Collects what comes out of a stream, on a thread of its own.
struct Output {
    pieces: Receiver<Vec<u8>>,
    text: String,
}

impl Output {
    fn of(mut stream: impl Read + Send + 'static) -> Self {
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

    fn wait_for(&mut self, part: &str) {
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

/// The runner on a pseudo terminal.
struct Terminal {
    runner: Runner,
    keyboard: File,
    output: Output,
    device: File,
    before: Termios,
}

impl Terminal {
    /// Starts the runner, and waits for the prompt.
    fn start() -> Self {
        let ours =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("pseudo terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("pseudo terminal");
        let name = ptsname(&ours, Vec::new()).expect("its name").into_string().expect("a path");
        let device = File::options().read(true).write(true).open(name).expect("its device");
        let before = tcgetattr(&device).expect("modes");
        let end = || Stdio::from(OwnedFd::from(device.try_clone().expect("descriptor")));
        let runner = start(askr().stdin(end()).stdout(end()).stderr(end()));
        let keyboard = File::from(ours);
        let mut output = Output::of(keyboard.try_clone().expect("descriptor"));
        output.wait_for(PROMPT);
        let terminal = Self { runner, keyboard, output, device, before };
        assert!(!terminal.modes().local_modes.contains(LocalModes::ICANON), "raw while the guest runs");
        terminal
    }

    fn modes(&self) -> Termios {
        tcgetattr(&self.device).expect("modes")
    }

    fn type_keys(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).expect("keys");
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.runner.0), signal).expect("signal");
    }

    /// Waits for the end and checks that the terminal is as it was.
    fn ends_restored(mut self) -> Option<i32> {
        let status = wait(&mut self.runner);
        let after = self.modes();
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(after.input_modes, self.before.input_modes);
        assert_eq!(after.output_modes, self.before.output_modes);
        status.code()
    }
}

/// QEMU's process id: the runner's only child.
fn qemu_of(Runner(runner): &Runner) -> i32 {
    let tasks = fs::read_dir(format!("/proc/{}/task", runner.id())).expect("threads");
    let children = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
    children.collect::<String>().trim().parse().expect("one child")
}

/// Whether the process is gone, or dead and only waits to be collected.
fn is_dead(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.is_empty() || status.contains("State:\tZ")
}

#[test]
fn the_terminal_is_restored_when_the_guest_powers_off() {
    let mut terminal = Terminal::start();
    terminal.type_keys(b"poweroff\r");
    assert_eq!(terminal.ends_restored(), Some(0));
}

#[test]
fn the_terminal_is_restored_by_the_escape_key() {
    let mut terminal = Terminal::start();
    terminal.type_keys(b"\x01h");
    terminal.output.wait_for("end QEMU");
    terminal.type_keys(b"\x01x");
    assert_eq!(terminal.ends_restored(), Some(0));
}

#[test]
fn the_terminal_is_restored_by_signals() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let terminal = Terminal::start();
        terminal.signal(signal);
        assert_eq!(terminal.ends_restored(), Some(status));
    }
}

#[test]
fn the_terminal_is_restored_when_qemu_dies() {
    let mut terminal = Terminal::start();
    let qemu = Pid::from_raw(qemu_of(&terminal.runner)).expect("process id");
    kill_process(qemu, Signal::KILL).expect("signal");
    terminal.output.wait_for("QEMU ended unexpectedly");
    assert_eq!(terminal.ends_restored(), Some(1));
}

#[test]
fn qemu_dies_with_a_runner_that_is_killed() {
    let mut runner = start(askr().arg("--headless").stdin(Stdio::null()).stdout(Stdio::piped()));
    Output::of(runner.0.stdout.take().expect("output")).wait_for(PROMPT);
    let qemu = qemu_of(&runner);
    assert!(!is_dead(qemu));
    runner.0.kill().expect("kill");
    wait(&mut runner);
    await_that("QEMU's end", || is_dead(qemu));
}

#[test]
fn without_a_terminal_com1_is_stdin_and_stdout() {
    let mut runner = start(askr().stdin(Stdio::piped()).stdout(Stdio::piped()));
    let mut output = Output::of(runner.0.stdout.take().expect("output"));
    // All at once and then the end of the input: nothing of it may be lost, and the guest goes on.
    let mut input = runner.0.stdin.take().expect("input");
    input.write_all(b"poweroff\n").expect("input");
    drop(input);
    output.wait_for(PROMPT);
    assert_eq!(wait(&mut runner).code(), Some(0));
}

#[test]
fn a_taken_agent_socket_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let socket = folder.path().join("agent.sock");
    let _other = std::os::unix::net::UnixListener::bind(&socket).expect("socket");
    let mut command = Command::new(env!("CARGO_BIN_EXE_askr"));
    command.args(["--accel", "tcg", "--headless", "--agent-socket"]).arg(&socket);
    let output = command.stdin(Stdio::null()).output().expect("runner");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.contains(socket.to_str().expect("UTF-8")) && text.contains("something else is there"),
        "{text}"
    );
}

#[test]
fn a_missing_file_is_an_error_that_names_it() {
    let output = askr().args(["--with", "no/such/prog"]).stdin(Stdio::null()).output().expect("runner");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("no/such/prog: No such file"), "{text}");
}
