//! `--run`: the line's output and status, byte for byte, and a status of its own when there is none.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::support::{Runner, SOON, askr, await_that, complaints, file, finish, is_dead, read_all};

/// Status when there is none of the line.
const NO_STATUS: Option<i32> = Some(125);

#[test]
fn the_status_of_the_line_is_that_of_the_runner() {
    // The encoding of all of them is a unit test of `qemu/kernel_log.rs`.
    for status in [0, 1, 2, 77, 101, 125, 126, 127, 128, 137, 254, 255] {
        let finished = finish(askr().args(["--run", &format!("exit {status}")]));
        assert_eq!(finished.status.code(), Some(status), "{}", complaints(&finished));
        assert_eq!(finished.stdout, b"");
    }
}

#[test]
fn a_line_that_a_signal_ends_has_128_and_its_number() {
    let finished = finish(askr().args(["--run", "echo before; /bin/crash"]));
    assert_eq!(finished.status.code(), Some(128 + 11));
    assert!(finished.stdout.starts_with(b"before\n"));
    // The kernel's report is apart.
    assert!(complaints(&finished).contains("ended by signal 11: page fault"), "{}", complaints(&finished));
    assert!(!String::from_utf8_lossy(&finished.stdout).contains("page fault"));
}

/// A file of the initrd, as build.rs packed it.
fn packed(path: &str) -> Vec<u8> {
    let initrd = std::fs::File::open(askr::INITRD).expect("initrd");
    let mut archive = tar::Archive::new(initrd);
    let mut entry = archive
        .entries()
        .expect("entries")
        .map(|entry| entry.expect("entry"))
        .find(|entry| entry.path_bytes() == path.as_bytes())
        .expect("the file");
    let mut content = Vec::new();
    entry.read_to_end(&mut content).expect("content");
    content
}

#[test]
fn output_is_the_file_byte_for_byte_on_every_machine() {
    let expected = packed("bin/hello");
    for machine in ["q35", "pc", "microvm"] {
        let finished = finish(askr().args(["--machine", machine, "--run", "cat /bin/hello"]));
        assert_eq!(finished.status.code(), Some(0), "{}", complaints(&finished));
        assert!(finished.stdout == expected, "{machine}: {} bytes", finished.stdout.len());
    }
}

/// Bytes in which every cut and every change shows.
fn pattern(length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

#[test]
fn much_output_arrives_whole() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let content = pattern(2 << 20);
    let much = file(folder.path(), "much", &content);
    let finished = finish(askr().args(["--with", &format!("{much}:/much"), "--run", "cat /much; exit 9"]));
    assert_eq!(finished.status.code(), Some(9));
    assert!(finished.stdout == content, "{} bytes of {}", finished.stdout.len(), content.len());
}

#[test]
fn a_reader_that_pauses_at_the_end_loses_nothing() {
    /// As much as the pipes on the way hold, so that the end of the output is still in the guest when it ends.
    const ALL_PIPES: usize = 135_000;
    /// Longer than a machine that is switched off would wait without a host that waits.
    const PAUSE: Duration = Duration::from_secs(3);

    let folder = tempfile::tempdir().expect("temporary folder");
    let content = pattern(ALL_PIPES);
    let much = file(folder.path(), "much", &content);
    let mut command = askr();
    command.args(["--with", &format!("{much}:/much"), "--run", "cat /much"]).stdout(Stdio::piped());
    let mut runner = Runner::start(&mut command);
    thread::sleep(PAUSE);
    let output = read_all(runner.0.stdout.take().expect("a pipe")).recv_timeout(SOON).expect("output");
    assert_eq!(runner.wait().code(), Some(0));
    assert!(output == content, "{} bytes of {}", output.len(), content.len());
}

#[test]
fn input_is_empty() {
    let mut runner =
        Runner::start(askr().args(["--run", "cat; exit 4"]).stdin(Stdio::piped()).stdout(Stdio::piped()));
    // Fails if the runner is gone already.
    let _ = runner.0.stdin.take().expect("a pipe").write_all(b"not for the line\n");
    let output = read_all(runner.0.stdout.take().expect("a pipe")).recv_timeout(SOON).expect("output");
    assert_eq!(runner.wait().code(), Some(4));
    assert_eq!(output, b"");
}

#[test]
fn signals_end_qemu_and_give_their_status() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut runner = Runner::start(askr().args(["--run", "echo up; spin"]).stdout(Stdio::piped()));
        runner.stdout().wait_for("up\n");
        let qemu = runner.qemu();
        runner.signal(signal);
        assert_eq!(runner.wait().code(), Some(status));
        await_that("QEMU's end", || is_dead(qemu));
    }
}

#[test]
fn a_reader_that_has_enough_ends_it_quietly() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let much = file(folder.path(), "much", &pattern(1 << 20));
    let mut command = askr();
    command.args(["--with", &format!("{much}:/bin/much"), "--run", "cat /bin/much"]);
    let mut runner = Runner::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut stderr = runner.stderr();
    let mut stdout = runner.0.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0; 10]).expect("output");
    let qemu = runner.qemu();
    drop(stdout);
    assert_eq!(runner.wait().code(), Some(128 + Signal::PIPE.as_raw()));
    await_that("QEMU's end", || is_dead(qemu));
    stderr.take_rest();
    assert!(!stderr.text.contains("pipe") && !stderr.text.contains("unexpectedly"), "{}", stderr.text);
}

#[test]
fn without_a_status_it_is_125_and_the_reason() {
    let mut command = askr();
    let mut runner =
        Runner::start(command.args(["--run", "echo up; spin"]).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut stderr = runner.stderr();
    runner.stdout().wait_for("up\n");
    runner.kill_qemu();
    stderr.wait_for("QEMU ended unexpectedly (signal: 9 (SIGKILL)) before the line's exit status came");
    assert_eq!(runner.wait().code(), NO_STATUS);

    let finished = finish(askr().args(["--run", "reboot"]));
    assert_eq!(finished.status.code(), NO_STATUS);
    assert!(complaints(&finished).contains("the guest reset itself"), "{}", complaints(&finished));

    let finished = finish(askr().args(["--run", "true", "--with", "no/such/file"]));
    assert_eq!(finished.status.code(), NO_STATUS);
}

#[test]
fn a_run_leaves_no_folder_behind() {
    let runs = || {
        let entries = std::fs::read_dir(askr::state_dir()).expect("state folder").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let mut runner = Runner::start(askr().args(["--run", "echo up; spin"]).stdout(Stdio::piped()));
    runner.stdout().wait_for("up\n");
    let folder = std::fs::read_link(format!("/proc/{}/cwd", runner.qemu())).expect("run folder");
    let name = folder.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    assert!(Path::new(&folder).is_dir() && runs().contains(&name));
    runner.signal(Signal::TERM);
    runner.wait();
    assert!(!runs().contains(&name));
}
