//! Whether a guest runs, and which.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{Tool, parsed};
use crate::mcp::call::{Call, End, wait_of, with_timeout, within};
use crate::mcp::error::{Code, Failure};
use crate::mcp::guests::Connection;
use crate::mcp::text::{Shape, show};

/// Pause between two looks for a hub.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Longest time for the hub's own part of the status.
const HUB_MAX: Duration = Duration::from_secs(10);
/// Longest time for the guest's part.
const GUEST_MAX: Duration = Duration::from_secs(2);

pub(super) struct GuestStatus;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Longest time in milliseconds to wait until the guest is ready, at most 600000. Default 0.
    wait_ready_ms: Option<u64>,
    /// A guest that an earlier status lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Output {
    state: State,
    /// Calls to the guest work.
    ready: bool,
    /// What to do when it is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Names of the guests that run, for the argument `guest`.
    guests: Vec<String>,
    /// Version of this bridge.
    bridge_version: &'static str,
    /// Boot id of the guest, new with every boot; when it is not ready, of the last one that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    boot: Option<String>,
    /// The kernel's name. Untrusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<String>,
    /// The kernel's version. Untrusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<Limits>,
    /// Asks that wait for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_asks: Option<u64>,
    /// Time since the guest's boot in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    uptime_ms: Option<u64>,
    /// Time that a question to the guest and its answer take, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    round_trip_us: Option<u64>,
    /// The way to the guest that is used: `data`, the fast one, or `com2`, the serial port.
    #[serde(skip_serializing_if = "Option::is_none")]
    door: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<Link>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    #[default]
    NotRunning,
    Starting,
    NotAnswering,
    Ready,
}

impl State {
    const fn hint(self) -> Option<&'static str> {
        match self {
            Self::NotRunning => Some(Code::NotReady.hint()),
            Self::Starting => {
                Some("it boots, or its serial port is not connected; call again with wait_ready_ms")
            }
            Self::NotAnswering => Some("it may be paused or very busy; call again with wait_ready_ms"),
            Self::Ready => None,
        }
    }
}

/// What the connection to the guest is limited to.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Limits {
    /// Most bytes in one message.
    payload_limit: u64,
    /// Most requests under way.
    window: u64,
    /// Time after which a silent bridge is taken for gone.
    lease_ms: u64,
    /// How often the bridge shows that it is there.
    ping_ms: u64,
}

/// Counters of the lines to the guest since the hub was started.
#[derive(Serialize, JsonSchema)]
struct Link {
    /// Times that a line was connected.
    connects: u64,
    bytes_in: u64,
    frames_in: u64,
    /// Frames that were damaged on the way.
    frames_broken: u64,
    /// Whole frames that nobody took.
    frames_dropped: u64,
    /// Requests that were sent again.
    resends: u64,
    /// Sessions with the guest.
    sessions: u64,
}

/// The guest as the hub tells of it.
#[derive(Deserialize)]
struct Guest {
    boot: String,
    kernel: String,
    version: String,
    #[serde(flatten)]
    limits: Limits,
}

impl Tool for GuestStatus {
    const NAME: &'static str = "guest_status";
    const TITLE: &'static str = "Status of the guest";
    const DESCRIPTION: &'static str = "Says whether an Askr guest runs and is ready, with its boot id, versions, limits, number of waiting asks and \
         statistics of the link. With wait_ready_ms it waits until the guest is ready. Without a guest this is \
         no error: state is `not_running` and hint says how to start one.";
    type Arguments = Arguments;
    type Output = Output;

    async fn call(arguments: Arguments, call: &Call<'_>) -> Result<Output, End> {
        let guest = arguments.guest.as_deref();
        let until = Instant::now() + wait_of(arguments.wait_ready_ms, Duration::ZERO);
        wait_ready(call, guest, until).await?;
        let mut output = match connect(call, guest)? {
            Some(mut hub) => look(&mut hub).await?,
            None => Output::default(),
        };
        output.ready = output.state == State::Ready;
        output.hint = output.state.hint().map(str::to_owned);
        output.guests = call.guests().names();
        output.bridge_version = env!("CARGO_PKG_VERSION");
        Ok(output)
    }
}

/// A connection to the hub, if one runs.
fn connect(call: &Call<'_>, guest: Option<&str>) -> Result<Option<Connection>, Failure> {
    match call.guests().connect(guest) {
        Ok(hub) => Ok(Some(hub)),
        Err(failure) if failure.code() == Code::NotReady => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Waits until the guest answers, at the latest until `until`; a hub may come and go meanwhile.
async fn wait_ready(call: &Call<'_>, guest: Option<&str>, until: Instant) -> Result<(), Failure> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        if let Some(mut hub) = connect(call, guest)? {
            let ping = with_timeout(json!({ "op": "ping" }), left);
            if within(left, &mut hub, ping).await.is_ok() {
                return Ok(());
            }
        }
        sleep(LOOK_EVERY.min(left)).await;
    }
}

/// What hub and guest say. A hub that ends meanwhile is no error either.
async fn look(hub: &mut Connection) -> Result<Output, Failure> {
    let status = match within(HUB_MAX, hub, json!({ "op": "status" })).await {
        Ok(reply) => reply.ok,
        Err(failure) if failure.code() == Code::NotReady => return Ok(Output::default()),
        Err(failure) => return Err(failure),
    };
    let mut output = Output {
        state: if status["ready"] == true { State::Ready } else { State::Starting },
        pending_asks: status["pending_asks"].as_u64(),
        door: status["door"].as_str().map(str::to_owned),
        ..Output::default()
    };
    if let Some(guest) = parsed::<Option<Guest>>(status["guest"].clone())? {
        output.boot = Some(guest.boot);
        output.kernel = Some(show(guest.kernel.as_bytes(), Shape::Line).0);
        output.kernel_version = Some(show(guest.version.as_bytes(), Shape::Line).0);
        output.limits = Some(guest.limits);
    }
    if output.state == State::Ready {
        look_inside(hub, &mut output).await;
    }
    Ok(output)
}

/// What only the guest itself can say.
async fn look_inside(hub: &mut Connection, output: &mut Output) {
    let ping = with_timeout(json!({ "op": "ping" }), GUEST_MAX);
    match within(HUB_MAX, hub, ping).await {
        Ok(pong) => {
            output.round_trip_us = pong.ok["round_trip_us"].as_u64();
            output.uptime_ms = pong.ok["uptime_ns"].as_u64().map(|ns| ns / 1_000_000);
        }
        Err(_) => output.state = State::NotAnswering,
    }
    let stats = with_timeout(json!({ "op": "stats" }), GUEST_MAX);
    // Without statistics the rest is still true.
    if let Ok(stats) = within(HUB_MAX, hub, stats).await {
        output.link = Some(link(&stats.ok["link"], &stats.ok["session"]));
    }
}

fn link(link: &Value, session: &Value) -> Link {
    let count = |from: &Value, name: &str| from[name].as_u64().unwrap_or_default();
    let broken = link["frames_broken"].as_object();
    Link {
        connects: count(link, "connects"),
        bytes_in: count(link, "bytes_in"),
        frames_in: count(link, "frames_in"),
        frames_broken: broken.map_or(0, |kinds| kinds.values().filter_map(Value::as_u64).sum()),
        frames_dropped: count(link, "frames_dropped"),
        resends: count(session, "resends"),
        sessions: count(session, "sessions"),
    }
}
