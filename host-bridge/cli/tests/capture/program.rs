//! How a capture begins and ends, and what a slow one does to others.

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use askr_wire::{FRAME_MAX, Frame, FrameType, encode};
use host_bridge::Hub;
use serde_json::json;

use crate::bench::{Bench, ask};
use crate::guest::{Guest, PATIENCE};
use crate::line::{Capture, Line};
use crate::pcapng::File;

/// Longer than the hub waits for a client that does not read.
const STOPPED: Duration = Duration::from_secs(7);
/// What marks a packet: the direction, or that the capture goes on with another hub.
const TO_HOST: u8 = 2;
const RESUMED: u8 = 18;

fn capture(bench: &Bench, words: &[&str]) -> Capture {
    assert!(bench.call(json!({ "op": "ping" })).is_ok());
    Capture::start(&bench.socket, words)
}

#[test]
fn it_ends_after_so_many_packets() {
    let bench = Bench::new();
    let capture = capture(&bench, &["--count", "3"]);
    for _ in 0..3 {
        assert!(bench.call(json!({ "op": "ping" })).is_ok());
    }
    let ended = capture.ended();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    let file = File::read(&fs::read(&ended.file).unwrap());
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
fn it_waits_for_a_hub_and_for_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let mut capture = Capture::launch(&socket, &["--wait"]);
    capture.wait_for("waiting for a hub");
    let guest = Guest::new();
    let first = Hub::start_on(guest.connect(), &socket, false).unwrap();
    capture.wait_for("capturing the frames");
    drop(first);
    capture.wait_for("waiting for the next one");
    let _second = Hub::start_on(guest.connect(), &socket, false).unwrap();
    capture.wait_for("the capture goes on");
    let ended = capture.interrupt();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    let file = File::read(&fs::read(&ended.file).unwrap());
    let markers = file.packets.iter().filter(|packet| packet.bytes == [1, 0, RESUMED, 0]);
    assert_eq!(markers.count(), 1);
}

#[test]
fn what_is_captured_can_be_read_at_once_and_a_reader_that_has_enough_ends_it() {
    let bench = Bench::new();
    assert!(bench.call(json!({ "op": "ping" })).is_ok());
    let mut program = Command::new(env!("CARGO_BIN_EXE_askr-bridge"));
    program.arg("--socket").arg(&bench.socket).args(["capture", "-"]);
    let mut child = program.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
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
    assert_eq!(child.wait().unwrap().code(), Some(0));
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
fn without_a_hub_a_file_that_is_there_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.pcapng");
    fs::write(&file, "precious").unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_askr-bridge"));
    program.arg("--socket").arg(folder.path().join("nobody")).arg("capture").arg(&file);
    let output = program.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no hub is running"));
    assert_eq!(fs::read(&file).unwrap(), b"precious");
}

#[test]
fn a_capture_that_stands_still_harms_nobody_and_knows_what_it_missed() {
    let line = Line::new();
    let mut port = line.port();
    let capture = Capture::start(&line.socket(), &[]);
    capture.signal("STOP");
    let mut client = host_bridge::client::HubClient::connect(&line.socket()).unwrap();
    let (begin, mut sent) = (Instant::now(), 0_u32);
    while begin.elapsed() < STOPPED || sent < 40_000 {
        for _ in 0..1000 {
            port.write_all(&frame(sent)).unwrap();
            sent += 1;
        }
        assert!(ask(&mut client, json!({ "op": "status" })).is_ok());
    }
    capture.signal("CONT");
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
