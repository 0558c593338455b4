//! The page tables of a program: the user half of an address space. The kernel's half is the same in all.

use super::frames::{self, PAGE};
use super::paging::{self, KERNEL_SLOTS, phys_to_virt};
use askr_abi::Errno;
use core::ops::Range;
use x86_64::PhysAddr;
use x86_64::structures::paging::page_table::PageTableEntry;
use x86_64::structures::paging::{PageTable, PageTableFlags as Flags};

/// Level of the top table.
const TOP_LEVEL: u32 = 4;
/// Entries of a table.
const SLOTS: u64 = 512;
/// Bits of an address that one table translates.
const SLOT_BITS: u32 = 9;
/// The rights are those of the last level.
const PARENT: Flags = Flags::PRESENT.union(Flags::WRITABLE).union(Flags::USER_ACCESSIBLE);

/// A top table and what hangs below its user half. Dropping it frees the tables, not the pages they lead to.
pub(super) struct Tables {
    root: u64,
    /// Frames that the tables take, the top one included.
    count: u64,
    /// Frames that must be left when one is taken for a table.
    keep: u64,
}

impl Tables {
    /// No page in the user half.
    ///
    /// # Errors
    /// ENOMEM when no more than `keep` frames are left.
    pub(super) fn new(keep: u64) -> Result<Self, Errno> {
        frames::require_room(keep)?;
        let root = frames::allocate().ok_or(Errno::ENOMEM)?;
        // SAFETY: both are top tables in mapped memory; the new one is ours alone, the kernel's is only read.
        unsafe {
            let (kernel, new) = (&*table(paging::kernel_root()), &mut *table(root));
            for slot in KERNEL_SLOTS..SLOTS as usize {
                new[slot] = kernel[slot].clone();
            }
        }
        Ok(Self { root, count: 1, keep })
    }

    /// Physical address of the top table.
    pub(super) const fn root(&self) -> u64 {
        self.root
    }

    /// Frames that the tables take.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Frames that are left to others.
    pub(super) const fn keep(&self) -> u64 {
        self.keep
    }

    /// Changes how many frames are left to others.
    pub(super) const fn set_keep(&mut self, keep: u64) {
        self.keep = keep;
    }

    /// The entry of the page at `address`, if the page is there.
    pub(super) fn entry(&mut self, address: u64) -> Option<&mut PageTableEntry> {
        let mut at = self.root;
        for level in (2..=TOP_LEVEL).rev() {
            // SAFETY: a table of ours.
            let entry = unsafe { &(&*table(at))[slot(address, level)] };
            if entry.is_unused() {
                return None;
            }
            at = entry.addr().as_u64();
        }
        // SAFETY: a table of ours, which is borrowed with `self`.
        let entry = unsafe { &mut (&mut *table(at))[slot(address, 1)] };
        (!entry.is_unused()).then_some(entry)
    }

    /// The entry for the page at `address`, used or not; tables on the way to it are made.
    ///
    /// # Errors
    /// ENOMEM.
    pub(super) fn make_entry(&mut self, address: u64) -> Result<&mut PageTableEntry, Errno> {
        let mut at = self.root;
        for level in (2..=TOP_LEVEL).rev() {
            // SAFETY: a table of ours.
            let entry = unsafe { &mut (&mut *table(at))[slot(address, level)] };
            if entry.is_unused() {
                frames::require_room(self.keep)?;
                entry.set_addr(PhysAddr::new(frames::allocate().ok_or(Errno::ENOMEM)?), PARENT);
                self.count += 1;
            }
            at = entry.addr().as_u64();
        }
        // SAFETY: a table of ours, which is borrowed with `self`.
        Ok(unsafe { &mut (&mut *table(at))[slot(address, 1)] })
    }

    /// Calls `visit` with the address and the entry of every page that is present in `range` (whole pages of the user
    /// half). What has no tables is skipped as a whole, so the cost is that of the pages present, not of the range.
    /// Tables that are empty afterwards are freed.
    ///
    /// `visit` leaves the entry present or unused, and flushes what the processor may remember.
    pub(super) fn for_each(&mut self, range: &Range<u64>, visit: &mut dyn FnMut(u64, &mut PageTableEntry)) {
        if !range.is_empty() {
            // SAFETY: our own tables, borrowed with `self`.
            let freed = unsafe { visit_table(self.root, TOP_LEVEL, 0, range, visit) };
            self.count -= freed;
            if freed > 0 {
                paging::flush(self.root); // the processor remembers the way through tables too
            }
        }
    }

    /// Makes the tables that [`Self::move_pages`] needs.
    ///
    /// # Errors
    /// ENOMEM.
    pub(super) fn prepare(&mut self, from: &Range<u64>, to: u64) -> Result<(), Errno> {
        let mut at = from.start;
        while let Some(page) = self.next_page(at..from.end) {
            self.make_entry(to + (page - from.start))?;
            at = page + PAGE;
        }
        Ok(())
    }

    /// Moves the pages present in `from` to the same places after `to`, where none are, as they are. What has no tables
    /// there (see [`Self::prepare`]) stays.
    pub(super) fn move_pages(&mut self, from: &Range<u64>, to: u64) {
        let mut at = from.start;
        while let Some(page) = self.next_page(at..from.end) {
            at = page + PAGE;
            let Some(old) = self.entry(page).map(|entry| core::mem::replace(entry, PageTableEntry::new()))
            else {
                continue;
            };
            match self.make_entry(to + (page - from.start)) {
                Ok(new) => *new = old,
                Err(_) => unreachable!("its tables were made"),
            }
        }
    }

    /// The first page present in `range`.
    fn next_page(&self, range: Range<u64>) -> Option<u64> {
        let mut address = range.start;
        // A round for each entry looked at; entries without tables below are skipped as a whole.
        'page: while address < range.end {
            let mut at = self.root;
            for level in (1..=TOP_LEVEL).rev() {
                // SAFETY: a table of ours.
                let entry = unsafe { &(&*table(at))[slot(address, level)] };
                if entry.is_unused() {
                    let size = PAGE << (SLOT_BITS * (level - 1));
                    address = address / size * size + size;
                    continue 'page;
                }
                at = entry.addr().as_u64();
            }
            return Some(address);
        }
        None
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        if paging::is_loaded(self.root) {
            paging::use_kernel_root();
        }
        // SAFETY: nobody uses these tables any more: they are not loaded, and they are ours.
        unsafe { free_tables(self.root, TOP_LEVEL, 0..KERNEL_SLOTS) };
    }
}

const fn table(frame: u64) -> *mut PageTable {
    phys_to_virt(frame) as *mut PageTable
}

const fn slot(address: u64, level: u32) -> usize {
    (((address / PAGE) >> (SLOT_BITS * (level - 1))) & (SLOTS - 1)) as usize
}

/// Visits the pages of one table; returns how many tables below it were freed.
///
/// # Safety
/// `at` is a table of `level` that maps the addresses from `base` on and that nobody else refers to; `range` is not
/// empty and meets it.
unsafe fn visit_table(
    at: u64,
    level: u32,
    base: u64,
    range: &Range<u64>,
    visit: &mut dyn FnMut(u64, &mut PageTableEntry),
) -> u64 {
    let size = PAGE << (SLOT_BITS * (level - 1)); // of what one entry maps
    let first = range.start.saturating_sub(base) / size;
    let last = ((range.end - 1).saturating_sub(base) / size).min(SLOTS - 1);
    // SAFETY: a table in mapped memory that nobody else refers to, by the caller's promise.
    let entries = unsafe { &mut *table(at) };
    let mut freed = 0;
    for slot in first..=last {
        let entry = &mut entries[slot as usize];
        let address = base + slot * size;
        if entry.is_unused() {
            continue;
        }
        if level == 1 {
            visit(address, entry);
            continue;
        }
        let below = entry.addr().as_u64();
        // SAFETY: the user half has no large pages, so the entry leads to a table.
        unsafe {
            freed += visit_table(below, level - 1, address, range, visit);
            if (*table(below)).is_empty() {
                entry.set_unused();
                frames::free(below);
                freed += 1;
            }
        }
    }
    freed
}

/// Frees a table of `level` and those that its `slots` lead to.
///
/// # Safety
/// The table is not in use, and nothing else refers to those below it.
unsafe fn free_tables(at: u64, level: u32, slots: Range<usize>) {
    // SAFETY: tables in mapped memory that are ours, by the caller's promise.
    unsafe {
        if level > 1 {
            for entry in slots.map(|slot| &(&*table(at))[slot]).filter(|entry| !entry.is_unused()) {
                free_tables(entry.addr().as_u64(), level - 1, 0..SLOTS as usize);
            }
        }
        frames::free(at);
    }
}
