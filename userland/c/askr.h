/*
 * What only Askr has, for programs in C: asking the agent on the host. docs/syscalls.md has the whole description of the
 * call. This file is all there is to it: no library, and it works with a C library and without.
 *
 *     char answer[1024];
 *     struct askr_ask ask = askr_question("may I?", answer, sizeof answer);
 *     ask.timeout_ms = 10000;
 *     askr_default(&ask, "no");
 *     int error = askr_agent_ask(&ask);
 *     if (error == 0)
 *         printf("%s said %.*s\n", askr_decider_name(ask.decider), (int)ask.answer_len, answer);
 *
 * Linux's calls are called as on Linux; without a C library with askr_syscall and the numbers of <asm/unistd.h>.
 */
#ifndef ASKR_H
#define ASKR_H

#include <stddef.h>
#include <stdint.h>

/* The numbers of the calls. */
#define ASKR_SYS_AGENT_ASK 0x1038
#define ASKR_SYS_AGENT_ANSWER 0x1039

/* Bytes of the longest question. */
#define ASKR_QUESTION_MAX 256
/* Bytes of the longest answer that reaches a program, and of the longest default. */
#define ASKR_ANSWER_MAX 4096
/* Most choices, and bytes of the longest. */
#define ASKR_CHOICES_MAX 16
#define ASKR_CHOICE_MAX 64
/* Most pairs of context, and bytes of the longest key. */
#define ASKR_CONTEXT_MAX 16
#define ASKR_CONTEXT_KEY_MAX 64
/* How long askr_question waits for an answer, in milliseconds. */
#define ASKR_TIMEOUT_MS 60000

/* Values of `intent`. */
#define ASKR_INTENT_GENERIC 0
#define ASKR_INTENT_NATURAL_LANGUAGE 1

/* Values of `decider`: who decided. */
#define ASKR_DECIDER_NOBODY 0  /* never where the call returned 0 */
#define ASKR_DECIDER_AGENT 1   /* the agent on COM2 */
#define ASKR_DECIDER_HUMAN 2   /* a person at COM1 */
#define ASKR_DECIDER_DEFAULT 3 /* nobody: the answer is the program's default, and `reason` says why */

/* Any bytes. */
struct askr_bytes {
    const void *address;
    uint64_t length;
};

/* Something that helps to answer: what it is, and what it says. */
struct askr_pair {
    struct askr_bytes key;
    struct askr_bytes value;
};

/* The block of the call. All of it that is not set must be 0. */
struct askr_ask {
    uint32_t intent;            /* in: ASKR_INTENT_* */
    uint32_t timeout_ms;        /* in: how long to wait, at least 1 */
    const void *question;       /* in: any bytes */
    uint64_t question_len;      /* in: 1 to ASKR_QUESTION_MAX */
    void *answer;               /* in: room for the answer, which gets no NUL */
    uint64_t answer_cap;        /* in: size of that room, may be 0 */
    const void *default_answer; /* in: the answer when nobody decides, NULL for none */
    uint64_t default_len;       /* in: at most ASKR_ANSWER_MAX */
    uint32_t decider;           /* out: ASKR_DECIDER_* */
    uint32_t reason;            /* out: with a default the error that the call would have had, else 0 */
    uint64_t answer_len;        /* out: bytes of `answer` that were written */
    uint64_t answer_total;      /* out: length of the whole answer; more than answer_len if it was cut */
    const struct askr_bytes *choices; /* in: the answers that are taken; any without them */
    uint64_t choices_count;           /* in: at most ASKR_CHOICES_MAX */
    const struct askr_pair *context;  /* in: what helps to answer */
    uint64_t context_count;           /* in: at most ASKR_CONTEXT_MAX */
};

/* A system call with up to six arguments. Returns what the kernel does: -1 to -4095 is a negative error number. */
static inline long askr_syscall(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* A plain question, a string; `answer` has room for `room` bytes. */
static inline struct askr_ask askr_question(const char *question, void *answer, size_t room) {
    struct askr_ask ask = {0};
    ask.timeout_ms = ASKR_TIMEOUT_MS;
    ask.question = question;
    while (question[ask.question_len] != 0) ask.question_len++;
    ask.answer = answer;
    ask.answer_cap = room;
    return ask;
}

/* The answer to use when nobody decides, a string. */
static inline void askr_default(struct askr_ask *ask, const char *answer) {
    ask->default_answer = answer;
    ask->default_len = 0;
    while (answer[ask->default_len] != 0) ask->default_len++;
}

/* A string as bytes. */
static inline struct askr_bytes askr_string(const char *text) {
    struct askr_bytes bytes = {text, 0};
    while (text[bytes.length] != 0) bytes.length++;
    return bytes;
}

/* The answers that are taken, which must live as long as `ask`. */
static inline void askr_choices(struct askr_ask *ask, const struct askr_bytes *choices, uint64_t count) {
    ask->choices = choices;
    ask->choices_count = count;
}

/* What helps to answer; it must live as long as `ask`. */
static inline void askr_context(struct askr_ask *ask, const struct askr_pair *pairs, uint64_t count) {
    ask->context = pairs;
    ask->context_count = count;
}

/*
 * Asks and waits. Returns 0 if there is an answer, else an error number (of <errno.h>): EAGAIN (no agent is attached, or
 * too many questions wait), ETIMEDOUT, EACCES (the agent refused), EINTR (a signal came first), EINVAL, E2BIG, EFAULT,
 * ENOMEM, ENOSYS (this kernel is not Askr's). `errno` is not touched.
 */
static inline int askr_agent_ask(struct askr_ask *ask) {
    return (int)-askr_syscall(ASKR_SYS_AGENT_ASK, (long)ask, (long)sizeof *ask, 0, 0, 0, 0);
}

/*
 * Answers the ask with this number, as /proc/asks shows it, for the person at the console. Returns 0 if the answer is taken,
 * else an error number: ENOENT (there was no such ask), ESTALE (it was settled before), EINVAL (it has choices, and this is
 * none of them), EPERM (only what a person runs in the foreground of the console may), E2BIG, EFAULT, ENOMEM.
 */
static inline int askr_agent_answer(uint32_t number, const void *answer, size_t length) {
    return (int)-askr_syscall(ASKR_SYS_AGENT_ANSWER, (long)number, (long)answer, (long)length, 0, 0, 0);
}

/* A word for who decided. */
static inline const char *askr_decider_name(uint32_t decider) {
    switch (decider) {
    case ASKR_DECIDER_AGENT: return "agent";
    case ASKR_DECIDER_HUMAN: return "human";
    case ASKR_DECIDER_DEFAULT: return "default";
    default: return "nobody";
    }
}

#endif
