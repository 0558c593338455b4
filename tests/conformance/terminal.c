/*
 * The terminal: modes, groups, who may read and write, what is typed.
 *
 * On Linux the test gives the path of a pseudo terminal, and the program plays the shell: it takes the terminal and
 * starts itself as the foreground job. In Askr the shell has done that. A line `type: 0a0b` asks whoever drives the
 * terminal to type these bytes.
 */
#include "conformance.h"

#include <sys/ioctl.h>

/* As the kernel has it; the C library's is another. */
struct modes {
    unsigned input, output, control, local;
    unsigned char line, characters[19];
};

enum { READ_MODES = 0x5401, SET_MODES, SET_MODES_AFTER, SET_MODES_FORGET };
enum { CANONICAL = 2, ECHOES = 8, SIGNALS = 1, STOPS = 0x100 };
enum { VINTR_AT = 0, VERASE_AT = 2, VEOF_AT = 4, VTIME_AT, VMIN_AT, VSUSP_AT = 10 };

static struct modes ordinary;
static int status;
static char text[256];

static long set_modes(const struct modes *modes) { return call(SYS_ioctl, 0, SET_MODES, modes); }

static void set_local(unsigned clear, unsigned set) {
    struct modes modes = ordinary;
    modes.local = (modes.local & ~clear) | set;
    set_modes(&modes);
}

static void type(const char *bytes) {
    char hex[64];
    int at = 0;
    for (; *bytes; bytes++) at += snprintf(hex + at, sizeof hex - at, "%02x", *bytes);
    hex[at] = 0;
    say("type: %s", hex);
}

static void about_it(void) {
    struct stat facts;
    is("TCGETS", call(SYS_ioctl, 0, READ_MODES, &ordinary));
    say("lines %d, echo %d, signals %d", !!(ordinary.local & CANONICAL), !!(ordinary.local & ECHOES), !!(ordinary.local & SIGNALS));
    say("output is converted %d, CR is NL %d", ordinary.output & 1, !!(ordinary.input & 0x100));
    say("characters: %x %x %x %x", ordinary.characters[VINTR_AT], ordinary.characters[VERASE_AT],
        ordinary.characters[VEOF_AT], ordinary.characters[VSUSP_AT]);
    is("fstat", call(SYS_fstat, 0, &facts));
    holds("a character device", S_ISCHR(facts.st_mode));
    is("seek", call(SYS_lseek, 0, 0, SEEK_CUR));
    is("pread", call(SYS_pread64, 0, text, 1, 0));
    is("ftruncate", call(SYS_ftruncate, 0, 0));
    is("fsync", call(SYS_fsync, 0));
    long tty = call(SYS_open, "/dev/tty", O_RDWR);
    works("open /dev/tty", tty);
    int group = 0;
    is("TIOCGPGRP", call(SYS_ioctl, tty, TIOCGPGRP, &group));
    holds("which is this one", group == call(SYS_getpgid, 0));
    is("write to it", call(SYS_write, tty, "\n", 1));
    call(SYS_close, tty);
    struct winsize before, size = { 31, 97, 0, 0 };
    is("TIOCGWINSZ", call(SYS_ioctl, 0, TIOCGWINSZ, &before));
    is("TIOCSWINSZ", call(SYS_ioctl, 0, TIOCSWINSZ, &size));
    size.ws_row = size.ws_col = 0, call(SYS_ioctl, 0, TIOCGWINSZ, &size);
    say("the size is kept: %d %d", size.ws_row, size.ws_col);
    call(SYS_ioctl, 0, TIOCSWINSZ, &before);
}

static void errors(void) {
    static const struct { const char *name; long request; } requests[] = {
        { "TCGETS", READ_MODES }, { "TCSETS", SET_MODES }, { "TCSETSW", SET_MODES_AFTER }, { "TCSETSF", SET_MODES_FORGET },
        { "TIOCGPGRP", TIOCGPGRP }, { "TIOCSPGRP", TIOCSPGRP }, { "TIOCGWINSZ", TIOCGWINSZ }, { "TIOCSWINSZ", TIOCSWINSZ },
        { "FIONREAD", FIONREAD },
    };
    static const struct { const char *how; unsigned long value; } bad[] = {
        { "null", 0 }, { "1", 1 }, { "in the kernel", 0xffff800000000000 }, { "not canonical", 0x8000000000000000 }, { "that wraps", ~0ul },
    };
    char name[64];
    int ends_of[2], group;
    call(SYS_pipe2, ends_of, 0);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        for (size_t j = 0; j < sizeof bad / sizeof *bad; j++) {
            snprintf(name, sizeof name, "%s, pointer %s", requests[i].name, bad[j].how);
            is(name, call(SYS_ioctl, 0, requests[i].request, bad[j].value));
        }
        snprintf(name, sizeof name, "%s of a closed descriptor", requests[i].name);
        is(name, call(SYS_ioctl, 77, requests[i].request, text));
        if (requests[i].request == FIONREAD) continue;
        snprintf(name, sizeof name, "%s of a pipe", requests[i].name);
        is(name, call(SYS_ioctl, ends_of[0], requests[i].request, text));
    }
    call(SYS_close, ends_of[0]), call(SYS_close, ends_of[1]);
    is("a request that nobody knows", call(SYS_ioctl, 0, 0x12345678, text));
    group = -1, is("TIOCSPGRP of -1", call(SYS_ioctl, 0, TIOCSPGRP, &group));
    group = 4000000, is("TIOCSPGRP of who is missing", call(SYS_ioctl, 0, TIOCSPGRP, &group));
    long child;
    int held[2];
    call(SYS_pipe2, held, 0);
    CHILD(child) {
        call(SYS_setsid);
        is("open /dev/tty without one", call(SYS_open, "/dev/tty", O_RDWR));
        is("TIOCGPGRP of another session's", call(SYS_ioctl, 0, TIOCGPGRP, &group));
        call(SYS_write, held[1], "x", 1);
        linger();
    }
    call(SYS_read, held[0], text, 1);
    group = (int)child, is("TIOCSPGRP of another session's group", call(SYS_ioctl, 0, TIOCSPGRP, &group));
    call(SYS_kill, child, SIGKILL);
    ends("the other session", child);
    call(SYS_close, held[0]), call(SYS_close, held[1]);
}

static void modes(void) {
    struct modes now;
    set_local(ECHOES, 0);
    call(SYS_ioctl, 0, READ_MODES, &now);
    is("without ECHO", !!(now.local & ECHOES));
    is("TCSETSW", call(SYS_ioctl, 0, SET_MODES_AFTER, &ordinary));
    is("TCSETSF", call(SYS_ioctl, 0, SET_MODES_FORGET, &ordinary));
    call(SYS_ioctl, 0, READ_MODES, &now);
    is("with ECHO again", !!(now.local & ECHOES));
    struct modes raw = ordinary;
    raw.local &= ~(CANONICAL | ECHOES | SIGNALS), raw.characters[VMIN_AT] = 0, raw.characters[VTIME_AT] = 0;
    is("raw", set_modes(&raw));
    is("read that does not wait", call(SYS_read, 0, text, 10));
    raw.characters[VTIME_AT] = 1;
    set_modes(&raw);
    is("read that waits a tenth of a second", call(SYS_read, 0, text, 10));
    struct pollfd wanted = { 0, POLLIN, 0 };
    is("poll without input", call(SYS_poll, &wanted, 1, 0));
    wanted.events = POLLOUT, is("poll for output", call(SYS_poll, &wanted, 1, -1));
    set_modes(&ordinary);
    int waiting = -1;
    is("FIONREAD", call(SYS_ioctl, 0, FIONREAD, &waiting));
    is("nothing waits", waiting);
    call(SYS_fcntl, 0, F_SETFL, O_RDWR | O_NONBLOCK);
    is("read with O_NONBLOCK", call(SYS_read, 0, text, 10));
    call(SYS_fcntl, 0, F_SETFL, O_RDWR);
}

/* What a background child does, and how it ends or stops. A stopped one is killed. */
static void in_background(const char *name, void (*does)(void)) {
    long child;
    CHILD(child) {
        call(SYS_setpgid, 0, 0);
        does();
    }
    long got;
    do got = call(SYS_wait4, child, &status, WUNTRACED, 0);
    while (got == -EINTR);
    say("%s: %s", name, status_text(status));
    if (!WIFSTOPPED(status)) return;
    call(SYS_kill, child, SIGKILL);
    call(SYS_wait4, child, &status, 0, 0);
}

static void reads(void) { is("read in the background", call(SYS_read, 0, text, 10)); }
static void reads_ignoring(void) { signal(SIGTTIN, SIG_IGN), reads(); }
static void writes(void) { say("what is written: by one in the background"); }
static void writes_again(void) { say("what is written with TOSTOP: by one in the background"); }
static void sets_modes(void) { set_modes(&ordinary); }
static void takes_it(void) {
    int group = (int)call(SYS_getpid);
    call(SYS_ioctl, 0, TIOCSPGRP, &group);
}
static void takes_it_ignoring(void) {
    int group = (int)call(SYS_getpid), mine = (int)call(SYS_getpgid, call(SYS_getppid));
    signal(SIGTTOU, SIG_IGN);
    is("TIOCSPGRP in the background with SIGTTOU ignored", call(SYS_ioctl, 0, TIOCSPGRP, &group));
    is("and back", call(SYS_ioctl, 0, TIOCSPGRP, &mine));
}

static void job_control(void) {
    in_background("a reader in the background", reads);
    in_background("a reader that ignores SIGTTIN", reads_ignoring);
    in_background("a writer in the background", writes);
    in_background("one that sets modes", sets_modes);
    in_background("one that takes the terminal", takes_it);
    in_background("one that takes it and ignores SIGTTOU", takes_it_ignoring);
    set_local(0, STOPS);
    in_background("a writer with TOSTOP", writes_again);
    set_modes(&ordinary);
}

static volatile sig_atomic_t seen;
static void note(int signal) { seen = signal; }

static void typed(const char *name, const char *bytes, long size) {
    type(bytes);
    memset(text, 0, sizeof text);
    long got = call(SYS_read, 0, text, size);
    if (got < 0) return is(name, got);
    char shown[64];
    int at = 0;
    for (long i = 0; i < got && i < 16; i++) at += snprintf(shown + at, sizeof shown - at, " %02x", text[i] & 0xff);
    shown[at] = 0;
    say("%s: %ld,%s", name, got, shown);
}

/* The signal of a key, which is blocked until it is waited for. */
static void typed_signal(const char *name, const char *bytes) {
    unsigned long all = ~0ul, none = 0;
    seen = 0;
    call(SYS_rt_sigprocmask, SIG_SETMASK, &all, 0, 8);
    type(bytes);
    call(SYS_rt_sigsuspend, &none, 8);
    call(SYS_rt_sigprocmask, SIG_SETMASK, &none, 0, 8);
    is(name, seen);
}

static void typing(void) {
    set_local(ECHOES, 0);
    typed("a line", "hello\r", 100);
    typed("the start of a line", "abcdef\r", 3);
    is("its rest", call(SYS_read, 0, text, 100));
    typed("an erased letter", "abX\x7f""c\r", 100);
    typed("an erased line", "abc\x15""d\r", 100);
    typed("the end of the file", "\x04", 100);
    typed("a line that is ended by it", "abc\x04", 100);
    typed("an empty line", "\r", 100);
    struct pollfd wanted = { 0, POLLIN, 0 };
    type("x\r");
    is("poll waits for a line", call(SYS_poll, &wanted, 1, -1));
    int waiting = 0;
    call(SYS_ioctl, 0, FIONREAD, &waiting);
    is("FIONREAD of it", waiting);
    is("the line", call(SYS_read, 0, text, 100));
    struct sigaction action = { .sa_handler = note };
    sigaction(SIGINT, &action, 0), sigaction(SIGTSTP, &action, 0), sigaction(SIGQUIT, &action, 0);
    typed_signal("Ctrl-C", "abc\x03");
    typed("a line after it", "d\r", 100);
    typed_signal("Ctrl-Z", "\x1a");
    typed_signal("Ctrl-backslash", "\x1c");
    struct modes raw = ordinary;
    raw.local &= ~(CANONICAL | ECHOES | SIGNALS), raw.input &= ~0x100, raw.characters[VMIN_AT] = 1, raw.characters[VTIME_AT] = 0;
    set_modes(&raw);
    typed("a key in raw mode", "\x03", 100);
    typed("a carriage return in raw mode", "\r", 100);
    set_local(ECHOES, 0);
    long child;
    CHILD(child) signal(SIGINT, SIG_DFL), type("\x03"), linger();
    ends("a child of the foreground job after Ctrl-C", child);
    is("which its parent gets too", seen);
    set_modes(&ordinary);
}

/* Takes the terminal at this path, as a shell does, and runs the checks as its foreground job. */
static void as_shell(char **argv) {
    long child, job;
    CHILD(child) {
        call(SYS_setsid);
        long tty = call(SYS_open, argv[1], O_RDWR);
        if (tty < 0) is("open the pseudo terminal", tty);
        for (int fd = 0; fd < 3; fd++) call(SYS_dup2, tty, fd);
        call(SYS_close, tty);
        signal(SIGTTOU, SIG_IGN);
        char *arguments[] = { argv[0], 0 };
        CHILD(job) {
            int group = (int)call(SYS_getpid);
            call(SYS_setpgid, 0, 0), call(SYS_ioctl, 0, TIOCSPGRP, &group);
            signal(SIGTTOU, SIG_DFL);
            call(SYS_execve, argv[0], arguments, arguments + 1);
        }
        call(SYS_wait4, job, 0, 0, 0);
    }
    call(SYS_wait4, child, 0, 0, 0);
}

static void checks(int argc, char **argv) {
    if (argc > 1) return as_shell(argv);
    about_it();
    errors();
    modes();
    job_control();
    typing();
}
