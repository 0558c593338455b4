//! An ask that is put to the person at the client.

use std::time::Duration;

use rmcp::model::InputResponses;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tokio::time::{Instant, sleep, timeout_at};

use super::pending::{Pending, listed};
use crate::mcp::call::{Call, End};
use crate::mcp::error::{Code, Failure};
use crate::mcp::guests::Connection;
use crate::mcp::person::{Note, Said};
use crate::mcp::text::{Shape, show};
use crate::mcp::tools::{jobs, put_bytes};

/// Pause between two looks whether the ask still waits.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long a hub that is not there may be away, and how long one that is full is tried with an answer.
const HUB_AWAY_MAX: Duration = Duration::from_secs(10);
/// Most characters of an answer in what is told of it.
const ANSWER_SHOWN: usize = 200;

/// What a call that was given back with an ask goes on with.
pub(in crate::mcp) struct GoesOn {
    pub(in crate::mcp::tools) offer: Offer,
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

    /// A call that fails after this does not lose what the person decided.
    pub(super) fn go_before(&self, failure: Failure) -> Failure {
        if self.verdict != Verdict::Accepted {
            return failure;
        }
        let words = format!("ask {} has the person's answer, but what still waits is not known", self.ask);
        failure.after_a_change().after(&words)
    }
}

/// An ask on its way to the person.
pub(in crate::mcp) struct Offer {
    pending: Pending,
    /// That it is put to them now, and was not before.
    note: Option<Note>,
}

impl Offer {
    /// For an ask that was not put to them before.
    pub(in crate::mcp::tools) fn first(call: &Call<'_>, pending: Pending) -> Option<Self> {
        let note = call.asks_first(&pending.name)?;
        Some(Self { pending, note: Some(note) })
    }

    /// Whether it was put to them before or not.
    pub(super) fn again(call: &Call<'_>, pending: Pending) -> Self {
        Self { note: call.asks_first(&pending.name), pending }
    }

    pub(in crate::mcp::tools) fn name(&self) -> &str {
        &self.pending.name
    }

    pub(super) fn into_pending(self) -> Pending {
        self.pending
    }

    /// The person has it behind them: asks_wait and proc_spawn do not put it again.
    fn keep(&mut self) {
        if let Some(note) = &mut self.note {
            note.keep();
        }
    }

    /// Gives the call back with this in it.
    pub(in crate::mcp::tools) fn give_back(self, call: &Call<'_>, job: Option<jobs::Waiting>) -> End {
        let (name, form) = (self.pending.name.clone(), self.pending.form());
        call.give_back(&name, form, GoesOn { offer: self, job })
    }

    /// What the person said to it, when the call was given back with it.
    pub(in crate::mcp::tools) fn said_in(&mut self, responses: &InputResponses) -> Result<Said, Failure> {
        self.keep();
        let name = self.name();
        let missing = || Failure::new(Code::CannotAsk, format!("the client sent no response to `{name}`"));
        Said::of_input(responses.get(name).ok_or_else(missing)?)
    }

    /// Shows it to the person as long as it waits: what they say. Dropping this takes it back.
    pub(in crate::mcp::tools) async fn said(
        &mut self,
        call: &Call<'_>,
        guest: Option<&str>,
    ) -> Result<Said, Failure> {
        let said = tokio::select! {
            biased;
            said = call.elicit(self.pending.form()) => said,
            why = no_longer_open(call, guest, &self.pending) => return Err(why),
        };
        self.keep();
        said
    }

    /// What is to be said of it when it was taken back, because what called for it has ended: it may wait on.
    pub(in crate::mcp::tools) async fn taken_back(
        &self,
        call: &Call<'_>,
        guest: Option<&str>,
    ) -> Result<Said, Failure> {
        let asks = look(call, guest, &mut None).await?;
        if self.pending.is_in(&asks) { Ok(Said::Cancelled) } else { Err(self.pending.late()) }
    }

    /// Shows it, and answers it with what the person says.
    pub(super) async fn put(&mut self, call: &Call<'_>, guest: Option<&str>) -> Result<Decision, Failure> {
        let said = self.said(call, guest).await;
        self.settle(call, guest, said).await
    }

    /// Answers it with what the person said. What a full hub refuses is tried again for a while: nothing was done then.
    pub(in crate::mcp::tools) async fn settle(
        &self,
        call: &Call<'_>,
        guest: Option<&str>,
        said: Result<Said, Failure>,
    ) -> Result<Decision, Failure> {
        let answer = match said? {
            Said::Declined => return Ok(Decision::Declined),
            Said::Cancelled => return Ok(Decision::Cancelled),
            Said::Answer(answer) => answer,
        };
        let mut request = json!({ "op": "ask.answer", "ask": self.name() });
        put_bytes(&mut request, "answer", self.pending.bytes_of(&answer));
        let give_up = Instant::now() + HUB_AWAY_MAX;
        loop {
            match call.change(guest, request.clone()).await {
                Ok(_) => return Ok(Decision::Answered(answer)),
                Err(failure) if failure.code() == Code::Busy && Instant::now() < give_up => {
                    sleep(LOOK_EVERY).await;
                }
                Err(failure) => return Err(failure),
            }
        }
    }
}

impl Pending {
    fn is_in(&self, asks: &[Self]) -> bool {
        asks.iter().any(|ask| ask.name == self.name)
    }

    fn late(&self) -> Failure {
        let message = format!("ask {} was settled before the person answered", self.name);
        Failure::new(Code::Late, message).in_boot(self.boot.clone())
    }
}

/// Ends, and tells why, when the ask waits no more or its hub is gone. A hub that has no room for another client is there,
/// and so is the ask.
async fn no_longer_open(call: &Call<'_>, guest: Option<&str>, pending: &Pending) -> Failure {
    let deadline = Instant::now() + Duration::from_millis(pending.left_ms);
    let watch = async {
        let (mut hub, mut seen) = (None, Instant::now());
        loop {
            match look(call, guest, &mut hub).await {
                Ok(asks) if pending.is_in(&asks) => seen = Instant::now(),
                Ok(_) => return pending.late(),
                Err(failure) if failure.code() == Code::Busy => seen = Instant::now(),
                Err(failure) if seen.elapsed() > HUB_AWAY_MAX => return failure,
                Err(_) => {}
            }
            sleep(LOOK_EVERY).await;
        }
    };
    timeout_at(deadline, watch).await.unwrap_or_else(|_| pending.late())
}

/// The asks that wait now, over a connection that is made if there is none; one that fails is given up.
async fn look(
    call: &Call<'_>,
    guest: Option<&str>,
    hub: &mut Option<Connection>,
) -> Result<Vec<Pending>, Failure> {
    let connection = match hub.take() {
        Some(connection) => connection,
        None => call.guests().connect(guest)?,
    };
    let asks = listed(hub.insert(connection)).await;
    if asks.is_err() {
        *hub = None;
    }
    asks
}
