/* Signals: actions, masks, what handlers are told, faults, stacks, registers. */
#include "signals.h"

#include <setjmp.h>
#include <ucontext.h>

static void default_actions(void) {
    static const int skipped[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
    char name[40];
    for (int signal = 1; signal <= 64; signal++) {
        if (signal > 34 && signal < 64) continue;
        int stops = 0;
        for (int i = 0; i < 4; i++) stops |= signal == skipped[i];
        long child;
        /* SIGKILL and the realtime signals that the C library keeps for itself included: these are raw calls. */
        CHILD(child) if (!stops) send(signal);
        snprintf(name, sizeof name, "default of signal %d", signal);
        ends(name, child);
        if (!stops) continue;
        CHILD(child) call(SYS_setpgid, 0, 0), send(signal), call(SYS_exit_group, 4);
        call(SYS_wait4, child, &status, WUNTRACED, 0);
        say("signal %d with WUNTRACED: %s", signal, status_text(status));
        call(SYS_kill, child, SIGCONT);
        snprintf(name, sizeof name, "signal %d after SIGCONT", signal);
        ends(name, child);
    }
}

static void handlers(void) {
    struct sigaction old;
    handle(SIGUSR1, note, 0, 0);
    is("a signal to oneself", send(SIGUSR1));
    arrived("it has arrived when kill returns");
    sigaction(SIGUSR1, 0, &old);
    holds("the handler can be read back", old.sa_handler == note);
    handle(SIGUSR1, SIG_IGN, 0, 0);
    send(SIGUSR1);
    arrived("an ignored one");
    handle(SIGUSR1, note, SA_RESETHAND, 0);
    send(SIGUSR1);
    arrived("one with SA_RESETHAND");
    sigaction(SIGUSR1, 0, &old);
    holds("whose handler is gone", old.sa_handler == SIG_DFL);
    is("a handler for SIGKILL", sigaction(SIGKILL, &old, 0) ? -errno : 0);
    is("a handler for SIGSTOP", sigaction(SIGSTOP, &old, 0) ? -errno : 0);
    struct { long handler, flags, restorer, mask; } raw = { 0, 0, 0, 0 };
    is("reading SIGKILL's", call(SYS_rt_sigaction, SIGKILL, 0, &raw, 8));
    is("signal 0", call(SYS_rt_sigaction, 0, &raw, 0, 8));
    is("signal 65", call(SYS_rt_sigaction, 65, &raw, 0, 8));
    is("signal -1", call(SYS_rt_sigaction, -1, &raw, 0, 8));
    is("a set of 4 bytes", call(SYS_rt_sigaction, SIGUSR1, &raw, 0, 4));
    is("a set of 16 bytes", call(SYS_rt_sigaction, SIGUSR1, &raw, 0, 16));
    is("signal 64", call(SYS_rt_sigaction, 64, &raw, &raw, 8));
}

static void pending(void) {
    long child;
    CHILD(child) {
        handle(SIGUSR1, note, 0, 0);
        handle(SIGUSR2, note, 0, 0);
        block(SIG_BLOCK, SIGUSR1), block(SIG_BLOCK, SIGUSR2), block(SIG_BLOCK, SIGHUP);
        handle(SIGHUP, note, 0, 0);
        send(SIGUSR2), send(SIGUSR1), send(SIGHUP), send(SIGUSR1);
        arrived("blocked ones");
        sigset_t set;
        sigpending(&set);
        say("pending: %d %d %d %d", sigismember(&set, SIGHUP), sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2),
            sigismember(&set, SIGTERM));
        block(SIG_UNBLOCK, SIGUSR2);
        arrived("one unblocked");
        sigemptyset(&set), sigprocmask(SIG_SETMASK, &set, 0);
        holds("all unblocked, each once", seen == 2);
        sigpending(&set);
        is("pending then", sigismember(&set, SIGHUP) + sigismember(&set, SIGUSR1));
    }
    ends("masks", child);
}

static volatile sig_atomic_t depth, deepest;
static void deeper(int signal) {
    depth = depth + 1;
    if (depth > deepest) deepest = depth;
    if (seen++ < 3) send(signal);
    depth = depth - 1;
}

static sigset_t mask_inside;
static void look(int signal) {
    note(signal);
    sigprocmask(SIG_BLOCK, 0, &mask_inside);
}

static void masks_of_handlers(void) {
    seen = depth = deepest = 0;
    handle(SIGUSR1, deeper, 0, 0);
    send(SIGUSR1);
    is("a signal does not interrupt its own handler", deepest);
    is("and comes after it", seen);
    seen = depth = deepest = 0;
    handle(SIGUSR1, deeper, SA_NODEFER, 0);
    send(SIGUSR1);
    is("with SA_NODEFER it does", deepest);
    seen = 0;
    handle(SIGUSR1, look, 0, SIGHUP);
    send(SIGUSR1);
    say("blocked in a handler: %d %d %d", sigismember(&mask_inside, SIGUSR1), sigismember(&mask_inside, SIGHUP),
        sigismember(&mask_inside, SIGTERM));
    sigprocmask(SIG_BLOCK, 0, &mask_inside);
    say("blocked after it: %d %d", sigismember(&mask_inside, SIGUSR1), sigismember(&mask_inside, SIGHUP));
    sigset_t all, now;
    sigfillset(&all), sigprocmask(SIG_SETMASK, &all, 0);
    unsigned long raw = 0;
    call(SYS_rt_sigprocmask, SIG_BLOCK, 0, &raw, 8);
    say("SIGKILL and SIGSTOP are never blocked: %d", !!(raw & (1ul << (SIGKILL - 1) | 1ul << (SIGSTOP - 1))));
    sigemptyset(&now), sigprocmask(SIG_SETMASK, &now, 0);
    is("a how that nobody knows", call(SYS_rt_sigprocmask, 99, &raw, 0, 8));
    is("which does not matter without a set", call(SYS_rt_sigprocmask, 99, 0, &raw, 8));
    is("sigprocmask with a set of 4 bytes", call(SYS_rt_sigprocmask, SIG_BLOCK, &raw, 0, 4));
    is("sigpending with a set of 16 bytes", call(SYS_rt_sigpending, &raw, 16));
}

static volatile siginfo_t info;
static void inform(int signal, siginfo_t *got, void *context) { (void)context, note(signal), info = *got; }

static void handle_info(int signal, void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };
    sigaction(signal, &action, 0);
}

static void information(void) {
    handle_info(SIGUSR1, inform, 0);
    send(SIGUSR1);
    say("si_signo %d, si_code %d, from oneself %d", info.si_signo, info.si_code, info.si_pid == getpid());
    holds("the user", info.si_uid == getuid());
    call(SYS_tgkill, call(SYS_getpid), call(SYS_gettid), SIGUSR1);
    say("si_code of tgkill: %d", info.si_code);
    long child;
    handle_info(SIGCHLD, inform, 0);
    CHILD(child) call(SYS_exit_group, 5);
    while (info.si_signo != SIGCHLD) nap(5);
    say("of a child: si_code %d, si_status %d, its number %d", info.si_code, info.si_status, info.si_pid == child);
    ends("that child", child);
    info.si_signo = 0;
    CHILD(child) linger();
    call(SYS_kill, child, SIGTERM);
    while (info.si_signo != SIGCHLD) nap(5);
    say("of a killed child: si_code %d, si_status %d", info.si_code, info.si_status);
    ends("the killed child", child);
    signal(SIGCHLD, SIG_DFL), signal(SIGUSR1, SIG_DFL);
}

static sigjmp_buf back;
static volatile long fault_address, fault_instruction;
static void leave(int signal, siginfo_t *got, void *context) {
    info = *got, fault_address = (long)got->si_addr;
    fault_instruction = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    siglongjmp(back, signal);
}

#define FAULTS(name, wanted, code) \
    do { \
        int came = sigsetjmp(back, 1); \
        if (!came) { code; } \
        say("%s: signal %d, si_code %d, address %s", name, came, info.si_code, fault_address == (long)(wanted) ? "right" : "wrong"); \
    } while (0)

static void skip_instruction(int signal, siginfo_t *got, void *context) {
    (void)got, note(signal);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RBX] = 1234;
}

static void faults(void) {
    char *readable = pages(1, PROT_READ), *none = pages(1, PROT_NONE);
    int caught[] = { SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGBUS };
    for (int i = 0; i < 5; i++) handle_info(caught[i], leave, 0);
    FAULTS("a write to what is not mapped", 16, *(volatile char *)16 = 1);
    FAULTS("a write to what may only be read", readable + 5, *(volatile char *)(readable + 5) = 1);
    FAULTS("a read of what may not be read", none, *(volatile char *)none);
    FAULTS("a jump to data", readable, ((void (*)(void))readable)());
    /* For these the address is that of the instruction itself. */
    FAULTS("a division by zero", fault_instruction, __asm__ volatile("xor %%edx, %%edx\nxor %%eax, %%eax\nidiv %%edx" ::: "rax", "rdx"));
    FAULTS("an invalid instruction", fault_instruction, __asm__ volatile("ud2"));
    FAULTS("a privileged instruction", 0, __asm__ volatile("hlt"));
    FAULTS("an address that is not canonical", 0, *(volatile char *)0x8000000000000000 = 1);
    sigset_t set;
    sigprocmask(SIG_BLOCK, 0, &set);
    is("siglongjmp restores the mask", sigismember(&set, SIGSEGV));
    handle_info(SIGILL, skip_instruction, 0);
    long rbx = 0;
    seen = 0;
    __asm__ volatile("xor %%ebx, %%ebx\nud2\nmov %%rbx, %0" : "=r"(rbx)::"rbx");
    is("a handler changes the registers", rbx);
    for (int i = 0; i < 5; i++) signal(caught[i], SIG_DFL);
    long child;
    CHILD(child) {
        block(SIG_BLOCK, SIGSEGV);
        *(volatile char *)16 = 1;
    }
    ends("a blocked SIGSEGV", child);
    CHILD(child) {
        signal(SIGSEGV, SIG_IGN);
        *(volatile char *)16 = 1;
    }
    ends("an ignored SIGSEGV", child);
    CHILD(child) {
        signal(SIGSEGV, SIG_IGN);
        send(SIGSEGV);
    }
    ends("an ignored SIGSEGV by kill", child);
}

static char *stack_low, *stack_high;
static volatile sig_atomic_t on_stack, direction = -1;
static long change_on_stack;

static void where(int signal) {
    char here;
    note(signal);
    on_stack = &here >= stack_low && &here < stack_high;
    unsigned long flags;
    __asm__ volatile("pushf\npop %0" : "=r"(flags));
    direction = !!(flags & 0x400);
    stack_t other = { .ss_sp = stack_low, .ss_size = stack_high - stack_low };
    change_on_stack = call(SYS_sigaltstack, &other, 0);
}

static void overflow(int depth) {
    volatile char room[4000];
    room[0] = (char)depth;
    if (depth < 100000) overflow(depth + 1);
    room[1] = room[0];
}

static void own_stacks(void) {
    stack_low = pages(16, PROT_READ | PROT_WRITE), stack_high = stack_low + 16 * PAGE;
    stack_t stack = { .ss_sp = stack_low, .ss_size = 16 * PAGE }, old;
    is("sigaltstack when there is none", call(SYS_sigaltstack, 0, &old));
    is("its flags", old.ss_flags);
    is("sigaltstack", call(SYS_sigaltstack, &stack, 0));
    call(SYS_sigaltstack, 0, &old);
    holds("which can be read back", old.ss_sp == stack_low && old.ss_size == 16 * PAGE && old.ss_flags == 0);
    stack.ss_size = 100;
    is("a stack that is too small", call(SYS_sigaltstack, &stack, 0));
    stack.ss_size = 16 * PAGE, stack.ss_flags = 0x40;
    is("a flag that nobody knows", call(SYS_sigaltstack, &stack, 0));
    handle(SIGUSR1, where, SA_ONSTACK, 0);
    seen = 0;
    __asm__ volatile("std" ::: "memory");
    long sent = call6(SYS_kill, call6(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGUSR1, 0, 0, 0, 0);
    __asm__ volatile("cld" ::: "memory");
    is("a signal with the direction flag set", sent);
    is("a handler runs on its own stack", on_stack);
    is("the direction flag in a handler", direction);
    is("changing the stack while on it", change_on_stack);
    handle(SIGUSR1, where, 0, 0);
    send(SIGUSR1);
    is("and without SA_ONSTACK on the ordinary one", on_stack);
    is("changing it then", change_on_stack);
    handle_info(SIGSEGV, leave, SA_ONSTACK);
    int came = sigsetjmp(back, 1);
    if (!came) overflow(0);
    is("a stack that overflows is caught", came);
    signal(SIGSEGV, SIG_DFL);
    long child;
    CHILD(child) overflow(0);
    ends("a stack that overflows", child);
    CHILD(child) {
        stack_t off = { .ss_flags = SS_DISABLE };
        call(SYS_sigaltstack, &off, 0);
        call(SYS_sigaltstack, 0, &old);
        is("a stack can be given up", old.ss_flags);
        handle_info(SIGSEGV, leave, 0);
        overflow(0);
    }
    ends("a handler without room for it", child);
    CHILD(child) {
        call(SYS_sigaltstack, 0, &old);
        holds("a child has its parent's", old.ss_sp == stack_low);
    }
    ends("the child with a stack", child);
}

static void clobber(int signal) {
    note(signal);
    __asm__ volatile("pxor %%xmm0, %%xmm0\npxor %%xmm7, %%xmm7\nfldpi\nfstp %%st(0)\nmov $1, %%r12\nmov $2, %%r15" ::: "xmm0", "xmm7", "r12", "r15");
}

static void registers(void) {
    handle(SIGUSR1, clobber, 0, 0);
    static const double in[2] = { 1.5, -2.25 };
    double out[2] = { 0, 0 };
    long result, r12, own = call(SYS_getpid);
    __asm__ volatile("movupd %4, %%xmm7\nmov $77, %%r12\nmov %5, %%eax\nmov %6, %%rdi\nmov $10, %%esi\nsyscall\nmovupd %%xmm7, %1\nmov %%r12, %2\nmov %%rax, %0"
                     : "=r"(result), "=m"(out), "=r"(r12) : "0"(0), "m"(in), "i"(SYS_kill), "r"(own)
                     : "rax", "rdi", "rsi", "rcx", "r11", "r12", "xmm7", "memory");
    is("a call over which a handler ran", result);
    holds("vector registers survive a handler", out[0] == 1.5 && out[1] == -2.25);
    is("and so do the others", r12);
    signal(SIGUSR1, SIG_DFL);
}

static void checks(int argc, char **argv) {
    (void)argc, (void)argv;
    default_actions();
    handlers();
    pending();
    masks_of_handlers();
    information();
    faults();
    own_stacks();
    registers();
}
