//! Colours, for terminals that have them and people who want them.

use std::io::{self, IsTerminal};

/// How something is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Faint,
    Good,
    Notable,
    Bad,
}

/// Whether there are colours.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    colours: bool,
}

impl Style {
    /// For standard output. A variable `NO_COLOR` that is not empty means none, and so does a terminal that is `dumb`.
    pub(crate) fn of_stdout() -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self { colours: io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb }
    }

    /// The text in its colour.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        // Select Graphic Rendition (ECMA-48).
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Faint => "2",
            Tone::Good => "32",
            Tone::Notable => "33",
            Tone::Bad => "31",
        };
        if self.colours { format!("\x1b[{code}m{text}\x1b[m") } else { text.to_owned() }
    }
}
