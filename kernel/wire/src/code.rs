//! The numbers in the `code` field, and where each kind of `seq` starts. Given once, never changed.

/// Facts about a path.
pub const STAT: u16 = 0x0001;
/// Entries of a directory.
pub const LIST: u16 = 0x0002;
/// Bytes of a file.
pub const READ: u16 = 0x0003;
/// Replaces a file, or appends to it.
pub const WRITE: u16 = 0x0004;
/// Makes a directory.
pub const MKDIR: u16 = 0x0005;
/// Removes a file or an empty directory.
pub const REMOVE: u16 = 0x0006;
/// The processes.
pub const PS: u16 = 0x0007;

/// Opens a session; sent as a base frame.
pub const HELLO: u16 = 0x0100;
/// Keeps the session alive and notices losses.
pub const PING: u16 = 0x0101;
/// The counters of the kernel's end.
pub const STATS: u16 = 0x0102;
/// The asks that wait for an answer.
pub const ASKS: u16 = 0x0103;
/// Answers an ask and tells whether the answer came in time.
pub const ANSWER: u16 = 0x0104;
/// Reserved: events again from a cursor on. Answered ENOSYS.
pub const EVENTS: u16 = 0x0105;

/// Every verb that is answered with more than ENOSYS, in the order of the numbers.
pub const VERBS: [u16; 12] = [STAT, LIST, READ, WRITE, MKDIR, REMOVE, PS, HELLO, PING, STATS, ASKS, ANSWER];

/// Event: a process came to be.
pub const EVENT_SPAWN: u16 = 1;
/// Event: a process ended.
pub const EVENT_EXIT: u16 = 2;
/// Event: a process died of a fault.
pub const EVENT_FAULT: u16 = 3;

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
