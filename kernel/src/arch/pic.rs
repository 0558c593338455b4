//! The 8259 interrupt controllers, whose interrupts come through the local APIC where there is one.

use super::apic;
use super::trap::IRQ_BASE;
use crate::sched::{self, Task};
use crate::sync::IrqMutex;
use crate::timeline::{self, Point};
use alloc::sync::Arc;
use pic8259::ChainedPics;
use x86_64::instructions::port::Port;

/// Interrupt line of the timer.
pub(crate) const IRQ_TIMER: u8 = 0;
/// Interrupt line of the keyboard.
pub(crate) const IRQ_KEYBOARD: u8 = 1;
/// Interrupt line of COM2.
pub(crate) const IRQ_COM2: u8 = 3;
/// Interrupt line of COM1.
pub(crate) const IRQ_COM1: u8 = 4;
const IRQ_CASCADE: u8 = 2;

// SAFETY: 32 and 40 do not collide with the processor's exceptions.
static PICS: IrqMutex<ChainedPics> = IrqMutex::new(unsafe { ChainedPics::new(IRQ_BASE, IRQ_BASE + 8) });

/// Programs the controllers with both serial lines open and everything else masked.
pub(crate) fn init() {
    apic::init();
    let open = (1_u8 << IRQ_CASCADE) | (1 << IRQ_COM2) | (1 << IRQ_COM1);
    let mut pics = PICS.lock();
    // SAFETY: the vectors have their handlers (trap::init ran).
    unsafe {
        pics.initialize();
        pics.write_masks(!open, 0xff);
    }
}

/// The devices whose lines the firmware chose. They may share one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Device {
    Disk,
    AgentPort,
}

/// Who is waited for on a line.
struct Line {
    /// The tasks that it wakes, by [`Device`].
    waiters: [Option<Arc<Task>>; 2],
    /// The devices that were not seen to since it was closed.
    unseen: [bool; 2],
}

static DEVICE_LINES: IrqMutex<[Line; 16]> =
    IrqMutex::new([const { Line { waiters: [const { None }; 2], unseen: [false; 2] } }; 16]);

/// Makes line `irq` of a device wake `task`: each interrupt closes the line and wakes, so the device stays quiet, however
/// long its line stays up, until the tasks of all devices on it have seen to theirs and called [`seen_to`].
pub(crate) fn wake_by_line(irq: u8, device: Device, task: Arc<Task>) {
    let before = DEVICE_LINES.lock()[usize::from(irq)].waiters[device as usize].replace(task);
    drop(before); // not under the lock
}

/// The line wakes nobody for this device any more.
pub(crate) fn forget_line(irq: u8, device: Device) {
    let before = DEVICE_LINES.lock()[usize::from(irq)].waiters[device as usize].take();
    drop(before); // not under the lock
    seen_to(irq, device);
}

/// Whether the line has fired since this device was seen to.
pub(crate) fn has_fired(irq: u8, device: Device) -> bool {
    DEVICE_LINES.lock()[usize::from(irq)].unseen[device as usize]
}

/// This device is quiet. The line is opened if all others on it are.
pub(crate) fn seen_to(irq: u8, device: Device) {
    let all = {
        let line = &mut DEVICE_LINES.lock()[usize::from(irq)];
        line.unseen[device as usize] = false;
        line.unseen == [false; 2]
    };
    if all {
        open_line(irq);
    }
}

/// Opens a line.
pub(crate) fn open_line(irq: u8) {
    set_masked(irq, false);
}

fn set_masked(irq: u8, masked: bool) {
    let mut pics = PICS.lock();
    // SAFETY: the masks change which lines come through, and every line has its handler.
    unsafe {
        let mut masks = pics.read_masks();
        let (mask, bit) = (&mut masks[usize::from(irq / 8)], 1 << (irq % 8));
        *mask = if masked { *mask | bit } else { *mask & !bit };
        pics.write_masks(masks[0], masks[1]);
    }
}

/// Serves interrupt line `irq` with interrupts off.
pub(crate) fn handle(irq: u8) {
    if is_spurious(irq) {
        return;
    }
    if irq != IRQ_TIMER {
        timeline::pass(Point::Interrupt, irq.into());
    }
    match irq {
        IRQ_TIMER => crate::sched::on_tick(),
        IRQ_KEYBOARD => crate::console::on_keyboard_interrupt(),
        IRQ_COM1 => crate::console::on_interrupt(),
        IRQ_COM2 => crate::bus::port::com2::on_interrupt(),
        device => {
            set_masked(device, true);
            let Line { waiters, unseen } = &mut DEVICE_LINES.lock()[usize::from(device)];
            for (waiter, unseen) in waiters.iter().zip(unseen) {
                if let Some(task) = waiter {
                    *unseen = true;
                    sched::unpark(task);
                }
            }
        }
    }
    // SAFETY: this vector is being served.
    unsafe { PICS.lock().notify_end_of_interrupt(IRQ_BASE + irq) };
}

/// Whether line 7 or 15 fired without a request: the controller then has no in-service bit for it, and an end of
/// interrupt would end another one (Intel 8259A datasheet, "Interrupt Sequence").
fn is_spurious(irq: u8) -> bool {
    const READ_IN_SERVICE: u8 = 0x0b;
    let command = match irq {
        7 => 0x20,
        15 => 0xa0,
        _ => return false,
    };
    let mut port = Port::<u8>::new(command);
    // SAFETY: OCW3 "read ISR" changes nothing but what the next read returns.
    let in_service = unsafe {
        port.write(READ_IN_SERVICE);
        port.read()
    };
    if in_service & 0x80 != 0 {
        return false;
    }
    if irq == 15 {
        // SAFETY: the first controller did see its cascade line; only that one is ended.
        unsafe { PICS.lock().notify_end_of_interrupt(IRQ_BASE + IRQ_CASCADE) };
    }
    true
}
