//! What an agent answers: steps for the guest to show and to carry out.

use askr_abi::plan::{Ending, PlanError, PlanWriter, SAY_MAX};

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Tells the person something.
    Say(String),
    /// Runs a program.
    Run(Vec<String>),
    /// Gives a key of the agent's configuration a value.
    Set(String, String),
    /// Shows the value of a key.
    Get(String),
}

/// Steps, and what comes after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) ending: Ending,
}

impl Plan {
    /// Nothing but words.
    pub(super) fn say(text: impl Into<String>) -> Self {
        Self { steps: vec![Step::Say(text.into())], ending: Ending::Done }
    }

    /// Words that say why it was not done.
    pub(super) fn fail(text: impl Into<String>) -> Self {
        Self { ending: Ending::Failed, ..Self::say(text) }
    }

    /// One program.
    pub(super) fn run(arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self { steps: vec![Step::Run(arguments)], ending: Ending::Done }
    }

    /// The same, and then again with the results.
    pub(super) fn and_then_more(self) -> Self {
        Self { ending: Ending::More, ..self }
    }

    /// As the guest's `ai` reads it.
    ///
    /// # Errors
    /// What the guest would refuse.
    pub(super) fn encode(&self) -> Result<Vec<u8>, PlanError> {
        let mut writer = PlanWriter::default();
        for step in &self.steps {
            match step {
                Step::Say(text) => writer.say(&sayable(text))?,
                Step::Run(arguments) => writer.run(arguments)?,
                Step::Set(key, value) => writer.set(key, value)?,
                Step::Get(key) => writer.get(key)?,
            }
        }
        writer.finish(self.ending).map(<[u8]>::to_vec)
    }

    /// As one line of the base generation, for a guest that reads no plans; what has no such line is told in words.
    pub(super) fn line(&self) -> String {
        match &self.steps[..] {
            [Step::Set(key, value)] => format!("SET {key} {value}"),
            [Step::Get(key)] => format!("GET {key}"),
            steps => {
                let words = steps.iter().map(|step| match step {
                    Step::Say(text) => text.clone(),
                    Step::Run(arguments) => format!("I would run: {}", arguments.join(" ")),
                    Step::Set(key, value) => format!("I would set {key} to {value}"),
                    Step::Get(key) => format!("I would look at {key}"),
                });
                let text = sayable(&words.collect::<Vec<_>>().join(". ")).replace(['\n', '\t'], " ");
                format!("SAY {text}")
            }
        }
    }
}

/// Text without what a terminal would obey, and no longer than may be said.
pub(super) fn sayable(text: &str) -> String {
    const CUT: &str = " … (cut)";
    let mut said = String::new();
    for symbol in text.trim().chars() {
        if said.len() + symbol.len_utf8() > SAY_MAX - CUT.len() {
            said.push_str(CUT);
            break;
        }
        match symbol {
            '\n' | '\t' => said.push(symbol),
            '\r' => {}
            _ if askr_abi::is_hidden(symbol) => said.push(' '),
            _ => said.push(symbol),
        }
    }
    if said.is_empty() { "(nothing)".into() } else { said }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_guest_without_plans_gets_a_line() {
        assert_eq!(Plan::say("two\nlines").line(), "SAY two lines");
        assert_eq!(Plan::run(&["rm", "a"]).line(), "SAY I would run: rm a");
        let set = Plan { steps: vec![Step::Set("model".into(), "m".into())], ending: Ending::Done };
        assert_eq!(set.line(), "SET model m");
    }

    proptest! {
        #[test]
        fn whatever_is_said_can_be_said(text: String) {
            prop_assert!(Plan::say(text.as_str()).encode().is_ok());
            prop_assert!(Plan::say(text).line().lines().count() == 1);
        }
    }

    #[test]
    fn long_text_is_cut_and_says_so() {
        let said = sayable(&"é".repeat(SAY_MAX));
        assert!(said.len() <= SAY_MAX && said.ends_with("(cut)"));
    }
}
