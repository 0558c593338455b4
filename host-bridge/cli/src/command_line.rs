//! The command line of `askr-bridge`, and what it leads to.

#[cfg(feature = "mcp")]
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};

use crate::exit::{Exit, Failure};
use crate::{call, capture, commands, completions, doctor, exit, pipe, serve, watch};

const EXAMPLES: &str = "\
Examples, with a guest started by `cargo run` in another terminal:
  askr-bridge doctor
  askr-bridge watch
  askr-bridge call status
  askr-bridge call fs.read path=/proc/version
  askr-bridge call asks.wait
  askr-bridge call ask.answer ask=3f9a1c02:1 answer=yes
  echo '{\"id\":1,\"op\":\"proc.list\"}' | askr-bridge json
  askr-bridge capture - | wireshark -k -i -

`askr-bridge COMMAND --help` has more. docs/host.md lists all operations, their fields and errors.";

/// Does what the command line says.
pub(crate) fn run() -> Result<Exit, Failure> {
    let matches = command().get_matches();
    match matches.subcommand() {
        Some(("call", call)) => call::run(socket(&matches, call), call),
        Some(("watch", watch)) => watch::run(socket(&matches, watch), watch),
        Some(("doctor", doctor)) => doctor::run(socket(&matches, doctor), doctor),
        Some(("json", json)) => pipe::run(socket(&matches, json)),
        Some(("capture", capture)) => capture::run(socket(&matches, capture), capture),
        Some(("hub", hub)) => serve::run(socket(&matches, hub), hub),
        #[cfg(feature = "mcp")]
        Some(("mcp", mcp)) => {
            let options: Vec<_> = mcp.get_many::<OsString>("options").unwrap_or_default().cloned().collect();
            crate::mcp::run(socket(&matches, mcp), mcp.get_flag("boot").then_some(&options[..]))
        }
        Some(("completions", completions)) => completions::run(command(), completions),
        _ => Err(Failure::usage("no command was given; see --help".into())),
    }
}

fn socket(top: &ArgMatches, sub: &ArgMatches) -> Option<PathBuf> {
    sub.get_one::<PathBuf>("socket").or_else(|| top.get_one("socket")).cloned()
}

fn command() -> Command {
    let socket = Arg::new("socket")
        .long("socket")
        .value_name("PATH")
        .global(true)
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::FilePath)
        .help("Socket of the hub [default: $ASKR_SOCKET, else askr/agent.sock in the target folder]");
    let command = Command::new("askr-bridge")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Talks to a running Askr guest: its files, its processes, the questions of its programs")
        .after_help(format!("{EXAMPLES}\n\n{}", exit::help(&Exit::ALL)))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(socket)
        .subcommand(commands::call())
        .subcommand(commands::watch())
        .subcommand(commands::doctor())
        .subcommand(commands::json())
        .subcommand(commands::capture())
        .subcommand(commands::hub());
    #[cfg(feature = "mcp")]
    let command = command.subcommand(commands::mcp());
    command.subcommand(commands::completions())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn each_command_shows_examples_and_its_exit_status() {
        for sub in command().get_subcommands_mut() {
            let help = sub.render_long_help().to_string();
            let name = sub.get_name();
            assert!(help.contains(&format!("\n  askr-bridge {name}")), "{help}");
            assert!(help.contains("\nExit status:\n    0  "), "{help}");
        }
    }

    #[test]
    fn the_examples_are_of_this_command_line() {
        let mut tried = 0;
        let mut command = command();
        let mut texts = vec![command.render_long_help().to_string()];
        texts.extend(command.get_subcommands_mut().map(|sub| sub.render_long_help().to_string()));
        for line in texts.iter().flat_map(|text| text.lines()) {
            let Some(at) = line.find("askr-bridge ").filter(|_| line.starts_with("  ")) else { continue };
            // Up to the end of the example: what the shell does with it is not of this command line.
            let words = line[at..].split(['|', '>', '<']).next().unwrap_or_default().replace('\'', "");
            let result = self::command().try_get_matches_from(words.trim_end_matches(')').split_whitespace());
            assert!(result.is_ok(), "{line}: {}", result.unwrap_err());
            tried += 1;
        }
        assert!(tried >= 20, "{tried}");
    }
}
