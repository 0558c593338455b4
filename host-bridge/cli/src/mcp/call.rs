//! One call of a tool under way: its progress, and the ways it can end.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{InputRequiredResult, InputResponses, ProgressNotificationParam};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::error::{Code, Failure};
use super::guests::{Connection, Guests, Reply};
use super::person::{self, Form, Note, Said};
use super::rounds::Request;
use super::server::Server;
use super::tools::GoesOn;

/// How often the client is told that a call goes on, if it wants to know.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);
/// Longest time that the guest may take over one frame of a request; the hub watches it.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time that a request without a wait of its own may take.
const REQUEST_MAX: Duration = Duration::from_secs(120);
/// What the hub may take to reply beyond a wait.
const WAIT_SLACK: Duration = Duration::from_secs(20);
/// Longest wait that a call may ask for.
const WAIT_MAX: Duration = Duration::from_secs(600);
/// Time that calls have to end after the client closed our stdin: scripts do that right after their last request.
const LINGER: Duration = Duration::from_secs(1);

/// A call of a tool.
pub(super) struct Call<'a> {
    server: &'a Server,
    context: RequestContext<RoleServer>,
    /// What was called; `None` for a resource.
    request: Option<Request>,
    /// When the client repeats a call that it was given back: the handle, and what its person said.
    repeated: Option<(String, InputResponses)>,
}

/// Why a call ends without a result.
pub(super) enum End {
    Failed(Failure),
    /// A person is to say something first; the client asks, and repeats the call.
    GivenBack(Box<InputRequiredResult>),
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl End {
    /// Where nobody can be asked.
    pub(super) fn into_failure(self) -> Failure {
        match self {
            Self::Failed(failure) => failure,
            Self::GivenBack(_) => Failure::new(Code::Internal, "this asks nobody"),
        }
    }
}

impl<'a> Call<'a> {
    /// The reading of a resource.
    pub(super) const fn of_resource(server: &'a Server, context: RequestContext<RoleServer>) -> Self {
        Self { server, context, request: None, repeated: None }
    }

    /// The call of a tool, and its arguments.
    pub(super) fn of_tool(tool: &'static str, context: ToolCallContext<'a, Server>) -> (Self, Value) {
        let arguments = Value::Object(context.arguments.unwrap_or_default());
        let request = Some(Request { tool, arguments: arguments.clone() });
        let responses = context.input_responses.unwrap_or_default();
        let repeated = context.request_state.map(|handle| (handle, responses));
        (Self { server: context.service, context: context.request_context, request, repeated }, arguments)
    }

    pub(super) const fn guests(&self) -> &Guests {
        &self.server.guests
    }

    /// One request that changes nothing, on a connection of its own.
    pub(super) async fn request(&self, guest: Option<&str>, request: Value) -> Result<Reply, Failure> {
        let mut hub = self.guests().connect(guest)?;
        within(REQUEST_MAX, &mut hub, with_timeout(request, TIMEOUT)).await
    }

    /// One request that changes something: when no reply comes it may have been carried out.
    pub(super) async fn change(&self, guest: Option<&str>, request: Value) -> Result<Reply, Failure> {
        let mut hub = self.guests().connect(guest)?;
        let result = within(REQUEST_MAX, &mut hub, with_timeout(request, TIMEOUT)).await;
        result.map_err(|failure| failure.if_unanswered(Code::OutcomeUnknown))
    }

    /// One request that waits for up to `wait` by itself.
    pub(super) async fn wait(
        &self,
        guest: Option<&str>,
        request: Value,
        wait: Duration,
    ) -> Result<Reply, Failure> {
        let mut hub = self.guests().connect(guest)?;
        within(wait + WAIT_SLACK, &mut hub, request).await
    }

    /// Refuses to go on if the client cannot ask its person.
    pub(super) fn check_can_ask(&self) -> Result<(), Failure> {
        person::check_can_ask(&self.context)
    }

    /// Whether a form can be shown while the call is under way. Else the call is given back with the form.
    pub(super) fn can_elicit(&self) -> bool {
        person::takes_requests(&self.context)
    }

    /// Shows a form to the person at the client. Dropping this takes it back.
    pub(super) async fn elicit(&self, form: Form) -> Result<Said, Failure> {
        person::elicit(&self.context, form).await
    }

    /// Gives the call back with a form in it, `name`. What it `goes_on` with is kept for its repetition.
    pub(super) fn give_back(&self, name: &str, form: Form, goes_on: GoesOn) -> End {
        let Some(request) = self.request.clone() else {
            return Failure::new(Code::Internal, "a resource asks nobody").into();
        };
        let handle = self.server.rounds.put(request, goes_on);
        let forms = [(name.to_owned(), form.into_input())].into();
        End::GivenBack(Box::new(InputRequiredResult::new(Some(forms), Some(handle))))
    }

    /// If this call is a repetition: what it goes on with, and the responses to the forms.
    pub(super) fn repeated(&self) -> Result<Option<(GoesOn, &InputResponses)>, Failure> {
        let (Some((handle, responses)), Some(request)) = (&self.repeated, &self.request) else {
            return Ok(None);
        };
        Ok(Some((self.server.rounds.take(handle, request)?, responses)))
    }

    /// Notes that the person is asked this; `None` if they were before.
    pub(super) fn asks_first(&self, name: &str) -> Option<Note> {
        self.server.asked.note(name)
    }

    /// Does `work` until it is done, the client cancels it or the client is gone, and tells of its progress. A
    /// panic ends this call and nothing else, in a build where panics unwind.
    pub(super) async fn run<T, E: From<Failure>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let cancelled = |why| Err(Failure::new(Code::Cancelled, why).into());
        let gone = async {
            self.server.gone.cancelled().await;
            sleep(LINGER).await;
        };
        tokio::select! {
            biased;
            result = caught(work) => result,
            () = self.context.ct.cancelled() => cancelled("the call was cancelled"),
            () = gone => cancelled("the client closed the connection"),
            () = self.tell_progress() => cancelled("the client takes no more messages"),
        }
    }

    /// Ends only when the client cannot be told.
    async fn tell_progress(&self) {
        let Some(token) = self.context.meta.get_progress_token() else { return std::future::pending().await };
        let started = Instant::now();
        loop {
            sleep(PROGRESS_EVERY).await;
            let seconds = started.elapsed().as_secs_f64();
            let progress = ProgressNotificationParam::new(token.clone(), seconds)
                .with_message(format!("waiting for {seconds:.0} s"));
            if self.context.peer.notify_progress(progress).await.is_err() {
                return;
            }
        }
    }
}

/// Does `work`; a panic in it, which is told on stderr, is a failure as any other.
async fn caught<T, E: From<Failure>>(work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let result = AssertUnwindSafe(work).catch_unwind().await;
    result
        .unwrap_or_else(|_| Err(Failure::new(Code::Internal, "the tool panicked; stderr says where").into()))
}

/// One request with a deadline of ours, should the hub itself hang.
pub(super) async fn within(limit: Duration, hub: &mut Connection, request: Value) -> Result<Reply, Failure> {
    let late = |_| Failure::new(Code::TimedOut, "the hub did not reply in time").unanswered();
    timeout(limit, hub.request(&request)).await.map_err(late)?
}

/// The request, with the time that the hub gives the guest for it.
pub(super) fn with_timeout(mut request: Value, limit: Duration) -> Value {
    request["timeout_ms"] = json!(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
    request
}

/// The wait that the client asks for, within bounds.
pub(super) fn wait_of(wait_ms: Option<u64>, default: Duration) -> Duration {
    wait_ms.map_or(default, Duration::from_millis).min(WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_failure_of_its_call() {
        let panics = async { [Ok(())][std::hint::black_box(1)].clone() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result: Result<(), Failure> = runtime.block_on(caught(panics));
        assert_eq!(result.map_err(|failure| failure.code()), Err(Code::Internal));
    }

    #[test]
    fn waits_are_bounded() {
        assert_eq!(wait_of(Some(u64::MAX), Duration::ZERO), WAIT_MAX);
        assert_eq!(wait_of(Some(5), Duration::ZERO), Duration::from_millis(5));
        assert_eq!(wait_of(None, Duration::from_secs(1)), Duration::from_secs(1));
    }
}
