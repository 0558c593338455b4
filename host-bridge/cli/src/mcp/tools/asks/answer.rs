//! Answering an ask.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::pending::{Pending, listed};
use super::person::{Decision, Offer, Verdict};
use crate::mcp::call::{Call, End};
use crate::mcp::error::{Code, Failure};
use crate::mcp::tools::{Effect, Encoding, Tool, boot_of, bytes_of, put_bytes};

pub(in crate::mcp::tools) struct AskAnswer;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp::tools) struct AnswerArguments {
    /// The `ask` of `asks_wait`, copied as it is.
    ask: String,
    /// What the program gets. Needed unless `refuse` or `ask_person` is true.
    answer: Option<String>,
    /// How `answer` stands for bytes. Default `text`.
    answer_encoding: Option<Encoding>,
    /// True to refuse: the program gets an error instead of an answer.
    refuse: Option<bool>,
    /// True to have the person at this client answer, in a form.
    ask_person: Option<bool>,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp::tools) struct Answered {
    /// Boot id of the guest, new with every boot.
    boot: String,
    /// The ask that was answered.
    ask: String,
    verdict: Verdict,
    /// What the person answered, with `ask_person`; at most 200 characters of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

impl Tool for AskAnswer {
    const NAME: &'static str = "ask_answer";
    const TITLE: &'static str = "Answer a question";
    const DESCRIPTION: &'static str = "Answers or refuses a question that asks_wait gave, or with ask_person has the person at this client answer \
         it. The program that asked acts on the answer at once, and it cannot be taken back. The first answer counts; \
         after that, and after the program has stopped waiting, the error is `late`. A person may also decline or \
         cancel: then the question still waits.";
    const EFFECT: Effect = Effect::Decides;
    type Arguments = AnswerArguments;
    type Output = Answered;

    async fn call(arguments: AnswerArguments, call: &Call<'_>) -> Result<Answered, End> {
        let AnswerArguments { ask, answer, answer_encoding, refuse, ask_person, guest } = arguments;
        let guest = guest.as_deref();
        let mut request = json!({ "op": "ask.answer", "ask": ask });
        match (answer, refuse.unwrap_or(false), ask_person.unwrap_or(false)) {
            (Some(answer), false, false) => {
                put_bytes(&mut request, "answer", bytes_of("answer", answer, answer_encoding)?);
            }
            (None, true, false) => request["refuse"] = true.into(),
            (None, false, true) => return by_person(call, guest, &ask).await,
            _ => {
                let message = "give `answer`, or `refuse` or `ask_person` as true, and no two of them";
                return Err(Failure::new(Code::BadRequest, message).into());
            }
        }
        let reply = call.change(guest, request).await?;
        Ok(Answered { boot: boot_of(&reply)?, ask, verdict: Verdict::Accepted, answer: None })
    }
}

/// Has the person answer an ask.
async fn by_person(call: &Call<'_>, guest: Option<&str>, ask: &str) -> Result<Answered, End> {
    call.check_can_ask()?;
    if let Some((goes_on, responses)) = call.repeated()? {
        let mut offer = goes_on.offer;
        let said = offer.said_in(responses);
        let decision = offer.settle(call, guest, said).await?;
        return Ok(answered(offer.into_pending(), decision)?);
    }
    let mut offer = Offer::again(call, find(call, guest, ask).await?);
    if !call.can_elicit() {
        return Err(offer.give_back(call, None));
    }
    let decision = offer.put(call, guest).await?;
    Ok(answered(offer.into_pending(), decision)?)
}

fn answered(pending: Pending, decision: Decision) -> Result<Answered, Failure> {
    let (verdict, answer) = decision.told();
    let no_boot = || Failure::new(Code::Protocol, "the hub's reply names no boot of the guest");
    Ok(Answered { boot: pending.boot.ok_or_else(no_boot)?, ask: pending.name, verdict, answer })
}

/// The ask with this name, if it waits and is one for a person.
async fn find(call: &Call<'_>, guest: Option<&str>, name: &str) -> Result<Pending, Failure> {
    let asks = listed(&mut call.guests().connect(guest)?).await?;
    let found = asks.into_iter().find(|one| one.name == name);
    let pending = found.ok_or_else(|| Failure::new(Code::Late, format!("no ask `{name}` waits")))?;
    if pending.is_for_a_person() {
        return Ok(pending);
    }
    let message = format!("ask {name} is one for an agent and not for a person: `answer` it with one line");
    Err(Failure::new(Code::BadRequest, message).in_boot(pending.boot))
}
