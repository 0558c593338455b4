//! Whether a file system is full, told once for each time that it becomes so.

/// Bytes that show that there is room again: fewer are left on a full file system, too.
const ROOM: u64 = 4096;

/// What a file system knows of its being full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fullness {
    /// There is room, as far as anybody knows.
    #[default]
    Room,
    /// It said ENOSPC.
    Full {
        /// Bytes given back since then.
        given_back: u64,
    },
}

impl Fullness {
    /// It said ENOSPC. Returns whether that is news.
    pub const fn refused(&mut self) -> bool {
        let is_news = matches!(self, Self::Room);
        *self = Self::Full { given_back: 0 };
        is_news
    }

    /// Bytes were given back. Whether they are enough for anything shows when somebody writes.
    pub const fn released(&mut self, bytes: u64) {
        if let Self::Full { given_back } = self {
            *given_back = given_back.saturating_add(bytes);
        }
    }

    /// `bytes` bytes were written, 0 for something else that takes space.
    pub const fn written(&mut self, bytes: u64) {
        if let Self::Full { given_back } = *self
            && (given_back >= ROOM || bytes >= ROOM)
        {
            *self = Self::Room;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fullness;

    #[test]
    fn being_full_is_news_once_until_there_was_room_again() {
        let mut fullness = Fullness::default();
        fullness.written(1);
        assert!(fullness.refused());
        assert!(!fullness.refused());
        fullness.written(100);
        fullness.released(100);
        fullness.written(100);
        assert!(!fullness.refused(), "a few bytes come and go on a full one, too");
        fullness.released(5000);
        assert!(!fullness.refused(), "what was given back was not enough");
        fullness.released(4000);
        fullness.released(96);
        fullness.written(0);
        assert!(fullness.refused());
        fullness.written(4096);
        assert!(fullness.refused());
    }
}
