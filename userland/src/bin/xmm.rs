//! `xmm [ROUNDS]`: fills the sixteen XMM registers with a pattern of its own, gives the processor away by system
//! call and by time slice, and checks that they are unchanged. Run two at the same time.
//!
//! The program is built without SSE, so nothing but the block below touches those registers.
#![no_std]
#![no_main]

use askr_userland::bytes::Bytes;
use askr_userland::{Args, clock, eprintln, println, sys};
use core::arch::asm;

askr_userland::main!(main);

/// Rounds if the argument does not say.
const ROUNDS: u64 = 50;
/// Turns of the waiting loop in each round: some milliseconds, so that a few rounds see a timer interrupt.
const TURNS: u64 = 1_000_000;

fn main(args: Args) -> i32 {
    let rounds = match args.rest() {
        [] => Some(ROUNDS),
        [text] => clock::parse_u64(text),
        _ => None,
    };
    let Some(rounds) = rounds else {
        eprintln!("xmm: wrong argument '{}'\nusage: xmm [ROUNDS]", Bytes(&args.rest().join(&b' ')));
        return 2;
    };
    // Two processes differ in every byte's neighbourhood, not only in one bit.
    let seed = u64::from(sys::getpid().unsigned_abs()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for round in 0..rounds {
        let wrong = hold(seed.wrapping_add(round));
        if wrong != 0 {
            println!("xmm MIXED in round {round}: registers {wrong:#06x}");
            return 1;
        }
    }
    println!("xmm ok {rounds} rounds");
    0
}

/// Loads, waits, compares: a bit for each register that changed.
///
/// Register `i` gets `seed + i` in its low half and the complement of that in its high half.
fn hold(seed: u64) -> u64 {
    let wrong: u64;
    // SAFETY: the block writes only the registers it names, rcx and r11 by the system call, and the XMM registers,
    // which code for this target never uses.
    unsafe {
        asm!(
            // Load. r8 = value for the next register.
            "mov r8, {seed}",
            ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "mov r9, r8",
            "not r9",
            "push r9",
            "push r8",
            "movups xmm\\i, [rsp]",
            "add rsp, 16",
            "inc r8",
            ".endr",
            // Give the processor away: sched_yield, then spend time in user mode.
            "mov eax, {yield_number}",
            "syscall",
            "2: dec {turns}",
            "jnz 2b",
            // Compare. Bits are shifted in from the top, so that register 0 ends in bit 0.
            "mov r8, {seed}",
            "xor {wrong:e}, {wrong:e}",
            ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            "sub rsp, 16",
            "movups [rsp], xmm\\i",
            "pop r10",
            "pop r11",
            "mov r9, r8",
            "not r9",
            "xor r10, r8",
            "xor r11, r9",
            "or r10, r11",
            "neg r10",            // carry = (r10 was not 0)
            "sbb r10, r10",
            "and r10d, 1 << \\i",
            "or {wrong}, r10",
            "inc r8",
            ".endr",
            seed = in(reg) seed,
            turns = inout(reg) TURNS => _,
            wrong = out(reg) wrong,
            yield_number = const askr_abi::number::SCHED_YIELD,
            out("rax") _, out("rcx") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    wrong
}
