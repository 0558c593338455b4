//! A serial line: the 16550 driver with a ring on either side, so that nobody ever waits on the wire. Both lines of
//! the machine are this same driver with another port.

use askr_uart::{Config, FIFO_DEPTH, PioBackend, Uart, UartError};
use heapless::Deque;

/// First port of COM1.
pub(crate) const COM1: u16 = 0x3f8;
/// First port of COM2.
pub(crate) const COM2: u16 = 0x2f8;

/// Bytes received and not yet read. When it is full the receive interrupt is switched off and the device, and
/// behind it the host, has to wait.
const RECEIVED: usize = 16 * 1024;
/// Bytes to be sent.
const TO_SEND: usize = 16 * 1024;
/// The send ring has run low when this much is left: two FIFOs, so that the line does not idle meanwhile.
const LOW: usize = 2 * FIFO_DEPTH;
/// Passes of one interrupt. Beyond it the interrupt is raised again, so that others get their turn.
const PASSES: usize = 4;

/// One serial line.
pub(crate) struct SerialLine {
    uart: Option<Uart<PioBackend>>,
    /// With one, only a byte of this value (the end of a frame) or a ring half full wakes the reader.
    delimiter: Option<u8>,
    /// The interrupts that are on: receive, transmit.
    armed: (bool, bool),
    received: Deque<u8, RECEIVED>,
    to_send: Deque<u8, TO_SEND>,
    errors: LineErrors,
}

/// Counts of what went wrong on the line.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LineErrors {
    /// Bytes lost because the FIFO was full.
    pub(crate) overruns: u64,
    /// Bytes with a parity or framing error, and breaks.
    pub(crate) damaged: u64,
}

/// What an interrupt brought.
#[derive(Clone, Copy, Default)]
pub(crate) struct Events {
    /// Something worth waking the reader for was received.
    pub(crate) received: bool,
    /// The send ring has run low: whoever feeds it should go on.
    pub(crate) drained: bool,
}

impl SerialLine {
    /// A line not yet open.
    pub(crate) const fn new(delimiter: Option<u8>) -> Self {
        Self {
            uart: None,
            delimiter,
            armed: (false, false),
            received: Deque::new(),
            to_send: Deque::new(),
            errors: LineErrors { overruns: 0, damaged: 0 },
        }
    }

    /// Looks for the device at `port` and programs it. Without one the line stays closed: it swallows what is sent.
    ///
    /// # Errors
    /// What is wrong with the device.
    pub(crate) fn open(&mut self, port: u16) -> Result<(), UartError> {
        // SAFETY: the two standard serial ports of a PC, each opened once, by its owner.
        let mut uart = unsafe { askr_uart::port(port) };
        uart.configure(Config::LOW_LATENCY)?;
        self.uart = Some(uart);
        self.arm();
        Ok(())
    }

    /// Whether [`Self::open`] found the device.
    pub(crate) const fn is_open(&self) -> bool {
        self.uart.is_some()
    }

    /// Serves the interrupt: at most [`PASSES`] FIFOs in and out.
    pub(crate) fn on_interrupt(&mut self) -> Events {
        let before = self.to_send.len();
        let mut events = Events::default();
        let settled = (0..PASSES).any(|_| {
            let moved = self.receive(&mut events) + self.transmit();
            moved == 0
        });
        if !settled {
            // More is there, so the line to the controller has not gone down: let `arm` make a new edge.
            self.armed = (false, false);
        }
        events.drained = before > LOW && self.to_send.len() <= LOW || before > 0 && self.to_send.is_empty();
        self.arm();
        events
    }

    /// Takes up to `into.len()` received bytes.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> usize {
        let mut count = 0;
        while count < into.len() {
            let Some(byte) = self.received.pop_front() else { break };
            into[count] = byte;
            count += 1;
        }
        if count > 0 {
            self.arm();
        }
        count
    }

    /// Bytes that [`Self::send`] would take.
    pub(crate) fn room(&self) -> usize {
        TO_SEND - self.to_send.len()
    }

    /// Puts bytes into the send ring, as many as there is room for, and gets sending going. Returns how many.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> usize {
        let count = self.queue(bytes);
        self.start();
        count
    }

    /// Puts bytes into the send ring without sending yet: call [`Self::start`] after the last piece. Returns how many
    /// there was room for.
    pub(crate) fn queue(&mut self, bytes: &[u8]) -> usize {
        if self.uart.is_none() {
            return bytes.len();
        }
        let count = bytes.len().min(self.room());
        self.to_send.extend(bytes[..count].iter().copied());
        count
    }

    /// Gets going what was queued.
    pub(crate) fn start(&mut self) {
        self.transmit();
        self.arm();
    }

    /// Bytes that wait to be sent.
    pub(crate) fn unsent(&self) -> usize {
        self.to_send.len()
    }

    /// Whether so little waits that the next piece should come.
    pub(crate) fn has_run_low(&self) -> bool {
        self.to_send.len() <= LOW
    }

    /// Tries to hand one byte to the device, past the ring; returns whether it took it.
    pub(crate) fn probe(&mut self, byte: u8) -> bool {
        self.uart.as_mut().is_none_or(|uart| uart.transmit(&[byte]) == 1)
    }

    /// Forgets what waits to be sent; returns how much it was.
    pub(crate) fn discard(&mut self) -> usize {
        let count = self.to_send.len();
        self.to_send.clear();
        self.arm();
        count
    }

    /// Sends what waits by polling, until it is out or `expired` says so.
    pub(crate) fn flush_until(&mut self, mut expired: impl FnMut() -> bool) {
        while !self.to_send.is_empty() && self.uart.is_some() && !expired() {
            self.transmit();
        }
    }

    /// Sends `bytes` by polling, until they are out or `expired` says so: for emergencies.
    pub(crate) fn write_polled(&mut self, bytes: &[u8], expired: impl FnMut() -> bool) {
        if let Some(uart) = &mut self.uart {
            uart.write_until(bytes, expired);
        }
    }

    /// What went wrong so far.
    pub(crate) const fn errors(&self) -> LineErrors {
        self.errors
    }

    /// One FIFO from the device into the ring, if there is room for all of it.
    fn receive(&mut self, events: &mut Events) -> usize {
        let Some(uart) = &mut self.uart else { return 0 };
        if RECEIVED - self.received.len() < FIFO_DEPTH {
            return 0;
        }
        let mut fifo = [0; FIFO_DEPTH];
        let got = uart.receive(&mut fifo);
        let bytes = &fifo[..got.count];
        self.received.extend(bytes.iter().copied());
        events.received |= match self.delimiter {
            Some(delimiter) => bytes.contains(&delimiter) || self.received.len() >= RECEIVED / 2,
            None => got.count > 0,
        };
        self.errors.overruns += u64::from(got.overruns);
        self.errors.damaged += u64::from(got.damaged);
        got.count
    }

    /// One FIFO from the ring to the device, if it is empty.
    fn transmit(&mut self) -> usize {
        let Some(uart) = &mut self.uart else { return 0 };
        let mut fifo = [0; FIFO_DEPTH];
        let count =
            self.to_send.iter().take(FIFO_DEPTH).zip(&mut fifo).map(|(byte, slot)| *slot = *byte).count();
        let sent = uart.transmit(&fifo[..count]);
        for _ in 0..sent {
            self.to_send.pop_front();
        }
        sent
    }

    /// Asks for the interrupts that make sense now: receive while there is room, send while something waits. The
    /// 8259 sees edges, and writing the enable register makes one if a cause is pending. The register is left alone
    /// when nothing changes: on a virtual machine each access to a port is an exit.
    fn arm(&mut self) {
        let wanted = (RECEIVED - self.received.len() >= FIFO_DEPTH, !self.to_send.is_empty());
        if let Some(uart) = self.uart.as_mut().filter(|_| wanted != self.armed) {
            uart.set_interrupts(wanted.0, wanted.1);
            self.armed = wanted;
        }
    }
}
