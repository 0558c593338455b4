/* Files: open, read, write, seek, truncate, descriptors, stat. */
#include "conformance.h"

static char buffer[4 * PAGE];

/* Opens, tells, closes. */
static void opens(const char *name, const char *path, int flags) {
    long fd = call(SYS_open, path, flags, 0644);
    is(name, fd);
    if (fd >= 0) call(SYS_close, fd);
}

static void opening(void) {
    opens("open a new file", "f", O_RDWR | O_CREAT);
    opens("open it again", "f", O_RDWR | O_CREAT);
    opens("open it exclusively", "f", O_RDWR | O_CREAT | O_EXCL);
    opens("open what is missing", "none", O_RDWR);
    opens("open with an empty path", "", O_RDONLY);
    opens("open in a missing directory", "none/f", O_RDWR | O_CREAT);
    opens("open below a file", "f/g", O_RDWR | O_CREAT);
    opens("open a file with a slash", "f/", O_RDONLY);
    opens("create a file with a slash", "new/", O_RDWR | O_CREAT);
    opens("open a file as a directory", "f", O_RDONLY | O_DIRECTORY);
    call(SYS_mkdir, "d", 0755);
    opens("open a directory", "d", O_RDONLY);
    opens("open a directory as one", "d/", O_RDONLY | O_DIRECTORY);
    opens("open a directory for writing", "d", O_WRONLY);
    opens("open a directory for both", "d", O_RDWR);
    opens("create over a directory", "d", O_RDONLY | O_CREAT);
    opens("create exclusively over a directory", "d", O_RDONLY | O_CREAT | O_EXCL);
    call(SYS_symlink, "f", "l");
    call(SYS_symlink, "nowhere", "dangling");
    call(SYS_symlink, "loop", "loop");
    opens("open through a link", "l", O_RDONLY);
    opens("open a link itself", "l", O_RDONLY | O_NOFOLLOW);
    opens("open a dangling link", "dangling", O_RDONLY);
    opens("create exclusively over a dangling link", "dangling", O_RDWR | O_CREAT | O_EXCL);
    opens("open a link to itself", "loop", O_RDONLY);
    opens("create through a dangling link", "dangling", O_RDWR | O_CREAT);
    opens("what that made", "nowhere", O_RDONLY | O_NOFOLLOW);
    opens("open the root for writing", "/", O_RDWR);
    opens("open with O_NONBLOCK", "f", O_RDONLY | O_NONBLOCK);
    opens("open with O_SYNC", "f", O_RDWR | O_SYNC);
    opens("open with a flag that nobody knows", "f", O_RDONLY | 1 << 30);
    long first = call(SYS_open, "f", O_RDONLY), second = call(SYS_open, "f", O_RDONLY);
    is("the first descriptor", first);
    is("the second", second);
    call(SYS_close, first);
    is("the lowest that is free", call(SYS_open, "l", O_RDONLY));
    is("close", call(SYS_close, first));
    is("close again", call(SYS_close, first));
    call(SYS_close, second);
}

static void names(void) {
    static char name[PAGE + 64];
    memset(name, 'n', 255);
    opens("a name of 255 bytes", name, O_RDWR | O_CREAT);
    is("unlink it", call(SYS_unlink, name));
    name[255] = 'n';
    opens("a name of 256 bytes", name, O_RDWR | O_CREAT);
    opens("open a name of 256 bytes", name, O_RDONLY);
    memcpy(name + 256, "/x", 3);
    opens("open below a name of 256 bytes", name, O_RDONLY);
    /* "././…f" */
    for (int i = 0; i < 4095; i++) name[i] = i % 2 ? '/' : '.';
    name[4094] = 'f';
    name[4095] = 0;
    opens("a path of 4095 bytes", name, O_RDONLY);
    name[4094] = '.', name[4095] = '/', name[4096] = 'f', name[4097] = 0;
    opens("a path of 4097 bytes", name, O_RDONLY);
    memset(name, '/', 4095), name[4095] = 'x', name[4096] = 0;
    opens("a path of 4096 bytes", name, O_RDONLY);
    opens("a name that is not UTF-8", "\xff\xfe\x80", O_RDWR | O_CREAT);
    works("stat it", call(SYS_stat, "\xff\xfe\x80", buffer));
    opens("a name with blanks and a newline", " a\n b ", O_RDWR | O_CREAT);
    works("stat that", call(SYS_stat, " a\n b ", buffer));
    opens("a name of three dots", "...", O_RDWR | O_CREAT);
}

static void reading_and_writing(void) {
    long fd = call(SYS_open, "data", O_RDWR | O_CREAT | O_TRUNC, 0644);
    is("write", call(SYS_write, fd, "0123456789", 10));
    is("write nothing", call(SYS_write, fd, "", 0));
    is("position", call(SYS_lseek, fd, 0, SEEK_CUR));
    is("read at the end", call(SYS_read, fd, buffer, 5));
    is("seek to 4", call(SYS_lseek, fd, 4, SEEK_SET));
    is("read 3", call(SYS_read, fd, buffer, 3));
    say("what was read: %.3s", buffer);
    is("read the rest", call(SYS_read, fd, buffer, 100));
    is("read nothing", call(SYS_read, fd, buffer, 0));
    is("seek before the start", call(SYS_lseek, fd, -1, SEEK_SET));
    is("seek back too far", call(SYS_lseek, fd, -11, SEEK_END));
    is("seek back from the end", call(SYS_lseek, fd, -10, SEEK_END));
    is("seek forth", call(SYS_lseek, fd, 3, SEEK_CUR));
    is("seek with a whence that nobody knows", call(SYS_lseek, fd, 0, 99));
    is("seek with a negative whence", call(SYS_lseek, fd, 0, -1));
    is("seek beyond what a position can be", call(SYS_lseek, fd, LONG_MAX, SEEK_END));
    is("the position after errors", call(SYS_lseek, fd, 0, SEEK_CUR));
    is("seek beyond the end", call(SYS_lseek, fd, 5000, SEEK_SET));
    is("read there", call(SYS_read, fd, buffer, 5));
    is("write there", call(SYS_write, fd, "x", 1));
    is("the size", call(SYS_lseek, fd, 0, SEEK_END));
    is("pread in the hole", call(SYS_pread64, fd, buffer, 100, 4000));
    int zeros = 0;
    for (int i = 0; i < 100; i++) zeros += !buffer[i];
    is("zeros in the hole", zeros);
    is("pread leaves the position", call(SYS_lseek, fd, 0, SEEK_CUR));
    is("pread before the start", call(SYS_pread64, fd, buffer, 1, -1));
    is("pread beyond the end", call(SYS_pread64, fd, buffer, 1, 6000));
    is("pwrite", call(SYS_pwrite64, fd, "AB", 2, 2));
    is("pwrite before the start", call(SYS_pwrite64, fd, "AB", 2, -5));
    is("pread it", call(SYS_pread64, fd, buffer, 6, 0));
    say("what pread gave: %.6s", buffer);
    call(SYS_close, fd);
    is("read from a closed one", call(SYS_read, fd, buffer, 1));
    is("write to a closed one", call(SYS_write, fd, buffer, 1));
}

static void modes(void) {
    make_file("data", "0123456789");
    long only_write = call(SYS_open, "data", O_WRONLY), only_read = call(SYS_open, "data", O_RDONLY);
    is("read what is open for writing", call(SYS_read, only_write, buffer, 1));
    is("read nothing of it", call(SYS_read, only_write, buffer, 0));
    is("write what is open for reading", call(SYS_write, only_read, "x", 1));
    is("truncate what is open for reading", call(SYS_ftruncate, only_read, 0));
    call(SYS_close, only_write), call(SYS_close, only_read);
    long directory = call(SYS_open, ".", O_RDONLY);
    is("read a directory", call(SYS_read, directory, buffer, 16));
    is("write a directory", call(SYS_write, directory, "x", 1));
    is("truncate a directory that is open", call(SYS_ftruncate, directory, 0));
    call(SYS_close, directory);
    long append = call(SYS_open, "data", O_RDWR | O_APPEND);
    is("position with O_APPEND", call(SYS_lseek, append, 0, SEEK_CUR));
    is("write with O_APPEND", call(SYS_write, append, "ab", 2));
    is("position after", call(SYS_lseek, append, 0, SEEK_CUR));
    call(SYS_lseek, append, 0, SEEK_SET);
    is("write with O_APPEND elsewhere", call(SYS_write, append, "cd", 2));
    call(SYS_close, append);
    contains("what O_APPEND wrote", "data");
    opens("open with O_TRUNC", "data", O_WRONLY | O_TRUNC);
    contains("what O_TRUNC left", "data");
}

static void vectors(void) {
    char a[4] = "abc", b[6] = "defgh";
    struct iovec out[3] = { { a, 3 }, { 0, 0 }, { b, 5 } };
    long fd = call(SYS_open, "vector", O_RDWR | O_CREAT | O_TRUNC, 0644);
    is("writev", call(SYS_writev, fd, out, 3));
    is("writev of nothing", call(SYS_writev, fd, out, 0));
    is("writev with a bad vector of nothing", call(SYS_writev, fd, 8, 0));
    contains("what writev wrote", "vector");
    char x[3] = "", y[16] = "";
    struct iovec in[3] = { { x, 2 }, { 0, 0 }, { y, 15 } };
    call(SYS_lseek, fd, 0, SEEK_SET);
    is("readv", call(SYS_readv, fd, in, 3));
    say("what readv gave: %s %s", x, y);
    is("readv at the end", call(SYS_readv, fd, in, 3));
    is("readv of -1 pieces", call(SYS_readv, fd, in, -1));
    is("writev of -1 pieces", call(SYS_writev, fd, out, -1));
    static struct iovec many[1025];
    for (int i = 0; i < 1025; i++) many[i] = (struct iovec){ "z", i < 2 };
    is("writev of 1024 pieces", call(SYS_writev, fd, many, 1024));
    is("writev of 1025 pieces", call(SYS_writev, fd, many, 1025));
    is("readv of 1025 pieces", call(SYS_readv, fd, many, 1025));
    out[1].iov_len = -1;
    is("writev with a negative length", call(SYS_writev, fd, out, 3));
    in[1].iov_len = -1;
    is("readv with a negative length", call(SYS_readv, fd, in, 3));
    is("writev on a bad descriptor", call(SYS_writev, 77, out, 1));
    is("readv on a bad descriptor", call(SYS_readv, 77, in, 1));
    call(SYS_close, fd);
}

static void truncating(void) {
    make_file("cut", "0123456789");
    long fd = call(SYS_open, "cut", O_RDWR);
    is("ftruncate to 4", call(SYS_ftruncate, fd, 4));
    contains("what is left", "cut");
    is("ftruncate to 8", call(SYS_ftruncate, fd, 8));
    is("pread of what grew", call(SYS_pread64, fd, buffer, 100, 4));
    is("which is", buffer[0] | buffer[1] | buffer[2] | buffer[3]);
    call(SYS_ftruncate, fd, 3), call(SYS_ftruncate, fd, 6), call(SYS_pread64, fd, buffer, 6, 0);
    is("what was cut off stays away", buffer[3] | buffer[4] | buffer[5]);
    is("ftruncate to -1", call(SYS_ftruncate, fd, -1));
    is("ftruncate of a bad descriptor", call(SYS_ftruncate, 77, 0));
    is("the position stays", call(SYS_lseek, fd, 0, SEEK_CUR));
    is("truncate", call(SYS_truncate, "cut", 2));
    contains("what truncate left", "cut");
    is("truncate to -1", call(SYS_truncate, "cut", -1));
    is("truncate a directory", call(SYS_truncate, "d", 0));
    is("truncate what is missing", call(SYS_truncate, "none", 0));
    is("truncate below a file", call(SYS_truncate, "cut/x", 0));
    is("fsync", call(SYS_fsync, fd));
    is("fdatasync", call(SYS_fdatasync, fd));
    is("fsync of a bad descriptor", call(SYS_fsync, 77));
    is("fdatasync of -1", call(SYS_fdatasync, -1));
    long directory = call(SYS_open, ".", O_RDONLY);
    is("fsync of a directory", call(SYS_fsync, directory));
    call(SYS_close, directory), call(SYS_close, fd);
}

static void copies(void) {
    make_file("shared", "0123456789");
    long fd = call(SYS_open, "shared", O_RDWR), copy = call(SYS_dup, fd);
    is("dup", copy);
    is("read from one", call(SYS_read, fd, buffer, 4));
    is("position of the other", call(SYS_lseek, copy, 0, SEEK_CUR));
    is("dup2 to 10", call(SYS_dup2, fd, 10));
    is("dup2 to itself", call(SYS_dup2, fd, fd));
    is("dup2 of a bad one to itself", call(SYS_dup2, 77, 77));
    is("dup2 of a bad one", call(SYS_dup2, 77, 11));
    is("dup2 to -1", call(SYS_dup2, fd, -1));
    is("dup2 to INT_MAX", call(SYS_dup2, fd, INT_MAX));
    is("dup of -1", call(SYS_dup, -1));
    is("dup3", call(SYS_dup3, fd, 11, O_CLOEXEC));
    is("dup3 to itself", call(SYS_dup3, fd, fd, 0));
    is("dup3 with a flag that nobody knows", call(SYS_dup3, fd, 12, O_APPEND));
    is("F_GETFD of dup3 with O_CLOEXEC", call(SYS_fcntl, 11, F_GETFD));
    is("F_GETFD of dup2", call(SYS_fcntl, 10, F_GETFD));
    is("F_SETFD", call(SYS_fcntl, 10, F_SETFD, FD_CLOEXEC));
    is("F_GETFD after", call(SYS_fcntl, 10, F_GETFD));
    is("F_GETFD of the one it is a copy of", call(SYS_fcntl, fd, F_GETFD));
    is("F_DUPFD from 20", call(SYS_fcntl, fd, F_DUPFD, 20));
    is("F_DUPFD from 20 again", call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 20));
    is("F_GETFD of F_DUPFD_CLOEXEC", call(SYS_fcntl, 21, F_GETFD));
    is("F_DUPFD from -1", call(SYS_fcntl, fd, F_DUPFD, -1));
    is("F_GETFL", call(SYS_fcntl, fd, F_GETFL) & O_ACCMODE);
    is("F_SETFL", call(SYS_fcntl, fd, F_SETFL, O_APPEND));
    is("F_GETFL of the copy", call(SYS_fcntl, copy, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK));
    is("a write after F_SETFL goes", call(SYS_write, copy, "x", 1) + call(SYS_lseek, copy, 0, SEEK_CUR));
    is("fcntl of a bad descriptor", call(SYS_fcntl, 77, F_GETFD));
    is("fcntl with a command that nobody knows", call(SYS_fcntl, fd, 9999));
    call(SYS_close, fd);
    works("the copy outlives it", call(SYS_lseek, copy, 0, SEEK_SET));
    is("a new one takes its number", call(SYS_open, "shared", O_RDONLY));
    for (int i = 3; i < 24; i++) call(SYS_close, i);
}

static void facts(void) {
    struct stat a, b;
    make_file("facts", "0123456789");
    long fd = call(SYS_open, "facts", O_RDWR);
    is("stat", call(SYS_stat, "facts", &a));
    is("fstat", call(SYS_fstat, fd, &b));
    say("mode: %o", a.st_mode);
    is("size", a.st_size);
    is("links", a.st_nlink);
    holds("the same file by path and descriptor", a.st_ino == b.st_ino && a.st_dev == b.st_dev && a.st_mode == b.st_mode);
    holds("a size of blocks", a.st_blksize >= 512 && a.st_blksize % 512 == 0);
    holds("of its owner", a.st_uid == geteuid() && a.st_gid == getegid());
    holds("times are not before 2020", a.st_mtime > 1577836800 && a.st_ctime > 1577836800 && a.st_atime > 1577836800);
    nap(30);
    call(SYS_write, fd, "x", 1);
    call(SYS_fstat, fd, &b);
    holds("a write moves mtime", b.st_mtim.tv_sec > a.st_mtim.tv_sec || b.st_mtim.tv_nsec > a.st_mtim.tv_nsec);
    call(SYS_stat, "d", &b);
    say("mode of a directory: %o", b.st_mode);
    holds("another file", a.st_ino != b.st_ino);
    call(SYS_lstat, "l", &b);
    say("mode of a link: %o", b.st_mode);
    is("size of a link", b.st_size);
    is("stat of a dangling loop", call(SYS_stat, "loop", &b));
    is("lstat of a dangling loop", call(SYS_lstat, "loop", &b));
    is("lstat of a link with a slash", call(SYS_lstat, "l/", &b));
    is("stat of a file with a slash", call(SYS_stat, "facts/", &b));
    is("fstat of a bad descriptor", call(SYS_fstat, 77, &b));
    long directory = call(SYS_open, "d", O_RDONLY);
    make_file("d/inner", "abc");
    is("fstatat", call(SYS_newfstatat, directory, "inner", &b, 0));
    is("its size", b.st_size);
    is("fstatat of an absolute path with a bad descriptor", call(SYS_newfstatat, 77, "/", &b, 0));
    is("fstatat with a bad descriptor", call(SYS_newfstatat, 77, "inner", &b, 0));
    is("fstatat with a file as directory", call(SYS_newfstatat, fd, "inner", &b, 0));
    is("fstatat with a flag that nobody knows", call(SYS_newfstatat, directory, "inner", &b, 1 << 30));
    is("fstatat of an empty path", call(SYS_newfstatat, fd, "", &b, 0));
    is("fstatat with AT_EMPTY_PATH", call(SYS_newfstatat, fd, "", &b, AT_EMPTY_PATH));
    is("that size", b.st_size);
    is("fstatat of a link itself", call(SYS_newfstatat, AT_FDCWD, "l", &b, AT_SYMLINK_NOFOLLOW) + S_ISLNK(b.st_mode));
    is("openat", call(SYS_openat, directory, "inner", O_RDONLY));
    is("openat with a bad descriptor", call(SYS_openat, 77, "inner", O_RDONLY));
    is("openat with a file as directory", call(SYS_openat, fd, "inner", O_RDONLY));
    is("openat to create", call(SYS_openat, directory, "made", O_RDWR | O_CREAT, 0644));
    is("which is there", call(SYS_lstat, "d/made", &b));
    for (int i = 3; i < 8; i++) call(SYS_close, i);
}

static void rights(void) {
    struct stat s;
    is("umask", call(SYS_umask, 077));
    opens("make one with umask 077", "private", O_RDWR | O_CREAT);
    call(SYS_stat, "private", &s);
    say("its mode: %o", s.st_mode);
    is("umask back", call(SYS_umask, 022));
    is("umask takes nine bits", (call(SYS_umask, 07777), call(SYS_umask, 022)));
    is("chmod", call(SYS_chmod, "private", 0751));
    call(SYS_stat, "private", &s);
    say("mode after chmod: %o", s.st_mode);
    long fd = call(SYS_open, "private", O_RDONLY);
    is("fchmod", call(SYS_fchmod, fd, 0640));
    call(SYS_fstat, fd, &s);
    say("mode after fchmod: %o", s.st_mode);
    is("fchmod of a bad descriptor", call(SYS_fchmod, 77, 0640));
    is("chmod of what is missing", call(SYS_chmod, "none", 0640));
    call(SYS_close, fd);
    is("access for existence", call(SYS_access, "private", F_OK));
    is("access for reading", call(SYS_access, "private", R_OK | W_OK));
    is("access for execution without the bit", call(SYS_access, "private", X_OK));
    is("access of what is missing", call(SYS_access, "none", F_OK));
    is("access with a mode that nobody knows", call(SYS_access, "private", 99));
    is("faccessat", call(SYS_faccessat, AT_FDCWD, "private", R_OK));
    const struct timespec times[2] = { { 1600000000, 5 }, { 1600000001, 6 } };
    is("utimensat", call(SYS_utimensat, AT_FDCWD, "private", times, 0));
    call(SYS_stat, "private", &s);
    is("mtime then", s.st_mtime);
}

static void gone_but_open(void) {
    struct stat s;
    make_file("gone", "still here");
    long fd = call(SYS_open, "gone", O_RDWR);
    is("unlink an open file", call(SYS_unlink, "gone"));
    is("its name", call(SYS_stat, "gone", &s));
    is("fstat of it", call(SYS_fstat, fd, &s));
    is("its links", s.st_nlink);
    is("its size now", s.st_size);
    is("read it", call(SYS_read, fd, buffer, 100));
    is("write it", call(SYS_write, fd, "!", 1));
    make_file("gone", "another");
    is("seek to its start", call(SYS_lseek, fd, 0, SEEK_SET));
    is("read it again", call(SYS_read, fd, buffer, 100));
    contains("the new one", "gone");
    call(SYS_close, fd);
    long a = call(SYS_open, "gone", O_RDWR);
    make_file("over", "replaced");
    is("rename over an open file", call(SYS_rename, "over", "gone"));
    is("read the one that was open", call(SYS_read, a, buffer, 100));
    contains("the one with the name", "gone");
    call(SYS_close, a);
}

static void devices(void) {
    struct stat s;
    long null = call(SYS_open, "/dev/null", O_RDWR), zero = call(SYS_open, "/dev/zero", O_RDWR);
    is("read /dev/null", call(SYS_read, null, buffer, 10));
    is("write /dev/null", call(SYS_write, null, buffer, 10));
    buffer[0] = buffer[9] = 'x';
    is("read /dev/zero", call(SYS_read, zero, buffer, 10));
    is("which is zero", buffer[0] | buffer[9]);
    is("write /dev/zero", call(SYS_write, zero, buffer, 10));
    is("fstat /dev/null", call(SYS_fstat, null, &s));
    say("mode of /dev/null: %o", s.st_mode & S_IFMT);
    is("truncate /dev/null on open", call(SYS_open, "/dev/null", O_WRONLY | O_TRUNC | O_CREAT, 0644) > 0);
    is("ftruncate /dev/null", call(SYS_ftruncate, null, 0));
    is("fsync /dev/null", call(SYS_fsync, null));
    is("getdents64 of /dev/null", call(SYS_getdents64, null, buffer, 4096));
    is("below /dev/null", call(SYS_open, "/dev/null/x", O_RDONLY));
    is("mkdir over /dev/null", call(SYS_mkdir, "/dev/null", 0755));
    is("read 100 of /dev/urandom", call(SYS_read, call(SYS_open, "/dev/urandom", O_RDONLY), buffer, 100));
    is("ioctl that nobody knows of a file", call(SYS_ioctl, call(SYS_open, "f", O_RDONLY), 0x5401, buffer));
    for (int i = 3; i < 12; i++) call(SYS_close, i);
}

static void checks(int argc, char **argv) {
    (void)argc, (void)argv;
    opening();
    names();
    reading_and_writing();
    modes();
    vectors();
    truncating();
    copies();
    facts();
    rights();
    gone_but_open();
    devices();
}
