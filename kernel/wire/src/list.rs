//! Lists: `[count:2]` and then the items one after the other.

use core::marker::PhantomData;

use crate::cursor::{DecodeError, Message, NoRoom, Reader, Writer};

/// A list whose items were all found well-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List<'a, T> {
    count: u16,
    bytes: &'a [u8],
    item: PhantomData<T>,
}

impl<'a, T: Message<'a>> List<'a, T> {
    /// The list without items.
    pub const EMPTY: Self = Self { count: 0, bytes: &[], item: PhantomData };

    /// Encodes `items` into `scratch` and gives the list of them.
    ///
    /// # Errors
    /// [`NoRoom`] if not all of them fit.
    pub fn build(items: impl IntoIterator<Item = T>, scratch: &'a mut [u8]) -> Result<Self, NoRoom> {
        let mut writer = Writer::new(scratch);
        let mut count = 0u16;
        for item in items {
            item.put(&mut writer)?;
            count = count.checked_add(1).ok_or(NoRoom)?;
        }
        let (bytes, len) = writer.into_parts();
        Ok(Self { count, bytes: &bytes[..len], item: PhantomData })
    }

    /// Number of items.
    #[must_use]
    pub const fn len(&self) -> u16 {
        self.count
    }

    /// Whether there are no items.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The items in order.
    #[must_use]
    pub const fn iter(&self) -> ListIter<'a, T> {
        ListIter { reader: Reader::new(self.bytes), left: self.count, item: PhantomData }
    }
}

impl<'a, T: Message<'a>> Message<'a> for List<'a, T> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u16(self.count)?;
        to.bytes(self.bytes)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let count = from.u16()?;
        let before = from.rest();
        for _ in 0..count {
            T::get(from)?;
        }
        let bytes = &before[..before.len() - from.rest().len()];
        Ok(Self { count, bytes, item: PhantomData })
    }
}

impl<'a, T: Message<'a>> IntoIterator for List<'a, T> {
    type Item = T;
    type IntoIter = ListIter<'a, T>;

    fn into_iter(self) -> ListIter<'a, T> {
        self.iter()
    }
}

/// Iterator over the items of a [`List`].
#[derive(Clone, Debug)]
pub struct ListIter<'a, T> {
    reader: Reader<'a>,
    left: u16,
    item: PhantomData<T>,
}

impl<'a, T: Message<'a>> Iterator for ListIter<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // A list is built or decoded from items that are well-formed, so this never ends it early.
        T::get(&mut self.reader).ok()
    }
}

/// Writes a list item by item straight into the buffer of a response, until it is full.
#[derive(Debug)]
pub struct ListWriter<'a> {
    writer: Writer<'a>,
    count: u16,
}

impl<'a> ListWriter<'a> {
    /// An empty list at the front of `out`.
    ///
    /// # Errors
    /// [`NoRoom`] if not even the count fits.
    pub fn new(out: &'a mut [u8]) -> Result<Self, NoRoom> {
        let mut writer = Writer::new(out);
        writer.u16(0)?;
        Ok(Self { writer, count: 0 })
    }

    /// Number of items so far.
    #[must_use]
    pub const fn count(&self) -> u16 {
        self.count
    }

    /// Appends one item.
    ///
    /// # Errors
    /// [`NoRoom`] if it does not fit any more; the list is then as it was before.
    pub fn push<'i, T: Message<'i>>(&mut self, item: &T) -> Result<(), NoRoom> {
        let before = self.writer.len();
        let count = self.count.checked_add(1).ok_or(NoRoom)?;
        if item.put(&mut self.writer).is_err() {
            self.writer.truncate(before);
            return Err(NoRoom);
        }
        self.count = count;
        Ok(())
    }

    /// Ends the list and returns its length in bytes.
    #[must_use]
    pub fn finish(self) -> usize {
        let (out, len) = self.writer.into_parts();
        out[..2].copy_from_slice(&self.count.to_le_bytes());
        len
    }
}
