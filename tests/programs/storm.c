/*
 * Makes random system calls with random arguments, in children, for as many seconds as the argument says. The same
 * seed each time.
 *
 * What is left out, and why:
 * - reboot: it would end the machine, which is what it is for.
 * - numbers of other processes, and -1, where a call takes a process or a group: a signal to the shell or to this
 *   program would be no finding. A child may do anything to itself and its group.
 * - /dev/console and /dev/tty: the terminal belongs to whoever watches. Children have /dev/null instead.
 * - programs to execute other than /bin/true: /bin/poweroff works.
 */
#include "raw.h"
#include "random.h"

enum {
    POLL = 7, PAUSE = 34, SIGTIMEDWAIT = 128, SIGSUSPEND = 130, CLOCK_NANOSLEEP = 230, PPOLL = 271, MUNMAP = 11, RT_SIGRETURN = 15, DUP2 = 33, FORK = 57, WAIT4 = 61, KILL = 62, MKDIR = 83, RMDIR = 84,
    UNLINK = 87, SYMLINK = 88, CHDIR = 80, SETPGID = 109, REBOOT = 169, TKILL = 200, EXIT_GROUP = 231, TGKILL = 234,
    PRLIMIT64 = 302, GETPGID = 121, GETSID = 124, CLONE = 56, CLONE3 = 435, PIDFD_SEND_SIGNAL = 424, PTRACE = 101, READ_ONLY = 1, READ_WRITE = 3, PRIVATE = 0x22, SHARED = 0x21, WNOHANG = 1, SIGKILL = 9
};
enum {
    CALLS = 250,            /* of one child */
    CHILD_MS = 400,         /* until a child that waits is ended */
    POOL = 16               /* pages of memory that calls get pointers into */
};

static u64 state = 0x5eed;
static char *pool, *read_only, *nothing, *straddling;
static long own;
/* Survives the children: calls made, calls that succeeded. */
static volatile u64 *counts;

static const char *const paths[] = {
    "f", "d", "l", "d/x", "./d/../f", "new", "", "/", ".", "..", "/dev/null", "/dev/zero", "/dev/urandom", "/proc/self/status", "/proc/meminfo",
    "/proc", "/bin/true", "f/x", "none/x",
};

/* Calls that are there come more often than all the other numbers together. */
static const unsigned short known[] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 25, 26, 28, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    56, 57, 58, 59, 60, 61, 62, 63, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 95, 96, 97,
    102, 104, 107, 108, 109, 110, 111, 112, 121, 124, 127, 128, 129, 130, 131, 132, 137, 138, 158, 160, 162, 186, 200, 201, 202, 217, 218, 219, 228, 229,
    230, 231, 234, 235, 257, 258, 262, 263, 264, 265, 266, 267, 268, 269, 271, 273, 280, 285, 291, 292, 293, 295, 296, 302, 316, 318, 332, 435,
    439, 4152,
};

static u64 pointer(void) {
    switch (below(12)) {
    case 0: return 0;
    case 1: return (u64)read_only + below(4096);
    case 2: return (u64)nothing + below(4096);
    case 3: return (u64)straddling - 1 - below(64);
    case 4: return 0xffff800000000000 + below(1 << 30);
    case 5: return 0xffffffff80200000 + below(1 << 20);
    case 6: return 0x7ffffffff000 - below(64);
    case 7: return (u64)paths[below(sizeof paths / sizeof *paths)];
    default: return (u64)pool + (below(POOL * 4096) & ~7ul);
    }
}

static u64 number(void) {
    static const u64 edges[] = {
        0, 1, ~0ul, 1ul << 31, (1ul << 31) - 1, 1ul << 32, 1ul << 63, (1ul << 63) - 1, 4096, 4095, 8, 16, 24, 64, 512, 65536, 1 << 20, 1 << 30,
        1ul << 47, 0x800, 0x80000, 0x40, 0x22, 0x32, 3, 5, 7,
    };
    switch (below(5)) {
    case 0: return next();
    case 1: return next() >> below(64);
    case 2: return below(24);
    default: return edges[below(sizeof edges / sizeof *edges)];
    }
}

static u64 argument(void) { return below(2) ? pointer() : number(); }

/* Structures of anything: pointers, lengths, times. */
static void stir(void) {
    u64 *words = (u64 *)(void *)pool;
    const u64 from = below(POOL * 512 - 32);
    for (u64 i = 0; i < 32; i++) words[from + i] = below(3) ? argument() : 0;
}

/* Whose number a call may get: the caller's own, its group's, nobody's. */
static u64 process(void) {
    static const u64 others[] = { 0, 4000000, 1ul << 31, (1ul << 31) - 1, 1ul << 63, 40000 };
    return below(3) ? (u64)own : others[below(sizeof others / sizeof *others)];
}

/* After these a child seldom goes on. */
static const unsigned short last[] = {
    EXIT, EXIT_GROUP, RT_SIGRETURN, KILL, TKILL, TGKILL, PAUSE, SIGSUSPEND, SIGTIMEDWAIT, NANOSLEEP, CLOCK_NANOSLEEP, POLL, PPOLL,
};

static int left_out(u64 call_number) {
    return (unsigned)call_number == REBOOT || call_number == CLONE3 || call_number == PIDFD_SEND_SIGNAL || call_number == PTRACE;
}

static void one_call(void) {
    u64 which = below(8) ? known[below(sizeof known / sizeof *known)] : below(2) ? below(600) : next() >> below(64);
    u64 a[6];
    if (left_out(which)) return;
    /* Most ends and endless waits come too early. */
    for (u64 i = 0; i < sizeof last / sizeof *last; i++)
        if (which == last[i] && below(8)) return;
    for (int i = 0; i < 6; i++) a[i] = argument();
    switch (which) {
    case SETPGID:
    case TGKILL: a[1] = process(); /* fall through */
    case KILL:
    case TKILL:
    case PRLIMIT64:
    case GETPGID:
    case GETSID:
    case WAIT4: a[0] = process(); break;
    case EXECVE: a[0] = below(2) ? (u64)paths[below(sizeof paths / sizeof *paths)] : pointer(); break;
    /* Sharing memory with the parent, or a child that is a thread of it, is for clone's own tests. */
    case CLONE: a[0] &= 0xff; break;
    }
    const long got = call6((long)which, a[0], a[1], a[2], a[3], a[4], a[5]);
    /* A child of this child has nothing more to do. */
    if (call(GETPID, 0, 0, 0) != own) leave(0);
    counts[0]++;
    if (got >= 0 || got < -4095) counts[1]++;
}

static u64 milliseconds(void) {
    u64 time[2] = { 0, 0 };
    call(CLOCK_GETTIME, 1, time, 0);
    return time[0] * 1000 + time[1] / 1000000;
}

static void child(u64 seed) {
    state = seed;
    own = call(GETPID, 0, 0, 0);
    call(SETPGID, 0, 0, 0);
    for (int fd = 0; fd < 3; fd++) call(DUP2, call(OPEN, "/dev/null", 2, 0), fd, 0);
    for (int i = 0; i < CALLS; i++) {
        if (i % 4 == 0) stir();
        one_call();
    }
    leave(0);
}

/* Removes what children may have made, wherever they may have gone. */
static void tidy(void) {
    static const char *const files[] = { "f", "d/x", "l", "new", "d", "x" }, *const places[] = { "/", "/tmp", "/tmp/storm" };
    for (u64 place = 0; place < sizeof places / sizeof *places; place++) {
        call(CHDIR, places[place], 0, 0);
        for (u64 i = 0; i < sizeof files / sizeof *files; i++) call(UNLINK, files[i], 0, 0), call(RMDIR, files[i], 0, 0);
    }
}

/* Files as each child finds them. */
static void prepare(void) {
    tidy();
    call(CLOSE, call(OPEN, "f", 0x42, 0644), 0, 0);
    call(MKDIR, "d", 0755, 0);
    call(SYMLINK, "f", "l", 0);
}

/* Waits for a child, and ends it when its time is over. */
static int ended_by_itself(long pid) {
    const u64 until = milliseconds() + CHILD_MS;
    const u64 pause[2] = { 0, 5000000 };
    while (milliseconds() < until) {
        if (call(WAIT4, pid, 0, WNOHANG) == pid) return 1;
        call(NANOSLEEP, pause, 0, 0);
    }
    call(KILL, -pid, SIGKILL, 0);
    call(KILL, pid, SIGKILL, 0);
    call(WAIT4, pid, 0, 0);
    return 0;
}

static char *pages(u64 count, int flags) { return (char *)call6(MMAP, 0, count * 4096, READ_WRITE, flags, ~0ul, 0); }

static void report(const char *name, u64 value) {
    print(name);
    print_number((long)value);
    print("\n");
}

__attribute__((used)) static void begin(u64 *stack) {
    const char *seconds = (const char *)stack[2];
    u64 time = 0;
    while (*seconds) time = time * 10 + (u64)(*seconds++ - '0');
    pool = pages(POOL, PRIVATE), read_only = pages(1, PRIVATE), nothing = pages(1, PRIVATE);
    straddling = pages(2, PRIVATE) + 4096, counts = (volatile u64 *)(void *)pages(1, SHARED);
    call(MPROTECT, read_only, 4096, READ_ONLY), call(MPROTECT, nothing, 4096, 0), call(MPROTECT, straddling, 4096, 0);
    call(MKDIR, "/tmp/storm", 0755, 0);
    u64 rounds = 0, refused = 0, ended = 0;
    for (const u64 until = milliseconds() + time * 1000; milliseconds() < until; rounds++) {
        prepare();
        const u64 seed = next();
        const long pid = call(FORK, 0, 0, 0);
        if (pid == 0) child(seed);
        if (pid < 0) refused++;
        else ended += !ended_by_itself(pid);
    }
    tidy();
    call(CHDIR, "/", 0, 0), call(RMDIR, "/tmp/storm", 0, 0);
    report("children ", rounds), report("refused ", refused), report("ended late ", ended);
    report("calls ", counts[0]), report("succeeded ", counts[1]);
    leave(0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
