//! The agent's answer to a request in natural language: a plan, or one action line of the base generation, `SAY text`,
//! `SET key value` or `GET key`.

use askr_abi::plan::{Plan, PlanError, is_key, is_value};

/// An answer, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// Text for the person.
    Say(&'a [u8]),
    /// Gives a key a value.
    Set {
        /// The key.
        key: &'a str,
        /// The value.
        value: &'a str,
    },
    /// Shows the value of a key.
    Get {
        /// The key.
        key: &'a str,
    },
    /// Several steps.
    Plan(Plan<'a>),
    /// What claims to be a plan and is none.
    Broken(PlanError),
    /// Any other line, whole.
    Other(&'a [u8]),
}

impl<'a> Action<'a> {
    /// Takes `answer` apart; line ends after a line do not count.
    #[must_use]
    pub fn parse(answer: &'a [u8]) -> Self {
        if Plan::is_claimed(answer) {
            return Plan::decode(answer).map_or_else(Self::Broken, Self::Plan);
        }
        let line = answer.trim_ascii_end();
        match line.strip_prefix(b"SAY") {
            Some([]) => Self::Say(b""),
            Some(text) if text[0].is_ascii_whitespace() => Self::Say(&text[1..]),
            _ => Self::setting(line).unwrap_or(Self::Other(line)),
        }
    }

    fn setting(line: &'a [u8]) -> Option<Self> {
        let line = str::from_utf8(line).ok()?;
        if let Some(key) = line.strip_prefix("GET ") {
            return is_key(key).then_some(Self::Get { key });
        }
        let (key, value) = line.strip_prefix("SET ")?.split_once(' ')?;
        (is_key(key) && is_value(value)).then_some(Self::Set { key, value })
    }
}

#[cfg(test)]
mod tests {
    use super::Action::{self, Broken, Get, Other, Plan, Say, Set};
    use askr_abi::plan::{Ending, PlanError, PlanWriter};
    use proptest::prelude::*;

    #[test]
    fn only_a_say_line_is_speech() {
        assert_eq!(Action::parse(b"SAY hello you\r\n"), Say(b"hello you"));
        assert_eq!(Action::parse(b"SAY two\nlines\n"), Say(b"two\nlines"));
        assert_eq!(Action::parse(b"SAY"), Say(b""));
        assert_eq!(Action::parse(b"SAYS x"), Other(b"SAYS x"));
        assert_eq!(Action::parse(b"say x"), Other(b"say x"));
        assert_eq!(Action::parse(b""), Other(b""));
    }

    #[test]
    fn settings_are_taken_apart_or_not_at_all() {
        assert_eq!(Action::parse(b"SET key a value\n"), Set { key: "key", value: "a value" });
        assert_eq!(Action::parse(b"GET key\r\n"), Get { key: "key" });
        for line in [
            &b"SET key"[..],
            b"SET Key x",
            b"SET key a\nb",
            b"SET key a\x1b[2J",
            b"GET",
            b"GET a b",
            b"GET \xff",
        ] {
            assert_eq!(Action::parse(line), Other(line.trim_ascii_end()));
        }
    }

    #[test]
    fn a_plan_is_whole_or_broken() {
        let mut writer = PlanWriter::default();
        writer.run(&["ls"]).unwrap();
        let bytes = writer.finish(Ending::Done).unwrap().to_vec();
        assert!(matches!(Action::parse(&bytes), Plan(plan) if plan.len() == 1));
        assert_eq!(Action::parse(&bytes[..bytes.len() - 1]), Broken(PlanError::Cut));
        assert_eq!(Action::parse(b"\0"), Broken(PlanError::Cut));
    }

    proptest! {
        #[test]
        fn any_answer_is_something(answer: Vec<u8>) {
            let _ = Action::parse(&answer);
        }
    }
}
