//! Translates the agent's frames on COM2 to JSON.
#![forbid(unsafe_code)]
