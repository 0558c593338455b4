/* Takes what the kernel has until it is refused, or keeps it busy. The first letter of the argument says how. */
#include "raw.h"

enum { MUNMAP = 11, YIELD = 24, FORK = 57, WAIT4 = 61, KILL = 62, PIPE2 = 293 };
enum { ENOMEM = -12, SIGKILL = 9, REAL_TIME = 40 };
enum { WRONLY_CREAT = 0101, O_NONBLOCK = 04000, PRIVATE_ANONYMOUS = 0x22, PAGE = 4096 };
enum { CHILDREN_MAX = 2048, FILES = 1000, FEW = 100, PIECES = 1024, ARGUMENTS = 13000 };

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

/* Children open so many files each, whose text the kernel keeps, until opening and forking are refused. */
static long fill(long *refused, int files) {
    long children = 0;
    *refused = 0;
    while (children < CHILDREN_MAX) {
        const long pid = call(FORK, 0, 0, 0);
        if (pid < 0) {
            *refused = pid;
            break;
        }
        if (pid == 0) {
            for (int i = 0; i < files; i++)
                if (call(OPEN, "/proc/bus", 0, 0) < 0) break;
            for (;;) nap();
        }
        child[children++] = pid;
        call(YIELD, 0, 0, 0);
    }
    return children;
}

static void heap(void) {
    const long file = call(OPEN, "/tmp/limits", WRONLY_CREAT, 0644);
    const long pages = call6(MMAP, 0, 3 * PAGE, 3, PRIVATE_ANONYMOUS, -1, 0);
    int ends[2];
    call(PIPE2, ends, O_NONBLOCK, 0);
    long refused;
    const long children = fill(&refused, FILES);
    report("fork ", refused);
    /* All of these would make the kernel remember more. */
    report("keep ", call(WRITE, file, block, PAGE));
    report("cut ", call(MUNMAP, pages + PAGE, PAGE, 0));
    report("queue ", call(KILL, child[0], REAL_TIME, 0));
    report("pipe ", call(WRITE, ends[1], block, 16 * PAGE));
    report("open ", call(OPEN, "/proc/version", 0, 0));
    /* What needs nothing new goes on. */
    report("write ", call(WRITE, 1, "still here\n", 11));
    for (long i = 0; i < children; i++) call(KILL, child[i], SIGKILL, 0);
    long reaped = 0;
    while (call(WAIT4, -1, 0, 0) > 0) reaped++;
    report("lost ", children - reaped);
    report("again ", call(OPEN, "/proc/version", 0, 0) >= 0);
}

/* Arguments that take far more of the kernel's memory than they have bytes, with less and less of it in use: there is none
   for them, or there is and they are too long. */
static void arguments(void) {
    static const char *many[ARGUMENTS + 1];
    for (int i = 0; i < ARGUMENTS; i++) many[i] = "a";
    long refused, none = 0, too_long = 0, other = 0;
    const long children = fill(&refused, FEW);
    for (long i = 0; i < children; i++) {
        call(KILL, child[i], SIGKILL, 0);
        call(WAIT4, child[i], 0, 0);
        const long result = call(EXECVE, "/bin/true", many, many);
        none += result == ENOMEM;
        too_long += result == E2BIG;
        other += result != ENOMEM && result != E2BIG;
    }
    report("none ", none > 0);
    report("too long ", too_long > 0);
    report("other ", other);
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
    case 'a': arguments(); break;
    case 'p': pieces(); break;
    case 's': status(); break;
    }
    leave(0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
