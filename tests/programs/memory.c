/* What memory a program gets, shares and gives back. The first argument says which part. A check that fails prints a
   line; the end prints one too. */
#include "raw.h"

enum {
    MUNMAP = 11, BRK = 12, MREMAP = 25, MADVISE = 28, FORK = 57, WAIT4 = 61, SETRLIMIT = 160, GETRLIMIT = 97,
    PRLIMIT64 = 302, SCHED_YIELD = 24, VFORK = 58, KILL = 62
};
enum { EPERM = -1, ENOEXEC = -8, EBADF = -9, ENOMEM = -12, EEXIST = -17, ENODEV = -19 };
enum { NONE = 0, R = 1, W = 2, X = 4 };
enum { SHARED = 1, PRIVATE = 2, FIXED = 0x10, ANONYMOUS = 0x20, NOREPLACE = 0x100000 };
enum { MAYMOVE = 1, DONTNEED = 4 };
enum { DATA = 2, STACK = 3, NPROC = 6, NOFILE = 7, AS = 9 };
enum { PAGE = 4096, SIGKILL = 9, SIGSEGV = 11 };

static volatile char data[64 * PAGE];
static long failures;

static void check(const char *what, long got, long wanted) {
    if (got == wanted) return;
    failures++;
    print("BAD ");
    print(what);
    print(": ");
    print_number(got);
    print(" instead of ");
    print_number(wanted);
    print("\n");
}

static long map(u64 at, u64 size, int rights, int flags) {
    return call6(MMAP, at, size, rights, flags | ANONYMOUS, -1, 0);
}

static long now(void) {
    u64 time[2];
    call(CLOCK_GETTIME, 1, time, 0);
    return (long)(time[0] * 1000000 + time[1] / 1000);
}

/* Raw wait status of a child. */
static int wait_for(long pid) {
    int word = -1;
    check("wait", call6(WAIT4, (u64)pid, (u64)&word, 0, 0, 0, 0), pid);
    return word;
}

/* What becomes of a child that touches `at`: 0, or the signal. */
static int touch(long at, int write) {
    const long pid = call(FORK, 0, 0, 0);
    if (pid == 0) {
        if (write)
            *(volatile char *)at = 1;
        else
            (void)*(volatile char *)at;
        leave(0);
    }
    return wait_for(pid);
}

static void copy_on_write(void) {
    for (int i = 0; i < 64; i++) data[i * PAGE] = 1;
    const long pid = call(FORK, 0, 0, 0);
    if (pid == 0) {
        for (int i = 0; i < 64; i += 2) data[i * PAGE] = 2;
        /* The kernel writes too: sixteen bytes across two pages that the parent has as well. */
        check("kernel writes", call(GETRANDOM, data + 4 * PAGE - 8, 16, 0), 16);
        data[3 * PAGE + PAGE - 1] = data[4 * PAGE] = 9;
        for (int i = 1; i < 64; i += 2) check("child", data[i * PAGE], 1);
        leave(failures != 0);
    }
    for (int i = 1; i < 64; i += 2) data[i * PAGE] = 3;
    check("exit", wait_for(pid), 0);
    for (int i = 0; i < 64; i++) check("parent", data[i * PAGE], i % 2 ? 3 : 1);
    check("behind", data[3 * PAGE + PAGE - 1], 0);
    /* Three generations on the same pages. */
    const long child = call(FORK, 0, 0, 0);
    if (child == 0) {
        const long grandchild = call(FORK, 0, 0, 0);
        data[0] = grandchild == 0 ? 5 : 4;
        if (grandchild == 0) leave(data[0] + data[PAGE]);
        check("grandchild", wait_for(grandchild), 8 << 8);
        leave(data[0]);
    }
    check("grandparent", wait_for(child), 4 << 8);
    check("still", data[0], 1);
}

static void errors(void) {
    const long a = map(0, 3 * PAGE, R | W, PRIVATE);
    check("length 0", map(0, 0, R, PRIVATE), EINVAL);
    check("neither", map(0, PAGE, R, 0), EINVAL);
    check("both", map(0, PAGE, R, SHARED | PRIVATE), EINVAL);
    check("offset", call6(MMAP, 0, PAGE, R, PRIVATE | ANONYMOUS, -1, 1), EINVAL);
    check("file", call6(MMAP, 0, PAGE, R, PRIVATE, 0, 0), ENODEV);
    check("no file", call6(MMAP, 0, PAGE, R, PRIVATE, 99, 0), EBADF);
    check("unaligned", map(a + 1, PAGE, R, PRIVATE | FIXED), EINVAL);
    check("kernel", map((long)0xffff800000000000, PAGE, R, PRIVATE | FIXED), ENOMEM);
    check("null", map(0, PAGE, R, PRIVATE | FIXED), EPERM);
    check("huge", map(0, 1UL << 46, R | W, PRIVATE), ENOMEM);
    check("round", map(0, -1UL, R | W, PRIVATE), ENOMEM);
    const long heap = call(BRK, 0, 0, 0);
    check("huge heap", call(BRK, heap + (1L << 40), 0, 0), heap);
    check("heap goes on", call(BRK, heap + PAGE, 0, 0), heap + PAGE);
    check("w+x", map(0, PAGE, R | W | X, PRIVATE), EACCES);
    check("taken", map(a, PAGE, R, PRIVATE | NOREPLACE), EEXIST);
    check("unmap unaligned", call(MUNMAP, a + 1, PAGE, 0), EINVAL);
    check("unmap nothing", call(MUNMAP, a, 0, 0), EINVAL);
    check("unmap kernel", call(MUNMAP, 0xffff800000000000, PAGE, 0), EINVAL);
    check("unmap free", call(MUNMAP, 0x20000, PAGE, 0), 0);
    check("protect unaligned", call(MPROTECT, a + 1, PAGE, R), EINVAL);
    check("protect nothing", call(MPROTECT, a, 0, R), 0);
    check("protect kernel", call(MPROTECT, 0xffff800000000000, PAGE, R), ENOMEM);
    check("protect bits", call(MPROTECT, a, PAGE, 0x80), EINVAL);
    check("protect w+x", call(MPROTECT, a, PAGE, W | X), EACCES);
    check("middle", call(MUNMAP, a + PAGE, PAGE, 0), 0);
    check("protect gap", call(MPROTECT, a, 3 * PAGE, R), ENOMEM);
    check("not read-only", touch(a, 1), 0);
    check("advise gap", call(MADVISE, a, 3 * PAGE, DONTNEED), ENOMEM);
    check("advise unaligned", call(MADVISE, a + 1, PAGE, DONTNEED), EINVAL);
    check("advise what", call(MADVISE, a, PAGE, 99), EINVAL);
    check("advise hint", call(MADVISE, a, PAGE, 3), 0);
    check("remap gap", call6(MREMAP, a, 3 * PAGE, PAGE, 0, 0, 0), EFAULT);
    check("remap 0", call6(MREMAP, a, PAGE, 0, 0, 0, 0), EINVAL);
    check("remap flags", call6(MREMAP, a, PAGE, PAGE, 2, 0, 0), EINVAL);
    check("remap unaligned", call6(MREMAP, a + 1, PAGE, PAGE, 0, 0, 0), EINVAL);
}

static void places(void) {
    const long a = map(0, 8 * PAGE, R | W, PRIVATE);
    volatile char *const at = (volatile char *)a;
    at[0] = at[2 * PAGE] = at[4 * PAGE] = 7;
    check("hint taken", map(a, PAGE, R, PRIVATE) == a, 0);
    check("fixed", map(a + 2 * PAGE, PAGE, R | W, PRIVATE | FIXED), a + 2 * PAGE);
    check("fresh", at[2 * PAGE], 0);
    check("beside", at[4 * PAGE], 7);
    check("unmap", call(MUNMAP, a + 4 * PAGE, 4 * PAGE, 0), 0);
    check("gone", touch(a + 4 * PAGE, 0), SIGSEGV);
    check("hint", map(a + 4 * PAGE, PAGE, R | W, PRIVATE), a + 4 * PAGE);
    check("zero again", at[4 * PAGE], 0);
    check("free", map(a + 6 * PAGE, PAGE, R, PRIVATE | NOREPLACE), a + 6 * PAGE);
    /* Rights, and content that outlives them. */
    check("none", call(MPROTECT, a, PAGE, NONE), 0);
    check("no read", touch(a, 0), SIGSEGV);
    check("kernel too", call(WRITE, 1, a, 1), EFAULT);
    check("read", call(MPROTECT, a, PAGE, R), 0);
    check("survived", at[0], 7);
    check("no write", touch(a, 1), SIGSEGV);
    check("write", call(MPROTECT, a, PAGE, R | W), 0);
    check("child's own", touch(a, 1), 0);
    check("still", at[0], 7);
    check("dontneed", call(MADVISE, a, PAGE, DONTNEED), 0);
    check("zero", at[0], 0);
    /* Far more changes of rights than there may be areas: equal neighbours become one again. */
    const long b = map(0, 16 * PAGE, R | W, PRIVATE);
    for (int i = 0; i < 4096; i++) {
        check("split", call(MPROTECT, b + (i % 16) * PAGE, PAGE, R), 0);
        check("merge", call(MPROTECT, b + (i % 16) * PAGE, PAGE, R | W), 0);
    }
}

static void moves(void) {
    const long a = map(0, 4 * PAGE, R | W, PRIVATE);
    for (int i = 0; i < 4; i++) *(volatile char *)(a + i * PAGE) = (char)(i + 1);
    check("shrink", call6(MREMAP, a, 4 * PAGE, 3 * PAGE, 0, 0, 0), a);
    check("cut off", touch(a + 3 * PAGE, 0), SIGSEGV);
    check("grow", call6(MREMAP, a, 3 * PAGE, 4 * PAGE, 0, 0, 0), a);
    check("new page", *(volatile char *)(a + 3 * PAGE), 0);
    const long wall = map(a + 4 * PAGE, PAGE, R, PRIVATE | FIXED);
    check("wall", wall, a + 4 * PAGE);
    check("stuck", call6(MREMAP, a, 4 * PAGE, 600 * PAGE, 0, 0, 0), ENOMEM);
    const long b = call6(MREMAP, a, 4 * PAGE, 600 * PAGE, MAYMOVE, 0, 0);
    for (int i = 0; i < 3; i++) check("moved", *(volatile char *)(b + i * PAGE), i + 1);
    check("end", *(volatile char *)(b + 599 * PAGE), 0);
    check("left", touch(a, 0), SIGSEGV);
    const long c = call6(MREMAP, b, 600 * PAGE, 2 * PAGE, MAYMOVE | 2, a, 0);
    check("back", c, a);
    check("content", *(volatile char *)(a + PAGE), 2);
    check("onto itself", call6(MREMAP, a, 2 * PAGE, 2 * PAGE, MAYMOVE | 2, a + PAGE, 0), EINVAL);
}

static void sharing(void) {
    const long a = map(0, 4 * PAGE, R | W, SHARED);
    volatile char *const at = (volatile char *)a;
    at[0] = 1;
    const long pid = call(FORK, 0, 0, 0);
    if (pid == 0) {
        check("seen", at[0], 1);
        at[0] = 2;
        at[2 * PAGE] = 3; /* nobody had touched this page */
        call(GETRANDOM, a + 3 * PAGE, 8, 0);
        leave(failures != 0);
    }
    check("exit", wait_for(pid), 0);
    check("written", at[0], 2);
    check("untouched page", at[2 * PAGE], 3);
    check("kernel wrote", *(volatile u64 *)(a + 3 * PAGE) != 0, 1);
    check("dontneed", call(MADVISE, a, PAGE, DONTNEED), 0);
    check("kept", at[0], 2);
}

static volatile long between[2], child;
static volatile int paid;

/* What the one does that has the memory in the end: it kills those in between, and goes on for a while. */
static inline __attribute__((always_inline, noreturn)) void outlive(int count) {
    static const u64 nap[2] = { 0, 200000000 };
    for (int i = count; i-- > 0;) {
        call(KILL, between[i], SIGKILL, 0);
        for (int turns = 0; turns < 50; turns++) call(SCHED_YIELD, 0, 0, 0);
    }
    call(NANOSLEEP, nap, 0, 0);
    paid = count;
    leave(0);
}

/* Memory that is lent goes back to whom it came from, whoever ends in between. All use one stack, so nobody returns. */
static void lending(void) {
    child = call(VFORK, 0, 0, 0);
    if (child == 0) {
        between[0] = call(GETPID, 0, 0, 0);
        if (call(VFORK, 0, 0, 0) == 0) outlive(1);
        leave(1);
    }
    check("one between: waited", paid, 1);
    check("one between: its end", wait_for(between[0]), SIGKILL);
    child = call(VFORK, 0, 0, 0);
    if (child == 0) {
        between[0] = call(GETPID, 0, 0, 0);
        if (call(VFORK, 0, 0, 0) == 0) {
            between[1] = call(GETPID, 0, 0, 0);
            if (call(VFORK, 0, 0, 0) == 0) outlive(2);
            leave(1);
        }
        leave(1);
    }
    check("two between: waited", paid, 2);
    check("two between: their end", wait_for(between[0]), SIGKILL);
    check("forks", touch((long)data, 1), 0);
    /* Memory is used up by who has borrowed it from a borrower: all three end. */
    const long pid = call(FORK, 0, 0, 0);
    if (pid == 0) {
        if (call(VFORK, 0, 0, 0) == 0) {
            if (call(VFORK, 0, 0, 0) == 0) {
                enum { PIECE = 8 << 20 };
                for (long piece = 0; (piece = map(0, PIECE, R | W, PRIVATE)) > 0;)
                    for (long at = 0; at < PIECE; at += PAGE) *(volatile char *)(piece + at) = 1;
                leave(3);
            }
            leave(2);
        }
        leave(1);
    }
    check("used up", wait_for(pid), SIGKILL);
}

static void limits(void) {
    u64 old[2], want[2];
    check("get", call(GETRLIMIT, STACK, old, 0), 0);
    check("stack", (long)old[0], 8 << 20);
    check("which", call(GETRLIMIT, 16, old, 0), EINVAL);
    want[0] = 2, want[1] = 1;
    check("order", call(SETRLIMIT, AS, want, 0), EINVAL);
    check("pointer", call(SETRLIMIT, AS, 8, 0), EFAULT);
    want[0] = want[1] = 32 << 20;
    check("set", call6(PRLIMIT64, 0, AS, (u64)want, (u64)old, 0, 0), 0);
    check("none before", (long)old[0], -1);
    check("too much", map(0, 32 << 20, R, PRIVATE), ENOMEM);
    check("enough", map(0, 8 << 20, R, PRIVATE) > 0, 1);
    const long pid = call(FORK, 0, 0, 0);
    if (pid == 0) leave(map(0, 30 << 20, R, PRIVATE) == ENOMEM);
    check("inherited", wait_for(pid), 1 << 8);
    want[0] = want[1] = -1UL;
    check("root raises", call(SETRLIMIT, AS, want, 0), 0);
    const long start = call(BRK, 0, 0, 0);
    want[0] = 1 << 20;
    check("data", call(SETRLIMIT, DATA, want, 0), 0);
    check("brk", call(BRK, start + (2 << 20), 0, 0), start);
    check("data map", map(0, 2 << 20, R | W, PRIVATE), ENOMEM);
    check("read only", map(0, 2 << 20, R, PRIVATE) > 0, 1);
    want[0] = -1UL;
    check("data back", call(SETRLIMIT, DATA, want, 0), 0);
    check("brk grows", call(BRK, start + (2 << 20), 0, 0), start + (2 << 20));
    *(volatile char *)(start + PAGE) = 1;
    check("brk shrinks", call(BRK, start, 0, 0), start);
    check("gone", touch(start + PAGE, 0), SIGSEGV);
    check("table", call6(PRLIMIT64, 0, NPROC, (u64)want, 0, 0, 0), EPERM);
    want[0] = want[1] = 1;
    check("nproc", call6(PRLIMIT64, 0, NPROC, (u64)want, (u64)old, 0, 0), 0);
    check("no fork", call(FORK, 0, 0, 0), EAGAIN);
}

/* Starts the program argv[1], argv[0] times. */
static void spawns(char **argv) {
    long count = 0;
    for (const char *digit = argv[0]; *digit; digit++) count = 10 * count + *digit - '0';
    const long begun = now();
    for (long i = 0; i < count; i++) {
        const long pid = call(FORK, 0, 0, 0);
        if (pid == 0) {
            call(EXECVE, argv[1], argv + 1, 0);
            leave(1);
        }
        check("exec", wait_for(pid), 0);
    }
    print("each took us ");
    print_number((now() - begun) / count);
    print("\n");
}

__attribute__((used)) static void begin(u64 *stack) {
    char **argv = (char **)(stack + 1);
    switch (*argv[1]) {
    case 'c': copy_on_write(); break;
    case 'e': errors(); break;
    case 'p': places(); break;
    case 'm': moves(); break;
    case 's': sharing(); break;
    case 'l': limits(); break;
    case 'v': lending(); break;
    case 'n': spawns(argv + 2); break;
    }
    print(failures ? "failed\n" : "all well\n");
    leave(failures != 0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
