/* What the test programs need of a C library, over raw system calls. */
#pragma once

#include "askr.h"

typedef unsigned long u64;

/* A system call as the kernel gives its result: an error is a negative number. */
#define call6 askr_syscall

#define call(number, a, b, c) call6(number, (u64)(a), (u64)(b), (u64)(c), 0, 0, 0)

enum {
    READ = 0, WRITE = 1, OPEN = 2, CLOSE = 3, STAT = 4, MMAP = 9, MPROTECT = 10, RT_SIGACTION = 13, WRITEV = 20,
    NANOSLEEP = 35, GETPID = 39, EXECVE = 59, EXIT = 60, UNAME = 63, GETCWD = 79, GETDENTS64 = 217,
    CLOCK_GETTIME = 228, GETRANDOM = 318, AGENT_ASK = 0x1038
};
enum { ENOENT = -2, E2BIG = -7, EAGAIN = -11, EACCES = -13, EFAULT = -14, EINVAL = -22, ENOSYS = -38 };

static inline u64 length(const char *text) {
    u64 n = 0;
    while (text[n]) n++;
    return n;
}

static inline void print(const char *text) {
    call(WRITE, 1, text, length(text));
}

static inline void print_number(long value) {
    char digits[24];
    int at = sizeof digits;
    u64 left = value < 0 ? -(u64)value : (u64)value;
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (value < 0) digits[--at] = '-';
    call(WRITE, 1, digits + at, sizeof digits - at);
}

static inline __attribute__((noreturn)) void leave(int status) {
    for (;;) call(EXIT, status, 0, 0);
}
