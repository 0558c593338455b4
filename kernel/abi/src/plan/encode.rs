//! Making a plan.

use super::step::{GET, RUN, SAY, SET, take};
use super::{Ending, GENERATION, HEAD, MAGIC, PLAN_MAX, PlanError, STEPS_MAX};

/// Bytes before the body of a step.
const STEP_HEAD: usize = 3;

/// Makes a plan, step by step. What it refuses is not in the plan.
#[derive(Debug)]
pub struct PlanWriter {
    bytes: [u8; PLAN_MAX],
    len: usize,
    count: u8,
}

impl Default for PlanWriter {
    fn default() -> Self {
        Self { bytes: [0; PLAN_MAX], len: HEAD, count: 0 }
    }
}

impl PlanWriter {
    /// Adds a step that tells something.
    ///
    /// # Errors
    /// What [`super::Plan::decode`] would say about it; so with the others.
    pub fn say(&mut self, text: &str) -> Result<(), PlanError> {
        self.step(SAY, |step| step.put(text.as_bytes()))
    }

    /// Adds a step that runs a program.
    ///
    /// # Errors
    /// As [`PlanWriter::say`].
    pub fn run(&mut self, arguments: &[impl AsRef<str>]) -> Result<(), PlanError> {
        let count = u8::try_from(arguments.len()).map_err(|_| PlanError::Arguments)?;
        self.step(RUN, |step| {
            step.put(&[count])?;
            for argument in arguments.iter().map(AsRef::as_ref) {
                let len = u16::try_from(argument.len()).map_err(|_| PlanError::Arguments)?;
                step.put(&len.to_le_bytes())?;
                step.put(argument.as_bytes())?;
            }
            Ok(())
        })
    }

    /// Adds a step that gives a key a value.
    ///
    /// # Errors
    /// As [`PlanWriter::say`].
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), PlanError> {
        let len = u8::try_from(key.len()).map_err(|_| PlanError::Setting)?;
        self.step(SET, |step| {
            step.put(&[len])?;
            step.put(key.as_bytes())?;
            step.put(value.as_bytes())
        })
    }

    /// Adds a step that shows a key's value.
    ///
    /// # Errors
    /// As [`PlanWriter::say`].
    pub fn get(&mut self, key: &str) -> Result<(), PlanError> {
        self.step(GET, |step| step.put(key.as_bytes()))
    }

    /// The plan.
    ///
    /// # Errors
    /// [`PlanError::StepCount`]: there are no steps.
    pub fn finish(&mut self, ending: Ending) -> Result<&[u8], PlanError> {
        if self.count == 0 {
            return Err(PlanError::StepCount);
        }
        self.bytes[..HEAD].copy_from_slice(&[MAGIC[0], MAGIC[1], GENERATION, ending as u8, self.count]);
        Ok(&self.bytes[..self.len])
    }

    fn step(
        &mut self,
        kind: u8,
        body: impl FnOnce(&mut Self) -> Result<(), PlanError>,
    ) -> Result<(), PlanError> {
        if usize::from(self.count) >= STEPS_MAX {
            return Err(PlanError::StepCount);
        }
        let start = self.len;
        let written = self.put(&[kind, 0, 0]).and_then(|()| body(self)).and_then(|()| {
            let len = u16::try_from(self.len - start - STEP_HEAD).map_err(|_| PlanError::TooLong)?;
            self.bytes[start + 1..start + STEP_HEAD].copy_from_slice(&len.to_le_bytes());
            take(&self.bytes[start..self.len]).map(drop)
        });
        match written {
            Ok(()) => self.count += 1,
            Err(_) => self.len = start,
        }
        written
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), PlanError> {
        let end = self.len + bytes.len();
        self.bytes.get_mut(self.len..end).ok_or(PlanError::TooLong)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }
}
