/* Names, directories and attributes, in the folder that the argument names. Prints what is wrong, or one line if
 * nothing is. What differs between Linux and Askr on purpose is not in here. */
#include "raw.h"

enum {
    FSTAT = 5, LSTAT = 6, LSEEK = 8, ACCESS = 21, FORK = 57, WAIT4 = 61, FSYNC = 74, FDATASYNC = 75, TRUNCATE = 76,
    FTRUNCATE = 77, CHDIR = 80, FCHDIR = 81, RENAME = 82, MKDIR = 83, RMDIR = 84, CREAT = 85, LINK = 86, UNLINK = 87,
    SYMLINK = 88, READLINK = 89, CHMOD = 90, FCHMOD = 91, UMASK = 95, STATFS = 137, FSTATFS = 138, SYNC = 162,
    OPENAT = 257, MKDIRAT = 258, NEWFSTATAT = 262, UNLINKAT = 263, RENAMEAT = 264, LINKAT = 265, SYMLINKAT = 266,
    READLINKAT = 267, FCHMODAT = 268, FACCESSAT = 269, UTIMENSAT = 280, RENAMEAT2 = 316, FACCESSAT2 = 439, PIPE = 22
};
enum {
    EPERM = -1, EBADF = -9, EBUSY = -16, EEXIST = -17, EXDEV = -18, ENOTDIR = -20, EISDIR = -21, ESPIPE = -29,
    ERANGE = -34, ENAMETOOLONG = -36, ENOTEMPTY = -39, ELOOP = -40
};
enum {
    O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0100, O_EXCL = 0200, O_TRUNC = 01000, O_APPEND = 02000,
    O_DIRECTORY = 0200000, O_NOFOLLOW = 0400000
};
enum { AT_FDCWD = -100, AT_REMOVEDIR = 0x200, AT_NOFOLLOW = 0x100, AT_FOLLOW = 0x400, AT_EMPTY = 0x1000 };

struct stat {
    u64 dev, ino, nlink;
    unsigned mode, uid, gid, pad;
    u64 rdev;
    long size, blksize, blocks, atime[2], mtime[2], ctime[2], unused[3];
};

static int failures;
static struct stat st;
static char buffer[70000], name256[300], path4096[5000];

static void is_at(int line, const char *what, long got, long wanted) {
    if (got == wanted) return;
    failures++;
    print_number(line);
    print(": ");
    print(what);
    print(": ");
    print_number(got);
    print(" is not ");
    print_number(wanted);
    print("\n");
}
#define is(got, wanted) is_at(__LINE__, #got, got, wanted)
#define at4(number, a, b, c, d) call6(number, (u64)(a), (u64)(b), (u64)(c), (u64)(d), 0, 0)
#define at5(number, a, b, c, d, e) call6(number, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), 0)

static long make(const char *path, const char *content) {
    long fd = call(OPEN, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0) return fd;
    long got = call(WRITE, fd, content, length(content));
    call(CLOSE, fd, 0, 0);
    return got;
}

/* Whether the file has this content. */
static int has(const char *path, const char *content) {
    long fd = call(OPEN, path, O_RDONLY, 0);
    if (fd < 0) return 0;
    long got = call(READ, fd, buffer, sizeof buffer);
    call(CLOSE, fd, 0, 0);
    if (got != (long)length(content)) return 0;
    for (long i = 0; i < got; i++) if (buffer[i] != content[i]) return 0;
    return 1;
}

static long size(const char *path) { long r = call(LSTAT, path, &st, 0); return r ? r : st.size; }
static long inode(const char *path) { long r = call(LSTAT, path, &st, 0); return r ? r : (long)st.ino; }
static long mode(const char *path) { long r = call(LSTAT, path, &st, 0); return r ? r : (long)st.mode; }
static long links(const char *path) { long r = call(LSTAT, path, &st, 0); return r ? r : (long)st.nlink; }

static void directories(void) {
    is(call(MKDIR, "d", 0755, 0), 0);
    is(call(MKDIR, "d", 0755, 0), EEXIST);
    is(call(MKDIR, "d/", 0755, 0), EEXIST);
    is(call(MKDIR, "d/.", 0755, 0), EEXIST);
    is(call(MKDIR, "d/..", 0755, 0), EEXIST);
    is(call(MKDIR, "/", 0755, 0), EEXIST);
    is(call(MKDIR, "d/e/", 0755, 0), 0);
    is(call(MKDIR, "none/e", 0755, 0), ENOENT);
    is(call(MKDIR, "", 0755, 0), ENOENT);
    is(make("f", "content"), 7);
    is(call(MKDIR, "f", 0755, 0), EEXIST);
    is(call(MKDIR, "f/e", 0755, 0), ENOTDIR);
    is(call(MKDIR, name256, 0755, 0), ENAMETOOLONG);
    is(call(MKDIR, path4096, 0755, 0), ENAMETOOLONG);
    is(call(MKDIR, 8, 0755, 0), EFAULT);
    is(call(RMDIR, "d", 0, 0), ENOTEMPTY);
    is(call(RMDIR, "d/.", 0, 0), EINVAL);
    is(call(RMDIR, "d/e/..", 0, 0), ENOTEMPTY);
    is(call(RMDIR, "/", 0, 0), EBUSY);
    is(call(RMDIR, "f", 0, 0), ENOTDIR);
    is(call(RMDIR, "f/", 0, 0), ENOTDIR);
    is(call(RMDIR, "none", 0, 0), ENOENT);
    is(call(RMDIR, "d//e//", 0, 0), 0);
    is(call(RMDIR, "d", 0, 0), 0);
    is(call(UMASK, 027, 0, 0) & 0, 0);
    is(call(MKDIR, "d", 0777, 0), 0);
    is(mode("d"), 040750);
    is(call(RMDIR, "d", 0, 0), 0);
    is(call(UMASK, 022, 0, 0), 027);
}

static void opens(void) {
    is(call(OPEN, "f", O_CREAT | O_EXCL | O_WRONLY, 0644), EEXIST);
    is(call(OPEN, "f", O_RDONLY | O_DIRECTORY, 0), ENOTDIR);
    is(call(OPEN, "f/", O_RDONLY, 0), ENOTDIR);
    is(call(OPEN, "none", O_RDONLY, 0), ENOENT);
    is(call(OPEN, "none/", O_CREAT | O_WRONLY, 0644), EISDIR);
    is(call(OPEN, ".", O_WRONLY, 0), EISDIR);
    is(call(OPEN, ".", O_CREAT, 0), EISDIR);
    is(call(SYMLINK, "f", "s", 0), 0);
    is(call(SYMLINK, "gone", "dangling", 0), 0);
    is(call(SYMLINK, "loop", "loop", 0), 0);
    is(call(OPEN, "s", O_RDONLY | O_NOFOLLOW, 0), ELOOP);
    is(call(OPEN, "loop", O_RDONLY, 0), ELOOP);
    is(call(OPEN, "dangling", O_RDONLY, 0), ENOENT);
    is(call(OPEN, "dangling", O_CREAT | O_EXCL | O_WRONLY, 0644), EEXIST);
    is(make("dangling", "made"), 4);
    is(has("gone", "made"), 1);
    is(call(UNLINK, "gone", 0, 0), 0);
    int fd = call(CREAT, "new", 0666, 0);
    is(mode("new"), 0100644);
    is(call(READ, fd, buffer, 1), EBADF);
    is(call(CLOSE, fd, 0, 0), 0);
    is(call(CLOSE, fd, 0, 0), EBADF);
    is(call(UNLINK, "new", 0, 0), 0);
    fd = call(OPEN, "f", O_RDONLY | O_TRUNC, 0);
    call(CLOSE, fd, 0, 0);
    fd = call(OPEN, "f", O_RDWR | O_TRUNC, 0);
    is(size("f"), 0);
    is(call(WRITE, fd, "content", 7), 7);
    call(CLOSE, fd, 0, 0);
}

static void links_of_both_kinds(void) {
    is(call(READLINK, "s", buffer, 10), 1);
    is(call(READLINK, "dangling", buffer, 2), 2);
    is(call(READLINK, "f", buffer, 10), EINVAL);
    is(call(READLINK, "s", buffer, 0), EINVAL);
    is(call(READLINK, "s", buffer, -1), EINVAL);
    is(call(READLINK, "none", buffer, 10), ENOENT);
    is(call(READLINK, "s", 8, 10), EFAULT);
    is(at4(READLINKAT, AT_FDCWD, "s", buffer, 10), 1);
    is(call(SYMLINK, "f", "s", 0), EEXIST);
    is(call(SYMLINK, "", "t", 0), ENOENT);
    is(call(SYMLINK, "f", "none/t", 0), ENOENT);
    is(call(SYMLINKAT, "f", AT_FDCWD, "t"), 0);
    is(size("t"), 1);
    is(call(UNLINK, "t", 0, 0), 0);
    is(has("f", "content"), 1);
    is(call(LINK, "f", "g", 0), 0);
    is(links("f"), 2);
    is(inode("f") == inode("g"), 1);
    is(call(LINK, "f", "g", 0), EEXIST);
    is(call(LINK, ".", "h", 0), EPERM);
    is(call(LINK, "none", "h", 0), ENOENT);
    is(call(RENAME, "f", "g", 0), 0); /* two names of one file: nothing happens */
    is(links("f"), 2);
    is(at5(LINKAT, AT_FDCWD, "s", AT_FDCWD, "h", 0), 0);
    is(mode("h") & 0170000, 0120000);
    is(at5(LINKAT, AT_FDCWD, "s", AT_FDCWD, "i", AT_FOLLOW), 0);
    is(links("f"), 3);
    is(at5(LINKAT, AT_FDCWD, "s", AT_FDCWD, "j", 1), EINVAL);
    is(call(UNLINK, "g", 0, 0) | call(UNLINK, "h", 0, 0) | call(UNLINK, "i", 0, 0), 0);
    is(links("f"), 1);
    is(call(UNLINK, ".", 0, 0), EISDIR);
    is(call(UNLINK, "none", 0, 0), ENOENT);
    is(call(UNLINK, "f/", 0, 0), ENOTDIR);
    is(call(UNLINKAT, AT_FDCWD, "f", 1), EINVAL);
    is(call(UNLINKAT, AT_FDCWD, "f", AT_REMOVEDIR), ENOTDIR);
}

static void renames(void) {
    call(MKDIR, "a", 0755, 0), call(MKDIR, "a/b", 0755, 0), call(MKDIR, "c", 0755, 0);
    make("x", "x"), make("y", "yy");
    is(call(RENAME, "x", "y", 0), 0);
    is(has("y", "x"), 1);
    is(call(RENAME, "x", "y", 0), ENOENT);
    is(call(RENAME, "y", "a", 0), EISDIR);
    is(call(RENAME, "a", "y", 0), ENOTDIR);
    is(call(RENAME, "c", "a", 0), ENOTEMPTY);
    is(call(RENAME, "a", "a/b/c", 0), EINVAL);
    is(call(RENAME, "a/b", "a", 0), ENOTEMPTY);
    is(call(RENAME, "a", "a", 0), 0);
    is(call(RENAME, "a/.", "z", 0), EBUSY);
    is(call(RENAME, "a", "c/..", 0), EBUSY);
    is(call(RENAME, "y", "z/", 0), ENOTDIR);
    is(call(RENAME, "y/", "z", 0), ENOTDIR);
    is(call(RENAME, "y", "none/z", 0), ENOENT);
    is(call(RENAME, "y", "/proc/y", 0), EXDEV);
    is(call(RENAME, "y", name256, 0), ENAMETOOLONG);
    is(call(RENAME, "a", "c/", 0), 0);
    is(call(RENAME, "c/b", "b", 0), 0);
    is(at5(RENAMEAT2, AT_FDCWD, "y", AT_FDCWD, "b", 1), EEXIST);
    is(at5(RENAMEAT2, AT_FDCWD, "y", AT_FDCWD, "w", 1), 0);
    is(at5(RENAMEAT2, AT_FDCWD, "w", AT_FDCWD, "y", 77), EINVAL);
    is(call(RENAME, "s", "t", 0), 0);
    is(mode("t") & 0170000, 0120000);
    is(call(UNLINK, "t", 0, 0) | call(UNLINK, "w", 0, 0) | call(RMDIR, "b", 0, 0) | call(RMDIR, "c", 0, 0), 0);
}

/* What is open lives on, and directories are followed wherever they go. */
static void lives(void) {
    make("x", "open");
    int fd = call(OPEN, "x", O_RDWR, 0);
    make("other", "other");
    is(call(RENAME, "other", "x", 0), 0);
    is(call(READ, fd, buffer, 9), 4);
    is(call(WRITE, fd, "!", 1), 1);
    is(call(FSTAT, fd, &st, 0) | st.nlink, 0);
    is(st.size, 5);
    is(has("x", "other"), 1);
    call(CLOSE, fd, 0, 0);
    call(MKDIR, "a", 0755, 0), call(MKDIR, "c", 0755, 0);
    make("a/in", "inside");
    int dir = call(OPEN, "a", O_RDONLY | O_DIRECTORY, 0);
    is(call(CHDIR, "a", 0, 0), 0);
    is(call(RENAME, "../a", "../c/moved", 0), 0);
    is(has("in", "inside"), 1);
    is(has("../../x", "other"), 1);
    long full = call(GETCWD, buffer, sizeof buffer, 0);
    is(buffer[full - 2] == 'd' && buffer[full - 8] == 'c', 1);
    is(call(GETCWD, buffer, 3, 0), ERANGE);
    is(call(CHDIR, "../..", 0, 0), 0);
    fd = at4(OPENAT, dir, "in", O_RDONLY, 0);
    is(call(READ, fd, buffer, 20), 6);
    is(at4(OPENAT, fd, "in", O_RDONLY, 0), ENOTDIR);
    is(at4(OPENAT, 999, "in", O_RDONLY, 0), EBADF);
    is(call(FCHDIR, fd, 0, 0), ENOTDIR);
    call(CLOSE, fd, 0, 0);
    is(call(MKDIRAT, dir, "sub", 0755), 0);
    is(at4(RENAMEAT, dir, "in", AT_FDCWD, "out"), 0);
    is(has("out", "inside"), 1);
    is(call(UNLINKAT, dir, "sub", 0), EISDIR);
    is(call(UNLINKAT, dir, "sub", AT_REMOVEDIR), 0);
    /* A working directory that is removed. */
    is(call(FCHDIR, dir, 0, 0), 0);
    is(call(RMDIR, "../moved", 0, 0), 0);
    is(call(GETCWD, buffer, sizeof buffer, 0), ENOENT);
    is(call(OPEN, "x", O_RDWR | O_CREAT, 0644), ENOENT);
    is(call(MKDIR, "x", 0755, 0), ENOENT);
    is(call(STAT, ".", &st, 0), 0);
    is(call(GETDENTS64, dir, buffer, 1000), ENOENT);
    call(CLOSE, dir, 0, 0);
}

static void sizes(void) {
    int fd = call(OPEN, "x", O_RDWR | O_CREAT | O_TRUNC, 0644);
    is(call(FTRUNCATE, fd, 5000, 0), 0);
    is(size("x"), 5000);
    is(call(LSEEK, fd, -1, 2), 4999);
    is(call(READ, fd, buffer, 10) + buffer[0], 1);
    is(call(LSEEK, fd, -1, 0), EINVAL);
    is(call(LSEEK, fd, 0, 9), EINVAL);
    is(call(LSEEK, fd, 6000, 0), 6000);
    is(call(WRITE, fd, "x", 1), 1);
    is(size("x"), 6001);
    is(call(TRUNCATE, "x", 3, 0), 0);
    is(call(TRUNCATE, "x", -1, 0), EINVAL);
    is(call(TRUNCATE, ".", 0, 0), EISDIR);
    is(call(TRUNCATE, "none", 0, 0), ENOENT);
    is(call(FTRUNCATE, fd, -1, 0), EINVAL);
    is(call(FSYNC, fd, 0, 0) | call(FDATASYNC, fd, 0, 0) | call(SYNC, 0, 0, 0), 0);
    is(call(FSYNC, 999, 0, 0), EBADF);
    call(CLOSE, fd, 0, 0);
    fd = call(OPEN, "x", O_RDONLY, 0);
    is(call(FTRUNCATE, fd, 0, 0), EINVAL);
    is(call(WRITE, fd, "x", 1), EBADF);
    call(CLOSE, fd, 0, 0);
    int ends[2];
    call(PIPE, ends, 0, 0);
    is(call(FSYNC, ends[0], 0, 0), EINVAL);
    is(call(FTRUNCATE, ends[1], 0, 0), EINVAL);
    call(CLOSE, ends[0], 0, 0), call(CLOSE, ends[1], 0, 0);
    /* Two processes that append: no line is lost. */
    fd = call(OPEN, "log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    int pid = call(FORK, 0, 0, 0);
    int own = pid ? fd : call(OPEN, "log", O_WRONLY | O_APPEND, 0);
    for (int i = 0; i < 500; i++) call(WRITE, own, "0123456789abcde\n", 16);
    if (pid == 0) leave(0);
    call(WAIT4, pid, 0, 0);
    is(size("log"), 16000);
    /* And two that share a position. */
    call(CLOSE, fd, 0, 0);
    fd = call(OPEN, "log", O_WRONLY | O_TRUNC, 0);
    pid = call(FORK, 0, 0, 0);
    for (int i = 0; i < 500; i++) call(WRITE, fd, "0123456789abcde\n", 16);
    if (pid == 0) leave(0);
    call(WAIT4, pid, 0, 0);
    is(size("log"), 16000);
    call(CLOSE, fd, 0, 0);
    call(UNLINK, "log", 0, 0);
}

static void attributes(void) {
    is(call(CHMOD, "x", 0751, 0), 0);
    is(mode("x"), 0100751);
    is(call(FCHMODAT, AT_FDCWD, "x", 0600), 0);
    is(call(ACCESS, "x", 6, 0), 0);
    is(call(ACCESS, "x", 8, 0), EINVAL);
    is(call(ACCESS, "none", 0, 0), ENOENT);
    is(call(ACCESS, ".", 7, 0), 0);
    is(call(FACCESSAT, AT_FDCWD, "x", 4), 0);
    is(at4(FACCESSAT2, AT_FDCWD, "x", 4, 0x200), 0);
    is(at4(FACCESSAT2, AT_FDCWD, "x", 4, 7), EINVAL);
    is(call(ACCESS, "x", 1, 0), EACCES);
    int fd = call(OPEN, "x", O_RDONLY, 0);
    is(call(FCHMOD, fd, 0711, 0), 0);
    is(mode("x"), 0100711);
    long times[4] = {1, 2, 1000000000, 999999999};
    is(at4(UTIMENSAT, AT_FDCWD, "x", times, 0), 0);
    call(LSTAT, "x", &st, 0);
    is(st.mtime[0], 1000000000);
    is(st.mtime[1], 999999999);
    times[3] = 0x3ffffffe;
    is(at4(UTIMENSAT, fd, 0, times, 0), 0);
    call(LSTAT, "x", &st, 0);
    is(st.mtime[0], 1000000000);
    is(at4(UTIMENSAT, AT_FDCWD, "x", 0, 0), 0);
    call(LSTAT, "x", &st, 0);
    is(st.mtime[0] > 1500000000, 1);
    times[3] = 1000000000;
    is(at4(UTIMENSAT, AT_FDCWD, "x", times, 0), EINVAL);
    is(at4(UTIMENSAT, AT_FDCWD, "none", 0, 0), ENOENT);
    is(at4(UTIMENSAT, AT_FDCWD, "x", 0, 2), EINVAL);
    u64 words[15];
    is(call(STATFS, ".", words, 0), 0);
    is(words[1] == 4096 && words[2] >= words[3] && words[8] == 255, 1);
    is(call(FSTATFS, fd, words, 0), 0);
    is(call(STATFS, "none", words, 0), ENOENT);
    is(at4(NEWFSTATAT, fd, "", &st, AT_EMPTY), 0);
    is(at4(NEWFSTATAT, AT_FDCWD, "dangling", &st, 0), ENOENT);
    is(at4(NEWFSTATAT, AT_FDCWD, "dangling", &st, AT_NOFOLLOW), 0);
    call(CLOSE, fd, 0, 0);
}

/* A listing that goes on while names come and go. */
static void listing(void) {
    enum { FILES = 300 };
    char name[5] = "n000";
    call(MKDIR, "many", 0755, 0), call(CHDIR, "many", 0, 0);
    for (int i = 0; i < FILES; i++) {
        name[1] = (char)('0' + i / 100), name[2] = (char)('0' + i / 10 % 10), name[3] = (char)('0' + i % 10);
        make(name, "");
    }
    int dir = call(OPEN, ".", O_RDONLY | O_DIRECTORY, 0), seen = 0, dots = 0;
    long got;
    is(call(GETDENTS64, dir, buffer, 4), EINVAL);
    while ((got = call(GETDENTS64, dir, buffer, 500)) > 0) {
        for (long at = 0; at < got; at += *(unsigned short *)(buffer + at + 16)) {
            const char *entry = buffer + at + 19;
            if (entry[0] == '.') { dots++; continue; }
            seen++;
            call(UNLINK, entry, 0, 0);
        }
    }
    is(dots, 2);
    is(seen, FILES);
    is(call(LSEEK, dir, 0, 0), 0);
    is(call(GETDENTS64, dir, buffer, 500), 48);
    call(CLOSE, dir, 0, 0);
    is(call(CHDIR, "..", 0, 0) | call(RMDIR, "many", 0, 0), 0);
}

__attribute__((used)) static void start(long *stack) {
    const char *folder = stack[0] > 1 ? (const char *)stack[2] : "/tmp/tree";
    for (int i = 0; i < 256; i++) name256[i] = 'n';
    for (int i = 0; i < 4200; i++) path4096[i] = i % 2 ? '/' : '.';
    call(MKDIR, folder, 0755, 0);
    is(call(CHDIR, folder, 0, 0), 0);
    directories();
    opens();
    links_of_both_kinds();
    renames();
    lives();
    is(call(CHDIR, folder, 0, 0), 0);
    sizes();
    attributes();
    listing();
    call(UNLINK, "x", 0, 0), call(UNLINK, "f", 0, 0), call(UNLINK, "out", 0, 0), call(UNLINK, "dangling", 0, 0);
    call(UNLINK, "loop", 0, 0), call(RMDIR, "c", 0, 0), call(CHDIR, "/", 0, 0);
    is(call(RMDIR, folder, 0, 0), 0);
    print(failures ? "the tree is wrong\n" : "the tree is well\n");
    leave(failures != 0);
}
__asm__(".globl _start\n_start:\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call start\n");
