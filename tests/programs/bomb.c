/* A fork bomb: every process of it makes as many others as it can, for ever, and the first one says when it is refused. With
   an argument they also write to a MiB of memory each. */
#include "raw.h"

enum { FORK = 57 };

static volatile char block[1 << 20];

__attribute__((used)) static void begin(u64 *stack) {
    const int large = stack[0] > 1;
    int first = 1;
    for (;;) {
        const long pid = call(FORK, 0, 0, 0);
        if (pid == 0) first = 0;
        if (pid == 0 && large)
            for (u64 i = 0; i < sizeof block; i += 4096) block[i] = 1;
        if (pid < 0 && first) {
            print("refused\n");
            first = 0;
        }
    }
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
