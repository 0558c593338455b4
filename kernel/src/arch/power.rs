//! Switching the machine off and restarting it.

use super::clock::{self, Nanos, SECOND};
use crate::drivers::debugcon;
use x86_64::VirtAddr;
use x86_64::instructions::port::Port;
use x86_64::instructions::tables::lidt;
use x86_64::instructions::{hlt, interrupts};
use x86_64::structures::DescriptorTablePointer;

/// PM1a control register where QEMU's q35 and pc have it (hw/acpi/ich9.c, piix4.c: PM base 0x600 + 4).
const PM1A_CONTROL: u16 = 0x604;
/// SLP_EN with SLP_TYP 0, which is S5 in QEMU's tables (ACPI 6.5, 4.8.3.2.1).
const SLEEP_S5: u16 = 1 << 13;
/// QEMU's isa-debug-exit device: machines without ACPI ports (microvm) end through it.
const DEBUG_EXIT: u16 = 0xf4;
/// What QEMU then exits with is twice this plus one.
const DEBUG_EXIT_OFF: u32 = 0x31;
/// The same for a kernel that panicked.
const DEBUG_EXIT_FAILED: u32 = 0x32;
/// Reset control register of the PIIX and ICH chipsets.
const RESET_CONTROL: u16 = 0xcf9;
/// Full reset.
const RESET: u8 = 0x06;
/// Command port of the keyboard controller, and its command to pulse the reset line.
const KEYBOARD_COMMAND: u16 = 0x64;
const KEYBOARD_RESET: u8 = 0xfe;

/// How long a host that waits for a status may take nothing of the output before the machine goes off all the same.
const RUN_PATIENCE: Nanos = 600 * SECOND;
/// How long the machine may take to go off. Then it is one that we cannot switch off.
const OFF_PATIENCE: Nanos = 5 * SECOND;
/// How long it may take to reset before it is tried in another way.
const RESTART_PATIENCE: Nanos = SECOND;

/// Switches the machine off, with an exit status for a host that wants one, if there is one; halts for good where nothing
/// answers.
pub(crate) fn off(status: Option<u8>) -> ! {
    // A host that waits for a status waits for all of the output too, and takes its time: it can end this machine.
    let patience = if debugcon::is_enabled() { RUN_PATIENCE } else { SECOND };
    crate::console::drain(patience);
    if let Some(status) = status {
        debugcon::write_status(status);
    }
    // SAFETY: this is the end.
    unsafe {
        Port::<u16>::new(PM1A_CONTROL).write(SLEEP_S5);
        Port::<u32>::new(DEBUG_EXIT).write(DEBUG_EXIT_OFF);
    }
    wait(OFF_PATIENCE);
    let words: [&[u8]; 1] = [b"The machine can be switched off now.\n"];
    crate::screen::write_alarm(&words);
    crate::console::write_emergency(&words);
    halt()
}

/// Ends QEMU with a status that says that the kernel failed; halts for good where nothing answers.
pub(crate) fn fail() -> ! {
    // SAFETY: this is the end.
    unsafe { Port::<u32>::new(DEBUG_EXIT).write(DEBUG_EXIT_FAILED) };
    halt()
}

/// Restarts the machine.
pub(crate) fn restart() -> ! {
    crate::console::drain(SECOND);
    // SAFETY: this is the end.
    unsafe {
        Port::<u8>::new(RESET_CONTROL).write(RESET);
        Port::<u8>::new(KEYBOARD_COMMAND).write(KEYBOARD_RESET);
    }
    wait(RESTART_PATIENCE);
    // A microvm has neither of the two. A processor that cannot deliver a fault shuts down, and the machine resets.
    let none = DescriptorTablePointer { limit: 0, base: VirtAddr::zero() };
    interrupts::disable();
    // SAFETY: this is the end.
    unsafe { lidt(&none) };
    interrupts::int3();
    halt()
}

/// A virtual machine goes on for a moment before it ends.
fn wait(patience: Nanos) {
    let deadline = clock::now() + patience;
    while clock::now() < deadline {
        core::hint::spin_loop();
    }
}

/// Stops for good.
pub(crate) fn halt() -> ! {
    loop {
        interrupts::disable();
        hlt();
    }
}
