/* Time, identity, randomness, the machine, and calls that do not exist. */
#include "conformance.h"

#include <sys/utsname.h>

static long long now(int clock) {
    struct timespec time = { 0, 0 };
    call(SYS_clock_gettime, clock, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void clocks(void) {
    struct timespec time;
    is("clock_gettime of CLOCK_REALTIME", call(SYS_clock_gettime, CLOCK_REALTIME, &time));
    holds("after 2020 and before 2100", time.tv_sec > 1577836800 && time.tv_sec < 4102444800);
    is("clock_gettime of CLOCK_MONOTONIC", call(SYS_clock_gettime, CLOCK_MONOTONIC, &time));
    holds("nanoseconds of a second", time.tv_nsec >= 0 && time.tv_nsec < 1000000000);
    is("clock_gettime of CLOCK_BOOTTIME", call(SYS_clock_gettime, CLOCK_BOOTTIME, &time));
    is("clock_gettime of clock 99", call(SYS_clock_gettime, 99, &time));
    is("clock_gettime of clock -1", call(SYS_clock_gettime, -1, &time));
    long long last = now(CLOCK_MONOTONIC), back = 0;
    for (int i = 0; i < 2000; i++) {
        long long next = now(CLOCK_MONOTONIC);
        back += next < last;
        last = next;
    }
    is("steps back", back);
    struct timeval day;
    is("gettimeofday", call(SYS_gettimeofday, &day, 0));
    long long difference = now(CLOCK_REALTIME) - (day.tv_sec * 1000000000ll + day.tv_usec * 1000ll);
    holds("which is the same time", difference >= -1000 && difference < 10000000000ll);
    long seconds = call(SYS_time, 0), stored = 0;
    holds("time is the same", seconds - day.tv_sec >= 0 && seconds - day.tv_sec < 10);
    holds("time stores it too", call(SYS_time, &stored) == stored);
    is("clock_getres", call(SYS_clock_getres, CLOCK_MONOTONIC, &time));
    holds("a resolution of at most 10 ms", time.tv_sec == 0 && time.tv_nsec > 0 && time.tv_nsec <= 10000000);
    is("clock_getres of clock 99", call(SYS_clock_getres, 99, &time));
}

static void sleeps(const char *name, long seconds, long nanoseconds) {
    const struct timespec time = { seconds, nanoseconds };
    long long before = now(CLOCK_MONOTONIC);
    long got = call(SYS_nanosleep, &time, 0);
    long long slept = now(CLOCK_MONOTONIC) - before;
    if (got < 0) is(name, got);
    else say("%s: %ld, %s", name, got, slept >= seconds * 1000000000ll + nanoseconds ? "long enough" : "too short");
}

static void sleeping(void) {
    sleeps("nanosleep 0", 0, 0);
    sleeps("nanosleep 1 ns", 0, 1);
    sleeps("nanosleep 15 ms", 0, 15000000);
    sleeps("nanosleep 120 ms", 0, 120000000);
    sleeps("nanosleep of a second's nanoseconds", 0, 1000000000);
    sleeps("nanosleep of negative nanoseconds", 0, -1);
    sleeps("nanosleep of negative seconds", -1, 0);
    sleeps("nanosleep of LONG_MIN seconds", LONG_MIN, 0);
    struct timespec time = { 0, 20000000 };
    is("clock_nanosleep", call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, 0));
    is("clock_nanosleep until a past time", call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &time, 0));
    is("clock_nanosleep of clock 99", call(SYS_clock_nanosleep, 99, 0, &time, 0));
    long child;
    int status = 0;
    const struct timespec for_ever = { LONG_MAX, 999999999 };
    CHILD(child) call(SYS_nanosleep, &for_ever, 0);
    nap(30);
    is("who sleeps for ever still does", call(SYS_wait4, child, &status, WNOHANG, 0));
    call(SYS_kill, child, SIGKILL);
    ends("until it is killed", child);
}

static void machine(void) {
    struct utsname name;
    is("uname", call(SYS_uname, &name));
    say("machine: %s", name.machine);
    holds("a name", name.sysname[0] && name.nodename[0] && name.release[0] && name.version[0]);
    is("sched_yield", call(SYS_sched_yield));
    holds("set_tid_address", call(SYS_set_tid_address, &name) == call(SYS_getpid));
}

static void randomness(void) {
    unsigned char bytes[600], other[600];
    memset(bytes, 0, sizeof bytes);
    is("getrandom", call(SYS_getrandom, bytes, 256, 0));
    is("getrandom without waiting", call(SYS_getrandom, other, 256, 1));
    holds("differs", memcmp(bytes, other, 256));
    int ones = 0;
    for (int i = 0; i < 256; i++) ones += __builtin_popcount(bytes[i]);
    holds("about half of its bits are set", ones > 850 && ones < 1200);
    is("getrandom of nothing", call(SYS_getrandom, bytes, 0, 0));
    is("getrandom of 600 bytes", call(SYS_getrandom, bytes, 600, 0));
    is("getrandom with a flag that nobody knows", call(SYS_getrandom, bytes, 8, 1 << 10));
    is("getrandom with flags that exclude each other", call(SYS_getrandom, bytes, 8, 6));
}

static void thread_area(void) {
    unsigned long base = 0, again = 0;
    is("arch_prctl to read FS", call(SYS_arch_prctl, 0x1003, &base));
    holds("which the C library has set", base != 0);
    is("arch_prctl to set FS", call(SYS_arch_prctl, 0x1002, base));
    call(SYS_arch_prctl, 0x1003, &again);
    holds("it is the same", base == again);
    is("arch_prctl with FS in the kernel", call(SYS_arch_prctl, 0x1002, 0xffff800000000000));
    is("arch_prctl with FS that is not canonical", call(SYS_arch_prctl, 0x1002, 0x800000000000));
    is("arch_prctl with a code that nobody knows", call(SYS_arch_prctl, 0x7777, &base));
}

static void no_such_calls(void) {
    static const long numbers[] = { 500, 511, 512, 1000, 0x1000, 0x1037, 1l << 31, -1 };
    char name[40];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(name, sizeof name, "call %ld", numbers[i]);
        is(name, call(numbers[i], 1, 2, 3));
    }
}

static void checks(int argc, char **argv) {
    (void)argc, (void)argv;
    clocks();
    sleeping();
    machine();
    randomness();
    thread_area();
    no_such_calls();
}
