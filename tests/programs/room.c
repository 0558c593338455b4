/* Asks with little room for the answer. */
#include "raw.h"

void _start(void) {
    char room[8] = "12345678";
    struct {
        unsigned intent, timeout_ms;
        u64 question, question_len, answer, answer_cap, fallback, fallback_len;
        unsigned decider, reason;
        u64 answer_len, answer_total;
    } ask = { .timeout_ms = 60000, .question = (u64) "why?", .question_len = 4, .answer = (u64)room, .answer_cap = 6 };
    print("result ");
    print_number(call(AGENT_ASK, &ask, sizeof ask, 0));
    print(": ");
    print_number((long)ask.answer_len);
    print(" of ");
    print_number((long)ask.answer_total);
    print(" bytes: ");
    call(WRITE, 1, room, 6);
    print(room[6] == '7' && room[7] == '8' ? "\n" : " AND BEYOND\n");
    leave(0);
}
