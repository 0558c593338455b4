//! COM2: bytes in both directions, and the watch over a host that does not read.

use crate::arch::clock::{self, Nanos, SECOND};
pub(super) use crate::drivers::serial::LineErrors;
use crate::drivers::serial::{COM2, SerialLine};
use crate::sync::IrqMutex;
use askr_uart::UartError;
use askr_wire::FRAME_MAX;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A line that takes nothing for so long is stalled: the frame on it is abandoned.
const STALL: Nanos = SECOND;
/// Time that the word of a panic may wait for the line.
const EMERGENCY: Nanos = SECOND / 4;
/// Every frame begins and ends with this byte.
const DELIMITER: u8 = 0;

static LINE: IrqMutex<SerialLine> = IrqMutex::new(SerialLine::new(Some(DELIMITER)));
static STALLED: AtomicBool = AtomicBool::new(false);
/// When the line last took something, or had nothing to take.
static PROGRESS: AtomicU64 = AtomicU64::new(0);
static LAST_UNSENT: AtomicU64 = AtomicU64::new(0);

/// What the watch found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// The next frame may go out.
    Ready,
    /// Something is on its way; look again by this time.
    Busy(Nanos),
    /// The line has just stalled; what was on its way is dropped.
    Stalled,
    /// Still stalled; look again by this time.
    Waiting(Nanos),
}

/// Opens the line.
///
/// # Errors
/// What is wrong with COM2; without it the machine has no agent.
pub(super) fn open() -> Result<(), UartError> {
    LINE.lock().open(COM2)
}

/// COM2's interrupt.
pub(crate) fn on_interrupt() {
    let events = LINE.lock().on_interrupt();
    if events.received || events.drained {
        super::wake();
    }
}

/// Takes up to `into.len()` received bytes.
pub(super) fn read(into: &mut [u8]) -> usize {
    LINE.lock().read(into)
}

/// Puts a whole frame on its way. Call it only after [`watch`] said [`Watch::Ready`]: then there is room.
pub(super) fn send(frame: &[u8]) {
    debug_assert!(frame.len() <= FRAME_MAX, "frames fit in the ring");
    let mut line = LINE.lock();
    line.send(frame);
    LAST_UNSENT.store(line.unsent() as u64, Ordering::Relaxed);
}

/// Sends a frame from a panic: by polling, after what is on its way, with a deadline by the clock.
pub(super) fn send_emergency(frame: &[u8]) {
    let deadline = clock::now() + EMERGENCY;
    let mut line = LINE.seize();
    line.flush_until(|| clock::now() >= deadline);
    line.write_polled(frame, || clock::now() >= deadline);
}

/// Looks whether the next frame may go out. One frame at a time is on its way, so that an urgent one never waits
/// for more than one other.
pub(super) fn watch() -> Watch {
    let now = clock::now();
    let mut line = LINE.lock();
    let unsent = line.unsent() as u64;
    if STALLED.load(Ordering::Relaxed) {
        // An empty frame does no harm and tells whether the device takes bytes again.
        if !line.probe(DELIMITER) {
            return Watch::Waiting(now + STALL);
        }
        STALLED.store(false, Ordering::Relaxed);
    }
    if unsent < LAST_UNSENT.swap(unsent, Ordering::Relaxed) || unsent == 0 {
        PROGRESS.store(now, Ordering::Relaxed);
    }
    if line.has_run_low() {
        return Watch::Ready;
    }
    let deadline = PROGRESS.load(Ordering::Relaxed) + STALL;
    if now < deadline {
        return Watch::Busy(deadline);
    }
    line.discard();
    STALLED.store(true, Ordering::Relaxed);
    Watch::Stalled
}

/// Whether everything that was to be sent has left the ring and the device.
pub(super) fn is_clear() -> bool {
    let mut line = LINE.lock();
    // An empty frame does no harm; the device takes it when it has nothing else any more.
    line.unsent() == 0 && line.probe(DELIMITER)
}

/// A valid frame arrived: whoever sent it reads again, or soon will.
pub(super) fn clear_stall() {
    // Only what was latched: a host that sends and never reads must not keep the watch from its deadline.
    if STALLED.swap(false, Ordering::Relaxed) {
        PROGRESS.store(clock::now(), Ordering::Relaxed);
    }
}

/// Whether the line is stalled.
pub(super) fn is_stalled() -> bool {
    STALLED.load(Ordering::Relaxed)
}

/// What went wrong on the line so far.
pub(super) fn errors() -> LineErrors {
    LINE.lock().errors()
}
