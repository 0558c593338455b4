//! A plan: what an agent answers to a request in natural language, step by step.
//!
//! ```text
//! plan   [0x00]['P'][generation:1][flags:1][count:1] then so many steps
//! step   [kind:1][len:2][body:len]
//! kind   1 say   [text]
//!        2 run   [argc:1] then [len:2][argument] each
//!        3 set   [keylen:1][key][value]
//!        4 get   [key]
//! ```
//!
//! The zero at the front tells it from the one-line answers of the base generation. The flags are an [`Ending`]. A plan is
//! whole and within its limits or it is refused as a whole: who decodes it can rely on every step.

mod encode;
mod error;
mod step;
#[cfg(test)]
mod tests;

pub use encode::PlanWriter;
pub use error::PlanError;
pub use step::{Arguments, Step};

use step::take;

/// Longest plan, in bytes.
pub const PLAN_MAX: usize = 3840;
/// Most steps of a plan.
pub const STEPS_MAX: usize = 16;
/// Most arguments of a step that runs a program, its name included.
pub const ARGUMENTS_MAX: usize = 32;
/// Longest argument, in bytes.
pub const ARGUMENT_MAX: usize = 1024;
/// Longest text to say, in bytes.
pub const SAY_MAX: usize = 2048;
/// Longest key, in bytes. Keys consist of small letters, digits and underscores.
pub const KEY_MAX: usize = 32;
/// Longest value, in bytes.
pub const VALUE_MAX: usize = 256;

/// The bytes at the front.
const MAGIC: [u8; 2] = [0, b'P'];
/// The layout that this page tells.
const GENERATION: u8 = 1;
/// Bytes before the first step.
const HEAD: usize = 5;

/// What comes after the steps of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Ending {
    /// Nothing: it is done.
    Done = 0,
    /// The agent wants the results, to go on with them.
    More = 1,
    /// Nothing: the agent could not do what was wanted, and has said so.
    Failed = 2,
}

impl Ending {
    const fn from_flags(flags: u8) -> Option<Self> {
        match flags {
            0 => Some(Self::Done),
            1 => Some(Self::More),
            2 => Some(Self::Failed),
            _ => None,
        }
    }
}

/// A plan that was checked from end to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan<'a> {
    steps: &'a [u8],
    count: usize,
    ending: Ending,
}

impl<'a> Plan<'a> {
    /// Whether these bytes claim to be a plan; anything else is an answer in text.
    #[must_use]
    pub fn is_claimed(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC[..1])
    }

    /// Checks a plan from end to end.
    ///
    /// # Errors
    /// The first [`PlanError`]; nothing of such a plan is to be used.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, PlanError> {
        if bytes.len() > PLAN_MAX {
            return Err(PlanError::TooLong);
        }
        let (head, steps) = bytes.split_first_chunk::<HEAD>().ok_or(PlanError::Cut)?;
        let [zero, letter, generation, flags, count] = *head;
        if [zero, letter] != MAGIC || generation != GENERATION {
            return Err(PlanError::OtherLayout);
        }
        let ending = Ending::from_flags(flags).ok_or(PlanError::UnknownFlags)?;
        let count = usize::from(count);
        if !(1..=STEPS_MAX).contains(&count) {
            return Err(PlanError::StepCount);
        }
        let mut rest = steps;
        for _ in 0..count {
            rest = take(rest)?.1;
        }
        if !rest.is_empty() {
            return Err(PlanError::BytesLeft);
        }
        Ok(Self { steps, count, ending })
    }

    /// Its steps, in order.
    pub fn steps(&self) -> impl Iterator<Item = Step<'a>> + use<'a> {
        let mut rest = self.steps;
        // None of them fails: all were taken when the plan was decoded.
        core::iter::from_fn(move || {
            let (step, after) = take(rest).ok()?;
            rest = after;
            Some(step)
        })
    }

    /// How many steps there are, 1 to [`STEPS_MAX`].
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Never: a plan has a step.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What comes after its steps.
    #[must_use]
    pub const fn ending(&self) -> Ending {
        self.ending
    }
}

/// Whether `key` may be one: 1 to [`KEY_MAX`] small letters, digits and underscores.
#[must_use]
pub fn is_key(key: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=KEY_MAX).contains(&key.len()) && key.bytes().all(is_allowed)
}

/// Whether `value` may be one: at most [`VALUE_MAX`] bytes without hidden characters.
#[must_use]
pub fn is_value(value: &str) -> bool {
    value.len() <= VALUE_MAX && !value.chars().any(crate::is_hidden)
}
