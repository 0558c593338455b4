/* Calls that do not exist. */
#include "raw.h"

void _start(void) {
    static const u64 numbers[] = { 41, 41, 511, 512, 0x1037, 0x103a, 0x1040, 1ul << 31, 1ul << 32, 1ul << 63, ~0ul };
    int wrong = 0;
    for (u64 i = 0; i < sizeof numbers / sizeof *numbers; i++) wrong += call(numbers[i], 0, 0, 0) != ENOSYS;
    print(wrong ? "WRONG\n" : "all of them ENOSYS\n");
    leave(wrong);
}
