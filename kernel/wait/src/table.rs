//! Who waits for what, until when, and what came of it.

/// Time since boot in nanoseconds, from a clock that never goes back.
pub type Nanos = u64;

/// Names one wait. Never given twice by one table, so a ticket that is kept too long cannot reach a later wait
/// in the same slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    index: usize,
    generation: u64,
}

impl Ticket {
    /// The slot, below the table's `N`: for a caller that keeps more about each wait in an array of its own.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index
    }
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// The result came.
    Settled(T),
    /// The deadline passed first.
    TimedOut,
    /// The wait was called off first.
    Cancelled,
}

/// What [`WaitTable::take`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll<T> {
    /// The wait goes on.
    Pending,
    /// The wait is over, and its slot is free again.
    Done(Outcome<T>),
    /// There is no such wait: it was taken or forgotten before.
    Stale,
}

/// Every slot is in use. Nothing was recorded; try again when a wait has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Why a wait could not be ended: it was over before. The caller counts this; nothing was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// The wait ended otherwise, and its waiter has not taken the outcome yet.
    Settled,
    /// The waiter is gone: the slot is free or belongs to a later wait.
    Stale,
}

#[derive(Debug)]
enum State<T, W> {
    Free,
    Pending { waiter: W, deadline: Nanos },
    Done(Outcome<T>),
}

#[derive(Debug)]
struct Slot<T, W> {
    /// Of the ticket this slot was last given to; 0 for a slot never used.
    generation: u64,
    state: State<T, W>,
}

/// A fixed table of `N` waits with results of type `T`, for waiters of type `W` (in the kernel: a task's id).
///
/// The owner puts it under a lock. Each call does at most one pass over the slots and never blocks.
/// `T` and `W` are moved and dropped under that lock, so they should own nothing.
#[derive(Debug)]
pub struct WaitTable<T, W, const N: usize> {
    slots: [Slot<T, W>; N],
    /// Number of waits that go on. Most of the time it is none, and then nobody looks at the slots.
    waiting: usize,
    /// Of the ticket given last. At one a nanosecond, 64 bits last for 584 years.
    generation: u64,
}

impl<T, W, const N: usize> WaitTable<T, W, N> {
    /// A table in which nobody waits.
    #[must_use]
    pub const fn new() -> Self {
        Self { slots: [const { Slot { generation: 0, state: State::Free } }; N], waiting: 0, generation: 0 }
    }

    /// Opens a wait of `waiter` that the clock ends at `deadline`. Do this before whatever can bring the
    /// result, or the result may come first and find nobody.
    ///
    /// # Errors
    /// [`Full`] if all `N` slots are in use.
    pub fn open(&mut self, waiter: W, deadline: Nanos) -> Result<Ticket, Full> {
        let index = self.slots.iter().position(|slot| matches!(slot.state, State::Free)).ok_or(Full)?;
        self.generation += 1;
        self.waiting += 1;
        self.slots[index] = Slot { generation: self.generation, state: State::Pending { waiter, deadline } };
        Ok(Ticket { index, generation: self.generation })
    }

    /// Delivers the result and returns the waiter to wake. It counts even after the deadline, as long as
    /// [`expire`](Self::expire) has not ended the wait: a result that is there wins.
    ///
    /// # Errors
    /// [`Late`] if the wait was over; the value is dropped.
    pub fn settle(&mut self, ticket: Ticket, value: T) -> Result<W, Late> {
        self.finish(ticket, Outcome::Settled(value))
    }

    /// Calls the wait off and returns the waiter to wake, which then takes [`Outcome::Cancelled`].
    ///
    /// # Errors
    /// [`Late`] if the wait was over: its outcome stands.
    pub fn cancel(&mut self, ticket: Ticket) -> Result<W, Late> {
        self.finish(ticket, Outcome::Cancelled)
    }

    /// Ends one wait whose deadline is at or before `now` and returns it with the waiter to wake; the earliest
    /// first. Call it until it returns `None`, waking outside the lock.
    pub fn expire(&mut self, now: Nanos) -> Option<(Ticket, W)> {
        let (ticket, deadline) = self.earliest()?;
        if deadline > now {
            return None;
        }
        self.finish(ticket, Outcome::TimedOut).ok().map(|waiter| (ticket, waiter))
    }

    /// Takes the outcome, which frees the slot.
    pub fn take(&mut self, ticket: Ticket) -> Poll<T> {
        let Some(slot) = self.slot(ticket) else { return Poll::Stale };
        match core::mem::replace(&mut slot.state, State::Free) {
            State::Done(outcome) => Poll::Done(outcome),
            pending => {
                slot.state = pending;
                Poll::Pending
            }
        }
    }

    /// Frees the slot in whatever state it is: the waiter has died and takes nothing. Returns whether there
    /// was such a wait.
    pub fn forget(&mut self, ticket: Ticket) -> bool {
        let Some(slot) = self.slot(ticket) else { return false };
        if let State::Pending { .. } = core::mem::replace(&mut slot.state, State::Free) {
            self.waiting -= 1;
        }
        true
    }

    /// The earliest deadline of all that wait: when to call [`expire`](Self::expire) next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Nanos> {
        self.earliest().map(|(_, deadline)| deadline)
    }

    /// Every wait that goes on, with its deadline, in the order of the slots.
    pub fn pending(&self) -> impl Iterator<Item = (Ticket, Nanos)> + '_ {
        let slots = if self.waiting == 0 { &[] } else { &self.slots[..] };
        slots.iter().enumerate().filter_map(|(index, slot)| match slot.state {
            State::Pending { deadline, .. } => {
                Some((Ticket { index, generation: slot.generation }, deadline))
            }
            State::Free | State::Done(_) => None,
        })
    }

    /// Number of waits that go on.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Number of slots in use, waits that are over but not taken included.
    #[must_use]
    pub fn used(&self) -> usize {
        self.slots.iter().filter(|slot| !matches!(slot.state, State::Free)).count()
    }

    /// The one transition from pending to done.
    fn finish(&mut self, ticket: Ticket, outcome: Outcome<T>) -> Result<W, Late> {
        let slot = self.slot(ticket).ok_or(Late::Stale)?;
        match core::mem::replace(&mut slot.state, State::Done(outcome)) {
            State::Pending { waiter, .. } => {
                self.waiting -= 1;
                Ok(waiter)
            }
            over => {
                slot.state = over;
                Err(Late::Settled)
            }
        }
    }

    fn earliest(&self) -> Option<(Ticket, Nanos)> {
        self.pending().min_by_key(|&(_, deadline)| deadline)
    }

    /// The slot of this very wait, if it is pending or done.
    fn slot(&mut self, ticket: Ticket) -> Option<&mut Slot<T, W>> {
        self.slots
            .get_mut(ticket.index)
            .filter(|slot| slot.generation == ticket.generation && !matches!(slot.state, State::Free))
    }
}

impl<T, W, const N: usize> Default for WaitTable<T, W, N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Full, Late, Outcome, Poll, WaitTable};

    type Table = WaitTable<u32, char, 2>;

    #[test]
    fn a_result_reaches_its_waiter_once() {
        let mut table = Table::new();
        let ticket = table.open('a', 100).unwrap();
        assert_eq!(table.take(ticket), Poll::Pending);
        assert_eq!(table.settle(ticket, 7), Ok('a'));
        assert_eq!(table.settle(ticket, 8), Err(Late::Settled));
        assert_eq!(table.cancel(ticket), Err(Late::Settled));
        assert_eq!(table.take(ticket), Poll::Done(Outcome::Settled(7)));
        assert_eq!(table.take(ticket), Poll::Stale);
        assert_eq!(table.settle(ticket, 9), Err(Late::Stale));
    }

    #[test]
    fn a_result_at_the_deadline_or_after_it_wins_over_a_clock_that_has_not_spoken() {
        let mut table = Table::new();
        let ticket = table.open('a', 100).unwrap();
        assert_eq!(table.settle(ticket, 7), Ok('a'));
        assert_eq!(table.expire(100), None);
        assert_eq!(table.expire(u64::MAX), None);
        assert_eq!(table.take(ticket), Poll::Done(Outcome::Settled(7)));
    }

    #[test]
    fn deadlines_end_waits_one_at_a_time_and_the_earliest_first() {
        let mut table = Table::new();
        let late = table.open('l', 20).unwrap();
        let early = table.open('e', 10).unwrap();
        assert_eq!(table.next_deadline(), Some(10));
        assert_eq!(table.expire(9), None);
        assert_eq!(table.expire(20), Some((early, 'e')));
        assert_eq!(table.next_deadline(), Some(20));
        assert_eq!(table.expire(20), Some((late, 'l')));
        assert_eq!(table.expire(20), None);
        assert_eq!(table.next_deadline(), None);
        assert_eq!(table.take(early), Poll::Done(Outcome::TimedOut));
        assert_eq!(table.settle(late, 1), Err(Late::Settled));
        assert_eq!(table.take(late), Poll::Done(Outcome::TimedOut));
    }

    #[test]
    fn a_slot_is_reused_only_under_another_ticket() {
        let mut table = WaitTable::<u32, char, 1>::new();
        let first = table.open('a', 10).unwrap();
        assert_eq!(table.open('b', 10), Err(Full));
        assert_eq!(table.cancel(first), Ok('a'));
        assert_eq!(table.open('b', 10), Err(Full), "the outcome is not taken yet");
        assert_eq!(table.take(first), Poll::Done(Outcome::Cancelled));
        let second = table.open('b', 10).unwrap();
        assert_eq!(second.index(), first.index());
        assert_eq!(table.settle(first, 1), Err(Late::Stale));
        assert!(!table.forget(first));
        assert_eq!(table.take(first), Poll::Stale);
        assert_eq!(table.take(second), Poll::Pending);
    }

    #[test]
    fn a_dead_waiter_frees_its_slot_and_is_never_woken() {
        let mut table = Table::new();
        let waiting = table.open('a', 10).unwrap();
        let settled = table.open('b', 10).unwrap();
        assert_eq!(table.settle(settled, 1), Ok('b'));
        assert!(table.forget(waiting) && table.forget(settled));
        assert_eq!((table.used(), table.expire(10)), (0, None));
        assert_eq!(table.settle(waiting, 1), Err(Late::Stale));
    }
}
