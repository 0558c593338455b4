//! The ways between kernel and host.

/// A way between kernel and host. Both carry the same frames, and there is one session, whichever it comes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Door {
    /// The second serial port: there on every machine, and slow.
    Com2,
    /// A port of a VirtIO console: fast, and not on every machine.
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
}
