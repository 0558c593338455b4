//! Time: a monotonic clock from the time-stamp counter, calibrated once against the PIT, the PIT's periodic
//! interrupt as the tick, and the wall clock, which is compared with the CMOS.

use super::rtc;
use askr_core::wall::Wall;
use core::arch::x86_64::_rdtsc;
use core::sync::atomic::{AtomicU64, Ordering};
use spin::Mutex;
use x86_64::instructions::port::Port;

/// Nanoseconds since boot.
pub(crate) type Nanos = u64;

/// One second.
pub(crate) const SECOND: Nanos = 1_000_000_000;
/// Ticks per second.
pub(crate) const HZ: u32 = 100;

/// Frequency of the PIT (Intel 8254 with the PC's crystal).
const PIT_HZ: u64 = 1_193_182;
/// The clock's scale: nanoseconds per counter tick, as a fixed-point number with this many binary digits.
const SCALE_BITS: u32 = 32;

static BASE: AtomicU64 = AtomicU64::new(0);
static SCALE: AtomicU64 = AtomicU64::new(1 << SCALE_BITS);
/// Only tasks look at it.
static WALL: Mutex<Wall> = Mutex::new(Wall::new());

/// Calibrates the counter (about 20 ms), reads the wall clock and starts the tick.
pub(crate) fn init() {
    let hz = calibrate();
    SCALE.store(((u128::from(SECOND) << SCALE_BITS) / u128::from(hz)) as u64, Ordering::Relaxed);
    BASE.store(counter(), Ordering::Relaxed);
    if let Some(seconds) = rtc::unix_seconds(rtc::PATIENT) {
        WALL.lock().compare(now(), seconds);
    }
    start_tick();
}

/// Time since [`init`].
pub(crate) fn now() -> Nanos {
    let ticks = counter().wrapping_sub(BASE.load(Ordering::Relaxed));
    ((u128::from(ticks) * u128::from(SCALE.load(Ordering::Relaxed))) >> SCALE_BITS) as Nanos
}

/// Time since [`init`], 0 before it.
pub(crate) fn uptime() -> Nanos {
    if BASE.load(Ordering::Relaxed) == 0 { 0 } else { now() }
}

/// Time since 1970 in nanoseconds: the monotonic clock from the CMOS clock's date at boot on, and from its date now if
/// the machine stood still meanwhile.
pub(crate) fn wall() -> Nanos {
    let mut wall = WALL.lock();
    if wall.is_look_due(now())
        && let Some(seconds) = rtc::unix_seconds(rtc::HASTY)
    {
        wall.compare(now(), seconds);
    }
    wall.at(now())
}

/// The raw time-stamp counter.
pub(crate) fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the counter, and CR4.TSD is clear.
    unsafe { _rdtsc() }
}

fn start_tick() {
    let divisor = (PIT_HZ / u64::from(HZ)) as u16;
    // Channel 0, low then high byte, mode 2 (rate generator).
    program_pit(0x34, 0x40, divisor);
}

fn program_pit(command: u8, channel: u16, divisor: u16) {
    let [low, high] = divisor.to_le_bytes();
    // SAFETY: the PIT's ports; the kernel owns the device.
    unsafe {
        Port::<u8>::new(0x43).write(command);
        Port::<u8>::new(channel).write(low);
        Port::<u8>::new(channel).write(high);
    }
}

/// Counter ticks per second: the first two measurements that agree, else the smallest of all.
///
/// A machine that is held up for longer than the PIT's period of 55 ms in the middle of a measurement loses counts of
/// the PIT, and then the counter seems too fast, never too slow.
fn calibrate() -> u64 {
    /// Measurements at most.
    const TRIES: usize = 8;
    /// Two agree when they differ by less than this part.
    const AGREEMENT: u64 = 50;
    let mut smallest = measure();
    for _ in 1..TRIES {
        let next = measure();
        if next.abs_diff(smallest) < smallest / AGREEMENT {
            break;
        }
        smallest = smallest.min(next);
    }
    smallest
}

/// Counter ticks per second, measured over about 10 ms of PIT channel 0.
///
/// A read of the PIT takes microseconds under emulation, and the machine may be held up anywhere. So each sample
/// is the tightest of several pairs (counter, PIT), and the interval between two samples is what counts.
fn measure() -> u64 {
    /// PIT counts in the interval: about 10 ms.
    const INTERVAL: u64 = 12_000;
    /// Bound on the samples taken while waiting; each takes at least a microsecond, so this is over a second.
    const SAMPLES_MAX: usize = 2_000_000;
    /// Assumed when the PIT does not count at all.
    const FALLBACK_HZ: u64 = 1_000_000_000;

    program_pit(0x34, 0x40, 0); // the full 65536 counts, 55 ms
    let first = sample();
    for _ in 0..SAMPLES_MAX {
        let last = sample();
        let counts = u64::from(first.1.wrapping_sub(last.1)); // it counts down
        if counts >= INTERVAL {
            return (last.0 - first.0) * PIT_HZ / counts;
        }
    }
    FALLBACK_HZ
}

/// One pair of time-stamp counter and PIT count, the tightest of a few.
fn sample() -> (u64, u16) {
    const TRIES: usize = 4;
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..TRIES {
        let before = counter();
        let count = pit_count();
        let width = counter() - before;
        if width < best.0 {
            best = (width, before + width / 2, count);
        }
    }
    (best.1, best.2)
}

fn pit_count() -> u16 {
    // SAFETY: latching and reading channel 0 changes nothing.
    unsafe {
        Port::<u8>::new(0x43).write(0);
        let low = Port::<u8>::new(0x40).read();
        let high = Port::<u8>::new(0x40).read();
        u16::from_le_bytes([low, high])
    }
}
