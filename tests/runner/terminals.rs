//! On a terminal: raw while the guest runs, as it was before at every end.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize};

use super::support::{Output, PROMPT, Runner, askr, await_that, is_dead};

const SIZE: Winsize = Winsize { ws_row: 31, ws_col: 97, ws_xpixel: 0, ws_ypixel: 0 };

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
        let mut terminal = Self::start_with(&mut askr());
        terminal.output.wait_for(PROMPT);
        assert!(!terminal.modes().local_modes.contains(LocalModes::ICANON), "raw while the guest runs");
        terminal
    }

    fn start_with(command: &mut Command) -> Self {
        let ours =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("pseudo terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("pseudo terminal");
        let name = ptsname(&ours, Vec::new()).expect("its name").into_string().expect("a path");
        let device = File::options().read(true).write(true).open(name).expect("its device");
        tcsetwinsize(&device, SIZE).expect("size");
        let before = tcgetattr(&device).expect("modes");
        let end = || Stdio::from(OwnedFd::from(device.try_clone().expect("descriptor")));
        let runner = Runner::start(command.stdin(end()).stdout(end()).stderr(end()));
        let keyboard = File::from(ours);
        let output = Output::of(keyboard.try_clone().expect("descriptor"));
        Self { runner, keyboard, output, device, before }
    }

    fn modes(&self) -> Termios {
        tcgetattr(&self.device).expect("modes")
    }

    fn type_keys(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).expect("keys");
    }

    /// Waits for the end and checks that the terminal is as it was and QEMU is gone.
    fn ends_restored(mut self, qemu: i32) -> Option<i32> {
        let status = self.runner.wait();
        self.is_as_before();
        await_that("QEMU's end", || is_dead(qemu));
        status.code()
    }

    fn is_as_before(&self) {
        let after = self.modes();
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(after.input_modes, self.before.input_modes);
        assert_eq!(after.output_modes, self.before.output_modes);
    }
}

#[test]
fn the_terminal_is_restored_when_the_guest_powers_off() {
    let mut terminal = Terminal::start();
    let qemu = terminal.runner.qemu();
    terminal.type_keys(b"poweroff\r");
    assert_eq!(terminal.ends_restored(qemu), Some(0));
}

#[test]
fn the_terminal_is_restored_by_the_escape_key() {
    let mut terminal = Terminal::start();
    let qemu = terminal.runner.qemu();
    terminal.type_keys(b"\x01h");
    terminal.output.wait_for("end QEMU");
    terminal.type_keys(b"\x01x");
    assert_eq!(terminal.ends_restored(qemu), Some(0));
}

#[test]
fn the_terminal_is_restored_by_signals() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let terminal = Terminal::start();
        let qemu = terminal.runner.qemu();
        terminal.runner.signal(signal);
        assert_eq!(terminal.ends_restored(qemu), Some(status));
    }
}

#[test]
fn the_terminal_is_restored_when_qemu_dies() {
    let mut terminal = Terminal::start();
    let qemu = terminal.runner.qemu();
    terminal.runner.kill_qemu();
    terminal.output.wait_for("QEMU ended unexpectedly");
    assert_eq!(terminal.ends_restored(qemu), Some(1));
}

#[test]
fn the_guest_is_told_the_size_of_the_terminal() {
    let terminal = Terminal::start();
    let arguments = terminal.runner.qemu_arguments();
    assert!(arguments.contains(" winsize=31x97 "), "{arguments}");
}

#[test]
fn a_line_leaves_the_terminal_as_it_is() {
    let mut terminal = Terminal::start_with(askr().args(["--run", "echo up; spin"]));
    terminal.output.wait_for("up\r\n");
    terminal.is_as_before();
    let qemu = terminal.runner.qemu();
    terminal.runner.signal(Signal::INT);
    assert_eq!(terminal.ends_restored(qemu), Some(130));
}

#[test]
fn qemu_dies_with_a_runner_that_is_killed() {
    let mut runner = Runner::start(askr().arg("--headless").stdout(Stdio::piped()));
    runner.stdout().wait_for(PROMPT);
    let qemu = runner.qemu();
    assert!(!is_dead(qemu));
    runner.0.kill().expect("kill");
    runner.wait();
    await_that("QEMU's end", || is_dead(qemu));
}
