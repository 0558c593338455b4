//! The agent bus without the wire: a state machine that is told the time, frames and questions, and says what
//! to do.
//!
//! [`Router`] is all of it. It reads no clock, touches no device and blocks nobody, so every rule of
//! `docs/protocol.md` is tested on the host. The kernel keeps one under a lock, feeds it, and carries out
//! what it returns after letting go of the lock:
//!
//! ```text
//! whole frame  → on_frame → Effect::Wake(task) | Effect::Control(request) → … → respond
//! clock        → tick     → task to wake
//! system call  → ask → park → take
//! transmitter  → next_frame → bytes
//! ```
//!
//! All memory is taken in [`Router::new`]; every queue and table has a bound that is a constant here, and
//! whatever finds one full is refused or counted, never lost in silence.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod ask_ext;
mod asking;
mod asks;
mod bounded;
mod control;
mod event;
mod event_log;
mod fault;
pub mod jobs;
mod outbox;
pub mod policy;
mod reply_slots;
mod reply_window;
mod router;
mod serve;
mod session;
mod stats;
mod transmit;

pub use ask_ext::{AskExtra, ExtraError, choices, context, default_answer};
pub use asking::Human;
pub use askr_wait::{Nanos, Ticket};
pub use askr_wire::Door;
pub use asks::{ASKS_MAX, Ask, AskError, AskOutcome, AskPoll, PROGRAM_MAX};
pub use control::{Control, Request};
pub use event::Event;
pub use event_log::{EventLog, FAULTS_MAX, LOG_MAX, Logged, NAME_MAX as EVENT_NAME_MAX};
pub use fault::{Backtrace, Fault};
pub use outbox::{EVENT_BURST, REFUSALS_MAX, URGENT_MAX};
pub use reply_slots::{BASE_REPLIES_MAX, Token};
pub use reply_window::WINDOW_MAX;
pub use router::{Config, Effect, Router};
pub use stats::{Counter, Stats};
pub use transmit::PANIC_FRAME_MAX;

/// Nanoseconds in a millisecond.
pub(crate) const NANOS_PER_MS: Nanos = 1_000_000;
