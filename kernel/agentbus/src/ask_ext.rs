//! What an ask says beside its question: choices, context, default. It is kept as it goes over the wire.

use askr_abi::{ASK_EXTRA_MAX, CHOICE_MAX, CHOICES_MAX, CONTEXT_KEY_MAX, CONTEXT_MAX};
use askr_wire::message::{Choice, Context};
use askr_wire::{Message, ext, ext_items};

/// Kind and length of an item.
const ITEM_HEAD: usize = 3;

/// Why something was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraError {
    /// It is empty, or there already; EINVAL.
    Invalid,
    /// It, or all together, is over the limit; E2BIG.
    TooLong,
}

/// The extension items of an ask, in their order on the wire: choices, then context, then the default. Add them so.
#[derive(Clone, Debug)]
pub struct AskExtra {
    bytes: [u8; ASK_EXTRA_MAX],
    len: usize,
    /// Kind and place of the last item.
    open: Option<(u8, usize)>,
}

impl Default for AskExtra {
    fn default() -> Self {
        Self { bytes: [0; ASK_EXTRA_MAX], len: 0, open: None }
    }
}

impl AskExtra {
    /// Adds an answer that the ask takes. With one, it takes no others than those added.
    ///
    /// # Errors
    /// See [`ExtraError`]; nothing was added.
    pub fn choice(&mut self, choice: &[u8]) -> Result<(), ExtraError> {
        if choice.is_empty() || choices(self.bytes()).any(|other| other == choice) {
            return Err(ExtraError::Invalid);
        }
        if choice.len() > CHOICE_MAX || choices(self.bytes()).count() == CHOICES_MAX {
            return Err(ExtraError::TooLong);
        }
        self.put(ext::ASK_CHOICES, &Choice(choice))
    }

    /// Adds something that helps to answer. The value is any bytes.
    ///
    /// # Errors
    /// See [`ExtraError`]; nothing was added.
    pub fn context(&mut self, key: &[u8], value: &[u8]) -> Result<(), ExtraError> {
        if key.is_empty() || context(self.bytes()).any(|(other, _)| other == key) {
            return Err(ExtraError::Invalid);
        }
        if key.len() > CONTEXT_KEY_MAX || context(self.bytes()).count() == CONTEXT_MAX {
            return Err(ExtraError::TooLong);
        }
        self.put(ext::ASK_CONTEXT, &Context { key, value })
    }

    /// Tells the default. One that there is no room for is not told; the asker takes it all the same.
    pub fn default_answer(&mut self, default: &[u8]) {
        let at = self.len + ITEM_HEAD;
        let Some(place) = self.bytes.get_mut(at..at + default.len()) else { return };
        place.copy_from_slice(default);
        let from = core::mem::replace(&mut self.len, at + default.len());
        self.open = Some((ext::ASK_DEFAULT, from));
        self.close();
    }

    /// The items.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Adds a message to the item of this kind, the last one or a new one.
    fn put<'m>(&mut self, kind: u8, message: &impl Message<'m>) -> Result<(), ExtraError> {
        let from = match self.open {
            Some((open, from)) if open == kind => from,
            _ => self.len,
        };
        let at = self.len.max(from + ITEM_HEAD);
        let room = self.bytes.get_mut(at..).ok_or(ExtraError::TooLong)?;
        let len = message.encode(room).map_err(|_| ExtraError::TooLong)?;
        self.len = at + len;
        self.open = Some((kind, from));
        self.close();
        Ok(())
    }

    /// Writes the head of the last item.
    fn close(&mut self) {
        let Some((kind, from)) = self.open else { return };
        let len = u16::try_from(self.len - from - ITEM_HEAD).unwrap_or(u16::MAX); // at most ASK_EXTRA_MAX
        self.bytes[from] = kind;
        self.bytes[from + 1..from + ITEM_HEAD].copy_from_slice(&len.to_le_bytes());
    }
}

/// The answers that an ask with these items takes; without any, it takes all.
pub fn choices(extra: &[u8]) -> impl Iterator<Item = &[u8]> {
    ext::messages(extra, ext::ASK_CHOICES).map(|Choice(choice)| choice)
}

/// What helps to answer it: names and values.
pub fn context(extra: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    ext::messages(extra, ext::ASK_CONTEXT).map(|Context { key, value }| (key, value))
}

/// The default that was told.
#[must_use]
pub fn default_answer(extra: &[u8]) -> Option<&[u8]> {
    ext::find(extra, ext::ASK_DEFAULT)
}

/// Whether an ask with these items takes this answer.
pub(crate) fn takes(extra: &[u8], answer: &[u8]) -> bool {
    choices(extra).next().is_none() || choices(extra).any(|choice| choice == answer)
}

/// The part of the items that fits into `room` bytes: whole items, from the front.
pub(crate) fn fitting(extra: &[u8], room: usize) -> &[u8] {
    let mut len = 0;
    for (_, bytes) in ext_items(extra).map_while(Result::ok) {
        let next = len + ITEM_HEAD + bytes.len();
        if next > room {
            break;
        }
        len = next;
    }
    &extra[..len]
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{AskExtra, ExtraError, choices, context, default_answer, fitting, takes};
    use askr_wire::ext_items;

    fn extra() -> AskExtra {
        let mut extra = AskExtra::default();
        extra.choice(b"yes").unwrap();
        extra.choice(b"no").unwrap();
        extra.context(b"path", b"/tmp/log").unwrap();
        extra.context(b"empty", b"").unwrap();
        extra.default_answer(b"no");
        extra
    }

    #[test]
    fn what_was_added_is_there_in_one_item_of_each_kind() {
        let extra = extra();
        assert_eq!(choices(extra.bytes()).collect::<Vec<_>>(), [&b"yes"[..], b"no"]);
        let pairs = [(&b"path"[..], &b"/tmp/log"[..]), (b"empty", b"")];
        assert_eq!(context(extra.bytes()).collect::<Vec<_>>(), pairs);
        assert_eq!(default_answer(extra.bytes()), Some(&b"no"[..]));
        let kinds: Vec<u8> = ext_items(extra.bytes()).map(|item| item.unwrap().0).collect();
        assert_eq!(kinds, [2, 3, 4]);
    }

    #[test]
    fn limits_hold_and_what_is_refused_changes_nothing() {
        let mut extra = extra();
        let before = extra.bytes().to_vec();
        assert_eq!(extra.choice(b""), Err(ExtraError::Invalid));
        assert_eq!(extra.choice(b"yes"), Err(ExtraError::Invalid));
        assert_eq!(extra.choice(&[b'x'; 65]), Err(ExtraError::TooLong));
        assert_eq!(extra.context(b"", b"x"), Err(ExtraError::Invalid));
        assert_eq!(extra.context(b"path", b"x"), Err(ExtraError::Invalid));
        assert_eq!(extra.context(&[b'k'; 65], b"x"), Err(ExtraError::TooLong));
        assert_eq!(extra.context(b"long", &[0; 1024]), Err(ExtraError::TooLong));
        assert_eq!(extra.bytes(), before);

        let mut most = AskExtra::default();
        for letter in b'a'..b'q' {
            most.choice(&[letter; 60]).unwrap();
        }
        assert_eq!(most.choice(b"one more"), Err(ExtraError::TooLong));
        most.default_answer(&[b'd'; 1024 - 3 - 16 * 61 - 3 + 1]);
        assert_eq!(default_answer(most.bytes()), None, "a byte more than there is room for");
        most.default_answer(&[b'd'; 1024 - 3 - 16 * 61 - 3]);
        assert_eq!(most.bytes().len(), 1024);

        let mut pairs = AskExtra::default();
        (0..16).for_each(|key| pairs.context(&[key], b"value").unwrap());
        assert_eq!(pairs.context(b"seventeen", b""), Err(ExtraError::TooLong));
    }

    #[test]
    fn only_a_choice_is_taken_where_there_are_some() {
        let extra = extra();
        for (answer, is_taken) in
            [(&b"yes"[..], true), (b"no", true), (b"", false), (b"ye", false), (b"Yes", false)]
        {
            assert_eq!(takes(extra.bytes(), answer), is_taken);
            assert!(takes(b"", answer));
        }
    }

    #[test]
    fn what_does_not_fit_is_left_out_as_a_whole() {
        let extra = extra();
        let lengths: Vec<usize> = ext_items(extra.bytes()).map(|item| 3 + item.unwrap().1.len()).collect();
        let all = extra.bytes().len();
        assert_eq!(fitting(extra.bytes(), all), extra.bytes());
        assert_eq!(fitting(extra.bytes(), all - 1).len(), lengths[0] + lengths[1]);
        assert_eq!(fitting(extra.bytes(), lengths[0]).len(), lengths[0]);
        assert_eq!(fitting(extra.bytes(), lengths[0] - 1), b"");
    }
}
