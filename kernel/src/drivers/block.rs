//! The disk: a VirtIO block device (VirtIO 1.2, 5.2). One request at a time; the task that asked parks until the
//! device's interrupt. The queue is the `virtio-drivers` crate's, its block driver is not used: that one spins for as
//! long as a flush takes.

use super::virtio::{self, Found, Memory};
use crate::arch::clock::{self, Nanos, SECOND};
use crate::arch::pic::{self, Device};
use crate::{kprintln, sched};
use alloc::boxed::Box;
use alloc::vec;
use askr_abi::Errno;
use core::mem::ManuallyDrop;
use virtio_drivers::PAGE_SIZE;
use virtio_drivers::queue::VirtQueue;
use virtio_drivers::transport::{DeviceStatus, DeviceType, SomeTransport, Transport};

/// Most bytes of one request.
const TRANSFER_MAX: usize = 64 * 1024;
/// How long the device may take for one request. After that it is not used any more.
const PATIENCE: Nanos = 30 * SECOND;
/// As many ticks must have come besides: while the machine as a whole was stopped the device had no time.
const PATIENCE_TICKS: u64 = 300;
/// How often to look without an interrupt: the device may have no line, or one that leads nowhere.
const LOOK: Nanos = SECOND / 100;
/// The queue for requests (5.2.2) and its size: a request takes three descriptors.
const QUEUE: u16 = 0;
const QUEUE_SIZE: usize = 4;
/// Feature bits (5.2.3 and 6): the device is read-only; it can flush; it is no legacy device.
const READ_ONLY: u64 = 1 << 5;
const FLUSH: u64 = 1 << 9;
const VERSION_1: u64 = 1 << 32;
/// Types of requests (5.2.6).
const IN: u32 = 0;
const OUT: u32 = 1;
const FLUSH_CACHE: u32 = 4;
/// Status of a request that went well.
const OK: u8 = 0;

/// The disk of this machine.
pub(crate) struct BlockDevice {
    // Both are never dropped: the device may still use the queue's memory.
    transport: ManuallyDrop<SomeTransport<'static>>,
    queue: ManuallyDrop<VirtQueue<Memory, QUEUE_SIZE>>,
    buffers: &'static mut Buffers,
    line: Option<u8>,
    features: u64,
    sectors: u64,
    dead: bool,
}

/// What the device reads and writes. It is never freed, since a device that does not answer in time may still come for it.
struct Buffers {
    /// `struct virtio_blk_req`: type, reserved, sector.
    head: [u8; 16],
    data: Box<[u8]>,
    status: [u8; 1],
}

/// What a request does with the data.
#[derive(Clone, Copy)]
enum Data {
    In(usize),
    Out(usize),
    None,
}

impl BlockDevice {
    /// The machine's disk, if it has one that can be used.
    pub(crate) fn find() -> Option<Self> {
        match Self::open(virtio::find(DeviceType::Block)?) {
            Ok(device) => Some(device),
            Err(reason) => {
                kprintln!("disk: {reason}");
                None
            }
        }
    }

    /// Starts the device (3.1.1).
    fn open(found: Found) -> Result<Self, virtio_drivers::Error> {
        let mut transport = found.transport;
        let mut status = DeviceStatus::ACKNOWLEDGE | DeviceStatus::DRIVER;
        transport.set_status(DeviceStatus::empty());
        transport.set_status(status);
        let features = transport.read_device_features() & (READ_ONLY | FLUSH | VERSION_1);
        transport.write_driver_features(features);
        status |= DeviceStatus::FEATURES_OK;
        transport.set_status(status);
        if features & VERSION_1 != 0 && !transport.get_status().contains(DeviceStatus::FEATURES_OK) {
            return Err(virtio_drivers::Error::Unsupported);
        }
        transport.set_guest_page_size(PAGE_SIZE as u32);
        let queue = VirtQueue::new(&mut transport, QUEUE, false, false)?;
        let words = (transport.read_config_space::<u32>(0)?, transport.read_config_space::<u32>(4)?);
        transport.set_status(status | DeviceStatus::DRIVER_OK);
        let buffers = Buffers { head: [0; 16], data: vec![0; TRANSFER_MAX].into_boxed_slice(), status: [0] };
        Ok(Self {
            transport: ManuallyDrop::new(transport),
            queue: ManuallyDrop::new(queue),
            buffers: Box::leak(Box::new(buffers)),
            line: found.line,
            features,
            sectors: u64::from(words.0) | u64::from(words.1) << 32,
            dead: false,
        })
    }

    /// Its size in sectors.
    pub(crate) const fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Whether it takes no writes.
    pub(crate) const fn is_read_only(&self) -> bool {
        self.features & READ_ONLY != 0
    }

    /// Reads whole sectors, at most [`TRANSFER_MAX`] bytes.
    ///
    /// # Errors
    /// EIO when the device fails, does not answer in time, or has not before.
    pub(crate) fn read(&mut self, sector: u64, into: &mut [u8]) -> Result<(), Errno> {
        self.request(IN, sector, Data::In(into.len()))?;
        into.copy_from_slice(&self.buffers.data[..into.len()]);
        Ok(())
    }

    /// Writes whole sectors, at most [`TRANSFER_MAX`] bytes.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn write(&mut self, sector: u64, bytes: &[u8]) -> Result<(), Errno> {
        if self.dead {
            return Err(Errno::EIO);
        }
        self.buffers.data[..bytes.len()].copy_from_slice(bytes);
        self.request(OUT, sector, Data::Out(bytes.len()))
    }

    /// Returns after what was written is where a power cut cannot reach it.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn flush(&mut self) -> Result<(), Errno> {
        // Without the feature the device keeps nothing back (5.2.6.2).
        if self.features & FLUSH == 0 { Ok(()) } else { self.request(FLUSH_CACHE, 0, Data::None) }
    }

    fn request(&mut self, kind: u32, sector: u64, data: Data) -> Result<(), Errno> {
        if self.dead {
            return Err(Errno::EIO);
        }
        self.buffers.head[..4].copy_from_slice(&kind.to_le_bytes());
        self.buffers.head[8..].copy_from_slice(&sector.to_le_bytes());
        if let Some(line) = self.line {
            pic::wake_by_line(line, Device::Disk, sched::current());
        }
        let outcome = self.exchange(data);
        if let Some(line) = self.line {
            // Others may have the line, and this task waits for other things from now on.
            pic::forget_line(line, Device::Disk);
        }
        outcome
    }

    fn exchange(&mut self, data: Data) -> Result<(), Errno> {
        let token = self.submit(data).map_err(|_| Errno::EIO)?;
        if self.queue.should_notify() {
            self.transport.notify(QUEUE);
        }
        self.wait(token)?;
        self.complete(token, data).map_err(|_| Errno::EIO)?;
        if self.buffers.status[0] == OK { Ok(()) } else { Err(Errno::EIO) }
    }

    fn submit(&mut self, data: Data) -> virtio_drivers::Result<u16> {
        let Buffers { head, data: bytes, status } = &mut *self.buffers;
        // SAFETY: the buffers are never freed, and nothing touches them before `complete`: after a request that is not
        // answered in time the device is dead, and no method goes on to them.
        unsafe {
            match data {
                Data::In(length) => self.queue.add(&[head], &mut [&mut bytes[..length], status]),
                Data::Out(length) => self.queue.add(&[head, &bytes[..length]], &mut [status]),
                Data::None => self.queue.add(&[head], &mut [status]),
            }
        }
    }

    fn complete(&mut self, token: u16, data: Data) -> virtio_drivers::Result<u32> {
        let Buffers { head, data: bytes, status } = &mut *self.buffers;
        // SAFETY: these are the buffers that `submit` gave for this request.
        unsafe {
            match data {
                Data::In(length) => self.queue.pop_used(token, &[head], &mut [&mut bytes[..length], status]),
                Data::Out(length) => self.queue.pop_used(token, &[head, &bytes[..length]], &mut [status]),
                Data::None => self.queue.pop_used(token, &[head], &mut [status]),
            }
        }
    }

    /// Parks until the device has answered.
    fn wait(&mut self, token: u16) -> Result<(), Errno> {
        let (deadline, ticks) = (clock::now() + PATIENCE, sched::ticks() + PATIENCE_TICKS);
        loop {
            // In this order: what the device does after the look raises the line again.
            self.transport.ack_interrupt();
            if let Some(line) = self.line {
                pic::seen_to(line, Device::Disk);
            }
            if self.queue.peek_used() == Some(token) {
                return Ok(());
            }
            let now = clock::now();
            if now >= deadline && sched::ticks() >= ticks {
                self.dead = true;
                kprintln!("disk: no answer for {} s; it is not used any more", PATIENCE / SECOND);
                return Err(Errno::EIO);
            }
            sched::park_until(now + LOOK);
        }
    }
}
