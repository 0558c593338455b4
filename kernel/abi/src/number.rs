//! System-call numbers (rax). Those below [`ASKR_BASE`] are Linux's for x86-64
//! (`arch/x86/entry/syscalls/syscall_64.tbl` in the Linux sources).

/// `read(fd, buf, count)`
pub const READ: u64 = 0;
/// `write(fd, buf, count)`
pub const WRITE: u64 = 1;
/// `open(path, flags, mode)`
pub const OPEN: u64 = 2;
/// `close(fd)`
pub const CLOSE: u64 = 3;
/// `stat(path, buf)`
pub const STAT: u64 = 4;
/// `fstat(fd, buf)`
pub const FSTAT: u64 = 5;
/// `lstat(path, buf)`
pub const LSTAT: u64 = 6;
/// `poll(fds, nfds, timeout)`
pub const POLL: u64 = 7;
/// `lseek(fd, offset, whence)`
pub const LSEEK: u64 = 8;
/// `mmap(addr, length, prot, flags, fd, offset)`
pub const MMAP: u64 = 9;
/// `mprotect(addr, length, prot)`
pub const MPROTECT: u64 = 10;
/// `munmap(addr, length)`
pub const MUNMAP: u64 = 11;
/// `brk(addr)`
pub const BRK: u64 = 12;
/// `rt_sigaction(signum, act, oldact, sigsetsize)`
pub const RT_SIGACTION: u64 = 13;
/// `rt_sigprocmask(how, set, oldset, sigsetsize)`
pub const RT_SIGPROCMASK: u64 = 14;
/// `rt_sigreturn()`
pub const RT_SIGRETURN: u64 = 15;
/// `ioctl(fd, request, argument)`
pub const IOCTL: u64 = 16;
/// `pread64(fd, buf, count, offset)`
pub const PREAD64: u64 = 17;
/// `pwrite64(fd, buf, count, offset)`
pub const PWRITE64: u64 = 18;
/// `readv(fd, iov, iovcnt)`
pub const READV: u64 = 19;
/// `writev(fd, iov, iovcnt)`
pub const WRITEV: u64 = 20;
/// `access(path, mode)`
pub const ACCESS: u64 = 21;
/// `pipe(pipefd)`
pub const PIPE: u64 = 22;
/// `sched_yield()`
pub const SCHED_YIELD: u64 = 24;
/// `mremap(old_addr, old_size, new_size, flags, new_addr)`
pub const MREMAP: u64 = 25;
/// `madvise(addr, length, advice)`
pub const MADVISE: u64 = 28;
/// `dup(oldfd)`
pub const DUP: u64 = 32;
/// `dup2(oldfd, newfd)`
pub const DUP2: u64 = 33;
/// `pause()`
pub const PAUSE: u64 = 34;
/// `nanosleep(request, remaining)`
pub const NANOSLEEP: u64 = 35;
/// `getitimer(which, value)`
pub const GETITIMER: u64 = 36;
/// `alarm(seconds)`
pub const ALARM: u64 = 37;
/// `setitimer(which, new, old)`
pub const SETITIMER: u64 = 38;
/// `getpid()`
pub const GETPID: u64 = 39;
/// `clone(flags, stack, parent_tid, child_tid, tls)`
pub const CLONE: u64 = 56;
/// `fork()`
pub const FORK: u64 = 57;
/// `vfork()`
pub const VFORK: u64 = 58;
/// `execve(path, argv, envp)`
pub const EXECVE: u64 = 59;
/// `exit(status)`
pub const EXIT: u64 = 60;
/// `wait4(pid, status, options, rusage)`
pub const WAIT4: u64 = 61;
/// `kill(pid, signal)`
pub const KILL: u64 = 62;
/// `uname(buf)`
pub const UNAME: u64 = 63;
/// `fcntl(fd, command, argument)`
pub const FCNTL: u64 = 72;
/// `fsync(fd)`
pub const FSYNC: u64 = 74;
/// `fdatasync(fd)`
pub const FDATASYNC: u64 = 75;
/// `truncate(path, length)`
pub const TRUNCATE: u64 = 76;
/// `ftruncate(fd, length)`
pub const FTRUNCATE: u64 = 77;
/// `getcwd(buf, size)`
pub const GETCWD: u64 = 79;
/// `chdir(path)`
pub const CHDIR: u64 = 80;
/// `fchdir(fd)`
pub const FCHDIR: u64 = 81;
/// `rename(oldpath, newpath)`
pub const RENAME: u64 = 82;
/// `mkdir(path, mode)`
pub const MKDIR: u64 = 83;
/// `rmdir(path)`
pub const RMDIR: u64 = 84;
/// `creat(path, mode)`
pub const CREAT: u64 = 85;
/// `link(oldpath, newpath)`
pub const LINK: u64 = 86;
/// `unlink(path)`
pub const UNLINK: u64 = 87;
/// `symlink(target, path)`
pub const SYMLINK: u64 = 88;
/// `readlink(path, buf, size)`
pub const READLINK: u64 = 89;
/// `chmod(path, mode)`
pub const CHMOD: u64 = 90;
/// `fchmod(fd, mode)`
pub const FCHMOD: u64 = 91;
/// `umask(mask)`
pub const UMASK: u64 = 95;
/// `gettimeofday(timeval, timezone)`
pub const GETTIMEOFDAY: u64 = 96;
/// `getrlimit(resource, limit)`
pub const GETRLIMIT: u64 = 97;
/// `getrusage(who, usage)`
pub const GETRUSAGE: u64 = 98;
/// `sysinfo(info)`
pub const SYSINFO: u64 = 99;
/// `times(buf)`
pub const TIMES: u64 = 100;
/// `getuid()`
pub const GETUID: u64 = 102;
/// `getgid()`
pub const GETGID: u64 = 104;
/// `geteuid()`
pub const GETEUID: u64 = 107;
/// `getegid()`
pub const GETEGID: u64 = 108;
/// `setpgid(pid, pgid)`
pub const SETPGID: u64 = 109;
/// `getppid()`
pub const GETPPID: u64 = 110;
/// `getpgrp()`
pub const GETPGRP: u64 = 111;
/// `setsid()`
pub const SETSID: u64 = 112;
/// `getgroups(size, list)`
pub const GETGROUPS: u64 = 115;
/// `getpgid(pid)`
pub const GETPGID: u64 = 121;
/// `getsid(pid)`
pub const GETSID: u64 = 124;
/// `rt_sigpending(set, sigsetsize)`
pub const RT_SIGPENDING: u64 = 127;
/// `rt_sigtimedwait(set, info, timeout, sigsetsize)`
pub const RT_SIGTIMEDWAIT: u64 = 128;
/// `rt_sigqueueinfo(pid, signal, info)`
pub const RT_SIGQUEUEINFO: u64 = 129;
/// `rt_sigsuspend(mask, sigsetsize)`
pub const RT_SIGSUSPEND: u64 = 130;
/// `sigaltstack(ss, old_ss)`
pub const SIGALTSTACK: u64 = 131;
/// `statfs(path, buf)`
pub const STATFS: u64 = 137;
/// `fstatfs(fd, buf)`
pub const FSTATFS: u64 = 138;
/// `prctl(option, argument)`
pub const PRCTL: u64 = 157;
/// `arch_prctl(code, addr)`
pub const ARCH_PRCTL: u64 = 158;
/// `setrlimit(resource, limit)`
pub const SETRLIMIT: u64 = 160;
/// `sync()`
pub const SYNC: u64 = 162;
/// `reboot(magic1, magic2, command, argument)`
pub const REBOOT: u64 = 169;
/// `gettid()`
pub const GETTID: u64 = 186;
/// `tkill(tid, signal)`
pub const TKILL: u64 = 200;
/// `time(seconds)`
pub const TIME: u64 = 201;
/// `futex(word, operation, value, timeout)`
pub const FUTEX: u64 = 202;
/// `sched_getaffinity(pid, size, mask)`
pub const SCHED_GETAFFINITY: u64 = 204;
/// `getdents64(fd, buf, count)`
pub const GETDENTS64: u64 = 217;
/// `set_tid_address(tidptr)`
pub const SET_TID_ADDRESS: u64 = 218;
/// `restart_syscall()`
pub const RESTART_SYSCALL: u64 = 219;
/// `clock_gettime(clock, timespec)`
pub const CLOCK_GETTIME: u64 = 228;
/// `clock_getres(clock, timespec)`
pub const CLOCK_GETRES: u64 = 229;
/// `clock_nanosleep(clock, flags, request, remaining)`
pub const CLOCK_NANOSLEEP: u64 = 230;
/// `exit_group(status)`
pub const EXIT_GROUP: u64 = 231;
/// `tgkill(tgid, tid, signal)`
pub const TGKILL: u64 = 234;
/// `openat(dirfd, path, flags, mode)`
pub const OPENAT: u64 = 257;
/// `mkdirat(dirfd, path, mode)`
pub const MKDIRAT: u64 = 258;
/// `newfstatat(dirfd, path, buf, flags)`
pub const NEWFSTATAT: u64 = 262;
/// `unlinkat(dirfd, path, flags)`
pub const UNLINKAT: u64 = 263;
/// `renameat(olddirfd, oldpath, newdirfd, newpath)`
pub const RENAMEAT: u64 = 264;
/// `linkat(olddirfd, oldpath, newdirfd, newpath, flags)`
pub const LINKAT: u64 = 265;
/// `symlinkat(target, dirfd, path)`
pub const SYMLINKAT: u64 = 266;
/// `readlinkat(dirfd, path, buf, size)`
pub const READLINKAT: u64 = 267;
/// `fchmodat(dirfd, path, mode)`
pub const FCHMODAT: u64 = 268;
/// `faccessat(dirfd, path, mode)`
pub const FACCESSAT: u64 = 269;
/// `ppoll(fds, nfds, timeout, sigmask, sigsetsize)`
pub const PPOLL: u64 = 271;
/// `set_robust_list(head, size)`
pub const SET_ROBUST_LIST: u64 = 273;
/// `utimensat(dirfd, path, times, flags)`
pub const UTIMENSAT: u64 = 280;
/// `dup3(oldfd, newfd, flags)`
pub const DUP3: u64 = 292;
/// `pipe2(pipefd, flags)`
pub const PIPE2: u64 = 293;
/// `prlimit64(pid, resource, new, old)`
pub const PRLIMIT64: u64 = 302;
/// `renameat2(olddirfd, oldpath, newdirfd, newpath, flags)`
pub const RENAMEAT2: u64 = 316;
/// `getrandom(buf, len, flags)`
pub const GETRANDOM: u64 = 318;
/// `faccessat2(dirfd, path, mode, flags)`
pub const FACCESSAT2: u64 = 439;

/// Where Askr's own calls begin: far above Linux's, so the two ranges never meet.
pub const ASKR_BASE: u64 = 0x1000;
/// `agent_ask(args: *mut AskArgs, size: usize)`: puts a question to the agent and waits for the answer; see
/// [`crate::AskArgs`].
pub const AGENT_ASK: u64 = ASKR_BASE + 56;
/// `agent_answer(number, answer, length)`: answers the ask with this number for the person at the console.
pub const AGENT_ANSWER: u64 = ASKR_BASE + 57;
