//! UPTIME, TIME, MEMINFO and INFO.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use askr::Machine;
use askr_wire::message::{Counter, Fact, PsRequest, TimeReply, UptimeReply};
use askr_wire::status::Status;
use askr_wire::{FrameType, List, Message, code};

use super::{GUEST, Peer, bytes, disk, throttle, write_at};
use crate::common::shell::{Askr, number_after};

fn uptime(peer: &mut Peer) -> u64 {
    UptimeReply::decode(&peer.ok(code::UPTIME, &[])).unwrap().uptime_ns
}

fn info(peer: &mut Peer) -> BTreeMap<String, String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let body = peer.ok(code::INFO, &[]);
    List::<Fact<'_>>::decode(&body).unwrap().iter().map(|fact| (text(fact.name), text(fact.value))).collect()
}

fn meminfo(peer: &mut Peer) -> BTreeMap<String, u64> {
    let body = peer.ok(code::MEMINFO, &[]);
    let list = List::<Counter<'_>>::decode(&body).unwrap();
    list.iter().map(|fact| (String::from_utf8(fact.name.to_vec()).unwrap(), fact.value)).collect()
}

#[test]
fn the_clocks_are_those_of_the_guest() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let first = uptime(&mut peer);
    let shown = askr.uptime();
    let second = uptime(&mut peer);
    let (low, high) = (first as f64 / 1e9 - 0.02, second as f64 / 1e9 + 0.02);
    assert!((low..=high).contains(&shown), "{low} {shown} {high}");
    let unix_ns = TimeReply::decode(&peer.ok(code::TIME, &[])).unwrap().unix_ns;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    // The guest reads the wall clock once, at boot.
    assert!(Duration::from_nanos(unix_ns).abs_diff(now) < Duration::from_secs(120), "{unix_ns} and {now:?}");
}

#[test]
fn memory_is_counted_as_proc_does() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let told = meminfo(&mut peer);
    let shown = askr.run("cat /proc/meminfo");
    assert_eq!(told["total"], number_after(&shown, "MemTotal:") << 10);
    assert!(told["total"] > 200 << 20 && told["total"] <= 256 << 20, "{told:?}");
    assert!(told["free"].abs_diff(number_after(&shown, "MemFree:") << 10) < 16 << 20, "{told:?} {shown}");
    assert_eq!(told["kernel_heap"], number_after(&shown, "KernelHeap:") << 10);
    assert!(told["kernel_heap_used"] > 0 && told["kernel_heap_used"] < told["kernel_heap"], "{told:?}");
    // Files in memory lie in the heap.
    let megabyte = (0..512_u64).map(|n| write_at(b"/tmp/megabyte", n * 2048, &[7; 2048], false));
    assert!(super::stream(&mut peer, code::WRITE_AT, megabyte).all(|(status, _)| status == Status::Ok));
    let with = meminfo(&mut peer);
    assert!(with["kernel_heap_used"] > told["kernel_heap_used"] + (1 << 20) - 4096, "{told:?} {with:?}");
    peer.ok(code::UNLINK, b"/tmp/megabyte");
}

#[test]
fn info_says_what_kernel_and_machine_this_is() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    let hello = peer.hello();
    let facts = info(&mut peer);
    assert_eq!(facts["kernel"], "Askr");
    assert_eq!(facts["release"], env!("CARGO_PKG_VERSION"));
    let id: String = hello.boot_id.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(facts["boot_id"], id);
    assert_eq!(
        (&facts["door"][..], &facts["machine"][..], &facts["processors"][..]),
        ("direct", "x86_64", "1")
    );
    assert!(facts["cpu"].starts_with("QEMU"), "{facts:?}");
    assert_eq!(facts["disk"], "littlefs, 16 MiB, at /disk");
    assert!(facts["memory"].ends_with(" KiB"), "{facts:?}");
    assert!(!facts["command_line"].contains("seed="), "what the random numbers come from is not told");
}

#[test]
fn a_machine_tells_its_command_line_and_that_it_has_no_disk() {
    let mut askr = Askr::boot(&Machine::new().word("winsize=40x132").word("seed=00ff"));
    let mut peer = Peer::in_session(askr.vm());
    let facts = info(&mut peer);
    assert!(facts["command_line"].split(' ').any(|word| word == "winsize=40x132"), "{facts:?}");
    assert!(!facts["command_line"].contains("seed="), "{facts:?}");
    assert_eq!(facts["disk"], "this machine has none");
    askr.power_off();
}

/// Requests of sessions that have ended are still carried out, one after the other; they leave a line of a limited length.
#[test]
fn a_line_that_is_full_is_told_and_a_fact_passes_it() {
    const SESSIONS: usize = 6;
    let mut askr = Askr::boot(&Machine::new().disk(disk("full-line.img", 4 << 20)));
    let mut peer = Peer::connect(askr.vm());
    throttle(&mut askr, 1);
    let mut last = Vec::new();
    for _ in 0..SESSIONS {
        peer.hello();
        let write = |n| peer.send(code::WRITE_AT, &write_at(b"/disk/slow", n * 2048, &[1; 2048], true));
        last = (0..super::WINDOW as u64).map(write).collect();
    }
    peer.keep_alive();
    let busy = peer.response(*last.last().unwrap(), code::WRITE_AT).0;
    assert_eq!(busy, Status::Busy);
    uptime(&mut peer);
    throttle(&mut askr, 0);
    // There is room again when the others are done.
    let mut status = Status::Busy;
    let until = std::time::Instant::now() + crate::common::PATIENCE;
    while status == Status::Busy && std::time::Instant::now() < until {
        status = peer.call(code::WRITE_AT, &write_at(b"/disk/slow", 0, b"done", true)).0;
    }
    assert_eq!(status, Status::Ok);
    askr.power_off();
}

#[test]
fn a_slow_disk_delays_no_fact() {
    let mut askr = Askr::boot(&Machine::new().disk(disk("slow.img", 4 << 20)));
    let mut peer = Peer::in_session(askr.vm());
    throttle(&mut askr, 4);
    let slow = peer.send(code::WRITE_AT, &write_at(b"/disk/slow", 0, &[1; 2048], true));
    for code in [code::UPTIME, code::TIME, code::MEMINFO, code::INFO] {
        peer.ok(code, &[]);
    }
    peer.ok(code::PS, &bytes(&PsRequest { start: 0 }));
    let is_answered =
        peer.find(Duration::ZERO, |frame| frame.kind == FrameType::Response && frame.seq == slow).is_some();
    assert!(!is_answered, "the disk was not slow");
    throttle(&mut askr, 0);
    assert_eq!(peer.response(slow, code::WRITE_AT).0, Status::Ok);
    askr.power_off();
}
