/*
 * Makes many of a thing and says what that took: lines of name, how many, nanoseconds for all of them. The same binary runs on
 * Askr and on Linux.
 *
 *     crowd files FOLDER COUNT       makes the folder and so many empty files in it; then lists them with their facts
 *     crowd remove FOLDER COUNT      removes them again
 *     crowd processes COUNT          forks so many that sleep; when its input ends it kills them
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static void told(const char *name, int count, long long started) {
    printf("%s %d %lld\n", name, count, now() - started);
    fflush(stdout);
}

static const char *name_of(int number) {
    static char name[16];
    snprintf(name, sizeof name, "file%05d", number);
    return name;
}

static void make_files(int count) {
    long long started = now();
    for (int i = 0; i < count; i++) {
        int file = open(name_of(i), O_CREAT | O_EXCL | O_WRONLY, 0644);
        check(file >= 0, name_of(i));
        check(close(file) == 0, "close");
    }
    told("create", count, started);
}

static void list_files(int count) {
    long long started = now();
    DIR *folder = opendir(".");
    struct dirent *entry;
    struct stat facts;
    int seen = 0;
    check(folder != NULL, "opendir");
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        check(stat(entry->d_name, &facts) == 0, entry->d_name);
        seen++;
    }
    check(closedir(folder) == 0 && seen == count, "all entries");
    told("walk", count, started);
}

static void remove_files(const char *folder, int count) {
    long long started = now();
    for (int i = 0; i < count; i++) check(unlink(name_of(i)) == 0, name_of(i));
    told("remove", count, started);
    check(chdir("/") == 0 && rmdir(folder) == 0, folder);
}

static void processes(int count) {
    pid_t *children = calloc(count, sizeof *children);
    char byte;
    check(children != NULL, "calloc");
    long long started = now();
    for (int i = 0; i < count; i++) {
        children[i] = fork();
        check(children[i] >= 0, "fork");
        if (children[i] == 0)
            for (;;) pause();
    }
    told("fork", count, started);
    while (read(0, &byte, 1) > 0) {}
    started = now();
    for (int i = 0; i < count; i++) check(kill(children[i], SIGKILL) == 0, "kill");
    for (int i = 0; i < count; i++) check(wait(NULL) > 0, "wait");
    told("end", count, started);
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "processes") == 0) {
        processes(atoi(words[2]));
        return 0;
    }
    if (count != 4) return 2;
    if (strcmp(words[1], "files") == 0) {
        check(mkdir(words[2], 0755) == 0 && chdir(words[2]) == 0, words[2]);
        make_files(atoi(words[3]));
        list_files(atoi(words[3]));
        return 0;
    }
    if (strcmp(words[1], "remove") == 0) {
        check(chdir(words[2]) == 0, words[2]);
        remove_files(words[2], atoi(words[3]));
        return 0;
    }
    return 2;
}
