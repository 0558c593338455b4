//! What `ai` knows without the machine: which commands only look, what it tells the agent, and how the configuration is
//! edited.

pub mod allow;
pub mod config;
pub mod context;
pub mod tail;
pub mod words;
