//! Segments and the task state segment. SYSCALL and SYSRET want the order kernel code, kernel data, user data,
//! user code (Intel SDM vol. 2B, SYSRET; vol. 3A, 5.8.8).

use core::cell::UnsafeCell;
use spin::Once;
use x86_64::VirtAddr;
use x86_64::instructions::segmentation::{CS, DS, ES, SS, Segment};
use x86_64::instructions::tables::load_tss;
use x86_64::registers::model_specific::Star;
use x86_64::structures::gdt::{Descriptor, GlobalDescriptorTable, SegmentSelector};
use x86_64::structures::tss::TaskStateSegment;

/// Index in the interrupt stack table of the double fault's stack.
pub(crate) const IST_DOUBLE_FAULT: u16 = 0;
/// Index in the interrupt stack table for NMI and machine check: they can arrive where rsp is the user's.
pub(crate) const IST_NMI: u16 = 1;

/// Code selector of user programs.
pub(crate) const USER_CS: u64 = 0x23;
/// Data and stack selector of user programs.
pub(crate) const USER_SS: u64 = 0x1b;

const IST_STACK: usize = 16 * 1024;

#[repr(align(16))]
struct Stack(UnsafeCell<[u8; IST_STACK]>);

// SAFETY: only the processor writes to it, when it takes the fault that the stack is for.
unsafe impl Sync for Stack {}

static DOUBLE_FAULT_STACK: Stack = Stack(UnsafeCell::new([0; IST_STACK]));
static NMI_STACK: Stack = Stack(UnsafeCell::new([0; IST_STACK]));

struct Tss(UnsafeCell<TaskStateSegment>);

// SAFETY: only `set_kernel_stack` writes to it, with interrupts off; else the processor reads it.
unsafe impl Sync for Tss {}

static TSS: Tss = Tss(UnsafeCell::new(TaskStateSegment::new()));
static GDT: Once<GlobalDescriptorTable> = Once::new();

/// Loads the tables. Call once, with interrupts off.
pub(crate) fn init() {
    // SAFETY: nothing else runs yet, and the processor does not know the segment yet.
    let tss = unsafe { &mut *TSS.0.get() };
    let top = |stack: &'static Stack| VirtAddr::from_ptr(stack.0.get()) + IST_STACK as u64;
    tss.interrupt_stack_table[usize::from(IST_DOUBLE_FAULT)] = top(&DOUBLE_FAULT_STACK);
    tss.interrupt_stack_table[usize::from(IST_NMI)] = top(&NMI_STACK);

    let gdt = GDT.call_once(|| {
        let mut gdt = GlobalDescriptorTable::new();
        gdt.append(Descriptor::kernel_code_segment());
        gdt.append(Descriptor::kernel_data_segment());
        gdt.append(Descriptor::user_data_segment());
        gdt.append(Descriptor::user_code_segment());
        // SAFETY: the segment is static.
        gdt.append(unsafe { Descriptor::tss_segment_unchecked(TSS.0.get()) });
        gdt
    });
    gdt.load();
    let [code, data, user_data, user_code, tss] =
        [1, 2, 3, 4, 5].map(|index| SegmentSelector::new(index, x86_64::PrivilegeLevel::Ring0));
    // SAFETY: these are the descriptors appended above, in that order.
    unsafe {
        CS::set_reg(code);
        SS::set_reg(data);
        DS::set_reg(SegmentSelector(0));
        ES::set_reg(SegmentSelector(0));
        load_tss(tss);
    }
    let user =
        |selector: SegmentSelector| SegmentSelector::new(selector.index(), x86_64::PrivilegeLevel::Ring3);
    Star::write(user(user_code), user(user_data), code, data).expect("the order of the segments is SYSRET's");
}

/// Sets the stack on which traps from user mode arrive.
pub(crate) fn set_kernel_stack(top: u64) {
    // SAFETY: one core; the processor reads the field only on a trap from user mode, and none can happen while
    // the kernel runs this.
    unsafe { (*TSS.0.get()).privilege_stack_table[0] = VirtAddr::new(top) };
}
