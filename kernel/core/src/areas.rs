//! What of a program's memory may be used, and how: a sorted list of disjoint areas, each with the same rights
//! throughout. What lies behind an area (pages, or nothing yet) is the caller's business.

use alloc::vec::Vec;
use core::ops::Range;

use askr_abi::Errno;

use crate::elf::{PAGE_SIZE, Rights, USER_END, USER_MIN};

/// Most areas of one program.
pub const AREAS_MAX: usize = 1024;

/// How memory is about to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An instruction fetch.
    Execute,
}

impl Rights {
    /// Loads and stores: stacks, heaps, data.
    pub const READ_WRITE: Self = Self { read: true, write: true, execute: false };

    /// Whether they cover this use.
    #[must_use]
    pub const fn allow(self, access: Access) -> bool {
        match access {
            Access::Read => self.read,
            Access::Write => self.write,
            Access::Execute => self.execute,
        }
    }
}

/// A stretch of memory with the same rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// First address and first address after it, whole pages.
    pub range: Range<u64>,
    /// What the program may do there.
    pub rights: Rights,
    /// Whether a child of `fork` sees what is written here, and its parent what the child writes.
    pub shared: bool,
}

impl Area {
    /// Bytes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// An area of a list never is.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `next` can be made a part of this one.
    fn continues_in(&self, next: &Self) -> bool {
        self.range.end == next.range.start && self.rights == next.rights && self.shared == next.shared
    }
}

/// All areas of a program.
#[derive(Debug, Default)]
pub struct Areas(Vec<Area>);

impl Areas {
    /// No area.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The areas by address.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Area> {
        self.0.iter()
    }

    /// A copy.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn try_clone(&self) -> Result<Self, Errno> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(self.0.len()).map_err(|_| Errno::ENOMEM)?;
        copy.extend(self.0.iter().cloned());
        Ok(Self(copy))
    }

    /// The area at an address.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<&Area> {
        self.0.get(self.first_after(address)).filter(|area| area.range.start <= address)
    }

    /// The rights at an address, if an area is there.
    #[must_use]
    pub fn rights(&self, address: u64) -> Option<Rights> {
        self.find(address).map(|area| area.rights)
    }

    /// Bytes of all areas for which `wanted` holds.
    pub fn bytes(&self, wanted: impl Fn(&Area) -> bool) -> u64 {
        self.0.iter().filter(|area| wanted(area)).map(Area::len).sum()
    }

    /// Whether no area has a part of `range`.
    #[must_use]
    pub fn is_free(&self, range: &Range<u64>) -> bool {
        self.0.get(self.first_after(range.start)).is_none_or(|area| area.range.start >= range.end)
    }

    /// How many bytes at the start of `range` belong to areas without a gap.
    #[must_use]
    pub fn covered(&self, range: &Range<u64>) -> u64 {
        let mut at = range.start;
        for area in &self.0[self.first_after(range.start)..] {
            if area.range.start > at || at >= range.end {
                break;
            }
            at = area.range.end;
        }
        at.min(range.end).saturating_sub(range.start)
    }

    /// Adds an area of memory that is the program's alone; see [`Self::add_area`].
    ///
    /// # Errors
    /// Those of [`Self::add_area`].
    pub fn add(&mut self, range: Range<u64>, rights: Rights) -> Result<(), Errno> {
        self.add_area(Area { range, rights, shared: false })
    }

    /// Adds an area, widened to whole pages. Neighbours that differ in nothing become one: a heap that grows stays one
    /// area.
    ///
    /// # Errors
    /// EINVAL when it is empty or leaves the user half, EEXIST when it meets another area, ENOMEM beyond
    /// [`AREAS_MAX`].
    pub fn add_area(&mut self, area: Area) -> Result<(), Errno> {
        let Area { range, rights, shared } = area;
        let end = range.end.checked_next_multiple_of(PAGE_SIZE).ok_or(Errno::EINVAL)?;
        let range = range.start / PAGE_SIZE * PAGE_SIZE..end;
        if range.start < USER_MIN || range.end > USER_END || range.is_empty() {
            return Err(Errno::EINVAL);
        }
        let index = self.first_after(range.start);
        if self.0.get(index).is_some_and(|next| next.range.start < range.end) {
            return Err(Errno::EEXIST);
        }
        let area = Area { range, rights, shared };
        if let Some(before) = index.checked_sub(1).filter(|&before| self.0[before].continues_in(&area)) {
            self.0[before].range.end = area.range.end;
            self.merge(before..index);
            return Ok(());
        }
        if let Some(after) = self.0.get_mut(index).filter(|after| area.continues_in(after)) {
            after.range.start = area.range.start;
            return Ok(());
        }
        if self.0.len() == AREAS_MAX {
            return Err(Errno::ENOMEM);
        }
        self.0.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.0.insert(index, area);
        Ok(())
    }

    /// Removes whatever lies in `range`, cutting areas that stick out of it.
    ///
    /// # Errors
    /// EINVAL when it is not whole pages of the user half, ENOMEM when the cuts would exceed [`AREAS_MAX`].
    pub fn remove(&mut self, range: &Range<u64>) -> Result<(), Errno> {
        self.cut(range)?;
        if range.is_empty() {
            return Ok(());
        }
        self.0.retain(|area| area.range.end <= range.start || area.range.start >= range.end);
        Ok(())
    }

    /// Gives all of `range` other rights.
    ///
    /// # Errors
    /// As [`Self::remove`]; ENOMEM also when part of it belongs to no area. Then no rights have changed.
    pub fn protect(&mut self, range: &Range<u64>, rights: Rights) -> Result<(), Errno> {
        check(range)?;
        if self.covered(range) != range.end - range.start {
            return Err(Errno::ENOMEM);
        }
        self.cut(range)?;
        let first = self.first_after(range.start);
        let inside = self.0[first..].iter_mut().take_while(|area| area.range.end <= range.end);
        let count = inside.map(|area| area.rights = rights).count();
        self.merge(first.saturating_sub(1)..first + count);
        Ok(())
    }

    /// The highest free stretch of `length` bytes (whole pages) within `within`.
    #[must_use]
    pub fn highest_room(&self, length: u64, within: Range<u64>) -> Option<Range<u64>> {
        let mut end = within.end;
        for area in self.0.iter().rev().filter(|area| area.range.start < within.end) {
            if end.checked_sub(area.range.end).is_some_and(|room| room >= length) {
                break;
            }
            end = end.min(area.range.start);
        }
        let start = end.checked_sub(length)?;
        (start >= within.start).then_some(start..end)
    }

    /// How many areas there would be more after a cut at both ends of `range`, 0 to 2.
    #[must_use]
    pub fn cuts(&self, range: &Range<u64>) -> usize {
        if range.is_empty() {
            return 0;
        }
        let is_cut = |at: u64| self.0.get(self.first_after(at)).is_some_and(|area| area.range.start < at);
        usize::from(is_cut(range.start)) + usize::from(is_cut(range.end))
    }

    /// Makes one of the areas with these indices, and the one after them, where neighbours differ in nothing.
    fn merge(&mut self, indices: Range<usize>) {
        // From the end, so that the indices before stay what they are.
        for index in indices.rev() {
            if self.0.get(index + 1).is_some_and(|next| self.0[index].continues_in(next)) {
                self.0[index].range.end = self.0.remove(index + 1).range.end;
            }
        }
    }

    /// Index of the first area that ends after `address`.
    fn first_after(&self, address: u64) -> usize {
        self.0.partition_point(|area| area.range.end <= address)
    }

    /// Cuts areas so that each lies inside or outside of `range`.
    fn cut(&mut self, range: &Range<u64>) -> Result<(), Errno> {
        check(range)?;
        if range.is_empty() {
            return Ok(());
        }
        let cuts = self.cuts(range);
        if self.0.len() + cuts > AREAS_MAX {
            return Err(Errno::ENOMEM);
        }
        self.0.try_reserve(cuts).map_err(|_| Errno::ENOMEM)?;
        for at in [range.start, range.end] {
            let index = self.first_after(at);
            if let Some(area) = self.0.get_mut(index).filter(|area| area.range.start < at) {
                let upper = Area { range: at..area.range.end, ..area.clone() };
                area.range.end = at;
                self.0.insert(index + 1, upper);
            }
        }
        Ok(())
    }
}

/// Whether `range` is whole pages of the user half.
fn check(range: &Range<u64>) -> Result<(), Errno> {
    let aligned = range.start.is_multiple_of(PAGE_SIZE) && range.end.is_multiple_of(PAGE_SIZE);
    if !aligned || range.start > range.end || range.end > USER_END { Err(Errno::EINVAL) } else { Ok(()) }
}
