//! Parameter expansion (POSIX.1-2017, XCU 2.6.2).

use super::expand::{Expander, Failure, Host, pattern, text};
use super::name_length;
use super::pattern::{prefix, suffix};
use super::tree::{Operation, Parameter, Part, Word};
use alloc_crate::format;
use alloc_crate::vec::Vec;

impl<H: Host> Expander<'_, H> {
    pub(super) fn parameter(&mut self, parameter: &Parameter, quoted: bool) -> Result<(), Failure> {
        let Parameter { name, operation } = parameter;
        let value = self.value_of(name);
        let none = value.is_none();
        let empty = value.as_ref().is_none_or(Vec::is_empty);
        let lacks = |colon: bool| if colon { empty } else { none };
        match operation {
            Operation::Default(colon, word) if lacks(*colon) => self.inner(word, quoted),
            Operation::Alternative(colon, word) if !lacks(*colon) => self.inner(word, quoted),
            Operation::Alternative(..) => Ok(()),
            Operation::Require(colon, word) if lacks(*colon) => {
                let message = text(word, self.host)?;
                let standard = if none { "parameter not set" } else { "parameter null" };
                let message = if message.is_empty() { standard.as_bytes().to_vec() } else { message };
                Err(Failure::Parameter(name.clone(), message))
            }
            Operation::Assign(colon, word) if lacks(*colon) => {
                if name_length(name) != name.len() {
                    return Err(Failure::NotAssignable(name.clone()));
                }
                let value = text(word, self.host)?;
                self.host.assign(name, value.clone())?;
                self.put(&value, quoted)
            }
            Operation::Value | Operation::Default(..) | Operation::Require(..) | Operation::Assign(..) => {
                match (name.as_slice(), value) {
                    (b"@", _) => self.all_positional(true, quoted),
                    (b"*", _) => self.all_positional(false, quoted),
                    (_, Some(value)) => self.put(&value, quoted),
                    (_, None) => self.lacking(name),
                }
            }
            Operation::Length => {
                let length = match (name.as_slice(), value) {
                    (b"@" | b"*", _) => self.host.positional().len(),
                    (_, Some(value)) => value.len(),
                    (_, None) => {
                        self.lacking(name)?;
                        0
                    }
                };
                self.put(format!("{length}").as_bytes(), quoted)
            }
            Operation::TrimStart(longest, word) => {
                self.trimmed(name, value, word, quoted, |pattern, value| {
                    prefix(pattern, value, *longest).map(|length| length..value.len())
                })
            }
            Operation::TrimEnd(longest, word) => self.trimmed(name, value, word, quoted, |pattern, value| {
                suffix(pattern, value, *longest).map(|start| 0..start)
            }),
        }
    }

    /// The value; the positional parameters count as one if there are any.
    fn value_of(&self, name: &[u8]) -> Option<Vec<u8>> {
        match name {
            b"@" | b"*" => {
                let all = self.host.positional();
                (!all.is_empty()).then(|| all.join(&b' '))
            }
            _ => self.host.parameter(name),
        }
    }

    /// A parameter without a value stands for nothing, unless `set -u`.
    fn lacking(&self, name: &[u8]) -> Result<(), Failure> {
        if self.host.requires_values() {
            return Err(Failure::Parameter(name.to_vec(), b"parameter not set".to_vec()));
        }
        Ok(())
    }

    /// The word of an expansion, in its place; its text is split like a value.
    fn inner(&mut self, word: &Word, quoted: bool) -> Result<(), Failure> {
        for (index, part) in word.0.iter().enumerate() {
            match part {
                Part::Literal(text) if !quoted => {
                    let rest = if index == 0 { self.home(text, false)? } else { text };
                    self.put(rest, false)?;
                }
                other => self.part(other, quoted)?,
            }
        }
        Ok(())
    }

    fn trimmed(
        &mut self,
        name: &[u8],
        value: Option<Vec<u8>>,
        word: &Word,
        quoted: bool,
        rest: impl Fn(&[super::pattern::Cell], &[u8]) -> Option<core::ops::Range<usize>>,
    ) -> Result<(), Failure> {
        let Some(value) = value else { return self.lacking(name) };
        let pattern = pattern(word, self.host)?;
        let range = rest(&pattern, &value).unwrap_or(0..value.len());
        self.put(&value[range], quoted)
    }
}
