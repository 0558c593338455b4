//! A request in natural language with what the guest tells along with it.

use crate::session::Ask;

/// A request.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    /// In the person's own words.
    pub(super) text: String,
    /// Whether the guest reads plans.
    pub(super) reads_plans: bool,
    /// The working directory.
    pub(super) directory: String,
    /// All that was told, as it was told: keys and values.
    #[cfg(feature = "http")]
    pub(super) context: Vec<(String, String)>,
    /// What the last step brought, if this is not the first round.
    pub(super) result: Option<StepResult>,
}

/// What a step brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StepResult {
    /// The exit code; `None` if it did not run.
    pub(super) code: Option<i32>,
    /// How many lines were printed.
    pub(super) lines: u64,
    /// The start of the output is missing.
    pub(super) is_cut: bool,
    /// The end of the output.
    pub(super) output: String,
}

impl Request {
    pub(super) fn new(ask: &Ask) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let context: Vec<(String, String)> =
            ask.context.iter().map(|(key, value)| (text(key), text(value))).collect();
        let value = |key: &str| context.iter().find(|pair| pair.0 == key).map(|pair| pair.1.as_str());
        let number = |key: &str| key.strip_prefix("result")?.parse::<u32>().ok();
        let last = context.iter().filter_map(|(key, value)| Some((number(key)?, value))).max();
        Self {
            text: text(&ask.question),
            reads_plans: value("plan") == Some("1"),
            directory: value("cwd").unwrap_or("/").to_owned(),
            result: last.and_then(|(_, value)| StepResult::parse(value)),
            #[cfg(feature = "http")]
            context,
        }
    }
}

impl StepResult {
    /// A line with the command, one with how it ended and how much it printed, then the end of that.
    fn parse(text: &str) -> Option<Self> {
        let text = if text.starts_with("$ ") { text.split_once('\n')?.1 } else { text };
        let (head, output) = text.split_once('\n')?;
        let mut parts = head.split(", ");
        let code = parts.next()?.strip_prefix("exit ").and_then(|code| code.parse().ok());
        let lines = parts.next()?.strip_suffix(" lines")?.parse().ok()?;
        let (output, is_cut) = output.strip_prefix("[cut]\n").map_or((output, false), |rest| (rest, true));
        Some(Self { code, lines, is_cut, output: output.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::StepResult;

    #[test]
    fn results_are_taken_apart() {
        let result = StepResult::parse("$ ls -l\nexit 0, 2 lines, 8 bytes\none\ntwo\n").unwrap();
        assert_eq!(
            result,
            StepResult { code: Some(0), lines: 2, is_cut: false, output: "one\ntwo\n".into() }
        );
        let cut = StepResult::parse("exit 1, 900 lines, 9000 bytes\n[cut]\nend\n").unwrap();
        assert!(cut.is_cut && cut.output == "end\n" && cut.code == Some(1));
        assert_eq!(StepResult::parse("$ x\ndid not run, 0 lines, 0 bytes\n").unwrap().code, None);
        assert_eq!(StepResult::parse("anything else"), None);
    }
}
