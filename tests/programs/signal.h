/* Signals over raw system calls: what the C library would have, with the layouts of the kernel. */
#pragma once
#include "raw.h"

enum {
    RT_SIGPROCMASK = 14, RT_SIGRETURN = 15, YIELD = 24, PAUSE = 34, FORK = 57, VFORK = 58, WAIT4 = 61, KILL = 62,
    SETPGID = 109, GETPPID = 110, GETPGRP = 111, SETSID = 112, GETPGID = 121, GETSID = 124, RT_SIGPENDING = 127,
    RT_SIGTIMEDWAIT = 128, RT_SIGSUSPEND = 130, SIGALTSTACK = 131, TKILL = 200, TGKILL = 234
};
enum {
    SIGHUP = 1, SIGINT = 2, SIGILL = 4, SIGTRAP = 5, SIGBUS = 7, SIGFPE = 8, SIGKILL = 9, SIGUSR1 = 10, SIGSEGV = 11,
    SIGUSR2 = 12, SIGPIPE = 13, SIGTERM = 15, SIGCHLD = 17, SIGCONT = 18, SIGSTOP = 19, SIGTSTP = 20, SIGTTIN = 21,
    SIGTTOU = 22, SIGRT = 40
};
enum { WNOHANG = 1, WUNTRACED = 2, WCONTINUED = 8 };
enum { SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK };
#define SIG_DFL 0
#define SIG_IGN 1
#define SA_NOCLDSTOP 1UL
#define SA_NOCLDWAIT 2UL
#define SA_SIGINFO 4UL
#define SA_RESTORER 0x04000000UL
#define SA_ONSTACK 0x08000000UL
#define SA_RESTART 0x10000000UL
#define SA_NODEFER 0x40000000UL
#define SA_RESETHAND 0x80000000UL
#define BIT(signal) (1UL << ((signal) - 1))

struct action { u64 handler, flags, restorer, mask; };
struct info {
    int signal, error, code, pad;
    union {
        struct { int pid, uid, status; } who;
        u64 address;
        u64 words[14];
    } of;
};
struct stack { u64 base; int flags, pad; u64 size; };
struct context {
    u64 flags, link;
    struct stack stack;
    u64 r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
    unsigned short cs, gs, fs, ss;
    u64 err, trapno, oldmask, cr2;
    unsigned char *fpstate;
    u64 reserved[8];
    u64 mask;
};
struct timespec { long seconds, nanos; };

void restorer(void);
__asm__(".globl restorer\nrestorer: mov $15, %eax\nsyscall\n");

typedef void handler(int, struct info *, struct context *);

static inline long act_masked(int signal, handler *run, u64 flags, u64 mask) {
    const struct action action = { (u64)run, flags | SA_SIGINFO | SA_RESTORER, (u64)restorer, mask };
    return call6(RT_SIGACTION, (u64)signal, (u64)&action, 0, 8, 0, 0);
}

static inline long act(int signal, handler *run, u64 flags) {
    return act_masked(signal, run, flags, 0);
}

static inline long dispose(int signal, u64 how) {
    const struct action action = { how, 0, 0, 0 };
    return call6(RT_SIGACTION, (u64)signal, (u64)&action, 0, 8, 0, 0);
}

static inline long mask(int how, u64 set) {
    return call6(RT_SIGPROCMASK, (u64)how, (u64)&set, 0, 8, 0, 0);
}

static inline u64 masked(void) {
    u64 set = 0;
    call6(RT_SIGPROCMASK, 0, 0, (u64)&set, 8, 0, 0);
    return set;
}

static inline u64 waiting(void) {
    u64 set = 0;
    call(RT_SIGPENDING, &set, 8, 0);
    return set;
}

static inline long send(long pid, int signal) {
    return call(KILL, pid, signal, 0);
}

static inline long send_self(int signal) {
    return send(call(GETPID, 0, 0, 0), signal);
}

static inline void nap(long milliseconds) {
    const struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    call(NANOSLEEP, &time, 0, 0);
}

static inline void say(const char *name, long value) {
    print(name);
    print(" ");
    print_number(value);
    print("\n");
}

static inline void say_hex(const char *name, u64 value) {
    char digits[20];
    int at = sizeof digits;
    digits[--at] = '\n';
    do {
        digits[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value);
    print(name);
    print(" 0x");
    call(WRITE, 1, digits + at, sizeof digits - at);
}

/* The status of a child, when it is there. */
static inline long wait_for(long pid, int options) {
    int status = -1;
    const long got = call6(WAIT4, (u64)pid, (u64)&status, (u64)options, 0, 0, 0);
    return got == pid ? status : got;
}

static inline int same(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}
