//! From the kernel's jump to the program's `main`, and the end by panic.
#![allow(unsafe_code, reason = "the entry point has no caller that Rust knows")]

use crate::env::{self, Args, Surroundings};
use crate::sys::stack::{InitialStack, bytes_of};
use crate::{alloc, io, process, sys};
use core::arch::naked_asm;
use core::panic::PanicInfo;

/// Exit code of a program that panicked, as in Rust's standard library.
const EXIT_PANIC: i32 = 101;
/// Exit code of a program that got no memory: 128 + SIGABRT, what a shell reports after `abort`.
const EXIT_NO_MEMORY: i32 = 134;

/// Tag of the address of the relocation table.
const DT_RELA: u64 = 7;
/// Tag of that table's size.
const DT_RELASZ: u64 = 8;
/// Relocation "base + addend" without a symbol, the only kind in a static-PIE.
const R_X86_64_RELATIVE: u64 = 8;

/// Names the program's `fn main(args: Args) -> i32`.
#[macro_export]
macro_rules! main {
    ($main:path) => {
        #[allow(unsafe_code, reason = "the library's entry point finds main by this name")]
        // SAFETY: nothing else in a program has this name.
        #[unsafe(no_mangle)]
        extern "Rust" fn askr_program_main(args: $crate::Args) -> i32 {
            $main(args)
        }
    };
}

// SAFETY: `main!` defines it with this signature; without it the program does not link.
unsafe extern "Rust" {
    fn askr_program_main(args: Args) -> i32;
}

/// Entry point of every program. rsp points to argc (System V AMD64 ABI, section 3.4.1).
///
/// First it relocates the program: adds the address where the kernel put it to every address in its data, as the
/// `DT_RELA` table of the dynamic section says (ELF gABI, chapter 5). That is in assembly because compiled code,
/// without optimization, may call through the very table that is not relocated yet. The tables are the linker's
/// own and end where it says.
///
/// # Safety
/// Only the kernel may start it.
#[unsafe(naked)]
// SAFETY: the linker's name for the entry point; a program has one.
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!(
        "xor ebp, ebp",                    // the outermost frame, for backtraces
        "mov rdi, rsp",                    // argc, argv, ...: the argument of `enter`
        "lea rsi, [rip + __ehdr_start]",   // where we are; the link address is 0
        "lea rdx, [rip + _DYNAMIC]",
        "xor r8d, r8d",                    // table
        "xor r9d, r9d",                    // size of the table in bytes
        "2:",
        "mov rax, [rdx]",                  // d_tag
        "mov rcx, [rdx + 8]",              // d_val
        "add rdx, 16",
        "cmp rax, {dt_rela}",
        "cmove r8, rcx",
        "cmp rax, {dt_relasz}",
        "cmove r9, rcx",
        "test rax, rax",                   // DT_NULL ends the section
        "jnz 2b",
        "add r8, rsi",
        "add r9, r8",                      // end of the table
        "3:",
        "cmp r8, r9",
        "jae 4f",
        "cmp qword ptr [r8 + 8], {r_relative}",
        "jne 5f",
        "mov rax, [r8 + 16]",              // r_addend
        "add rax, rsi",
        "mov rcx, [r8]",                   // r_offset
        "mov [rsi + rcx], rax",
        "add r8, 24",
        "jmp 3b",
        "4:",
        "and rsp, -16",                    // aligned before a call
        "call {enter}",
        "5:",
        "ud2",                             // a relocation of another kind: not linked by build.rs
        dt_rela = const DT_RELA,
        dt_relasz = const DT_RELASZ,
        r_relative = const R_X86_64_RELATIVE,
        enter = sym enter,
    )
}

/// Gathers what the kernel passed and runs `main`.
///
/// # Safety
/// Only `_start` may call it, with the value that rsp had.
unsafe extern "C" fn enter(stack: *const usize) -> ! {
    // SAFETY: the kernel laid the stack out as the ABI says.
    let initial = unsafe { InitialStack::read(stack) };
    // SAFETY: both arrays come from the initial stack.
    let bytes = |strings: &[_]| strings.iter().map(|&string| unsafe { bytes_of(string) }).collect();
    let args = Args::new(bytes(initial.arguments));
    env::set(Surroundings {
        program: args.all().first().copied().unwrap_or_default(),
        variables: bytes(initial.environment),
        auxiliary: initial.auxiliary.iter().map(|entry| (entry.kind, entry.value)).collect(),
    });
    // SAFETY: `main!` in the program defines it.
    let status = unsafe { askr_program_main(args) };
    process::exit(status)
}

/// Says where and why on standard error and ends the process. Uses no heap, because it may be the heap that
/// failed.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    io::flush_best_effort();
    let program = env::program();
    if alloc::is_exhausted() {
        crate::eprintln!("{program}: out of memory: {}", info.message());
        sys::exit(EXIT_NO_MEMORY);
    }
    match info.location() {
        Some(place) => {
            crate::eprintln!("{program}: panicked at {}:{}: {}", place.file(), place.line(), info.message());
        }
        None => crate::eprintln!("{program}: panicked: {}", info.message()),
    }
    sys::exit(EXIT_PANIC)
}
