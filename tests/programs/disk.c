/* Works on /disk, in the way that the argument says, and says what it knows to be safe. */
#include "raw.h"

enum { FSYNC = 74, RENAME = 82, MKDIR = 83, UNLINK = 87, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0100, O_TRUNC = 01000, O_APPEND = 02000 };
enum { FILES = 6, RECORD = 32, PIECE = 65536, PIECES = 128, SMALL = 200 };

static char block[PIECE];
static char path[64];

static char *put(char *at, const char *text) {
    while (*text) *at++ = *text++;
    return at;
}

static char *put_number(char *at, u64 value, int width) {
    for (int i = width - 1; i >= 0; i--, value /= 10) at[i] = (char)('0' + value % 10);
    return at + width;
}

static long must(const char *what, long result) {
    if (result < 0) {
        print(what);
        print(" failed ");
        print_number(result);
        print("\n");
        leave(1);
    }
    return result;
}

static const char *name(const char *stem, u64 number) {
    char *at = put(put(path, "/disk/"), stem);
    *put_number(at, number, 1) = 0;
    return path;
}

static void write_all(long fd, const char *bytes, u64 size) {
    u64 done = 0;
    while (done < size) done += (u64)must("write", call(WRITE, fd, bytes + done, size - done));
}

/* Replaces a file: its new content under another name, made safe, then renamed. */
static void replace(u64 file, u64 round) {
    const u64 size = 64 + (round * 7919 + file * 131) % 20000;
    char *at = put_number(block, file, 1);
    at = put_number(put(at, " "), round, 10);
    at = put_number(put(at, " "), size, 6);
    for (u64 i = (u64)(at - block); i < size; i++) block[i] = (char)('a' + (i * 31 + round * 7 + file) % 26);
    const long fd = must("open", call(OPEN, name("tmp", file), O_WRONLY | O_CREAT | O_TRUNC, 0644));
    write_all(fd, block, size);
    must("fsync", call(FSYNC, fd, 0, 0));
    must("close", call(CLOSE, fd, 0, 0));
    char from[32];
    put(put(from, path), "")[0] = 0;
    must("rename", call(RENAME, from, name("file", file), 0));
    const long dir = must("open", call(OPEN, "/disk", 0, 0));
    must("fsync", call(FSYNC, dir, 0, 0));
    call(CLOSE, dir, 0, 0);
    print("F ");
    print_number((long)file);
    print(" ");
    print_number((long)round);
    print("\n");
}

/* Adds a record to the log and makes it safe. */
static void record(long log, u64 number) {
    char *at = put_number(put(block, "record "), number, 10);
    while (at < block + RECORD - 1) *at++ = '.';
    *at = '\n';
    write_all(log, block, RECORD);
    must("fsync", call(FSYNC, log, 0, 0));
    print("L ");
    print_number((long)number);
    print("\n");
}

static void load(u64 from, u64 rounds) {
    const long log = must("open", call(OPEN, "/disk/log", O_RDWR | O_CREAT | O_APPEND, 0644));
    u64 records = (u64)must("seek", call(8, log, 0, 2)) / RECORD;
    for (u64 round = from; round < from + rounds; round++)
        for (u64 file = 0; file < FILES; file++) {
            replace(file, round);
            record(log, records++);
        }
    print("done\n");
}

/* Makes many files in one directory and removes half of them. */
static void many(u64 files) {
    must("mkdir", call(MKDIR, "/disk/many", 0755, 0));
    for (u64 pass = 0; pass < 2; pass++)
        for (u64 file = pass; file < files; file += 1 + pass) {
            char *at = put(path, "/disk/many/a name of some length ");
            *put_number(at, file, 6) = 0;
            if (pass == 0) {
                const long fd = must("open", call(OPEN, path, O_WRONLY | O_CREAT, 0644));
                write_all(fd, path, 16);
                must("close", call(CLOSE, fd, 0, 0));
            } else {
                must("unlink", call(UNLINK, path, 0, 0));
            }
        }
    print("done\n");
}

static u64 now(void) {
    u64 time[2];
    call(CLOCK_GETTIME, 1, time, 0);
    return time[0] * 1000000 + time[1] / 1000;
}

static void report(const char *what, u64 value) {
    print(what);
    print_number((long)value);
    print("\n");
}

/* How fast it is. */
static void speed(void) {
    long fd = must("open", call(OPEN, "/disk/big", O_RDWR | O_CREAT | O_TRUNC, 0644));
    u64 begun = now();
    for (int i = 0; i < PIECES; i++) write_all(fd, block, PIECE);
    must("fsync", call(FSYNC, fd, 0, 0));
    report("written KiB/s ", (u64)PIECE * PIECES / 1024 * 1000000 / (now() - begun));
    must("close", call(CLOSE, fd, 0, 0));
    fd = must("open", call(OPEN, "/disk/big", O_RDWR, 0));
    begun = now();
    for (int i = 0; i < PIECES; i++) must("read", call(READ, fd, block, PIECE));
    report("read KiB/s ", (u64)PIECE * PIECES / 1024 * 1000000 / (now() - begun));
    must("close", call(CLOSE, fd, 0, 0));
    fd = must("open", call(OPEN, "/disk/small", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0644));
    begun = now();
    for (int i = 0; i < SMALL; i++) {
        write_all(fd, block, 100);
        must("fsync", call(FSYNC, fd, 0, 0));
    }
    report("fsync us ", (now() - begun) / SMALL);
}

__attribute__((used)) static void begin(u64 *stack) {
    const u64 count = stack[0];
    const char *mode = count > 1 ? (const char *)stack[2] : "";
    u64 from = 0;
    for (const char *digit = count > 2 ? (const char *)stack[3] : ""; *digit; digit++)
        from = from * 10 + (u64)(*digit - '0');
    if (mode[0] == 'l') load(from, (u64)1 << 40);
    if (mode[0] == 'r') load(1, from);
    if (mode[0] == 'm') many(from);
    if (mode[0] == 's') speed();
    leave(0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
