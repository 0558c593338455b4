//! QEMU's debug console (`isa-debugcon`): a port that takes bytes. With `log=debugcon` on the command line the kernel's
//! own lines go there and COM1 carries nothing but program output, and the machine's exit status follows at the end:
//! a 0x00, which no line holds, and the status. This is how a host runs one command and gets exactly its output.

use crate::arch::boot;
use core::sync::atomic::{AtomicBool, Ordering};
use x86_64::instructions::port::Port;

/// The port of `isa-debugcon` as QEMU's documentation has it.
const PORT: u16 = 0xe9;

static ENABLED: AtomicBool = AtomicBool::new(false);

/// Looks at the command line.
pub(crate) fn init() {
    ENABLED.store(boot::option(b"log") == Some(b"debugcon"), Ordering::Relaxed);
}

/// Whether the host asked for it.
pub(crate) fn is_enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// Writes `bytes`. The device takes each at once.
pub(crate) fn write(bytes: &[u8]) {
    let mut port = Port::<u8>::new(PORT);
    for &byte in bytes {
        // SAFETY: the host said that the device is there; it only takes the byte.
        unsafe { port.write(byte) };
    }
}

/// Tells the exit status of the machine, if the host asked for it.
pub(crate) fn write_status(status: u8) {
    if is_enabled() {
        write(&[0, status]);
    }
}
