//! Results in pages: what fits, and where the next page begins.

use serde::Serialize;

use super::error::{Code, Failure};

/// Most bytes of a result as JSON, unless more was asked for.
pub(super) const RESULT_MAX: usize = 8 * 1024;
/// What the fields around the items of a page take of that.
const FRAME: usize = 512;

/// How many of `items` fit into one result: at least one, so that whoever reads on gets on.
pub(super) fn fitting<T: Serialize>(items: &[T]) -> usize {
    let mut room = RESULT_MAX - FRAME;
    let fits = |item: &&T| {
        let size = serde_json::to_string(item).map_or(usize::MAX, |json| json.len() + 1);
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    items.iter().take_while(fits).count().max(1).min(items.len())
}

/// Where a page begins in a list of one boot of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor<'a> {
    pub(super) boot: &'a str,
    pub(super) start: usize,
}

/// Hex digits of the boot id in a cursor.
const BOOT_DIGITS: usize = 8;

impl<'a> Cursor<'a> {
    pub(super) fn write(self) -> String {
        format!("{}:{}", self.boot.get(..BOOT_DIGITS).unwrap_or(self.boot), self.start)
    }

    pub(super) fn read(text: &'a str) -> Result<Self, Failure> {
        let parts = text.split_once(':').and_then(|(boot, start)| Some((boot, start.parse().ok()?)));
        match parts {
            Some((boot, start)) if boot.len() == BOOT_DIGITS => Ok(Self { boot, start }),
            _ => Err(Failure::new(Code::BadRequest, "`cursor` is not the `next` of an earlier result")),
        }
    }

    /// Where the page begins, if the list is of the same boot.
    pub(super) fn start_in(text: Option<&'a str>, boot: &str) -> Result<usize, Failure> {
        let Some(cursor) = text.map(Self::read).transpose()? else { return Ok(0) };
        if boot.starts_with(cursor.boot) {
            return Ok(cursor.start);
        }
        let failure =
            Failure::new(Code::GuestRestarted, "the list that `cursor` goes on with is of an earlier boot");
        Err(failure.in_boot(Some(boot.to_owned())))
    }
}

/// One page of a list: its items, and the cursor of the page after it.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    pub(super) total: usize,
    pub(super) next: Option<String>,
}

impl<T: Serialize> Page<T> {
    /// The page of `all` that `cursor` names.
    pub(super) fn of(all: Vec<T>, cursor: Option<&str>, boot: &str) -> Result<Self, Failure> {
        let start = Cursor::start_in(cursor, boot)?;
        let total = all.len();
        let mut items: Vec<T> = all.into_iter().skip(start).collect();
        items.truncate(fitting(&items));
        let end = start.saturating_add(items.len());
        let next = (end < total).then(|| Cursor { boot, start: end }.write());
        Ok(Self { items, total, next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOT: &str = "0123456789abcdef";

    #[test]
    fn pages_hold_everything_once_and_fit() {
        let all: Vec<String> = (0..2000).map(|n| format!("entry number {n}")).collect();
        let (mut seen, mut cursor) = (Vec::new(), None);
        for _ in 0..all.len() {
            let page = Page::of(all.clone(), cursor.as_deref(), BOOT).unwrap();
            assert!(serde_json::to_string(&page.items).unwrap().len() <= RESULT_MAX - FRAME + 1);
            assert_eq!(page.total, all.len());
            seen.extend(page.items);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn what_fits_no_page_has_one_of_its_own() {
        let page = Page::of(vec!["x".repeat(RESULT_MAX), "y".into()], None, BOOT).unwrap();
        assert_eq!((page.items.len(), page.next), (1, Some("01234567:1".into())));
    }

    #[test]
    fn cursors_of_another_boot_or_none_are_refused() {
        let read = |cursor| Cursor::start_in(Some(cursor), BOOT).map_err(|failure| failure.code());
        assert_eq!(read("01234567:7"), Ok(7));
        assert_eq!(read("01234568:7"), Err(Code::GuestRestarted));
        for cursor in ["", "7", ":7", "01234567:", "01234567:-1", "01:7"] {
            assert_eq!(read(cursor), Err(Code::BadRequest), "{cursor}");
        }
        assert!(Page::of(vec![0; 3], Some("01234567:18446744073709551615"), BOOT).unwrap().items.is_empty());
    }
}
