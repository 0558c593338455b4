/*
 * Sleeps ten milliseconds at a time until the file /tmp/stop is there, and tells how late it woke by the guest's own clock:
 * the worst time and the median, in microseconds.
 */
#include "raw.h"

enum { ROUNDS_MAX = 65536, CLOCK_MONOTONIC = 1 };

struct time {
    long sec, nsec;
};

static long late[ROUNDS_MAX];

static long now(void) {
    struct time time;
    call(CLOCK_GETTIME, CLOCK_MONOTONIC, &time, 0);
    return time.sec * 1000000 + time.nsec / 1000;
}

static void sort(long *items, long count) {
    for (long gap = count / 2; gap > 0; gap /= 2)
        for (long i = gap; i < count; i++)
            for (long j = i; j >= gap && items[j - gap] > items[j]; j -= gap) {
                long item = items[j];
                items[j] = items[j - gap];
                items[j - gap] = item;
            }
}

void _start(void) {
    struct time pause = { 0, 10000000 };
    char facts[256];
    long count = 0;
    while (count < ROUNDS_MAX && call(STAT, "/tmp/stop", facts, 0) < 0) {
        long before = now();
        call(NANOSLEEP, &pause, 0, 0);
        late[count++] = now() - before - 10000;
    }
    sort(late, count);
    print("rounds ");
    print_number(count);
    print(" worst ");
    print_number(count ? late[count - 1] : 0);
    print(" median ");
    print_number(count ? late[count / 2] : 0);
    print("\n");
    leave(0);
}
