//! Questions of the guest's programs, and their answers.

mod answer;
mod pending;
mod person;
mod wait;

pub(super) use answer::AskAnswer;
pub(super) use pending::{Pending, listed};
pub(in crate::mcp) use person::GoesOn;
pub(super) use person::{Told, give_back, put, said_in, settle};
pub(super) use wait::AsksWait;
