//! What the other options do, and what is said about wrong ones.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

use host_bridge::socket;
use rustix::process::Signal;

use super::support::{PROMPT, Runner, SOON, askr, complaints, file, finish, with_agent};

#[test]
fn without_a_terminal_com1_is_stdin_and_stdout() {
    let mut runner = Runner::start(askr().stdin(Stdio::piped()).stdout(Stdio::piped()));
    let mut output = runner.stdout();
    // All at once and then the end of the input: nothing of it may be lost, and the guest goes on.
    let mut input = runner.0.stdin.take().expect("input");
    input.write_all(b"poweroff\n").expect("input");
    drop(input);
    output.wait_for(PROMPT);
    assert_eq!(runner.wait().code(), Some(0));
}

/// Asks the hub for its status and gives the reply.
fn hub_status(stream: &mut UnixStream) -> String {
    stream.set_read_timeout(Some(SOON)).expect("timeout");
    stream.write_all(b"{\"op\":\"status\"}\n").expect("request");
    let mut reply = String::new();
    BufReader::new(stream).read_line(&mut reply).expect("reply");
    reply
}

#[test]
fn agents_connect_where_it_says_however_long_the_path() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let deep = folder.path().join("d".repeat(100)).join("e".repeat(100));
    std::fs::create_dir_all(&deep).expect("folders");
    for path in [folder.path().join("agent.sock"), deep.join("agent.sock")] {
        let mut command = with_agent();
        command.args(["--headless", "--agent-socket"]).arg(&path);
        let mut runner = Runner::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        runner.stderr().wait_for(&format!("agents connect at {}", path.display()));
        let reply = hub_status(&mut socket::connect(&path).expect("the hub's socket"));
        assert!(reply.contains("\"clients\":1"), "{reply}");
        runner.signal(Signal::TERM);
        assert_eq!(runner.wait().code(), Some(143));
        assert!(!path.exists());
    }
}

#[test]
fn a_line_has_an_agent_too_unless_it_shall_not() {
    const QUESTION: [&str; 2] = ["--run", "ai what can you do"];
    let folder = tempfile::tempdir().expect("temporary folder");
    let finished = finish(with_agent().args(QUESTION).arg("--agent-socket").arg(folder.path().join("s")));
    assert_eq!(finished.status.code(), Some(0), "{}", complaints(&finished));
    assert!(!complaints(&finished).contains("agents connect at"), "{}", complaints(&finished));
    let finished = finish(askr().args(QUESTION));
    assert_eq!(finished.status.code(), Some(1));
    let said = String::from_utf8_lossy(&finished.stdout);
    assert!(said.contains("no agent is attached"), "{said}");
}

#[test]
fn a_taken_agent_socket_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let socket = folder.path().join("agent.sock");
    let _other = std::os::unix::net::UnixListener::bind(&socket).expect("socket");
    let finished = finish(with_agent().args(["--headless", "--agent-socket"]).arg(&socket));
    assert_eq!(finished.status.code(), Some(1));
    let text = complaints(&finished);
    assert!(
        text.contains(socket.to_str().expect("UTF-8")) && text.contains("something else is there"),
        "{text}"
    );
}

#[test]
fn the_guest_has_the_memory_and_the_machine_that_were_asked_for() {
    let mut before = 0;
    for memory in ["48M", "64", "1G"] {
        let finished = finish(askr().args(["--memory", memory, "--run", "free"]));
        let text = String::from_utf8_lossy(&finished.stdout).into_owned();
        let total = text.lines().nth(1).and_then(|line| line.split_whitespace().nth(1)).expect("a number");
        let total: u64 = total.parse().expect("KiB");
        assert!(total > before && total <= 1 << 20, "{memory}: {text}");
        before = total;
    }
    assert!(before > 900 << 10, "{before} KiB of 1 GiB");
    let mut runner =
        Runner::start(askr().args(["--machine", "microvm", "--headless"]).stdout(Stdio::piped()));
    runner.stdout().wait_for(PROMPT);
    let arguments = runner.qemu_arguments();
    assert!(arguments.contains("-machine microvm") && arguments.contains("-accel tcg"), "{arguments}");
    assert!(arguments.contains("-sandbox on") && arguments.contains("-nic none"), "{arguments}");
}

#[test]
fn files_of_the_host_arrive_and_the_later_one_wins() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let first = file(folder.path(), "first", b"the first\n");
    let second = file(folder.path(), "second", b"the second\n");
    let finished = finish(
        askr()
            .args(["--with", &first, "--with", &format!("{second}:/etc/other")])
            .args(["--with", &format!("{first}:/etc/twice"), "--with", &format!("{second}:/etc/twice")])
            .args(["--run", "cat /bin/first /etc/other /etc/twice"]),
    );
    assert_eq!(String::from_utf8_lossy(&finished.stdout), "the first\nthe second\nthe second\n");
}

#[test]
fn a_missing_file_is_an_error_that_names_it() {
    let finished = finish(askr().args(["--with", "no/such/prog"]));
    assert_eq!(finished.status.code(), Some(1));
    assert!(complaints(&finished).contains("no/such/prog: No such file"), "{}", complaints(&finished));
}

#[test]
fn wrong_values_are_told_with_what_would_be_right() {
    for (words, part) in [
        (["--machine", "i440fx"], "[possible values: q35, pc, microvm]"),
        (["--accel", "hvf"], "[possible values: auto, kvm, tcg]"),
        (["--memory", "1M"], "must be between 32M and 1024G"),
        (["--memory", "lots"], "write it like 64M or 1G"),
        (["--with", "a:/../b"], "may not contain empty parts"),
    ] {
        // Without the words that `askr` gives: some options may be given once only.
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_askr"));
        let finished = finish(command.args(words));
        assert_eq!(finished.status.code(), Some(2), "{words:?}");
        assert!(complaints(&finished).contains(part), "{words:?}: {}", complaints(&finished));
        assert!(finished.stdout.is_empty());
    }
}

#[test]
fn kvm_where_there_is_none_is_an_error_and_no_slower_guest() {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").expect("cpuinfo");
    let has_kvm =
        cpu.split_whitespace().any(|flag| flag == "vmx" || flag == "svm") && Path::new("/dev/kvm").exists();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_askr"));
    let finished = finish(command.args(["--accel", "kvm", "--no-agent", "--throwaway", "--run", "exit 6"]));
    if has_kvm {
        assert_eq!(finished.status.code(), Some(6), "{}", complaints(&finished));
    } else {
        assert_eq!(finished.status.code(), Some(125));
        assert!(complaints(&finished).contains("KVM can't be used"), "{}", complaints(&finished));
    }
}

#[test]
#[cfg(not(feature = "disk-image"))]
fn what_needs_the_feature_names_the_command() {
    for words in [&["--boot", "bios"][..], &["--boot", "uefi"], &["image", "out.img"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_askr"));
        let finished = finish(command.args(words));
        assert_eq!(finished.status.code(), Some(1), "{words:?}");
        let said = complaints(&finished);
        assert!(said.contains("cargo run --features disk-image -- "), "{words:?}: {said}");
    }
}
