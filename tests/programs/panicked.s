# A kernel that does the last thing that Askr's does when it panics under a host that waits for a result.
.section .note.Xen, "a", @note
    .balign 4
    .long 4, 8, 18              # XEN_ELFNOTE_PHYS32_ENTRY
    .asciz "Xen"
    .quad _start

.text
.code32
.globl _start
_start:
    mov $0x32, %eax
    mov $0xf4, %edx
    out %eax, %dx
1:  hlt
    jmp 1b
