//! Layouts and flag values that cross the system-call boundary, as Linux has them on x86-64.

pub use crate::signal::*;

/// `struct stat` (144 bytes; `arch/x86/include/uapi/asm/stat.h`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Stat {
    /// Device that holds the file.
    pub dev: u64,
    /// Number of the file on its device.
    pub ino: u64,
    /// Number of hard links.
    pub nlink: u64,
    /// Type ([`S_IFMT`]) and permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    #[doc(hidden)]
    pub pad0: u32,
    /// Device number, for device files.
    pub rdev: u64,
    /// Size in bytes.
    pub size: i64,
    /// Preferred size of a transfer.
    pub blksize: i64,
    /// Space taken, in units of 512 bytes.
    pub blocks: i64,
    /// Last access.
    pub atime: Timespec,
    /// Last change of the content.
    pub mtime: Timespec,
    /// Last change of the node.
    pub ctime: Timespec,
    #[doc(hidden)]
    pub unused: [i64; 3],
}

const _: () = assert!(size_of::<Stat>() == 144);

impl Stat {
    /// The structure as it lies in memory.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 144] {
        let mut bytes = [0; 144];
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let words = [
            self.dev,
            self.ino,
            self.nlink,
            pair(self.mode, self.uid),
            pair(self.gid, 0),
            self.rdev,
            self.size.cast_unsigned(),
            self.blksize.cast_unsigned(),
            self.blocks.cast_unsigned(),
            self.atime.sec.cast_unsigned(),
            self.atime.nsec.cast_unsigned(),
            self.mtime.sec.cast_unsigned(),
            self.mtime.nsec.cast_unsigned(),
            self.ctime.sec.cast_unsigned(),
            self.ctime.nsec.cast_unsigned(),
        ];
        for (slot, word) in bytes.chunks_exact_mut(8).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// `struct timespec`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct Timespec {
    /// Whole seconds.
    pub sec: i64,
    /// Nanoseconds, 0 to 999,999,999.
    pub nsec: i64,
}

/// Length of each field of [`Utsname`].
pub const UTSNAME_FIELD: usize = 65;

/// `struct utsname`: five NUL-terminated fields and the domain name.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Utsname {
    /// Name of the operating system.
    pub sysname: [u8; UTSNAME_FIELD],
    /// Name of this machine.
    pub nodename: [u8; UTSNAME_FIELD],
    /// Release of the kernel.
    pub release: [u8; UTSNAME_FIELD],
    /// Version of the kernel.
    pub version: [u8; UTSNAME_FIELD],
    /// Hardware.
    pub machine: [u8; UTSNAME_FIELD],
    /// NIS domain.
    pub domainname: [u8; UTSNAME_FIELD],
}

/// Mask of the file type in [`Stat::mode`].
pub const S_IFMT: u32 = 0o170_000;
/// Regular file.
pub const S_IFREG: u32 = 0o100_000;
/// Directory.
pub const S_IFDIR: u32 = 0o040_000;
/// Pipe.
pub const S_IFIFO: u32 = 0o010_000;
/// Character device.
pub const S_IFCHR: u32 = 0o020_000;
/// Symbolic link.
pub const S_IFLNK: u32 = 0o120_000;

/// Mask of the access mode in `open` flags.
pub const O_ACCMODE: u32 = 3;
/// Open for reading.
pub const O_RDONLY: u32 = 0;
/// Open for writing.
pub const O_WRONLY: u32 = 1;
/// Open for both.
pub const O_RDWR: u32 = 2;
/// Make the file if it is missing.
pub const O_CREAT: u32 = 0o100;
/// With `O_CREAT`: fail if it exists.
pub const O_EXCL: u32 = 0o200;
/// Do not make it the controlling terminal.
pub const O_NOCTTY: u32 = 0o400;
/// Cut to length 0.
pub const O_TRUNC: u32 = 0o1000;
/// Every write goes to the end.
pub const O_APPEND: u32 = 0o2000;
/// Reads and writes do not wait.
pub const O_NONBLOCK: u32 = 0o4000;
/// Large files are supported; the kernel sets it for every file opened by a path.
pub const O_LARGEFILE: u32 = 0o100_000;
/// Fail unless it is a directory.
pub const O_DIRECTORY: u32 = 0o200_000;
/// Do not follow a symbolic link at the end.
pub const O_NOFOLLOW: u32 = 0o400_000;
/// Close on `execve`.
pub const O_CLOEXEC: u32 = 0o2_000_000;

/// `dirfd` that stands for the working directory.
pub const AT_FDCWD: i32 = -100;
/// `newfstatat`: do not follow a symbolic link at the end.
pub const AT_SYMLINK_NOFOLLOW: u32 = 0x100;
/// `newfstatat`: an empty path means `dirfd` itself.
pub const AT_EMPTY_PATH: u32 = 0x1000;

/// `fcntl`: duplicate to the lowest free descriptor that is not below the argument.
pub const F_DUPFD: u32 = 0;
/// `fcntl`: the descriptor's flags.
pub const F_GETFD: u32 = 1;
/// `fcntl`: set the descriptor's flags.
pub const F_SETFD: u32 = 2;
/// `fcntl`: the flags of the open file.
pub const F_GETFL: u32 = 3;
/// `fcntl`: set the flags of the open file.
pub const F_SETFL: u32 = 4;
/// `fcntl`: as [`F_DUPFD`], closed on `execve`.
pub const F_DUPFD_CLOEXEC: u32 = 1030;
/// Flag of a descriptor: closed on `execve`.
pub const FD_CLOEXEC: u32 = 1;

/// `poll`: there is something to read, or the end.
pub const POLLIN: u16 = 0x001;
/// `poll`: exceptional data; nothing here has any.
pub const POLLPRI: u16 = 0x002;
/// `poll`: there is room to write.
pub const POLLOUT: u16 = 0x004;
/// `poll`: nobody reads what is written.
pub const POLLERR: u16 = 0x008;
/// `poll`: the other end is closed.
pub const POLLHUP: u16 = 0x010;
/// `poll`: the descriptor is not open.
pub const POLLNVAL: u16 = 0x020;
/// `poll`: as [`POLLIN`].
pub const POLLRDNORM: u16 = 0x040;
/// `poll`: as [`POLLOUT`].
pub const POLLWRNORM: u16 = 0x100;

/// `unlinkat`: remove a directory.
pub const AT_REMOVEDIR: u32 = 0x200;
/// `faccessat2`: ask for the effective user; there is one only.
pub const AT_EACCESS: u32 = 0x200;
/// `linkat`: follow a symbolic link at the end.
pub const AT_SYMLINK_FOLLOW: u32 = 0x400;
/// `renameat2`: fail if something is there.
pub const RENAME_NOREPLACE: u32 = 1;
/// `access`: may be executed.
pub const X_OK: u32 = 1;
/// `access`: may be written.
pub const W_OK: u32 = 2;
/// `access`: may be read.
pub const R_OK: u32 = 4;
/// `utimensat`, in place of nanoseconds: now.
pub const UTIME_NOW: i64 = 0x3fff_ffff;
/// `utimensat`, in place of nanoseconds: leave it as it is.
pub const UTIME_OMIT: i64 = 0x3fff_fffe;
/// `statfs`, flag: nothing can be written.
pub const ST_RDONLY: u64 = 1;
/// Length of `struct statfs`.
pub const STATFS_SIZE: usize = 120;

/// `lseek` from the start, from the position, from the end.
pub const SEEK_SET: u32 = 0;
/// See [`SEEK_SET`].
pub const SEEK_CUR: u32 = 1;
/// See [`SEEK_SET`].
pub const SEEK_END: u32 = 2;

/// `d_type` of a pipe in `getdents64`.
pub const DT_FIFO: u8 = 1;
/// `d_type` of a character device in `getdents64`.
pub const DT_CHR: u8 = 2;
/// `d_type` of a directory.
pub const DT_DIR: u8 = 4;
/// `d_type` of a regular file.
pub const DT_REG: u8 = 8;
/// `d_type` of a symbolic link.
pub const DT_LNK: u8 = 10;

/// `wait4`: return 0 at once when no child has ended.
pub const WNOHANG: u32 = 1;
/// `wait4`: children that were stopped too.
pub const WUNTRACED: u32 = 2;
/// `wait4`: children that went on too.
pub const WCONTINUED: u32 = 8;
/// `wait4`: only children of this thread; the same here, there are no threads.
pub const WNOTHREAD: u32 = 0x2000_0000;
/// `wait4`: children whatever signal they end with.
pub const WALL: u32 = 0x4000_0000;
/// `wait4`: only children that do not end with SIGCHLD.
pub const WCLONE: u32 = 0x8000_0000;

/// First magic number of `reboot(2)`.
pub const REBOOT_MAGIC1: u64 = 0xfee1_dead;
/// Second magic number of `reboot(2)`.
pub const REBOOT_MAGIC2: u64 = 672_274_793;
/// `reboot(2)`: switch the machine off.
pub const REBOOT_POWER_OFF: u64 = 0x4321_FEDC;
/// `reboot(2)`: start again.
pub const REBOOT_RESTART: u64 = 0x0123_4567;

/// `arch_prctl`: set the base of FS.
pub const ARCH_SET_FS: u64 = 0x1002;
/// `arch_prctl`: read the base of FS.
pub const ARCH_GET_FS: u64 = 0x1003;

/// `clock_gettime`: seconds since 1970.
pub const CLOCK_REALTIME: u64 = 0;
/// `clock_gettime`: time since boot.
pub const CLOCK_MONOTONIC: u64 = 1;
/// `clock_gettime`: time that the process has had the processor.
pub const CLOCK_PROCESS_CPUTIME_ID: u64 = 2;
/// `clock_gettime`: the same of the thread; a process has one.
pub const CLOCK_THREAD_CPUTIME_ID: u64 = 3;
/// `getrusage`: of the process.
pub const RUSAGE_SELF: i32 = 0;
/// `getrusage`: of the children that it has waited for.
pub const RUSAGE_CHILDREN: i32 = -1;
/// `getrusage`: of the thread.
pub const RUSAGE_THREAD: i32 = 1;
/// `times`: units in a second (`sysconf(_SC_CLK_TCK)`).
pub const USER_HZ: u64 = 100;
/// `clock_gettime`: time since boot, time asleep included; the same here.
pub const CLOCK_BOOTTIME: u64 = 7;
/// `clock_nanosleep`: until that time, not for so long.
pub const TIMER_ABSTIME: u32 = 1;

/// `getrandom`: do not wait; it never does.
pub const GRND_NONBLOCK: u32 = 1;
/// `getrandom`: from the source of `/dev/random`, which is the only one.
pub const GRND_RANDOM: u32 = 2;
/// `getrandom`: even before there is enough randomness.
pub const GRND_INSECURE: u32 = 4;

/// `mmap`, `mprotect`: may be read.
pub const PROT_READ: u64 = 1;
/// `mmap`, `mprotect`: may be written.
pub const PROT_WRITE: u64 = 2;
/// `mmap`, `mprotect`: may be executed.
pub const PROT_EXEC: u64 = 4;
/// `mmap`: a child of `fork` sees the changes too.
pub const MAP_SHARED: u64 = 0x01;
/// `mmap`: changes stay in this process.
pub const MAP_PRIVATE: u64 = 0x02;
/// `mmap`: the bits that hold one of the two.
pub const MAP_TYPE: u64 = 0x0f;
/// `mmap`: at exactly this address.
pub const MAP_FIXED: u64 = 0x10;
/// `mmap`: zeroed memory without a file.
pub const MAP_ANONYMOUS: u64 = 0x20;
/// `mmap`: a stack that grows downwards by itself.
pub const MAP_GROWSDOWN: u64 = 0x100;
/// `mmap`: large pages.
pub const MAP_HUGETLB: u64 = 0x4_0000;
/// `mmap`: at exactly this address, unless something is there.
pub const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;
/// `mremap`: may move it.
pub const MREMAP_MAYMOVE: u64 = 1;
/// `mremap`: to exactly this address.
pub const MREMAP_FIXED: u64 = 2;
/// `madvise`: the content is no longer needed.
pub const MADV_DONTNEED: u64 = 4;

/// `getrlimit`: no limit.
pub const RLIM_INFINITY: u64 = u64::MAX;
/// Numbers of limits are below this.
pub const RLIM_NLIMITS: usize = 16;
/// `getrlimit`: bytes of heap and data.
pub const RLIMIT_DATA: usize = 2;
/// `getrlimit`: bytes of the stack.
pub const RLIMIT_STACK: usize = 3;
/// `getrlimit`: bytes of a core file.
pub const RLIMIT_CORE: usize = 4;
/// `getrlimit`: processes.
pub const RLIMIT_NPROC: usize = 6;
/// `getrlimit`: descriptors.
pub const RLIMIT_NOFILE: usize = 7;
/// `getrlimit`: bytes of address space.
pub const RLIMIT_AS: usize = 9;

/// `prctl`: the name of the program.
pub const PR_GET_NAME: u64 = 16;
/// Length of that name with its NUL (`TASK_COMM_LEN` in Linux).
pub const TASK_NAME: usize = 16;
/// Length of `struct sysinfo`.
pub const SYSINFO_SIZE: usize = 112;

/// `futex`: the part of the operation that says what to do.
pub const FUTEX_OPERATION: u64 = 0x7f;
/// `futex`: wait while the word has this value.
pub const FUTEX_WAIT: u64 = 0;
/// `futex`: wake those that wait.
pub const FUTEX_WAKE: u64 = 1;
