/* A little of a shell: who has the terminal, and who stops for it. The argument says what. */
#include "signal.h"

enum { IOCTL = 16, TIOCSCTTY = 0x540e, TIOCGPGRP = 0x540f, TIOCSPGRP = 0x5410, TIOCNOTTY = 0x5422, TIOCGSID = 0x5429 };

static long give(long group) {
    const int number = (int)group;
    return call(IOCTL, 0, TIOCSPGRP, &number);
}

static long whose(long request) {
    int number = 0;
    const long result = call(IOCTL, 0, request, &number);
    return result < 0 ? result : number;
}

/* A child in a group of its own that reads a line. */
static long reader(void) {
    const long child = call(FORK, 0, 0, 0);
    if (child) {
        call(SETPGID, child, child, 0);
        return child;
    }
    call(SETPGID, 0, 0, 0);
    char line[64];
    const long length = call(READ, 0, line, sizeof line);
    if (length < 0) leave((int)-length);
    call(WRITE, 1, line, length);
    leave(0);
}

static void jobs(long own) {
    dispose(SIGTTOU, SIG_IGN);
    long child = reader();
    say_hex("in the background", (u64)wait_for(child, WUNTRACED));
    give(child);
    send(-child, SIGCONT);
    print("type\n");
    say_hex("by the key", (u64)wait_for(child, WUNTRACED));
    send(-child, SIGCONT);
    print("type again\n");
    say_hex("end", (u64)wait_for(child, 0));
    child = reader();
    give(child);
    print("and again\n");
    say_hex("end", (u64)wait_for(child, 0));
    give(own);
    /* Who does not want to stop, or cannot be made to go on, gets an error. */
    child = call(FORK, 0, 0, 0);
    if (child == 0) {
        dispose(SIGTTIN, SIG_IGN);
        call(SETPGID, 0, 0, 0);
        char byte;
        leave((int)-call(READ, 0, &byte, 1));
    }
    say_hex("ignored", (u64)wait_for(child, 0));
    /* Without SIGTTOU ignored, to take the terminal is to stop. */
    child = call(FORK, 0, 0, 0);
    if (child == 0) {
        dispose(SIGTTOU, SIG_DFL);
        call(SETPGID, 0, 0, 0);
        leave((int)-give(call(GETPID, 0, 0, 0)));
    }
    say_hex("taking", (u64)wait_for(child, WUNTRACED));
    give(child);
    send(child, SIGCONT);
    say_hex("taken", (u64)wait_for(child, 0));
    give(own);
}

static void rules(long own) {
    say("own group", whose(TIOCGPGRP) == own);
    say("own session", whose(TIOCGSID) == call(GETSID, 0, 0, 0));
    say("no group", give(0x7ffffff0));
    say("negative", give(-1));
    say("another session", give(1));
    say("has it already", call(IOCTL, 0, TIOCSCTTY, 0));
    const long child = call(FORK, 0, 0, 0);
    if (child == 0) {
        call(SETSID, 0, 0, 0);
        char byte;
        say("read", call(READ, 0, &byte, 1));
        say("foreground", whose(TIOCGPGRP));
        say("give", give(own));
        say("acquire", call(IOCTL, 0, TIOCSCTTY, 0));
        say("give up", call(IOCTL, 0, TIOCNOTTY, 0));
        leave(0);
    }
    wait_for(child, 0);
}

__attribute__((used)) static void begin(u64 *stack) {
    const long own = call(GETPGRP, 0, 0, 0);
    if (*(const char *)stack[2] == 'j') jobs(own);
    else rules(own);
    print("done\n");
    leave(0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
