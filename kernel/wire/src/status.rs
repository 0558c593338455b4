//! The first byte of every response.

macro_rules! statuses {
    ($($name:ident = $value:literal, $symbol:literal, $text:literal;)*) => {
        /// What came of a request. Numbers are given once and never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Status { $(#[doc = $text] $name = $value,)* }

        impl Status {
            /// Every status, in the order of the numbers.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The status with this number.
            #[must_use]
            pub const fn from_u8(value: u8) -> Option<Self> {
                match value { $($value => Some(Self::$name),)* _ => None }
            }

            /// Its symbol, such as `ENOENT`; success is `OK`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $symbol,)* }
            }

            /// What it means, in a few words.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

statuses! {
    Ok = 0, "OK", "done";
    NoEnt = 1, "ENOENT", "no such file, directory or process";
    Inval = 2, "EINVAL", "malformed request, wrong kind of file, or unknown verb";
    Exist = 3, "EEXIST", "exists already";
    Perm = 4, "EPERM", "not permitted";
    Again = 5, "EAGAIN", "not possible now, try again later";
    Busy = 6, "EBUSY", "too many requests outstanding, or the object is in use";
    Io = 7, "EIO", "the device failed";
    NoSpc = 8, "ENOSPC", "no space left";
    NotDir = 9, "ENOTDIR", "a part of the path is not a directory";
    IsDir = 10, "EISDIR", "is a directory";
    NotEmpty = 11, "ENOTEMPTY", "directory not empty";
    NameTooLong = 12, "ENAMETOOLONG", "path or name too long";
    FBig = 13, "EFBIG", "file or offset too large";
    Srch = 14, "ESRCH", "no such process";
    NoExec = 15, "ENOEXEC", "not a program that can run here";
    NoMem = 16, "ENOMEM", "out of memory";
    TimedOut = 17, "ETIMEDOUT", "deadline passed";
    NoSys = 18, "ENOSYS", "verb unknown or not built";
    MsgSize = 19, "EMSGSIZE", "larger than a frame of this session can be";
    RoFs = 20, "EROFS", "read-only filesystem";
    Acces = 21, "EACCES", "refused by policy or by the one asked";
    Stale = 22, "ESTALE", "of another session, or below the reply window";
    Loop = 23, "ELOOP", "too many levels of symbolic links";
    Canceled = 24, "ECANCELED", "cancelled";
}

impl Status {
    /// The same in the five words of the base generation: refusals are EPERM, and whatever the five cannot
    /// say is EINVAL.
    #[must_use]
    pub const fn base(self) -> Self {
        match self {
            Self::Ok | Self::NoEnt | Self::Inval | Self::Exist | Self::Perm => self,
            Self::RoFs | Self::Acces => Self::Perm,
            _ => Self::Inval,
        }
    }
}

impl core::fmt::Display for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.name(), self.message())
    }
}
