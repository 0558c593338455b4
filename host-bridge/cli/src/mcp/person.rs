//! The person at the client, whom a tool may ask: with `elicitation/create` in a session that began with `initialize`,
//! else by giving the call back with the question in it, to be repeated with the answer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    EnumSchema, InputRequest, PrimitiveSchemaDefinition, ServerRequest, StringSchema,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RequestHandle, ServiceError};
use serde_json::Value;

use super::error::{Code, Failure};

/// The one field of the form.
const ANSWER: &str = "answer";
/// Most characters of an answer: as many as the guest takes bytes.
const ANSWER_MAX: u32 = 4096;

/// How many names of asks are remembered; a guest has fewer at a time.
const ASKED_MAX: usize = 256;

/// The last asks that were put to the person, so that none is put again and again. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<Mutex<VecDeque<String>>>);

impl Asked {
    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes this ask. `None` if it was noted before.
    pub(super) fn note(&self, name: &str) -> Option<Note> {
        let mut asked = self.lock();
        if asked.iter().any(|one| one == name) {
            return None;
        }
        asked.push_back(name.to_owned());
        let over = asked.len().saturating_sub(ASKED_MAX);
        asked.drain(..over);
        drop(asked);
        Some(Note { asked: self.clone(), name: name.to_owned(), is_kept: false })
    }
}

/// That an ask is put to the person. Dropping it forgets that, unless it is kept: of a form that was taken back before
/// the person did anything with it nobody knows that they saw it.
pub(super) struct Note {
    asked: Asked,
    name: String,
    is_kept: bool,
}

impl Note {
    /// The client has told what the person did with it, if anything.
    pub(super) fn keep(&mut self) {
        self.is_kept = true;
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        if !self.is_kept {
            self.asked.lock().retain(|one| *one != self.name);
        }
    }
}

/// What a person is asked.
pub(super) struct Form {
    pub(super) message: String,
    /// The only answers; any if there are none.
    pub(super) choices: Vec<String>,
}

impl Form {
    fn into_request(self) -> ElicitRequest {
        let field = if self.choices.is_empty() {
            let text = StringSchema::new().title("Answer").max_length(ANSWER_MAX);
            PrimitiveSchemaDefinition::String(text)
        } else {
            PrimitiveSchemaDefinition::Enum(EnumSchema::builder(self.choices).title("Answer").build())
        };
        let schema = ElicitationSchema::new([(ANSWER.to_owned(), field)].into());
        ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: self.message,
            requested_schema: schema.with_required(vec![ANSWER.to_owned()]),
        })
    }

    /// As a part of a call that is given back.
    pub(super) fn into_input(self) -> InputRequest {
        InputRequest::Elicitation(self.into_request())
    }
}

/// What a person did with the form.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    Answer(String),
    /// Does not want to decide.
    Declined,
    /// Closed the form.
    Cancelled,
}

impl Said {
    /// From the client's response to a form that a call was given back with.
    pub(super) fn of_input(response: &Value) -> Result<Self, Failure> {
        let result = serde_json::from_value(response.clone());
        result.map_or_else(|_| Err(not_asked("its response is no result of an elicitation")), Self::of)
    }

    fn of(result: ElicitResult) -> Result<Self, Failure> {
        match result.action {
            ElicitationAction::Decline => Ok(Self::Declined),
            ElicitationAction::Cancel => Ok(Self::Cancelled),
            ElicitationAction::Accept => {
                let content = result.content.unwrap_or_default();
                let answer = content[ANSWER].as_str().map(|text| Self::Answer(text.to_owned()));
                answer.ok_or_else(|| not_asked("the form came back without an answer"))
            }
            _ => Err(not_asked("what the person did with the form is not known here")),
        }
    }
}

fn not_asked(why: &str) -> Failure {
    Failure::new(Code::CannotAsk, format!("the client did not ask its person: {why}"))
}

/// Refuses to go on with a client that has said nothing about forms.
pub(super) fn check_can_ask(context: &RequestContext<RoleServer>) -> Result<(), Failure> {
    let can = context.client_capabilities().and_then(|client| client.elicitation);
    // A client that names no mode means forms: they were the first.
    match can {
        Some(modes) if modes.form.is_some() || modes.url.is_none() => Ok(()),
        _ => Err(Failure::new(Code::CannotAsk, "the client has not declared that it can ask its person")),
    }
}

/// Whether the client takes requests, as it does in a session that began with `initialize`.
pub(super) fn takes_requests(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| version.has_initialize())
}

/// Shows the form and waits for what the person does with it. Dropping this takes the form back.
pub(super) async fn elicit(context: &RequestContext<RoleServer>, form: Form) -> Result<Said, Failure> {
    let request = ServerRequest::ElicitRequest(form.into_request());
    let sent = context.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let mut shown = Shown(Some(sent.map_err(|error| not_asked(&error.to_string()))?));
    let Some(handle) = &mut shown.0 else { return Err(not_asked("the form was taken back")) };
    let result = (&mut handle.rx).await.unwrap_or(Err(ServiceError::TransportClosed));
    shown.0 = None;
    match result {
        Ok(ClientResult::ElicitResult(result)) => Said::of(result),
        Ok(_) => Err(not_asked("its response is no result of an elicitation")),
        Err(error) => Err(not_asked(&error.to_string())),
    }
}

/// A form that the person sees.
struct Shown(Option<RequestHandle<RoleServer>>);

impl Drop for Shown {
    fn drop(&mut self) {
        let Some(handle) = self.0.take() else { return };
        let take_back = async move {
            // A client that is gone shows nothing any more.
            let _ = handle.cancel(Some("the question is no longer open".to_owned())).await;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(take_back);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_ask_is_new_once_and_few_are_remembered() {
        let asked = Asked::default();
        let is_new = |name: &str| asked.note(name).map(|mut note| note.keep()).is_some();
        assert!(is_new("a") && is_new("b") && !is_new("a"));
        assert!((0..ASKED_MAX).all(|n| is_new(&n.to_string())));
        assert_eq!(asked.lock().len(), ASKED_MAX);
        assert!(is_new("a"), "forgotten");
    }

    #[test]
    fn an_ask_that_nobody_did_anything_with_is_new_again() {
        let asked = Asked::default();
        let (shown, mut other) = (asked.note("a").unwrap(), asked.note("b").unwrap());
        assert!(asked.note("a").is_none(), "the person has it before them");
        drop(shown);
        let mut again = asked.note("a").expect("it was taken back");
        again.keep();
        other.keep();
        drop((again, other));
        assert!(asked.note("a").is_none() && asked.note("b").is_none());
    }

    #[test]
    fn a_form_has_choices_or_room_for_text() {
        let schema = |choices: &[&str]| {
            let choices = choices.iter().map(ToString::to_string).collect();
            let request = Form { message: "?".into(), choices }.into_request();
            serde_json::to_value(request.params).unwrap()["requestedSchema"].clone()
        };
        let form = |field: Value| json!({ "type": "object", "properties": { "answer": field }, "required": ["answer"] });
        assert_eq!(schema(&[]), form(json!({ "type": "string", "title": "Answer", "maxLength": 4096 })));
        let choices = json!({ "type": "string", "title": "Answer", "enum": ["a", "b"] });
        assert_eq!(schema(&["a", "b"]), form(choices));
    }

    #[test]
    fn what_came_back_is_an_answer_or_none() {
        let said = |response: Value| Said::of_input(&response).map_err(|failure| failure.code());
        let answer = json!({ "action": "accept", "content": { "answer": "" } });
        assert_eq!(said(answer), Ok(Said::Answer(String::new())));
        assert_eq!(said(json!({ "action": "decline" })), Ok(Said::Declined));
        assert_eq!(said(json!({ "action": "cancel" })), Ok(Said::Cancelled));
        for nonsense in [
            json!({}),
            json!("yes"),
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": { "answer": 7 } }),
            json!({ "action": "accept", "content": { "other": "x" } }),
            json!({ "action": "accept", "content": "x" }),
        ] {
            assert_eq!(said(nonsense.clone()), Err(Code::CannotAsk), "{nonsense}");
        }
    }
}
