//! The built-in agent: answers `ai …` in the guest when no other agent is there to do it.
//!
//! It has no language model yet and says so. Questions that are not in natural language it leaves to people
//! and scripts: it never decides for them. Those of the kernel it refuses at once: the kernel then does what it would do
//! with nobody there, and no time is lost.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use askr_wire::BASE_PAYLOAD_MAX;
use askr_wire::code::DECISION_NATURAL;
use askr_wire::message::Decision;

use crate::hub::Board;
use crate::session::{Ask, AskId, Session};

/// Time that an agent has to come back for the next ask before this one answers.
const GRACE: Duration = Duration::from_millis(300);
/// Longest time for the answer to reach the guest.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes of the question that are said back, so that the answer fits a base payload.
const QUOTE_MAX: usize = BASE_PAYLOAD_MAX / 2;

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
                    let _ = session.answer(
                        ask.id,
                        Decision::Answer(&answer(&ask.question)),
                        now + ANSWER_TIMEOUT,
                    );
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

/// One action line: what this is, what was asked, and what to do about it.
fn answer(question: &[u8]) -> Vec<u8> {
    let mut text = String::new();
    for symbol in String::from_utf8_lossy(question).trim().chars() {
        if text.len() + symbol.len_utf8() > QUOTE_MAX {
            text.push('…');
            break;
        }
        text.push(if symbol.is_control() { ' ' } else { symbol });
    }
    let line = format!(
        "SAY I am the built-in agent and have no language model, so I cannot act on \"{text}\". \
         To answer it yourself or attach an agent, run on the host: cargo run -p host-bridge -- call asks.wait"
    );
    line.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_one_line_that_says_what_was_asked_and_what_to_do() {
        let line = String::from_utf8(answer(b"list\nmy \x1b[2Jfiles")).unwrap();
        assert!(line.starts_with("SAY "));
        assert!(line.contains("\"list my  [2Jfiles\""), "{line}");
        assert!(line.contains("no language model") && line.contains("-- call asks.wait"));
        assert!(!line.chars().any(char::is_control));
    }

    #[test]
    fn the_longest_question_fits_a_base_payload() {
        assert!(answer(&[0xff; 1024]).len() <= BASE_PAYLOAD_MAX);
    }
}
