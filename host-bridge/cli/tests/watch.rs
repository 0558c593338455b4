//! `askr-bridge watch` in lines, as a file, a pipe or a program gets them.

#[allow(dead_code, reason = "this file uses a part of it")]
#[path = "../../tests/hub/bench.rs"]
mod bench;
#[allow(dead_code, reason = "this file uses a part of it")]
#[path = "../../tests/hub/guest/mod.rs"]
mod guest;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use askr_wire::code::{DECISION_GENERIC, DECISION_NATURAL, EVENT_EXIT, EVENT_FAULT, EVENT_SPAWN};
use host_bridge::Hub;
use host_bridge::link::Door;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::bench::{Bench, until};
use crate::guest::{Guest, PATIENCE};

/// The program, with its lines as they come.
struct Watch {
    child: Child,
    lines: Receiver<String>,
    /// All that came.
    seen: Vec<String>,
}

impl Watch {
    fn start(socket: &Path, options: &[&str]) -> Self {
        let mut child = command(socket, options).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                // Nobody listens once the test is over.
                let _ = sender.send(line.unwrap());
            }
        });
        Self { child, lines, seen: Vec::new() }
    }

    /// The next line with this in it.
    #[track_caller]
    fn line(&mut self, part: &str) -> String {
        let give_up = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(give_up.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(part) {
                        return line;
                    }
                }
                Err(error) => panic!("no {part:?}: {error}; so far {:#?}", self.seen),
            }
        }
    }

    #[track_caller]
    fn json(&mut self, part: &str) -> Value {
        serde_json::from_str(&self.line(part)).unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        until("the end of watch", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(socket: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_askr-bridge"));
    command.arg("--socket").arg(socket).arg("watch").args(options);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// What stands after the time of day.
fn rest(line: &str) -> &str {
    let (time, rest) = line.split_once("  ").unwrap();
    let shape: String =
        time.chars().map(|symbol| if symbol.is_ascii_digit() { '0' } else { symbol }).collect();
    assert_eq!(shape, "00:00:00", "{line}");
    rest
}

#[test]
fn events_and_asks_come_in_lines_without_anything_a_terminal_obeys() {
    let bench = Bench::new();
    let mut watch = Watch::start(&bench.socket, &["--stats", "0"]);
    assert_eq!(rest(&watch.line("hub")), format!("hub       connected at {}", bench.socket.display()));
    assert_eq!(
        rest(&watch.line("in session")),
        format!("guest     in session: boot {} through COM2", "01".repeat(16))
    );
    bench.guest.event(EVENT_SPAWN, 9, b"p");
    assert_eq!(rest(&watch.line("spawn")), "spawn     p[9]              by process 1");
    bench.guest.event(EVENT_EXIT, 9, b"\x1b[2J\xe2\x80\xae\xff");
    let exit = watch.line("exit");
    assert!(exit.ends_with("with 3"), "{exit}");
    bench.guest.event(EVENT_EXIT, 9, "\u{1b}[2J\u{202e}\u{9b}".as_bytes());
    let exit = watch.line("exit");
    assert_eq!(rest(&exit), r"exit      \x1b[2J\u{202e}\u{9b}[9]  with 3");
    bench.guest.event(EVENT_EXIT, 9, br"\x1b");
    assert_eq!(
        rest(&watch.line("exit")),
        r"exit      \\x1b[9]          with 3",
        "not to be taken for the byte"
    );
    bench.guest.event(EVENT_FAULT, 9, b"p");
    assert_eq!(rest(&watch.line("fault")), "fault     p[9]              SEGV at 0x0, rip 0x401000");

    let asked = bench.guest.ask_among(DECISION_GENERIC, b"which\nway?", &[b"left", b"right"], PATIENCE);
    let line = watch.line("ask");
    let name = "01010101:0";
    let head = format!(r#"ask       /bin/ask[7]       {name}  "which\nway?"  takes left or right  until "#);
    assert!(rest(&line).starts_with(&head), "{line}");
    let left = line.rsplit_once('(').unwrap().1.strip_suffix(" s)").unwrap().parse::<u64>().unwrap();
    assert!((1..=PATIENCE.as_secs()).contains(&left), "{line}");
    bench.call(json!({ "op": "ask.answer", "ask": name, "answer": "left" })).unwrap();
    let line = watch.line("answered");
    let head = format!(r#"answered  /bin/ask[7]       {name}  "left"  by a client  after "#);
    assert!(rest(&line).starts_with(&head), "{line}");
    asked.outcome();

    watch.signal(Signal::INT);
    assert_eq!(watch.wait().code(), Some(130));
    let all = watch.seen.concat();
    assert!(!all.chars().any(|symbol| symbol.is_control() || symbol == '\u{202e}'), "{all:?}");
}

#[test]
fn the_built_in_agent_answers_though_somebody_watches() {
    let bench = Bench::with(Guest::new(), true);
    let mut watch = Watch::start(&bench.socket, &["--stats", "0"]);
    watch.line("in session");
    let asked = bench.guest.ask(DECISION_NATURAL, b"list my files", PATIENCE);
    assert!(watch.line("ask").contains("list my files"));
    assert!(watch.line("answered").contains("by the built-in agent"));
    asked.outcome();
}

#[test]
fn it_waits_for_a_hub_and_for_the_next_one_and_tells_what_it_missed() {
    let bench = Bench::new();
    let (guest, socket) = (bench.guest.clone(), bench.socket.clone());
    let folder = tempfile::tempdir().unwrap();
    let moved = folder.path().join("later.sock");
    let mut watch = Watch::start(&moved, &["--stats", "0"]);
    assert!(watch.line("waiting").contains("no hub is running at"));
    std::os::unix::fs::symlink(&socket, &moved).unwrap();
    watch.line("connected at");
    guest.event(EVENT_SPAWN, 1, b"before");
    watch.line("before");

    let mut bench = bench;
    drop(bench.hub.take());
    assert!(watch.line("waiting").contains("ended"));
    guest.event(EVENT_SPAWN, 2, b"meanwhile");
    let hub = Hub::start_on(guest.connect(), &socket, false).unwrap();
    watch.line("connected at");
    assert!(watch.line("spawn").contains("meanwhile[2]"), "{:#?}", watch.seen);
    guest.event(EVENT_SPAWN, 3, b"after");
    assert!(watch.line("spawn").contains("after[3]"), "each once: {:#?}", watch.seen);

    // More than the guest keeps.
    drop(hub);
    watch.line("waiting");
    for _ in 0..2000 {
        guest.event(EVENT_SPAWN, 4, b"many");
    }
    let _hub = Hub::start_on(guest.connect(), &socket, false).unwrap();
    let lost = watch.line("lost");
    let count: u64 = rest(&lost).split_whitespace().nth(1).unwrap().parse().unwrap();
    let shown = (0..2000 - count).filter(|_| watch.line("spawn").contains("many[4]")).count() as u64;
    assert_eq!(count + shown, 2000);
    assert!(lost.contains("events from number 3 on"), "{lost}");
}

#[test]
fn a_guest_that_restarts_and_one_that_is_gone_are_told() {
    let bench = Bench::new();
    let mut watch = Watch::start(&bench.socket, &["--stats", "0"]);
    watch.line("in session");
    let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    watch.line("ask");
    bench.guest.reboot(2);
    watch.line("restarted: boot 0202");
    drop(asked);
    bench.guest.lock().powered = false;
    bench.guest.unplug();
    watch.line("gone: no door is open");
    bench.guest.lock().powered = true;
    watch.line("answers again through COM2");
    assert_eq!(watch.seen.iter().filter(|line| line.contains("the guest has restarted")).count(), 1);
}

#[test]
fn the_door_that_the_guest_is_reached_through_is_told_when_it_changes() {
    let bench = Bench::with_both_doors();
    let mut watch = Watch::start(&bench.socket, &["--stats", "0"]);
    watch.line("through the data door");
    bench.guest.lock().has_data = false;
    bench.guest.unplug_at(Door::Data);
    watch.line("no answer through the data door any more");
    assert_eq!(rest(&watch.line("COM2")), "guest     goes on through COM2");
    bench.guest.lock().has_data = true;
    assert_eq!(rest(&watch.line("door")), "guest     goes on through the data door");
}

#[test]
fn json_lines_are_those_of_the_hub_with_the_time() {
    let bench = Bench::new();
    let mut watch = Watch::start(&bench.socket, &["--json", "--stats", "1", "--since-boot"]);
    assert_eq!(watch.json("\"hub\":")["hub"]["socket"], bench.socket.to_str().unwrap());
    assert_eq!(watch.json("\"state\":")["boot"], "01".repeat(16));
    bench.guest.event(EVENT_SPAWN, 9, "\u{9b}".as_bytes());
    let event = watch.json("\"event\":");
    assert_eq!((&event["event"]["kind"], &event["event"]["name"]), (&json!("spawn"), &json!("\u{9b}")));
    assert!(event["time"].as_str().unwrap().len() >= "2026-12-01T10:29:10.000Z".len());
    let stats = watch.json("\"stats\":");
    assert!(stats["stats"]["link"]["frames_in"].as_u64().unwrap() > 0);
    assert!(stats["stats"]["ping"]["round_trip_us"].is_u64());
    watch.signal(Signal::TERM);
    assert_eq!(watch.wait().code(), Some(143));
}

#[test]
fn link_statistics_come_in_lines_now_and_then() {
    let bench = Bench::new();
    let mut watch = Watch::start(&bench.socket, &["--stats", "1"]);
    let line = watch.line("link");
    let words = rest(&line).strip_prefix("link      up ").unwrap();
    assert!(words.contains(" ms, no faults, in ") || words.contains(" sent again, in "), "{line}");
    bench.guest.babble(b"\x01nonsense\0");
    watch.line("1 broken");
}

/// The output, after the last line that comes by itself.
fn read_up_to_session(child: &mut Child) -> BufReader<ChildStdout> {
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("in session") {
        line.clear();
        if output.buffer().is_empty() {
            let mut readable = [PollFd::new(output.get_ref(), PollFlags::IN)];
            let patience = Timespec::try_from(PATIENCE).unwrap();
            assert_eq!(poll(&mut readable, Some(&patience)), Ok(1), "no line says so");
        }
        // Each line is written at once.
        assert!(output.read_line(&mut line).unwrap() > 0, "it ended");
    }
    output
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_well_and_one_that_reads_nothing_does_not_keep_it() {
    let bench = Bench::new();
    // Also while nothing happens.
    for events in [true, false] {
        let mut child = command(&bench.socket, &["--stats", "0"]).spawn().unwrap();
        read_up_to_session(&mut child);
        let mut status = None;
        until("the end after its reader", || {
            if events {
                bench.guest.event(EVENT_SPAWN, 1, b"p");
            }
            status = child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(status.unwrap().code(), Some(0));
    }

    let mut child = command(&bench.socket, &["--stats", "0"]).spawn().unwrap();
    let _unread = read_up_to_session(&mut child);
    // More than the pipe holds: it hangs in write(2), system call 1, on its output (proc_pid_syscall(5)).
    let under_way = format!("/proc/{}/syscall", child.id());
    until("a full pipe", || {
        bench.guest.event(EVENT_SPAWN, 1, b"p");
        fs::read_to_string(&under_way).unwrap().starts_with("1 0x1 ")
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut status = None;
    until("the end though nobody reads", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().code(), Some(130));
}
