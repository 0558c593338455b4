# A kernel that cannot start: it faults and has no handler, so the processor gives up and the machine resets.
.section .note.Xen, "a", @note
    .balign 4
    .long 4, 8, 18              # XEN_ELFNOTE_PHYS32_ENTRY
    .asciz "Xen"
    .quad _start

.text
.code32
.globl _start
_start:
    lidt none
    ud2
none:
    .word 0
    .long 0
