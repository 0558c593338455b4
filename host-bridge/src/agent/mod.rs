//! The built-in agent: answers `ai …` in the guest when no other agent is there to do it.
//!
//! Questions that are not in natural language it leaves to people and scripts: it never decides for them. Those of the
//! kernel it refuses at once: the kernel then does what it would do with nobody there, and no time is lost.

mod builtin;
mod plan;
mod request;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use askr_wire::BASE_PAYLOAD_MAX;
use askr_wire::code::DECISION_NATURAL;
use askr_wire::message::Decision;

use self::plan::Plan;
use self::request::Request;
use crate::hub::Board;
use crate::session::{Ask, AskId, Session};

/// Time that an agent has to come back for the next ask before this one answers.
const GRACE: Duration = Duration::from_millis(300);
/// Longest time for the answer to reach the guest.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Answers until the hub stops.
pub(crate) fn run(board: &Board, session: &Session) {
    // Since when each ask was unowned; `None` once it was answered.
    let mut seen: BTreeMap<AskId, Option<Instant>> = BTreeMap::new();
    let (mut changes, mut wake) = (None, None);
    while let Some(asks) = board.next_unowned(session, &mut changes, wake) {
        let now = Instant::now();
        seen.retain(|id, _| asks.iter().any(|ask| ask.id == *id));
        let (kernels, natural) = sort(asks);
        for ask in &kernels {
            if seen.insert(ask.id, None).is_none() {
                let _ = session.answer(ask.id, Decision::Refuse, now + ANSWER_TIMEOUT);
            }
        }
        wake = None;
        for ask in &natural {
            let since = seen.entry(ask.id).or_insert(Some(now));
            match *since {
                Some(at) if at + GRACE <= now => {
                    *since = None;
                    // If the answer is lost the program's own deadline ends its ask.
                    let _ = session.answer(ask.id, Decision::Answer(&answer(ask)), now + ANSWER_TIMEOUT);
                }
                Some(at) => wake = Some(wake.map_or(at + GRACE, |wake: Instant| wake.min(at + GRACE))),
                None => {}
            }
        }
    }
}

/// The questions of the kernel itself, and those in natural language.
fn sort(asks: Vec<Ask>) -> (Vec<Ask>, Vec<Ask>) {
    let (natural, others): (Vec<Ask>, Vec<Ask>) =
        asks.into_iter().partition(|ask| ask.code == DECISION_NATURAL);
    let is_kernels = |ask: &Ask| ask.asker.as_ref().is_some_and(|(pid, name)| *pid == 0 && name == b"kernel");
    (others.into_iter().filter(is_kernels).collect(), natural)
}

/// The answer to a request in natural language, as the guest reads it.
fn answer(ask: &Ask) -> Vec<u8> {
    let request = Request::new(ask);
    encoded(&builtin::answer(&request), request.reads_plans)
}

fn encoded(plan: &Plan, reads_plans: bool) -> Vec<u8> {
    if !reads_plans {
        let line = plan.line();
        let end = line.floor_char_boundary(BASE_PAYLOAD_MAX);
        return line.as_bytes()[..end].to_vec();
    }
    let refused = |error| Plan::say(format!("The plan cannot be told to this machine: {error}.")).encode();
    // Words alone can always be told.
    plan.encode().or_else(refused).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

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
