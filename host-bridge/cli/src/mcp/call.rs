//! One call of a tool under way: its progress, and the ways it can end.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::error::{Code, Failure};
use super::guests::{Connection, Guests, Reply};
use super::server::Server;

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
}

impl<'a> Call<'a> {
    pub(super) const fn new(server: &'a Server, context: RequestContext<RoleServer>) -> Self {
        Self { server, context }
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

    /// Does `work` until it is done, the client cancels it or the client is gone, and tells of its progress. A
    /// panic ends this call and nothing else, in a build where panics unwind.
    pub(super) async fn run<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let gone = async {
            self.server.gone.cancelled().await;
            sleep(LINGER).await;
        };
        tokio::select! {
            biased;
            result = caught(work) => result,
            () = self.context.ct.cancelled() => Err(Failure::new(Code::Cancelled, "the call was cancelled")),
            () = gone => Err(Failure::new(Code::Cancelled, "the client closed the connection")),
            () = self.tell_progress() => Err(Failure::new(Code::Cancelled, "the client takes no more messages")),
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
async fn caught<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let result = AssertUnwindSafe(work).catch_unwind().await;
    result.unwrap_or_else(|_| Err(Failure::new(Code::Internal, "the tool panicked; stderr says where")))
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
