//! Programs that the client runs: start, output, input, signals.

mod asks;
mod control;
mod killer;
mod report;
mod spawn;

pub(super) use control::{ProcInput, ProcKill, ProcWait};
pub(in crate::mcp) use killer::finish as end_jobs;
pub(super) use spawn::ProcSpawn;
pub(in crate::mcp) use spawn::Waiting;

/// Bytes of each output in a result as JSON, unless more was asked for.
const OUTPUT_DEFAULT: usize = 3 * 1024;
