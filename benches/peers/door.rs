//! The ways into the guest for frames. What is measured over the wire is measured through each of them.

use std::os::unix::net::UnixStream;

use askr::{Machine, Vm};
use host_bridge::link::{Connect, Stream};
use host_bridge::socket;

use crate::Result;
use crate::report::Aim;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// The second serial port.
    Com2,
}

impl Door {
    pub(crate) const ALL: [Self; 1] = [Self::Com2];

    /// As in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Com2 => "COM2",
        }
    }

    /// The machine, with this door in it.
    pub(crate) fn built_into(self, machine: Machine) -> Machine {
        match self {
            Self::Com2 => machine,
        }
    }

    /// Connects to it; QEMU serves one at a time.
    pub(crate) fn connect(self, vm: &Vm) -> Result<UnixStream> {
        match self {
            Self::Com2 => Ok(vm.com2()?),
        }
    }

    /// How a hub connects to it.
    pub(crate) fn connector(self, vm: &Vm) -> Connect {
        let path = match self {
            Self::Com2 => vm.com2_path(),
        };
        Box::new(move || Stream::try_from(socket::connect(&path)?))
    }

    /// How fast a ping should be, against the peer's.
    pub(crate) const fn ping_aim(self) -> Aim {
        match self {
            Self::Com2 => Aim::AtMost(0.6),
        }
    }

    /// How fast files of a MiB and more should move out of the guest (`reads`) or into it, and against what.
    pub(crate) const fn transfer_aim(self, reads: bool) -> (&'static str, Aim) {
        match (self, reads) {
            (Self::Com2, true) => ("raw port/out of the guest", Aim::AtLeast(0.85)),
            (Self::Com2, false) => ("raw port/into the guest", Aim::AtLeast(0.85)),
        }
    }

    /// How fast a program's output should come, against the peer's, if that is asked of this door.
    pub(crate) const fn output_aim(self) -> Option<Aim> {
        match self {
            Self::Com2 => None,
        }
    }
}
