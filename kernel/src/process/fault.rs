//! Faults of user programs. A handler of the program's gets the signal, or the process ends with a report; everything
//! else goes on.

use super::{ExitStatus, Process, dying, with_memory};
use crate::arch::cpu::Registers;
use crate::arch::trap::TrapFrame;
use crate::mm::{AddressSpace, USER_END, user};
use crate::{bus, kprintln, sched};
use alloc::boxed::Box;
use askr_abi::Errno;
use askr_abi::signal::SIGKILL;
use askr_agentbus::{Backtrace, Fault};
use askr_core::areas::Access;
use askr_core::signal::Info;
use askr_core::signal::fault::{self, FaultRecord};

const PAGE_FAULT: u64 = 14;
/// Bits of a page fault's error code (Intel SDM vol. 3A, 4.7).
const ERROR_PRESENT: u64 = 1;
const ERROR_WRITE: u64 = 1 << 1;
const ERROR_USER: u64 = 1 << 2;
const ERROR_FETCH: u64 = 1 << 4;

/// Handles an exception of the running process. `address` is CR2.
pub(crate) fn from_user(frame: &TrapFrame, address: u64) {
    let task = sched::current();
    let process = task.process().expect("user mode means a process");
    if frame.vector != PAGE_FAULT {
        let unmasked = process.save_vector().unmasked_exceptions(frame.vector);
        process.fault.lock().trap = frame.vector;
        process.fault.lock().error = frame.error;
        return raise(process, fault::of_exception(frame.vector, frame.rip, unmasked), frame, None);
    }
    let access = if frame.error & ERROR_FETCH != 0 {
        Access::Execute
    } else if frame.error & ERROR_WRITE != 0 {
        Access::Write
    } else {
        Access::Read
    };
    if frame.error & ERROR_USER == 0 {
        // The processor's own access with ring 0's rights. No page that is made present would end it: QEMU before
        // 9.1 reads the stack so for an IRET in ring 3, and SMAP forbids that.
        return page_fault(process, frame, (address, access), Some("not allowed to the processor"));
    }
    match with_memory(|| process.with_space(|space| space.touch(address, access))) {
        Ok(_) => {}
        // It was the largest and has no memory any more, or a signal ends it: that is told.
        Err(_) if process.is_ending() || dying() => {}
        Err(Errno::ENOMEM) => {
            process.end_for_memory();
            die(process, SIGKILL, frame, Some((address, access, "out of memory")));
        }
        Err(_) => page_fault(process, frame, (address, access), None),
    }
}

/// A page fault that is the program's own: SIGSEGV. Without a `why` the program's memory tells it.
fn page_fault(process: &Process, frame: &TrapFrame, (address, access): (u64, Access), why: Option<&str>) {
    let mapped = process.with_space(|space| Ok(space.covers(address))).unwrap_or(false);
    // What the kernel's half holds is nobody's business: there, every access is one that is not allowed.
    let error = if address < USER_END { frame.error } else { frame.error | ERROR_PRESENT };
    *process.fault.lock() = FaultRecord { error, trap: PAGE_FAULT, cr2: address };
    let why = why.unwrap_or(if mapped || address >= USER_END { "not allowed" } else { "no memory there" });
    raise(process, fault::of_page_fault(address, mapped), frame, Some((address, access, why)));
}

/// Leaves the fault to the program's handler, or ends it with a report.
fn raise(process: &Process, info: Info, frame: &TrapFrame, memory: Option<(u64, Access, &str)>) {
    let handled = process.signals.lock().force(info);
    if !handled {
        die(process, info.signal, frame, memory);
    }
}

const fn describe(vector: u64) -> &'static str {
    match vector {
        0 => "division error",
        1 => "debug exception",
        3 => "breakpoint",
        6 => "invalid instruction",
        13 => "general protection fault",
        PAGE_FAULT => "page fault",
        16 | 19 => "floating-point error",
        17 => "misaligned access",
        _ => "exception",
    }
}

fn die(process: &Process, signal: u32, frame: &TrapFrame, memory: Option<(u64, Access, &str)>) {
    // Escaped: a name is anybody's bytes, and this goes to the human's terminal.
    let name = process.name();
    kprintln!(
        "{}[{}] ended by signal {signal}: {}",
        name.escape_ascii(),
        process.pid(),
        describe(frame.vector)
    );
    if let Some((address, access, why)) = memory {
        let verb = match access {
            Access::Read => "read of",
            Access::Write => "write to",
            Access::Execute => "execution at",
        };
        kprintln!("  {verb} {address:#x}: {why}");
    }
    kprintln!("  rip {:016x} vector {} error {:#x}", frame.rip, frame.vector, frame.error);
    kprintln!("{}", Registers(frame));
    let backtrace = process.with_space(|space| Ok(backtrace(space, frame))).unwrap_or_default();
    for (depth, address) in backtrace.addresses().iter().enumerate() {
        kprintln!("  #{depth} {address:016x}");
    }
    let address = memory.map_or(0, |(address, ..)| address);
    let fault = facts(signal, frame, address, backtrace);
    *process.last_fault.lock() = Some(Box::new(fault));
    process.end(ExitStatus::Signal(signal));
    bus::process_faulted(process, &fault);
}

fn facts(signal: u32, frame: &TrapFrame, address: u64, backtrace: Backtrace) -> Fault {
    let TrapFrame { rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, .. } = *frame;
    let TrapFrame { r12, r13, r14, r15, rflags, .. } = *frame;
    Fault {
        signal: signal as u8,
        vector: frame.vector as u8,
        error: frame.error,
        address,
        rip: frame.rip,
        registers: [rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, r15, rflags],
        backtrace,
    }
}

/// Follows the frame pointers (SysV ABI, 3.2.2): [rbp] = the caller's rbp, [rbp + 8] = the return address. Code built
/// without frame pointers shows a short or wrong trace; it can't do harm.
fn backtrace(space: &mut AddressSpace, frame: &TrapFrame) -> Backtrace {
    let mut found = Backtrace::default();
    let mut rbp = frame.rbp;
    while !found.is_full() {
        let (Ok(next), Ok(returns_to)) = (user::word(space, rbp), user::word(space, rbp.wrapping_add(8)))
        else {
            break;
        };
        if returns_to == 0 {
            break;
        }
        found.push(returns_to);
        if next <= rbp {
            break; // callers lie higher on the stack
        }
        rbp = next;
    }
    found
}
