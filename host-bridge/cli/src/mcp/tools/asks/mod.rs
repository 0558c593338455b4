//! Questions of the guest's programs, and their answers.

mod answer;
mod form;
mod pending;
mod person;
mod wait;

pub(super) use answer::AskAnswer;
pub(super) use pending::{Pending, listed};
pub(in crate::mcp) use person::GoesOn;
pub(super) use person::{Offer, Told};
pub(super) use wait::AsksWait;
