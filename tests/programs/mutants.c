/*
 * Starts damaged copies of the programs that its arguments name: COUNT FILE... Each is refused by execve, ends by itself
 * or by a signal, or is ended. The same seed each time.
 */
#include "raw.h"
#include "random.h"

enum { DUP2 = 33, FORK = 57, WAIT4 = 61, KILL = 62, UNLINK = 87, SETPGID = 109, WNOHANG = 1, SIGKILL = 9 };
enum { FILE_MAX = 256 * 1024, HEADERS = 64 + 4 * 56, REFUSED = 222, CHILD_MS = 400 };

static char base[FILE_MAX], mutant[FILE_MAX];
static u64 state = 0xe1f;

static u64 load(const char *path) {
    const long fd = call(OPEN, path, 0, 0);
    u64 size = 0;
    for (long got; size < FILE_MAX && (got = call(READ, fd, base + size, FILE_MAX - size)) > 0; size += (u64)got) {}
    call(CLOSE, fd, 0, 0);
    return size;
}

static void put(u64 at, u64 value, u64 bytes) {
    for (u64 i = 0; i < bytes; i++) mutant[at + i] = (char)(value >> 8 * i);
}

/* One to four changes, most of them in the headers: a field, a bit, or a byte. */
static void mutate(u64 size) {
    static const u64 edges[] = { 0, 1, ~0ul, 1ul << 63, 1ul << 47, 0x7ffffffff000, 0xffff800000000000, 0xffffffff80200000, 4096, 0x1000000, 8, 0x401000 };
    for (u64 i = 0; i < size; i++) mutant[i] = base[i];
    for (u64 changes = 1 + below(4); changes; changes--) {
        const u64 range = below(4) ? HEADERS : size - 8, at = below(range);
        switch (below(4)) {
        case 0: put(at & ~7ul, edges[below(sizeof edges / sizeof *edges)], 8); break;
        case 1: put(at & ~3ul, below(16), 4); break;
        case 2: mutant[at] = (char)next(); break;
        default: mutant[at] = (char)(mutant[at] ^ 1 << below(8)); break;
        }
    }
}

static u64 milliseconds(void) {
    u64 time[2] = { 0, 0 };
    call(CLOCK_GETTIME, 1, time, 0);
    return time[0] * 1000 + time[1] / 1000000;
}

static const char name[] = "/tmp/mutant";

static void child(void) {
    const char *const argv[] = { name, 0 };
    call(SETPGID, 0, 0, 0);
    for (int fd = 0; fd < 3; fd++) call(DUP2, call(OPEN, "/dev/null", 2, 0), fd, 0);
    call(EXECVE, name, argv, 0);
    leave(REFUSED);
}

enum end { EXITED, SIGNALLED, WAS_REFUSED, WAS_ENDED, ENDS };

static enum end run(u64 size) {
    const u64 pause[2] = { 0, 2000000 }, until = milliseconds() + CHILD_MS;
    int status = 0;
    call(UNLINK, name, 0, 0);
    const long fd = call(OPEN, name, 0x41, 0755);
    /* Every eighth file is cut. */
    call(WRITE, fd, mutant, below(8) ? size : below(size));
    call(CLOSE, fd, 0, 0);
    const long pid = call(FORK, 0, 0, 0);
    if (pid == 0) child();
    while (milliseconds() < until) {
        if (call(WAIT4, pid, &status, WNOHANG) == pid) {
            if (status & 0x7f) return SIGNALLED;
            return status >> 8 == REFUSED ? WAS_REFUSED : EXITED;
        }
        call(NANOSLEEP, pause, 0, 0);
    }
    call(KILL, pid, SIGKILL, 0);
    call(WAIT4, pid, &status, 0);
    return WAS_ENDED;
}

__attribute__((used)) static void begin(u64 *stack) {
    const u64 argc = stack[0];
    const char *digits = (const char *)stack[2];
    u64 count = 0, ends[ENDS] = { 0 };
    while (*digits) count = count * 10 + (u64)(*digits++ - '0');
    for (u64 i = 0; i < count; i++) {
        const u64 size = load((const char *)stack[3 + i % (argc - 2)]);
        mutate(size);
        ends[run(size)]++;
    }
    call(UNLINK, name, 0, 0);
    static const char *const names[ENDS] = { "exited ", "signalled ", "refused ", "ended " };
    for (int i = 0; i < ENDS; i++) print(names[i]), print_number((long)ends[i]), print("\n");
    leave(0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
