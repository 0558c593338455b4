//! The built-in agent: answers `ai …` in the guest when no other agent is there to do it.
//!
//! The guest's `agent.conf` says how: from a table of phrases, or with a language model. Questions that are not in natural
//! language it leaves to people and scripts: it never decides for them. Those of the kernel it refuses at once: the kernel
//! then does what it would do with nobody there, and no time is lost.

mod builtin;
mod config;
#[cfg(feature = "http")]
mod model;
mod patience;
mod plan;
mod request;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use askr_wire::BASE_PAYLOAD_MAX;
use askr_wire::code::DECISION_NATURAL;
use askr_wire::message::Decision;

use self::config::{Config, Provider};
use self::patience::Patience;
use self::plan::{Plan, Step};
use self::request::Request;
use crate::hub::Inner;
use crate::json::AgentStatus;
use crate::session::{Answerer, Ask, AskId, Session};

/// Time that an agent has to come back for the next ask before this one answers.
const GRACE: Duration = Duration::from_millis(300);
/// Longest time for the answer to reach the guest.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long before the guest stops waiting an answer is given up, so that this can still be said.
const MARGIN: Duration = Duration::from_secs(3);
/// Most requests that are worked on at once.
const WORKERS_MAX: usize = 8;

#[cfg(not(feature = "http"))]
const NO_HTTP: &str =
    "This bridge was built without HTTP, so it reaches no model. (ai config provider builtin)";

/// Answers until the hub stops.
pub(crate) fn run(hub: &Arc<Inner>) {
    let workers = Arc::new(AtomicUsize::new(0));
    // Since when each ask was unowned; `None` once it was taken.
    let mut seen: BTreeMap<AskId, Option<Instant>> = BTreeMap::new();
    let (mut changes, mut wake) = (None, None);
    while let Some(asks) = hub.board.next_unowned(&hub.session, &mut changes, wake) {
        let now = Instant::now();
        seen.retain(|id, _| asks.iter().any(|ask| ask.id == *id));
        let (kernels, natural) = sort(asks);
        for ask in &kernels {
            if seen.insert(ask.id, None).is_none() {
                let _ = hub.session.answer(ask.id, Decision::Refuse, Answerer::BuiltIn, now + ANSWER_TIMEOUT);
            }
        }
        wake = None;
        for ask in natural {
            let since = seen.entry(ask.id).or_insert(Some(now));
            match *since {
                Some(at) if at + GRACE <= now => {
                    *since = None;
                    begin(hub, &workers, ask);
                }
                Some(at) => wake = Some(wake.map_or(at + GRACE, |wake: Instant| wake.min(at + GRACE))),
                None => {}
            }
        }
    }
}

/// How the guest has it configured, and why it could not answer now if that is so.
pub(crate) fn status(session: &Session) -> AgentStatus {
    let config = Config::load(session);
    let mut status = AgentStatus {
        provider: Some(config.provider.name()),
        model: config.model.clone(),
        complaints: config.complaints.clone(),
        ..AgentStatus::default()
    };
    #[cfg(feature = "http")]
    if config.provider != Provider::Builtin {
        let found = model::check(&config);
        status = AgentStatus {
            endpoint: found.endpoint,
            key_variable: found.key_variable,
            problem: found.problem,
            ..status
        };
    }
    #[cfg(not(feature = "http"))]
    if config.provider != Provider::Builtin {
        status.problem = Some(NO_HTTP.into());
    }
    status
}

/// Works on a request on a thread of its own: a model takes its time, and others ask meanwhile. The thread is not waited
/// for when the hub stops; its answer then reaches nobody.
fn begin(hub: &Arc<Inner>, workers: &Arc<AtomicUsize>, ask: Ask) {
    if workers.fetch_add(1, Ordering::SeqCst) >= WORKERS_MAX {
        workers.fetch_sub(1, Ordering::SeqCst);
        let busy = Plan::fail(format!("I work on {WORKERS_MAX} requests already; try again later."));
        return send(hub, &ask, &busy, Request::new(&ask).reads_plans);
    }
    let (theirs, count) = (Arc::clone(hub), Arc::clone(workers));
    let worker = thread::Builder::new().name("askr-agent-work".into()).spawn(move || {
        let request = Request::new(&ask);
        let config = Config::load(&theirs.session);
        let deadline = ask.deadline.checked_sub(MARGIN).unwrap_or(ask.deadline);
        // Ctrl-C in the guest, or somebody else's answer, ends the work on it.
        let (hub, id) = (Arc::clone(&theirs), ask.id);
        let is_wanted = Arc::new(move || hub.session.asks().iter().any(|ask| ask.id == id));
        let plan = decide(&config, &request, &Patience { deadline, is_wanted });
        count.fetch_sub(1, Ordering::SeqCst);
        send(&theirs, &ask, &plan, request.reads_plans);
    });
    if worker.is_err() {
        // The program's own deadline ends its ask.
        workers.fetch_sub(1, Ordering::SeqCst);
    }
}

fn send(hub: &Inner, ask: &Ask, plan: &Plan, reads_plans: bool) {
    let answer = encoded(plan, reads_plans);
    // If the answer is lost the program's own deadline ends its ask.
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    let _ = hub.session.answer(ask.id, Decision::Answer(&answer), Answerer::BuiltIn, deadline);
}

/// What is wrong with the configuration, once for each request, and the plan.
fn decide(config: &Config, request: &Request, patience: &Patience) -> Plan {
    let mut plan = match config.provider {
        Provider::Builtin => builtin::answer(request),
        #[cfg(feature = "http")]
        _ => model::answer(config, request, patience),
        #[cfg(not(feature = "http"))]
        _ => {
            let _ = (patience.deadline, &patience.is_wanted);
            Plan::fail(NO_HTTP)
        }
    };
    if !config.complaints.is_empty() && request.result.is_none() {
        plan.steps.insert(0, Step::Say(config.complaints.join("\n")));
    }
    plan
}

/// The questions of the kernel itself, and those in natural language.
fn sort(asks: Vec<Ask>) -> (Vec<Ask>, Vec<Ask>) {
    let (natural, others): (Vec<Ask>, Vec<Ask>) =
        asks.into_iter().partition(|ask| ask.code == DECISION_NATURAL);
    let is_kernels = |ask: &Ask| ask.asker.as_ref().is_some_and(|(pid, name)| *pid == 0 && name == b"kernel");
    (others.into_iter().filter(is_kernels).collect(), natural)
}

/// A plan as the guest reads it.
fn encoded(plan: &Plan, reads_plans: bool) -> Vec<u8> {
    if !reads_plans {
        let line = plan.line();
        let end = line.floor_char_boundary(BASE_PAYLOAD_MAX);
        return line.as_bytes()[..end].to_vec();
    }
    let refused = |error| Plan::fail(format!("The plan cannot be told to this machine: {error}.")).encode();
    // Words alone can always be told.
    plan.encode().or_else(refused).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::BootId;

    fn ask(question: &[u8], context: &[(&str, &str)]) -> Ask {
        let bytes = |text: &str| text.as_bytes().to_vec();
        Ask {
            id: AskId { boot: BootId([1; 16]), seq: 1 },
            code: DECISION_NATURAL,
            question: question.to_vec(),
            asker: None,
            choices: Vec::new(),
            context: context.iter().map(|(key, value)| (bytes(key), bytes(value))).collect(),
            default: None,
            deadline: Instant::now(),
        }
    }

    fn answer(ask: &Ask) -> Vec<u8> {
        let request = Request::new(ask);
        let patience = Patience { deadline: ask.deadline, is_wanted: Arc::new(|| true) };
        encoded(&decide(&Config::default(), &request, &patience), request.reads_plans)
    }

    #[test]
    fn a_guest_gets_what_it_reads() {
        let plan = answer(&ask(b"list files", &[("plan", "1")]));
        let plan = askr_abi::plan::Plan::decode(&plan).unwrap();
        assert_eq!(plan.len(), 1);
        assert_eq!(answer(&ask(b"list files", &[])), b"SAY I would run: ls -l");
        assert_eq!(answer(&ask(b"set the model to x", &[])), b"SET model x");
    }

    #[test]
    fn the_line_for_a_guest_without_plans_fits_a_base_payload_and_has_no_controls() {
        for question in [&[0xff; 1024][..], b"write\nmy \x1b[2Jpoem", "é".repeat(500).as_bytes()] {
            let line = answer(&ask(question, &[]));
            assert!(line.len() <= BASE_PAYLOAD_MAX);
            let line = String::from_utf8(line).unwrap();
            assert!(line.starts_with("SAY ") && !line.chars().any(char::is_control), "{line}");
        }
    }
}
