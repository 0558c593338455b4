//! The wait table against a model that is too simple to be wrong: a list of all the waits there ever were.
#![cfg(not(loom))]

use askr_wait::{Full, Late, Outcome, Poll, Ticket, WaitTable};
use proptest::prelude::*;

const SLOTS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Step {
    Open { deadline: u64 },
    Settle { which: usize, value: u8 },
    Cancel { which: usize },
    Take { which: usize },
    Forget { which: usize },
    Expire { now: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let which = 0..20_usize;
    prop_oneof![
        3 => (0..8_u64).prop_map(|deadline| Step::Open { deadline }),
        2 => (which.clone(), any::<u8>()).prop_map(|(which, value)| Step::Settle { which, value }),
        1 => which.clone().prop_map(|which| Step::Cancel { which }),
        3 => which.clone().prop_map(|which| Step::Take { which }),
        1 => which.prop_map(|which| Step::Forget { which }),
        2 => (0..8_u64).prop_map(|now| Step::Expire { now }),
    ]
}

/// One wait: its ticket, and its state until it is gone.
struct Wait {
    ticket: Ticket,
    deadline: u64,
    outcome: Option<Outcome<u8>>,
    gone: bool,
    wakes: u32,
}

#[derive(Default)]
struct Model(Vec<Wait>);

impl Model {
    fn used(&self) -> usize {
        self.0.iter().filter(|wait| !wait.gone).count()
    }

    fn next_deadline(&self) -> Option<u64> {
        self.0.iter().filter(|wait| !wait.gone && wait.outcome.is_none()).map(|wait| wait.deadline).min()
    }

    /// What ending wait `id` must return, and the state after it. The waiter of a wait is its number.
    fn finish(&mut self, id: usize, outcome: Outcome<u8>) -> Result<usize, Late> {
        let wait = &mut self.0[id];
        match (wait.gone, wait.outcome) {
            (true, _) => Err(Late::Stale),
            (false, Some(_)) => Err(Late::Settled),
            (false, None) => {
                wait.outcome = Some(outcome);
                wait.wakes += 1;
                Ok(id)
            }
        }
    }

    fn take(&mut self, id: usize) -> Poll<u8> {
        let wait = &mut self.0[id];
        match (wait.gone, wait.outcome) {
            (true, _) => Poll::Stale,
            (false, None) => Poll::Pending,
            (false, Some(outcome)) => {
                wait.gone = true;
                Poll::Done(outcome)
            }
        }
    }
}

fn run(table: &mut WaitTable<u8, usize, SLOTS>, model: &mut Model, step: Step) {
    let count = model.0.len();
    let pick = |which: usize| which.checked_rem(count);
    match step {
        Step::Open { deadline } => match table.open(count, deadline) {
            Ok(ticket) => {
                assert!(model.used() < SLOTS && model.0.iter().all(|wait| wait.ticket != ticket));
                model.0.push(Wait { ticket, deadline, outcome: None, gone: false, wakes: 0 });
            }
            Err(Full) => assert_eq!(model.used(), SLOTS),
        },
        Step::Settle { which, value } => {
            let Some(id) = pick(which) else { return };
            let got = table.settle(model.0[id].ticket, value);
            assert_eq!(got, model.finish(id, Outcome::Settled(value)));
        }
        Step::Cancel { which } => {
            let Some(id) = pick(which) else { return };
            assert_eq!(table.cancel(model.0[id].ticket), model.finish(id, Outcome::Cancelled));
        }
        Step::Take { which } => {
            let Some(id) = pick(which) else { return };
            assert_eq!(table.take(model.0[id].ticket), model.take(id));
        }
        Step::Forget { which } => {
            let Some(id) = pick(which) else { return };
            assert_eq!(table.forget(model.0[id].ticket), !model.0[id].gone);
            model.0[id].gone = true;
        }
        Step::Expire { now } => {
            for _ in 0..SLOTS {
                let Some((ticket, id)) = table.expire(now) else { break };
                assert_eq!(ticket, model.0[id].ticket);
                assert_eq!(Some(model.0[id].deadline), model.next_deadline(), "not the earliest");
                assert!(model.0[id].deadline <= now);
                model.finish(id, Outcome::TimedOut).unwrap();
            }
            assert!(model.next_deadline().is_none_or(|deadline| deadline > now), "one was left waiting");
        }
    }
}

proptest! {
    #[test]
    fn behaves_like_the_model(steps in prop::collection::vec(step(), 0..80)) {
        let (mut table, mut model) = (WaitTable::new(), Model::default());
        for step in steps {
            run(&mut table, &mut model, step);
            prop_assert_eq!(table.waiting(), table.pending().count());
            prop_assert_eq!(table.used(), model.used());
            prop_assert_eq!(table.next_deadline(), model.next_deadline());
            prop_assert!(model.0.iter().all(|wait| wait.wakes <= 1));
        }
    }
}
