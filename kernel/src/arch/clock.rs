//! Time: a monotonic clock from the time-stamp counter, calibrated once against the PIT, the tick, and the wall clock,
//! which is compared with the CMOS. The tick is the local APIC's timer, which rests while there is nothing to do; on a
//! machine without one it is the PIT, which never does.

use super::{apic, pic, rtc};
use crate::sync::IrqMutex;
use askr_core::rest::Rest;
use askr_core::wall::Wall;
use core::arch::x86_64::_rdtsc;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use spin::Mutex;
use x86_64::instructions::port::Port;

/// Nanoseconds since boot.
pub(crate) type Nanos = u64;

/// One second.
pub(crate) const SECOND: Nanos = 1_000_000_000;
/// Ticks per second.
pub(crate) const HZ: u32 = 100;
/// Between two ticks.
pub(crate) const TICK: Nanos = SECOND / HZ as Nanos;
/// Frequency of the PIT (Intel 8254 with the PC's crystal).
const PIT_HZ: u64 = 1_193_182;
/// The clock's scale: nanoseconds per counter tick, as a fixed-point number with this many binary digits.
const SCALE_BITS: u32 = 32;

static BASE: AtomicU64 = AtomicU64::new(0);
static SCALE: AtomicU64 = AtomicU64::new(1 << SCALE_BITS);
/// Whether the tick can rest, and whether it does.
static CAN_REST: AtomicBool = AtomicBool::new(false);
static REST: IrqMutex<Rest> = IrqMutex::new(Rest::new());
/// Only tasks look at it.
static WALL: Mutex<Wall> = Mutex::new(Wall::new());

/// Starts the PIT, against which [`init`] measures the time-stamp counter. What is done in between is time of the
/// measurement.
pub(crate) fn begin() -> Sample {
    program_pit(0x34, 0x40, 0); // channel 0, mode 2, the full 65536 counts: 55 ms
    sample()
}

/// Calibrates the counter (about 10 ms since [`begin`]), reads the wall clock and starts the tick. After [`pic::init`].
pub(crate) fn init(begun: Sample) {
    let hz = calibrate(begun);
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

/// Microseconds from [`init`] to a moment of the counter; before it they are negative.
pub(crate) fn micros_at(counter: u64) -> i64 {
    let ticks = counter.wrapping_sub(BASE.load(Ordering::Relaxed)).cast_signed();
    let nanos = (i128::from(ticks) * i128::from(SCALE.load(Ordering::Relaxed))) >> SCALE_BITS;
    (nanos / 1000) as i64
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
    if apic::calibrate() {
        CAN_REST.store(true, Ordering::Relaxed);
        // Mode 0 (interrupt on terminal count): it counts once, and its line stays closed.
        program_pit(0x30, 0x40, 0);
        apic::tick_each(TICK);
    } else {
        // Channel 0, low then high byte, mode 2 (rate generator).
        program_pit(0x34, 0x40, (PIT_HZ / u64::from(HZ)) as u16);
        pic::open_line(pic::IRQ_TIMER);
    }
}

/// Stops the tick: no program runs. An alarm comes instead, at `deadline` or earlier.
pub(crate) fn rest_until(deadline: Nanos) {
    if CAN_REST.load(Ordering::Relaxed) {
        set_alarm(&mut REST.lock(), deadline);
    }
}

/// If the tick rests, its alarm comes at `deadline` or earlier. For whoever adds a deadline, and after an alarm.
pub(crate) fn alarm_by(deadline: Nanos) {
    let mut rest = REST.lock();
    if rest.rests() {
        set_alarm(&mut rest, deadline);
    }
}

fn set_alarm(rest: &mut Rest, deadline: Nanos) {
    let now = now();
    if let Some(alarm) = rest.until(now, deadline) {
        apic::alarm_in(alarm.saturating_sub(now));
    }
}

/// The timer of the local APIC has come.
pub(super) fn on_timer() {
    REST.lock().on_alarm();
}

/// Starts the tick again, if it rests: a program runs.
pub(crate) fn end_rest() {
    let mut rest = REST.lock();
    if rest.end() {
        apic::tick_each(TICK);
    }
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

/// Counter ticks per second: of the first two measurements in a row that agree, else the smallest of all.
///
/// A machine that is held up for longer than the PIT's period of 55 ms in the middle of a measurement loses counts of
/// the PIT, and then the counter seems too fast, never too slow.
fn calibrate(begun: Sample) -> u64 {
    /// Measurements at most.
    const TRIES: usize = 8;
    /// Two agree when they differ by less than this part.
    const AGREEMENT: u64 = 50;
    let mut between = wait_after(begun);
    let mut last = rate(begun, between);
    let mut smallest = last;
    for _ in 1..TRIES {
        let end = wait_after(between);
        let next = rate(between, end);
        if next.abs_diff(last) < last / AGREEMENT {
            return next.midpoint(last);
        }
        smallest = smallest.min(next);
        (between, last) = (end, next);
    }
    smallest
}

/// The time-stamp counter and the count of PIT channel 0 at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    counter: u64,
    pit: u16,
}

/// A sample at least 5 ms after `from`.
///
/// A read of the PIT takes microseconds under emulation, and the machine may be held up anywhere. So each sample
/// is the tightest of several, and the interval between two is what counts.
fn wait_after(from: Sample) -> Sample {
    /// PIT counts in the interval: about 5 ms.
    const INTERVAL: u16 = 6_000;
    /// Bound on the samples taken while waiting; each takes at least a microsecond, so this is over a second.
    const SAMPLES_MAX: usize = 2_000_000;
    let mut last = sample();
    for _ in 0..SAMPLES_MAX {
        if counts(from, last) >= INTERVAL {
            break;
        }
        last = sample();
    }
    last
}

/// What the PIT has counted from one sample to another. It counts down.
const fn counts(from: Sample, to: Sample) -> u16 {
    from.pit.wrapping_sub(to.pit)
}

/// Counter ticks per second between two samples.
fn rate(from: Sample, to: Sample) -> u64 {
    /// Assumed when the PIT does not count at all.
    const FALLBACK_HZ: u64 = 1_000_000_000;
    let ticks = u128::from(to.counter - from.counter) * u128::from(PIT_HZ);
    match ticks.checked_div(counts(from, to).into()) {
        Some(rate) => rate as u64,
        None => FALLBACK_HZ,
    }
}

/// The tightest of a few.
fn sample() -> Sample {
    let (counter, pit) = tightest(counter, pit_count);
    Sample { counter, pit }
}

/// The time of a reading, and the reading: the tightest of a few.
pub(super) fn tightest<T>(time: impl Fn() -> u64, read: impl Fn() -> T) -> (u64, T) {
    const MORE_TRIES: usize = 3;
    let once = || {
        let before = time();
        let value = read();
        let width = time() - before;
        (width, before + width / 2, value)
    };
    let mut best = once();
    for _ in 0..MORE_TRIES {
        let next = once();
        if next.0 < best.0 {
            best = next;
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
