//! `crash [KIND]`: does something that a process must not do, to show that only this process ends.
#![no_std]
#![no_main]

use askr_userland::bytes::Bytes;
use askr_userland::{Args, eprintln};
use core::arch::asm;

askr_userland::main!(main);

/// Name, what it does, what does it.
const KINDS: &[(&str, &str, fn())] = &[
    ("null", "writes to address 0 (the default)", write_null),
    ("read", "reads from address 0", read_null),
    ("kernel", "reads from the kernel's half of the address space", read_kernel),
    ("jump", "jumps to an unmapped address", jump_unmapped),
    ("call", "jumps into the kernel's half of the address space", jump_kernel),
    ("far", "jumps to a non-canonical address", jump_non_canonical),
    ("exec", "executes data on its stack", execute_stack),
    ("text", "writes to its own code", write_text),
    ("stack", "pushes until the stack is full", overflow_stack),
    ("ud", "executes an undefined instruction", undefined_instruction),
    ("div", "divides by zero", divide_by_zero),
    ("gp", "reads from a non-canonical address", read_non_canonical),
    ("hlt", "executes a privileged instruction", privileged_instruction),
    ("int3", "hits a breakpoint", breakpoint),
    ("panic", "panics", || panic!("on request")),
];

fn main(args: Args) -> i32 {
    let wanted = match args.rest() {
        [] => &b"null"[..],
        [kind] => kind,
        _ => b"",
    };
    let Some((name, what, crash)) = KINDS.iter().find(|kind| kind.0.as_bytes() == wanted) else {
        eprintln!("crash: unknown kind '{}'\nusage: crash [KIND], one of", Bytes(wanted));
        for (name, what, _) in KINDS {
            eprintln!("  {name:<7} {what}");
        }
        return 2;
    };
    crash();
    eprintln!("crash: {name} ({what}) did not end this process");
    1
}

fn write_null() {
    // SAFETY: not sound, on purpose: the kernel must end this process here.
    unsafe { asm!("mov byte ptr [{0}], 1", in(reg) 0_u64) }
}

fn read_null() {
    // SAFETY: not sound, on purpose: the kernel must end this process here.
    unsafe { asm!("mov {0}, [{0}]", inout(reg) 0_u64 => _) }
}

fn read_kernel() {
    // SAFETY: not sound, on purpose. The address is where kernels are linked, in the upper half.
    unsafe { asm!("mov {0}, [{0}]", inout(reg) 0xFFFF_FFFF_8020_0000_u64 => _) }
}

fn jump_unmapped() {
    // SAFETY: not sound, on purpose. Nothing is mapped below the first page's end.
    unsafe { asm!("jmp {0}", in(reg) 0x10_u64) }
}

fn jump_kernel() {
    // SAFETY: not sound, on purpose. The address is where kernels are linked, in the upper half.
    unsafe { asm!("jmp {0}", in(reg) 0xFFFF_FFFF_8020_0000_u64) }
}

fn jump_non_canonical() {
    // SAFETY: not sound, on purpose. Bit 47 is set and the bits above are not (Intel SDM volume 1, 3.3.7.1).
    unsafe { asm!("jmp {0}", in(reg) 0x0000_8000_0000_0000_u64) }
}

fn execute_stack() {
    // SAFETY: not sound, on purpose. The stack holds a `ret`, which would come back here if it were executable.
    unsafe { asm!("sub rsp, 16", "mov byte ptr [rsp], 0xC3", "call rsp", "add rsp, 16") }
}

fn write_text() {
    // SAFETY: not sound, on purpose. The byte written is the one that is there, should it be possible.
    unsafe {
        asm!("lea {0}, [rip + 2f]", "mov {1}, [{0}]", "mov [{0}], {1}", "2:", out(reg) _, out(reg_byte) _);
    }
}

fn overflow_stack() {
    // SAFETY: not sound, on purpose: it has no end but the stack's.
    unsafe { asm!("2: push rax", "jmp 2b") }
}

fn undefined_instruction() {
    // SAFETY: not sound, on purpose.
    unsafe { asm!("ud2") }
}

fn divide_by_zero() {
    // SAFETY: not sound, on purpose.
    unsafe { asm!("div {0:e}", in(reg) 0_u32, inout("eax") 1_u32 => _, inout("edx") 0_u32 => _) }
}

fn read_non_canonical() {
    // SAFETY: not sound, on purpose. Bit 47 is set and the bits above are not (Intel SDM volume 1, 3.3.7.1).
    unsafe { asm!("mov {0}, [{0}]", inout(reg) 0x0000_8000_0000_0000_u64 => _) }
}

fn privileged_instruction() {
    // SAFETY: not sound, on purpose.
    unsafe { asm!("hlt") }
}

fn breakpoint() {
    // SAFETY: not sound, on purpose.
    unsafe { asm!("int3") }
}
