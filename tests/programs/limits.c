/* Takes what the kernel has until it is refused, or keeps it busy. The first letter of the argument says how. */
#include "raw.h"

enum { YIELD = 24, FORK = 57, WAIT4 = 61, KILL = 62 };
enum { ENOMEM = -12, SIGKILL = 9 };
enum { CHILDREN_MAX = 2048, FILES = 1000, PIECES = 1024 };

static long child[CHILDREN_MAX];
static char block[1 << 20];

static void report(const char *name, long value) {
    print(name);
    print_number(value);
    print("\n");
}

static void nap(void) {
    const u64 tenth[2] = { 0, 100000000 };
    call(NANOSLEEP, tenth, 0, 0);
}

/* Children open files whose text the kernel keeps, until opening and forking are refused. */
static void heap(void) {
    long children = 0, refused = 0;
    while (children < CHILDREN_MAX) {
        const long pid = call(FORK, 0, 0, 0);
        if (pid < 0) {
            refused = pid;
            break;
        }
        if (pid == 0) {
            for (int i = 0; i < FILES; i++)
                if (call(OPEN, "/proc/bus", 0, 0) < 0) break;
            for (;;) nap();
        }
        child[children++] = pid;
        call(YIELD, 0, 0, 0);
    }
    report("fork ", refused);
    report("open ", call(OPEN, "/proc/version", 0, 0));
    /* What needs nothing new goes on. */
    report("write ", call(WRITE, 1, "still here\n", 11));
    for (long i = 0; i < children; i++) call(KILL, child[i], SIGKILL, 0);
    long reaped = 0;
    while (call(WAIT4, -1, 0, 0) > 0) reaped++;
    report("lost ", children - reaped);
    report("again ", call(OPEN, "/proc/version", 0, 0) >= 0);
}

/* Large writes to a device that takes everything at once, for ever. */
static void pieces(void) {
    static struct { const char *base; u64 length; } vector[PIECES];
    for (int i = 0; i < PIECES; i++) {
        vector[i].base = block;
        vector[i].length = sizeof block;
    }
    const long null = call(OPEN, "/dev/null", 1, 0);
    print("begun\n");
    while (call(WRITEV, null, vector, PIECES) > 0) {}
}

/* A bad pointer must not cost the exit status of a child. */
static void status(void) {
    const long pid = call(FORK, 0, 0, 0);
    if (pid == 0) leave(42);
    int word = -1;
    report("usage ", call6(WAIT4, (u64)pid, (u64)&word, 0, 0xffff800000000000, 0, 0));
    report("word ", call6(WAIT4, (u64)pid, 8, 0, 0, 0, 0));
    report("good ", call6(WAIT4, (u64)pid, (u64)&word, 0, 0, 0, 0) == pid);
    report("code ", word >> 8);
}

__attribute__((used)) static void begin(u64 *stack) {
    switch (*(const char *)stack[2]) {
    case 'h': heap(); break;
    case 'p': pieces(); break;
    case 's': status(); break;
    }
    leave(0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
