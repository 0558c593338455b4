//! Jobs: the programs that were started over the bus. The table knows how each is, keeps what it writes, and who
//! waits for it; it is told the time and what happens, and says what to do.

mod job;
mod output;
mod question;
mod table;
#[cfg(test)]
mod tests;

pub use job::{End, HowEnded};
pub use question::{Question, WAIT_MAX, Waiting};
pub use table::{Action, JOBS_MAX, JobTable, NewJob, OUTPUT_LIMIT, OUTPUT_LIMIT_MAX};
