/* Descriptors, pipes and poll. Prints what is wrong, or one line if nothing is. */
#include "raw.h"

enum {
    POLL = 7, PREAD64 = 17, PWRITE64 = 18, READV = 19, PIPE = 22, DUP = 32, DUP2 = 33, FORK = 57, WAIT4 = 61,
    FCNTL = 72, PPOLL = 271, DUP3 = 292, PIPE2 = 293, LSEEK = 8, KILL = 62
};
enum { EBADF = -9, EMFILE = -24, ESPIPE = -29, EPIPE = -32, EINTR = -4 };
enum { O_RDONLY = 0, O_RDWR = 2, O_CREAT = 0100, O_TRUNC = 01000, O_NONBLOCK = 04000, O_APPEND = 02000, O_CLOEXEC = 02000000 };
enum { F_DUPFD = 0, F_GETFD = 1, F_SETFD = 2, F_GETFL = 3, F_SETFL = 4, F_DUPFD_CLOEXEC = 1030 };
enum { POLLIN = 1, POLLOUT = 4, POLLERR = 8, POLLHUP = 16, POLLNVAL = 32 };
enum { SIGPIPE = 13, SIGKILL = 9, CAPACITY = 65536, PIPE_BUF = 4096 };

struct pollfd { int fd; short events, revents; };
struct iovec { const void *base; u64 length; };

static int failures;
static char big[CAPACITY + 4096];

static void is(const char *what, long got, long wanted) {
    if (got == wanted) return;
    failures++;
    print(what);
    print(": ");
    print_number(got);
    print(" is not ");
    print_number(wanted);
    print("\n");
}

static int wait_for(int pid) {
    int status = -1;
    is("wait4", call(WAIT4, pid, &status, 0), pid);
    return status;
}

static int same(const char *a, const char *b, u64 n) {
    for (u64 i = 0; i < n; i++) if (a[i] != b[i]) return 0;
    return 1;
}

static void descriptors(void) {
    int fd = call(OPEN, "/tmp/some-file", O_RDWR | O_CREAT | O_TRUNC, 0644);
    is("dup gives the lowest", call(DUP, fd, 0, 0), fd + 1);
    is("they share the position", call(WRITE, fd + 1, "abc", 3) + call(LSEEK, fd, 0, 1), 6);
    is("dup2", call(DUP2, fd, 20, 0), 20);
    is("dup2 to itself", call(DUP2, fd, fd, 0), fd);
    is("dup2 of nothing", call(DUP2, 19, 20, 0), EBADF);
    is("dup2 of nothing to itself", call(DUP2, 19, 19, 0), EBADF);
    is("dup2 too far", call(DUP2, fd, 1024, 0), EBADF);
    is("dup2 to a negative", call(DUP2, fd, -1, 0), EBADF);
    is("dup3 to itself", call(DUP3, fd, fd, 0), EINVAL);
    is("dup3 with odd flags", call(DUP3, fd, 21, 1), EINVAL);
    is("dup3", call(DUP3, fd, 21, O_CLOEXEC), 21);
    is("its flag", call(FCNTL, 21, F_GETFD, 0), 1);
    is("flag of dup2's", call(FCNTL, 20, F_GETFD, 0), 0);
    is("set it", call(FCNTL, 20, F_SETFD, 1) + call(FCNTL, 20, F_GETFD, 0), 1);
    is("F_DUPFD", call(FCNTL, fd, F_DUPFD, 20), 22);
    is("F_DUPFD_CLOEXEC", call(FCNTL, fd, F_DUPFD_CLOEXEC, 30), 30);
    is("its flag too", call(FCNTL, 30, F_GETFD, 0), 1);
    is("F_DUPFD too far", call(FCNTL, fd, F_DUPFD, 1024), EINVAL);
    is("no such command", call(FCNTL, fd, 4711, 0), EINVAL);
    is("no such descriptor", call(FCNTL, 999, F_GETFD, 0), EBADF);
    is("append is of the file", call(FCNTL, 20, F_SETFL, O_APPEND), 0);
    is("so all have it", call(FCNTL, fd, F_GETFL, 0) & (O_APPEND | 3), O_APPEND | O_RDWR);
    is("and it counts", call(LSEEK, fd, 0, 0) + call(WRITE, fd, "de", 2) + call(LSEEK, fd, 0, 1), 7);
    for (int other = 20; other < 31; other++) call(CLOSE, other, 0, 0);
    call(CLOSE, fd + 1, 0, 0);
    char back[8];
    is("pread", call6(PREAD64, fd, (u64)back, 8, 2, 0, 0), 3);
    is("its bytes", same(back, "cde", 3), 1);
    is("pwrite", call6(FCNTL, fd, F_SETFL, 0, 0, 0, 0) + call6(PWRITE64, fd, (u64)"X", 1, 1, 0, 0), 1);
    is("position stayed", call(LSEEK, fd, 0, 1), 5);
    is("pread at a negative", call6(PREAD64, fd, (u64)back, 8, -1, 0, 0), EINVAL);
    call(LSEEK, fd, 0, 0);
    char first[2], second[8];
    struct iovec pieces[3] = {{first, 2}, {0, 0}, {second, 8}};
    is("readv", call(READV, fd, pieces, 3), 5);
    is("its pieces", same(first, "aX", 2) && same(second, "cde", 3), 1);
    call(CLOSE, fd, 0, 0);
}

static void too_many(void) {
    int made = 0, fd;
    while ((fd = call(DUP, 0, 0, 0)) >= 0) made++;
    is("the end is EMFILE", fd, EMFILE);
    is("pipe too", call(PIPE, big, 0, 0), EMFILE);
    is("and nothing is opened then", call(OPEN, "/tmp/never", O_RDWR | O_CREAT, 0644), EMFILE);
    for (fd = 3; fd < made + 3; fd++) call(CLOSE, fd, 0, 0);
    is("not made", call(OPEN, "/tmp/never", O_RDONLY, 0), ENOENT);
}

static void one_pipe(void) {
    int ends[2];
    is("pipe", call(PIPE2, ends, O_NONBLOCK, 0), 0);
    is("odd flags", call(PIPE2, ends, 1, 0), EINVAL);
    is("bad pointer", call(PIPE2, 8, 0, 0), EFAULT);
    is("no leak", ends[1], ends[0] + 1);
    is("empty", call(READ, ends[0], big, 1), EAGAIN);
    is("read of the wrong end", call(READ, ends[1], big, 1), EBADF);
    is("write to the wrong end", call(WRITE, ends[0], big, 1), EBADF);
    is("no position", call(LSEEK, ends[0], 0, 0), ESPIPE);
    is("pread", call6(PREAD64, ends[0], (u64)big, 1, 0, 0, 0), ESPIPE);
    is("full", call(WRITE, ends[1], big, sizeof big), CAPACITY);
    is("more", call(WRITE, ends[1], big, 1), EAGAIN);
    is("some room", call(READ, ends[0], big, 100), 100);
    is("not for a whole step", call(WRITE, ends[1], big, PIPE_BUF), EAGAIN);
    is("all of it", call(READ, ends[0], big, sizeof big), CAPACITY - 100);
    struct iovec pieces[2] = {{"one", 3}, {"two", 3}};
    is("writev", call(WRITEV, ends[1], pieces, 2), 6);
    is("in order", call(READ, ends[0], big, 10) + same(big, "onetwo", 6), 7);
    call(WRITE, ends[1], "end", 3);
    call(CLOSE, ends[1], 0, 0);
    is("the rest", call(READ, ends[0], big, 10), 3);
    is("then the end", call(READ, ends[0], big, 10), 0);
    call(CLOSE, ends[0], 0, 0);
}

static void between_processes(void) {
    int ends[2];
    call(PIPE, ends, 0, 0);
    int pid = call(FORK, 0, 0, 0);
    if (pid == 0) {
        call(CLOSE, ends[0], 0, 0);
        for (u64 i = 0; i < sizeof big; i++) big[i] = (char)(i * 7 >> 3);
        for (int i = 0; i < 10; i++) is("all is written", call(WRITE, ends[1], big, sizeof big), sizeof big);
        leave(failures);
    }
    call(CLOSE, ends[1], 0, 0);
    u64 total = 0, wrong = 0;
    long got;
    while ((got = call(READ, ends[0], big, 5000)) > 0)
        for (long i = 0; i < got; i++, total++) wrong += big[i] != (char)(total % sizeof big * 7 >> 3);
    is("the end", got, 0);
    is("all came", total, 10 * sizeof big);
    is("as it was", wrong, 0);
    is("the writer is content", wait_for(pid), 0);
    call(CLOSE, ends[0], 0, 0);
}

/* Lines of many writers: each whole, none lost. */
static void whole_steps(void) {
    enum { WRITERS = 5, LINES = 40, LINE = 3000 };
    int ends[2];
    call(PIPE, ends, 0, 0);
    for (int writer = 0; writer < WRITERS; writer++) {
        if (call(FORK, 0, 0, 0) != 0) continue;
        for (int i = 0; i < LINE; i++) big[i] = (char)('a' + writer);
        for (int i = 0; i < LINES; i++) call(WRITE, ends[1], big, LINE);
        leave(0);
    }
    call(CLOSE, ends[1], 0, 0);
    int lines = 0, torn = 0;
    for (;;) {
        long have = 0, got = 0;
        while (have < LINE && (got = call(READ, ends[0], big + have, LINE - have)) > 0) have += got;
        if (have == 0) break;
        for (int i = 1; i < have; i++) torn += big[i] != big[0];
        lines++;
    }
    is("lines", lines, WRITERS * LINES);
    is("torn", torn, 0);
    for (int writer = 0; writer < WRITERS; writer++) call(WAIT4, -1, 0, 0);
    call(CLOSE, ends[0], 0, 0);
}

static void nobody_reads(void) {
    int ends[2];
    call(PIPE, ends, 0, 0);
    call(CLOSE, ends[0], 0, 0);
    int pid = call(FORK, 0, 0, 0);
    if (pid == 0) {
        call(WRITE, ends[1], "x", 1);
        leave(77);
    }
    is("SIGPIPE", wait_for(pid), SIGPIPE);
    u64 ignore[4] = {1, 0, 0, 0};
    call6(RT_SIGACTION, SIGPIPE, (u64)ignore, 0, 8, 0, 0);
    is("EPIPE", call(WRITE, ends[1], "x", 1), EPIPE);
    ignore[0] = 0;
    call6(RT_SIGACTION, SIGPIPE, (u64)ignore, 0, 8, 0, 0);
    call(CLOSE, ends[1], 0, 0);
}

static void kill_those_who_wait(void) {
    int ends[2];
    call(PIPE, ends, 0, 0);
    for (int round = 0; round < 2; round++) {
        int pid = call(FORK, 0, 0, 0);
        if (pid == 0) {
            if (round == 0) call(READ, ends[0], big, 1);
            else call(WRITE, ends[1], big, sizeof big);
            leave(77);
        }
        u64 moment[2] = {0, 30000000};
        call(NANOSLEEP, moment, 0, 0);
        call(KILL, pid, SIGKILL, 0);
        is("killed", wait_for(pid), SIGKILL);
    }
    call(CLOSE, ends[0], 0, 0);
    call(CLOSE, ends[1], 0, 0);
}

static void polls(void) {
    int ends[2];
    call(PIPE, ends, 0, 0);
    struct pollfd fds[3] = {{ends[0], POLLIN, 0}, {ends[1], POLLOUT, 0}, {-1, POLLIN, 9}};
    is("room", call(POLL, fds, 3, 0), 1);
    is("events", fds[0].revents | fds[1].revents << 8 | fds[2].revents, POLLOUT << 8);
    is("nothing in time", call(POLL, fds, 1, 20), 0);
    struct pollfd nothing = {900, POLLIN, 0};
    is("not open", call(POLL, &nothing, 1, -1) + nothing.revents, 1 + POLLNVAL);
    is("too many", call(POLL, fds, 5000, 0), EINVAL);
    is("bad pointer", call(POLL, 8, 1, 0), EFAULT);
    int file = call(OPEN, "/tmp/some-file", O_RDONLY, 0);
    struct pollfd always = {file, POLLIN | POLLOUT, 0};
    is("a file", call(POLL, &always, 1, -1) + always.revents, 1 + (POLLIN | POLLOUT));
    call(CLOSE, file, 0, 0);
    int pid = call(FORK, 0, 0, 0);
    if (pid == 0) {
        u64 moment[2] = {0, 30000000};
        call(NANOSLEEP, moment, 0, 0);
        call(WRITE, ends[1], "x", 1);
        leave(0);
    }
    is("woken", call(POLL, fds, 1, -1) + fds[0].revents, 1 + POLLIN);
    wait_for(pid);
    call(READ, ends[0], big, 1);
    call(CLOSE, ends[1], 0, 0);
    u64 second[2] = {1, 0};
    is("hang-up", call6(PPOLL, (u64)fds, 1, (u64)second, 0, 0, 0) + fds[0].revents, 1 + POLLHUP);
    call(PIPE, ends + 0, 0, 0);
    call(CLOSE, fds[0].fd, 0, 0);
    call(CLOSE, ends[0], 0, 0);
    fds[1].fd = ends[1];
    is("error", call(POLL, fds + 1, 1, -1) + fds[1].revents, 1 + (POLLOUT | POLLERR));
    call(CLOSE, ends[1], 0, 0);
}

int run(void) {
    descriptors();
    too_many();
    one_pipe();
    between_processes();
    whole_steps();
    nobody_reads();
    kill_those_who_wait();
    polls();
    print(failures ? "pipes are wrong\n" : "pipes are well\n");
    return failures;
}
__attribute__((noreturn)) void _start(void) { leave(run()); }
