//! The agent's port of a VirtIO console (VirtIO 1.2, 5.3): bytes in both directions, in pieces as large as a frame. The
//! queues are those of the `virtio-drivers` crate; its console driver is not used, since it has only the first port, and
//! QEMU drops what a slow reader does not take from that one. This one is number 1, which QEMU gives to the first
//! `virtserialport`.
//!
//! Nothing here waits: queues are looked at, and what the device has not done yet it may do later.

use super::virtio::{self, Found, Ring};
use crate::arch::pic::{self, Device};
use crate::kprintln;
use crate::sched::Task;
use alloc::sync::Arc;
use askr_wire::FRAME_MAX;
use core::mem::ManuallyDrop;
use virtio_drivers::transport::{DeviceStatus, DeviceType, SomeTransport, Transport};
use virtio_drivers::{Error, PAGE_SIZE, Result};

/// The name that the port must have.
const NAME: &[u8] = b"askr.agent";
/// Its number, and its queues by that (5.3.2): those of port 0 come first, then two for control.
const PORT: u32 = 1;
const CONTROL_IN: u16 = 2;
const CONTROL_OUT: u16 = 3;
const RECEIVE: u16 = 4;
const TRANSMIT: u16 = 5;
/// Buffers for what comes in, and their size, the most that QEMU takes from a socket at once.
const RECEIVE_BUFFERS: usize = 16;
const RECEIVE_SIZE: usize = 4096;
/// Frames that are on their way out at most.
const TRANSMIT_BUFFERS: usize = 4;
/// Control messages on their way, and the size of one with a name.
const CONTROL_BUFFERS: usize = 8;
const CONTROL_SIZE: usize = 64;
/// Feature bits (5.3.3 and 6): more than one port; no legacy device.
const MULTIPORT: u64 = 1 << 1;
const VERSION_1: u64 = 1 << 32;
/// Where the number of ports is in the configuration (5.3.4).
const MAX_PORTS: usize = 4;
/// After so many interrupts in a row that were not of this device, its line is given up.
const STRAYS_MAX: u32 = 1000;

/// Kinds of control messages, `[port:4][kind:2][value:2]` and for a name its bytes (5.3.6.2).
mod kind {
    pub(super) const DEVICE_READY: u16 = 0;
    pub(super) const DEVICE_ADD: u16 = 1;
    pub(super) const DEVICE_REMOVE: u16 = 2;
    pub(super) const PORT_READY: u16 = 3;
    pub(super) const PORT_OPEN: u16 = 6;
    pub(super) const PORT_NAME: u16 = 7;
}

/// The port.
pub(crate) struct AgentPort {
    // Never dropped: the device may still use the queues' memory.
    transport: ManuallyDrop<SomeTransport<'static>>,
    line: Option<u8>,
    /// Whether that line was seen to lead here.
    line_works: bool,
    strays: u32,
    control_in: Ring<CONTROL_BUFFERS>,
    control_out: Ring<CONTROL_BUFFERS>,
    receive: Ring<RECEIVE_BUFFERS>,
    transmit: Ring<TRANSMIT_BUFFERS>,
    /// The buffer that is being read, from where and to where.
    reading: Option<(usize, usize, usize)>,
    /// Buffers that were given back since the device was last told of one.
    untold: usize,
    /// The port has the right name, and the device was told that we use it.
    is_ours: bool,
    /// Somebody is at the other end.
    is_open: bool,
    /// The device may have forgotten what it was given, see [`Self::restart_if_due`].
    must_restart: bool,
    dead: bool,
}

impl AgentPort {
    /// The port, if the machine has a device for it. Whether that device has the port, and somebody is there, turns out
    /// later.
    pub(crate) fn find() -> Option<Self> {
        match Self::start(virtio::find(DeviceType::Console)?) {
            Ok(port) => Some(port),
            Err(reason) => {
                kprintln!("agent port: {reason}");
                None
            }
        }
    }

    /// Starts the device (3.1.1 and 5.3.5).
    fn start(found: Found) -> Result<Self> {
        let mut transport = ManuallyDrop::new(found.transport);
        let status = negotiate(&mut transport)?;
        let mut port = Self {
            control_in: Ring::new(&mut transport, CONTROL_IN, CONTROL_SIZE)?,
            control_out: Ring::new(&mut transport, CONTROL_OUT, CONTROL_SIZE)?,
            receive: Ring::new(&mut transport, RECEIVE, RECEIVE_SIZE)?,
            transmit: Ring::new(&mut transport, TRANSMIT, FRAME_MAX)?,
            transport,
            line: found.line,
            line_works: false,
            strays: 0,
            reading: None,
            untold: 0,
            is_ours: false,
            is_open: false,
            must_restart: false,
            dead: false,
        };
        port.begin(status)?;
        Ok(port)
    }

    /// Starts the device again. What it was sent and had not done is lost.
    fn restart(&mut self) -> Result<()> {
        let status = negotiate(&mut self.transport)?;
        self.control_in.restart(&mut self.transport)?;
        self.control_out.restart(&mut self.transport)?;
        self.receive.restart(&mut self.transport)?;
        self.transmit.restart(&mut self.transport)?;
        (self.reading, self.untold) = (None, 0);
        (self.is_ours, self.is_open, self.must_restart) = (false, false, false);
        self.begin(status)
    }

    /// The queues are there: the device may work.
    fn begin(&mut self, status: DeviceStatus) -> Result<()> {
        // What goes out is looked after by whoever sends the next.
        self.control_out.set_interrupts(false);
        self.transmit.set_interrupts(false);
        self.transport.set_status(status | DeviceStatus::DRIVER_OK);
        (0..CONTROL_BUFFERS).try_for_each(|buffer| self.control_in.offer(buffer))?;
        (0..RECEIVE_BUFFERS).try_for_each(|buffer| self.receive.offer(buffer))?;
        self.control_in.notify(&mut self.transport);
        self.receive.notify(&mut self.transport);
        self.tell(u32::MAX, kind::DEVICE_READY)
    }

    /// Makes the device wake this task.
    pub(crate) fn wake(&self, task: &Arc<Task>) {
        if let Some(line) = self.line {
            pic::wake_by_line(line, Device::AgentPort, task.clone());
            pic::seen_to(line, Device::AgentPort);
        }
    }

    /// Whether the device wakes whoever waits for it; else it has to be looked at.
    pub(crate) const fn wakes(&self) -> bool {
        self.dead || self.line_works
    }

    /// Whether somebody is at the other end.
    pub(crate) const fn is_open(&self) -> bool {
        self.is_open && self.is_ours && !self.dead
    }

    /// Looks after the interrupt and the messages about the port.
    pub(crate) fn look(&mut self) {
        self.see_to_line();
        let outcome = self.serve_control();
        self.note(outcome);
    }

    /// Takes up to `into.len()` received bytes.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> usize {
        let outcome = self.fill(into).and_then(|count| self.restart_if_due(count).map(|()| count));
        self.note(outcome).unwrap_or(0)
    }

    /// When the other end goes away in the middle of a buffer, QEMU (7.2) never gives that buffer back. So the device is
    /// started again then, as soon as what came in is read.
    fn restart_if_due(&mut self, received: usize) -> Result<()> {
        if !self.must_restart || self.dead || (received > 0 && self.transmit.free().is_some()) {
            return Ok(());
        }
        self.restart()
    }

    /// Whether another frame may be sent; if not, an interrupt tells when. Beside it, whether any has left since the last
    /// look.
    pub(crate) fn has_room(&mut self) -> (bool, bool) {
        let mut left = 0;
        // The second time after the interrupt is on: what leaves from then on raises it.
        for interrupts in [false, true] {
            self.transmit.set_interrupts(interrupts);
            let outcome = self.transmit.reap();
            left += self.note(outcome).unwrap_or(0);
            if self.transmit.free().is_some() {
                self.transmit.set_interrupts(false);
                return (true, left > 0);
            }
        }
        (false, left > 0)
    }

    /// Whether nothing is on its way out.
    pub(crate) fn is_clear(&mut self) -> bool {
        let outcome = self.transmit.reap();
        self.note(outcome);
        !self.is_open() || self.transmit.is_idle()
    }

    /// Puts a frame on its way. Without room or anybody at the other end it is dropped.
    pub(crate) fn send(&mut self, frame: &[u8]) {
        if !self.is_open() {
            return;
        }
        if let Some(buffer) = self.transmit.free() {
            let outcome = self.transmit.send(&mut self.transport, buffer, frame);
            self.note(outcome);
        }
    }

    /// The line is opened before the queues are looked at: what the device does after the look raises it again.
    fn see_to_line(&mut self) {
        let Some(line) = self.line.filter(|&line| pic::has_fired(line, Device::AgentPort)) else { return };
        if self.transport.ack_interrupt().is_empty() {
            // Of another device on this line; or of one that nobody looks after, and it would never end.
            self.strays += 1;
            if self.strays > STRAYS_MAX {
                kprintln!("agent port: line {line} fires and nobody knows why; it is not used any more");
                self.forget_line();
                return;
            }
        } else {
            (self.strays, self.line_works) = (0, true);
        }
        pic::seen_to(line, Device::AgentPort);
    }

    fn forget_line(&mut self) {
        if let Some(line) = self.line.take() {
            pic::forget_line(line, Device::AgentPort);
        }
        self.line_works = false;
    }

    fn fill(&mut self, into: &mut [u8]) -> Result<usize> {
        let mut count = 0;
        while count < into.len() && !self.dead {
            let Some((buffer, from, to)) = self.reading.take().filter(|(_, from, to)| from < to) else {
                let Some((buffer, length)) = self.receive.take_filled()? else { break };
                if length == 0 {
                    self.give_back(buffer)?;
                } else {
                    self.reading = Some((buffer, 0, length));
                }
                continue;
            };
            let piece = (to - from).min(into.len() - count);
            into[count..count + piece].copy_from_slice(&self.receive.bytes(buffer)[from..from + piece]);
            count += piece;
            if from + piece < to {
                self.reading = Some((buffer, from + piece, to));
            } else {
                self.give_back(buffer)?;
            }
        }
        Ok(count)
    }

    /// The device sees by itself that there is another buffer, unless it had none left: then it has to be told, but not for
    /// each of them.
    fn give_back(&mut self, buffer: usize) -> Result<()> {
        self.receive.offer(buffer)?;
        self.untold += 1;
        if self.untold >= RECEIVE_BUFFERS / 2 {
            self.untold = 0;
            self.receive.notify(&mut self.transport);
        }
        Ok(())
    }

    fn serve_control(&mut self) -> Result<()> {
        if self.dead {
            return Ok(());
        }
        // As many as can have come since the last look.
        for _ in 0..CONTROL_BUFFERS {
            let Some((buffer, length)) = self.control_in.take_filled()? else { break };
            let mut message = [0; CONTROL_SIZE];
            message[..length].copy_from_slice(&self.control_in.bytes(buffer)[..length]);
            self.control_in.offer(buffer)?;
            self.control_in.notify(&mut self.transport);
            self.on_control(&message[..length])?;
        }
        Ok(())
    }

    fn on_control(&mut self, message: &[u8]) -> Result<()> {
        let &[p0, p1, p2, p3, k0, k1, v0, v1, ref name @ ..] = message else { return Ok(()) };
        if u32::from_le_bytes([p0, p1, p2, p3]) != PORT {
            return Ok(());
        }
        match u16::from_le_bytes([k0, k1]) {
            kind::DEVICE_ADD => self.tell(PORT, kind::PORT_READY)?,
            kind::DEVICE_REMOVE => (self.is_ours, self.is_open) = (false, false),
            // Some devices end the name with a NUL.
            kind::PORT_NAME if name.strip_suffix(b"\0").unwrap_or(name) == NAME => {
                self.is_ours = true;
                self.tell(PORT, kind::PORT_OPEN)?;
            }
            kind::PORT_OPEN => {
                self.is_open = u16::from_le_bytes([v0, v1]) != 0;
                self.transmit.reap()?;
                self.must_restart |= !self.is_open && !self.transmit.is_idle();
            }
            _ => {}
        }
        Ok(())
    }

    /// Sends a control message with the value 1.
    fn tell(&mut self, port: u32, kind: u16) -> Result<()> {
        let mut message = [0; 8];
        message[..4].copy_from_slice(&port.to_le_bytes());
        message[4..6].copy_from_slice(&kind.to_le_bytes());
        message[6] = 1;
        self.control_out.reap()?;
        let buffer = self.control_out.free().ok_or(Error::QueueFull)?;
        self.control_out.send(&mut self.transport, buffer, &message)
    }

    /// A device that says what cannot be, or cannot be started again, is not used any more.
    fn note<T>(&mut self, outcome: Result<T>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(_) if self.dead => None,
            Err(reason) => {
                kprintln!("agent port: {reason}; it is not used any more");
                self.dead = true;
                self.forget_line();
                self.transport.set_status(DeviceStatus::empty());
                None
            }
        }
    }
}

/// Resets the device and agrees with it on what both can do; returns its status so far.
fn negotiate(transport: &mut SomeTransport<'static>) -> Result<DeviceStatus> {
    let mut status = DeviceStatus::ACKNOWLEDGE | DeviceStatus::DRIVER;
    transport.set_status(DeviceStatus::empty());
    if !transport.get_status().is_empty() {
        return Err(Error::NotReady); // it still has what it was given
    }
    transport.set_status(status);
    let features = transport.read_device_features() & (MULTIPORT | VERSION_1);
    transport.write_driver_features(features);
    status |= DeviceStatus::FEATURES_OK;
    transport.set_status(status);
    let taken = features & VERSION_1 == 0 || transport.get_status().contains(DeviceStatus::FEATURES_OK);
    if !taken || features & MULTIPORT == 0 || transport.read_config_space::<u32>(MAX_PORTS)? <= PORT {
        return Err(Error::Unsupported);
    }
    transport.set_guest_page_size(PAGE_SIZE as u32);
    Ok(status)
}
