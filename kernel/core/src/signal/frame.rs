//! What lies on the stack of a handler, as Linux puts it there on x86-64 (`struct rt_sigframe`,
//! `arch/x86/include/asm/sigframe.h`; `struct ucontext`, `arch/x86/include/uapi/asm/ucontext.h`; `struct sigcontext`,
//! `arch/x86/include/uapi/asm/sigcontext.h`): the return address, the context, the information, and above them the
//! vector state. The context is what `rt_sigreturn` takes; a program may have written anything into it.

use super::altstack::AltStack;
use super::fault::FaultRecord;
use super::info::Info;
use super::set::SignalSet;
use super::state::Delivery;
use crate::elf::USER_END;
use askr_abi::signal::{SA_ONSTACK, SA_RESTORER};

/// Bytes of the frame without vector state.
pub const FRAME_SIZE: usize = INFO + Info::SIZE;
/// Bytes of the context, which is all that `rt_sigreturn` reads of it.
pub const CONTEXT_SIZE: usize = INFO - CONTEXT;
/// Where in the frame the context lies: above the return address.
pub const CONTEXT: usize = 8;
/// Where in the frame the information lies.
pub const INFO: usize = 312;

/// Where in the context the fields lie.
const STACK: usize = 16;
const REGISTERS: usize = 40;
const SELECTORS: usize = 184;
const FAULT: usize = 192;
const FPSTATE: usize = 224;
const MASK: usize = 296;

/// Bytes below the stack pointer that a function may use (SysV ABI, 3.2.2).
const RED_ZONE: u64 = 128;
/// Alignment that XSAVE wants.
const FPSTATE_ALIGN: u64 = 64;
/// `uc_flags`: the vector state has the form of XSAVE.
const UC_FP_XSTATE: u64 = 1;
/// `uc_flags`: `ss` is kept and restored.
const UC_SIGCONTEXT_SS: u64 = 2;
/// `uc_flags`: as it is, whatever it is.
const UC_STRICT_RESTORE_SS: u64 = 4;

/// Flags that a program may set for itself: CF PF AF ZF SF TF DF OF RF AC.
const RFLAGS_FREE: u64 = 0x0005_0dd5;
/// Flags that a handler starts without: TF DF RF.
const RFLAGS_CLEARED: u64 = 0x0001_0500;

/// The registers of an interrupted program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the registers'")]
pub struct Registers {
    pub r8: u64,
    pub r9: u64,
    pub r10: u64,
    pub r11: u64,
    pub r12: u64,
    pub r13: u64,
    pub r14: u64,
    pub r15: u64,
    pub rdi: u64,
    pub rsi: u64,
    pub rbp: u64,
    pub rbx: u64,
    pub rdx: u64,
    pub rax: u64,
    pub rcx: u64,
    pub rsp: u64,
    pub rip: u64,
    pub rflags: u64,
    pub cs: u16,
    pub ss: u16,
}

impl Registers {
    /// In the order of `struct sigcontext`.
    const fn words(&self) -> [u64; 18] {
        [
            self.r8,
            self.r9,
            self.r10,
            self.r11,
            self.r12,
            self.r13,
            self.r14,
            self.r15,
            self.rdi,
            self.rsi,
            self.rbp,
            self.rbx,
            self.rdx,
            self.rax,
            self.rcx,
            self.rsp,
            self.rip,
            self.rflags,
        ]
    }

    const fn from_words(words: [u64; 18], cs: u16, ss: u16) -> Self {
        let [r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags] =
            words;
        Self {
            r8,
            r9,
            r10,
            r11,
            r12,
            r13,
            r14,
            r15,
            rdi,
            rsi,
            rbp,
            rbx,
            rdx,
            rax,
            rcx,
            rsp,
            rip,
            rflags,
            cs,
            ss,
        }
    }
}

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Lowest address, the handler's stack pointer: as after a call, 8 below a multiple of 16.
    pub frame: u64,
    /// Address of the vector state, a multiple of 64.
    pub fpstate: u64,
}

/// A delivery cannot be made: there is no room on the stack, no handler where it should be, or no way back from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

impl Place {
    /// Where the frame goes when the program's stack pointer is `rsp` and its vector state takes `fpstate_size` bytes.
    ///
    /// # Errors
    /// [`NoRoom`] without a restorer, for a handler outside of what programs may have (going there would be a fault of
    /// the kernel's), below address 0, or off the alternate stack.
    pub const fn find(rsp: u64, delivery: &Delivery, fpstate_size: u64) -> Result<Self, NoRoom> {
        if !delivery.action.has(SA_RESTORER) || delivery.action.handler >= USER_END {
            return Err(NoRoom);
        }
        let stack = delivery.stack;
        let nested = stack.holds(rsp);
        let mut below = rsp.wrapping_sub(RED_ZONE);
        let entering = delivery.action.has(SA_ONSTACK) && stack.size > 0 && !stack.holds(below);
        if entering {
            below = stack.top();
        }
        let Some(below) = below.checked_sub(fpstate_size) else { return Err(NoRoom) };
        let fpstate = below & !(FPSTATE_ALIGN - 1);
        let Some(below) = fpstate.checked_sub(FRAME_SIZE as u64) else { return Err(NoRoom) };
        let Some(frame) = (below & !15).checked_sub(8) else { return Err(NoRoom) };
        if (nested || entering) && !stack.contains(frame) {
            return Err(NoRoom);
        }
        Ok(Self { frame, fpstate })
    }
}

/// The frame for a delivery to a program that was interrupted with these registers. `xsave` says what form the
/// vector state has.
#[must_use]
pub fn build(
    place: Place,
    registers: &Registers,
    fault: FaultRecord,
    delivery: &Delivery,
    xsave: bool,
) -> [u8; FRAME_SIZE] {
    let mut frame = [0; FRAME_SIZE];
    put(&mut frame, 0, &[delivery.action.restorer]);
    let context = &mut frame[CONTEXT..INFO];
    let form = if xsave { UC_FP_XSTATE } else { 0 };
    put(context, 0, &[form | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS, 0]);
    context[STACK..STACK + AltStack::SIZE].copy_from_slice(&delivery.stack.to_bytes());
    put(context, REGISTERS, &registers.words());
    put(context, SELECTORS, &[u64::from(registers.cs) | u64::from(registers.ss) << 48]);
    put(context, FAULT, &[fault.error, fault.trap, delivery.mask.bits(), fault.cr2, place.fpstate]);
    put(context, MASK, &[delivery.mask.bits()]);
    frame[INFO..].copy_from_slice(&delivery.info.to_bytes());
    frame
}

/// The registers with which the handler starts.
#[must_use]
pub const fn enter(place: Place, registers: &Registers, delivery: &Delivery) -> Registers {
    Registers {
        rip: delivery.action.handler,
        rsp: place.frame,
        rdi: delivery.info.signal as u64,
        rsi: place.frame + INFO as u64,
        rdx: place.frame + CONTEXT as u64,
        rax: 0,
        rflags: registers.rflags & !RFLAGS_CLEARED,
        ..*registers
    }
}

/// What a program goes on with after a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Its registers.
    pub registers: Registers,
    /// What is blocked.
    pub mask: SignalSet,
    /// The alternate stack it had.
    pub stack: AltStack,
    /// Address of its vector state; 0 for the state that programs start with.
    pub fpstate: u64,
}

/// No program may go on with this context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadFrame;

/// Reads a context that a program hands to `rt_sigreturn`. `current` are the program's registers at that call: the
/// flags that it may not change and its selectors come from there.
///
/// # Errors
/// [`BadFrame`] for other selectors than the program's and for an instruction pointer outside of what programs may
/// have: returning there would be a fault of the kernel's.
pub fn read(context: &[u8; CONTEXT_SIZE], current: &Registers) -> Result<Resume, BadFrame> {
    let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|index| context[at + index]));
    let short = |at: usize| u16::from_le_bytes([context[at], context[at + 1]]);
    let words = core::array::from_fn(|index| word(REGISTERS + 8 * index));
    // A program may have written the selectors without their privilege level (Linux sets it too).
    let mut registers = Registers::from_words(words, short(SELECTORS) | 3, short(SELECTORS + 6) | 3);
    registers.rflags = current.rflags & !RFLAGS_FREE | registers.rflags & RFLAGS_FREE;
    if (registers.cs, registers.ss) != (current.cs, current.ss) || registers.rip >= USER_END {
        return Err(BadFrame);
    }
    let stack = core::array::from_fn(|index| context[STACK + index]);
    Ok(Resume {
        registers,
        mask: SignalSet::from_bits(word(MASK)).blockable(),
        stack: AltStack::from_bytes(&stack),
        fpstate: word(FPSTATE),
    })
}

fn put(into: &mut [u8], at: usize, words: &[u64]) {
    for (slot, word) in into[at..].chunks_exact_mut(8).zip(words) {
        slot.copy_from_slice(&word.to_le_bytes());
    }
}
