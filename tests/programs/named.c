/* What only a person's program may do: change the console, make a file in /bin, answer an ask for the person. */
#include "raw.h"

enum { IOCTL = 16, FORK = 57, WAIT4 = 61, UNLINK = 87, TCGETS = 0x5401, TCSETS = 0x5402, AGENT_ANSWER = 0x1039 };
enum { MAKE = 0101 }; /* O_WRONLY | O_CREAT */

static void tell(const char *what, long result) {
    print(what);
    print(": ");
    print_number(result);
    print("\n");
}

void _start(void) {
    char modes[64];
    call(IOCTL, 1, TCGETS, modes);
    tell("console changed", call(IOCTL, 1, TCSETS, modes));
    tell("file in /bin", call(OPEN, "/bin/mine", MAKE, 0644));
    tell("answered", call(AGENT_ANSWER, 0, "yes", 3));
    if (call(FORK, 0, 0, 0) == 0) {
        tell("file of a child", call(OPEN, "/bin/mine", MAKE, 0644));
        leave(0);
    }
    call(WAIT4, -1, 0, 0);
    call(UNLINK, "/bin/mine", 0, 0);
    leave(0);
}
