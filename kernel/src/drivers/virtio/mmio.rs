//! VirtIO on MMIO (4.2): where a machine has no PCI to ask, the kernel's command line says what there is, with words
//! `virtio_mmio.device=SIZE@ADDRESS:LINE` as Linux has them; QEMU's microvm adds them.

use super::Found;
use crate::arch::boot;
use crate::mm;
use virtio_drivers::transport::mmio::{MmioTransport, VirtIOHeader};
use virtio_drivers::transport::{DeviceType, Transport};

/// Bytes of registers that are used: the header and a page's rest for the device's own.
const SIZE: usize = 0x200;
/// Devices live below the end of what is mapped of physical memory at least.
const ADDRESS_END: u64 = 4 << 30;
/// Lines of the two 8259.
const LINES: u8 = 16;

/// Where QEMU's microvm has its devices when it does not say so, because it has ACPI, which this kernel does not read.
/// Their lines lead to an I/O APIC then, which it does not use either.
const SLOTS: u64 = 0xfeb0_0000;
const SLOT_COUNT: u64 = 24;

/// The first device of this kind on a machine without PCI.
pub(super) fn find(kind: DeviceType) -> Option<Found> {
    let named = boot::options(b"virtio_mmio.device").filter_map(parse);
    let slots = (0..SLOT_COUNT).map(|slot| (SLOTS + slot * SIZE as u64, LINES));
    named.chain(slots).find_map(|(address, line)| {
        mm::map_device(address, SIZE as u64);
        let registers = super::at(address).cast::<VirtIOHeader>();
        // SAFETY: registers are there, or nothing, which reads as ones, and nobody else uses them. What is no VirtIO
        // device has another magic number, and is not touched further.
        let transport = unsafe { MmioTransport::new(registers, SIZE) }.ok()?;
        if transport.device_type() != kind {
            // Dropped, it would reset a device that somebody else may use.
            core::mem::forget(transport);
            return None;
        }
        Some(Found { transport: transport.into(), line: (line < LINES).then_some(line) })
    })
}

/// Address and line of `SIZE@ADDRESS:LINE`, if they can be used.
fn parse(word: &[u8]) -> Option<(u64, u8)> {
    let text = core::str::from_utf8(word).ok()?;
    let (address, rest) = text.split_once('@')?.1.split_once(':')?;
    let line = rest.split(':').next()?.parse().ok()?;
    let address = u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()?;
    (address % 4 == 0 && address < ADDRESS_END - SIZE as u64).then_some((address, line))
}
