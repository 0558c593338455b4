//! The registers by name (PC16550D section 8.0, table II). This is the only place of the driver with `unsafe`.
#![allow(unsafe_code, reason = "the backend asks for an offset below 8, which the enum guarantees")]

use uart_16550::Uart16550;
use uart_16550::backend::{Backend, PioBackend};

use crate::Uart;

/// A register by its offset. Some offsets lead to another one for reads and writes, or while DLAB is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Register {
    /// RBR (read) and THR (write): the FIFOs. With DLAB the low byte of the divisor.
    Data = 0,
    /// IER. With DLAB the high byte of the divisor.
    InterruptEnable = 1,
    /// IIR (read) and FCR (write).
    InterruptId = 2,
    /// LCR.
    LineControl = 3,
    /// MCR.
    ModemControl = 4,
    /// LSR.
    LineStatus = 5,
    /// MSR.
    ModemStatus = 6,
    /// SCR: keeps a byte, means nothing.
    Scratch = 7,
}

/// Reads a register. Some reads have effects on the device.
pub(crate) fn read<B: Backend>(backend: &mut B, register: Register) -> u8 {
    // SAFETY: every variant of `Register` is below 8, the number of registers.
    unsafe { backend.read(register as u8) }
}

/// Writes a register.
pub(crate) fn write<B: Backend>(backend: &mut B, register: Register, value: u8) {
    // SAFETY: every variant of `Register` is below 8, the number of registers.
    unsafe { backend.write(register as u8, value) }
}

/// The UART whose eight registers start at the I/O port `base`, not yet set up.
///
/// # Safety
/// The eight ports from `base` on belong to a UART or to nothing, and nobody else uses them.
///
/// # Panics
/// When `base` is above 0xFFF8, so that the registers run out of the I/O space.
#[must_use]
pub unsafe fn port(base: u16) -> Uart<PioBackend> {
    // SAFETY: the caller's promise is the one that the library asks for.
    match unsafe { Uart16550::new_port(base) } {
        Ok(library) => Uart::new(*library.backend()),
        Err(error) => panic!("no UART fits at port {base:#x}: {error}"),
    }
}
