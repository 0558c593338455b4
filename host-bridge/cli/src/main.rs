//! `askr-bridge`: the agent's side of Askr on a command line.
#![forbid(unsafe_code)]

mod call;
mod capture;
mod command_line;
#[cfg(feature = "mcp")]
mod mcp;
mod pipe;
mod serve;

use std::process::ExitCode;

fn main() -> ExitCode {
    match command_line::run() {
        Ok(code) => code,
        Err(message) => {
            eprintln!("askr-bridge: {message}");
            ExitCode::FAILURE
        }
    }
}
