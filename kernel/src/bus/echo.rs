//! COM2 as a mirror, with the word `bus=echo` on the command line: what comes in goes out again, through the same
//! interrupts, rings and task as the bus has. It is what the bus is measured against: frames, sessions and verbs cost what
//! is over this.

use super::port::{self, Watch};
use crate::arch::boot;
use crate::arch::clock::{self, Nanos, SECOND};
use crate::sched;
use askr_agentbus::Door;
use askr_wire::FRAME_MAX;

/// Bytes that are echoed at a time.
const CHUNK: usize = 512;
/// The task looks around at least this often.
const IDLE: Nanos = SECOND;

/// Whether the command line asks for it.
pub(super) fn is_wanted() -> bool {
    boot::option(b"bus") == Some(b"echo")
}

/// Echoes, for ever.
pub(super) extern "C" fn task(_: u64) -> ! {
    x86_64::instructions::interrupts::enable();
    let com2 = port::of(Door::Com2);
    let mut chunk = [0; CHUNK];
    const { assert!(CHUNK <= FRAME_MAX, "what is sent at once fits the ring") };
    loop {
        let next_look = match com2.watch() {
            Watch::Ready => {
                let count = com2.read(&mut chunk);
                if count > 0 {
                    com2.send(&chunk[..count]);
                    continue;
                }
                clock::now() + IDLE
            }
            Watch::Busy(deadline) | Watch::Waiting(deadline) => deadline,
            Watch::Stalled => continue,
            Watch::Closed | Watch::Nobody => clock::now() + IDLE,
        };
        sched::park_until(next_look);
    }
}
