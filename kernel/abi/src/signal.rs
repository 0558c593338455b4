//! Signals: numbers, flags and codes as Linux has them on x86-64 (`signal(7)`, `sigaction(2)`;
//! `arch/x86/include/uapi/asm/signal.h`, `include/uapi/asm-generic/siginfo.h`).

macro_rules! signals {
    ($($name:ident = $value:literal, $text:literal;)*) => {
        $(#[doc = $text] pub const $name: u32 = $value;)*
    };
}

signals! {
    SIGHUP = 1, "The terminal is gone.";
    SIGINT = 2, "Interrupt from the terminal (Ctrl-C).";
    SIGQUIT = 3, "Quit from the terminal (Ctrl-\\).";
    SIGILL = 4, "Illegal instruction.";
    SIGTRAP = 5, "Breakpoint.";
    SIGABRT = 6, "The program gave up.";
    SIGBUS = 7, "Misaligned or impossible memory access.";
    SIGFPE = 8, "Arithmetic error.";
    SIGKILL = 9, "Ends the process, cannot be caught or ignored.";
    SIGUSR1 = 10, "For programs.";
    SIGSEGV = 11, "Invalid memory access.";
    SIGUSR2 = 12, "For programs.";
    SIGPIPE = 13, "Written to a pipe without readers.";
    SIGALRM = 14, "A timer ran out.";
    SIGTERM = 15, "Request to end.";
    SIGSTKFLT = 16, "Not used.";
    SIGCHLD = 17, "A child ended, stopped or went on.";
    SIGCONT = 18, "Go on.";
    SIGSTOP = 19, "Stops the process, cannot be caught or ignored.";
    SIGTSTP = 20, "Stop from the terminal (Ctrl-Z).";
    SIGTTIN = 21, "Read from the terminal in the background.";
    SIGTTOU = 22, "Changed the terminal in the background.";
    SIGURG = 23, "Urgent data.";
    SIGXCPU = 24, "Processor time used up.";
    SIGXFSZ = 25, "File too large.";
    SIGVTALRM = 26, "A timer of processor time ran out.";
    SIGPROF = 27, "A timer for profiling ran out.";
    SIGWINCH = 28, "The window changed its size.";
    SIGIO = 29, "Input or output is possible.";
    SIGPWR = 30, "Power is failing.";
    SIGSYS = 31, "Bad system call.";
    SIGRTMIN = 32, "First real-time signal.";
    NSIG = 65, "Highest signal number plus one.";
}

/// `sa_handler`: the default action.
pub const SIG_DFL: u64 = 0;
/// `sa_handler`: ignore the signal.
pub const SIG_IGN: u64 = 1;

/// `sa_flags`: no SIGCHLD when a child stops or goes on.
pub const SA_NOCLDSTOP: u64 = 0x1;
/// `sa_flags`: children that end need not be waited for.
pub const SA_NOCLDWAIT: u64 = 0x2;
/// `sa_flags`: the handler takes three arguments. The kernel passes them to every handler.
pub const SA_SIGINFO: u64 = 0x4;
/// `sa_flags`: `sa_restorer` is set. Without it the handler could not return.
pub const SA_RESTORER: u64 = 0x0400_0000;
/// `sa_flags`: run on the alternate stack.
pub const SA_ONSTACK: u64 = 0x0800_0000;
/// `sa_flags`: start interrupted calls again.
pub const SA_RESTART: u64 = 0x1000_0000;
/// `sa_flags`: the signal is not blocked in its own handler.
pub const SA_NODEFER: u64 = 0x4000_0000;
/// `sa_flags`: the handler runs once.
pub const SA_RESETHAND: u64 = 0x8000_0000;

/// `rt_sigprocmask`: block these too.
pub const SIG_BLOCK: u64 = 0;
/// `rt_sigprocmask`: block these no longer.
pub const SIG_UNBLOCK: u64 = 1;
/// `rt_sigprocmask`: block exactly these.
pub const SIG_SETMASK: u64 = 2;

/// `sigaltstack`: the program runs on the alternate stack.
pub const SS_ONSTACK: u32 = 1;
/// `sigaltstack`: there is no alternate stack.
pub const SS_DISABLE: u32 = 2;
/// `sigaltstack`: given up while a handler runs on it.
pub const SS_AUTODISARM: u32 = 1 << 31;
/// Smallest alternate stack, in bytes.
pub const MINSIGSTKSZ: u64 = 2048;

/// `si_code`: sent by `kill(2)`.
pub const SI_USER: i32 = 0;
/// `si_code`: sent by the kernel.
pub const SI_KERNEL: i32 = 0x80;
/// `si_code`: sent by `sigqueue(3)`.
pub const SI_QUEUE: i32 = -1;
/// `si_code`: sent by `tkill(2)` or `tgkill(2)`.
pub const SI_TKILL: i32 = -6;
/// `si_code` of SIGCHLD: it ended by itself.
pub const CLD_EXITED: i32 = 1;
/// `si_code` of SIGCHLD: a signal ended it.
pub const CLD_KILLED: i32 = 2;
/// `si_code` of SIGCHLD: it was stopped.
pub const CLD_STOPPED: i32 = 5;
/// `si_code` of SIGCHLD: it went on.
pub const CLD_CONTINUED: i32 = 6;
/// `si_code` of SIGSEGV: nothing is mapped there.
pub const SEGV_MAPERR: i32 = 1;
/// `si_code` of SIGSEGV: what is mapped there may not be used so.
pub const SEGV_ACCERR: i32 = 2;
/// `si_code` of SIGBUS: misaligned.
pub const BUS_ADRALN: i32 = 1;
/// `si_code` of SIGILL: no such instruction.
pub const ILL_ILLOPN: i32 = 2;
/// `si_code` of SIGTRAP: a single step.
pub const TRAP_TRACE: i32 = 2;
/// `si_code` of SIGFPE: integer division by zero, or its result is too large.
pub const FPE_INTDIV: i32 = 1;
/// `si_code` of SIGFPE: division by zero.
pub const FPE_FLTDIV: i32 = 3;
/// `si_code` of SIGFPE: overflow.
pub const FPE_FLTOVF: i32 = 4;
/// `si_code` of SIGFPE: underflow.
pub const FPE_FLTUND: i32 = 5;
/// `si_code` of SIGFPE: inexact result.
pub const FPE_FLTRES: i32 = 6;
/// `si_code` of SIGFPE: invalid operation.
pub const FPE_FLTINV: i32 = 7;
