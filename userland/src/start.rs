//! From the kernel's jump to the program's `main`, and the end by panic.
#![allow(unsafe_code, reason = "the entry point has no caller that Rust knows")]

use crate::env::{self, Args, Surroundings};
use crate::sys::stack::{Dynamic, InitialStack, bytes_of, relocate};
use crate::{alloc, io, process, sys};
use core::arch::naked_asm;
use core::panic::PanicInfo;

/// Exit code of a program that panicked, as in Rust's standard library.
const EXIT_PANIC: i32 = 101;
/// Exit code of a program that got no memory: 128 + SIGABRT, what a shell reports after `abort`.
const EXIT_NO_MEMORY: i32 = 134;
/// Exit code of a program that cannot be relocated, as a shell reports one that cannot be run.
const EXIT_NOT_RUN: i32 = 126;

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
/// # Safety
/// Only the kernel may start it.
#[unsafe(naked)]
// SAFETY: the linker's name for the entry point; a program has one.
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!(
        "xor ebp, ebp",                   // the outermost frame, for backtraces
        "mov rdi, rsp",                   // argc, argv, ... (first argument)
        "lea rsi, [rip + __ehdr_start]",  // where we are; linked at 0 (second)
        "lea rdx, [rip + _DYNAMIC]",      // our dynamic section (third)
        "and rsp, -16",                   // aligned before a call
        "call {enter}",
        "ud2",
        enter = sym enter,
    )
}

/// Relocates, gathers what the kernel passed, runs `main`.
///
/// # Safety
/// Only `_start` may call it, with these three addresses.
unsafe extern "C" fn enter(stack: *const usize, base: usize, dynamic: *const Dynamic) -> ! {
    // SAFETY: the addresses are the program's own, and nothing ran before.
    if !unsafe { relocate(base, dynamic) } {
        let _ =
            sys::write(sys::STDERR, b"start: the program has a relocation that is not R_X86_64_RELATIVE\n");
        sys::exit(EXIT_NOT_RUN);
    }
    // SAFETY: the kernel laid the stack out as the ABI says.
    let initial = unsafe { InitialStack::read(stack) };
    // SAFETY: both arrays come from the initial stack.
    let bytes = |strings: &[_]| strings.iter().map(|&string| unsafe { bytes_of(string) }).collect();
    env::set(Surroundings {
        variables: bytes(initial.environment),
        auxiliary: initial.auxiliary.iter().map(|entry| (entry.kind, entry.value)).collect(),
    });
    // SAFETY: `main!` in the program defines it.
    let status = unsafe { askr_program_main(Args::new(bytes(initial.arguments))) };
    process::exit(status)
}

/// Says where and why on standard error and ends the process. Uses no heap, because it may be the heap that
/// failed.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    io::flush_best_effort();
    if alloc::is_exhausted() {
        crate::eprintln!("out of memory: {}", info.message());
        sys::exit(EXIT_NO_MEMORY);
    }
    match info.location() {
        Some(place) => crate::eprintln!("panicked at {}:{}: {}", place.file(), place.line(), info.message()),
        None => crate::eprintln!("panicked: {}", info.message()),
    }
    sys::exit(EXIT_PANIC)
}
