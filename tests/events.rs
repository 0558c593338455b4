//! What happens in the guest is told to the agent, and can be asked for again.

mod common;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use askr::{Disk, Machine};
use askr_wire::message::{EventsReply, EventsRequest, FaultFacts, ProcessEvent, REGISTER_NAMES};
use askr_wire::{FrameType, Message, code, ext, ext_items};
use common::PATIENCE;
use common::peer::{Peer, bytes};
use common::program::program;
use common::shell::{Askr, PROMPT, Shared, number_after};
use host_bridge::link::OwnedFrame;

static GUEST: Shared = Shared::new(|| Machine::new().memory_mib(64));

/// Once so long nothing came, nothing more is in line: events are told at least each millisecond.
const QUIET: Duration = Duration::from_secs(2);
/// Processes of a storm.
const STORM: u64 = 4_000;
/// Storms of which the best counts.
const STORMS: u64 = 5;

/// An event as it was asked for again.
#[derive(Clone, Debug)]
struct Happened {
    number: u64,
    code: u16,
    pid: u32,
    info: u32,
    name: String,
    ext: Vec<u8>,
}

/// All events from `cursor` on, and how many were lost before them.
#[track_caller]
fn replay(peer: &mut Peer, mut cursor: u64) -> (u64, Vec<Happened>) {
    let (mut lost, mut all) = (0, Vec::new());
    loop {
        let body = peer.ok(code::EVENTS, &bytes(&EventsRequest { cursor }));
        let reply = EventsReply::decode(&body).unwrap();
        lost += reply.lost;
        cursor += reply.lost;
        for logged in reply.events.iter() {
            let ProcessEvent { pid, info, name, .. } = logged.event;
            let name = String::from_utf8(name.to_vec()).unwrap();
            let ext = logged.ext.to_vec();
            all.push(Happened { number: cursor, code: logged.code, pid, info, name, ext });
            cursor += 1;
        }
        if reply.events.is_empty() {
            assert_eq!(cursor, reply.count, "it ended before the end");
            return (lost, all);
        }
    }
}

/// The next event of this kind.
#[track_caller]
fn event(peer: &mut Peer, code: u16) -> OwnedFrame {
    let wanted = |frame: &OwnedFrame| frame.kind == FrameType::Event && frame.code == code;
    peer.expect(&format!("event {code}"), wanted).frame
}

fn process(frame: &OwnedFrame) -> ProcessEvent<'_> {
    ProcessEvent::decode(&frame.payload).unwrap()
}

/// The facts of a fault in an ext.
#[track_caller]
fn facts(bytes: &[u8]) -> FaultFacts<'_> {
    let items: Vec<_> = ext_items(bytes).map(Result::unwrap).collect();
    let [(ext::FAULT_FACTS, item)] = items[..] else { panic!("{items:?}") };
    FaultFacts::decode(item).unwrap()
}

#[test]
fn the_first_event_is_the_boot_and_all_can_be_asked_for_again() {
    let mut askr = Askr::boot(&Machine::new());
    askr.run("true; crash");
    let mut peer = Peer::in_session(askr.vm());
    let (lost, all) = replay(&mut peer, 0);
    assert_eq!((lost, all[0].code, all[0].pid), (0, code::EVENT_BOOT, 0));
    assert_eq!((all[1].code, all[1].pid, &all[1].name[..]), (code::EVENT_SPAWN, 1, "init"));
    let fault = all.iter().find(|one| one.code == code::EVENT_FAULT).unwrap();
    assert_eq!((fault.info, &fault.name[..], facts(&fault.ext).vector), (14, "crash", 14));
    let shown = askr.run("events");
    assert!(shown.starts_with("0 ") && shown.lines().next().unwrap().ends_with(" boot"), "{shown}");
    // While nobody pings, the session ends; that is known to whoever comes next.
    drop(peer);
    let gone = |shown: &String| shown.lines().any(|line| line.ends_with(" link_lost"));
    let seen = (0..300).any(|_| {
        askr.run("sleep 0.1");
        gone(&askr.run("events -n 5"))
    });
    assert!(seen, "{}", askr.run("events"));
    let mut next = Peer::in_session(askr.vm());
    let (_, after) = replay(&mut next, all.len() as u64);
    assert_eq!(after.iter().filter(|one| one.code == code::EVENT_LINK_LOST).count(), 1, "{after:?}");
}

#[test]
fn a_fault_is_told_with_registers_address_and_backtrace() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let report = askr.run("crash");
    let frame = event(&mut peer, code::EVENT_FAULT);
    let (pid, (_, bytes)) = (process(&frame).pid, frame.session.as_ref().unwrap());
    assert_eq!(u64::from(pid), number_after(&report, "crash["));
    let facts = facts(bytes);
    assert_eq!((facts.signal, facts.vector), (11, 14));
    assert!(report.contains(&format!("{:#x}: no memory there", facts.address)), "{report}");
    assert!(report.contains(&format!("rip {:016x}", facts.rip)), "{report}");
    let rsp = REGISTER_NAMES.iter().position(|&name| name == "rsp").unwrap();
    assert!(report.contains(&format!("rsp {:016x}", facts.registers[rsp])), "{report}");
    for (depth, address) in facts.backtrace.iter().enumerate() {
        assert!(report.contains(&format!("#{depth} {:016x}", address.0)), "{report}");
    }
    assert!(!facts.backtrace.is_empty());
    assert_eq!(process(&event(&mut peer, code::EVENT_EXIT)).info, 139);
}

#[test]
fn who_is_ended_for_memory_is_told() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let shown = askr.run("hog");
    let frame = event(&mut peer, code::EVENT_OOM);
    let told = process(&frame);
    assert_eq!((told.name, told.pid, told.aux), (&b"hog"[..], told.aux, told.pid), "it wanted more itself");
    let line = shown.lines().find(|line| line.starts_with("out of memory")).unwrap();
    assert!(line.ends_with(&format!("hog[{}] is killed, {} KiB", told.pid, told.info)), "{line}");
    assert!(
        askr.run("events")
            .contains(&format!("oom pid={0} wanted_by={0} kib={1} name=hog\r\n", told.pid, told.info))
    );
}

/// Where file systems became full so far.
fn full(peer: &mut Peer) -> Vec<String> {
    let all = replay(peer, 0).1.into_iter();
    all.filter(|one| one.code == code::EVENT_DISK_FULL).map(|one| one.name).collect()
}

#[test]
fn a_file_system_that_becomes_full_is_told_once_until_there_was_room() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("disk");
    std::fs::File::create(&image).unwrap().set_len(1 << 20).unwrap();
    let machine = Machine::new().memory_mib(64).disk(Disk::open(&image, false).unwrap());
    let mut askr = Askr::boot(&machine);
    let mut peer = Peer::in_session(askr.vm());
    let mut told = Vec::new();
    for (mount, folder) in [("/", "/tmp"), ("/disk", "/disk")] {
        let fill = format!("cat /dev/zero >> {folder}/big");
        for _ in 0..2 {
            let shown = askr.run(&format!("{fill}; {fill}; echo more >> {folder}/small; {fill}"));
            assert_eq!(shown.matches("cat: write error: No space left on device\r\n").count(), 3, "{shown}");
            told.push(mount.to_owned());
            assert_eq!(full(&mut peer), told, "once, however often it is tried");
            askr.run(&format!("rm {folder}/big"));
        }
        let last = format!("disk_full mount={mount}\r\n");
        assert_eq!(askr.run("events").matches(&last).count(), 2);
    }
    assert_eq!(process(&event(&mut peer, code::EVENT_DISK_FULL)).name, b"/", "told as it happens, too");
}

/// Sends a packet of gdb's remote protocol (GDB manual, E.1).
fn debug(debugger: &mut UnixStream, body: &str) {
    let sum = body.bytes().fold(0_u8, u8::wrapping_add);
    debugger.write_all(format!("${body}#{sum:02x}").as_bytes()).unwrap();
}

/// Waits for an answer of the debugged machine and takes it.
fn answer(debugger: &mut UnixStream) -> String {
    let mut reply = Vec::new();
    while reply.iter().rev().nth(2) != Some(&b'#') {
        let mut byte = [0];
        debugger.read_exact(&mut byte).expect("an answer");
        reply.extend(byte);
    }
    debugger.write_all(b"+").unwrap();
    String::from_utf8_lossy(&reply).into_owned()
}

#[test]
fn a_panic_is_told_to_the_session() {
    let mut guest = Machine::new().wait_for_debugger().start().unwrap();
    let mut debugger = UnixStream::connect(guest.vm().gdb_path()).unwrap();
    debugger.set_read_timeout(Some(PATIENCE)).unwrap();
    debug(&mut debugger, "c");
    guest.wait_for(PROMPT, PATIENCE).unwrap();
    let mut peer = Peer::in_session(guest.vm());
    let told = replay(&mut peer, 0).1.len();
    // Stopped, and sent on to an address where the kernel has nothing: it waits for work, in ring 0.
    debugger.write_all(b"\x03").unwrap();
    answer(&mut debugger);
    // QEMU lets only those write a register who know which there are.
    debug(&mut debugger, "qXfer:features:read:target.xml:0,fff");
    answer(&mut debugger);
    debug(&mut debugger, "P10=0000000000000000");
    let written = answer(&mut debugger);
    assert!(written.contains("$OK#"), "{written}");
    debug(&mut debugger, "c");
    let frame = event(&mut peer, code::EVENT_PANIC);
    assert_eq!((frame.seq - code::EVENT_SEQ_FIRST) as usize, told, "the number after the last");
    let message = String::from_utf8(process(&frame).name.to_vec()).unwrap();
    assert!(
        message.starts_with("kernel fault: vector 14 error 0x10 address 0x0\nrip 0x0000000000000000"),
        "{message}"
    );
    let shown = guest.wait_for("The machine is halted.", PATIENCE).unwrap();
    assert!(shown.contains("kernel panic: ") && shown.contains("kernel fault: vector 14"), "{shown}");
}

/// Runs storms and returns how many milliseconds the best of them took by the guest's clock. A busy host slows some of them.
#[track_caller]
fn storm(askr: &mut Askr) -> u64 {
    let took = (0..STORMS).map(|_| number_after(&askr.run(&format!("swarm {STORM}")), "took "));
    took.min().unwrap()
}

#[test]
fn a_storm_of_events_slows_nobody_and_is_accounted_for() {
    // Not on the shared guest: the session of another test might still be attached there.
    let mut askr = Askr::boot(&Machine::new().with(program("swarm")));
    let alone = storm(&mut askr);
    let mut peer = Peer::in_session(askr.vm());
    let before = peer.stats();
    let from = askr.uptime();
    let told = storm(&mut askr);
    eprintln!("{STORM} processes: {alone} ms with nobody there, {told} ms with an agent");
    // On a quiet machine it is the same. Where others use the processors too, the best of five is up to three times another.
    assert!(told <= 4 * alone + 100, "{told} ms, and {alone} ms with nobody there");
    let is_event = |frame: &OwnedFrame| frame.kind == FrameType::Event;
    let seqs: Vec<u32> =
        std::iter::from_fn(|| peer.find(QUIET, is_event)).map(|event| event.frame.seq).collect();
    assert!(seqs.is_sorted_by(|one, next| one < next), "each once, in their order");
    let after = peer.stats();
    let passed = askr.uptime() - from;
    // What the line and the bus have to do with it is bounded, however many events there are.
    assert!((seqs.len() as f64) < 1000.0 * passed + 64.0, "{} in {passed} s", seqs.len());
    let more = |name: &str| after[name] - before[name];
    eprintln!("{} events, {} sent, {} lost", more("events"), seqs.len(), more("events_lost"));
    assert!(more("events") >= 2 * STORMS * STORM);
    assert_eq!(seqs.len() as u64 + more("events_lost"), more("events"));
    let (lost, kept) = replay(&mut peer, 0);
    assert_eq!(kept.len(), 1024);
    assert_eq!((lost + 1024, kept.last().unwrap().number), (peer.stats()["events"], lost + 1023));
}
