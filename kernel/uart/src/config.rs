//! How the device is set up, and what can be wrong with it.

use core::fmt;
use core::num::NonZeroU16;

use uart_16550::spec::registers::FifoTriggerLevel;

/// Settings of the line. The format is always 8 data bits, no parity, 1 stop bit, with both FIFOs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// What the clock of 1.8432 MHz is divided by, in units of 16 cycles: 1 is 115,200 baud, 12 is 9,600
    /// (PC16550D section 8.3).
    pub divisor: NonZeroU16,
    /// How full the receive FIFO is when it interrupts. A shorter tail interrupts after four character times
    /// without a new one (PC16550D sections 8.5 and 8.11).
    pub trigger: FifoTriggerLevel,
}

impl Config {
    /// 115,200 baud, interrupt at 14 of 16 bytes. A tail shorter than that waits for four character times,
    /// which are shortest at this divisor.
    pub const LOW_LATENCY: Self = Self { divisor: NonZeroU16::MIN, trigger: FifoTriggerLevel::Fourteen };
}

/// What is wrong with the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UartError {
    /// Nothing answers: the scratch register does not keep what is written, or the line status reads as 0xFF,
    /// as an empty bus does.
    Absent,
}

impl fmt::Display for UartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("no 16550 answers: check that the machine has this serial port"),
        }
    }
}

impl core::error::Error for UartError {}
