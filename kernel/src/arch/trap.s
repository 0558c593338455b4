// Entries for exceptions, interrupts and system calls. All build the same TrapFrame (see trap.rs), so one
// structure serves faults, preemption, signals and exec.

// ---- exceptions and interrupts: stubs of 16 bytes, vector n at trap_stubs + 16 n ----
.section .text
.align 16
.global trap_stubs
trap_stubs:
.set vector, 0
.rept {vectors}
    .align 16
    // The processor itself pushes an error code for these (Intel SDM vol. 3A, table 6-1).
    .if (vector != 8) && (vector != 10) && (vector != 11) && (vector != 12) && (vector != 13) && (vector != 14) && (vector != 17) && (vector != 21)
        push 0
    .endif
    push vector
    jmp trap_common
    .set vector, vector + 1
.endr

.macro save_registers
    push rax
    push rcx
    push rdx
    push rbx
    push rbp
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    push r12
    push r13
    push r14
    push r15
.endm

.macro restore_registers
    pop r15
    pop r14
    pop r13
    pop r12
    pop r11
    pop r10
    pop r9
    pop r8
    pop rdi
    pop rsi
    pop rbp
    pop rbx
    pop rdx
    pop rcx
    pop rax
.endm

trap_common:
    save_registers
    cld
    mov rdi, rsp                    // the frame is 176 bytes, so rsp is 16-aligned here
    call trap_entry
.global trap_return
trap_return:
    restore_registers
    add rsp, 16                     // vector and error code
    iretq

// ---- SYSCALL: rcx = user rip, r11 = user rflags, interrupts masked by SFMASK, rsp still the user's ----
// One core, so the two words that other kernels keep behind GS are plain statics; the kernel never uses GS,
// and the SWAPGS hazards do not exist here. NMI and machine check have stacks of their own (IST), so they
// are harmless in the two instructions before rsp is ours.
.global syscall_entry
syscall_entry:
    mov [rip + syscall_user_rsp], rsp
    mov rsp, [rip + syscall_kernel_rsp]
    push {user_ss}
    push [rip + syscall_user_rsp]
    push r11
    push {user_cs}
    push rcx
    push rax                        // in the place of the error code: the call's number
    push {syscall_vector}
    save_registers
    cld
    mov rdi, rsp
    call syscall_trap               // al = 1: the frame may be left by SYSRET
    test al, al
    jz trap_return
    restore_registers
    mov rcx, [rsp + 16]             // rip
    mov r11, [rsp + 32]             // rflags
    mov rsp, [rsp + 40]             // rsp; interrupts are off, so nothing is pushed on the user's stack
    sysretq

// ---- context switch: fn(save: *mut u64 [rdi], load: u64 [rsi]) ----
// Callee-saved registers are all that a call has to keep (SysV ABI, 3.2.1); vector state is per process and
// changed in Rust before this.
.global context_switch
context_switch:
    push rbp
    push rbx
    push r12
    push r13
    push r14
    push r15
    mov [rdi], rsp
    mov rsp, rsi
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbx
    pop rbp
    ret

// First instruction of a new task: its function is in rbx, the argument in r12 (see context.rs).
.global context_start
context_start:
    mov rdi, r12
    call rbx
    ud2                             // a task's function does not return

.section .bss
.align 8
.global syscall_user_rsp
syscall_user_rsp: .skip 8
.global syscall_kernel_rsp
syscall_kernel_rsp: .skip 8
