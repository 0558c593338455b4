//! The numbers in the `code` field, and where each kind of `seq` starts. Given once, never changed.

macro_rules! verbs {
    ($($name:ident = $code:literal, generation $generation:literal, $text:literal;)*) => {
        $(#[doc = $text] pub const $name: u16 = $code;)*

        /// Every verb and the generation of its layout, in the order of the numbers.
        pub const VERBS: &[(u16, u16)] = &[$(($name, $generation),)*];

        /// The name of a verb, such as `STAT`.
        #[must_use]
        pub const fn verb_name(code: u16) -> Option<&'static str> {
            match code { $($name => Some(stringify!($name)),)* _ => None }
        }
    };
}

verbs! {
    STAT = 0x0001, generation 1, "Facts about a path.";
    LIST = 0x0002, generation 1, "Entries of a directory, by number.";
    READ = 0x0003, generation 1, "Bytes of a file.";
    WRITE = 0x0004, generation 1, "Replaces a file, or appends to it.";
    MKDIR = 0x0005, generation 1, "Makes a directory.";
    REMOVE = 0x0006, generation 1, "Removes a file or an empty directory.";
    PS = 0x0007, generation 1, "The processes, by number.";

    HELLO = 0x0100, generation 1, "Opens a session; sent as a base frame.";
    PING = 0x0101, generation 1, "Keeps the session alive and notices losses.";
    STATS = 0x0102, generation 1, "The counters of the kernel's end.";
    ASKS = 0x0103, generation 2, "The asks that wait for an answer.";
    ANSWER = 0x0104, generation 1, "Answers an ask and tells whether the answer came in time.";
    EVENTS = 0x0105, generation 1, "Events again, from a cursor on.";
    POWER = 0x0106, generation 1, "Switches the machine off, or starts it again.";

    RENAME = 0x0110, generation 1, "Moves a file or a directory; what was at the new path is replaced at once.";
    UNLINK = 0x0111, generation 1, "Removes a file.";
    RMDIR = 0x0112, generation 1, "Removes an empty directory.";
    TRUNCATE = 0x0113, generation 1, "Cuts or extends a file.";
    WRITE_AT = 0x0114, generation 1, "Writes into a file at an offset.";
    FSINFO = 0x0115, generation 1, "Facts about the filesystem that a path lies in.";
    READDIR = 0x0116, generation 1, "Entries of a directory, by cursor.";

    SPAWN = 0x0120, generation 1, "Starts a program as a job.";
    WAIT = 0x0121, generation 1, "Waits for the end of a job.";
    KILL = 0x0122, generation 1, "Sends a signal to a process, a tree of processes, or a job.";
    OUTPUT = 0x0123, generation 1, "What a job has written, from a cursor on.";
    INPUT = 0x0124, generation 1, "Gives a job bytes to read, or the end of its input.";
    PS2 = 0x0125, generation 1, "The processes with all that is known of them, by pid.";

    UPTIME = 0x0130, generation 1, "Time since boot.";
    TIME = 0x0131, generation 1, "The time of day.";
    MEMINFO = 0x0132, generation 1, "How much memory there is and what of it is used.";
    INFO = 0x0133, generation 1, "What kernel and machine this is.";
}

/// Event: a process came to be.
pub const EVENT_SPAWN: u16 = 1;
/// Event: a process ended.
pub const EVENT_EXIT: u16 = 2;
/// Event: a process died of a fault.
pub const EVENT_FAULT: u16 = 3;
/// Event, in a session: memory was used up and a process was ended for it.
pub const EVENT_OOM: u16 = 4;
/// Event, in a session: a filesystem has become full.
pub const EVENT_DISK_FULL: u16 = 5;
/// Event, in a session: the kernel has started.
pub const EVENT_BOOT: u16 = 6;
/// Event, in a session: the last peer went away.
pub const EVENT_LINK_LOST: u16 = 7;
/// Event, in a session: the kernel has panicked; nothing comes after it.
pub const EVENT_PANIC: u16 = 8;

/// Ask: a plain question.
pub const DECISION_GENERIC: u16 = 0;
/// Ask: a request in natural language.
pub const DECISION_NATURAL: u16 = 1;

/// `seq` of the first request of a session or of a base peer.
pub const REQUEST_SEQ_FIRST: u32 = 1;
/// `seq` of the first event of a boot.
pub const EVENT_SEQ_FIRST: u32 = 0x4000_0000;
/// `seq` of the first ask of a boot.
pub const ASK_SEQ_FIRST: u32 = 0x8000_0000;
