//! Which of the reasons why there is no hub are told to who waits for one.

/// Remembers what was told. Hubs are looked for again and again, and mostly the reason stays the same.
#[derive(Default)]
pub(crate) struct Waiting {
    told: Option<String>,
    /// A hub was lost, and since then there was none.
    was_lost: bool,
}

impl Waiting {
    /// The hub that was there is gone, which is told.
    pub(crate) fn lost(&mut self) {
        (self.told, self.was_lost) = (None, true);
    }

    /// Whether it is to be told that there is no hub for this reason. `is_absent` if nobody listens: of a hub that was lost
    /// that goes without saying.
    pub(crate) fn is_news(&mut self, why: &str, is_absent: bool) -> bool {
        if is_absent && self.was_lost {
            return false;
        }
        self.was_lost = false;
        self.told.replace(why.to_owned()).is_none_or(|told| told != why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_once_and_again_when_it_has_changed() {
        let mut waiting = Waiting::default();
        let mut told = |why, is_absent| waiting.is_news(why, is_absent);
        assert_eq!([told("none", true), told("none", true)], [true, false]);
        assert_eq!([told("full", false), told("full", false)], [true, false]);
        assert_eq!([told("none", true), told("stale", true), told("stale", true)], [true, true, false]);
    }

    #[test]
    fn that_a_hub_that_was_lost_is_not_there_goes_without_saying_but_nothing_else_does() {
        let mut waiting = Waiting::default();
        assert!(waiting.is_news("none", true));
        waiting.lost();
        assert!(!waiting.is_news("stale", true) && !waiting.is_news("none", true));
        assert!(waiting.is_news("full", false) && !waiting.is_news("full", false));
        assert!(waiting.is_news("none", true), "no longer that one");
        waiting.lost();
        assert!(waiting.is_news("full", false), "also if that was told before");
    }
}
