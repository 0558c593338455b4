/*
 * What system calls cost, by this machine's own clock; the same binary runs on Askr and on Linux. It is given how often each is
 * measured and prints one line for each: name, how many, nanoseconds for all of them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void check(int good, const char *what) {
    if (!good) {
        perror(what);
        exit(1);
    }
}

static long long now(void) {
    struct timespec time;
    check(clock_gettime(CLOCK_MONOTONIC, &time) == 0, "clock_gettime");
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void getpid_many(int count) {
    /* Past a library that remembers the answer. */
    for (int i = 0; i < count; i++) syscall(SYS_getpid);
}

static void read_zeros(int count) {
    static char page[4096];
    int zeros = open("/dev/zero", O_RDONLY);
    check(zeros >= 0, "/dev/zero");
    for (int i = 0; i < count; i++) check(read(zeros, page, sizeof page) == sizeof page, "read");
    close(zeros);
}

static void fork_exit_wait(int count) {
    for (int i = 0; i < count; i++) {
        int status = 0;
        pid_t child = fork();
        check(child >= 0, "fork");
        if (child == 0) _exit(7);
        check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "waitpid");
    }
}

static void pipe_alone(int count) {
    int ends[2];
    char byte = 0;
    check(pipe(ends) == 0, "pipe");
    for (int i = 0; i < count; i++) check(write(ends[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1, "byte");
    close(ends[0]);
    close(ends[1]);
}

/* A byte goes to another process and comes back: two switches each time. */
static void pipe_between(int count) {
    int to[2], from[2], status = 0;
    char byte = 0;
    check(pipe(to) == 0 && pipe(from) == 0, "pipe");
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        for (int i = 0; i < count; i++) check(read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1, "byte");
        _exit(0);
    }
    for (int i = 0; i < count; i++) check(write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1, "byte");
    check(waitpid(child, &status, 0) == child && status == 0, "waitpid");
    for (int i = 0; i < 2; i++) {
        close(to[i]);
        close(from[i]);
    }
}

static void measure(const char *name, void (*run)(int), int count) {
    run(count / 10 + 1);
    long long started = now();
    run(count);
    printf("%s %d %lld\n", name, count, now() - started);
    fflush(stdout);
}

int main(int count, char **words) {
    int scale = count > 1 ? atoi(words[1]) : 1;
    measure("getpid", getpid_many, 10000 * scale);
    measure("read", read_zeros, 1000 * scale);
    measure("fork", fork_exit_wait, 20 * scale);
    measure("pipe", pipe_alone, 1000 * scale);
    measure("switch", pipe_between, 200 * scale);
    return 0;
}
