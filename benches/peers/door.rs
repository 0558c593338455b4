//! The ways into the guest for frames. What is measured over the wire is measured through each of them.

use std::os::unix::net::UnixStream;

use askr::{Machine, Vm};

use crate::Result;
use crate::report::{Aim, PEER};

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// The second serial port, on a machine that has nothing better.
    Com2,
    /// The port of a VirtIO console, on the machine of `cargo run`, which has both.
    Data,
}

impl Door {
    pub(crate) const ALL: [Self; 2] = [Self::Com2, Self::Data];

    /// As in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Com2 => "COM2",
            Self::Data => "data door",
        }
    }

    /// As a hub calls it.
    pub(crate) const fn in_status(self) -> &'static str {
        match self {
            Self::Com2 => "com2",
            Self::Data => "data",
        }
    }

    /// The machine, with this door as its best one.
    pub(crate) fn built_into(self, machine: Machine) -> Machine {
        match self {
            Self::Com2 => machine.without_data_door(),
            Self::Data => machine,
        }
    }

    /// Connects to it; QEMU serves one at a time.
    pub(crate) fn connect(self, vm: &Vm) -> Result<UnixStream> {
        Ok(match self {
            Self::Com2 => vm.com2(),
            Self::Data => vm.data(),
        }?)
    }

    /// How fast a ping should be, against the peer's.
    pub(crate) const fn ping_aim(self) -> Aim {
        match self {
            Self::Com2 => Aim::AtMost(0.6),
            Self::Data => Aim::AtMost(0.35),
        }
    }

    /// How many of its pings something may take. On the data door a ping takes so little that the guest's own work shows.
    pub(crate) fn in_pings(self, pings: f64) -> Option<Aim> {
        (self == Self::Com2).then_some(Aim::AtMost(pings))
    }

    /// How fast files of a MiB and more should move out of the guest (`reads`) or into it, and against what.
    pub(crate) const fn transfer_aim(self, reads: bool) -> (&'static str, Aim) {
        match (self, reads) {
            (Self::Com2, true) => ("raw port/out of the guest", Aim::AtLeast(0.85)),
            (Self::Com2, false) => ("raw port/into the guest", Aim::AtLeast(0.85)),
            (Self::Data, true) => (PEER, Aim::AtLeast(5.0)),
            (Self::Data, false) => (PEER, Aim::AtLeast(20.0)),
        }
    }

    /// How fast a program's output should come, against the peer's, if that is asked of this door.
    pub(crate) const fn output_aim(self) -> Option<Aim> {
        match self {
            Self::Com2 => None,
            Self::Data => Some(Aim::AtLeast(5.0)),
        }
    }
}
