//! An ask that is put to the person at the client.

use std::time::Duration;

use rmcp::model::InputResponses;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::pending::{Pending, listed};
use crate::mcp::call::{Call, End};
use crate::mcp::error::{Code, Failure};
use crate::mcp::person::{Form, Said};
use crate::mcp::text::{Shape, show};
use crate::mcp::tools::{jobs, put_bytes};

/// Pause between two looks whether the ask still waits.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Most characters of an answer in what is told of it.
const ANSWER_SHOWN: usize = 200;

/// What a call that was given back with an ask goes on with.
pub(in crate::mcp) struct GoesOn {
    pub(in crate::mcp::tools) pending: Pending,
    /// The program that the call waits for, if it does.
    pub(in crate::mcp::tools) job: Option<jobs::Waiting>,
}

/// What came of an ask that was put to the person.
#[derive(Clone, Serialize, JsonSchema)]
pub(in crate::mcp::tools) struct Told {
    /// The ask.
    ask: String,
    verdict: Verdict,
    /// What the person answered, at most 200 characters of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// Why it `failed`: the code of an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

/// What came of it: the program has the answer; the person does not want to decide, or closed the form, and the ask still
/// waits; it was settled before the person answered; it was not answered for the reason that `code` tells.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::mcp::tools) enum Verdict {
    Accepted,
    Declined,
    Cancelled,
    Late,
    Failed,
}

/// What the person decided.
pub(in crate::mcp::tools) enum Decision {
    Answered(String),
    Declined,
    Cancelled,
}

impl Decision {
    /// The verdict, and the answer as it is shown.
    pub(super) fn told(self) -> (Verdict, Option<String>) {
        match self {
            Self::Answered(answer) => {
                let start: String = answer.chars().take(ANSWER_SHOWN).collect();
                (Verdict::Accepted, Some(show(start.as_bytes(), Shape::Line).0))
            }
            Self::Declined => (Verdict::Declined, None),
            Self::Cancelled => (Verdict::Cancelled, None),
        }
    }
}

impl Told {
    pub(in crate::mcp::tools) fn of(ask: &str, decision: Result<Decision, Failure>) -> Self {
        let (verdict, answer, code) = match decision {
            Ok(decision) => {
                let (verdict, answer) = decision.told();
                (verdict, answer, None)
            }
            Err(failure) if failure.code() == Code::Late => (Verdict::Late, None, None),
            Err(failure) => (Verdict::Failed, None, Some(failure.code().name())),
        };
        Self { ask: ask.to_owned(), verdict, answer, code }
    }
}

impl Pending {
    /// What the person sees. What the program says stands behind `>`, so that nothing else looks as if it came from it,
    /// nor it as if it came from us.
    pub(in crate::mcp::tools) fn form(&self) -> Form {
        let show = |bytes: &[u8], shape| show(bytes, shape).0;
        let mut said = show(&self.question, Shape::Lines);
        for (key, value) in &self.context {
            said.push_str(&format!("\n{}: {}", show(key, Shape::Line), show(value, Shape::Line)));
        }
        let said: String = said.lines().map(|line| format!("> {line}\n")).collect();
        let who = match (&self.program, self.pid) {
            (Some(program), Some(pid)) => {
                format!("The program `{}` (process {pid})", show(program, Shape::Line))
            }
            _ => "A program".to_owned(),
        };
        let otherwise = self.default.as_ref().map_or_else(
            || "it has to do without".to_owned(),
            |default| format!("it takes `{}`", show(default, Shape::Line)),
        );
        let seconds = self.left_ms.div_ceil(1000);
        let message = format!(
            "{who} in the Askr guest asks:\n\n{said}\nThese words are the program's own: give it no secrets. It gets \
             your answer; without one within {seconds} s, {otherwise}."
        );
        Form { message, choices: self.shown_choices().0 }
    }

    /// The bytes that this answer of the form stands for.
    fn bytes_of(&self, answer: &str) -> Vec<u8> {
        let at = self.shown_choices().0.iter().position(|choice| choice == answer);
        at.map_or_else(|| answer.as_bytes().to_vec(), |at| self.choices[at].clone())
    }
}

/// Gives the call back with this ask in it.
pub(in crate::mcp::tools) fn give_back(call: &Call<'_>, pending: Pending, job: Option<jobs::Waiting>) -> End {
    let (name, form) = (pending.name.clone(), pending.form());
    call.give_back(&name, form, GoesOn { pending, job })
}

/// What the person said to the ask that a call was given back with.
pub(in crate::mcp::tools) fn said_in(responses: &InputResponses, name: &str) -> Result<Said, Failure> {
    let missing = || Failure::new(Code::CannotAsk, format!("the client sent no response to `{name}`"));
    Said::of_input(responses.get(name).ok_or_else(missing)?)
}

/// Puts an ask to the person as long as it waits, and answers it with what they say.
pub(in crate::mcp::tools) async fn put(
    call: &Call<'_>,
    guest: Option<&str>,
    pending: &Pending,
) -> Result<Decision, Failure> {
    let said = tokio::select! {
        biased;
        said = call.elicit(pending.form()) => said,
        () = settled(call, guest, pending) => {
            let message = format!("ask {} was settled before the person answered", pending.name);
            return Err(Failure::new(Code::Late, message).in_boot(pending.boot.clone()));
        }
    };
    settle(call, guest, pending, said).await
}

/// Ends when the ask waits no more, or nothing is known of it any more.
async fn settled(call: &Call<'_>, guest: Option<&str>, pending: &Pending) {
    let deadline = Instant::now() + Duration::from_millis(pending.left_ms);
    let Ok(mut hub) = call.guests().connect(guest) else { return };
    while Instant::now() < deadline {
        sleep(LOOK_EVERY).await;
        match listed(&mut hub).await {
            Ok(asks) if asks.iter().any(|ask| ask.name == pending.name) => {}
            _ => return,
        }
    }
}

/// Answers an ask with what the person said.
pub(in crate::mcp::tools) async fn settle(
    call: &Call<'_>,
    guest: Option<&str>,
    pending: &Pending,
    said: Result<Said, Failure>,
) -> Result<Decision, Failure> {
    let answer = match said? {
        Said::Declined => return Ok(Decision::Declined),
        Said::Cancelled => return Ok(Decision::Cancelled),
        Said::Answer(answer) => answer,
    };
    let mut request = json!({ "op": "ask.answer", "ask": pending.name });
    put_bytes(&mut request, "answer", pending.bytes_of(&answer));
    call.change(guest, request).await?;
    Ok(Decision::Answered(answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_tells_the_programs_words_from_ours() {
        let pending = Pending {
            question: b"sure?\n\nThese words are ours.\x1b[2J".to_vec(),
            context: vec![(b"file\n".to_vec(), b"/\xff".to_vec())],
            program: Some(b"/bin/`x`".to_vec()),
            default: Some(b"no\n".to_vec()),
            choices: vec![b"yes\n".to_vec(), b"no".to_vec()],
            ..Pending::sample()
        };
        let Form { message, choices } = pending.form();
        assert!(
            message.starts_with("The program `/bin/`x`` (process 7) in the Askr guest asks:\n\n> sure?"),
            "{message}"
        );
        assert!(
            message.contains("\n> \n> These words are ours.\\x1b[2J\n> file\\n: /\\xff\n\n"),
            "{message}"
        );
        assert!(message.contains("within 30 s, it takes `no\\n`."), "{message}");
        assert_eq!(choices, ["yes\\n", "no"]);
        assert_eq!((&*pending.bytes_of("yes\\n"), &*pending.bytes_of("no")), (&b"yes\n"[..], &b"no"[..]));
        assert_eq!(pending.bytes_of("other"), b"other", "the guest refuses it");
    }
}
