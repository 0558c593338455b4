/* What both families of signals need: a handler that notes what arrives, and a child that sends. */
#pragma once

#include "conformance.h"

static volatile sig_atomic_t seen, order[16];
static int status;

__attribute__((unused)) static void note(int signal) {
    if (seen < 16) order[seen] = signal;
    seen = seen + 1;
}

__attribute__((unused)) static void handle(int signal, void (*handler)(int), int flags, int masked) {
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
    sigemptyset(&action.sa_mask);
    if (masked) sigaddset(&action.sa_mask, masked);
    if (sigaction(signal, &action, 0)) say("sigaction of %d: %s", signal, error_name(errno));
}

__attribute__((unused)) static void block(int how, int signal) {
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, signal), sigprocmask(how, &set, 0);
}

__attribute__((unused)) static long send(int signal) { return call(SYS_kill, call(SYS_getpid), signal); }

/* The signals that arrived, in their order. */
__attribute__((unused)) static void arrived(const char *name) {
    char text[100];
    int at = 0;
    for (int i = 0; i < seen && i < 16; i++) at += snprintf(text + at, sizeof text - at, " %d", (int)order[i]);
    text[at] = 0;
    say("%s:%s", name, text);
    seen = 0;
}

/* A child that sends this signal to its parent again and again until it is killed. */
__attribute__((unused)) static long bothering(int signal) {
    long child, parent = call(SYS_getpid);
    CHILD(child) for (int i = 0; i < 50 * PATIENCE; i++) nap(20), call(SYS_kill, parent, signal);
    return child;
}

__attribute__((unused)) static void stop(long child) {
    call(SYS_kill, child, SIGKILL);
    while (call(SYS_wait4, child, &status, 0, 0) == -EINTR) {}
}
