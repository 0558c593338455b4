//! 16550 UART driver with budgets, generic over the register backend.
#![no_std]
#![forbid(unsafe_code)]
