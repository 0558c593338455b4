//! VirtIO devices, through the `virtio-drivers` crate: how they are found on PCI and on MMIO, and what the crate needs
//! to know about memory. Section numbers are those of VirtIO 1.2.

mod mmio;
mod pci;
mod ring;

pub(crate) use ring::Ring;

use crate::arch::boot::PHYS_OFFSET;
use crate::mm;
use alloc::alloc::{Layout, alloc_zeroed, dealloc};
use core::ptr::NonNull;
use virtio_drivers::transport::{DeviceType, SomeTransport};
use virtio_drivers::{BufferDirection, Hal, PAGE_SIZE, PhysAddr};

/// A device that was found.
pub(crate) struct Found {
    /// How its registers are reached.
    pub(crate) transport: SomeTransport<'static>,
    /// Its line at the 8259 controllers; nothing where it has none there.
    pub(crate) line: Option<u8>,
}

/// The first device of this kind.
pub(crate) fn find(kind: DeviceType) -> Option<Found> {
    if pci::is_present() { pci::find(kind) } else { mmio::find(kind) }
}

/// Memory as `virtio-drivers` wants it.
pub(crate) struct Memory;

// SAFETY: the heap is one piece of physical memory, and that as well as all mapped registers is seen at PHYS_OFFSET, so
// both directions of the translation are a constant. What it gives is zeroed and aligned as asked for.
unsafe impl Hal for Memory {
    fn dma_alloc(pages: usize, _: BufferDirection) -> (PhysAddr, NonNull<u8>) {
        // SAFETY: the layout is not empty.
        let block = NonNull::new(unsafe { alloc_zeroed(layout(pages)) });
        // Physical address 0 is the crate's word for "none".
        block.map_or((0, NonNull::dangling()), |block| (block.as_ptr() as u64 - PHYS_OFFSET, block))
    }

    unsafe fn dma_dealloc(_: PhysAddr, block: NonNull<u8>, pages: usize) -> i32 {
        // SAFETY: the caller's promise: it came from `dma_alloc` with this size, and the device is done with it.
        unsafe { dealloc(block.as_ptr(), layout(pages)) };
        0
    }

    unsafe fn mmio_phys_to_virt(physical: PhysAddr, size: usize) -> NonNull<u8> {
        mm::map_device(physical, size as u64);
        at(physical)
    }

    unsafe fn share(buffer: NonNull<[u8]>, _: BufferDirection) -> PhysAddr {
        // Buffers are on the heap.
        buffer.as_ptr().cast::<u8>() as u64 - PHYS_OFFSET
    }

    unsafe fn unshare(_: PhysAddr, _: NonNull<[u8]>, _: BufferDirection) {}
}

fn at(physical: u64) -> NonNull<u8> {
    NonNull::new(mm::phys_to_virt(physical) as *mut u8).expect("physical memory is not mapped at 0")
}

fn layout(pages: usize) -> Layout {
    Layout::from_size_align(pages * PAGE_SIZE, PAGE_SIZE).expect("a few pages")
}
