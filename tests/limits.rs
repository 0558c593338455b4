//! What a program or the host can take is bounded: the rest goes on, and comes back to all it had.

mod common;

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use askr::Machine;
use askr_wire::code;
use askr_wire::message::PingRequest;
use common::peer::{Peer, bytes, com2};
use common::program::program;
use common::shell::{Shared, number_after};

/// Little memory, so that all of it is taken soon.
static GUEST: Shared = Shared::new(|| Machine::new().memory_mib(40).with(program("limits")));

/// How long a command may take while others keep the machine busy. Alone it takes milliseconds.
const RESPONSE: Duration = Duration::from_secs(20);
/// How long COM2 is flooded with each kind of bytes.
const FLOOD: Duration = Duration::from_secs(5);

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

#[test]
fn a_flood_on_com2_leaves_the_shell_to_the_person() {
    let mut askr = GUEST.take();
    let mut rng = fastrand::Rng::with_seed(3);
    let noise: Vec<u8> = (0..65_536).map(|_| rng.u8(..)).collect();
    for (kind, block) in
        [("delimiters", vec![0; 65_536]), ("no delimiter", vec![b'A'; 65_536]), ("noise", noise)]
    {
        let mut line = com2(askr.vm());
        line.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            // Nothing that the guest sends is read meanwhile.
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // A full line takes nothing until the guest has read: the next round tries again.
                    let _ = line.write(&block);
                }
            });
            let until = Instant::now() + FLOOD;
            while Instant::now() < until {
                let begun = Instant::now();
                let shown = askr.run("echo well");
                let took = begun.elapsed();
                if shown != "well\r\n" || took >= RESPONSE {
                    done.store(true, Ordering::Relaxed);
                    panic!("{kind}: {shown:?} after {took:?}");
                }
            }
            done.store(true, Ordering::Relaxed);
        });
    }
    // The line is as good as before.
    let mut peer = Peer::in_session(askr.vm());
    peer.ok(code::PING, &bytes(&PingRequest { counter: 7 }));
}
