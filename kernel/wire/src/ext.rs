//! Extension items of a session frame: `[kind:1][len:2][bytes]`. Later generations put there what the base
//! layouts cannot hold; a reader skips the kinds it does not know.

use crate::cursor::{Message, NoRoom, Reader, Writer};

/// Facts about an ask: [`crate::message::AskFacts`].
pub const ASK_FACTS: u8 = 1;
/// The answers an ask takes: [`crate::message::Choice`], one after the other.
pub const ASK_CHOICES: u8 = 2;
/// What helps to answer an ask: [`crate::message::Context`], one after the other.
pub const ASK_CONTEXT: u8 = 3;
/// The answer that the asker takes when nobody answers: its bytes.
pub const ASK_DEFAULT: u8 = 4;
/// What is known of a fault, in its event: [`crate::message::FaultFacts`].
pub const FAULT_FACTS: u8 = 5;

/// One extension item: its kind and its bytes.
pub type ExtItem<'a> = (u8, &'a [u8]);

/// An item runs over the end of the ext. The frame as a whole is then EINVAL: the checksum was right, so the
/// peer meant something that cannot be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedExt;

impl core::fmt::Display for MalformedExt {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("extension item runs over the end of its list")
    }
}

impl core::error::Error for MalformedExt {}

/// The items of an ext in order; after an error nothing follows.
#[must_use]
pub const fn ext_items(ext: &[u8]) -> ExtItems<'_> {
    ExtItems { reader: Reader::new(ext) }
}

/// Iterator over the items of an ext: see [`ext_items`].
#[derive(Clone, Debug)]
pub struct ExtItems<'a> {
    reader: Reader<'a>,
}

impl<'a> Iterator for ExtItems<'a> {
    type Item = Result<ExtItem<'a>, MalformedExt>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.rest().is_empty() {
            return None;
        }
        let item = self.reader.u8().and_then(|kind| Ok((kind, self.reader.long_string()?)));
        Some(item.map_err(|_| {
            self.reader.take_rest();
            MalformedExt
        }))
    }
}

/// The bytes of the first item of this kind.
#[must_use]
pub fn find(ext: &[u8], kind: u8) -> Option<&[u8]> {
    ext_items(ext).map_while(Result::ok).find(|&(of, _)| of == kind).map(|(_, bytes)| bytes)
}

/// The messages that follow each other to the end of the first item of this kind; none without such an item.
pub fn messages<'a, M: Message<'a>>(ext: &'a [u8], kind: u8) -> impl Iterator<Item = M> {
    let mut reader = Reader::new(find(ext, kind).unwrap_or_default());
    core::iter::from_fn(move || if reader.rest().is_empty() { None } else { M::get(&mut reader).ok() })
}

/// Appends one item to an ext under construction.
///
/// # Errors
/// [`NoRoom`] if it does not fit.
pub fn put_item(to: &mut Writer<'_>, (kind, bytes): ExtItem<'_>) -> Result<(), NoRoom> {
    to.u8(kind)?;
    to.long_string(bytes)
}
