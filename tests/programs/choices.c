/* Asks with choices and context, right and wrong, with blocks of every size. */
#include "raw.h"

static struct askr_ask ask;
static char answer[64];

static void try(const char *what, u64 size) {
    print(what);
    print(" ");
    print_number(call(AGENT_ASK, &ask, size, 0));
    print("\n");
}

static void begin_again(void) {
    ask = askr_question("which?", answer, sizeof answer);
}

void _start(void) {
    struct askr_bytes choices[17];
    struct askr_pair pairs[17];
    char letters[17], large[1100];
    for (int i = 0; i < 17; i++) {
        letters[i] = (char)('a' + i);
        choices[i] = (struct askr_bytes){&letters[i], 1};
        pairs[i] = (struct askr_pair){choices[i], choices[i]};
    }
    for (unsigned i = 0; i < sizeof large; i++) large[i] = 'x';
    begin_again();
    askr_choices(&ask, choices, 17);
    try("17 choices", sizeof ask);
    askr_choices(&ask, choices, 3);
    choices[2].length = 0;
    try("an empty one", sizeof ask);
    choices[2] = choices[0];
    try("one twice", sizeof ask);
    choices[2] = (struct askr_bytes){large, 65};
    try("a long one", sizeof ask);
    choices[2] = (struct askr_bytes){(void *)1, 5};
    try("one nowhere", sizeof ask);
    askr_choices(&ask, (void *)0xffff800000000000, 1);
    try("all nowhere", sizeof ask);
    askr_choices(&ask, choices, 2);
    askr_context(&ask, pairs, 17);
    try("17 pairs", sizeof ask);
    askr_context(&ask, pairs, 2);
    pairs[1].value = (struct askr_bytes){large, 1020};
    try("a large pair", sizeof ask);
    pairs[1].key = pairs[0].key;
    try("a key twice", sizeof ask);
    pairs[1] = (struct askr_pair){askr_string("note"), askr_string("two\nlines")};
    try("a size between", 96);
    askr_default(&ask, "b");
    try("asked", sizeof ask);
    print(askr_decider_name(ask.decider));
    print(" ");
    call(WRITE, 1, answer, ask.answer_len);
    print("\n");
    begin_again();
    try("the first version", 80);
    call(WRITE, 1, answer, ask.answer_len);
    print("\n");
    leave(0);
}
