//! What a check found, and how it is told.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::style::{Style, Tone};
use crate::text::{Shape, show};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Ok,
    /// It may do harm.
    Warn,
    /// It does harm.
    Fail,
}

impl Outcome {
    const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "FAIL",
        }
    }
}

/// What one check found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) outcome: Outcome,
    pub(super) text: String,
    /// A command, or what else mends it.
    pub(super) mend: Option<String>,
}

impl Check {
    pub(super) fn ok(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Ok, text: text.into(), mend: None }
    }

    pub(super) fn warn(name: &'static str, text: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Warn, text: text.into(), mend: Some(mend.into()) }
    }

    pub(super) fn fail(name: &'static str, text: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Fail, text: text.into(), mend: Some(mend.into()) }
    }

    fn to_value(&self) -> Value {
        let status = self.outcome.word().to_lowercase();
        json!({ "name": self.name, "status": status, "text": self.text, "mend": self.mend })
    }
}

/// All checks, told one after the other, or at the end as JSON.
pub(super) struct Report {
    json: bool,
    style: Style,
    checks: Vec<Check>,
}

impl Report {
    pub(super) fn new(json: bool) -> Self {
        Self { json, style: Style::of_stdout(), checks: Vec::new() }
    }

    pub(super) fn add(&mut self, check: Check) -> Result<(), Failure> {
        if !self.json {
            self.tell(&check)?;
        }
        self.checks.push(check);
        Ok(())
    }

    fn tell(&self, check: &Check) -> Result<(), Failure> {
        let tone = match check.outcome {
            Outcome::Ok => Tone::Good,
            Outcome::Warn => Tone::Notable,
            Outcome::Fail => Tone::Bad,
        };
        // Paths and what the guest says may hold anything.
        let plain = |text: &str| show(text.as_bytes(), Shape::Line).0;
        let word = self.style.paint(tone, &format!("{:4}", check.outcome.word()));
        let mut text = format!("{word}  {:9}  {}\n", check.name, plain(&check.text));
        if let Some(mend) = &check.mend {
            text.push_str(&format!("{:17}-> {}\n", "", plain(mend)));
        }
        print(&text)
    }

    /// The sum of it.
    pub(super) fn end(&self) -> Result<Exit, Failure> {
        let count = |outcome| self.checks.iter().filter(|check| check.outcome == outcome).count();
        let (failed, warned) = (count(Outcome::Fail), count(Outcome::Warn));
        if self.json {
            let checks: Vec<_> = self.checks.iter().map(Check::to_value).collect();
            let report = json!({ "checks": checks, "failed": failed, "warned": warned });
            print(&(host_bridge::json::line(&report) + "\n"))?;
        } else {
            let sum = match (failed, warned) {
                (0, 0) => "all is well".to_owned(),
                (0, warned) => format!("nothing fails; {}", counted(warned, "warning")),
                (failed, 0) => counted(failed, "failure"),
                (failed, warned) => format!("{}, {}", counted(failed, "failure"), counted(warned, "warning")),
            };
            print(&format!("{sum}\n"))?;
        }
        Ok(if failed > 0 { Exit::Failed } else { Exit::Done })
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads has seen enough; the exit code is still right.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| format!("stdout: {error}").into()),
    }
}
