//! What a program or the host can take is bounded: the rest goes on, and comes back to all it had.

mod common;

use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use askr::Machine;
use askr_wire::message::{PingRequest, ReadRequest};
use askr_wire::{FrameType, code};
use common::peer::{Peer, bytes, com2, door, frame};
use common::program::program;
use common::shell::{Askr, Shared, number_after};
use host_bridge::link::Door;

/// Little memory, so that all of it is taken soon.
static GUEST: Shared = Shared::new(|| Machine::new().memory_mib(40).with(program("limits")));

/// How long a command may take while others keep the machine busy. Alone it takes milliseconds.
const RESPONSE: Duration = Duration::from_secs(20);
/// The part of the commands that are done beside a flood.
const FLOODED: u32 = 30;
/// How long a door is flooded with each kind of bytes.
const FLOOD: Duration = Duration::from_secs(3);

#[test]
fn a_full_kernel_heap_is_an_error_for_who_filled_it_and_no_end() {
    let mut askr = GUEST.take();
    let shown = askr.run("limits heap");
    let refused = "fork -12\r\nkeep -12\r\ncut -12\r\nqueue -11\r\n";
    let rest = "pipe 4096\r\nopen -12\r\nstill here\r\nwrite 11\r\nlost 0\r\nagain 1\r\n";
    assert_eq!(shown, format!("{refused}{rest}"));
    assert_eq!(askr.run("echo well"), "well\r\n");
    assert!(askr.run("hello").starts_with("hello from pid "));
}

#[test]
fn arguments_that_the_kernels_heap_has_no_room_for_are_refused() {
    let mut askr = GUEST.take();
    assert_eq!(askr.run("limits arguments"), "none 1\r\ntoo long 1\r\nother 0\r\n");
    assert_eq!(askr.run("echo well"), "well\r\n");
    assert!(askr.run("hello a").ends_with("argv[1] = a\r\n"));
}

#[test]
fn large_writes_hold_nobody_up() {
    let mut askr = GUEST.take();
    let pid = number_after(&askr.run("limits pieces &"), "] ");
    for _ in 0..5 {
        let begun = Instant::now();
        assert!(askr.run("hello").contains("hello from pid "));
        assert!(begun.elapsed() < RESPONSE, "{:?}", begun.elapsed());
    }
    // The shell tells of it at one of the two prompts.
    let shown = askr.run(&format!("kill {pid}")) + &askr.run("wait");
    assert!(shown.contains("killed by signal"), "{shown:?}");
}

#[test]
fn a_bad_pointer_to_wait4_costs_no_exit_status() {
    let mut askr = GUEST.take();
    assert_eq!(askr.run("limits status"), "usage -14\r\nword -14\r\ngood 1\r\ncode 42\r\n");
}

/// Sends `block` over a line again and again, and reads what comes if `read` says so, until `meanwhile` is over.
fn flooded<R>(line: &UnixStream, block: &[u8], read: bool, meanwhile: impl FnOnce() -> R) -> R {
    /// Ends the flood also when what happens meanwhile fails.
    struct Ends<'a>(&'a UnixStream);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            let _ = self.0.shutdown(Shutdown::Both);
        }
    }
    thread::scope(|scope| {
        let _ends = Ends(line);
        scope.spawn(|| while (&*line).write_all(block).is_ok() {});
        if read {
            scope.spawn(|| io::copy(&mut &*line, &mut io::sink()));
        }
        meanwhile()
    })
}

/// How many commands are done in the time of a flood.
fn answers(askr: &mut Askr) -> u32 {
    let until = Instant::now() + FLOOD;
    let mut done = 0;
    while Instant::now() < until {
        assert_eq!(askr.run("echo well"), "well\r\n");
        done += 1;
    }
    done
}

#[test]
fn a_flood_on_a_door_leaves_the_shell_to_the_person() {
    let mut askr = GUEST.take();
    let mut rng = fastrand::Rng::with_seed(3);
    let noise: Vec<u8> = (0..65_536).map(|_| rng.u8(..)).collect();
    let blocks = [("delimiters", vec![0; 65_536]), ("no delimiter", vec![b'A'; 65_536]), ("noise", noise)];
    let alone = answers(&mut askr);
    // The data door brings bytes faster than the kernel takes them, COM2 never does.
    for at in [Door::Data, Door::Com2] {
        for (kind, block) in &blocks {
            // Nothing that the guest sends is read meanwhile.
            let line = door(askr.vm(), at);
            let beside = flooded(&line, block, false, || answers(&mut askr));
            eprintln!("{at:?}, {kind}: {beside} commands, {alone} without");
            assert!(beside >= (alone / FLOODED).max(1), "{at:?}, {kind}: {beside} commands, {alone} without");
        }
        // The line is as good as before.
        let mut peer = Peer::at(askr.vm(), at);
        peer.hello();
        peer.ok(code::PING, &bytes(&PingRequest { counter: 7 }));
    }
}

/// How much longer a program may take beside requests without end. It is two; if the requests went first, it would be
/// twenty and more.
const BESIDE: f64 = 6.0;

/// Seconds, by the guest's clock, that a program takes to count.
fn counting(askr: &mut Askr) -> f64 {
    let begun = askr.uptime();
    askr.run("i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done");
    askr.uptime() - begun
}

#[test]
fn requests_without_end_leave_programs_their_half_of_the_processor() {
    let mut askr = GUEST.take();
    // A file that takes long to make: as many events as are kept.
    askr.run("i=0; while [ $i -lt 600 ]; do /bin/true; i=$((i+1)); done");
    let read = bytes(&ReadRequest { offset: 0, len: 1, path: b"/proc/events" });
    let block = frame(FrameType::Request, code::REQUEST_SEQ_FIRST, code::READ, None, &read).repeat(1000);
    let (mut alone, mut beside) = (0.0, 0.0);
    for _ in 0..3 {
        alone += counting(&mut askr);
        let line = com2(askr.vm());
        beside += flooded(&line, &block, true, || counting(&mut askr));
    }
    eprintln!("alone {alone:.2} s, beside the requests {beside:.2} s");
    assert!(beside < BESIDE * alone, "alone {alone:.2} s, beside the requests {beside:.2} s");
}
