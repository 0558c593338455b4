//! The local APIC: lets the interrupts of the 8259 through (virtual-wire mode), and its timer is the tick.
//! Registers: Intel SDM vol. 3A, table 11-1 and section 11.5.4.

use super::clock::{self, Nanos, SECOND};
use super::trap::{IRQ_BASE, TIMER_VECTOR};
use crate::mm;
use core::sync::atomic::{AtomicU64, Ordering};
use x86_64::registers::model_specific::{ApicBase, ApicBaseFlags};

const END_OF_INTERRUPT: u64 = 0xb0;
const SPURIOUS: u64 = 0xf0;
const LVT_TIMER: u64 = 0x320;
const LINT0: u64 = 0x350;
const LINT1: u64 = 0x360;
const INITIAL_COUNT: u64 = 0x380;
const CURRENT_COUNT: u64 = 0x390;
const DIVIDE: u64 = 0x3e0;

/// Of [`LVT_TIMER`]: the interrupt does not come through; it comes again and again.
const MASKED: u32 = 1 << 16;
const PERIODIC: u32 = 1 << 17;

/// The part of its time that an alarm is set late, and by which two measurements may differ.
const LATE: u64 = 256;

/// Where the registers are mapped; 0 if this machine has none.
static REGISTERS: AtomicU64 = AtomicU64::new(0);
/// Counts of the timer in a second; 0 if it does not count.
static HZ: AtomicU64 = AtomicU64::new(0);

/// Opens LINT0 for the 8259 (ExtINT). Firmware that boots us directly (qboot, microvm) leaves it masked, and then
/// no interrupt ever arrives.
pub(super) fn init() {
    const ENABLE: u32 = 0x100;
    /// That of the 8259's last line, which knows false alarms, too.
    const SPURIOUS_VECTOR: u32 = IRQ_BASE as u32 + 15;
    const EXT_INT: u32 = 0x700;
    const NMI: u32 = 0x400;
    let (base, flags) = ApicBase::read();
    // In x2APIC mode the registers are not in memory. Firmware that leaves it so has opened LINT0 itself.
    if !flags.contains(ApicBaseFlags::LAPIC_ENABLE) || flags.contains(ApicBaseFlags::X2APIC_ENABLE) {
        return;
    }
    REGISTERS.store(mm::phys_to_virt(base.start_address().as_u64()), Ordering::Relaxed);
    write(SPURIOUS, ENABLE | SPURIOUS_VECTOR);
    write(LINT0, EXT_INT);
    write(LINT1, NMI);
}

/// Measures the timer against the clock until two measurements in a row agree. Returns whether there is one.
pub(super) fn calibrate() -> bool {
    const DIVIDE_BY_16: u32 = 0b0011;
    /// Measurements at most.
    const TRIES: usize = 8;
    if REGISTERS.load(Ordering::Relaxed) == 0 {
        return false;
    }
    write(DIVIDE, DIVIDE_BY_16);
    write(LVT_TIMER, MASKED);
    let mut hz = measure();
    for _ in 1..TRIES {
        let last = core::mem::replace(&mut hz, measure());
        if hz.abs_diff(last) <= last / LATE {
            break;
        }
    }
    HZ.store(hz, Ordering::Relaxed);
    hz > 0
}

/// Counts in a second, measured over a millisecond.
fn measure() -> u64 {
    const LONG: Nanos = SECOND / 1000;
    write(INITIAL_COUNT, u32::MAX);
    let sample = || clock::tightest(clock::now, || read(CURRENT_COUNT));
    let (from, count) = sample();
    while clock::now() < from + LONG {
        core::hint::spin_loop();
    }
    let (to, less) = sample();
    u64::from(count.saturating_sub(less)) * SECOND / (to - from)
}

/// The timer's interrupt comes each `period` from now on. There is a timer.
pub(super) fn tick_each(period: Nanos) {
    write(LVT_TIMER, PERIODIC | u32::from(TIMER_VECTOR));
    write(INITIAL_COUNT, counts(period));
}

/// The timer's interrupt comes once, in `time` and a little more, because one that comes too early costs a second one; on
/// a busy host it may come too early all the same. There is a timer.
pub(super) fn alarm_in(time: Nanos) {
    let time = time + time / LATE;
    write(LVT_TIMER, u32::from(TIMER_VECTOR));
    write(INITIAL_COUNT, counts(time));
}

/// At least one: zero would stop the timer.
fn counts(time: Nanos) -> u32 {
    let counts = u128::from(time) * u128::from(HZ.load(Ordering::Relaxed)) / u128::from(SECOND);
    u32::try_from(counts).unwrap_or(u32::MAX).max(1)
}

/// Serves the timer's interrupt, with interrupts off.
pub(super) fn on_timer() {
    clock::on_timer();
    crate::sched::on_tick();
    write(END_OF_INTERRUPT, 0);
}

fn write(offset: u64, value: u32) {
    // SAFETY: see `register`.
    unsafe { register(offset).write_volatile(value) };
}

fn read(offset: u64) -> u32 {
    // SAFETY: see `register`.
    unsafe { register(offset).read_volatile() }
}

/// The local APIC's page is mapped with the first 4 GiB and private to the processor. Nobody comes here before [`init`]
/// has found one, and `offset` is one of the above.
fn register(offset: u64) -> *mut u32 {
    (REGISTERS.load(Ordering::Relaxed) + offset) as *mut u32
}
