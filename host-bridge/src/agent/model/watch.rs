//! A connection that ends as soon as nobody waits for what comes. A model that works for nobody keeps the next one waiting:
//! servers stop when the connection is closed.

use std::fmt;
use std::time::{Duration, Instant};

use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

use super::super::patience::Wanted;

/// How often it is looked whether somebody still waits.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Watches each connection that the connectors before it make.
#[derive(Clone)]
pub(super) struct Watch(pub(super) Wanted);

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

impl<In: Transport> Connector<In> for Watch {
    type Out = Watched<In>;

    fn connect(&self, _: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<Watched<In>>, Error> {
        Ok(chained.map(|inner| Watched { inner, watch: self.clone() }))
    }
}

/// A connection that is watched.
#[derive(Debug)]
pub(super) struct Watched<In> {
    inner: In,
    watch: Watch,
}

impl<In: Transport> Transport for Watched<In> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.inner.transmit_output(amount, timeout)
    }

    /// Waits in short pieces. An answer that nobody waits for any more has run out of time.
    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let started = Instant::now();
        loop {
            let left = timeout.after.saturating_sub(started.elapsed());
            let piece = left.min(LOOK_EVERY);
            match self.inner.await_input(NextTimeout { after: piece.into(), ..timeout }) {
                Err(Error::Timeout(_)) if piece < left && (self.watch.0)() => {}
                other => return other,
            }
        }
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}
