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
}

/// All areas of a program.
#[derive(Clone, Debug, Default)]
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

    /// The rights at an address, if an area is there.
    #[must_use]
    pub fn rights(&self, address: u64) -> Option<Rights> {
        let area = self.0.get(self.first_after(address))?;
        (area.range.start <= address).then_some(area.rights)
    }

    /// Adds an area; `range` is widened to whole pages. What continues the area before it with the same rights
    /// becomes part of it: a heap that grows stays one area.
    ///
    /// # Errors
    /// EINVAL when it is empty or leaves the user half, EEXIST when it meets another area, ENOMEM beyond
    /// [`AREAS_MAX`].
    pub fn add(&mut self, range: Range<u64>, rights: Rights) -> Result<(), Errno> {
        let end = range.end.checked_next_multiple_of(PAGE_SIZE).ok_or(Errno::EINVAL)?;
        let range = range.start / PAGE_SIZE * PAGE_SIZE..end;
        if range.start < USER_MIN || range.end > USER_END || range.is_empty() {
            return Err(Errno::EINVAL);
        }
        let index = self.first_after(range.start);
        if self.0.get(index).is_some_and(|next| next.range.start < range.end) {
            return Err(Errno::EEXIST);
        }
        let before = index.checked_sub(1).map(|before| &mut self.0[before]);
        if let Some(before) = before.filter(|area| area.range.end == range.start && area.rights == rights) {
            before.range.end = range.end;
            return Ok(());
        }
        if self.0.len() == AREAS_MAX {
            return Err(Errno::ENOMEM);
        }
        self.0.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        self.0.insert(index, Area { range, rights });
        Ok(())
    }

    /// Removes whatever lies in `range`, cutting areas that stick out of it.
    ///
    /// # Errors
    /// EINVAL when it is not whole pages of the user half, ENOMEM when the cuts would exceed [`AREAS_MAX`].
    pub fn remove(&mut self, range: &Range<u64>) -> Result<(), Errno> {
        self.cut(range)?;
        self.0.retain(|area| area.range.end <= range.start || area.range.start >= range.end);
        Ok(())
    }

    /// Gives all of `range` other rights.
    ///
    /// # Errors
    /// As [`Self::remove`]; ENOMEM also when part of it belongs to no area. Then no rights have changed.
    pub fn protect(&mut self, range: &Range<u64>, rights: Rights) -> Result<(), Errno> {
        self.cut(range)?;
        let first = self.first_after(range.start);
        let inside = self.0[first..].iter_mut().take_while(|area| area.range.end <= range.end);
        let covered: u64 = inside.map(|area| area.range.end - area.range.start).sum();
        if covered != range.end - range.start {
            return Err(Errno::ENOMEM);
        }
        let inside = self.0[first..].iter_mut().take_while(|area| area.range.end <= range.end);
        inside.for_each(|area| area.rights = rights);
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
        let is_cut = |at: u64| self.0.get(self.first_after(at)).is_some_and(|area| area.range.start < at);
        usize::from(is_cut(range.start)) + usize::from(is_cut(range.end))
    }

    /// Index of the first area that ends after `address`.
    fn first_after(&self, address: u64) -> usize {
        self.0.partition_point(|area| area.range.end <= address)
    }

    /// Cuts areas so that each lies inside or outside of `range`.
    fn cut(&mut self, range: &Range<u64>) -> Result<(), Errno> {
        let aligned = range.start.is_multiple_of(PAGE_SIZE) && range.end.is_multiple_of(PAGE_SIZE);
        if !aligned || range.start > range.end || range.end > USER_END {
            return Err(Errno::EINVAL);
        }
        let cuts = self.cuts(range);
        if self.0.len() + cuts > AREAS_MAX {
            return Err(Errno::ENOMEM);
        }
        self.0.try_reserve(cuts).map_err(|_| Errno::ENOMEM)?;
        for at in [range.start, range.end] {
            let index = self.first_after(at);
            if let Some(area) = self.0.get_mut(index).filter(|area| area.range.start < at) {
                let upper = Area { range: at..area.range.end, rights: area.rights };
                area.range.end = at;
                self.0.insert(index + 1, upper);
            }
        }
        Ok(())
    }
}
