/* Says each time that it is sent SIGUSR1. */
#include "signal.h"

static void got(int signal, struct info *info, struct context *context) {
    (void)signal, (void)info, (void)context;
    print("got\n");
}

__attribute__((noreturn)) void _start(void) {
    act_masked(SIGUSR1, got, 0, 0);
    print("ready\n");
    for (;;) call(PAUSE, 0, 0, 0);
}
