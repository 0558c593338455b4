//! Traps: the frame, the interrupt descriptor table, and what each vector leads to.

use super::gdt::{self, USER_CS, USER_SS};
use super::{apic, cpu, pic};
use askr_core::signal::frame::Registers;
use core::arch::global_asm;
use spin::Once;
use x86_64::VirtAddr;
use x86_64::instructions::interrupts;
use x86_64::registers::control::{Cr2, Efer, EferFlags};
use x86_64::registers::model_specific::{LStar, SFMask};
use x86_64::registers::rflags::RFlags;
use x86_64::structures::idt::InterruptDescriptorTable;

/// The number that stands in [`TrapFrame::vector`] for a system call.
pub(crate) const SYSCALL_VECTOR: u64 = 0x100;
/// Exceptions take the vectors below this, the interrupt controller those from here.
pub(crate) const IRQ_BASE: u8 = 32;
const VECTORS: u8 = 49;
/// That of the local APIC's timer, after the 16 lines of the 8259.
pub(super) const TIMER_VECTOR: u8 = 48;
const NMI: u8 = 2;
const DOUBLE_FAULT: u8 = 8;
const MACHINE_CHECK: u8 = 18;

global_asm!(
    include_str!("trap.s"),
    user_ss = const USER_SS,
    user_cs = const USER_CS,
    syscall_vector = const SYSCALL_VECTOR,
    vectors = const VECTORS,
);

unsafe extern "C" {
    static trap_stubs: u8;
    static mut syscall_kernel_rsp: u64;
    fn syscall_entry();
}

/// The registers of the interrupted code, as `trap.s` pushes them.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
#[allow(missing_docs, reason = "the names are the registers'")]
pub(crate) struct TrapFrame {
    pub(crate) r15: u64,
    pub(crate) r14: u64,
    pub(crate) r13: u64,
    pub(crate) r12: u64,
    pub(crate) r11: u64,
    pub(crate) r10: u64,
    pub(crate) r9: u64,
    pub(crate) r8: u64,
    pub(crate) rdi: u64,
    pub(crate) rsi: u64,
    pub(crate) rbp: u64,
    pub(crate) rbx: u64,
    pub(crate) rdx: u64,
    pub(crate) rcx: u64,
    pub(crate) rax: u64,
    /// Exception or interrupt vector, or [`SYSCALL_VECTOR`].
    pub(crate) vector: u64,
    /// The processor's error code; for a system call its number.
    pub(crate) error: u64,
    pub(crate) rip: u64,
    pub(crate) cs: u64,
    pub(crate) rflags: u64,
    pub(crate) rsp: u64,
    pub(crate) ss: u64,
}

impl TrapFrame {
    /// A frame that starts a user program at `rip` with the stack at `rsp` and all else zero.
    pub(crate) fn user(rip: u64, rsp: u64) -> Self {
        let rflags = RFlags::INTERRUPT_FLAG.bits() | 2;
        Self { rip, rsp, cs: USER_CS, ss: USER_SS, rflags, ..Self::default() }
    }

    /// Whether the interrupted code was a user program.
    pub(crate) const fn is_user(&self) -> bool {
        self.cs & 3 == 3
    }

    /// Makes an interrupted system call begin again, as call `number`.
    pub(crate) fn call_again(&mut self, number: u64) {
        /// Bytes of the `syscall` instruction.
        const SYSCALL_LENGTH: u64 = 2;
        self.rip = self.rip.wrapping_sub(SYSCALL_LENGTH);
        self.rax = number;
    }

    /// The registers for a signal handler's context.
    pub(crate) const fn registers(&self) -> Registers {
        let Self { r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax, .. } = *self;
        let Self { rip, cs, rflags, rsp, ss, .. } = *self;
        let (cs, ss) = (cs as u16, ss as u16);
        Registers {
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

    /// Goes on with other registers of a program, whose selectors and rip were checked.
    pub(crate) const fn set_registers(&mut self, registers: &Registers) {
        let Registers { r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, .. } =
            *registers;
        let Registers { rsp, rip, rflags, .. } = *registers;
        *self = Self {
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
            ..*self
        };
    }

    /// Whether SYSRET may return to it. SYSRET takes rip from rcx and rflags from r11; with a non-canonical rip
    /// it faults in ring 0 with the user's stack (Intel's reading of it), and TF or RF do not survive it.
    fn sysret_safe(&self) -> bool {
        let traps = (RFlags::TRAP_FLAG | RFlags::RESUME_FLAG).bits();
        self.rcx == self.rip
            && self.r11 == self.rflags
            && self.rip < crate::mm::USER_END
            && self.cs == USER_CS
            && self.ss == USER_SS
            && self.rflags & traps == 0
    }
}

/// Loads the descriptor table and turns SYSCALL on.
pub(crate) fn init() {
    static IDT: Once<InterruptDescriptorTable> = Once::new();
    IDT.call_once(|| {
        let mut idt = InterruptDescriptorTable::new();
        let stub = |vector: u8| VirtAddr::from_ptr(&raw const trap_stubs) + 16 * u64::from(vector);
        macro_rules! exceptions {
            ($($name:ident = $vector:literal),*) => {
                // SAFETY: each stub follows the interrupt calling convention and keeps all registers.
                unsafe { $(idt.$name.set_handler_addr(stub($vector));)* }
            };
        }
        exceptions!(
            divide_error = 0,
            debug = 1,
            overflow = 4,
            bound_range_exceeded = 5,
            invalid_opcode = 6,
            device_not_available = 7,
            invalid_tss = 10,
            segment_not_present = 11,
            stack_segment_fault = 12,
            general_protection_fault = 13,
            page_fault = 14,
            x87_floating_point = 16,
            alignment_check = 17,
            simd_floating_point = 19,
            virtualization = 20,
            cp_protection_exception = 21
        );
        // SAFETY: as above; the stacks are in the TSS. Breakpoints come from user code (int3).
        unsafe {
            idt.non_maskable_interrupt.set_handler_addr(stub(2)).set_stack_index(gdt::IST_NMI);
            idt.double_fault.set_handler_addr(stub(8)).set_stack_index(gdt::IST_DOUBLE_FAULT);
            idt.machine_check.set_handler_addr(stub(18)).set_stack_index(gdt::IST_NMI);
            idt.breakpoint.set_handler_addr(stub(3)).set_privilege_level(x86_64::PrivilegeLevel::Ring3);
            for vector in IRQ_BASE..VECTORS {
                idt[vector].set_handler_addr(stub(vector));
            }
        }
        idt
    })
    .load();

    LStar::write(VirtAddr::from_ptr(syscall_entry as *const ()));
    SFMask::write(
        RFlags::INTERRUPT_FLAG
            | RFlags::DIRECTION_FLAG
            | RFlags::TRAP_FLAG
            | RFlags::ALIGNMENT_CHECK
            | RFlags::NESTED_TASK,
    );
    // SAFETY: LSTAR, STAR and SFMASK are set.
    unsafe {
        Efer::update(|flags| flags.insert(EferFlags::SYSTEM_CALL_EXTENSIONS | EferFlags::NO_EXECUTE_ENABLE));
    };
}

/// Sets the stack on which the current task enters the kernel.
pub(crate) fn set_kernel_stack(top: u64) {
    gdt::set_kernel_stack(top);
    // SAFETY: one core, and no system call can begin while the kernel runs this.
    unsafe { syscall_kernel_rsp = top };
}

#[unsafe(no_mangle)]
extern "C" fn trap_entry(frame: &mut TrapFrame) {
    cpu::deny_user_memory();
    // Below VECTORS: the stubs push nothing else.
    match frame.vector as u8 {
        // These come on stacks of their own and may interrupt anything: no lock, no other task.
        vector @ (NMI | DOUBLE_FAULT | MACHINE_CHECK) => return machine_event(vector, frame),
        TIMER_VECTOR => apic::on_timer(),
        vector if vector >= IRQ_BASE => pic::handle(vector - IRQ_BASE),
        _ if frame.is_user() => {
            let address = Cr2::read_raw();
            interrupts::enable();
            crate::process::fault::from_user(frame, address);
        }
        _ => kernel_fault(frame),
    }
    if frame.is_user() {
        interrupts::enable();
        crate::process::before_user(frame, None);
    }
}

#[unsafe(no_mangle)]
extern "C" fn syscall_trap(frame: &mut TrapFrame) -> bool {
    interrupts::enable();
    let restart = crate::syscall::dispatch(frame);
    crate::process::before_user(frame, restart);
    frame.sysret_safe()
}

/// What the machine tells, whoever runs. Nothing on a PC of today sends an NMI that asks for something; the other two
/// mean that nothing can be relied on any more.
fn machine_event(vector: u8, frame: &TrapFrame) {
    if vector != NMI {
        kernel_fault(frame);
    }
}

/// A fault of the kernel itself. None is expected: user memory is reached through checked page walks only.
fn kernel_fault(frame: &TrapFrame) -> ! {
    panic!(
        "kernel fault: vector {} error {:#x} address {:#x}\nrip {:#018x} rsp {:#018x} rflags {:#x}\n{}",
        frame.vector,
        frame.error,
        Cr2::read_raw(),
        frame.rip,
        frame.rsp,
        frame.rflags,
        cpu::Registers(frame),
    )
}
