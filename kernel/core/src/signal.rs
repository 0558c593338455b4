//! Signals as far as they can be decided without a processor (`signal(7)`): sets, dispositions, which one comes next and
//! what it does ([`Signals`]), what a handler finds on its stack ([`frame`], [`xstate`]), and which signal a fault is
//! ([`fault`]).

mod action;
mod altstack;
pub mod fault;
pub mod frame;
mod info;
mod set;
mod state;
pub mod xstate;

pub use action::{Action, DefaultAction};
pub use altstack::AltStack;
pub use info::{Detail, Info};
pub use set::{How, SignalSet};
pub use state::{Delivery, Next, Posted, QUEUED_MAX, Signals};
