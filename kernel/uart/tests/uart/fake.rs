//! A 16550 in software: the registers and their effects as PC16550D section 8 has them, with faults to order.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use askr_uart::Backend;

pub(crate) const DATA_READY: u8 = 0x01;
pub(crate) const OVERRUN: u8 = 0x02;
pub(crate) const PARITY: u8 = 0x04;
pub(crate) const FRAMING: u8 = 0x08;
pub(crate) const BREAK: u8 = 0x10;
const TRANSMITTER: u8 = 0x60;

/// The state behind the registers.
#[derive(Default)]
pub(crate) struct Chip {
    pub(crate) absent: bool,
    /// The FIFO bits of IIR that the chip shows when its FIFOs are on: both, or fewer in an older chip.
    pub(crate) fifo_bits: u8,
    /// Nobody takes what is sent.
    pub(crate) stuck: bool,
    pub(crate) sent: Vec<u8>,
    pub(crate) divisor: [u8; 2],
    pub(crate) line_control: u8,
    pub(crate) modem_control: u8,
    pub(crate) interrupt_enable: u8,
    pub(crate) fifo_control: u8,
    pub(crate) interrupt_enable_writes: Vec<u8>,
    pub(crate) reads_of_data: usize,
    pub(crate) all_writes: usize,
    pub(crate) scratch: u8,
    pub(crate) received: VecDeque<(u8, u8)>,
    pub(crate) to_send: VecDeque<u8>,
    pub(crate) overrun: bool,
    pub(crate) sent_pending: bool,
}

impl Chip {
    /// A byte comes in over the line, with the errors it has.
    pub(crate) fn arrives(&mut self, byte: u8, errors: u8) {
        if self.received.len() >= 16 {
            self.overrun = true;
            return;
        }
        self.received.push_back((byte, errors));
    }

    /// The line takes everything that waits.
    pub(crate) fn drain(&mut self) {
        self.sent.extend(self.to_send.drain(..));
        self.sent_pending = true;
    }

    pub(crate) fn waiting(&self) -> usize {
        self.received.len()
    }

    fn line_status(&mut self) -> u8 {
        let mut status = if self.to_send.is_empty() && !self.stuck { TRANSMITTER } else { 0 };
        if let Some((_, errors)) = self.received.front_mut() {
            // The errors of the byte at the top show once.
            status |= DATA_READY | std::mem::take(errors);
        }
        if std::mem::take(&mut self.overrun) {
            status |= OVERRUN;
        }
        status
    }

    fn interrupt_id(&mut self) -> u8 {
        let trigger = [1, 4, 8, 14][usize::from(self.fifo_control >> 6)];
        let fifo = if self.fifo_control & 1 != 0 { self.fifo_bits } else { 0 };
        let errors = self.overrun || self.received.front().is_some_and(|top| top.1 != 0);
        let cause = if self.interrupt_enable & 4 != 0 && errors {
            0b0110
        } else if self.interrupt_enable & 1 != 0 && self.received.len() >= trigger {
            0b0100
        } else if self.interrupt_enable & 1 != 0 && !self.received.is_empty() {
            0b1100
        } else if self.interrupt_enable & 2 != 0 && std::mem::take(&mut self.sent_pending) {
            0b0010
        } else {
            0b0001
        };
        fifo | cause
    }

    fn write_fifo_control(&mut self, value: u8) {
        if value & 2 != 0 || (value ^ self.fifo_control) & 1 != 0 {
            self.received.clear();
        }
        if value & 4 != 0 || (value ^ self.fifo_control) & 1 != 0 {
            self.to_send.clear();
        }
        self.fifo_control = value;
    }

    fn write_interrupt_enable(&mut self, value: u8) {
        let newly = value & !self.interrupt_enable;
        if newly & 2 != 0 && self.to_send.is_empty() && !self.stuck {
            self.sent_pending = true;
        }
        self.interrupt_enable = value;
        self.interrupt_enable_writes.push(value);
    }

    fn read(&mut self, offset: u8) -> u8 {
        let latch = self.line_control & 0x80 != 0;
        match offset {
            _ if self.absent => 0xFF,
            0 | 1 if latch => self.divisor[usize::from(offset)],
            0 => {
                self.reads_of_data += 1;
                self.received.pop_front().map_or(0, |top| top.0)
            }
            1 => self.interrupt_enable,
            2 => self.interrupt_id(),
            3 => self.line_control,
            4 => self.modem_control,
            5 => self.line_status(),
            6 => 0xB0,
            7 => self.scratch,
            _ => panic!("there is no register {offset}"),
        }
    }

    fn write(&mut self, offset: u8, value: u8) {
        let latch = self.line_control & 0x80 != 0;
        self.all_writes += usize::from(offset != 7);
        match offset {
            _ if self.absent => {}
            0 | 1 if latch => self.divisor[usize::from(offset)] = value,
            0 => {
                // A chip whose FIFO is full, or off and not empty, loses what is written.
                assert!(self.to_send.len() < if self.fifo_control & 1 != 0 { 16 } else { 1 }, "overfilled");
                self.to_send.push_back(value);
                self.sent_pending = false;
            }
            1 => self.write_interrupt_enable(value),
            2 => self.write_fifo_control(value),
            3 => self.line_control = value,
            4 => self.modem_control = value,
            7 => self.scratch = value,
            _ => panic!("register {offset} is not for writing"),
        }
    }
}

/// The driver's and the test's hands on one chip.
#[derive(Clone)]
pub(crate) struct FakeBackend(pub(crate) Rc<RefCell<Chip>>);

impl FakeBackend {
    pub(crate) fn new(chip: Chip) -> Self {
        Self(Rc::new(RefCell::new(chip)))
    }
}

impl Backend for FakeBackend {
    unsafe fn read(&mut self, register_offset: u8) -> u8 {
        self.0.borrow_mut().read(register_offset)
    }

    unsafe fn write(&mut self, register_offset: u8, value: u8) {
        self.0.borrow_mut().write(register_offset, value);
    }
}
