//! Blocking without lost wake-ups: a wait table and a wake token.
//!
//! A task that waits for something opens a slot in the [`WaitTable`], then parks on its own [`WakeToken`]:
//!
//! ```text
//! let ticket = TABLE.lock().open(me, deadline)?;      // before the request goes out
//! loop {
//!     if let Poll::Done(outcome) = TABLE.lock().take(ticket) { break outcome; }
//!     token.park(|| switch to another task);
//! }
//! ```
//!
//! Whoever ends the wait (a reply, the clock, a signal) makes the same transition under the same lock, from
//! pending to done, and gets the waiter to wake exactly once. It then lets go of the lock and calls
//! [`WakeToken::wake`]. The token is sticky, so a wake that comes between the test and the parking is not lost.
//!
//! Nothing here blocks, allocates or knows an interrupt: the kernel supplies the lock and the switch. The
//! loom models in `tests/loom.rs` explore every order in which the parties can meet.
#![no_std]
#![forbid(unsafe_code)]

mod table;
mod token;

pub use table::{Full, Late, Nanos, Outcome, Poll, Ticket, WaitTable};
pub use token::WakeToken;
