/* Restarts the machine at once, as a guest that cannot stay up does. */
#include "raw.h"

enum { REBOOT = 169 };

__attribute__((noreturn)) void _start(void) {
    call(REBOOT, 0xfee1dead, 672274793, 0x01234567);
    call(EXIT, 1, 0, 0);
    __builtin_unreachable();
}
