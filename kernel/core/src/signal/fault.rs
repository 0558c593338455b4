//! Which signal an exception of the processor is, as on Linux (`arch/x86/kernel/traps.c`, `mm/fault.c`).

use super::info::{Detail, Info};
use askr_abi::signal::{
    BUS_ADRALN, FPE_FLTDIV, FPE_FLTINV, FPE_FLTOVF, FPE_FLTRES, FPE_FLTUND, FPE_INTDIV, ILL_ILLOPN,
    SEGV_ACCERR, SEGV_MAPERR, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, TRAP_TRACE,
};

/// What a handler finds of the last exception in its context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultRecord {
    /// The processor's error code.
    pub error: u64,
    /// Vector of the exception.
    pub trap: u64,
    /// Address of the last page fault.
    pub cr2: u64,
}

/// A page fault at `address`; `mapped` says that something is there, but may not be used so.
#[must_use]
pub const fn of_page_fault(address: u64, mapped: bool) -> Info {
    let code = if mapped { SEGV_ACCERR } else { SEGV_MAPERR };
    Info { signal: SIGSEGV, code, detail: Detail::Fault { address } }
}

/// Any other exception at the instruction `rip`. `unmasked` are the floating-point exceptions that happened and are
/// not masked, as MXCSR and the x87 status word number them; they matter for vectors 16 and 19 only.
#[must_use]
pub const fn of_exception(vector: u64, rip: u64, unmasked: u32) -> Info {
    let at = Detail::Fault { address: rip };
    match vector {
        0 => Info { signal: SIGFPE, code: FPE_INTDIV, detail: at },
        1 => Info { signal: SIGTRAP, code: TRAP_TRACE, detail: at },
        3 => Info::from_kernel(SIGTRAP),
        6 => Info { signal: SIGILL, code: ILL_ILLOPN, detail: at },
        11 | 12 => Info::from_kernel(SIGBUS),
        17 => Info { signal: SIGBUS, code: BUS_ADRALN, detail: Detail::None },
        16 | 19 => Info { signal: SIGFPE, code: code_of(unmasked), detail: at },
        _ => Info::from_kernel(SIGSEGV),
    }
}

/// The code of the first of these that happened: invalid, division by zero, overflow, underflow or denormal, inexact.
const fn code_of(unmasked: u32) -> i32 {
    match unmasked {
        _ if unmasked & 0x01 != 0 => FPE_FLTINV,
        _ if unmasked & 0x04 != 0 => FPE_FLTDIV,
        _ if unmasked & 0x08 != 0 => FPE_FLTOVF,
        _ if unmasked & 0x12 != 0 => FPE_FLTUND,
        _ if unmasked & 0x20 != 0 => FPE_FLTRES,
        _ => 0,
    }
}

/// The exceptions that MXCSR says happened and are not masked.
#[must_use]
pub const fn unmasked_sse(mxcsr: u32) -> u32 {
    mxcsr & !(mxcsr >> 7) & 0x3f
}

/// The same of the x87 unit, from its control and status words.
#[must_use]
pub const fn unmasked_x87(control: u16, status: u16) -> u32 {
    (status & !control & 0x3f) as u32
}
