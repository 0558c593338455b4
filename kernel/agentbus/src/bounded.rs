//! Memory of a fixed size: a queue, and a string.

use alloc::collections::VecDeque;

/// A queue that takes its memory once and never more than `max` items.
pub(crate) struct Queue<T> {
    items: VecDeque<T>,
    max: usize,
}

impl<T> Queue<T> {
    pub(crate) fn new(max: usize) -> Self {
        Self { items: VecDeque::with_capacity(max), max }
    }

    /// Appends `item`, unless the queue is full.
    pub(crate) fn push(&mut self, item: T) -> Result<(), T> {
        if self.items.len() == self.max {
            return Err(item);
        }
        self.items.push_back(item);
        Ok(())
    }

    /// Appends `item`; the oldest goes if the queue is full, and is returned.
    pub(crate) fn push_over(&mut self, item: T) -> Option<T> {
        let oldest = if self.items.len() == self.max { self.items.pop_front() } else { None };
        self.items.push_back(item);
        oldest
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// Takes out the first item that `wanted` holds for.
    pub(crate) fn pop_where(&mut self, wanted: impl FnMut(&T) -> bool) -> Option<T> {
        let index = self.items.iter().position(wanted)?;
        self.items.remove(index)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// Drops what `keep` does not want and returns how many.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&T) -> bool) -> u64 {
        let before = self.items.len();
        self.items.retain(keep);
        (before - self.items.len()) as u64
    }
}

/// At most `N` bytes, held in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    pub(crate) const EMPTY: Self = Self { bytes: [0; N], len: 0 };

    /// The text, if it fits.
    pub(crate) fn new(text: &[u8]) -> Option<Self> {
        let mut new = Self::EMPTY;
        new.bytes.get_mut(..text.len())?.copy_from_slice(text);
        new.len = text.len();
        Some(new)
    }

    pub(crate) fn get(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::{Queue, Text};

    #[test]
    fn a_full_queue_gives_back_what_it_cannot_take() {
        let mut queue = Queue::new(2);
        assert_eq!((queue.push(1), queue.push(2), queue.push(3)), (Ok(()), Ok(()), Err(3)));
        assert_eq!(queue.push_over(4), Some(1));
        assert_eq!(queue.retain(|&item| item != 2), 1);
        assert_eq!(
            (queue.push(6), queue.pop_where(|&item| item > 4), queue.pop_where(|&item| item > 4)),
            (Ok(()), Some(6), None)
        );
        assert_eq!(
            (queue.push_over(5), queue.pop(), queue.pop(), queue.pop()),
            (None, Some(4), Some(5), None)
        );
    }

    #[test]
    fn a_text_holds_what_fits_and_nothing_else() {
        assert_eq!(Text::<3>::new(b"abc").map(|text| text.get().len()), Some(3));
        assert!(Text::<3>::new(b"abcd").is_none());
    }
}
