//! A running machine whose console is scripted.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::error::Transcript;
use crate::{Console, Error, Exit, Result, Vm};

/// A [`Vm`] with a [`Console`] on COM1. All of the console's methods work on the guest itself.
pub struct Guest {
    console: Console,
    vm: Vm,
}

impl Guest {
    /// Takes over the machine's COM1.
    pub(crate) fn new(mut vm: Vm) -> Result<Self> {
        let com1 = vm.take_com1().ok_or_else(|| Error::GuestEnded {
            what: "its console was taken".into(),
            transcript: Transcript::default(),
        })?;
        Ok(Self { console: Console::new(com1).map_err(Error::io("console"))?, vm })
    }

    /// The machine: COM2, QMP, pause, kill.
    #[must_use]
    pub fn vm(&mut self) -> &mut Vm {
        &mut self.vm
    }

    /// Waits until the guest has ended.
    ///
    /// # Errors
    /// [`Error::Deadline`] with the console's transcript when it still runs.
    pub fn exit(&mut self, within: Duration) -> Result<Exit> {
        self.vm.wait(within).map_err(|error| match error {
            Error::Deadline { what, within, .. } => {
                Error::Deadline { what, within, transcript: Transcript(Some(self.console.transcript())) }
            }
            other => other,
        })
    }
}

impl Deref for Guest {
    type Target = Console;

    fn deref(&self) -> &Console {
        &self.console
    }
}

impl DerefMut for Guest {
    fn deref_mut(&mut self) -> &mut Console {
        &mut self.console
    }
}
