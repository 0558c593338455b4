/* Gives the kernel every kind of bad pointer in every argument that is one. Prints what did not end in EFAULT. */
#include "raw.h"

static int wrong;
static char buffer[4096];

static void expect(const char *what, u64 pointer, long wanted, long got) {
    if (got == wanted) return;
    wrong++;
    print("WRONG: ");
    print(what);
    print(" with pointer ");
    for (int shift = 60; shift >= 0; shift -= 4) {
        char digit = "0123456789abcdef"[pointer >> shift & 15];
        call(WRITE, 1, &digit, 1);
    }
    print(" gave ");
    print_number(got);
    print("\n");
}

/* An ask block with all pointers good; nobody is attached, so the good one ends in EAGAIN. */
struct ask {
    unsigned intent, timeout_ms;
    u64 question, question_len, answer, answer_cap, fallback, fallback_len, out[3];
};

static struct ask ask_block(void) {
    struct ask ask = { .timeout_ms = 1000, .question = (u64) "why?", .question_len = 4, .answer = (u64)buffer,
                       .answer_cap = sizeof buffer };
    return ask;
}

static void try_ask(u64 bad) {
    expect("agent_ask(block)", bad, EFAULT, call(AGENT_ASK, bad, 80, 0));
    struct ask ask = ask_block();
    ask.question = bad;
    expect("agent_ask(question)", bad, EFAULT, call(AGENT_ASK, &ask, 80, 0));
    ask = ask_block();
    ask.answer = bad;
    expect("agent_ask(answer)", bad, EFAULT, call(AGENT_ASK, &ask, 80, 0));
    ask = ask_block();
    ask.fallback = bad ? bad : 1;
    ask.fallback_len = 16;
    expect("agent_ask(default)", bad, EFAULT, call(AGENT_ASK, &ask, 80, 0));
}

static void try_bad(u64 bad) {
    long fd = call(OPEN, "/proc/version", 0, 0), dir = call(OPEN, "/", 0, 0);
    const char *argv[] = { "x", 0 }, *bad_argv[] = { "x", (const char *)bad, 0 };
    struct { u64 base, length; } piece = { bad, 16 };
    expect("read", bad, EFAULT, call(READ, fd, bad, 16));
    expect("write", bad, EFAULT, call(WRITE, 1, bad, 16));
    expect("writev(vector)", bad, EFAULT, call(WRITEV, 1, bad, 1));
    expect("writev(piece)", bad, EFAULT, call(WRITEV, 1, &piece, 1));
    expect("open", bad, EFAULT, call(OPEN, bad, 0, 0));
    expect("stat(path)", bad, EFAULT, call(STAT, bad, buffer, 0));
    expect("stat(buffer)", bad, EFAULT, call(STAT, "/", bad, 0));
    expect("getdents64", bad, EFAULT, call(GETDENTS64, dir, bad, 4096));
    expect("getcwd", bad, EFAULT, call(GETCWD, bad, 16, 0));
    expect("uname", bad, EFAULT, call(UNAME, bad, 0, 0));
    expect("nanosleep", bad, EFAULT, call(NANOSLEEP, bad, 0, 0));
    expect("clock_gettime", bad, EFAULT, call(CLOCK_GETTIME, 1, bad, 0));
    expect("getrandom", bad, EFAULT, call(GETRANDOM, bad, 16, 0));
    expect("execve(path)", bad, EFAULT, call(EXECVE, bad, argv, 0));
    /* Null is an empty list, and a null in a list is its end. */
    if (bad) {
        expect("execve(argv)", bad, EFAULT, call(EXECVE, "/bin/true", bad, 0));
        expect("execve(argv[1])", bad, EFAULT, call(EXECVE, "/bin/true", bad_argv, 0));
        expect("execve(envp)", bad, EFAULT, call(EXECVE, "/bin/true", argv, bad));
        expect("rt_sigaction", bad, EFAULT, call6(RT_SIGACTION, 2, bad, 0, 8, 0, 0));
    }
    try_ask(bad);
    call(CLOSE, fd, 0, 0);
    call(CLOSE, dir, 0, 0);
}

/* The first page of two is there and the second is not: a pointer to its last byte straddles them. */
static void try_straddling(void) {
    char *pages = (char *)call6(MMAP, 0, 8192, 3, 0x22, -1, 0);
    for (int i = 0; i < 8192; i++) pages[i] = 'x';
    call(MPROTECT, pages + 4096, 4096, 0);
    u64 bad = (u64)pages + 4095;
    try_bad(bad);
    long fd = call(OPEN, "/proc/version", 0, 0);
    expect("read of what still fits", bad, 1, call(READ, fd, bad, 1));
    expect("write of nothing", bad, 0, call(WRITE, 1, bad, 0));
    call(MPROTECT, pages, 4096, 1);
    expect("read into a page that is read-only", (u64)pages, EFAULT, call(READ, fd, pages, 5));
    struct ask ask = ask_block();
    ask.answer = (u64)pages;
    expect("ask into a page that is read-only", (u64)pages, EFAULT, call(AGENT_ASK, &ask, 80, 0));
    call(CLOSE, fd, 0, 0);
}

static void try_absurd_counts(void) {
    static const u64 counts[] = { 1ul << 31, 1ul << 32, 1ul << 63, ~0ul };
    for (u64 i = 0; i < sizeof counts / sizeof *counts; i++) {
        u64 count = counts[i];
        expect("write beyond memory", count, EFAULT, call(WRITE, 1, 0xffff800000000000, count));
        struct ask ask = ask_block();
        ask.question_len = count;
        expect("question of that length", count, E2BIG, call(AGENT_ASK, &ask, 80, 0));
        ask = ask_block();
        ask.fallback = (u64)buffer;
        ask.fallback_len = count;
        expect("default of that length", count, E2BIG, call(AGENT_ASK, &ask, 80, 0));
        expect("block of that size", count, E2BIG, call(AGENT_ASK, &ask, count, 0));
    }
}

static void try_wrong_asks(void) {
    struct ask ask = ask_block();
    expect("a good ask", 0, EAGAIN, call(AGENT_ASK, &ask, 80, 0));
    expect("a block that is too small", 79, EINVAL, call(AGENT_ASK, &ask, 79, 0));
    ask.timeout_ms = 0;
    expect("no timeout", 0, EINVAL, call(AGENT_ASK, &ask, 80, 0));
    ask = ask_block();
    ask.intent = 2;
    expect("an intent that nobody knows", 2, EINVAL, call(AGENT_ASK, &ask, 80, 0));
    ask = ask_block();
    ask.question_len = 0;
    expect("an empty question", 0, EINVAL, call(AGENT_ASK, &ask, 80, 0));
    static struct { struct ask ask; char tail[16]; } longer;
    longer.ask = ask_block();
    expect("a longer block with a tail of zeros", 96, EAGAIN, call(AGENT_ASK, &longer, 96, 0));
    longer.tail[15] = 1;
    expect("a longer block with something in its tail", 96, E2BIG, call(AGENT_ASK, &longer, 96, 0));
}

void _start(void) {
    static const u64 bad[] = {
        0, 1, 0xfff, 0x10000,                                            /* never mapped */
        0x7ffffffffff8, 0x7fffffffffff,                                  /* the end of the lower half */
        0x800000000000, 0x8000000000000000, 0xffff7fffffffffff,          /* not canonical */
        0xffff800000000000, 0xffffffff80000000, 0xffffffff80200000,      /* the kernel's half */
        0xfffffffffffffff8, 0xffffffffffffffff,                          /* wraps around */
    };
    for (u64 i = 0; i < sizeof bad / sizeof *bad; i++) try_bad(bad[i]);
    try_straddling();
    try_absurd_counts();
    try_wrong_asks();
    print(wrong ? "pointers went WRONG\n" : "all pointers were refused\n");
    leave(wrong != 0);
}
