/* Ends in one of the ways that get kernels to return to user mode where they must not. */
#include "raw.h"

#define LAST 0x7fffffffffff
#define LAST_CALL 0x7ffffffffffe /* a `syscall` here would return to the first address that is not canonical */
#define NOT_CANONICAL 0x800000000000

__attribute__((used)) static void begin(u64 *stack) {
    const char kind = *(const char *)stack[2];
    switch (kind) {
    case 'a': __asm__ volatile("jmp *%0" ::"r"(LAST)); break;
    case 'b': __asm__ volatile("jmp *%0" ::"r"(LAST_CALL)); break;
    case 'c': __asm__ volatile("jmp *%0" ::"r"(NOT_CANONICAL)); break;
    case 'd': __asm__ volatile("push %0\nret" ::"r"(NOT_CANONICAL)); break;
    /* A stack that the kernel must not use, at a system call and at a fault. */
    case 'e': __asm__ volatile("mov %0, %%rsp\nmov $39, %%eax\nsyscall\nmov %0, %%rsp\npush %%rax" ::"b"(NOT_CANONICAL + 0x1000)); break;
    case 'f': __asm__ volatile("mov %0, %%rsp\nmov $39, %%eax\nsyscall\nud2" ::"b"(0xffffffff80200000)); break;
    /* Single step across a system call. */
    case 'g': __asm__ volatile("pushf\norq $0x100, (%%rsp)\nmov $39, %%eax\npopf\nsyscall\nnop" ::: "rax", "rcx", "r11"); break;
    /* Alignment checks, the direction flag and a nested task are no business of the kernel's. */
    case 'h':
        __asm__ volatile("pushf\norq $0x44400, (%%rsp)\npopf\nmov $39, %%eax\nsyscall\npushf\nandq $~0x44400, (%%rsp)\npopf"
                         ::: "rax", "rcx", "r11");
        print("still here\n");
        leave(0);
    /* Into the kernel by the doors that are for faults and interrupts only. */
    case 'i': __asm__ volatile("int $14"); break;
    case 'j': __asm__ volatile("int $32"); break;
    case 'k': __asm__ volatile("int $128"); break;
    case 'l': __asm__ volatile("sysenter"); break;
    /* Ring 3 may return to no other ring. */
    case 'm': __asm__ volatile("push $0\npush %%rsp\npushf\npush $8\nlea 1f(%%rip), %%rax\npush %%rax\niretq\n1:" ::: "rax"); break;
    case 'n': __asm__ volatile("mov $0, %%eax\nmov %%eax, %%ss\npush %%rax" ::: "rax"); break;
    case 'o': __asm__ volatile("mov %%cr3, %%rax" ::: "rax"); break;
    case 'p': __asm__ volatile("outb %%al, $0xf4" ::); break;
    case 'q': __asm__ volatile("cli"); break;
    case 'r': __asm__ volatile("wrmsr" ::"a"(0), "d"(0), "c"(0xc0000082)); break;
    }
    print("NOTHING HAPPENED\n");
    leave(1);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
