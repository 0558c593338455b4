//! When the kernel passed its points: a ring of moments, for whoever wants to know where the time goes. Always on, because a
//! point costs little more than a look at the counter.

use crate::arch::clock;
use alloc::format;
use alloc::vec::Vec;
use askr_abi::Errno;
use core::sync::atomic::{AtomicU64, Ordering};
use x86_64::instructions::interrupts::without_interrupts;

/// Moments that are kept; older ones are overwritten.
const RING: usize = 2048;

/// A point of the kernel's, and what its number means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Point {
    /// A stage of the boot has been reached; the number counts them from 0, the kernel's first instruction in Rust.
    Boot,
    /// An interrupt other than the tick; its line.
    Interrupt,
    /// A frame came from the agent; its bytes of payload.
    FrameIn,
    /// The answer to a request was given to the bus; its bytes, or 0 for an error.
    Answer,
    /// A frame was given to a door; its bytes.
    FrameOut,
    /// A program has been loaded and may run; its process.
    Start,
    /// A process was copied; the new one.
    Fork,
    /// A process ends: its descriptors and its memory are given back next.
    End,
    /// It is a zombie, and whoever waits knows.
    Zombie,
    /// A program asks for what was typed; the most bytes that it takes.
    Read,
}

/// In the order of [`Point`].
const NAMES: [&str; 10] =
    ["boot", "interrupt", "frame-in", "answer", "frame-out", "start", "fork", "end", "zombie", "read"];

/// The counter at that moment; the point, and its number.
struct Moment {
    counter: AtomicU64,
    what: AtomicU64,
}

/// Bits of [`Moment::what`] that are the number.
const NUMBER_BITS: u32 = 56;

static MOMENTS: [Moment; RING] =
    [const { Moment { counter: AtomicU64::new(0), what: AtomicU64::new(0) } }; RING];
/// How many there have been.
static PASSED: AtomicU64 = AtomicU64::new(0);

/// Notes that the kernel is at this point. For tasks and interrupt handlers.
pub(crate) fn pass(point: Point, number: u64) {
    let number = number & ((1 << NUMBER_BITS) - 1);
    // In one go, so that the moments are in their order.
    without_interrupts(|| {
        let at = PASSED.fetch_add(1, Ordering::Relaxed);
        let moment = &MOMENTS[(at % RING as u64) as usize];
        moment.counter.store(clock::counter(), Ordering::Relaxed);
        moment.what.store(((point as u64) << NUMBER_BITS) | number, Ordering::Relaxed);
    });
}

/// `/proc/timeline`: a line for each moment that is kept, the oldest first: microseconds since the clock was set, the
/// point, its number. Before them, how many are gone.
///
/// # Errors
/// ENOMEM.
pub(crate) fn report() -> Result<Vec<u8>, Errno> {
    /// Longest line.
    const LINE: usize = 64;
    let mut moments = crate::mm::with_room(RING)?;
    let mut text = crate::mm::with_room((RING + 1) * LINE)?;
    let mut first = 0;
    // No handler may write over what is read.
    without_interrupts(|| {
        let passed = PASSED.load(Ordering::Relaxed);
        first = passed.saturating_sub(RING as u64);
        moments.extend((first..passed).map(|at| {
            let Moment { counter, what } = &MOMENTS[(at % RING as u64) as usize];
            (counter.load(Ordering::Relaxed), what.load(Ordering::Relaxed))
        }));
    });
    text.extend_from_slice(format!("lost {first}\n").as_bytes());
    for (counter, what) in moments {
        let (micros, name) = (clock::micros_at(counter), NAMES[(what >> NUMBER_BITS) as usize]);
        let number = what & ((1 << NUMBER_BITS) - 1);
        text.extend_from_slice(format!("{micros} {name} {number}\n").as_bytes());
    }
    Ok(text)
}
