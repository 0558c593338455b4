/*
 * The start of a C program without a C library: link it beside your own files with -static -nostdlib. It calls
 * main(argc, argv, envp) and exits with what that returns. The functions below it are those that gcc itself may call,
 * even where the source does not (GCC manual, "Language Standards Supported by GCC").
 */
#include "askr.h"
#include <asm/unistd.h>

/* Else gcc makes calls of the loops below: strlen would call strlen. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

#define ASKR_STRING_OF(text) #text
#define ASKR_STRING(number) ASKR_STRING_OF(number)

int main(int argc, char **argv, char **envp);

/* rsp points to argc, then argv, a null, envp, a null (System V AMD64 ABI, section 3.4.1). */
__asm__(".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"    /* the outermost frame, for backtraces */
        "    mov (%rsp), %edi\n"
        "    lea 8(%rsp), %rsi\n"
        "    lea 16(%rsp,%rdi,8), %rdx\n"
        "    and $-16, %rsp\n"    /* aligned before a call */
        "    call main\n"
        "    mov %eax, %edi\n"
        "1:  mov $" ASKR_STRING(__NR_exit_group) ", %eax\n"
        "    syscall\n"
        "    jmp 1b\n");

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
    void *start = to;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    return start;
}

void *memmove(void *to, const void *from, size_t count) {
    char *target = to;
    const char *source = from;
    /* Forwards, unless that would overwrite what is still to be copied. */
    if ((uintptr_t)target - (uintptr_t)source >= count) return memcpy(to, from, count);
    while (count-- > 0) target[count] = source[count];
    return to;
}

void *memset(void *at, int byte, size_t count) {
    void *start = at;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(count) : "a"(byte) : "memory");
    return start;
}

int memcmp(const void *left, const void *right, size_t count) {
    const unsigned char *a = left, *b = right;
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i]) return a[i] - b[i];
    return 0;
}

size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length] != 0) length++;
    return length;
}
