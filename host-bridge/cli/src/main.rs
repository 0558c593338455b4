//! `askr-bridge`: the agent's side of Askr on a command line.
#![forbid(unsafe_code)]

mod call;
mod capture;
mod command_line;
mod commands;
mod completions;
mod doctor;
mod exit;
#[cfg(feature = "mcp")]
mod mcp;
mod pipe;
mod serve;
mod style;
mod text;
mod waiting;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    match command_line::run() {
        Ok(exit) => exit.into(),
        Err(failure) => {
            eprintln!("askr-bridge: {}", failure.message);
            failure.exit.into()
        }
    }
}
