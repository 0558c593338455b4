/* Signals: what they interrupt, stopping and going on, who may be sent what, queueing. */
#include "signals.h"

static void interrupting(void) {
    struct timespec left = { 0, 0 };
    const struct timespec long_time = { 1000, 0 };
    handle(SIGUSR1, note, 0, 0);
    long child = bothering(SIGUSR1), waited;
    is("nanosleep", call(SYS_nanosleep, &long_time, &left));
    holds("the time that is left", left.tv_sec >= 900 && left.tv_sec < 1000);
    is("nanosleep without room for it", call(SYS_nanosleep, &long_time, 0));
    is("clock_nanosleep", call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &long_time, &left));
    unsigned long none = 0;
    is("pause", call(SYS_pause));
    is("sigsuspend", call(SYS_rt_sigsuspend, &none, 8));
    is("sigsuspend with a set of 4 bytes", call(SYS_rt_sigsuspend, &none, 4));
    CHILD(waited) linger();
    is("wait4", call(SYS_wait4, waited, &status, 0, 0));
    handle(SIGUSR1, note, SA_RESTART, 0);
    is("nanosleep with SA_RESTART", call(SYS_nanosleep, &long_time, &left));
    is("pause with SA_RESTART", call(SYS_pause));
    long ending;
    CHILD(ending) nap(200), call(SYS_kill, waited, SIGTERM);
    int got = call(SYS_wait4, waited, &status, 0, 0) == waited;
    say("wait4 with SA_RESTART: %d %s", got, status_text(status));
    ends("who ended it", ending);
    stop(child);
    /* What is ignored interrupts nothing. */
    handle(SIGUSR1, SIG_IGN, 0, 0);
    child = bothering(SIGUSR1);
    const struct timespec short_time = { 0, 200000000 };
    is("nanosleep with an ignored signal", call(SYS_nanosleep, &short_time, &left));
    stop(child);
    /* A stopped and continued sleep goes on. */
    CHILD(child) {
        is("nanosleep over a stop", call(SYS_nanosleep, &short_time, &left));
    }
    nap(50);
    call(SYS_kill, child, SIGSTOP), call(SYS_wait4, child, &status, WUNTRACED, 0);
    say("the sleeper: %s", status_text(status));
    call(SYS_kill, child, SIGCONT);
    ends("the sleeper at last", child);
    /* sigsuspend takes the mask for the time of the wait. */
    handle(SIGUSR1, note, 0, 0);
    block(SIG_BLOCK, SIGUSR1);
    seen = 0;
    send(SIGUSR1);
    is("sigsuspend with something pending", call(SYS_rt_sigsuspend, &none, 8));
    arrived("what it let in");
    sigset_t set;
    sigprocmask(SIG_BLOCK, 0, &set);
    is("the mask is as before", sigismember(&set, SIGUSR1));
    block(SIG_UNBLOCK, SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
}

static void stopping(void) {
    long child;
    int asked[2], answered[2];
    char byte;
    call(SYS_pipe2, asked, 0), call(SYS_pipe2, answered, 0);
    CHILD(child) {
        call(SYS_close, asked[1]);
        while (call(SYS_read, asked[0], &byte, 1) == 1) call(SYS_write, answered[1], &byte, 1);
        call(SYS_exit_group, 6);
    }
    call(SYS_close, asked[0]);
    call(SYS_kill, child, SIGSTOP);
    holds("wait with WUNTRACED", call(SYS_wait4, child, &status, WUNTRACED, 0) == child);
    say("a stopped child: %s", status_text(status));
    is("told once", call(SYS_wait4, child, &status, WUNTRACED | WNOHANG, 0));
    call(SYS_write, asked[1], "x", 1);
    struct pollfd answer = { answered[0], POLLIN, 0 };
    is("it does not run", call(SYS_poll, &answer, 1, 50));
    call(SYS_kill, child, SIGCONT);
    holds("wait with WCONTINUED", call(SYS_wait4, child, &status, WCONTINUED, 0) == child);
    say("a continued child: %s", status_text(status));
    is("and it does", call(SYS_read, answered[0], &byte, 1));
    call(SYS_close, asked[1]);
    ends("its end", child);
    call(SYS_close, answered[0]), call(SYS_close, answered[1]);
    CHILD(child) linger();
    call(SYS_kill, child, SIGSTOP), call(SYS_wait4, child, &status, WUNTRACED, 0);
    call(SYS_kill, child, SIGTERM);
    nap(30);
    is("SIGTERM waits while it is stopped", call(SYS_wait4, child, &status, WNOHANG, 0));
    call(SYS_kill, child, SIGCONT);
    ends("and ends it then", child);
    CHILD(child) linger();
    call(SYS_kill, child, SIGSTOP), call(SYS_wait4, child, &status, WUNTRACED, 0);
    call(SYS_kill, child, SIGKILL);
    ends("SIGKILL ends a stopped one", child);
    CHILD(child) {
        handle(SIGTSTP, note, 0, 0), handle(SIGCONT, note, 0, 0);
        seen = 0;
        send(SIGTSTP), send(SIGCONT);
        arrived("handlers for SIGTSTP and SIGCONT");
    }
    ends("which does not stop", child);
    /* SIGCHLD for stops, and without. */
    handle(SIGCHLD, note, SA_NOCLDSTOP, 0);
    seen = 0;
    CHILD(child) linger();
    call(SYS_kill, child, SIGSTOP);
    while (call(SYS_wait4, child, &status, WUNTRACED, 0) == -EINTR) {}
    arrived("SIGCHLD of a stop with SA_NOCLDSTOP");
    handle(SIGCHLD, note, 0, 0);
    call(SYS_kill, child, SIGCONT);
    while (call(SYS_wait4, child, &status, WCONTINUED, 0) == -EINTR) {}
    call(SYS_kill, child, SIGSTOP);
    while (call(SYS_wait4, child, &status, WUNTRACED, 0) == -EINTR) {}
    holds("SIGCHLD of a stop", seen > 0);
    stop(child);
    signal(SIGCHLD, SIG_IGN);
    CHILD(child) {}
    is("with SIGCHLD ignored nothing is left to wait for", call(SYS_wait4, child, &status, 0, 0));
    signal(SIGCHLD, SIG_DFL);
    handle(SIGCHLD, SIG_DFL, SA_NOCLDWAIT, 0);
    CHILD(child) {}
    is("nor with SA_NOCLDWAIT", call(SYS_wait4, child, &status, 0, 0));
    handle(SIGCHLD, SIG_DFL, 0, 0);
}

static void sending(void) {
    long own = call(SYS_getpid), child, other;
    is("kill with 0", call(SYS_kill, own, 0));
    is("kill with 65", call(SYS_kill, own, 65));
    is("kill with -1", call(SYS_kill, own, -1));
    is("kill who is missing", call(SYS_kill, 4000000, SIGTERM));
    is("kill a group that is missing", call(SYS_kill, -4000000, SIGTERM));
    is("kill who is missing with 65", call(SYS_kill, 4000000, 65));
    is("tgkill", call(SYS_tgkill, own, own, 0));
    is("tgkill of another's thread", call(SYS_tgkill, own, 4000000, SIGTERM));
    is("tgkill of process 0", call(SYS_tgkill, 0, own, SIGTERM));
    is("tgkill of thread -1", call(SYS_tgkill, own, -1, SIGTERM));
    is("tgkill with 65", call(SYS_tgkill, own, own, 65));
    is("tkill", call(SYS_tkill, own, 0));
    is("tkill of -1", call(SYS_tkill, -1, 0));
    CHILD(child) {
        long third;
        call(SYS_setpgid, 0, 0);
        CHILD(other) linger();
        CHILD(third) linger();
        handle(SIGUSR1, note, 0, 0);
        seen = 0;
        is("kill the own group", call(SYS_kill, 0, SIGUSR1));
        arrived("one of them is the sender");
        ends("another member", other);
        ends("the third member", third);
    }
    ends("a group of three", child);
    CHILD(child) {
        block(SIG_BLOCK, SIGUSR1);
        send(SIGUSR1);
        CHILD(other) {
            sigset_t set;
            sigpending(&set);
            is("a child inherits nothing that is pending", sigismember(&set, SIGUSR1));
            sigprocmask(SIG_BLOCK, 0, &set);
            is("but the mask", sigismember(&set, SIGUSR1));
        }
        ends("the child with a mask", other);
        block(SIG_UNBLOCK, SIGUSR1);
    }
    ends("which is killed when it unblocks", child);
    CHILD(child) for (volatile int i = 0;; i++) {}
    call(SYS_kill, child, SIGKILL);
    ends("SIGKILL while it computes", child);
    CHILD(child) {
        int held[2];
        char byte;
        call(SYS_pipe2, held, 0), call(SYS_read, held[0], &byte, 1);
    }
    nap(30), call(SYS_kill, child, SIGKILL);
    ends("SIGKILL while it reads a pipe", child);
    CHILD(child) {
        call(SYS_setpgid, 0, 0);
        CHILD(other) linger();
        call(SYS_wait4, other, 0, 0, 0);
    }
    nap(30), call(SYS_kill, child, SIGTERM);
    ends("SIGTERM while it waits", child);
    is("SIGKILL for the one it waited for", call(SYS_kill, -child, SIGKILL));
}

static void queueing(void) {
    handle(SIGRTMIN, note, 0, 0), block(SIG_BLOCK, SIGRTMIN);
    seen = 0;
    for (int i = 0; i < 3; i++) send(SIGRTMIN);
    block(SIG_UNBLOCK, SIGRTMIN);
    is("a realtime signal sent three times", seen);
}

static void checks(int argc, char **argv) {
    (void)argc, (void)argv;
    interrupting();
    stopping();
    sending();
    queueing();
}
