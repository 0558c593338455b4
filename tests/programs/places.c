/* Faults in a function that another one calls: each is a place with a name and a line. */
#include "raw.h"

static __attribute__((noinline)) void lead_astray(volatile long *where) {
    print("going\n");
    *where = 1;
    print("not reached\n");
}

void _start(void) {
    lead_astray((long *)8);
    leave(0);
}
