// The PVH door: QEMU, Firecracker and cloud-hypervisor enter here in 32-bit protected mode, paging off,
// EBX = physical address of struct hvm_start_info (Xen, docs/misc/pvh.pandoc; layout in
// xen/include/public/arch-x86/hvm/start_info.h). The way to long mode is Intel SDM vol. 3A, 10.8.5.

.set KERNEL_BASE, 0xffffffff80000000
.set PRESENT_WRITABLE, 0x3
.set HUGE, 0x83                     // present, writable, 2 MiB page

// XEN_ELFNOTE_PHYS32_ENTRY (type 18): the physical address of the entry, 8 bytes.
.section .note.Xen, "a", @note
.align 4
.long 4, 8, 18
.asciz "Xen"
.quad pvh_start - KERNEL_BASE

.section .text.boot, "ax"
.code32
.global pvh_start
pvh_start:
    cli
    cld
    mov esp, offset boot_stack_top - KERNEL_BASE
    call need_processor

    // 2048 entries of 2 MiB: the first 4 GiB, in four page directories that lie one after the other.
    mov edi, offset boot_pd - KERNEL_BASE
    mov eax, HUGE
    xor edx, edx                    // high half of the entry
    mov ecx, 2048
2:  mov [edi], eax
    mov [edi + 4], edx
    add eax, 0x200000
    adc edx, 0
    add edi, 8
    dec ecx
    jnz 2b

    // The four directories serve the identity map and the map of physical memory alike.
    mov edi, offset boot_pdpt_low - KERNEL_BASE
    mov eax, offset boot_pd - KERNEL_BASE + PRESENT_WRITABLE
    mov ecx, 4
3:  mov [edi], eax
    add eax, 4096
    add edi, 8
    dec ecx
    jnz 3b

    // The kernel's own address: the last but one GiB, mapped to the first GiB of memory.
    mov edi, offset boot_pdpt_high - KERNEL_BASE
    mov dword ptr [edi + 510 * 8], offset boot_pd - KERNEL_BASE + PRESENT_WRITABLE

    mov edi, offset boot_pml4 - KERNEL_BASE
    mov dword ptr [edi], offset boot_pdpt_low - KERNEL_BASE + PRESENT_WRITABLE
    mov dword ptr [edi + 256 * 8], offset boot_pdpt_low - KERNEL_BASE + PRESENT_WRITABLE
    mov dword ptr [edi + 511 * 8], offset boot_pdpt_high - KERNEL_BASE + PRESENT_WRITABLE
    mov cr3, edi

    mov eax, cr4
    or eax, 0x20                    // PAE
    mov cr4, eax
    mov ecx, 0xc0000080             // EFER
    rdmsr
    or eax, 0x900                   // LME, NXE
    wrmsr
    mov eax, cr0
    or eax, 0x80010000              // PG, WP
    mov cr0, eax

    lgdt [boot_gdt_pointer - KERNEL_BASE]
    // A far jump by hand: retf takes the same operands and needs no relocation of its own kind.
    push 8
    mov eax, offset pvh_long - KERNEL_BASE
    push eax
    retf

// Returns if the processor has long mode and execute-disable (CPUID leaf 0x80000001, Intel SDM vol. 2A, CPUID). Else it
// says so where somebody may hear it, COM1 and the debug console, and stops. Keeps ebx.
need_processor:
    push ebx
    mov eax, 0x80000000
    cpuid
    cmp eax, 0x80000001
    jb 6f
    mov eax, 0x80000001
    cpuid
    and edx, 0x20100000             // LM, NX
    cmp edx, 0x20100000
    jne 6f
    pop ebx
    ret
6:  mov esi, offset no_processor - KERNEL_BASE
7:  lodsb
    test al, al
    jz 9f
    mov bl, al
    out 0xe9, al
    mov edx, 0x3fd                  // line status of COM1
    mov ecx, 100000                 // a port that is not there never says that it is ready
8:  in al, dx
    test al, 0x20
    loopz 8b
    mov edx, 0x3f8
    mov al, bl
    out dx, al
    jmp 7b
9:  hlt
    jmp 9b

.code64
pvh_long:
    mov ax, 16
    mov ds, ax
    mov es, ax
    mov ss, ax
    xor eax, eax
    mov fs, ax
    mov gs, ax
    movabs rsp, offset boot_stack_top
    mov edi, ebx                    // hvm_start_info, the upper half cleared
    xor ebp, ebp
    movabs rax, offset pvh_main
    call rax
    ud2                             // pvh_main does not return

// The disk-image door: the `bootloader` crate calls this with rdi = BootInfo on a stack that its own page tables
// map; the kernel leaves those tables, so it needs a stack inside its image first.
.global image_entry
image_entry:
    cli
    cld
    movabs rsp, offset boot_stack_top
    xor ebp, ebp
    movabs rax, offset kernel_main
    call rax
    ud2

.section .rodata.boot, "a"
no_processor:
    .asciz "Askr needs a 64-bit processor with execute-disable (long mode, NX).\r\n"
.align 8
boot_gdt:
    .quad 0
    .quad 0x00af9a000000ffff        // 64-bit code
    .quad 0x00cf92000000ffff        // data
boot_gdt_pointer:
    .word 23
    .long boot_gdt - KERNEL_BASE

.section .bss.boot, "aw", @nobits
.align 4096
boot_pml4:      .skip 4096
boot_pdpt_low:  .skip 4096
boot_pdpt_high: .skip 4096
boot_pd:        .skip 4 * 4096
boot_stack:     .skip 65536
.global boot_stack_top
boot_stack_top:
