//! Switching the guest off, or starting it again.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{Effect, Tool, boot_of};
use crate::mcp::call::{Call, End};
use crate::mcp::error::Code;

/// Longest wait for the end of the boot.
const END_MAX: Duration = Duration::from_secs(30);
/// Pause between two looks whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(super) struct GuestPower;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    action: Action,
    /// A guest that `guest_status` lists; the first one if left out.
    guest: Option<String>,
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Off,
    Reboot,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// Boot id of the guest that ends.
    boot: String,
    action: Action,
}

impl Tool for GuestPower {
    const NAME: &'static str = "guest_power";
    const TITLE: &'static str = "Switch off or reboot";
    const DESCRIPTION: &'static str = "Switches the guest off, or reboots it. All programs end; only /disk is kept. After a reboot the boot id is \
         another: call guest_status with wait_ready_ms and go on. A guest that is off is started again on the host.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = Arguments;
    type Output = Output;

    async fn call(arguments: Arguments, call: &Call<'_>) -> Result<Output, End> {
        let Arguments { action, guest } = arguments;
        let reply = call.change(guest.as_deref(), json!({ "op": "power", "action": action })).await?;
        let boot = boot_of(&reply)?;
        // A guest that takes longer goes down all the same.
        let _ = timeout(END_MAX, ended(call, guest.as_deref(), &boot)).await;
        Ok(Output { boot, action })
    }
}

/// Waits for the end of this boot: whoever looks at the guest next must not find it as it was.
async fn ended(call: &Call<'_>, guest: Option<&str>, boot: &str) {
    loop {
        match call.request(guest, json!({ "op": "status" })).await {
            Ok(reply) if reply.ok["ready"] == true && reply.ok["guest"]["boot"] == boot => {}
            Err(failure) if failure.code() == Code::Busy => {}
            // Without a hub there is no guest either.
            _ => return,
        }
        sleep(LOOK_EVERY).await;
    }
}
