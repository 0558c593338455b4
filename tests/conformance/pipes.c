/* Pipes and poll. */
#include "conformance.h"

static char block[256 * 1024];
static int ends_of[2];
#define READ_END ends_of[0]
#define WRITE_END ends_of[1]

static void open_pipe(int flags) {
    long made = call(SYS_pipe2, ends_of, flags);
    if (made < 0) is("pipe2 that the next checks need", made);
}

static void close_pipe(void) {
    call(SYS_close, READ_END), call(SYS_close, WRITE_END);
}

static void making(void) {
    struct stat s;
    is("pipe", call(SYS_pipe, ends_of));
    say("its ends: %d %d", READ_END, WRITE_END);
    is("fstat", call(SYS_fstat, READ_END, &s));
    say("mode: %o", s.st_mode & S_IFMT);
    is("seek", call(SYS_lseek, READ_END, 0, SEEK_SET));
    is("pread", call(SYS_pread64, READ_END, block, 1, 0));
    is("pwrite", call(SYS_pwrite64, WRITE_END, block, 1, 0));
    is("ftruncate", call(SYS_ftruncate, WRITE_END, 0));
    is("fsync", call(SYS_fsync, WRITE_END));
    is("getdents64", call(SYS_getdents64, READ_END, block, 4096));
    is("fchdir", call(SYS_fchdir, READ_END));
    is("write to the reading end", call(SYS_write, READ_END, "x", 1));
    is("read from the writing end", call(SYS_read, WRITE_END, block, 1));
    is("ioctl TCGETS", call(SYS_ioctl, READ_END, 0x5401, block));
    close_pipe();
    is("pipe2 with O_CLOEXEC", call(SYS_pipe2, ends_of, O_CLOEXEC));
    is("its F_GETFD", call(SYS_fcntl, READ_END, F_GETFD) + call(SYS_fcntl, WRITE_END, F_GETFD));
    close_pipe();
    is("pipe2 with a flag that nobody knows", call(SYS_pipe2, ends_of, O_APPEND));
    is("pipe2 with another", call(SYS_pipe2, ends_of, 1 << 30));
}

static void moving(void) {
    open_pipe(0);
    is("write", call(SYS_write, WRITE_END, "0123456789", 10));
    is("read a part", call(SYS_read, READ_END, block, 4));
    is("read the rest", call(SYS_read, READ_END, block, 100));
    say("which is: %.6s", block);
    is("write nothing", call(SYS_write, WRITE_END, "", 0));
    is("write twice", call(SYS_write, WRITE_END, "ab", 2) + call(SYS_write, WRITE_END, "cd", 2));
    is("read both at once", call(SYS_read, READ_END, block, 100));
    call(SYS_write, WRITE_END, "last", 4);
    call(SYS_close, WRITE_END);
    is("read what was written before the end", call(SYS_read, READ_END, block, 100));
    is("read at the end", call(SYS_read, READ_END, block, 100));
    is("read at the end again", call(SYS_read, READ_END, block, 100));
    call(SYS_close, READ_END);
    open_pipe(0);
    long other = call(SYS_dup, WRITE_END);
    call(SYS_close, WRITE_END), call(SYS_write, other, "x", 1);
    is("a copy keeps it open", call(SYS_read, READ_END, block, 9));
    call(SYS_close, other);
    is("until it is closed", call(SYS_read, READ_END, block, 9));
    call(SYS_close, READ_END);
}

static void without_waiting(void) {
    open_pipe(O_NONBLOCK);
    is("its F_GETFL", call(SYS_fcntl, READ_END, F_GETFL) & O_NONBLOCK);
    is("read when empty", call(SYS_read, READ_END, block, 10));
    is("read nothing when empty", call(SYS_read, READ_END, block, 0));
    is("write more than it takes", call(SYS_write, WRITE_END, block, sizeof block));
    is("write when full", call(SYS_write, WRITE_END, block, 1));
    is("read 100", call(SYS_read, READ_END, block, 100));
    is("write 4096 where there is less room", call(SYS_write, WRITE_END, block, 4096));
    is("read 3996 more", call(SYS_read, READ_END, block, 3996));
    is("write 4096 where there is as much room", call(SYS_write, WRITE_END, block, 4096));
    is("read it all", call(SYS_read, READ_END, block, sizeof block));
    is("switch to waiting", call(SYS_fcntl, READ_END, F_SETFL, 0));
    is("F_GETFL then", call(SYS_fcntl, READ_END, F_GETFL) & O_NONBLOCK);
    is("F_GETFL of the other end", call(SYS_fcntl, WRITE_END, F_GETFL) & (O_NONBLOCK | O_ACCMODE));
    close_pipe();
}

static volatile sig_atomic_t signals;
static void count(int signal) { (void)signal, signals++; }

static void handle(int signal, void (*handler)(int), int flags) {
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
    sigaction(signal, &action, 0);
}

static void without_readers(void) {
    long child;
    open_pipe(0);
    CHILD(child) {
        call(SYS_close, READ_END);
        call(SYS_write, WRITE_END, "x", 1);
    }
    /* The parent has a reading end. */
    ends("a writer while another process could read", child);
    call(SYS_close, READ_END);
    CHILD(child) call(SYS_write, WRITE_END, "x", 1);
    ends("a writer without readers", child);
    handle(SIGPIPE, SIG_IGN, 0);
    is("write with SIGPIPE ignored", call(SYS_write, WRITE_END, "x", 1));
    is("write nothing without readers", call(SYS_write, WRITE_END, "x", 0));
    handle(SIGPIPE, count, 0);
    is("write with SIGPIPE handled", call(SYS_write, WRITE_END, "x", 1));
    is("how often", signals);
    handle(SIGPIPE, SIG_DFL, 0);
    call(SYS_close, WRITE_END);
}

static void between_processes(void) {
    long child;
    open_pipe(0);
    CHILD(child) {
        nap(50);
        call(SYS_write, WRITE_END, "from the child", 14);
    }
    is("read waits for a writer", call(SYS_read, READ_END, block, 100));
    ends("who ends", child);
    CHILD(child) call(SYS_close, WRITE_END), nap(50);
    call(SYS_close, WRITE_END);
    is("read waits for the last writer to close", call(SYS_read, READ_END, block, 100));
    ends("the last writer", child);
    call(SYS_close, READ_END);
    /* Far more than a pipe holds, with a sum to see that it is all there and in order. */
    open_pipe(0);
    CHILD(child) {
        for (size_t i = 0; i < sizeof block; i++) block[i] = (char)(i * 7 + i / 256);
        call(SYS_close, READ_END);
        for (int i = 0; i < 4; i++) {
            long wrote = call(SYS_write, WRITE_END, block, sizeof block);
            if (wrote != sizeof block) is("a write that waits", wrote);
        }
    }
    call(SYS_close, WRITE_END);
    long total = 0, wrong = 0;
    for (long got; (got = call(SYS_read, READ_END, block, 5000)) > 0; total += got)
        for (long i = 0; i < got; i++) {
            size_t at = (total + i) % sizeof block;
            wrong += block[i] != (char)(at * 7 + at / 256);
        }
    is("bytes of a long stream", total);
    is("wrong ones", wrong);
    ends("its writer", child);
    call(SYS_close, READ_END);
    /* Writes of up to PIPE_BUF bytes are never mixed. */
    open_pipe(0);
    long writers[4];
    for (int i = 0; i < 4; i++)
        CHILD(writers[i]) {
            memset(block, 'a' + i, 512);
            for (int j = 0; j < 100; j++) call(SYS_write, WRITE_END, block, 512);
        }
    call(SYS_close, WRITE_END);
    int mixed = 0, records = 0;
    for (;; records++) {
        long have = 0;
        for (long got; have < 512 && (got = call(SYS_read, READ_END, block + have, 512 - have)) > 0;) have += got;
        if (!have) break;
        for (int i = 1; i < 512; i++) mixed += block[i] != block[0];
    }
    is("records of four writers", records);
    is("mixed", mixed);
    for (int i = 0; i < 4; i++) {
        int status;
        call(SYS_wait4, writers[i], &status, 0, 0);
    }
    call(SYS_close, READ_END);
}

/* A child that sends SIGUSR1 to its parent again and again until it is killed. */
static long bothering(void) {
    long child, parent = call(SYS_getpid);
    CHILD(child) for (int i = 0; i < 50 * PATIENCE; i++) nap(20), call(SYS_kill, parent, SIGUSR1);
    return child;
}

static void stop(long child) {
    int status;
    call(SYS_kill, child, SIGKILL);
    while (call(SYS_wait4, child, &status, 0, 0) == -EINTR) {}
}

static void interrupted(void) {
    struct pollfd wanted;
    open_pipe(0);
    handle(SIGUSR1, count, 0);
    long child = bothering();
    is("a read that a signal interrupts", call(SYS_read, READ_END, block, 1));
    wanted = (struct pollfd){ READ_END, POLLIN, 0 };
    is("a poll that a signal interrupts", call(SYS_poll, &wanted, 1, -1));
    is("a write that a signal interrupts has a part", call(SYS_write, WRITE_END, block, sizeof block));
    is("a write that a signal interrupts when full", call(SYS_write, WRITE_END, block, 1));
    stop(child);
    handle(SIGUSR1, count, SA_RESTART);
    while (call(SYS_read, READ_END, block, sizeof block) == sizeof block) {}
    child = bothering();
    is("poll is not restarted", call(SYS_poll, &wanted, 1, -1));
    signals = 0;
    long writer;
    CHILD(writer) nap(300), call(SYS_write, WRITE_END, "x", 1);
    is("a read that is restarted", call(SYS_read, READ_END, block, 1));
    holds("after signals", signals > 0);
    stop(child);
    ends("the writer then", writer);
    close_pipe();
    handle(SIGUSR1, SIG_DFL, 0);
}

/* Bits of poll that are the same whether or not a system knows the others. */
static void polls(const char *name, int fd, int events, int timeout) {
    struct pollfd wanted = { fd, (short)events, -1 };
    long got = call(SYS_poll, &wanted, 1, timeout);
    if (got < 0) is(name, got);
    else say("%s: %ld%s%s%s%s%s", name, got, wanted.revents & POLLIN ? " in" : "", wanted.revents & POLLOUT ? " out" : "",
             wanted.revents & POLLHUP ? " hup" : "", wanted.revents & POLLERR ? " err" : "", wanted.revents & POLLNVAL ? " nval" : "");
}

static void polling(void) {
    struct pollfd several[3];
    long child;
    open_pipe(0);
    polls("poll an empty pipe", READ_END, POLLIN, 0);
    polls("poll its writing end", WRITE_END, POLLOUT, 0);
    polls("poll the wrong way", READ_END, POLLOUT, 0);
    polls("poll for nothing", WRITE_END, 0, 0);
    polls("poll with a short wait", READ_END, POLLIN, 20);
    call(SYS_write, WRITE_END, "x", 1);
    polls("poll with something to read", READ_END, POLLIN, -1);
    polls("poll for nothing with something to read", READ_END, 0, 0);
    polls("poll for reading and writing", READ_END, POLLIN | POLLOUT, 0);
    call(SYS_fcntl, WRITE_END, F_SETFL, O_NONBLOCK), call(SYS_write, WRITE_END, block, sizeof block);
    polls("poll a full pipe", WRITE_END, POLLOUT, 0);
    call(SYS_read, READ_END, block, 4096);
    polls("poll a pipe with room", WRITE_END, POLLOUT, 0);
    while (call(SYS_fcntl, READ_END, F_SETFL, O_NONBLOCK), call(SYS_read, READ_END, block, sizeof block) > 0) {}
    CHILD(child) nap(50), call(SYS_write, WRITE_END, "x", 1);
    polls("poll waits for a writer", READ_END, POLLIN, -1);
    ends("that writer", child);
    call(SYS_close, WRITE_END);
    polls("poll the end with a rest", READ_END, POLLIN, 0);
    call(SYS_read, READ_END, block, 1);
    polls("poll the end", READ_END, POLLIN, 0);
    polls("poll the end for nothing", READ_END, 0, -1);
    call(SYS_close, READ_END);
    open_pipe(0);
    call(SYS_close, READ_END);
    polls("poll without readers", WRITE_END, POLLOUT, 0);
    call(SYS_close, WRITE_END);
    polls("poll a closed descriptor", 77, POLLIN, -1);
    polls("poll a negative descriptor", -5, POLLIN, 0);
    long fd = call(SYS_open, "f", O_RDWR | O_CREAT, 0644), null = call(SYS_open, "/dev/null", O_RDWR);
    polls("poll a file", fd, POLLIN | POLLOUT, -1);
    polls("poll /dev/null", null, POLLIN | POLLOUT, -1);
    open_pipe(0);
    several[0] = (struct pollfd){ READ_END, POLLIN, 0 }, several[1] = (struct pollfd){ WRITE_END, POLLOUT, 0 };
    several[2] = (struct pollfd){ 77, POLLIN, 0 };
    is("poll three", call(SYS_poll, several, 3, -1));
    several[1] = several[0], several[2].fd = -1;
    call(SYS_write, WRITE_END, "x", 1);
    is("poll the same twice", call(SYS_poll, several, 3, 0));
    is("poll nothing", call(SYS_poll, 0, 0, 10));
    is("poll with a huge count", call(SYS_poll, several, 1u << 31, 0));
    const struct timespec soon = { 0, 1000000 }, bad = { 0, 1000000000 }, before = { -1, 0 };
    is("ppoll", call(SYS_ppoll, several, 1, &soon, 0, 8));
    is("ppoll with a bad time", call(SYS_ppoll, several, 1, &bad, 0, 8));
    is("ppoll with a negative time", call(SYS_ppoll, several, 1, &before, 0, 8));
    close_pipe(), call(SYS_close, fd), call(SYS_close, null);
}

/* A parent with a child on each side, as a shell has it. */
static void line_of_three(void) {
    int in[2], out[2];
    call(SYS_pipe2, in, 0), call(SYS_pipe2, out, 0);
    long first, second;
    CHILD(first) {
        call(SYS_dup2, in[1], 1);
        for (int i = 0; i < 2; i++) call(SYS_close, in[i]), call(SYS_close, out[i]);
        for (int i = 0; i < 1000; i++) say("line %d of many", i);
    }
    CHILD(second) {
        call(SYS_dup2, in[0], 0), call(SYS_dup2, out[1], 1);
        for (int i = 0; i < 2; i++) call(SYS_close, in[i]), call(SYS_close, out[i]);
        for (long got; (got = call(SYS_read, 0, block, 3000)) > 0;) {
            for (long i = 0; i < got; i++) block[i] = block[i] == 'l' ? 'L' : block[i];
            for (long done = 0; done < got;) done += call(SYS_write, 1, block + done, got - done);
        }
    }
    call(SYS_close, in[0]), call(SYS_close, in[1]), call(SYS_close, out[1]);
    long total = 0, capitals = 0;
    for (long got; (got = call(SYS_read, out[0], block, 1000)) > 0; total += got)
        for (long i = 0; i < got; i++) capitals += block[i] == 'L';
    call(SYS_close, out[0]);
    is("bytes through two processes", total);
    is("lines through two processes", capitals);
    ends("the first of the line", first);
    ends("the second of the line", second);
}

static void checks(int argc, char **argv) {
    (void)argc, (void)argv;
    making();
    moving();
    without_waiting();
    without_readers();
    between_processes();
    interrupted();
    polling();
    line_of_three();
}
