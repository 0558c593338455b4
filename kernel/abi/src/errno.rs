//! Error numbers as in Linux (`include/uapi/asm-generic/errno-base.h`, `errno.h`).

macro_rules! errnos {
    ($($name:ident = $value:literal, $text:literal;)*) => {
        /// Why a call failed. A system call returns the negative number in rax.
        #[allow(clippy::upper_case_acronyms, reason = "the names POSIX gives them")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i32)]
        pub enum Errno { $(#[doc = $text] $name = $value,)* }

        impl Errno {
            /// Every error, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The error with this (positive) number, if it is one of ours.
            #[must_use]
            pub const fn from_i32(value: i32) -> Option<Self> {
                match value { $($value => Some(Self::$name),)* _ => None }
            }

            /// The symbolic name, such as `ENOENT`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            /// The sentence people know from `strerror`.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

errnos! {
    EPERM = 1, "Operation not permitted";
    ENOENT = 2, "No such file or directory";
    ESRCH = 3, "No such process";
    EINTR = 4, "Interrupted system call";
    EIO = 5, "Input/output error";
    E2BIG = 7, "Argument list too long";
    ENOEXEC = 8, "Exec format error";
    EBADF = 9, "Bad file descriptor";
    ECHILD = 10, "No child processes";
    EAGAIN = 11, "Resource temporarily unavailable";
    ENOMEM = 12, "Cannot allocate memory";
    EACCES = 13, "Permission denied";
    EFAULT = 14, "Bad address";
    EBUSY = 16, "Device or resource busy";
    EEXIST = 17, "File exists";
    EXDEV = 18, "Invalid cross-device link";
    ENODEV = 19, "No such device";
    ENOTDIR = 20, "Not a directory";
    EISDIR = 21, "Is a directory";
    EINVAL = 22, "Invalid argument";
    ENFILE = 23, "Too many open files in system";
    EMFILE = 24, "Too many open files";
    ENOTTY = 25, "Inappropriate ioctl for device";
    EFBIG = 27, "File too large";
    ENOSPC = 28, "No space left on device";
    ESPIPE = 29, "Illegal seek";
    EROFS = 30, "Read-only file system";
    EMLINK = 31, "Too many links";
    EPIPE = 32, "Broken pipe";
    ERANGE = 34, "Numerical result out of range";
    ENAMETOOLONG = 36, "File name too long";
    ENOSYS = 38, "Function not implemented";
    ENOTEMPTY = 39, "Directory not empty";
    ELOOP = 40, "Too many levels of symbolic links";
    EOVERFLOW = 75, "Value too large for defined data type";
    EOPNOTSUPP = 95, "Operation not supported";
    ETIMEDOUT = 110, "Connection timed out";
    ESTALE = 116, "Stale file handle";
    ECANCELED = 125, "Operation canceled";
}

impl Errno {
    /// What a system call leaves in rax.
    #[must_use]
    pub const fn to_rax(self) -> u64 {
        (-(self as i64)).cast_unsigned()
    }
}

impl core::fmt::Display for Errno {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for Errno {}

#[cfg(test)]
mod tests {
    use super::Errno;

    #[test]
    fn numbers_round_trip_and_reach_rax_as_negatives() {
        for &errno in Errno::ALL {
            assert_eq!(Errno::from_i32(errno as i32), Some(errno));
            assert_eq!(errno.to_rax().cast_signed(), -(errno as i64));
        }
        assert_eq!(Errno::from_i32(0), None);
    }
}
