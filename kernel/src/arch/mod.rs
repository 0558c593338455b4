//! What is particular to x86-64: boot, descriptor tables, traps, the context switch, clock and interrupt
//! controller. Together with `mm` and the driver constructors the home of `unsafe`.

mod apic;
pub(crate) mod boot;
pub(crate) mod clock;
pub(crate) mod context;
pub(crate) mod cpu;
pub(crate) mod gdt;
pub(crate) mod pic;
pub(crate) mod power;
mod rtc;
pub(crate) mod trap;

/// From here on a fault says what it was. Each door calls it first and once, interrupts off.
pub(crate) fn catch_faults() {
    gdt::init();
    trap::init();
}
