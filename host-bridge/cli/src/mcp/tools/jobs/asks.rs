//! What a program asks that a call waits for.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use crate::mcp::call::Call;
use crate::mcp::error::Failure;
use crate::mcp::guests::Connection;
use crate::mcp::tools::asks::{Offer, Pending, Told, listed};

/// Pause between two looks at the asks. Waiting for them instead would keep them from the built-in agent.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How many asks a result tells of.
const TOLD_MAX: usize = 4;

/// The next ask of this job that the person was not asked yet. Ends with one or never.
pub(super) async fn next_ask(call: &Call<'_>, guest: Option<&str>, job: u32) -> Offer {
    let mut others = BTreeSet::new();
    loop {
        // Without a hub there are no asks, and the call ends by what it waits for.
        if let Ok(mut hub) = call.guests().connect(guest) {
            while let Ok(found) = look(call, &mut hub, job, &mut others).await {
                if let Some(offer) = found {
                    return offer;
                }
                sleep(LOOK_EVERY).await;
            }
        }
        sleep(LOOK_EVERY).await;
    }
}

/// The oldest ask of this job that is new to the person, if there is one. `others` are names of asks of others.
async fn look(
    call: &Call<'_>,
    hub: &mut Connection,
    job: u32,
    others: &mut BTreeSet<String>,
) -> Result<Option<Offer>, Failure> {
    let mut asks = listed(hub).await?;
    asks.retain(|ask| ask.is_for_a_person() && !others.contains(ask.name()));
    if asks.is_empty() {
        return Ok(None);
    }
    let processes = hub.request(&json!({ "op": "proc.list" })).await?;
    let is_ours = |ask: &Pending| {
        let all = processes.ok["processes"].as_array();
        let asks = all.and_then(|all| all.iter().find(|one| one["pid"].as_u64() == ask.pid().map(u64::from)));
        asks.is_some_and(|process| process["job"] == job)
    };
    for ask in asks {
        others.insert(ask.name().to_owned());
        let offer = if is_ours(&ask) { Offer::first(call, ask) } else { None };
        if offer.is_some() {
            return Ok(offer);
        }
    }
    Ok(None)
}

/// The last of what the person said: a result has room for so much.
pub(super) fn newest(mut told: Vec<Told>) -> Vec<Told> {
    told.split_off(told.len().saturating_sub(TOLD_MAX))
}
