/* Children: how they start, stop, go on and end, and to whom they belong. Everything printed is the same on Linux. */
#include "signal.h"

enum { PIPE = 22, CLONE = 56, ARCH_PRCTL = 158 };
enum { CLONE_VM = 0x100, CLONE_VFORK = 0x4000, CLONE_PARENT_SETTID = 0x100000, CLONE_CHILD_CLEARTID = 0x200000,
       CLONE_CHILD_SETTID = 0x1000000, CLONE_SETTLS = 0x80000 };
enum { MANY = 200 };

static const char *self;
static char **environment;

static long me(void) {
    return call(GETPID, 0, 0, 0);
}

static long fork(void) {
    return call(FORK, 0, 0, 0);
}

/* This program again, as another part of it. */
static void again(const char *part) {
    const char *argv[] = { "children", part, 0 };
    call(EXECVE, self, argv, environment);
    leave(99);
}

static volatile long told, told_code, told_status, told_pid;

static void tell(int signal, struct info *info, struct context *context) {
    (void)signal, (void)context;
    told++;
    told_code = info->code;
    told_status = info->of.who.status;
    told_pid = info->of.who.pid;
}

static void say_told(const char *what, long pid) {
    print(what);
    print(": ");
    say("times", told);
    say("code", told_code);
    say("status", told_status);
    say("from the child", told_pid == pid);
    told = 0;
}

static void stopped(void) {
    act(SIGCHLD, tell, SA_RESTART);
    long child = fork();
    if (child == 0) {
        send(me(), SIGSTOP);
        for (;;) call(PAUSE, 0, 0, 0);
    }
    say_hex("stop", (u64)wait_for(child, WUNTRACED));
    say_told("stopped", child);
    say("once", wait_for(child, WUNTRACED | WNOHANG));
    send(child, SIGCONT);
    say_hex("go on", (u64)wait_for(child, WCONTINUED));
    send(child, SIGTERM);
    say_hex("end", (u64)wait_for(child, WCONTINUED | WUNTRACED));
    told = 0;
    act(SIGCHLD, tell, SA_RESTART | SA_NOCLDSTOP);
    child = fork();
    if (child == 0) {
        send(me(), SIGSTOP);
        for (;;) call(PAUSE, 0, 0, 0);
    }
    wait_for(child, WUNTRACED);
    say("quiet", told);
    send(child, SIGTERM); /* waits until it goes on */
    send(child, SIGUSR1);
    say("still there", wait_for(child, WNOHANG));
    send(child, SIGCONT);
    say_hex("lowest first", (u64)wait_for(child, 0));
    say_told("killed", child);
    child = fork();
    if (child == 0) {
        send(me(), SIGSTOP);
        leave(1);
    }
    wait_for(child, WUNTRACED);
    send(child, SIGKILL);
    say_hex("killed while stopped", (u64)wait_for(child, 0));
}

static void on_continue(int signal, struct info *info, struct context *context) {
    (void)info, (void)context;
    say("handler", signal);
}

/* Every way to stop, in a group that somebody looks after. */
static void stops(void) {
    const int all[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
    for (int i = 0; i < 4; i++) {
        const long child = fork();
        if (child == 0) {
            call(SETPGID, 0, 0, 0);
            act(SIGCONT, on_continue, 0);
            send(me(), all[i]);
            leave(i);
        }
        say_hex("stop", (u64)wait_for(child, WUNTRACED));
        send(-child, SIGCONT);
        say_hex("end", (u64)wait_for(child, 0));
    }
    /* One takes back the other. */
    const long child = fork();
    if (child == 0) {
        call(SETPGID, 0, 0, 0);
        mask(SIG_BLOCK, BIT(SIGTSTP) | BIT(SIGCONT));
        act(SIGCONT, on_continue, 0);
        send(me(), SIGTSTP);
        send(me(), SIGCONT);
        say_hex("pending", waiting());
        send(me(), SIGTSTP);
        say_hex("pending", waiting());
        mask(SIG_UNBLOCK, BIT(SIGTSTP) | BIT(SIGCONT));
        leave(3);
    }
    say_hex("stop", (u64)wait_for(child, WUNTRACED));
    send(child, SIGCONT);
    say_hex("end", (u64)wait_for(child, 0));
}

/* A call that waits goes on after a stop, those with a time for what is left of it. */
static void through(void) {
    for (int how = 0; how < 4; how++) {
        int ends[2];
        call(PIPE, ends, 0, 0);
        const long child = fork();
        if (child == 0) {
            const struct timespec time = { 0, 200000000 };
            char byte = 0;
            int status;
            if (how == 0) leave(call(NANOSLEEP, &time, 0, 0) == 0 ? 1 : 2);
            if (how == 1) leave(call(READ, ends[0], &byte, 1) == 1 ? byte : 2);
            if (how == 3) {
                struct { int fd; short wanted, there; } entry = { ends[0], 1, 0 };
                leave(call(7, &entry, 1, 10000) == 1 ? 1 : 2);
            }
            const long grandchild = fork();
            if (grandchild == 0) nap(300), leave(9);
            leave(call6(WAIT4, (u64)grandchild, (u64)&status, 0, 0, 0, 0) == grandchild ? status >> 8 : 2);
        }
        nap(50);
        send(child, SIGSTOP);
        say_hex("stop", (u64)wait_for(child, WUNTRACED));
        send(child, SIGCONT);
        say_hex("go on", (u64)wait_for(child, WCONTINUED));
        nap(20);
        call(WRITE, ends[1], "\7", 1);
        say_hex("end", (u64)wait_for(child, 0));
        call(CLOSE, ends[0], 0, 0);
        call(CLOSE, ends[1], 0, 0);
    }
}

static void note(int signal, struct info *info, struct context *context) {
    (void)info, (void)context;
    say("orphan gets", signal);
}

/* A stopped group that nobody looks after any more. */
static void orphaned(void) {
    int ends[2];
    call(PIPE, ends, 0, 0);
    const long child = fork();
    if (child == 0) {
        call(SETSID, 0, 0, 0);
        const long grandchild = fork();
        if (grandchild == 0) {
            call(SETPGID, 0, 0, 0);
            act(SIGHUP, note, 0);
            act(SIGCONT, note, 0);
            send(me(), SIGSTOP);
            send(me(), SIGTSTP); /* does nothing in an orphaned group */
            say("parent is another", call(GETPPID, 0, 0, 0) != 0);
            leave(0);
        }
        say_hex("stop", (u64)wait_for(grandchild, WUNTRACED));
        leave(6);
    }
    call(CLOSE, ends[1], 0, 0);
    char byte;
    say("all gone", call(READ, ends[0], &byte, 1)); /* the grandchild has the other end */
    say_hex("end", (u64)wait_for(child, 0));
}

static void groups(void) {
    const long child = fork();
    if (child == 0) {
        const long own = me(), parent = call(GETPPID, 0, 0, 0);
        say("session", call(GETSID, 0, 0, 0) == call(GETSID, parent, 0, 0));
        say("group", call(GETPGRP, 0, 0, 0) == call(GETPGID, parent, 0, 0));
        say("negative", call(SETPGID, 0, -1, 0));
        say("no process", call(SETPGID, -5, 0, 0));
        say("not a child", call(SETPGID, parent, 0, 0));
        say("no group", call(SETPGID, 0, 0x7ffffff0, 0));
        say("no session", call(GETSID, 0x7ffffff0, 0, 0));
        say("none", call(GETPGID, -1, 0, 0));
        say("lead", call(SETPGID, 0, 0, 0));
        say("leads", call(GETPGRP, 0, 0, 0) == own);
        say("leader", call(SETSID, 0, 0, 0));
        const long grandchild = fork();
        if (grandchild == 0) {
            say("new session", call(SETSID, 0, 0, 0) == me());
            say("its own", call(GETSID, 0, 0, 0) == me() && call(GETPGRP, 0, 0, 0) == me());
            say("twice", call(SETSID, 0, 0, 0));
            say("moved", call(SETPGID, 0, own, 0));
            send(me(), SIGSTOP);
            leave(0);
        }
        wait_for(grandchild, WUNTRACED);
        say("in another session", call(SETPGID, grandchild, 0, 0));
        send(grandchild, SIGCONT);
        wait_for(grandchild, 0);
        int ends[2];
        call(PIPE, ends, 0, 0);
        const long other = fork();
        if (other == 0) again("stop");
        wait_for(other, WUNTRACED);
        say("after execve", call(SETPGID, other, 0, 0));
        send(other, SIGKILL);
        wait_for(other, 0);
        /* All of a group get a signal. */
        long members[3];
        for (int i = 0; i < 3; i++) {
            members[i] = fork();
            if (members[i] == 0) {
                dispose(SIGUSR1, SIG_DFL);
                for (;;) call(PAUSE, 0, 0, 0);
            }
            call(SETPGID, members[i], members[0], 0);
        }
        say("group", send(-members[0], SIGUSR1));
        for (int i = 0; i < 3; i++) say_hex("member", (u64)wait_for(members[i], 0));
        say("group is gone", send(-members[0], SIGUSR1));
        leave(0);
    }
    say_hex("end", (u64)wait_for(child, 0));
}

static void misuse(void) {
    int status;
    say("no children", call6(WAIT4, -1UL, (u64)&status, 0, 0, 0, 0));
    say("option", call6(WAIT4, -1UL, (u64)&status, 64, 0, 0, 0));
    say("lowest", call6(WAIT4, 0x80000000, (u64)&status, 0, 0, 0, 0));
    const long child = fork();
    if (child == 0) leave(3);
    say("another", call6(WAIT4, 0x7ffffff0, (u64)&status, 0, 0, 0, 0));
    say("group", call6(WAIT4, -0x7ffffff0UL, (u64)&status, 0, 0, 0, 0));
    say_hex("own group", (u64)wait_for(child, 0));
}

static void many(void) {
    static long pids[MANY];
    static char seen[MANY];
    long wrong = 0;
    int status;
    for (int i = 0; i < MANY; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            if (i % 3 == 0) nap(20);
            if (i % 7 == 0) send(me(), SIGKILL);
            leave(i);
        }
    }
    for (int n = 0; n < MANY; n++) {
        const long pid = call6(WAIT4, -1UL, (u64)&status, 0, 0, 0, 0);
        int i = 0;
        while (i < MANY && pids[i] != pid) i++;
        if (i == MANY || seen[i]++ || status != (i % 7 == 0 ? SIGKILL : i << 8)) wrong++;
    }
    say("wrong", wrong);
    say("left", call6(WAIT4, -1UL, (u64)&status, 0, 0, 0, 0));
}

/* Whatever a process does, a signal ends it. */
static void deaths(void) {
    static char block[4096];
    const struct timespec long_time = { 1000, 0 };
    for (int how = 0; how < 9; how++)
        for (int i = 0; i < 2; i++) {
            int ends[2], full[2];
            call(PIPE, ends, 0, 0);
            call(PIPE, full, 0, 0);
            const long child = fork();
            if (child == 0) {
                struct { int fd; short wanted, there; } entry = { ends[0], 1, 0 };
                const u64 none = 0;
                call(CLOSE, ends[1], 0, 0);
                call(WRITE, 1, "", 0);
                if (how == 0) for (;;) {}
                if (how == 1) call(NANOSLEEP, &long_time, 0, 0);
                if (how == 2) call(READ, full[0], block, 1);
                if (how == 3) for (;;) call(WRITE, full[1], block, sizeof block);
                if (how == 4) call(PAUSE, 0, 0, 0);
                if (how == 5) call(7, &entry, 0, -1);
                if (how == 6) call(RT_SIGSUSPEND, &none, 8, 0);
                if (how == 7) for (;;) call(YIELD, 0, 0, 0);
                if (how == 8) {
                    const long grandchild = call(VFORK, 0, 0, 0);
                    if (grandchild == 0) call(READ, ends[0], block, 1), leave(0); /* with the memory of the dead, when all is over */
                }
                leave(1);
            }
            nap(20);
            send(child, how == 8 || i == 0 ? SIGKILL : SIGTERM);
            say_hex("ended", (u64)wait_for(child, 0));
            for (int end = 0; end < 2; end++) call(CLOSE, ends[end], 0, 0), call(CLOSE, full[end], 0, 0);
        }
}

static void unwaited(void) {
    const u64 how[] = { 0, SA_NOCLDWAIT };
    for (int i = 0; i < 2; i++) {
        told = 0;
        if (i == 0) dispose(SIGCHLD, SIG_IGN);
        else act(SIGCHLD, tell, how[i] | SA_RESTART);
        const long child = fork();
        if (child == 0) leave(3);
        say("gone by itself", wait_for(child, 0));
        say("told", told);
    }
}

static volatile long shared;
static char child_stack[8192] __attribute__((aligned(16)));

static void borrowed(void) {
    static int parent_tid, child_tid = 7;
    shared = 1;
    long child;
    /* The child must not return from here before the parent goes on: it ends in place. */
    __asm__ volatile("syscall\ntest %%rax, %%rax\njnz 1f\nmovq $2, %1\nmov $60, %%eax\nmov $9, %%edi\nsyscall\n1:"
                     : "=a"(child), "+m"(shared)
                     : "a"(VFORK)
                     : "rcx", "r11", "rdi", "memory");
    say("memory is one", shared);
    say_hex("end", (u64)wait_for(child, 0));
    const u64 flags = CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
    register u64 r10 __asm__("r10") = (u64)&child_tid;
    __asm__ volatile("syscall\ntest %%rax, %%rax\njnz 1f\nmov %%rsp, %1\nmov $60, %%eax\nmov $8, %%edi\nsyscall\n1:"
                     : "=a"(child), "+m"(shared)
                     : "a"(CLONE), "D"(flags), "S"(child_stack + sizeof child_stack), "d"(&parent_tid), "r"(r10)
                     : "rcx", "r11", "memory");
    say("stack", shared == (long)(child_stack + sizeof child_stack));
    say("number", parent_tid == child);
    say("cleared", child_tid);
    say_hex("end", (u64)wait_for(child, 0));
    dispose(SIGUSR1, SIG_IGN);
    /* A copy, with its number in it and thread-local storage of its own. */
    child = call6(CLONE, CLONE_CHILD_SETTID | CLONE_SETTLS | SIGUSR1, 0, 0, (u64)&child_tid, (u64)&shared, 0);
    if (child == 0) {
        u64 base = 0;
        call(ARCH_PRCTL, 0x1003, &base, 0);
        leave((child_tid == me()) + 2 * (base == (u64)&shared));
    }
    say("not a usual child", wait_for(child, 0));
    say_hex("any", (u64)wait_for(child, 0x40000000));
    say("senseless", call6(CLONE, 0x800 | SIGCHLD, 0, 0, 0, 0, 0));
    say("senseless", call6(CLONE, 0x10000 | SIGCHLD, 0, 0, 0, 0, 0));
    /* A program that is executed leaves the parent's memory alone. */
    shared = 5;
    const char *argv[] = { "children", "seven", 0 };
    __asm__ volatile("syscall\ntest %%rax, %%rax\njnz 1f\nmov $59, %%eax\nmov %2, %%rdi\nsyscall\nud2\n1:"
                     : "=a"(child)
                     : "a"(VFORK), "r"(self), "S"(argv), "d"(environment)
                     : "rcx", "r11", "rdi", "memory");
    say_hex("executed", (u64)wait_for(child, 0));
    say("memory", shared);
}

static void note_quietly(int signal, struct info *info, struct context *context) {
    (void)signal, (void)info, (void)context;
}

static void executed(void) {
    const struct stack stack = { (u64)child_stack, 0, 0, sizeof child_stack };
    const long child = fork();
    if (child == 0) {
        act(SIGUSR1, note_quietly, SA_NODEFER);
        act(SIGPIPE, note_quietly, 0);
        dispose(SIGUSR2, SIG_IGN);
        mask(SIG_BLOCK, BIT(SIGHUP) | BIT(SIGTERM));
        send(me(), SIGTERM);
        call(SIGALTSTACK, &stack, 0, 0);
        again("inherited");
    }
    say_hex("end", (u64)wait_for(child, 0));
}

static void inherited(void) {
    struct action action;
    struct stack stack;
    const int some[] = { SIGUSR1, SIGPIPE, SIGUSR2 };
    for (int i = 0; i < 3; i++) {
        call6(RT_SIGACTION, (u64)some[i], 0, (u64)&action, 8, 0, 0);
        say("handler", (long)action.handler);
        say_hex("flags", action.flags);
    }
    say_hex("mask", masked());
    say_hex("pending", waiting());
    call(SIGALTSTACK, 0, &stack, 0);
    say("stack", stack.flags);
    unsigned vectors = 0;
    unsigned short x87 = 0;
    __asm__ volatile("stmxcsr %0\nfnstcw %1" : "=m"(vectors), "=m"(x87));
    say_hex("vectors", vectors);
    say_hex("x87", x87);
}

static void stop(void) {
    send(me(), SIGSTOP);
}

static void seven(void) {
    leave(7);
}

static const struct { const char *name; void (*run)(void); } parts[] = {
    { "stopped", stopped }, { "stops", stops }, { "through", through }, { "orphaned", orphaned }, { "groups", groups },
    { "misuse", misuse }, { "many", many }, { "deaths", deaths }, { "unwaited", unwaited }, { "borrowed", borrowed },
    { "executed", executed }, { "inherited", inherited }, { "stop", stop }, { "seven", seven },
};

__attribute__((used)) static void begin(u64 *stack) {
    char **argv = (char **)(stack + 1);
    environment = argv + stack[0] + 1;
    u64 *at = (u64 *)environment;
    while (*at++) {}
    for (; at[0]; at += 2)
        if (at[0] == 31) self = (const char *)at[1]; /* AT_EXECFN */
    for (u64 i = 0; i < sizeof parts / sizeof *parts; i++)
        if (same(argv[1], parts[i].name)) {
            parts[i].run();
            print("done\n");
            leave(0);
        }
    leave(2);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
