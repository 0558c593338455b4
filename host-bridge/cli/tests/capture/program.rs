//! How a capture begins and ends, and what a slow one does to others.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use askr_wire::{FRAME_MAX, Frame, FrameType, encode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::bench::{Bench, ask, until};
use crate::guest::PATIENCE;
use crate::line::{Capture, Deadline, Line};
use crate::pcapng::File;

/// Longer than the hub waits for a client that does not read.
const STOPPED: Duration = Duration::from_secs(7);
/// The direction of a packet.
const TO_HOST: u8 = 2;

fn capture(bench: &Bench, words: &[&str]) -> Capture {
    assert!(bench.call(json!({ "op": "ping" })).is_ok());
    Capture::start(&bench.socket, words)
}

#[test]
fn it_ends_after_so_many_packets() {
    let bench = Bench::new();
    assert!(bench.call(json!({ "op": "ping" })).is_ok());
    let mut capture = Capture::launch_over("old", &bench.socket, &["--count", "3"]);
    capture.wait_for("capturing the frames");
    for _ in 0..3 {
        assert!(bench.call(json!({ "op": "ping" })).is_ok());
    }
    let ended = capture.ended();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    let file = File::read(&fs::read(&ended.file).unwrap());
    let mode = fs::metadata(&ended.file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the lines are for their owner only");
    assert_eq!((file.packets.len(), file.statistics.map(|(_, lost)| lost)), (3, Some(0)));
    assert!(ended.said.contains("3 packets were captured, 0 were lost"), "{}", ended.said);
}

#[test]
fn it_ends_after_so_many_seconds_also_when_nothing_happens() {
    let (line, begin) = (Line::new(), Instant::now());
    let ended = Capture::start(&line.socket(), &["--seconds", "1"]).ended();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    assert!(begin.elapsed() >= Duration::from_secs(1));
    assert!(File::read(&fs::read(&ended.file).unwrap()).statistics.is_some());
}

#[test]
fn it_ends_with_the_hub_and_says_so() {
    let mut bench = Bench::new();
    let capture = capture(&bench, &[]);
    drop(bench.hub.take());
    let ended = capture.ended();
    assert_eq!(ended.code, Some(1));
    assert!(ended.said.contains("the hub ended") && ended.said.contains("--wait"), "{}", ended.said);
    assert!(File::read(&fs::read(&ended.file).unwrap()).statistics.is_some());
}

#[test]
fn what_is_captured_can_be_read_at_once_and_a_reader_that_has_enough_ends_it() {
    let bench = Bench::new();
    assert!(bench.call(json!({ "op": "ping" })).is_ok());
    let mut program = Command::new(env!("CARGO_BIN_EXE_askr-bridge"));
    program.arg("--socket").arg(&bench.socket).args(["capture", "-"]);
    let mut child = program.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    // The pings alone would take longer to fill a buffer.
    let deadline = Deadline::of(&child, PATIENCE);
    let mut header = [0; 8];
    stdout.read_exact(&mut header).unwrap();
    assert_eq!(header[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    // All of what is before the first packet, and then a ping and its answer.
    let mut bytes = header.to_vec();
    while File::read(whole_blocks(&bytes)).packets.len() < 2 {
        let mut piece = [0; 4096];
        let count = stdout.read(&mut piece).unwrap();
        assert!(count > 0);
        bytes.extend(&piece[..count]);
    }
    drop(stdout);
    let mut status = None;
    until("the end after its reader", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    drop(deadline);
    assert_eq!(status.unwrap().code(), Some(0));
}

#[test]
fn a_second_signal_ends_it_though_nobody_reads_what_it_writes() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let line = Line::new();
        let mut port = line.port();
        let mut program = Command::new(env!("CARGO_BIN_EXE_askr-bridge"));
        program.arg("--socket").arg(line.socket()).args(["capture", "-"]);
        let mut child = program.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        // More than the pipe holds: it hangs in write(2), system call 1, on its output (proc_pid_syscall(5)).
        let under_way = format!("/proc/{}/syscall", child.id());
        let mut sent = 0;
        until("a full pipe", || {
            (0..100).for_each(|_| port.write_all(&frame(sent)).unwrap());
            sent += 100;
            fs::read_to_string(&under_way).unwrap().starts_with("1 0x1 ")
        });
        let mut status = None;
        // Two that come at once may be one.
        until("the end though nobody reads", || {
            kill_process(Pid::from_child(&child), signal).unwrap();
            status = child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(status.unwrap().code(), Some(code));
    }
}

/// As much of a file as is whole.
fn whole_blocks(bytes: &[u8]) -> &[u8] {
    let mut at = 0;
    while let Some(length) = bytes.get(at + 4..at + 8) {
        let next = at + u32::from_le_bytes(length.try_into().unwrap()) as usize;
        if next > bytes.len() {
            break;
        }
        at = next;
    }
    &bytes[..at]
}

#[test]
fn a_capture_that_stands_still_harms_nobody_and_knows_what_it_missed() {
    let line = Line::new();
    let mut port = line.port();
    let capture = Capture::start(&line.socket(), &[]);
    capture.signal(Signal::STOP);
    let mut client = host_bridge::client::HubClient::connect(&line.socket()).unwrap();
    let (begin, mut sent) = (Instant::now(), 0_u32);
    while begin.elapsed() < STOPPED || sent < 40_000 {
        for _ in 0..1000 {
            port.write_all(&frame(sent)).unwrap();
            sent += 1;
        }
        assert!(ask(&mut client, json!({ "op": "status" })).is_ok());
    }
    capture.signal(Signal::CONT);
    // The hub tells of what was lost before the next frame that there is room for.
    let (last, give_up) = (frame(sent), Instant::now() + PATIENCE);
    while !contains(&capture.bytes(), &last[1..last.len() - 1]) {
        assert!(Instant::now() < give_up, "nothing is captured any more");
        port.write_all(&last).unwrap();
        sent += 1;
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = capture.interrupt();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    assert!(ended.said.contains("were lost: "), "{}", ended.said);
    let file = File::read(&fs::read(&ended.file).unwrap());
    let (received, lost) = file.statistics.unwrap();
    assert!(lost > 0);
    assert_eq!(received, file.packets.len() as u64 + lost);
    assert_eq!(
        file.packets.iter().map(|packet| packet.lost).sum::<u64>(),
        lost,
        "each is told with a packet"
    );
    // All that was sent is there or counted; what the hub sent itself may be among the lost ones.
    let from_guest = file.packets.iter().filter(|packet| packet.bytes[1] == TO_HOST).count() as u64;
    assert!(from_guest + lost >= u64::from(sent), "{from_guest} + {lost} of {sent}");
    assert!(file.packets.is_sorted_by_key(|packet| packet.unix_ns));
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|bytes| bytes == wanted)
}

/// An event of a base peer's, which nobody waits for.
fn frame(number: u32) -> Vec<u8> {
    let frame = Frame { kind: FrameType::Event, seq: number, code: 1, session: None, payload: &[7; 500] };
    let mut bytes = vec![0; FRAME_MAX];
    let len = encode(&frame, &mut bytes).unwrap();
    bytes.truncate(len);
    bytes
}
