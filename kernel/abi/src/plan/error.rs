//! Why bytes are no plan.

use super::{ARGUMENT_MAX, ARGUMENTS_MAX, PLAN_MAX, SAY_MAX, STEPS_MAX};
use core::fmt;

/// Why bytes are no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// More than [`PLAN_MAX`] bytes.
    TooLong,
    /// It ends before what its lengths say.
    Cut,
    /// Not this layout, or another generation of it.
    OtherLayout,
    /// A flag that nobody knows.
    UnknownFlags,
    /// No steps, or more than [`STEPS_MAX`].
    StepCount,
    /// A kind of step that nobody knows.
    UnknownKind,
    /// There are bytes after its end, or after that of a step.
    BytesLeft,
    /// Text that is not UTF-8.
    NotUtf8,
    /// Text with control characters, or such that hide or reorder it.
    HiddenCharacter,
    /// A text of no bytes or more than [`SAY_MAX`].
    SayLength,
    /// No arguments, more than [`ARGUMENTS_MAX`], one over [`ARGUMENT_MAX`] bytes, or a program without a name.
    Arguments,
    /// What is no key or no value.
    Setting,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "it has more than {PLAN_MAX} bytes"),
            Self::Cut => f.write_str("it is cut"),
            Self::OtherLayout => f.write_str("it has another layout than the one known here"),
            Self::UnknownFlags => f.write_str("it has a flag that is not known here"),
            Self::StepCount => write!(f, "it must have 1 to {STEPS_MAX} steps"),
            Self::UnknownKind => f.write_str("it has a kind of step that is not known here"),
            Self::BytesLeft => f.write_str("there are bytes left after its end"),
            Self::NotUtf8 => f.write_str("it has text that is not UTF-8"),
            Self::HiddenCharacter => f.write_str("it has control characters or hidden ones"),
            Self::SayLength => write!(f, "a text must have 1 to {SAY_MAX} bytes"),
            Self::Arguments => write!(
                f,
                "a command must have 1 to {ARGUMENTS_MAX} arguments of at most {ARGUMENT_MAX} bytes, the first its name"
            ),
            Self::Setting => f.write_str("a setting has an impossible key or value"),
        }
    }
}
