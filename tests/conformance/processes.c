/* Processes: fork, wait, exit, exec, groups and sessions. */
#include "conformance.h"

static int status;
static char *own_path;

static void exits(void) {
    long child;
    CHILD(child) {}
    ends("exit 0", child);
    CHILD(child) call(SYS_exit_group, 255);
    ends("exit 255", child);
    CHILD(child) call(SYS_exit_group, 256 + 7);
    ends("exit with more than eight bits", child);
    CHILD(child) call(SYS_exit_group, -1);
    ends("exit -1", child);
    CHILD(child) call(SYS_exit, 9);
    ends("exit of the only thread", child);
    CHILD(child) call(SYS_kill, call(SYS_getpid), SIGTERM);
    ends("a signal", child);
    CHILD(child) *(volatile int *)8 = 1;
    ends("a fault", child);
    CHILD(child) __asm__ volatile("ud2");
    ends("an invalid instruction", child);
    CHILD(child) __asm__ volatile("xor %%edx, %%edx\nxor %%eax, %%eax\nidiv %%edx" ::: "rax", "rdx");
    ends("a division by zero", child);
    CHILD(child) __asm__ volatile("int3");
    ends("a breakpoint", child);
    CHILD(child) __asm__ volatile("hlt");
    ends("a privileged instruction", child);
}

static void waiting(void) {
    long child;
    is("wait without children", call(SYS_wait4, -1, &status, 0, 0));
    is("wait for who is no child", call(SYS_wait4, call(SYS_getpid), &status, 0, 0));
    is("wait for 0 without children", call(SYS_wait4, 0, &status, 0, 0));
    is("wait with WNOHANG without children", call(SYS_wait4, -1, &status, WNOHANG, 0));
    is("wait with an option that nobody knows", call(SYS_wait4, -1, &status, 1 << 20, 0));
    is("wait for INT_MIN", call(SYS_wait4, INT_MIN, &status, 0, 0));
    int held[2];
    call(SYS_pipe2, held, 0);
    CHILD(child) {
        call(SYS_close, held[1]);
        call(SYS_read, held[0], &status, 1);
        call(SYS_exit_group, 5);
    }
    status = 77;
    is("WNOHANG while it runs", call(SYS_wait4, child, &status, WNOHANG, 0));
    is("the status then", status);
    call(SYS_close, held[0]), call(SYS_close, held[1]);
    holds("its number", call(SYS_wait4, child, &status, 0, 0) == child);
    say("its status: %s", status_text(status));
    is("once only", call(SYS_wait4, child, &status, 0, 0));
    is("kill it when it is gone", call(SYS_kill, child, 0));
    CHILD(child) call(SYS_exit_group, 6);
    holds("wait without a status", call(SYS_wait4, child, 0, 0, 0) == child);
    int open[2];
    call(SYS_pipe2, open, 0);
    CHILD(child) call(SYS_exit_group, 7);
    call(SYS_close, open[1]);
    /* Its end of the pipe is closed when it ends and not before. */
    holds("it has ended", call(SYS_read, open[0], &status, 1) == 0);
    call(SYS_close, open[0]);
    is("kill an unreaped one with 0", call(SYS_kill, child, 0));
    is("kill an unreaped one", call(SYS_kill, child, SIGKILL));
    ends("its status stays", child);
    CHILD(child) call(SYS_exit_group, 8);
    struct { char before[8]; struct timeval user, system; long rest[14]; } usage;
    memset(&usage, 0x55, sizeof usage);
    holds("wait with usage", call(SYS_wait4, child, &status, 0, &usage.user) == child);
    holds("usage is filled", usage.user.tv_sec >= 0 && usage.user.tv_sec < 100 && usage.rest[13] != 0x5555555555555555);
    CHILD(child) call(SYS_exit_group, 9);
    holds("wait for the own group", call(SYS_wait4, 0, &status, 0, 0) == child);
    CHILD(child) {
        call(SYS_setpgid, 0, 0);
        call(SYS_exit_group, 10);
    }
    call(SYS_setpgid, child, child);
    is("wait for the own group without members", call(SYS_wait4, 0, &status, 0, 0));
    holds("wait for another group", call(SYS_wait4, -child, &status, 0, 0) == child);
}

static void several(void) {
    long first, second, third;
    CHILD(first) call(SYS_exit_group, 1);
    CHILD(second) call(SYS_exit_group, 2);
    CHILD(third) call(SYS_exit_group, 3);
    ends("the second of three", second);
    ends("the first of three", first);
    holds("any is the third", call(SYS_wait4, -1, &status, 0, 0) == third);
    enum { MANY = 200 };
    static long child[MANY];
    int held[2], forked = 0, right = 0;
    call(SYS_pipe2, held, 0);
    for (int i = 0; i < MANY; i++) {
        CHILD(child[i]) {
            char byte;
            call(SYS_close, held[1]);
            call(SYS_read, held[0], &byte, 1);
            call(SYS_exit_group, i);
        }
        forked += child[i] > 0;
    }
    is("children at once", forked);
    call(SYS_close, held[0]), call(SYS_close, held[1]);
    for (int i = 0; i < MANY; i++) {
        long got = call(SYS_wait4, -1, &status, 0, 0);
        for (int j = 0; j < MANY; j++) right += child[j] == got && WIFEXITED(status) && WEXITSTATUS(status) == j;
    }
    is("with the right codes", right);
    is("and no more", call(SYS_wait4, -1, &status, 0, 0));
}

static void orphans(void) {
    int told[2];
    long child, parent = call(SYS_getpid);
    call(SYS_pipe2, told, 0);
    CHILD(child) holds("getppid", call(SYS_getppid) == parent);
    ends("a child with a parent", child);
    CHILD(child) {
        long middle = call(SYS_getpid), grandchild;
        CHILD(grandchild) {
            while (call(SYS_getppid) == middle) nap(5);
            holds("an orphan has another parent", call(SYS_getppid) != parent);
            call(SYS_write, told[1], "x", 1);
        }
        call(SYS_exit_group, 11);
    }
    ends("its first parent", child);
    char byte;
    is("the orphan lives", call(SYS_read, told[0], &byte, 1));
    is("and is no child of its grandparent", call(SYS_wait4, -1, &status, 0, 0));
    call(SYS_close, told[0]), call(SYS_close, told[1]);
}

static void memory_of_a_child(void) {
    static int data = 1;
    int local = 1, *heap = malloc(sizeof *heap);
    *heap = 1;
    long child;
    CHILD(child) {
        is("what a child finds", data + local + *heap);
        data = local = *heap = 5;
        is("what a child writes", data + local + *heap);
    }
    ends("that child", child);
    is("is not the parent's", data + local + *heap);
    CHILD(child) {
        nap(50);
        is("what the parent writes is not the child's", data);
    }
    data = 9;
    ends("the child before", child);
    double root = 2;
    CHILD(child) {
        for (int i = 0; i < 5; i++) root = root * root;
        holds("floating point in a child", root == 4294967296.0);
    }
    ends("the one that computes", child);
    long vforked = call(SYS_fork);
    if (vforked == 0) call(SYS_exit_group, 3);
    ends("fork once more", vforked);
    free(heap);
}

/* What the program does after execve: argv[1] says it. */
static int executed(int argc, char **argv) {
    if (!strcmp(argv[1], "show")) {
        extern char **environ;
        say("arguments of %s: %d", argv[2], argc - 3);
        for (int i = 3; i < argc && i < 8; i++) say("argument %d of %s: \"%s\"", i - 2, argv[2], argv[i]);
        for (int i = 0; environ[i] && i < 3; i++) say("environment %d of %s: \"%s\"", i, argv[2], environ[i]);
        return 12;
    }
    if (!strcmp(argv[1], "state")) {
        struct sigaction action;
        sigset_t set;
        holds("the number after exec", atol(argv[2]) == call(SYS_getpid));
        is("a descriptor after exec", call(SYS_fcntl, 20, F_GETFD));
        is("one with O_CLOEXEC", call(SYS_fcntl, 21, F_GETFD));
        sigaction(SIGUSR1, 0, &action);
        holds("a handler is gone", action.sa_handler == SIG_DFL);
        sigaction(SIGUSR2, 0, &action);
        holds("an ignored signal stays ignored", action.sa_handler == SIG_IGN);
        sigprocmask(SIG_BLOCK, 0, &set);
        holds("a blocked one stays blocked", sigismember(&set, SIGHUP));
        sigpending(&set);
        holds("a pending one stays pending", sigismember(&set, SIGHUP));
        is("umask after exec", call(SYS_umask, 022));
        is("the working directory after exec", call(SYS_access, "here", F_OK));
        holds("the group after exec", call(SYS_getpgid, 0) == call(SYS_getpid));
        return 13;
    }
    return 14;
}

static void executing(void) {
    char *none[] = { 0 }, *show[] = { "x", "show", "exec", "one", "", "a b", "\xff", 0 };
    char *environment[] = { "A=1", "B=", 0 };
    char *long_list[303] = { "x", "show", "long exec" };
    long child;
    CHILD(child) call(SYS_execve, own_path, show, environment);
    ends("exec", child);
    for (int i = 3; i < 302; i++) long_list[i] = "argument";
    CHILD(child) call(SYS_execve, own_path, long_list, none);
    ends("exec with 299 arguments", child);
    make_file("plain", "no program"), make_file("garbage", "no program"), call(SYS_chmod, "garbage", 0755);
    make_file("empty", ""), call(SYS_chmod, "empty", 0755);
    make_file("head", "\177ELF\2\1\1"), call(SYS_chmod, "head", 0755);
    call(SYS_mkdir, "dir", 0755), call(SYS_symlink, "loop", "loop");
    is("exec what is missing", call(SYS_execve, "none", none, none));
    is("exec an empty path", call(SYS_execve, "", none, none));
    is("exec below a file", call(SYS_execve, "plain/x", none, none));
    is("exec a directory", call(SYS_execve, "dir", none, none));
    is("exec what may not be executed", call(SYS_execve, "plain", none, none));
    is("exec garbage", call(SYS_execve, "garbage", none, none));
    is("exec an empty file", call(SYS_execve, "empty", none, none));
    is("exec the head of a program", call(SYS_execve, "head", none, none));
    is("exec a loop", call(SYS_execve, "loop", none, none));
    is("exec /dev/null", call(SYS_execve, "/dev/null", none, none));
    is("exec a slash after a program", call(SYS_execve, "plain/", none, none));
    make_file("script", "#!/bin/sh\nexit 21\n"), call(SYS_chmod, "script", 0755);
    CHILD(child) call(SYS_execve, "./script", none, none);
    ends("exec a script", child);
    static char huge[200 * 1024];
    memset(huge, 'x', sizeof huge - 1);
    char *too_long[] = { "x", huge, 0 };
    is("exec with an argument of 200 KiB", call(SYS_execve, own_path, too_long, none));
    is("exec with an environment of 200 KiB", call(SYS_execve, own_path, none, too_long));
}

static void nothing(int signal) { (void)signal; }

static void state_over_exec(void) {
    long child;
    make_file("here", "x");
    CHILD(child) {
        char number[24];
        snprintf(number, sizeof number, "%ld", call(SYS_getpid));
        char *arguments[] = { "x", "state", number, 0 }, *none[] = { 0 };
        call(SYS_dup2, 0, 20), call(SYS_dup3, 0, 21, O_CLOEXEC);
        signal(SIGUSR1, nothing), signal(SIGUSR2, SIG_IGN);
        sigset_t set;
        sigemptyset(&set), sigaddset(&set, SIGHUP), sigprocmask(SIG_BLOCK, &set, 0);
        call(SYS_kill, call(SYS_getpid), SIGHUP);
        call(SYS_umask, 027), call(SYS_setpgid, 0, 0);
        is("an exec that fails first", call(SYS_execve, "none", arguments, none));
        call(SYS_execve, own_path, arguments, none);
    }
    ends("exec with state", child);
}

static void groups(void) {
    long child, own = call(SYS_getpid), group = call(SYS_getpgid, 0);
    int held[2];
    call(SYS_pipe2, held, 0);
    holds("getpgrp is getpgid", call(SYS_getpgrp) == group);
    holds("getpgid of oneself", call(SYS_getpgid, own) == group);
    is("getpgid of who is missing", call(SYS_getpgid, 4000000));
    is("getpgid of -1", call(SYS_getpgid, -1));
    is("getsid of who is missing", call(SYS_getsid, 4000000));
    is("setpgid to a negative group", call(SYS_setpgid, 0, -1));
    is("setpgid of who is missing", call(SYS_setpgid, 4000000, 0));
    is("setpgid of a negative process", call(SYS_setpgid, -1, 0));
    is("setpgid to a group that is missing", call(SYS_setpgid, 0, 4000000));
    is("setpgid of the parent", call(SYS_setpgid, call(SYS_getppid), 0));
    CHILD(child) {
        call(SYS_close, held[1]);
        call(SYS_read, held[0], &status, 1);
        holds("which its parent changed", call(SYS_getpgid, 0) == call(SYS_getpid));
    }
    is("setpgid of a child", call(SYS_setpgid, child, child));
    holds("getpgid of a child", call(SYS_getpgid, child) == child);
    is("setpgid into a child's group", call(SYS_setpgid, 0, child));
    is("and back", call(SYS_setpgid, 0, group));
    call(SYS_close, held[0]), call(SYS_close, held[1]);
    ends("that child with a group", child);
    call(SYS_pipe2, held, 0);
    CHILD(child) {
        call(SYS_close, held[0]), call(SYS_close, held[1]);
        call(SYS_setpgid, 0, 0);
        is("setsid of a leader", call(SYS_setsid));
        long grandchild;
        CHILD(grandchild) {
            holds("setsid", call(SYS_setsid) == call(SYS_getpid));
            holds("its session", call(SYS_getsid, 0) == call(SYS_getpid));
            holds("its group", call(SYS_getpgid, 0) == call(SYS_getpid));
            is("setpgid of a session's leader", call(SYS_setpgid, 0, 0));
            is("setpgid to a group of another session", call(SYS_setpgid, 0, group));
        }
        ends("a new session", grandchild);
        call(SYS_pipe2, held, 0);
        CHILD(grandchild) {
            call(SYS_setsid);
            call(SYS_write, held[1], "x", 1);
            linger();
        }
        char byte;
        call(SYS_read, held[0], &byte, 1);
        is("setpgid of a child in another session", call(SYS_setpgid, grandchild, 0));
        call(SYS_kill, grandchild, SIGKILL);
        ends("the child in another session", grandchild);
    }
    ends("who leads a group", child);
    call(SYS_close, held[0]), call(SYS_close, held[1]);
    char *none[] = { 0 }, *other[] = { "x", "other", 0 };
    call(SYS_pipe2, held, O_CLOEXEC);
    CHILD(child) {
        call(SYS_execve, own_path, other, none);
    }
    /* The end of the pipe says that execve is done; the child may have exited since and is not reaped. */
    call(SYS_close, held[1]);
    call(SYS_read, held[0], &status, 1);
    is("setpgid of a child after exec", call(SYS_setpgid, child, child));
    ends("that child after exec", child);
    call(SYS_close, held[0]);
}

/* Waits for a child that plain wait4 finds only when it is an ordinary one. */
static int child_by_plain_wait(long child) {
    for (int tries = 0; tries < 20 * PATIENCE; tries++, nap(20))
        if (call(SYS_wait4, child, &status, WNOHANG, 0) == child) return 1;
    return 0;
}

static void identity(void) {
    long a, b;
    char *other[] = { "x", "other", 0 };
    holds("getpid", call(SYS_getpid) > 1);
    holds("gettid", call(SYS_gettid) == call(SYS_getpid));
    holds("real and effective user", call(SYS_getuid) == call(SYS_geteuid));
    holds("real and effective group", call(SYS_getgid) == call(SYS_getegid));
    CHILD(a) {}
    CHILD(b) {}
    holds("numbers are new ones", a > 0 && b > 0 && a != b && a != call(SYS_getpid));
    ends("one", a);
    ends("two", b);
    long child = call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) call(SYS_exit_group, 33);
    ends("clone as fork", child);
    child = call(SYS_vfork);
    if (child == 0) call(SYS_exit_group, 34);
    ends("vfork", child);
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGUSR2), sigprocmask(SIG_BLOCK, &set, 0);
    child = call(SYS_clone, SIGUSR2, 0, 0, 0, 0);
    if (child == 0) call(SYS_exit_group, 35);
    is("wait for a child that ends with another signal", call(SYS_wait4, child, &status, 0, 0));
    holds("wait for it with __WALL", call(SYS_wait4, child, &status, __WALL, 0) == child);
    sigpending(&set);
    is("which was sent", sigismember(&set, SIGUSR2));
    struct sigaction ignored = { .sa_handler = SIG_IGN };
    sigaction(SIGUSR2, &ignored, 0), sigprocmask(SIG_UNBLOCK, &set, 0);
    child = call(SYS_clone, 0, 0, 0, 0, 0);
    if (child == 0) call(SYS_execve, own_path, other, other + 2);
    holds("exec gives it SIGCHLD again", child_by_plain_wait(child));
    is("clone with flags that exclude each other", call(SYS_clone, 0x800, 0, 0, 0, 0));
}

static void checks(int argc, char **argv) {
    own_path = argv[0];
    if (argc > 1) call(SYS_exit_group, executed(argc, argv));
    exits();
    waiting();
    several();
    orphans();
    memory_of_a_child();
    executing();
    state_over_exec();
    groups();
    identity();
}
