//! What can happen, and how it is told.

use askr_wire::code;
use askr_wire::message::ProcessEvent;

use crate::fault::Fault;

/// Something that happened. Of a name, what is over 64 bytes is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A process came to be.
    Spawn {
        /// The new process.
        pid: u32,
        /// Who started it.
        parent: u32,
        /// Its program.
        name: &'a [u8],
    },
    /// A process ended.
    Exit {
        /// The process.
        pid: u32,
        /// Its exit code.
        code: u32,
        /// Its program.
        name: &'a [u8],
    },
    /// A process died of a fault.
    Fault {
        /// The process.
        pid: u32,
        /// Its program.
        name: &'a [u8],
        /// What is known of the fault.
        fault: &'a Fault,
    },
    /// Memory was used up, and somebody was ended for it.
    OutOfMemory {
        /// Who was ended: a process, or a process group.
        victim: u32,
        /// The process that wanted more.
        wanted_by: u32,
        /// What the victim had, in KiB.
        kib: u32,
        /// The victim's program.
        name: &'a [u8],
    },
    /// A filesystem has become full.
    DiskFull {
        /// Where it is mounted.
        mount: &'a [u8],
    },
    /// The kernel has started: event 0 of every boot.
    Boot,
    /// The last peer went away.
    LinkLost,
}

impl<'a> Event<'a> {
    /// The code of its frame, and its payload there.
    pub(crate) const fn message(&self) -> (u16, ProcessEvent<'a>) {
        let (code, pid, aux, info, name): (_, _, _, _, &[u8]) = match *self {
            Self::Spawn { pid, parent, name } => (code::EVENT_SPAWN, pid, parent, 0, name),
            Self::Exit { pid, code, name } => (code::EVENT_EXIT, pid, 0, code, name),
            Self::Fault { pid, name, fault } => (code::EVENT_FAULT, pid, 0, fault.vector as u32, name),
            Self::OutOfMemory { victim, wanted_by, kib, name } => {
                (code::EVENT_OOM, victim, wanted_by, kib, name)
            }
            Self::DiskFull { mount } => (code::EVENT_DISK_FULL, 0, 0, 0, mount),
            Self::Boot => (code::EVENT_BOOT, 0, 0, 0, b""),
            Self::LinkLost => (code::EVENT_LINK_LOST, 0, 0, 0, b""),
        };
        (code, ProcessEvent { pid, aux, info, name })
    }
}

/// The number in the frame of event `number`: from [`code::EVENT_SEQ_FIRST`] up to those of asks, then again.
pub(crate) fn seq_of(number: u64) -> u32 {
    let range = u64::from(code::ASK_SEQ_FIRST - code::EVENT_SEQ_FIRST);
    code::EVENT_SEQ_FIRST + u32::try_from(number % range).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Event, seq_of};
    use crate::fault::{Backtrace, Fault};
    use askr_wire::code;
    use askr_wire::message::ProcessEvent;

    #[test]
    fn event_numbers_stay_in_their_range() {
        for (number, seq) in
            [(0, 0x4000_0000), (5, 0x4000_0005), (0x3FFF_FFFF, 0x7FFF_FFFF), (0x4000_0000, 0x4000_0000)]
        {
            assert_eq!(seq_of(number), seq);
        }
    }

    #[test]
    fn each_kind_of_event_fills_its_own_fields() {
        let fault = Fault {
            signal: 11,
            vector: 14,
            error: 0,
            address: 0,
            rip: 0,
            registers: [0; 17],
            backtrace: Backtrace::default(),
        };
        let message = |pid, aux, info, name| ProcessEvent { pid, aux, info, name };
        for (event, code, wanted) in [
            (Event::Spawn { pid: 2, parent: 1, name: b"sh" }, code::EVENT_SPAWN, message(2, 1, 0, b"sh")),
            (Event::Exit { pid: 2, code: 9, name: b"" }, code::EVENT_EXIT, message(2, 0, 9, b"")),
            (
                Event::Fault { pid: 2, name: b"x", fault: &fault },
                code::EVENT_FAULT,
                message(2, 0, 14, &b"x"[..]),
            ),
            (
                Event::OutOfMemory { victim: 3, wanted_by: 4, kib: 5, name: b"hog" },
                code::EVENT_OOM,
                message(3, 4, 5, b"hog"),
            ),
            (Event::DiskFull { mount: b"/disk" }, code::EVENT_DISK_FULL, message(0, 0, 0, b"/disk")),
            (Event::Boot, code::EVENT_BOOT, message(0, 0, 0, b"")),
            (Event::LinkLost, code::EVENT_LINK_LOST, message(0, 0, 0, b"")),
        ] {
            assert_eq!(event.message(), (code, wanted));
        }
    }
}
