//! The bytes of a file.

use alloc::vec::Vec;

use askr_abi::Errno;

use super::budget::Budget;
use crate::Result;
use crate::generated::copy_from;

/// The bytes of a file: borrowed until the first write.
pub(super) enum Content {
    Borrowed(&'static [u8]),
    Owned(Owned),
}

/// Bytes of our own and what has been charged for them: their capacity.
#[derive(Default)]
pub(super) struct Owned {
    bytes: Vec<u8>,
    charged: u64,
}

impl Content {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(own) => &own.bytes,
        }
    }

    /// Bytes charged to the budget.
    pub(super) const fn charged(&self) -> u64 {
        match self {
            Self::Borrowed(_) => 0,
            Self::Owned(own) => own.charged,
        }
    }

    pub(super) fn read_at(&self, offset: u64, into: &mut [u8]) -> usize {
        copy_from(self.bytes(), offset, into)
    }

    /// Writes all of `bytes` or nothing.
    pub(super) fn write_at(&mut self, budget: &Budget, offset: u64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let start = usize::try_from(offset).map_err(|_| Errno::EFBIG)?;
        let end = start.checked_add(bytes.len()).ok_or(Errno::EFBIG)?;
        let own = self.own(budget, end)?;
        if own.len() < end {
            own.resize(end, 0);
        }
        own[start..end].copy_from_slice(bytes);
        Ok(())
    }

    pub(super) fn truncate(&mut self, budget: &Budget, size: u64) -> Result<()> {
        let size = usize::try_from(size).map_err(|_| Errno::EFBIG)?;
        match self {
            Self::Borrowed(bytes) if size <= bytes.len() => *bytes = &bytes[..size],
            Self::Owned(own) if size <= own.bytes.len() => own.shrink(budget, size),
            _ => self.own(budget, size)?.resize(size, 0),
        }
        Ok(())
    }

    /// The bytes as our own, with room for `len` of them.
    fn own(&mut self, budget: &Budget, len: usize) -> Result<&mut Vec<u8>> {
        if let Self::Borrowed(bytes) = *self {
            let mut copy = Owned::default();
            copy.grow(budget, bytes.len().max(len))?;
            copy.bytes.extend_from_slice(bytes);
            *self = Self::Owned(copy);
        }
        let Self::Owned(own) = self else { return Err(Errno::EIO) };
        own.grow(budget, len)?;
        Ok(&mut own.bytes)
    }
}

impl Owned {
    /// Makes room for `len` bytes, or twice what there was if the budget allows, so that appending is cheap.
    fn grow(&mut self, budget: &Budget, len: usize) -> Result<()> {
        let capacity = self.bytes.capacity();
        if len <= capacity {
            return Ok(());
        }
        let generous = len.max(capacity.saturating_mul(2));
        self.reserve(budget, generous).or_else(|_| self.reserve(budget, len))
    }

    fn reserve(&mut self, budget: &Budget, capacity: usize) -> Result<()> {
        let cost = (capacity as u64).saturating_sub(self.charged);
        budget.charge(cost)?;
        if self.bytes.try_reserve_exact(capacity - self.bytes.len()).is_err() {
            budget.refund(cost);
            return Err(Errno::ENOSPC);
        }
        self.charged += cost;
        Ok(())
    }

    fn shrink(&mut self, budget: &Budget, size: usize) {
        self.bytes.truncate(size);
        // A block that shrinks stays where it is, so this asks for no memory.
        self.bytes.shrink_to_fit();
        let charged = self.charged.min(self.bytes.capacity() as u64);
        budget.refund(self.charged - charged);
        self.charged = charged;
    }
}
