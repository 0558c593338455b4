//! The agent's answer to a request in natural language: one action line, `SAY text`, `SET key value` or
//! `GET key`.

/// An action line, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// Text for the person.
    Say(&'a [u8]),
    /// Anything else, whole: something the agent would have the shell do.
    Propose(&'a [u8]),
}

impl<'a> Action<'a> {
    /// Takes `answer` apart; line ends after it do not count.
    #[must_use]
    pub fn parse(answer: &'a [u8]) -> Self {
        let line = answer.trim_ascii_end();
        match line.strip_prefix(b"SAY") {
            Some([]) => Self::Say(b""),
            Some(text) if text[0].is_ascii_whitespace() => Self::Say(&text[1..]),
            _ => Self::Propose(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Action::{self, Propose, Say};

    #[test]
    fn only_a_say_line_is_speech() {
        assert_eq!(Action::parse(b"SAY hello you\r\n"), Say(b"hello you"));
        assert_eq!(Action::parse(b"SAY two\nlines\n"), Say(b"two\nlines"));
        assert_eq!(Action::parse(b"SAY"), Say(b""));
        assert_eq!(Action::parse(b"SAYS x"), Propose(b"SAYS x"));
        assert_eq!(Action::parse(b"say x"), Propose(b"say x"));
        assert_eq!(Action::parse(b"SET key value"), Propose(b"SET key value"));
        assert_eq!(Action::parse(b"GET key\n"), Propose(b"GET key"));
        assert_eq!(Action::parse(b""), Propose(b""));
    }
}
