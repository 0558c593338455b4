/* Takes one kind of thing until it is refused, says how often it got it and what refused it, and gives everything back but
   files. The first argument's first letter says which kind. */
#include "raw.h"

enum {
    POLL = 7, RT_SIGPROCMASK = 14, PIPE = 22, YIELD = 24, DUP = 32, PAUSE = 34, FORK = 57, WAIT4 = 61, KILL = 62, FTRUNCATE = 77,
    MKDIR = 83, SYMLINK = 88
};
enum { WRONLY_CREAT = 0101, SIGKILL = 9, FIRST_RT = 34, LAST_RT = 64 };
enum { CHILDREN_MAX = 2048, EACH_MAX = 4096, MANY = 1 << 20, PAGE = 4096 };

static long child[CHILDREN_MAX];
static char block[1 << 16];
static char environment[20][PAGE + 16];
static char *strings[22];
static struct { int fd; short wanted, there; } entries[1024];

static void report(const char *name, long value) {
    print(name);
    print_number(value);
    print("\n");
}

/* A name with its number at the end of a long one, so that the name takes memory, too. */
static const char *name_of(long number) {
    static char name[120];
    u64 at = 0;
    for (const char *start = "/tmp/take/"; start[at]; at++) name[at] = start[at];
    while (at < 100) name[at++] = 'n';
    for (int digit = 0; digit < 7; digit++, number /= 10) name[at++] = (char)('0' + number % 10);
    name[at] = 0;
    return name;
}

/* One entry of the file system: 0 or what refused it. */
static long entry(char kind, long number) {
    const char *name = name_of(number);
    if (kind == 'd') return call(MKDIR, name, 0755, 0);
    if (kind == 'l') return call(SYMLINK, name, name, 0);
    const long fd = call(OPEN, name, WRONLY_CREAT, 0644);
    if (fd < 0) return fd;
    const long wrote = call(WRITE, fd, "text", 4);
    call(CLOSE, fd, 0, 0);
    return wrote < 0 ? wrote : 0;
}

static void fill_tree(char kind) {
    long count = 0, refused = 0;
    while (count < MANY && (refused = entry(kind, count)) == 0) count++;
    report("refused ", refused);
    report("count ", count);
}

/* Bytes appended to a file until there is no room. */
static long append(long fd) {
    long sum = 0, got;
    while ((got = call(WRITE, fd, block, sizeof block)) > 0) sum += got;
    report("refused ", got);
    return sum;
}

/* A file that takes all, shrinks and grows again. */
static void fill_file(void) {
    const long fd = call(OPEN, "/tmp/take/file", WRONLY_CREAT, 0644);
    const long size = append(fd);
    for (long part = 2; part < 6; part++) {
        report("shrunk ", call(FTRUNCATE, fd, size - size / part, 0));
        append(fd);
    }
    report("count ", size >> 16);
}

/* What each child takes; it keeps it until it is killed. */
static void keep(char kind) {
    int ends[2];
    switch (kind) {
    case 'a': /* areas: neighbours that can't be one */
        for (long i = 0; i < EACH_MAX; i++)
            if (call6(MMAP, 0, PAGE, i & 1 ? 1 : 3, 0x22, (u64)-1, 0) < 0) break;
        break;
    case 'p': /* pipes, full */
        for (long i = 0; i < EACH_MAX; i++) {
            if (call(PIPE, ends, 0, 0) < 0) break;
            call(WRITE, ends[1], block, 4096);
        }
        break;
    case 'o': /* descriptors */
        while (call(DUP, 1, 0, 0) >= 0) {}
        break;
    case 'w': /* many waits at once */
        if (call(PIPE, ends, 0, 0) < 0) break;
        for (u64 i = 0; i < 1024; i++) {
            entries[i].fd = ends[0];
            entries[i].wanted = 1;
        }
        call(POLL, entries, 1024, -1);
        break;
    case 'e': { /* environment */
        static char *arguments[] = { "take", "x", 0 };
        call(EXECVE, "/bin/take", arguments, strings);
        break;
    }
    }
    for (;;) call(PAUSE, 0, 0, 0);
}

static void queue_signals(long pid) {
    for (int signal = FIRST_RT; signal <= LAST_RT; signal++)
        for (int i = 0; i < 8; i++)
            if (call(KILL, pid, signal, 0) < 0) return;
}

static void fill_processes(char kind) {
    const u64 all = ~0UL;
    long children = 0, refused = 0;
    if (kind == 's') call6(RT_SIGPROCMASK, 2, (u64)&all, 0, 8, 0, 0);
    while (children < CHILDREN_MAX) {
        const long pid = call(FORK, 0, 0, 0);
        if (pid == 0) keep(kind);
        if (pid < 0) {
            refused = pid;
            break;
        }
        child[children++] = pid;
        if (kind == 's') queue_signals(pid);
        call(YIELD, 0, 0, 0);
    }
    for (long i = 0; i < children; i++) call(KILL, child[i], SIGKILL, 0);
    for (long i = 0; i < children; i++) call(WAIT4, child[i], 0, 0);
    report("refused ", refused);
    report("count ", children);
}

__attribute__((used)) static void begin(u64 *stack) {
    const char kind = stack[0] > 1 ? *(const char *)stack[2] : 0;
    for (int i = 0; i < 20; i++) {
        for (int at = 0; at < PAGE; at++) environment[i][at] = 'e';
        strings[i] = environment[i];
    }
    switch (kind) {
    case 'x': for (;;) call(PAUSE, 0, 0, 0);
    case 'f': case 'd': case 'l': fill_tree(kind); break;
    case 'c': fill_file(); break;
    default: fill_processes(kind);
    }
    leave(0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
