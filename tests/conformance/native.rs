//! The same programs on this machine.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::common::PATIENCE;
use crate::unhex;

/// Ends with its test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // Fails when it has ended by itself, as it should.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program in an empty directory; returns what it showed. It ends itself when it hangs.
pub(crate) fn run(program: &Path) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(program);
    command.current_dir(&directory).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut program = Program(command.spawn().expect("the program"));
    let mut shown = Vec::new();
    program.0.stdout.take().expect("a pipe").read_to_end(&mut shown).expect("its output");
    String::from_utf8_lossy(&shown).into_owned()
}

/// Runs a program that takes a pseudo terminal as its own, and types what it asks for.
pub(crate) fn run_on_terminal(program: &Path) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let ours =
        openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("pseudo terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("pseudo terminal");
    let name = ptsname(&ours, Vec::new()).expect("its name").into_string().expect("a path");
    // As long as somebody has it open, its other end can be read.
    let _device = File::options().read(true).write(true).open(&name).expect("its device");
    let mut command = Command::new(program);
    command.arg(&name).current_dir(&directory).stdin(Stdio::null()).stdout(Stdio::null());
    let _program = Program(command.spawn().expect("the program"));
    let mut keyboard = File::from(ours);
    let shown = read_lines(keyboard.try_clone().expect("descriptor"));
    let until = Instant::now() + PATIENCE;
    let mut all = String::new();
    loop {
        let line = match shown.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => panic!("no end: {all}"),
        };
        if let Some(digits) = line.strip_prefix("type: ") {
            keyboard.write_all(&unhex(digits.trim_end())).expect("typing");
        }
        all.push_str(&line);
        if line.starts_with("the end:") {
            return all;
        }
    }
}

/// The lines of a terminal as they come, on a thread of its own.
fn read_lines(mut terminal: File) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        let (mut line, mut byte) = (Vec::new(), [0]);
        while let Ok(1) = terminal.read(&mut byte) {
            line.push(byte[0]);
            if byte[0] == b'\n'
                && sender.send(String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned()).is_err()
            {
                return;
            }
        }
    });
    lines
}
