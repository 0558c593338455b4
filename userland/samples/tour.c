/*
 * A tour of what a C program with a C library can do here, one line for each thing. Anything that goes wrong ends it.
 *
 *     musl-gcc -static -O2 -I userland/c -o target/tour userland/samples/tour.c
 */
#include <askr.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

static void fail(int line, const char *condition) {
    fprintf(stderr, "tour: line %d: %s: %s\n", line, condition, strerror(errno));
    exit(1);
}

static void memory(void) {
    /* Small blocks come from brk, large ones from mmap. */
    char *small = malloc(100), *large = calloc(1, 1 << 20);
    CHECK(small && large && large[(1 << 20) - 1] == 0);
    large = realloc(large, 2 << 20);
    CHECK(large);
    memset(large, 7, 2 << 20);
    free(small);
    free(large);
    puts("memory: 2 MiB taken, used and given back");
}

static void files(void) {
    const char *path = "/tmp/tour.txt";
    FILE *file = fopen(path, "w+");
    CHECK(file);
    CHECK(fprintf(file, "%.4f\n%s\n", M_PI, "second line") > 0);
    rewind(file);
    double number;
    char word[16];
    CHECK(fscanf(file, "%lf %15s", &number, word) == 2);
    CHECK(fclose(file) == 0);
    printf("files: read back %.4f and '%s'\n", number, word);
    CHECK(remove(path) == 0);
    CHECK(fopen(path, "r") == NULL && errno == ENOENT);
}

/* A child that becomes this program again, writes into a pipe and gives an exit code. */
static void processes(void) {
    /* Where this program lies: argv[0] may be only its name. */
    const char *self = (const char *)getauxval(AT_EXECFN);
    CHECK(self);
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        char *arguments[] = {"tour", "child", "7", NULL}, *environment[] = {"TOUR=from the parent", NULL};
        execve(self, arguments, environment);
        fail(__LINE__, "execve");
    }
    close(ends[1]);
    char text[100];
    ssize_t length = 0, count;
    while ((count = read(ends[0], text + length, sizeof text - 1 - (size_t)length)) > 0) length += count;
    CHECK(count == 0);
    text[length] = 0;
    close(ends[0]);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    printf("processes: the child wrote '%s' and ended with %d\n", text, WEXITSTATUS(status));
}

static volatile sig_atomic_t handled;
static volatile double in_handler;

static void handler(int number) {
    /* Vector registers are the handler's own: this must not show in what was interrupted. */
    in_handler = sqrt((double)number) * 1e3;
    handled = number;
}

static void signals(void) {
    struct sigaction action = {.sa_handler = handler};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    double sum = 0;
    for (int i = 1; i <= 1000; i++) {
        if (i == 500) CHECK(raise(SIGUSR1) == 0);
        sum += 1.0 / i;
    }
    CHECK(handled == SIGUSR1);
    printf("signals: handled %d, and the sum went on to %.6f\n", handled, sum);
    struct timespec nap = {.tv_nsec = 20 * 1000 * 1000};
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    CHECK(nanosleep(&nap, NULL) == 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    double slept = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    CHECK(slept >= 0.02);
    puts("sleep: not shorter than 20 ms");
}

/* Floating point goes on undisturbed while two children do their own. */
static void vectors(void) {
    double expected[3];
    for (int i = 0; i < 3; i++) {
        expected[i] = 0;
        for (int k = 1; k <= 2000; k++) expected[i] += sin(i + k) / k;
    }
    pid_t children[2];
    for (int i = 0; i < 3; i++) {
        if (i < 2 && (children[i] = fork()) > 0) continue;
        if (i < 2) CHECK(children[i] == 0);
        int wrong = 0;
        for (int round = 0; round < 200; round++) {
            double sum = 0;
            for (int k = 1; k <= 2000; k++) sum += sin(i + k) / k;
            wrong += sum != expected[i];
        }
        if (i < 2) _exit(wrong);
        CHECK(wrong == 0);
    }
    for (int i = 0; i < 2; i++) {
        int status;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    puts("vectors: three programs computed the same as one alone");
}

static void ask(void) {
    char answer[256];
    struct askr_ask ask = askr_question("shall the tour end?", answer, sizeof answer);
    ask.timeout_ms = 20000;
    askr_default(&ask, "yes");
    int error = askr_agent_ask(&ask);
    if (error != 0) {
        printf("ask: %s\n", strerror(error));
        return;
    }
    printf("ask: %.*s, decided by: %s\n", (int)ask.answer_len, answer, askr_decider_name(ask.decider));
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "child") == 0) {
        const char *variable = getenv("TOUR");
        printf("%s, %s", argv[0], variable ? variable : "nothing");
        return atoi(argv[2]);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("arguments: %d, the last is '%s'\n", argc, argv[argc - 1]);
    printf("numbers: %.3f %g %e %5.1f%%\n", 2.0 / 3, 1e-7, 123456.789, 99.95);
    memory();
    files();
    processes();
    signals();
    vectors();
    ask();
    puts("tour: complete");
    return 0;
}
