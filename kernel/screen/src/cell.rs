//! One place of the screen.

/// Colours by their numbers in ECMA-48's SGR: 0 to 7 as in 30 to 37, 8 to 15 the bright ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colors {
    /// Of the character.
    pub text: u8,
    /// Behind it.
    pub ground: u8,
}

impl Colors {
    /// Light grey on black.
    pub const DEFAULT: Self = Self { text: 7, ground: 0 };
    /// For a message that must be seen: white on red.
    pub const ALARM: Self = Self { text: 15, ground: 1 };

    /// The two exchanged, as a cursor shows them.
    #[must_use]
    pub const fn inverted(self) -> Self {
        Self { text: self.ground, ground: self.text }
    }
}

/// A character and its colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What is shown; [`Cell::TAIL`] in the right half of a wide character.
    pub character: char,
    /// How.
    pub colors: Colors,
}

impl Cell {
    /// The character of the right half of a wide one.
    pub const TAIL: char = '\0';

    /// Nothing, on a ground of this colour.
    #[must_use]
    pub const fn blank(ground: u8) -> Self {
        Self { character: ' ', colors: Colors { ground, ..Colors::DEFAULT } }
    }
}
