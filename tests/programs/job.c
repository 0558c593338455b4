/* What a program does that an agent has started: the first argument says which part. */
#include "signal.h"

enum { IOCTL = 16, PIPE = 22, GETRUSAGE = 98, TIMES = 100, CLOCK_NANOSLEEP = 230, EMFILE = -24 };
enum { RDWR = 2, TIOCSCTTY = 0x540e };
enum { WORDS = 8192 };

static u64 words[WORDS];

static __attribute__((noreturn)) void stay(void) {
    for (;;) call(PAUSE, 0, 0, 0);
}

static u64 number(const char *text) {
    u64 value = 0;
    while (*text) value = value * 10 + (u64)(*text++ - '0');
    return value;
}

static u64 milliseconds(void) {
    struct timespec now;
    call(CLOCK_GETTIME, 1, &now, 0);
    return (u64)now.seconds * 1000 + (u64)now.nanos / 1000000;
}

static void burn(u64 wanted) {
    const u64 start = milliseconds();
    while (milliseconds() - start < wanted) {}
}

/* Writes so many bytes; each word is its own position. */
static void flood(u64 wanted) {
    for (u64 done = 0; done < wanted;) {
        for (u64 i = 0; i < WORDS; i++) words[i] = done + 8 * i;
        const u64 left = wanted - done;
        const long wrote = call(WRITE, 1, words, left < sizeof words ? left : sizeof words);
        if (wrote <= 0 || wrote % 8) leave(1);
        done += (u64)wrote;
    }
}

static void ignore_all(void) {
    for (int signal = 1; signal < 32; signal++)
        if (signal != SIGKILL && signal != SIGSTOP) dispose(signal, SIG_IGN);
}

/* Two forks and a session of its own: its parent is process 1, and nobody knows it by its group. */
static void orphan(void) {
    if (call(FORK, 0, 0, 0)) leave(7);
    call(SETSID, 0, 0, 0);
    if (call(FORK, 0, 0, 0)) leave(0);
    ignore_all();
    print("orphan\n");
    stay();
}

/* A child, and a child of that. */
static void tree(void) {
    if (call(FORK, 0, 0, 0) == 0) {
        if (call(FORK, 0, 0, 0) == 0) print("tree\n");
    }
    stay();
}

/* Takes pipes until the kernel has no memory for another one. Whoever has as many as a process may have goes on in a child. */
static void grab(void) {
    int ends[2];
    long refused;
    for (;;) {
        while ((refused = call(PIPE, ends, 0, 0)) == 0) {}
        if (refused == EMFILE) {
            refused = call(FORK, 0, 0, 0);
            if (refused > 0) stay();
            for (int fd = 3; refused == 0 && fd < 1024; fd++) call(CLOSE, fd, 0, 0);
        }
        if (refused) break;
    }
    say("refused", refused);
    stay();
}

/* What it may do at the terminal. */
static void terminal(void) {
    char byte;
    const long fd = call(OPEN, "/dev/tty", RDWR, 0);
    say("open", fd >= 0);
    say("take it", call(IOCTL, fd, TIOCSCTTY, 0));
    say("steal it", call(IOCTL, fd, TIOCSCTTY, 1));
    say("read", call(READ, fd, &byte, 1));
}

static u64 clocked(void) {
    struct timespec time = { 0, 0 };
    call(CLOCK_GETTIME, 2, &time, 0);
    return (u64)time.seconds * 1000 + (u64)time.nanos / 1000000;
}

/* What is told of a child that computes, and of who waits for it and does nothing. All times are in milliseconds. */
static void usage(void) {
    long usage[18], units[4];
    int status;
    const long child = call(FORK, 0, 0, 0);
    if (child == 0) {
        burn(1000);
        leave(0);
    }
    call6(WAIT4, (u64)child, (u64)&status, 0, (u64)usage, 0, 0);
    const long used = usage[0] * 1000 + usage[1] / 1000;
    say("child", used >= 500);
    say("children", call(GETRUSAGE, -1, usage, 0));
    say("the same", usage[0] * 1000 + usage[1] / 1000 == used);
    say("times", call(TIMES, units, 0, 0) > 0);
    say("the same", units[2] == used / 10);
    say("not its own", units[0] < units[2] && clocked() < (u64)used);
    burn(1000);
    say("self", call(GETRUSAGE, 0, usage, 0));
    const long own = usage[0] * 1000 + usage[1] / 1000;
    say("its own", own >= 500 && clocked() >= (u64)own);
    say("who", call(GETRUSAGE, 7, usage, 0));
    say("sleep by it", call6(CLOCK_NANOSLEEP, 2, 0, (u64)&usage, 0, 0, 0));
}

/* Reads from address 16 with every register known. */
void fault(void);
__asm__("fault: push $0\npush $0x1234\npush $0\nmov %rsp, %rbp\n"
        "mov $1, %eax\nmov $2, %ebx\nmov $3, %ecx\nmov $4, %edx\nmov $5, %esi\nmov $6, %edi\n"
        "mov $8, %r8d\nmov $9, %r9d\nmov $10, %r10d\nmov $11, %r11d\nmov $12, %r12d\nmov $13, %r13d\n"
        "mov $14, %r14d\nmov $15, %r15d\nmov 16, %rax\n");

__attribute__((used)) static void begin(u64 *stack) {
    const char kind = stack[0] > 1 ? *(const char *)stack[2] : 0;
    const char *argument = stack[0] > 2 ? (const char *)stack[3] : "0";
    switch (kind) {
    case 'f': flood(number(argument)); break;
    case 'd': ignore_all(); print("deaf\n"); stay();
    case 'o': orphan(); break;
    case 'g': grab(); break;
    case 't': tree(); break;
    case 'h': print("holding\n"); stay();
    case 's': call(CLOSE, 0, 0, 0); print("shut\n"); stay();
    case 'b': burn(number(argument)); break;
    case 'y': terminal(); break;
    case 'u': usage(); break;
    case 'x': fault(); break;
    default: leave(99);
    }
    leave(0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
