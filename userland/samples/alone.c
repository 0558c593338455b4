/* A program without a C library: shows its arguments, and asks the agent if it is told what. */
#include <askr.h>
#include <asm/unistd.h>

static size_t length(const char *text) {
    size_t n = 0;
    while (text[n] != 0) n++;
    return n;
}

static void print_bytes(const char *bytes, size_t count) {
    askr_syscall(__NR_write, 1, (long)bytes, (long)count, 0, 0, 0);
}

static void print(const char *text) {
    print_bytes(text, length(text));
}

int main(int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        print(argv[i]);
        print("\n");
    }
    if (argc < 2) {
        print("usage: alone QUESTION\n");
        return 2;
    }
    char answer[1024];
    struct askr_ask ask = askr_question(argv[1], answer, sizeof answer);
    askr_default(&ask, "nobody knows");
    if (askr_agent_ask(&ask) != 0) return 1;
    print(askr_decider_name(ask.decider));
    print(": ");
    print_bytes(answer, ask.answer_len);
    print("\n");
    return 0;
}
