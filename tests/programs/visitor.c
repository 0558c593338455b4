/* What an agent brings along: does what each line of its input says, until one makes it crash. */
#include "signal.h"

static char line[128], answer[64];

/* The next line without its line feed; how long it is, or -1 at the end. */
static long read_line(void) {
    for (u64 at = 0; at < sizeof line - 1; at++) {
        if (call(READ, 0, &line[at], 1) != 1) return -1;
        if (line[at] != '\n') continue;
        line[at] = 0;
        return (long)at;
    }
    return -1;
}

static void ask(void) {
    const struct askr_bytes choices[] = { askr_string("stay"), askr_string("leave") };
    const struct askr_pair context[] = { { askr_string("weather"), askr_string("\033[31mstorm\033[0m") } };
    struct askr_ask asked = askr_question("stay or leave?", answer, sizeof answer - 1);
    asked.timeout_ms = 300000;
    askr_choices(&asked, choices, 2);
    askr_context(&asked, context, 1);
    askr_default(&asked, "leave");
    if (askr_agent_ask(&asked)) leave(3);
    answer[asked.answer_len] = 0;
    print(askr_decider_name(asked.decider));
    print(" says ");
    print(answer);
    print("\n");
}

/* Writes where nothing is, with a known value at hand. */
static void crash(void) {
    __asm__ volatile("mov $0x5eed, %%ebx\nmovl $1, 0x123000" : : : "rbx", "memory");
}

void _start(void) {
    print("here\n");
    while (read_line() >= 0) {
        switch (line[0]) {
        case 'a': ask(); break;
        case 'c': crash(); break;
        default: print(line); print("!\n");
        }
    }
    leave(0);
}
