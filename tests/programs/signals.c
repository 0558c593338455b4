/* What handlers see, what they leave alone, and what is blocked. Everything printed is the same on Linux. */
#include "signal.h"

static volatile long count, seen_signal, seen_code, seen_pid;

static void note(int signal, struct info *info, struct context *context) {
    (void)context;
    count++;
    seen_signal = signal;
    seen_code = info->code;
    seen_pid = info->of.who.pid;
}

static void told(void) {
    const long me = call(GETPID, 0, 0, 0);
    act(SIGUSR1, note, 0);
    send(me, SIGUSR1);
    say("signal", seen_signal);
    say("code", seen_code);
    say("from me", seen_pid == me);
    call(TGKILL, me, me, SIGUSR1);
    say("tgkill", seen_code);
    call(TKILL, me, SIGUSR1, 0);
    say("count", count);
    say("test", send(me, 0));
    say("no such process", send(0x7ffffff0, SIGUSR1));
    say("no such signal", send(me, 65));
    say("no such thread", call(TGKILL, me, me + 1, SIGUSR1));
    say("bad thread", call(TGKILL, 0, me, SIGUSR1));
}

static void refused(void) {
    const struct action ignore = { SIG_IGN, 0, 0, 0 };
    struct action old = { 1, 2, 3, 4 };
    const u64 all = ~0UL;
    say("kill", call6(RT_SIGACTION, SIGKILL, (u64)&ignore, 0, 8, 0, 0));
    say("stop", call6(RT_SIGACTION, SIGSTOP, (u64)&ignore, 0, 8, 0, 0));
    say("ask kill", call6(RT_SIGACTION, SIGKILL, 0, (u64)&old, 8, 0, 0));
    say("is default", old.handler == 0 && old.flags == 0);
    say("zero", call6(RT_SIGACTION, 0, (u64)&ignore, 0, 8, 0, 0));
    say("65", call6(RT_SIGACTION, 65, (u64)&ignore, 0, 8, 0, 0));
    say("set size", call6(RT_SIGACTION, SIGUSR1, (u64)&ignore, 0, 16, 0, 0));
    say("act", call6(RT_SIGACTION, SIGUSR1, 8, 0, 8, 0, 0));
    say("how", call6(RT_SIGPROCMASK, 3, (u64)&all, 0, 8, 0, 0));
    say("how without set", call6(RT_SIGPROCMASK, 3, 0, 0, 8, 0, 0));
    say("mask", call6(RT_SIGPROCMASK, 0, 8, 0, 8, 0, 0));
    mask(SIG_SETMASK, all);
    say_hex("most", masked());
    mask(SIG_SETMASK, 0);
    const struct action odd = { (u64)note, ~0UL & ~SA_RESETHAND, (u64)restorer, all };
    call6(RT_SIGACTION, SIGUSR1, (u64)&odd, 0, 8, 0, 0);
    call6(RT_SIGACTION, SIGUSR1, 0, (u64)&old, 8, 0, 0);
    say_hex("flags", old.flags & ~0x800UL); /* SA_EXPOSE_TAGBITS is for other processors */
    say_hex("its mask", old.mask);
    dispose(SIGUSR1, SIG_DFL);
}

static char order[32];
static int order_length;

static void ordered(int signal, struct info *info, struct context *context) {
    (void)info, (void)context;
    order[order_length++] = (char)('A' + signal);
}

static void blocked(void) {
    act(SIGUSR1, ordered, 0);
    act(SIGUSR2, ordered, 0);
    act(SIGRT, ordered, 0);
    mask(SIG_BLOCK, BIT(SIGUSR1) | BIT(SIGUSR2) | BIT(SIGRT));
    send_self(SIGRT);
    send_self(SIGUSR2);
    send_self(SIGUSR1);
    send_self(SIGUSR1);
    send_self(SIGRT);
    say("while blocked", order_length);
    say_hex("pending", waiting());
    mask(SIG_UNBLOCK, BIT(SIGUSR1) | BIT(SIGUSR2) | BIT(SIGRT));
    say_hex("pending", waiting());
    /* The last frame is on top, so the highest signal runs first; only real-time signals queue. */
    print(order);
    print("\n");
    mask(SIG_BLOCK, BIT(SIGUSR1));
    send_self(SIGUSR1);
    dispose(SIGUSR1, SIG_IGN);
    say_hex("pending and ignored", waiting());
    act(SIGUSR1, ordered, 0);
    order_length = 0;
    mask(SIG_SETMASK, 0);
    say("forgotten", order_length);
}

static u64 mask_inside;
static volatile int depth, deepest;

static void nested(int signal, struct info *info, struct context *context) {
    (void)info, (void)context;
    mask_inside = masked();
    depth++;
    if (depth > deepest) deepest = depth;
    if (depth < 3) send_self(signal);
    depth--;
}

static void nesting(void) {
    act_masked(SIGUSR1, nested, SA_NODEFER, BIT(SIGUSR2));
    send_self(SIGUSR1);
    say("deepest", deepest);
    say_hex("inside", mask_inside);
    deepest = 0;
    act_masked(SIGUSR1, nested, SA_RESETHAND, BIT(SIGHUP));
    const long child = call(FORK, 0, 0, 0);
    if (child == 0) {
        send_self(SIGUSR1);
        say_hex("inside", mask_inside);
        print("not reached\n");
        leave(0);
    }
    say_hex("once", (u64)wait_for(child, 0));
    say_hex("after", masked());
}

static struct context caught;
static struct info caught_info;
static void *go_on;

static void catch(int signal, struct info *info, struct context *context) {
    (void)signal;
    caught = *context;
    caught_info = *info;
    if (go_on) context->rip = (u64)go_on;
}

/* Runs an instruction that faults, and goes on after it. */
#define FAULT(name, ...)                                                                                        \
    do {                                                                                                        \
        go_on = &&after_##name;                                                                                 \
        at = (u64)&&before_##name;                                                                              \
        __asm__ goto("" :::: before_##name, after_##name);                                                      \
    before_##name:                                                                                              \
        __asm__ volatile(__VA_ARGS__);                                                                          \
        __asm__ goto("" :::: before_##name, after_##name);                                                      \
    after_##name:                                                                                               \
        report(#name, at);                                                                                      \
    } while (0)

static void report(const char *name, u64 at) {
    print(name);
    print(": ");
    say("signal", caught_info.signal);
    say("code", caught_info.code);
    const u64 address = caught_info.of.address;
    if (address >= at && address < at + 16) print("address is that of the instruction\n");
    else say_hex("address", address);
    say("trap", (long)caught.trapno);
    say_hex("error", caught.err);
    if (caught.trapno == 14) say_hex("cr2", caught.cr2);
    caught_info = (struct info){ 0 };
}

static void faults(void) {
    const int all[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
    u64 at;
    for (u64 i = 0; i < sizeof all / sizeof *all; i++) act(all[i], catch, 0);
    FAULT(null_write, "movl $1, 0x10" ::: "memory");
    FAULT(null_read, "movl 0x20, %%eax" ::: "rax", "memory");
    FAULT(code_write, "movl $1, %0" ::"m"(*(int *)faults) : "memory");
    FAULT(kernel_read, "movl (%0), %%eax" ::"r"(0xffffffff80200000) : "rax", "memory");
    FAULT(not_canonical, "movl (%0), %%eax" ::"r"(0x800000000000) : "rax", "memory");
    FAULT(invalid, "ud2" ::: "memory");
    FAULT(divide, "xor %%ecx, %%ecx\ndiv %%ecx" ::: "rax", "rcx", "rdx", "memory");
    FAULT(privileged, "hlt" ::: "memory");
    FAULT(breakpoint, "int3" ::: "memory");
    /* QEMU without KVM makes no SSE exceptions, so the x87 unit it is; the fault comes at its next instruction. */
    const unsigned short strict = 0x037f & ~0x04;
    FAULT(float_divide, "fldcw %0\nfld1\nfldz\nfdivrp\nfwait" ::"m"(strict) : "memory");
    __asm__ volatile("fninit");
    go_on = 0;
    __asm__ volatile("pushf\norq $0x100, (%%rsp)\npopf\nnop\npushf\nandq $~0x100, (%%rsp)\npopf" ::: "memory");
    say("step", caught_info.signal);
    say("code", caught_info.code);
    say("trap", (long)caught.trapno);
}

/* A fault that cannot wait. */
static void unhandled(void) {
    for (int how = 0; how < 3; how++) {
        const long child = call(FORK, 0, 0, 0);
        if (child == 0) {
            if (how == 0) dispose(SIGSEGV, SIG_IGN);
            if (how == 1) mask(SIG_BLOCK, BIT(SIGSEGV)), act(SIGSEGV, note, 0);
            if (how == 2) act(SIGSEGV, note, 0), mask(SIG_BLOCK, ~BIT(SIGSEGV)), dispose(SIGSEGV, SIG_DFL);
            __asm__ volatile("movl $1, 0x10" ::: "memory");
            leave(1);
        }
        say_hex("status", (u64)wait_for(child, 0) & 0x7f);
    }
}

static char alternate[16384] __attribute__((aligned(16)));
static struct stack stack_inside;
static u64 rsp_inside;
static long replace_inside;

static void on_stack(int signal, struct info *info, struct context *context) {
    (void)signal, (void)info, (void)context;
    const struct stack none = { 0, 2, 0, 0 };
    __asm__("mov %%rsp, %0" : "=r"(rsp_inside));
    call(SIGALTSTACK, 0, &stack_inside, 0);
    replace_inside = call(SIGALTSTACK, &none, 0, 0);
}

static int on_alternate(u64 address) {
    return address >= (u64)alternate && address < (u64)alternate + sizeof alternate;
}

static void altstack(void) {
    struct stack stack = { (u64)alternate, 0, 0, sizeof alternate }, old;
    const struct stack small = { (u64)alternate, 0, 0, 100 }, odd = { (u64)alternate, 4, 0, sizeof alternate };
    say("get", call(SIGALTSTACK, 0, &old, 0));
    say("none", old.flags);
    say("small", call(SIGALTSTACK, &small, 0, 0));
    say("odd", call(SIGALTSTACK, &odd, 0, 0));
    say("bad", call(SIGALTSTACK, 8, 0, 0));
    say("set", call(SIGALTSTACK, &stack, 0, 0));
    call(SIGALTSTACK, 0, &old, 0);
    say("now", old.flags);
    act(SIGUSR1, on_stack, SA_ONSTACK);
    send_self(SIGUSR1);
    say("on it", on_alternate(rsp_inside));
    say("flags", stack_inside.flags);
    say("replace", replace_inside);
    act(SIGUSR1, on_stack, 0);
    send_self(SIGUSR1);
    say("not on it", !on_alternate(rsp_inside));
    say("replace", replace_inside);
    /* That has stuck only if the frame's own stack does not come back. */
    call(SIGALTSTACK, 0, &old, 0);
    say("after", old.flags);
}

/* An overflown stack is told on the other one; without that there is nowhere to tell it. */
static void overflow(void) {
    const struct stack stack = { (u64)alternate, 0, 0, sizeof alternate };
    for (int how = 0; how < 2; how++) {
        const long child = call(FORK, 0, 0, 0);
        if (child == 0) {
            call(SIGALTSTACK, &stack, 0, 0);
            act(SIGSEGV, catch, how == 0 ? SA_ONSTACK : 0);
            go_on = &&out;
            __asm__ goto("mov $0x1000, %%rsp\npush %%rax" ::: "memory" : out);
            leave(1);
        out:
            __asm__ volatile("mov %0, %%rsp" ::"r"(alternate + 8192));
            leave(42);
        }
        say_hex("status", (u64)wait_for(child, 0) & 0xff7f);
    }
    /* A handler's frame with nowhere to go. */
    const long child = call(FORK, 0, 0, 0);
    if (child == 0) {
        act(SIGUSR1, note, 0);
        const long me = call(GETPID, 0, 0, 0);
        __asm__ volatile("mov $0x1000, %%rsp\nsyscall\nmov $60, %%eax\nmov $1, %%edi\nsyscall" ::"a"(KILL), "D"(me), "S"(SIGUSR1));
    }
    say_hex("status", (u64)wait_for(child, 0) & 0x7f);
}

static void clobber(int signal, struct info *info, struct context *context) {
    (void)signal, (void)info, (void)context;
    __asm__ volatile(".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\nxorps %%xmm\\i, %%xmm\\i\n.endr\nfldz" ::: "memory");
    count++;
}

static void change(int signal, struct info *info, struct context *context) {
    (void)signal, (void)info;
    /* xmm7 in the area of FXSAVE, and a register. */
    *(u64 *)(context->fpstate + 160 + 7 * 16) = 0x1122334455667788;
    context->r12 = 0x1234;
}

static void vectors(void) {
    static u64 before[32], after[32];
    for (int i = 0; i < 32; i++) before[i] = 0x0101010101010101UL * (u64)(i + 1);
    const long me = call(GETPID, 0, 0, 0);
    for (int round = 0; round < 2; round++) {
        act(SIGUSR1, round == 0 ? clobber : change, 0);
        u64 r12;
        __asm__ volatile(
            "mov $7, %%r12d\n"
            ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\nmovups \\i*16(%3), %%xmm\\i\n.endr\n"
            "syscall\n"
            ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\nmovups %%xmm\\i, \\i*16(%4)\n.endr\n"
            "mov %%r12, %0\n"
            : "=r"(r12)
            : "a"(KILL), "D"(me), "r"(before), "r"(after), "S"(SIGUSR1)
            : "rcx", "r11", "r12", "memory");
        int changed = 0;
        for (int i = 0; i < 32; i++) changed += before[i] != after[i];
        say("changed", changed);
        say_hex("xmm7", after[14]);
        say_hex("r12", r12);
    }
    unsigned short control = 0;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    say_hex("x87", control);
}

/* What a handler returns to is checked: nothing comes of it but a fault of the program's own. */
static int forgery;

static void forge(int signal, struct info *info, struct context *context) {
    (void)signal, (void)info;
    switch (forgery) {
    case 0: context->rip = 0x800000000000; break;
    case 1: context->rip = 0xffffffff80200000; break;
    case 2: context->cs = 0x08; break;
    case 3: context->ss = 0x10; break;
    case 4: *(unsigned *)(context->fpstate + 24) = 0xffffffff; break;
    case 5: *(u64 *)(context->fpstate + 512) = ~0UL; break;
    case 6: *(u64 *)(context->fpstate + 520) = 1; break;
    case 7: context->fpstate = (unsigned char *)0xffff800000000000; break;
    case 8: context->rflags |= 0x3000 | 0x4000 | 0x20000 | 0x100000; break; /* IOPL NT VM VIP */
    case 9: context->rflags &= ~0x200UL; break;                             /* IF */
    case 10: context->fpstate = 0; break;
    case 11: *(unsigned *)(context->fpstate + 464) = 0; break;
    case 12: context->mask = ~0UL; break;
    case 13: context->stack.flags = 77; break;
    case 14: __asm__ volatile("mov $0x1000, %%rsp\nmov $15, %%eax\nsyscall" ::: "memory"); break;
    }
}

static void forged(void) {
    for (forgery = 0; forgery < 15; forgery++) {
        say("forgery", forgery);
        const long child = call(FORK, 0, 0, 0);
        if (child == 0) {
            act(SIGUSR1, forge, 0);
            send_self(SIGUSR1);
            u64 flags;
            __asm__ volatile("pushf\npop %0" : "=r"(flags));
            if (flags & 0x3000) leave(2);
            if (!(flags & 0x200)) leave(3);
            if (masked() & (BIT(SIGKILL) | BIT(SIGSTOP))) leave(4);
            leave(42);
        }
        say_hex("status", (u64)wait_for(child, 0) & 0xff7f);
    }
}

/* A child that sends `signal` to us after a moment, and ends. */
static long sender(int signal, int times) {
    const long me = call(GETPID, 0, 0, 0), child = call(FORK, 0, 0, 0);
    if (child) return child;
    for (int i = 0; i < times; i++) nap(50), send(me, signal);
    nap(50);
    leave(7);
}

static void interrupted(void) {
    struct timespec time = { 5, 0 }, left = { -1, -1 };
    act(SIGUSR1, note, SA_RESTART);
    long child = sender(SIGUSR1, 1);
    say("sleep", call(NANOSLEEP, &time, &left, 0));
    say("left", left.seconds == 4 && left.nanos > 0);
    say("child", wait_for(child, 0) >> 8);
    act(SIGUSR1, note, 0);
    child = sender(SIGUSR1, 1);
    say("wait", wait_for(child, 0));
    say("child", wait_for(child, 0) >> 8);
    act(SIGUSR1, note, SA_RESTART);
    child = sender(SIGUSR1, 3);
    say("wait again", wait_for(child, 0) >> 8);
    act(SIGUSR1, note, 0);
    child = sender(SIGUSR1, 1);
    say("pause", call(PAUSE, 0, 0, 0));
    wait_for(child, 0);
    /* Ignored signals interrupt nothing. */
    dispose(SIGUSR1, SIG_IGN);
    child = sender(SIGUSR1, 2);
    say("ignored", wait_for(child, 0) >> 8);
}

static void suspended(void) {
    const u64 none = 0, usr1 = BIT(SIGUSR1);
    const struct timespec no_time = { 0, 0 }, moment = { 0, 30000000 };
    struct info info;
    act(SIGUSR1, nested, SA_RESETHAND);
    depth = 3;
    mask(SIG_BLOCK, usr1 | BIT(SIGUSR2));
    send_self(SIGUSR1);
    say("suspend", call(RT_SIGSUSPEND, &none, 8, 0));
    say_hex("inside", mask_inside);
    say_hex("after", masked());
    say("nothing", call6(RT_SIGTIMEDWAIT, (u64)&usr1, 0, (u64)&no_time, 8, 0, 0));
    say("later", call6(RT_SIGTIMEDWAIT, (u64)&usr1, 0, (u64)&moment, 8, 0, 0));
    send_self(SIGUSR1);
    say("bad place", call6(RT_SIGTIMEDWAIT, (u64)&usr1, 8, (u64)&no_time, 8, 0, 0));
    call6(RT_SIGTIMEDWAIT, (u64)&usr1, 0, (u64)&no_time, 8, 0, 0);
    send_self(SIGUSR1);
    say("taken", call6(RT_SIGTIMEDWAIT, (u64)&usr1, (u64)&info, (u64)&no_time, 8, 0, 0));
    say("its code", info.code);
    say_hex("pending", waiting());
    const long child = sender(SIGUSR1, 1);
    say("waited", call6(RT_SIGTIMEDWAIT, (u64)&usr1, (u64)&info, 0, 8, 0, 0));
    say("from child", info.of.who.pid == child);
    wait_for(child, 0);
}

enum { GETITIMER = 36, ALARM = 37, SETITIMER = 38, SIGALRM = 14, RT_SIGQUEUEINFO = 129 };

static void alarms(void) {
    struct { long every[2], left[2]; } timer = { { 0, 20000 }, { 0, 20000 } }, old = { { 9, 9 }, { 9, 9 } };
    act(SIGALRM, note, 0);
    say("first", call(SETITIMER, 0, &timer, &old));
    say("none before", old.left[0] == 0 && old.left[1] == 0 && old.every[1] == 0);
    for (int i = 0; i < 3; i++) call(PAUSE, 0, 0, 0);
    say("three", count >= 3);
    say("code", seen_code);
    timer.every[1] = timer.left[1] = 0;
    call(SETITIMER, 0, &timer, &old);
    say("interval", old.every[1]);
    const long seen = count;
    nap(60);
    say("stopped", count == seen);
    say("alarm", call(ALARM, 100, 0, 0));
    say("left", call(ALARM, 0, 0, 0));
    say("none", call(ALARM, 0, 0, 0));
    /* An interval shorter than a tick and the longest one leave time for everybody else. */
    for (int i = 0; i < 2; i++) {
        const long before = count;
        timer.every[0] = i == 0 ? 0 : 0x7fffffffffffffff;
        timer.every[1] = i == 0 ? 1000 : 0;
        timer.left[1] = 1;
        say("interval", call(SETITIMER, 0, &timer, 0));
        nap(60);
        say("rang", count > before);
    }
    timer.every[0] = 0;
    timer.left[1] = 1000000;
    say("micros", call(SETITIMER, 0, &timer, 0));
    say("which", call(SETITIMER, 3, &timer, 0));
    say("bad", call(SETITIMER, 0, 8, 0));
    say("bad old", call(GETITIMER, 0, 8, 0));
    /* A child has none. */
    call(ALARM, 100, 0, 0);
    const long child = call(FORK, 0, 0, 0);
    if (child == 0) leave((int)call(ALARM, 0, 0, 0));
    say("of a child", wait_for(child, 0));
}

static void queue_note(int signal, struct info *info, struct context *context) {
    (void)context;
    say("signal", signal);
    say("code", info->code);
    say("from", info->of.who.pid);
    say("value", (long)info->of.words[1]);
}

static void queued(void) {
    struct info info = { .code = -1 };
    const long me = call(GETPID, 0, 0, 0);
    act(SIGRT, queue_note, 0);
    mask(SIG_BLOCK, BIT(SIGRT));
    for (int i = 1; i <= 3; i++) {
        info.of.who.pid = 1000 + i;
        info.of.words[1] = (u64)(70 + i);
        say("queue", call(RT_SIGQUEUEINFO, me, SIGRT, &info));
    }
    mask(SIG_UNBLOCK, BIT(SIGRT));
    info.code = 0;
    say("as kill", call(RT_SIGQUEUEINFO, call(GETPPID, 0, 0, 0), 0, &info));
    say("bad", call(RT_SIGQUEUEINFO, me, SIGRT, 8));
    say("nobody", call(RT_SIGQUEUEINFO, 0x7ffffff0, SIGRT, &info) < 0);
}

static const struct { const char *name; void (*run)(void); } parts[] = {
    { "alarms", alarms }, { "queued", queued },
    { "told", told }, { "refused", refused }, { "blocked", blocked }, { "nesting", nesting }, { "faults", faults },
    { "unhandled", unhandled }, { "altstack", altstack }, { "overflow", overflow }, { "vectors", vectors },
    { "forged", forged }, { "interrupted", interrupted }, { "suspended", suspended },
};

__attribute__((used)) static void begin(u64 *stack) {
    for (u64 i = 0; i < sizeof parts / sizeof *parts; i++)
        if (same((const char *)stack[2], parts[i].name)) {
            parts[i].run();
            print("done\n");
            leave(0);
        }
    leave(2);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
