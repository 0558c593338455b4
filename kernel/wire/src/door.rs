//! The ways between kernel and host.

use core::fmt;

/// A way between kernel and host. All carry the same frames, and there is one session, whichever it comes through. The
/// later in the order, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Door {
    /// The second serial port: slow.
    Com2,
    /// A port of a VirtIO console: much faster, where guest and machine have it.
    Data,
}

impl Door {
    /// All of them, in the order of [`Self::index`].
    pub const ALL: [Self; 2] = [Self::Com2, Self::Data];

    /// Place of this one in [`Self::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its name for programs: in JSON, and in Wireshark's filters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Com2 => "com2",
            Self::Data => "data",
        }
    }

    /// The door of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|door| door.name() == name)
    }
}

impl fmt::Display for Door {
    /// Its name for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Com2 => "COM2",
            Self::Data => "the data door",
        })
    }
}
