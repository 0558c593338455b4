//! Memory: physical frames, the kernel's page tables, its heap and stacks, the address spaces of programs, and
//! the one way to reach a program's memory.

mod device;
mod frames;
mod heap;
mod paging;
mod space;
mod stack;
mod tables;
pub(crate) mod user;

pub(crate) use device::DeviceMemory;
pub(crate) use frames::{PAGE, Priority, Usage, refusals, require_fork_room, usage};
pub(crate) use heap::{
    require_room as require_heap_room, require_step as require_heap_step, usage as heap_usage, with_room,
    zeroed,
};
pub(crate) use paging::{kernel_root, load_root, map_device, phys_to_virt};
pub(crate) use space::{AddressSpace, Placement, Remap, STACK_TOP, USER_END};
pub(crate) use stack::KernelStack;

use bootloader_api::BootInfo;
use bootloader_api::info::MemoryRegionKind;

/// Takes over memory: frames from the boot map, own page tables, heap. Everything in `info` that the kernel keeps
/// must have been copied before, since a boot loader's own mappings end here.
pub(crate) fn init(info: &BootInfo) {
    let usable = info.memory_regions.iter().filter(|region| region.kind == MemoryRegionKind::Usable);
    frames::init(usable.map(|region| region.start..region.end));
    let usable = info.memory_regions.iter().filter(|region| region.kind == MemoryRegionKind::Usable);
    paging::init(usable.map(|region| region.end).max().unwrap_or(0));
    frames::init_sharing();
    heap::init();
}
