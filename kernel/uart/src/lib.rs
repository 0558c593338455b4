//! 16550 UART driver with budgets, generic over how registers are reached (`uart_16550`'s [`Backend`]).
//!
//! No call waits for the device: each moves at most one FIFO and says how much it moved. The exception names
//! who ends it ([`Uart::write_until`]). Register names, bits and their effects are those of the data sheet
//! "PC16550D Universal Asynchronous Receiver/Transmitter with FIFOs", National Semiconductor, June 1995, cited
//! as PC16550D with its section.
#![no_std]
#![deny(unsafe_code)]

mod config;
mod registers;
mod uart;

pub use config::{Config, UartError};
pub use registers::port;
pub use uart::{FIFO_DEPTH, Received, Uart};
pub use uart_16550::backend::{Backend, PioBackend};
pub use uart_16550::spec::registers::{FifoTriggerLevel, InterruptType};
