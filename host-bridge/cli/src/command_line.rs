//! The commands of `askr-bridge`.

#[cfg(feature = "mcp")]
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::{call, capture, pipe, serve};

const EXAMPLES: &str = "\
Examples, with a guest started by `cargo run` in another terminal:
  askr-bridge call status
  askr-bridge call fs.read path=/proc/version
  askr-bridge call asks.wait
  askr-bridge call ask.answer ask=3f9a1c02:1 answer=yes
  echo '{\"id\":1,\"op\":\"proc.list\"}' | askr-bridge json
  askr-bridge capture - | wireshark -k -i -

docs/host.md lists all operations, their fields and errors.";

const CALL_EXAMPLES: &str = "\
The reply goes to stdout: the bytes of the file for fs.read, JSON for the rest. Errors go to stderr, with exit code 1.

Examples:
  askr-bridge call fs.list path=/
  askr-bridge call fs.read path=/proc/version
  askr-bridge call asks.wait wait_ms=60000
  askr-bridge call ask.answer ask=3f9a1c02:1 refuse=true";

const CAPTURE_EXAMPLES: &str = "\
Broken bytes are captured, too. A summary goes to stderr. The exit code is 0 after Ctrl-C, --count or --seconds, and 1
when the hub ended.

Examples:
  askr-bridge capture askr.pcapng
  askr-bridge capture - | wireshark -k -i - -X lua_script:host-bridge/wireshark/askr.lua
  askr-bridge capture --wait --seconds 60 boot.pcapng

docs/capture.md tells how to look at it.";

#[cfg(feature = "mcp")]
const MCP_EXAMPLES: &str = "\
It starts without a guest, finds one that is started later, and outlives it.

Examples:
  claude mcp add askr -- /path/to/askr/target/debug/askr-bridge mcp
  claude mcp add askr -- /path/to/askr/target/debug/askr-bridge mcp --boot
  askr-bridge mcp --socket target/askr/agent-2.sock
  askr-bridge mcp --boot -- --memory 512M --throwaway

docs/mcp.md lists the tools, their arguments, results and errors.";

/// Does what the command line says.
pub(crate) fn run() -> Result<ExitCode, String> {
    let matches = command().get_matches();
    match matches.subcommand() {
        Some(("call", call)) => call::run(socket(&matches, call), call),
        Some(("json", json)) => pipe::run(socket(&matches, json)),
        Some(("capture", capture)) => capture::run(socket(&matches, capture), capture),
        Some(("hub", hub)) => serve::run(socket(&matches, hub), hub),
        #[cfg(feature = "mcp")]
        Some(("mcp", mcp)) => {
            let options: Vec<_> = mcp.get_many::<OsString>("options").unwrap_or_default().cloned().collect();
            crate::mcp::run(socket(&matches, mcp), mcp.get_flag("boot").then_some(&options[..]))
        }
        _ => Err("no command was given; see --help".into()),
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
        .help("Socket of the hub [default: $ASKR_SOCKET, else askr/agent.sock in the target folder]");
    let command = Command::new("askr-bridge")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Talks to a running Askr guest: its files, its processes, the questions of its programs")
        .after_help(EXAMPLES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(socket)
        .subcommand(call_command())
        .subcommand(Command::new("json").about("The hub's JSON lines on stdin and stdout"))
        .subcommand(capture_command())
        .subcommand(hub_command());
    #[cfg(feature = "mcp")]
    let command = command.subcommand(mcp_command());
    command
}

fn call_command() -> Command {
    Command::new("call")
        .about("Makes one call and prints what comes back")
        .after_help(CALL_EXAMPLES)
        .arg(Arg::new("op").value_name("OP").required(true).help("Operation, such as fs.read"))
        .arg(Arg::new("fields").value_name("KEY=VALUE").action(ArgAction::Append).help("Its fields"))
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Print the whole reply as one line"),
        )
}

fn capture_command() -> Command {
    let number = |name, help| {
        Arg::new(name).long(name).value_name("N").value_parser(value_parser!(u64).range(1..)).help(help)
    };
    Command::new("capture")
        .about("Writes the frames on COM2 into a pcapng file, for Wireshark")
        .after_help(CAPTURE_EXAMPLES)
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("File to write, which is replaced; - for standard output"),
        )
        .arg(number("count", "End after so many packets"))
        .arg(number("seconds", "End after so many seconds"))
        .arg(
            Arg::new("wait")
                .long("wait")
                .action(ArgAction::SetTrue)
                .help("Wait for a hub, at the start and whenever it has ended"),
        )
}

fn hub_command() -> Command {
    Command::new("hub")
        .about("Runs a hub on the COM2 socket of a guest (`cargo run` has one of its own)")
        .arg(
            Arg::new("com2")
                .long("com2")
                .value_name("PATH")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Unix socket that is the guest's COM2"),
        )
        .arg(
            Arg::new("no-agent")
                .long("no-agent")
                .action(ArgAction::SetTrue)
                .help("Leave natural-language asks unanswered when no client takes them"),
        )
}

#[cfg(feature = "mcp")]
fn mcp_command() -> Command {
    Command::new("mcp")
        .about("An MCP server on stdin and stdout, for the configuration of an MCP client")
        .after_help(MCP_EXAMPLES)
        .arg(
            Arg::new("boot")
                .long("boot")
                .action(ArgAction::SetTrue)
                .help("Boot a guest if none runs, which ends with this server"),
        )
        .arg(
            Arg::new("options")
                .value_name("OPTION")
                .last(true)
                .action(ArgAction::Append)
                .requires("boot")
                .value_parser(value_parser!(OsString))
                .help("Options of `cargo run` for that guest"),
        )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }
}
