//! The host's copy of the guest's pending asks.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use askr_wire::message::{AskFacts, Choice, Context, Decision};
use askr_wire::{Message, ext};

use super::BootId;

/// Names an ask across reboots: sequence numbers begin anew with every boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AskId {
    /// The boot that asked.
    pub boot: BootId,
    /// Sequence number of its DECISION_REQ.
    pub seq: u32,
}

/// Who gave an answer through this bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answerer {
    /// A client of the hub.
    Client,
    /// The built-in agent.
    BuiltIn,
}

/// How an ask ended, as far as it is known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskEnd {
    /// With this answer.
    Answered(Answerer, Vec<u8>),
    /// With a refusal.
    Refused(Answerer),
    /// Nobody answered in time.
    TimedOut,
    /// The guest no longer has it, and nobody here answered: its program was interrupted or ended, or another host
    /// answered it.
    Gone,
    /// The boot that asked is over.
    Restarted,
}

impl AskEnd {
    /// The end that an accepted decision brings.
    pub(super) fn by(by: Answerer, decision: Decision<'_>) -> Self {
        match decision {
            Decision::Answer(answer) => Self::Answered(by, answer.to_vec()),
            Decision::Refuse => Self::Refused(by),
        }
    }
}

/// A question that a guest program waits with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Its name.
    pub id: AskId,
    /// Intent: [`askr_wire::code::DECISION_GENERIC`] or [`askr_wire::code::DECISION_NATURAL`].
    pub code: u16,
    /// The question.
    pub question: Vec<u8>,
    /// Who asks: process id, and the name of its program; `None` when the guest did not say.
    pub asker: Option<(u32, Vec<u8>)>,
    /// The answers it takes; none if it takes any.
    pub choices: Vec<Vec<u8>>,
    /// What helps to answer: keys and values.
    pub context: Vec<(Vec<u8>, Vec<u8>)>,
    /// What the asker takes when nobody answers.
    pub default: Option<Vec<u8>>,
    /// When the guest stops waiting.
    pub deadline: Instant,
}

impl Ask {
    /// A question with what the ext of its frame, or of its place in the guest's list, says about it.
    pub(super) fn new(
        now: Instant,
        id: AskId,
        code: u16,
        question: &[u8],
        (facts, items): (Option<AskFacts<'_>>, &[u8]),
    ) -> Self {
        // An ext that runs over its end tells no more; the question itself is whole and needs an answer.
        let facts = facts.or_else(|| AskFacts::decode(ext::find(items, ext::ASK_FACTS)?).ok());
        let left = facts.map_or(UNTOLD_DEADLINE, |facts| Duration::from_millis(facts.left_ms.into()));
        Self {
            id,
            code,
            question: question.to_vec(),
            asker: facts.map(|facts| (facts.pid, facts.program.to_vec())),
            choices: ext::messages(items, ext::ASK_CHOICES)
                .map(|choice: Choice<'_>| choice.0.to_vec())
                .collect(),
            context: ext::messages(items, ext::ASK_CONTEXT)
                .map(|pair: Context<'_>| (pair.key.to_vec(), pair.value.to_vec()))
                .collect(),
            default: ext::find(items, ext::ASK_DEFAULT).map(<[u8]>::to_vec),
            deadline: now + left,
        }
    }

    /// Milliseconds until the guest stops waiting.
    #[must_use]
    pub fn left_ms(&self, now: Instant) -> u64 {
        u64::try_from(self.deadline.saturating_duration_since(now).as_millis()).unwrap_or(u64::MAX)
    }
}

/// Longest time that an ask whose deadline the guest did not tell is kept.
pub(super) const UNTOLD_DEADLINE: Duration = Duration::from_secs(60);

/// Most asks kept; the guest's own table is far smaller.
const PENDING_MAX: usize = 1024;

/// Pending asks by sequence number.
#[derive(Debug, Default)]
pub(super) struct Asks {
    pending: BTreeMap<u32, Ask>,
    pull: Option<Pull>,
}

/// A pull of the guest's list in progress.
#[derive(Debug)]
struct Pull {
    /// Known before the pull began and not yet seen in it: gone when it ends.
    unseen: Vec<u32>,
}

impl Asks {
    /// Keeps `ask`. `true` when it is new.
    pub(super) fn add(&mut self, ask: Ask) -> bool {
        if let Some(pull) = &mut self.pull {
            pull.unseen.retain(|&seq| seq != ask.id.seq);
        }
        if self.pending.len() >= PENDING_MAX || self.pending.contains_key(&ask.id.seq) {
            return false;
        }
        self.pending.insert(ask.id.seq, ask);
        true
    }

    /// Forgets an ask that is settled.
    pub(super) fn remove(&mut self, seq: u32) -> bool {
        self.pending.remove(&seq).is_some()
    }

    /// Forgets all, as after a reboot; which they were.
    pub(super) fn clear(&mut self) -> Vec<AskId> {
        std::mem::take(self).pending.into_values().map(|ask| ask.id).collect()
    }

    /// Forgets those whose time is over; which they were.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<AskId> {
        let is_over = |_: &u32, ask: &mut Ask| ask.deadline <= now;
        self.pending.extract_if(.., is_over).map(|(_, ask)| ask.id).collect()
    }

    /// When the next ask ends.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.pending.values().map(|ask| ask.deadline).min()
    }

    /// All, oldest first.
    pub(super) fn list(&self) -> Vec<Ask> {
        self.pending.values().cloned().collect()
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether a pull is in progress.
    pub(super) const fn pulling(&self) -> bool {
        self.pull.is_some()
    }

    /// Begins a pull: what the guest's list does not name by its end is forgotten.
    pub(super) fn begin_pull(&mut self) {
        self.pull = Some(Pull { unseen: self.pending.keys().copied().collect() });
    }

    /// Ends a pull that reached the end of the guest's list; which asks are forgotten.
    pub(super) fn end_pull(&mut self) -> Vec<AskId> {
        let unseen = self.pull.take().map(|pull| pull.unseen).unwrap_or_default();
        unseen.iter().filter_map(|seq| self.pending.remove(seq)).map(|ask| ask.id).collect()
    }

    /// Ends a pull that failed; nothing is forgotten.
    pub(super) fn abandon_pull(&mut self) {
        self.pull = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(seq: u32, deadline: Instant) -> Ask {
        let id = AskId { boot: BootId([1; 16]), seq };
        Ask { deadline, ..Ask::new(deadline, id, 0, b"may I?", (None, &[])) }
    }

    #[test]
    fn a_second_copy_is_not_new() {
        let later = Instant::now() + Duration::from_secs(5);
        let mut asks = Asks::default();
        assert!(asks.add(ask(7, later)));
        assert!(!asks.add(ask(7, later)));
        assert_eq!(asks.len(), 1);
    }

    #[test]
    fn a_pull_forgets_what_the_guest_no_longer_names_and_keeps_what_came_meanwhile() {
        let later = Instant::now() + Duration::from_secs(5);
        let mut asks = Asks::default();
        asks.add(ask(1, later));
        asks.add(ask(2, later));
        asks.begin_pull();
        asks.add(ask(2, later));
        asks.add(ask(3, later));
        let gone: Vec<u32> = asks.end_pull().iter().map(|id| id.seq).collect();
        assert_eq!(gone, [1]);
        let left: Vec<u32> = asks.list().iter().map(|ask| ask.id.seq).collect();
        assert_eq!(left, [2, 3]);
    }

    #[test]
    fn expired_asks_go() {
        let now = Instant::now();
        let mut asks = Asks::default();
        asks.add(ask(1, now + Duration::from_secs(1)));
        assert_eq!(asks.next_deadline(), Some(now + Duration::from_secs(1)));
        assert!(asks.expire(now).is_empty());
        assert_eq!(asks.expire(now + Duration::from_secs(1)).len(), 1);
        assert_eq!(asks.len(), 0);
    }
}
