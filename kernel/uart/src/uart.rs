//! The driver.

use uart_16550::backend::Backend;
use uart_16550::spec::registers::{FCR, IER, ISR, InterruptType, LCR, LSR, MCR, WordLength};

use crate::registers::{Register, read, write};
use crate::{Config, UartError};

/// Bytes that each FIFO holds.
pub const FIFO_DEPTH: usize = 16;
/// What reads give where no device is.
const EMPTY_BUS: u8 = 0xFF;
/// Two bytes that an empty bus and a stuck one do not both give back.
const PRESENCE_PATTERNS: [u8; 2] = [0x5A, 0xA5];
/// Errors of the line status that a read clears (PC16550D section 8.4).
const ERRORS: LSR =
    LSR::OVERRUN_ERROR.union(LSR::PARITY_ERROR).union(LSR::FRAMING_ERROR).union(LSR::BREAK_INTERRUPT);

/// What [`Uart::receive`] brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Received {
    /// Bytes put into the buffer.
    pub count: usize,
    /// Times that bytes were lost because the FIFO was full: at least one byte each.
    pub overruns: u8,
    /// Bytes with a parity or framing error (they are in the buffer; what they are part of has a checksum or a
    /// reader) and breaks (whose NUL is not).
    pub damaged: u8,
    /// The device has gone: its line status reads as an empty bus.
    pub absent: bool,
}

/// A 16550 UART.
#[derive(Debug)]
pub struct Uart<B> {
    backend: B,
    /// Bytes that may be written when the transmitter is empty: one until the FIFO is known to be on.
    depth: usize,
    /// Errors seen, and so cleared, by a look at the line status that was not for receiving.
    seen: LSR,
}

impl<B: Backend> Uart<B> {
    /// A UART behind `backend`, not yet set up.
    pub const fn new(backend: B) -> Self {
        Self { backend, depth: 1, seen: LSR::empty() }
    }

    /// Sets the device up, its interrupts off. What it has received and not sent is dropped with the FIFOs;
    /// it never waits for the transmitter, which a host that does not read keeps full. The FIFOs then stay on:
    /// switching them loses bytes.
    ///
    /// # Errors
    /// [`UartError::Absent`] when nothing answers; then nothing but the scratch register was written to.
    pub fn configure(&mut self, config: Config) -> Result<(), UartError> {
        if !self.answers() {
            return Err(UartError::Absent);
        }
        let format = LCR::empty().set_word_length(WordLength::EightBits);
        let [low, high] = config.divisor.get().to_le_bytes();
        // DLAB off first: with it on, this would be the divisor and not the interrupt enables.
        self.write(Register::LineControl, format.bits());
        self.write(Register::InterruptEnable, IER::empty().bits());
        self.write(Register::LineControl, (format | LCR::DLAB).bits());
        self.write(Register::Data, low);
        self.write(Register::InterruptEnable, high);
        self.write(Register::LineControl, format.bits());

        let fifo = FCR::FIFO_ENABLE | FCR::RX_FIFO_RESET | FCR::TX_FIFO_RESET;
        self.write(Register::InterruptId, fifo.set_fifo_trigger_level(config.trigger).bits());
        // Without both bits the chip is a 16450, or a 16550 whose FIFO is broken (PC16550D section 8.6).
        let identity = ISR::from_bits_retain(self.read(Register::InterruptId));
        self.depth = if identity.fifo_enabled() { FIFO_DEPTH } else { 1 };
        // OUT2 connects the interrupt to the bus of a PC.
        self.write(Register::ModemControl, (MCR::DTR | MCR::RTS | MCR::OUT_2_INT_ENABLE).bits());
        // Reading clears what the past has left (PC16550D sections 8.4 and 8.9).
        self.read(Register::LineStatus);
        self.read(Register::ModemStatus);
        self.seen = LSR::empty();
        Ok(())
    }

    /// Moves what has been received into `into`: at most one FIFO.
    pub fn receive(&mut self, into: &mut [u8]) -> Received {
        let mut received = Received::default();
        for _ in 0..FIFO_DEPTH.min(into.len()) {
            let Some(status) = self.line_status() else {
                received.absent = true;
                break;
            };
            received.overruns += u8::from(status.contains(LSR::OVERRUN_ERROR));
            if !status.contains(LSR::DATA_READY) {
                break;
            }
            let byte = self.read(Register::Data);
            let is_break = status.contains(LSR::BREAK_INTERRUPT);
            let wrong = status.intersects(LSR::PARITY_ERROR | LSR::FRAMING_ERROR | LSR::BREAK_INTERRUPT);
            received.damaged += u8::from(wrong);
            if !is_break {
                into[received.count] = byte;
                received.count += 1;
            }
        }
        received
    }

    /// Hands bytes to the device and returns how many: none while its transmitter has something left, else at
    /// most one FIFO.
    pub fn transmit(&mut self, bytes: &[u8]) -> usize {
        self.try_transmit(bytes).unwrap_or(0)
    }

    /// Sends by polling until all is handed over, `expired` says so or the device has gone; returns how many
    /// bytes were handed over. For the last words of a panic.
    pub fn write_until(&mut self, bytes: &[u8], mut expired: impl FnMut() -> bool) -> usize {
        let mut sent = 0;
        while sent < bytes.len() && !expired() {
            let Some(count) = self.try_transmit(&bytes[sent..]) else { break };
            sent += count;
        }
        sent
    }

    /// Chooses the interrupts: something received (the FIFO has reached its trigger, or a tail has waited),
    /// everything sent. The line to the interrupt controller goes down first, so that a controller that sees
    /// only edges gets one for every cause that is pending now, "everything sent" among them (PC16550D section
    /// 8.7).
    pub fn set_interrupts(&mut self, receive: bool, transmit: bool) {
        let mut enable = IER::empty();
        enable.set(IER::DATA_READY, receive);
        enable.set(IER::THR_EMPTY, transmit);
        self.write(Register::InterruptEnable, IER::empty().bits());
        self.write(Register::InterruptEnable, enable.bits());
    }

    /// The most urgent cause of an interrupt, if any. Reading it takes [the sent
    /// one](InterruptType::TransmitterHoldingRegisterEmpty) back (PC16550D section 8.6, table IV).
    pub fn pending(&mut self) -> Option<InterruptType> {
        ISR::from_bits_retain(self.read(Register::InterruptId)).interrupt_type()
    }

    /// None when the device has gone.
    fn try_transmit(&mut self, bytes: &[u8]) -> Option<usize> {
        if bytes.is_empty() {
            return Some(0);
        }
        let status = self.line_status()?;
        self.seen = status & ERRORS;
        if !status.contains(LSR::THR_EMPTY) {
            return Some(0);
        }
        let count = bytes.len().min(self.depth);
        for &byte in &bytes[..count] {
            self.write(Register::Data, byte);
        }
        Some(count)
    }

    /// The line status with the errors that an earlier look has cleared; none when the device has gone.
    fn line_status(&mut self) -> Option<LSR> {
        let bits = self.read(Register::LineStatus);
        if bits == EMPTY_BUS {
            return None;
        }
        let seen = core::mem::replace(&mut self.seen, LSR::empty());
        Some(LSR::from_bits_retain(bits) | seen)
    }

    fn answers(&mut self) -> bool {
        let keeps = PRESENCE_PATTERNS.into_iter().all(|pattern| {
            self.write(Register::Scratch, pattern);
            self.read(Register::Scratch) == pattern
        });
        keeps && self.read(Register::LineStatus) != EMPTY_BUS
    }

    fn read(&mut self, register: Register) -> u8 {
        read(&mut self.backend, register)
    }

    fn write(&mut self, register: Register, value: u8) {
        write(&mut self.backend, register, value);
    }
}
