//! COM2 as a door: always there for whoever connects, slow, and nobody tells whether somebody is at the other end.

use super::{EMERGENCY, Port, STALL, Watch};
use crate::arch::clock::{self, Nanos};
use crate::drivers::serial::{COM2, LineErrors, SerialLine};
use crate::sync::IrqMutex;
use askr_uart::UartError;
use askr_wire::FRAME_MAX;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// See [`Port::chunk`].
const CHUNK: usize = 512;
/// Every frame begins and ends with this byte.
const DELIMITER: u8 = 0;

static LINE: IrqMutex<SerialLine> = IrqMutex::new(SerialLine::new(Some(DELIMITER)));
static STALLED: AtomicBool = AtomicBool::new(false);
/// When the line last took something, or had nothing to take.
static PROGRESS: AtomicU64 = AtomicU64::new(0);
static LAST_UNSENT: AtomicU64 = AtomicU64::new(0);

pub(super) static PORT: Com2 = Com2;

/// The door; its state is in the statics above, since its interrupt is there from the start.
pub(super) struct Com2;

/// Opens the line.
///
/// # Errors
/// What is wrong with COM2; without it the agent has the data door, if the machine has one.
pub(in crate::bus) fn open() -> Result<(), UartError> {
    LINE.lock().open(COM2)
}

/// COM2's interrupt.
pub(crate) fn on_interrupt() {
    let events = LINE.lock().on_interrupt();
    if events.received || events.drained {
        crate::bus::wake();
    }
}

impl Port for Com2 {
    fn chunk(&self) -> usize {
        CHUNK
    }

    fn read(&self, into: &mut [u8]) -> usize {
        LINE.lock().read(into)
    }

    fn send(&self, frame: &[u8]) {
        debug_assert!(frame.len() <= FRAME_MAX, "frames fit in the ring");
        let mut line = LINE.lock();
        line.send(frame);
        LAST_UNSENT.store(line.unsent() as u64, Ordering::Relaxed);
    }

    fn send_emergency(&self, frame: &[u8]) -> bool {
        let deadline = clock::now() + EMERGENCY;
        let mut line = LINE.seize();
        line.flush_until(|| clock::now() >= deadline);
        line.write_polled(frame, || clock::now() >= deadline);
        true
    }

    /// One frame at a time is on its way, so that an urgent one never waits for more than one other.
    fn watch(&self) -> Watch {
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

    fn is_clear(&self) -> bool {
        let mut line = LINE.lock();
        // An empty frame does no harm; the device takes it when it has nothing else any more.
        line.unsent() == 0 && line.probe(DELIMITER)
    }

    fn clear_stall(&self) {
        // Only what was latched: a host that sends and never reads must not keep the watch from its deadline.
        if STALLED.swap(false, Ordering::Relaxed) {
            PROGRESS.store(clock::now(), Ordering::Relaxed);
        }
    }

    fn is_stalled(&self) -> bool {
        STALLED.load(Ordering::Relaxed)
    }

    fn next_look(&self) -> Option<Nanos> {
        None
    }

    fn errors(&self) -> LineErrors {
        LINE.lock().errors()
    }
}
