/*
 * Every misuse of every argument: bad descriptors, bad pointers, bad paths, bad counts, bad flags, one at a time, with
 * all other arguments good.
 */
#include "conformance.h"

/* What kind of argument it is, and so how it is misused. */
enum kind {
    NONE,
    PLAIN,     /* not misused */
    FD,        /* a descriptor */
    AT,        /* a descriptor that a relative path starts from */
    PATH,      /* a string */
    IN,        /* memory that is read */
    NEEDED,    /* the same, where null would mean to wait for ever */
    OUT,       /* memory that is written */
    COUNT,     /* of bytes, into memory of the argument before */
    NUMBER,    /* a whole number of some meaning */
    FLAGS,     /* bits */
};

struct argument {
    enum kind kind;
    const char *name;
    long good;
    long size; /* of memory */
};

struct row {
    const char *name;
    long number;
    struct argument arguments[6];
};

enum { FILE_FD = 10, DIRECTORY_FD, READING_FD, WRITING_FD, NULL_FD, CLOSED_FD = 77 };

/* Two pages that may be used and one after them that may not; the same, but to be read only. */
static char *room, *constant;

static char memory[1024];
static char file_name[] = "f", directory_name[] = "d", link_name[] = "l", new_name[] = "new", dot[] = ".";
static struct pollfd polled = { READING_FD, POLLIN, 0 };
static struct timespec no_time, a_time[2] = { { 1600000000, 0 }, { 1600000000, 0 } };
static struct iovec piece = { memory, 16 };
static unsigned long empty_set, an_action[4];
static stack_t no_stack = { .ss_flags = SS_DISABLE };

#define A_FD { FD, "fd", FILE_FD, 0 }
#define A_DIRECTORY { FD, "fd", DIRECTORY_FD, 0 }
#define AN_AT(name) { AT, name, AT_FDCWD, 0 }
#define A_PATH(name, good) { PATH, name, (long)(good), 0 }
#define AN_IN(name, good, size) { IN, name, (long)(good), size }
#define A_NEEDED(name, good, size) { NEEDED, name, (long)(good), size }
#define AN_OUT(name, size) { OUT, name, (long)memory, size }
#define A_COUNT(good) { COUNT, "count", good, 0 }
#define A_NUMBER(name, good) { NUMBER, name, good, 0 }
#define SOME_FLAGS(good) { FLAGS, "flags", good, 0 }
#define JUST(good) { PLAIN, "", (long)(good), 0 }
#define ROW(call, ...) { #call, SYS_##call, { __VA_ARGS__ } }

static const struct row rows[] = {
    ROW(read, A_FD, AN_OUT("buf", 16), A_COUNT(16)),
    ROW(write, A_FD, AN_IN("buf", memory, 16), A_COUNT(16)),
    ROW(pread64, A_FD, AN_OUT("buf", 16), A_COUNT(16), A_NUMBER("offset", 0)),
    ROW(pwrite64, A_FD, AN_IN("buf", memory, 16), A_COUNT(16), A_NUMBER("offset", 0)),
    ROW(readv, A_FD, AN_IN("iov", &piece, 16), A_NUMBER("iovcnt", 1)),
    ROW(writev, A_FD, AN_IN("iov", &piece, 16), A_NUMBER("iovcnt", 1)),
    ROW(open, A_PATH("path", file_name), JUST(O_RDONLY), JUST(0644)),
    ROW(openat, AN_AT("dirfd"), A_PATH("path", file_name), JUST(O_RDONLY), JUST(0644)),
    ROW(close, A_FD),
    ROW(stat, A_PATH("path", file_name), AN_OUT("buf", sizeof(struct stat))),
    ROW(lstat, A_PATH("path", file_name), AN_OUT("buf", sizeof(struct stat))),
    ROW(fstat, A_FD, AN_OUT("buf", sizeof(struct stat))),
    ROW(newfstatat, AN_AT("dirfd"), A_PATH("path", file_name), AN_OUT("buf", sizeof(struct stat)), SOME_FLAGS(0)),
    ROW(lseek, A_FD, A_NUMBER("offset", 0), A_NUMBER("whence", SEEK_SET)),
    ROW(getdents64, A_DIRECTORY, AN_OUT("buf", 512), A_COUNT(512)),
    ROW(mkdir, A_PATH("path", new_name), JUST(0755)),
    ROW(mkdirat, AN_AT("dirfd"), A_PATH("path", new_name), JUST(0755)),
    ROW(rmdir, A_PATH("path", directory_name)),
    ROW(unlink, A_PATH("path", file_name)),
    ROW(unlinkat, AN_AT("dirfd"), A_PATH("path", file_name), SOME_FLAGS(0)),
    ROW(rename, A_PATH("from", file_name), A_PATH("to", new_name)),
    ROW(renameat, AN_AT("from-dirfd"), A_PATH("from", file_name), AN_AT("to-dirfd"), A_PATH("to", new_name)),
    ROW(renameat2, AN_AT("from-dirfd"), A_PATH("from", file_name), AN_AT("to-dirfd"), A_PATH("to", new_name), SOME_FLAGS(0)),
    ROW(symlink, A_PATH("target", file_name), A_PATH("path", new_name)),
    ROW(symlinkat, A_PATH("target", file_name), AN_AT("dirfd"), A_PATH("path", new_name)),
    ROW(readlink, A_PATH("path", link_name), AN_OUT("buf", 1), A_NUMBER("size", 64)),
    ROW(readlinkat, AN_AT("dirfd"), A_PATH("path", link_name), AN_OUT("buf", 1), A_NUMBER("size", 64)),
    ROW(link, A_PATH("from", file_name), A_PATH("to", new_name)),
    ROW(linkat, AN_AT("from-dirfd"), A_PATH("from", file_name), AN_AT("to-dirfd"), A_PATH("to", new_name), SOME_FLAGS(0)),
    ROW(truncate, A_PATH("path", file_name), JUST(5)),
    ROW(ftruncate, A_FD, JUST(5)),
    ROW(fsync, A_FD),
    ROW(fdatasync, A_FD),
    ROW(access, A_PATH("path", file_name), A_NUMBER("mode", R_OK)),
    ROW(faccessat, AN_AT("dirfd"), A_PATH("path", file_name), A_NUMBER("mode", R_OK)),
    ROW(chmod, A_PATH("path", file_name), JUST(0644)),
    ROW(utimensat, AN_AT("dirfd"), A_PATH("path", file_name), AN_IN("times", a_time, 32), SOME_FLAGS(0)),
    ROW(dup, A_FD),
    ROW(dup2, A_FD, A_NUMBER("newfd", 20)),
    ROW(dup3, A_FD, A_NUMBER("newfd", 20), SOME_FLAGS(0)),
    ROW(fcntl, A_FD, A_NUMBER("command", F_GETFD)),
    ROW(pipe, AN_OUT("fds", 8)),
    ROW(pipe2, AN_OUT("fds", 8), SOME_FLAGS(0)),
    ROW(chdir, A_PATH("path", dot)),
    ROW(fchdir, A_DIRECTORY),
    ROW(getcwd, AN_OUT("buf", 2), JUST(sizeof memory)),
    ROW(poll, AN_OUT("fds", 8), A_NUMBER("nfds", 1), JUST(0)),
    ROW(ppoll, AN_IN("fds", &polled, 8), JUST(1), A_NEEDED("time", &no_time, 16), AN_IN("set", &empty_set, 8), A_NUMBER("size", 8)),
    ROW(uname, AN_OUT("buf", 390)),
    ROW(rt_sigaction, A_NUMBER("signal", SIGUSR1), AN_IN("act", an_action, 32), AN_OUT("old", 32), A_NUMBER("size", 8)),
    ROW(rt_sigprocmask, A_NUMBER("how", SIG_BLOCK), AN_IN("set", &empty_set, 8), AN_OUT("old", 8), A_NUMBER("size", 8)),
    ROW(rt_sigpending, AN_OUT("set", 8), A_NUMBER("size", 8)),
    ROW(sigaltstack, AN_IN("new", &no_stack, 24), AN_OUT("old", 24)),
    ROW(nanosleep, AN_IN("request", &no_time, 16), AN_OUT("remaining", 16)),
    ROW(clock_nanosleep, A_NUMBER("clock", CLOCK_MONOTONIC), JUST(0), AN_IN("request", &no_time, 16), AN_OUT("remaining", 16)),
    ROW(clock_gettime, A_NUMBER("clock", CLOCK_MONOTONIC), AN_OUT("time", 16)),
    ROW(clock_getres, A_NUMBER("clock", CLOCK_MONOTONIC), AN_OUT("time", 16)),
    ROW(gettimeofday, AN_OUT("time", 16), JUST(0)),
    ROW(getrandom, AN_OUT("buf", 16), A_COUNT(16), SOME_FLAGS(0)),
    ROW(arch_prctl, JUST(0x1003), AN_OUT("addr", 8)),
    ROW(prlimit64, JUST(0), A_NUMBER("resource", RLIMIT_NOFILE), JUST(0), AN_OUT("old", 16)),
    ROW(kill, JUST(4000000), A_NUMBER("signal", 0)),
    ROW(mprotect, AN_OUT("addr", 8), JUST(PAGE), A_NUMBER("prot", PROT_READ)),
};

/* Files and descriptors as every misuse finds them. */
static void reset(void) {
    call(SYS_unlink, "new"), call(SYS_rmdir, "new"), call(SYS_rmdir, "d"), call(SYS_unlink, "l");
    make_file("f", "0123456789abcdef0123456789"), call(SYS_mkdir, "d", 0755), call(SYS_symlink, "f", "l");
    long fds[5] = { call(SYS_open, "f", O_RDWR), call(SYS_open, ".", O_RDONLY), 0, 0, call(SYS_open, "/dev/null", O_RDWR) };
    int ends_of[2];
    call(SYS_pipe2, ends_of, O_NONBLOCK);
    fds[2] = ends_of[0], fds[3] = ends_of[1];
    for (int i = 0; i < 5; i++) call(SYS_dup2, fds[i], FILE_FD + i), call(SYS_close, fds[i]);
}

static void misuse(const struct row *row, int which, const char *how, long value) {
    long arguments[6];
    for (int i = 0; i < 6; i++) arguments[i] = row->arguments[i].good;
    arguments[which] = value;
    /* However many bytes there are said to be, 16 of them are there. */
    if (row->arguments[which].kind == COUNT) arguments[which - 1] = (long)room + 2 * (long)PAGE - 16;
    call(SYS_lseek, FILE_FD, 0, SEEK_SET), call(SYS_lseek, DIRECTORY_FD, 0, SEEK_SET);
    long got = call6(row->number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    char name[100];
    snprintf(name, sizeof name, "%s, %s %s", row->name, row->arguments[which].name, how);
    is(name, got);
}

static void bad_descriptors(const struct row *row, int which) {
    static const struct { const char *how; long value; } bad[] = {
        { "closed", CLOSED_FD }, { "-1", -1 }, { "INT_MAX", INT_MAX }, { "INT_MIN", INT_MIN }, { "over 32 bits", (1l << 32) + FILE_FD },
        { "of a directory", DIRECTORY_FD }, { "of a pipe to read", READING_FD }, { "of a pipe to write", WRITING_FD },
        { "of a device", NULL_FD },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) misuse(row, which, bad[i].how, bad[i].value);
}

static void bad_pointers(const struct row *row, int which) {
    static const struct { const char *how; unsigned long value; } bad[] = {
        { "null", 0 }, { "1", 1 }, { "in the kernel", 0xffff800000000000 }, { "in its code", 0xffffffff80200000 },
        { "not canonical", 0x8000000000000000 }, { "just not canonical", 0x800000000000 }, { "at the very end", 0x7ffffffff000 },
        { "that wraps", ~0ul }, { "that wraps later", ~0ul - 64 },
    };
    const struct argument *argument = &row->arguments[which];
    for (size_t i = argument->kind == NEEDED; i < sizeof bad / sizeof *bad; i++)
        misuse(row, which, bad[i].how, (long)bad[i].value);
    misuse(row, which, "to what may not be used", (long)room + 2 * (long)PAGE);
    if (argument->kind == PATH) {
        memset(room, 'x', 2 * PAGE);
        misuse(row, which, "without an end", (long)room + 2 * (long)PAGE - 9);
        misuse(row, which, "of 4096 bytes", ((char *)memset(room + 4096, 0, 1), (long)room));
        misuse(row, which, "empty", (long)"");
    } else if (argument->size > 1) {
        /* What a call takes is good as far as it is there. */
        char *half = room + 2 * PAGE - argument->size / 2;
        if (argument->kind != OUT) memcpy(half, (char *)argument->good, argument->size / 2);
        misuse(row, which, "with half of it missing", (long)half);
    }
    if (argument->kind == OUT) misuse(row, which, "to what may only be read", (long)constant);
}

static void bad_numbers(const struct row *row, int which) {
    static const struct { const char *how; long value; } bad[] = {
        { "-1", -1 }, { "INT_MIN", INT_MIN }, { "INT_MAX", INT_MAX }, { "LONG_MIN", LONG_MIN }, { "LONG_MAX", LONG_MAX }, { "12345", 12345 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) misuse(row, which, bad[i].how, bad[i].value);
}

static void bad_counts(const struct row *row, int which) {
    static const struct { const char *how; long value; } bad[] = {
        { "0", 0 }, { "-1", -1 }, { "LONG_MIN", LONG_MIN }, { "LONG_MAX", LONG_MAX }, { "of 256 TiB", 1l << 48 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) misuse(row, which, bad[i].how, bad[i].value);
}

static void bad_flags(const struct row *row, int which) {
    misuse(row, which, "1 << 30", 1 << 30);
    misuse(row, which, "all", 0xffffffff);
}

static void every_misuse(const struct row *row, int which) {
    switch (row->arguments[which].kind) {
    case FD:
    case AT: bad_descriptors(row, which); break;
    case PATH:
    case IN:
    case NEEDED:
    case OUT: bad_pointers(row, which); break;
    case NUMBER: bad_numbers(row, which); break;
    case COUNT: bad_counts(row, which); break;
    case FLAGS: bad_flags(row, which); break;
    case NONE:
    case PLAIN: break;
    }
}

/* One child for each argument, so that what one misuse does to the process is not the next one's business. */
static void table(void) {
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int which = 0; which < 6; which++) {
            if (rows[r].arguments[which].kind <= PLAIN) continue;
            reset();
            long child;
            int status = 0;
            CHILD(child) every_misuse(&rows[r], which);
            call(SYS_wait4, child, &status, 0, 0);
            if (status) say("%s, %s: %s", rows[r].name, rows[r].arguments[which].name, status_text(status));
        }
}

/* Pointers that lie in memory themselves. */
static void pointers_in_memory(void) {
    static const struct { const char *how; unsigned long value; } bad[] = {
        { "null", 0 }, { "1", 1 }, { "in the kernel", 0xffff800000000000 }, { "not canonical", 0x8000000000000000 }, { "that wraps", ~0ul - 3 },
    };
    char name[80];
    reset();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct iovec two[2] = { { memory, 4 }, { (void *)bad[i].value, 16 } }, one = { (void *)bad[i].value, 16 };
        call(SYS_lseek, FILE_FD, 0, SEEK_SET);
        snprintf(name, sizeof name, "readv, only piece %s", bad[i].how), is(name, call(SYS_readv, FILE_FD, &one, 1));
        snprintf(name, sizeof name, "writev, only piece %s", bad[i].how), is(name, call(SYS_writev, FILE_FD, &one, 1));
        snprintf(name, sizeof name, "readv, second piece %s", bad[i].how), is(name, call(SYS_readv, FILE_FD, two, 2));
        snprintf(name, sizeof name, "writev, second piece %s", bad[i].how), is(name, call(SYS_writev, FILE_FD, two, 2));
        if (!bad[i].value) continue;
        char *argv[] = { "x", (char *)bad[i].value, 0 }, *none[] = { 0 };
        make_file("program", "\177ELF"), call(SYS_chmod, "program", 0755);
        snprintf(name, sizeof name, "execve, argv %s", bad[i].how), is(name, call(SYS_execve, "program", bad[i].value, none));
        snprintf(name, sizeof name, "execve, envp %s", bad[i].how), is(name, call(SYS_execve, "program", none, bad[i].value));
        snprintf(name, sizeof name, "execve, argv[1] %s", bad[i].how), is(name, call(SYS_execve, "program", argv, none));
        snprintf(name, sizeof name, "execve, envp[1] %s", bad[i].how), is(name, call(SYS_execve, "program", none, argv));
        snprintf(name, sizeof name, "execve, path %s", bad[i].how), is(name, call(SYS_execve, bad[i].value, none, none));
    }
    for (size_t i = 1; i < sizeof bad / sizeof *bad; i++) {
        long child;
        CHILD(child) {}
        snprintf(name, sizeof name, "wait4, status %s", bad[i].how), is(name, call(SYS_wait4, child, bad[i].value, 0, 0));
        call(SYS_wait4, child, 0, 0, 0);
        CHILD(child) {}
        snprintf(name, sizeof name, "wait4, usage %s", bad[i].how), is(name, call(SYS_wait4, child, 0, 0, bad[i].value));
        call(SYS_wait4, child, 0, 0, 0);
    }
}

static void checks(int argc, char **argv) {
    (void)argc, (void)argv;
    room = pages(3, PROT_READ | PROT_WRITE), constant = pages(3, PROT_READ | PROT_WRITE);
    mprotect(room + 2 * PAGE, PAGE, PROT_NONE), mprotect(constant, PAGE, PROT_READ);
    table();
    pointers_in_memory();
}
