//! Every order in which a waiter and those who end its wait can meet, explored by loom:
//! `RUSTFLAGS="--cfg loom" cargo test -p askr-wait --test loom --release`.
//!
//! A lost wake-up shows as a deadlock, which makes loom abort the process.
#![cfg(loom)]

use askr_wait::{Late, Outcome, Poll, Ticket, WaitTable, WakeToken};
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// The only waiter of the models.
const WAITER: u8 = 1;
const DEADLINE: u64 = 10;

/// A stand-in for the kernel: the table under its lock, the token of the one task that waits, and this task.
struct Kernel {
    table: Mutex<WaitTable<u32, u8, 1>>,
    token: WakeToken,
    task: thread::Thread,
}

impl Kernel {
    /// The calling thread becomes the task that waits.
    fn new() -> Arc<Self> {
        Arc::new(Self {
            table: Mutex::new(WaitTable::new()),
            token: WakeToken::new(),
            task: thread::current(),
        })
    }

    /// Like the scheduler, starts the task only where the token says that it is parked.
    fn wake(&self, waiter: u8) {
        assert_eq!(waiter, WAITER);
        if self.token.wake() {
            self.task.unpark();
        }
    }

    fn park(&self) {
        self.token.park(thread::park);
    }

    /// The loop of a task that waits.
    fn wait(&self, ticket: Ticket) -> Outcome<u32> {
        loop {
            match self.table.lock().unwrap().take(ticket) {
                Poll::Done(outcome) => return outcome,
                Poll::Pending => {}
                Poll::Stale => panic!("somebody else took the outcome"),
            }
            self.park();
        }
    }

    /// Each of these ends the wait if it comes first, lets go of the table, then wakes.
    fn reply(&self, ticket: Ticket, value: u32) -> Result<(), Late> {
        let settled = self.table.lock().unwrap().settle(ticket, value);
        settled.map(|waiter| self.wake(waiter))
    }

    fn cancel(&self, ticket: Ticket) -> Result<(), Late> {
        let cancelled = self.table.lock().unwrap().cancel(ticket);
        cancelled.map(|waiter| self.wake(waiter))
    }

    fn timeout(&self) -> bool {
        let expired = self.table.lock().unwrap().expire(DEADLINE);
        expired.map(|(_, waiter)| self.wake(waiter)).is_some()
    }
}

#[test]
fn reply_timeout_and_cancel_end_a_wait_exactly_once() {
    let mut builder = loom::model::Builder::new();
    // Four threads have too many orders to try them all. Three switches away from a thread that could go on
    // find nearly every bug (loom's documentation advises two or three); the other models are complete.
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(|| {
        let kernel = Kernel::new();
        let ticket = kernel.table.lock().unwrap().open(WAITER, DEADLINE).unwrap();
        let replier = thread::spawn({
            let kernel = kernel.clone();
            move || kernel.reply(ticket, 7).is_ok()
        });
        let clock = thread::spawn({
            let kernel = kernel.clone();
            move || kernel.timeout()
        });
        let signal = thread::spawn({
            let kernel = kernel.clone();
            move || kernel.cancel(ticket).is_ok()
        });
        let outcome = kernel.wait(ticket);
        let winners = [replier.join().unwrap(), clock.join().unwrap(), signal.join().unwrap()];
        let expected = match outcome {
            Outcome::Settled(7) => [true, false, false],
            Outcome::TimedOut => [false, true, false],
            Outcome::Cancelled => [false, false, true],
            Outcome::Settled(other) => panic!("nobody sent {other}"),
        };
        assert_eq!(winners, expected);
    });
}

#[test]
fn a_late_reply_never_reaches_the_next_wait_in_the_slot() {
    loom::model(|| {
        let kernel = Kernel::new();
        let first = kernel.table.lock().unwrap().open(WAITER, DEADLINE).unwrap();
        let replier = thread::spawn({
            let kernel = kernel.clone();
            move || kernel.reply(first, 7).is_ok()
        });
        let clock = thread::spawn({
            let kernel = kernel.clone();
            move || kernel.timeout()
        });
        let outcome = kernel.wait(first);
        // The one slot is free: the next wait takes it while the loser may still be on its way.
        let second = kernel.table.lock().unwrap().open(WAITER, DEADLINE + 1).unwrap();
        assert_eq!(kernel.table.lock().unwrap().take(second), Poll::Pending);
        let replied = replier.join().unwrap();
        let expired = clock.join().unwrap();
        assert_eq!(kernel.table.lock().unwrap().take(second), Poll::Pending, "the loser hit the next wait");
        assert_eq!(outcome == Outcome::Settled(7), replied);
        assert_eq!(outcome == Outcome::TimedOut, expired);
        kernel.reply(second, 8).unwrap();
        assert_eq!(kernel.wait(second), Outcome::Settled(8));
    });
}

#[test]
fn a_wake_is_never_lost_and_publishes_what_came_before_it() {
    loom::model(|| {
        let kernel = Kernel::new();
        // Relaxed: what the waiter sees of the flags, it sees by the token alone.
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let wakers = [0, 1].map(|i| {
            thread::spawn({
                let (kernel, flags) = (kernel.clone(), flags.clone());
                move || {
                    flags[i].store(true, Ordering::Relaxed);
                    kernel.wake(WAITER);
                }
            })
        });
        while !flags.iter().all(|flag| flag.load(Ordering::Relaxed)) {
            kernel.park();
        }
        for waker in wakers {
            waker.join().unwrap();
        }
    });
}
