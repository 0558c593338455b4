//! What is behind the hub: the guest, its line, and who answers its asks.

use askr_wire::Door;
use serde_json::Value;

use super::check::Check;
use super::hub::{Hub, Trouble};

/// A round trip that people feel.
const SLOW_US: u64 = 250_000;

/// Looks at everything behind a hub that answers.
pub(super) fn look(hub: &mut Hub, tell: &impl Fn(Check)) {
    let Some(ping) = guest(hub, tell) else { return };
    tell(ping);
    match hub.ask("stats") {
        Ok(stats) => tell(link(&stats)),
        Err(trouble) => return tell(silent("link", trouble)),
    }
    match hub.ask("agent.status") {
        Ok(status) => {
            tell(asks(&status, hub.status["pending_asks"].as_u64().unwrap_or_default()));
            agent(&status, tell);
        }
        Err(trouble) => tell(silent("asks", trouble)),
    }
}

fn silent(name: &'static str, trouble: Trouble) -> Check {
    Check::fail(name, trouble.tell(), "askr-bridge watch   (shows when it answers again)")
}

/// Tells of the guest in session; how long its ping took, `None` when there is none.
fn guest(hub: &mut Hub, tell: &impl Fn(Check)) -> Option<Check> {
    let status = hub.status.clone();
    if status["connected"] != true {
        let text = "none: no door is open, QEMU has ended or not begun";
        tell(Check::fail("guest", text, "cargo run   (in Askr's folder)"));
        return None;
    }
    if status["ready"] != true {
        let text = "there is a connection, but the guest does not answer";
        let mend = "look at its console: does it still boot, is it paused, or stuck? askr-bridge watch tells when it answers";
        tell(Check::fail("guest", text, mend));
        return None;
    }
    let guest = &status["guest"];
    let word = |field: &str| guest[field].as_str().unwrap_or_default().to_owned();
    let pong = match hub.ask("ping") {
        Ok(pong) => pong,
        Err(trouble) => {
            tell(silent("ping", trouble));
            return None;
        }
    };
    let uptime = pong["uptime_ns"].as_u64().unwrap_or_default() / 1_000_000_000;
    let door = status["door"].as_str().and_then(Door::named);
    let through = door.map(|door| format!(", through {door}")).unwrap_or_default();
    let (kernel, version, boot) = (word("kernel"), word("version"), word("boot"));
    let text = format!("{kernel} {version}, boot {boot}, up {uptime} s{through}");
    tell(Check::ok("guest", text));
    Some(ping(pong["round_trip_us"].as_u64().unwrap_or_default()))
}

fn ping(round_trip_us: u64) -> Check {
    let shown = format!("{}.{} ms there and back", round_trip_us / 1000, round_trip_us / 100 % 10);
    if round_trip_us < SLOW_US {
        return Check::ok("ping", shown);
    }
    Check::warn("ping", format!("{shown}: slow"), "see `kvm` above, and what else this machine does")
}

/// What was broken or lost on the line, in either direction.
fn link(stats: &Value) -> Check {
    let number = |of: &Value, field: &str| of[field].as_u64().unwrap_or_default();
    let sum = |of: &Value, is_it: &dyn Fn(&str) -> bool| -> u64 {
        let fields = of.as_object().into_iter().flatten();
        fields.filter(|(field, _)| is_it(field)).filter_map(|(_, count)| count.as_u64()).sum()
    };
    let (link, guest) = (&stats["link"], &stats["guest"]);
    let faults = [
        (sum(&link["frames_broken"], &|_| true), "frames from the guest were broken"),
        (sum(guest, &|field| field.starts_with("frame_error_")), "frames to the guest were broken"),
        (number(link, "frames_dropped"), "frames were dropped by the hub"),
        (number(guest, "rx_overruns"), "bytes to the guest were overrun"),
        (number(guest, "rx_line_errors"), "bytes to the guest came with line errors"),
        (number(&stats["session"], "resends"), "requests were sent again"),
    ];
    let faults: Vec<_> = faults
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if faults.is_empty() {
        return Check::ok("link", format!("{} frames from the guest, no faults", number(link, "frames_in")));
    }
    let mend = "askr-bridge watch   (shows whether it grows; what is lost is sent again, so that it costs time only)";
    Check::warn("link", faults.join(", "), mend)
}

/// Who gets asks.
fn asks(status: &Value, pending: u64) -> Check {
    let takers = status["takers"].as_u64().unwrap_or_default();
    let waiting = match pending {
        0 => String::new(),
        1 => "; 1 waits for its answer".to_owned(),
        pending => format!("; {pending} wait for their answers"),
    };
    match (takers, status["built_in"] == true) {
        (0, false) => {
            let text = format!("nobody takes them, and the hub has no built-in agent{waiting}");
            Check::warn("asks", text, "askr-bridge call asks.wait   (or start the hub without --no-agent)")
        }
        (0, true) => {
            let text =
                format!("no client takes them; those in natural language go to the built-in agent{waiting}");
            Check::ok("asks", text)
        }
        (1, _) => Check::ok("asks", format!("1 client takes them, natural-language ones too{waiting}")),
        (takers, _) => {
            Check::ok("asks", format!("{takers} clients take them, natural-language ones too{waiting}"))
        }
    }
}

/// Whether the built-in agent could answer.
fn agent(status: &Value, tell: &impl Fn(Check)) {
    if status["built_in"] != true {
        return tell(Check::ok("agent", "the hub has no built-in agent (--no-agent)"));
    }
    let word = |field: &str| status[field].as_str();
    for complaint in status["complaints"].as_array().into_iter().flatten() {
        tell(Check::warn("agent", complaint.as_str().unwrap_or_default(), "in the guest: ai config"));
    }
    let provider = word("provider").unwrap_or("unknown");
    if let Some(problem) = word("problem") {
        let mend = "in the guest: ai config   (`ai config provider builtin` needs nothing; docs/ai.md)";
        return tell(Check::fail("agent", format!("{provider}: {problem}"), mend));
    }
    let with =
        |what: &str, field: &str| word(field).map(|value| format!(", {what} {value}")).unwrap_or_default();
    let text = match provider {
        "builtin" => "builtin, the table of phrases; docs/ai.md tells how to use a model".to_owned(),
        _ => {
            let key = with("with the key in", "key_variable");
            format!("{provider}{}{}{key}", with("model", "model"), with("at", "endpoint"))
        }
    };
    tell(Check::ok("agent", text));
}
