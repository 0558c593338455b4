//! Why a text is no script.

use crate::bytes::Bytes;
use alloc_crate::vec::Vec;
use core::fmt;

/// A mistake in a script, and the line where it was noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong.
    pub kind: ErrorKind,
}

/// What is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// This stands where something else should.
    Unexpected(Vec<u8>),
    /// The text ends before this.
    Unfinished(&'static str),
    /// `${…}` with something that is no expansion.
    BadSubstitution,
    /// A descriptor of more than three digits.
    BadDescriptor,
    /// More levels than [`super::NESTING_MAX`].
    TooDeep,
}

impl SyntaxError {
    /// Whether more text could make it right.
    #[must_use]
    pub const fn is_unfinished(&self) -> bool {
        matches!(self.kind, ErrorKind::Unfinished(_))
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: syntax error: ", self.line)?;
        match &self.kind {
            ErrorKind::Unexpected(text) => write!(f, "unexpected `{}`", Bytes(text)),
            ErrorKind::Unfinished(end) => write!(f, "the text ends before {end}"),
            ErrorKind::BadSubstitution => f.write_str("`${` begins no expansion that this shell has"),
            ErrorKind::BadDescriptor => f.write_str("no such descriptor"),
            ErrorKind::TooDeep => write!(f, "more than {} levels", super::NESTING_MAX),
        }
    }
}
