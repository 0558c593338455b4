/*
 * What every conformance program needs: raw system calls, and one line for each check.
 *
 * A program is one static binary that runs on Linux and in Askr, in a new working directory. It prints
 * `name: value` for each check. A value is a result, an error's name or something seen, and never depends on addresses,
 * process numbers, times or who runs it, so that the two outputs can be compared line by line.
 *
 * main() of each program is here: it runs the program's checks() in a child and ends it when it hangs.
 */
#pragma once

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "askr.h"

#define PAGE 4096ul
/* Seconds until a program that says nothing more is ended. */
#define PATIENCE 60

/* The checks of this program. */
static void checks(int argc, char **argv);

/* A system call as the kernel gives its result: an error is a negative number. */
#define call6 askr_syscall

/* call(number, up to six arguments of any integer or pointer type) */
#define call(...) CALL_ARGS(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_ARGS(number, a, b, c, d, e, f, ...) \
    call6(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Prints one line, in one write, so that lines of several processes do not mix. */
__attribute__((format(printf, 1, 2), unused)) static void say(const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text - 1, format, list);
    va_end(list);
    if (length > (int)sizeof text - 2) length = sizeof text - 2;
    text[length++] = '\n';
    for (int done = 0; done < length;) {
        long wrote = call(SYS_write, 1, text + done, length - done);
        if (wrote > 0) done += wrote;
        else if (wrote != -EINTR && wrote != -EAGAIN) return;
    }
}

static const char *error_name(long error) {
    static const struct { int number; const char *name; } names[] = {
#define NAME(error) { error, #error }
        NAME(EPERM), NAME(ENOENT), NAME(ESRCH), NAME(EINTR), NAME(EIO), NAME(ENXIO), NAME(E2BIG), NAME(ENOEXEC),
        NAME(EBADF), NAME(ECHILD), NAME(EAGAIN), NAME(ENOMEM), NAME(EACCES), NAME(EFAULT), NAME(EBUSY), NAME(EEXIST),
        NAME(EXDEV), NAME(ENODEV), NAME(ENOTDIR), NAME(EISDIR), NAME(EINVAL), NAME(ENFILE), NAME(EMFILE),
        NAME(ENOTTY), NAME(ETXTBSY), NAME(EFBIG), NAME(ENOSPC), NAME(ESPIPE), NAME(EROFS), NAME(EMLINK), NAME(EPIPE),
        NAME(EDOM), NAME(ERANGE), NAME(ENAMETOOLONG), NAME(ENOSYS), NAME(ENOTEMPTY), NAME(ELOOP), NAME(EOVERFLOW),
        NAME(EOPNOTSUPP), NAME(ETIMEDOUT), NAME(ENOTSOCK),
#undef NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == error) return names[i].name;
    static char unknown[32];
    snprintf(unknown, sizeof unknown, "error %ld", error);
    return unknown;
}

/* `name: value`, where a negative value is an error. */
__attribute__((unused)) static void is(const char *name, long result) {
    if (result < 0 && result > -4096) say("%s: %s", name, error_name(-result));
    else say("%s: %ld", name, result);
}

/* `name: ok`, for what has no number that both systems share, or the error. */
__attribute__((unused)) static void works(const char *name, long result) {
    if (result < 0 && result > -4096) say("%s: %s", name, error_name(-result));
    else say("%s: ok", name);
}

/* `name: yes` or `name: no` */
__attribute__((unused)) static void holds(const char *name, int truth) {
    say("%s: %s", name, truth ? "yes" : "no");
}

/* How a child ended: `exit 3`, `signal 11`, `stopped 19`, `continued`. A core dump is nobody's business. */
__attribute__((unused)) static const char *status_text(int status) {
    static char text[32];
    if (WIFEXITED(status)) snprintf(text, sizeof text, "exit %d", WEXITSTATUS(status));
    else if (WIFSIGNALED(status)) snprintf(text, sizeof text, "signal %d", WTERMSIG(status));
    else if (WIFCONTINUED(status)) snprintf(text, sizeof text, "continued");
    else if (WIFSTOPPED(status)) snprintf(text, sizeof text, "stopped %d", WSTOPSIG(status));
    else snprintf(text, sizeof text, "status %#x", status);
    return text;
}

/* Waits for a child and tells how it ended. */
__attribute__((unused)) static void ends(const char *name, long child) {
    int status = 0;
    long got;
    do got = call(SYS_wait4, child, &status, 0, 0);
    while (got == -EINTR);
    if (child > 0 && got == child) say("%s: %s", name, status_text(status));
    else say("%s: %s", name, error_name(child < 0 ? -child : -got));
}

/* CHILD { what a child does; it exits with 0 at the end } and ends(name, child), on one line of the source each. */
#define CHILD(child) for (long forked = child = call(SYS_fork); forked == 0; call(SYS_exit_group, 0))

__attribute__((unused)) static void nap(long milliseconds) {
    struct timespec left = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    while (call(SYS_nanosleep, &left, &left) == -EINTR) {}
}

/* Sleeps until somebody ends it, or everything has gone wrong. */
__attribute__((unused)) static void linger(void) {
    for (int seconds = 0; seconds < PATIENCE; seconds++) nap(1000);
}

/* Makes a file with this text; returns what open said, if that failed. */
__attribute__((unused)) static long make_file(const char *path, const char *text) {
    long fd = call(SYS_open, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0) return fd;
    long wrote = call(SYS_write, fd, text, strlen(text));
    call(SYS_close, fd);
    return wrote;
}

/* `name: "content"` of a file */
__attribute__((unused)) static void contains(const char *name, const char *path) {
    char text[128];
    long fd = call(SYS_open, path, O_RDONLY, 0);
    long got = fd < 0 ? fd : call(SYS_read, fd, text, sizeof text - 1);
    if (fd >= 0) call(SYS_close, fd);
    if (got < 0) return is(name, got);
    text[got] = 0;
    say("%s: \"%s\"", name, text);
}

/* Pages of memory with these rights. */
__attribute__((unused)) static char *pages(int count, int rights) {
    char *got = mmap(0, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) {
        say("no memory for pages");
        _exit(99);
    }
    if (rights != (PROT_READ | PROT_WRITE)) mprotect(got, count * PAGE, rights);
    return got;
}

/* The same limit everywhere, as far as it can be set. */
static void limit(int resource, unsigned long most) {
    struct rlimit now;
    if (call(SYS_prlimit64, 0, resource, 0, &now) < 0) return;
    if (now.rlim_cur > most) now.rlim_cur = most;
    call(SYS_prlimit64, 0, resource, &now, 0);
}

/* Nothing of what whoever started this ignores or blocks. */
static void reset_signals(void) {
    const unsigned long defaults[4] = { 0 };
    for (int number = 1; number <= 64; number++) call(SYS_rt_sigaction, number, defaults, 0, 8);
    call(SYS_rt_sigprocmask, SIG_SETMASK, defaults, 0, 8);
}

int main(int argc, char **argv) {
    /* What a program that was executed by its own checks does. */
    if (argc > 1) {
        checks(argc, argv);
        return 0;
    }
    for (int fd = 3; fd < 64; fd++) call(SYS_close, fd);
    umask(022);
    reset_signals();
    char *name = strrchr(argv[0], '/');
    works("a new directory", call(SYS_mkdir, name ? name + 1 : argv[0], 0755));
    works("and into it", call(SYS_chdir, name ? name + 1 : argv[0]));
    limit(RLIMIT_NOFILE, 1024), limit(RLIMIT_STACK, 8 << 20), limit(RLIMIT_CORE, 0);
    long child;
    CHILD(child) checks(argc, argv);
    /* Keys that are for the checks. */
    signal(SIGINT, SIG_IGN), signal(SIGQUIT, SIG_IGN), signal(SIGTSTP, SIG_IGN);
    for (int tenths = 0; tenths < PATIENCE * 10; tenths++) {
        int status = 0;
        long got = call(SYS_wait4, child, &status, WNOHANG, 0);
        if (got == child) {
            say("the end: %s", status_text(status));
            return 0;
        }
        nap(100);
    }
    call(SYS_kill, child, SIGKILL);
    say("the end: it hangs");
    return 1;
}
