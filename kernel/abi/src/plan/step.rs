//! One step of a plan.

use super::{ARGUMENT_MAX, ARGUMENTS_MAX, PlanError, SAY_MAX, is_key, is_value};
use crate::is_hidden;

pub(super) const SAY: u8 = 1;
pub(super) const RUN: u8 = 2;
pub(super) const SET: u8 = 3;
pub(super) const GET: u8 = 4;

/// One step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// Tells the person something: 1 to [`SAY_MAX`] bytes, without hidden characters but for newlines and tabs.
    Say(&'a str),
    /// Runs a program with exactly these arguments.
    Run(Arguments<'a>),
    /// Gives a key of the agent's configuration a value.
    Set {
        /// The key, see [`is_key`].
        key: &'a str,
        /// The value, see [`is_value`].
        value: &'a str,
    },
    /// Shows the value of a key.
    Get {
        /// The key, see [`is_key`].
        key: &'a str,
    },
}

/// The arguments of a program, the first its name: 1 to [`ARGUMENTS_MAX`] of at most [`ARGUMENT_MAX`] bytes, without hidden
/// characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arguments<'a> {
    bytes: &'a [u8],
    count: usize,
}

impl<'a> Arguments<'a> {
    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut rest = self.bytes;
        // None of them fails: all were taken when the plan was decoded.
        core::iter::from_fn(move || {
            let (argument, after) = argument(rest).ok()?;
            rest = after;
            Some(argument)
        })
    }

    /// How many.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Never: a program has a name.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn decode(body: &'a [u8]) -> Result<Self, PlanError> {
        let (&count, bytes) = body.split_first().ok_or(PlanError::Cut)?;
        let count = usize::from(count);
        if !(1..=ARGUMENTS_MAX).contains(&count) {
            return Err(PlanError::Arguments);
        }
        let mut rest = bytes;
        for index in 0..count {
            let (text, after) = argument(rest)?;
            if text.len() > ARGUMENT_MAX || (index == 0 && text.is_empty()) {
                return Err(PlanError::Arguments);
            }
            plain(text, |_| false)?;
            rest = after;
        }
        if rest.is_empty() { Ok(Self { bytes, count }) } else { Err(PlanError::BytesLeft) }
    }
}

/// Takes the step at the front; what is after it.
pub(super) fn take(bytes: &[u8]) -> Result<(Step<'_>, &[u8]), PlanError> {
    let (&kind, rest) = bytes.split_first().ok_or(PlanError::Cut)?;
    let (body, rest) = slot(rest)?;
    let step = match kind {
        SAY => Step::Say(say(body)?),
        RUN => Step::Run(Arguments::decode(body)?),
        SET => set(body)?,
        GET => Step::Get { key: key(body)? },
        _ => return Err(PlanError::UnknownKind),
    };
    Ok((step, rest))
}

fn say(body: &[u8]) -> Result<&str, PlanError> {
    if !(1..=SAY_MAX).contains(&body.len()) {
        return Err(PlanError::SayLength);
    }
    plain(text(body)?, |character| matches!(character, '\n' | '\t'))
}

fn set(body: &[u8]) -> Result<Step<'_>, PlanError> {
    let (&len, rest) = body.split_first().ok_or(PlanError::Cut)?;
    let (name, value) = rest.split_at_checked(len.into()).ok_or(PlanError::Cut)?;
    let (key, value) = (key(name)?, text(value)?);
    if is_value(value) { Ok(Step::Set { key, value }) } else { Err(PlanError::Setting) }
}

fn key(bytes: &[u8]) -> Result<&str, PlanError> {
    let key = text(bytes)?;
    if is_key(key) { Ok(key) } else { Err(PlanError::Setting) }
}

fn argument(bytes: &[u8]) -> Result<(&str, &[u8]), PlanError> {
    let (argument, rest) = slot(bytes)?;
    Ok((text(argument)?, rest))
}

/// What a length of two bytes leads.
fn slot(bytes: &[u8]) -> Result<(&[u8], &[u8]), PlanError> {
    let (len, rest) = bytes.split_first_chunk().ok_or(PlanError::Cut)?;
    rest.split_at_checked(u16::from_le_bytes(*len).into()).ok_or(PlanError::Cut)
}

fn text(bytes: &[u8]) -> Result<&str, PlanError> {
    str::from_utf8(bytes).map_err(|_| PlanError::NotUtf8)
}

fn plain(text: &str, allowed: impl Fn(char) -> bool) -> Result<&str, PlanError> {
    let is_plain = text.chars().all(|character| !is_hidden(character) || allowed(character));
    if is_plain { Ok(text) } else { Err(PlanError::HiddenCharacter) }
}
