//! `askr-bridge`: the agent's side of Askr on a command line.
#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(code) => code,
        Err(message) => {
            eprintln!("askr-bridge: {message}");
            ExitCode::FAILURE
        }
    }
}
