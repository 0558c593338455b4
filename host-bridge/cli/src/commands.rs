//! Each command: its options, what its help says, with examples and exit statuses.

#[cfg(feature = "mcp")]
use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, ValueHint, value_parser};
use host_bridge::json::OPERATIONS;

use crate::exit::{Exit, help};

const CALL: &str = "\
The reply goes to stdout: the bytes of the file for fs.read, JSON for the rest. Errors go to stderr.

Examples:
  askr-bridge call status
  askr-bridge call fs.list path=/
  askr-bridge call fs.read path=/proc/version
  askr-bridge call --json proc.list
  askr-bridge call asks.wait wait_ms=60000
  askr-bridge call ask.answer ask=3f9a1c02:1 refuse=true";

const WATCH: &str = "\
It only looks on: asks stay for others, and for the built-in agent. It waits for a hub, and finds the next one when one
goes. On a terminal the last line tells how guest and link stand; elsewhere a line does now and then.

Examples:
  askr-bridge watch
  askr-bridge watch --since-boot
  askr-bridge watch --json --stats 0 | grep --line-buffered '\"fault\"'
  askr-bridge watch > log.txt";

const DOCTOR: &str = "\
Each line is a check: `ok`, `warn` for what may do harm, `FAIL` for what does, with what mends it. It needs no guest, and ends
within a minute even if the hub hangs.

Examples:
  askr-bridge doctor
  askr-bridge doctor --json
  askr-bridge doctor --socket target/askr/agent-2.sock";

const JSON: &str = "\
It ends when stdin has ended and every request has its reply.

Examples:
  askr-bridge json < requests.jsonl
  echo '{\"id\":1,\"op\":\"proc.list\"}' | askr-bridge json";

const CAPTURE: &str = "\
Both doors to the guest are captured, and broken bytes, too. A summary goes to stderr. It ends well after Ctrl-C, --count or
--seconds; it has failed when the hub ends. A second Ctrl-C ends it at once, even if nobody reads what it writes.

Examples:
  askr-bridge capture askr.pcapng
  askr-bridge capture - | wireshark -k -i - -X lua_script:host-bridge/wireshark/askr.lua
  askr-bridge capture --wait --seconds 60 boot.pcapng

docs/capture.md tells how to look at it.";

const HUB: &str = "\
It serves until it is ended.

Examples:
  askr-bridge hub --com2 com2.sock --socket agent.sock
  askr-bridge hub --com2 com2.sock --no-agent";

#[cfg(feature = "mcp")]
const MCP: &str = "\
It starts without a guest, finds one that is started later, and outlives it.

Examples:
  askr-bridge mcp --socket target/askr/agent-2.sock
  askr-bridge mcp --boot -- --memory 512M --throwaway
  claude mcp add askr -- /path/to/askr/target/debug/askr-bridge mcp
  claude mcp add askr -- /path/to/askr/target/debug/askr-bridge mcp --boot

docs/mcp.md lists the tools, their arguments, results and errors.";

const COMPLETIONS: &str = "\
The script goes to stdout. It completes commands, options, operations of `call` and their fields.

Examples:
  askr-bridge completions bash > ~/.local/share/bash-completion/completions/askr-bridge
  askr-bridge completions zsh > ~/.zfunc/_askr-bridge
  askr-bridge completions fish > ~/.config/fish/completions/askr-bridge.fish
  source <(askr-bridge completions bash)";

fn new(name: &'static str, about: &'static str, more: &str, exits: &[Exit]) -> Command {
    Command::new(name).about(about).after_help(format!("{more}\n\n{}", help(exits)))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

pub(super) fn call() -> Command {
    let operations = PossibleValuesParser::new(OPERATIONS.iter().map(|operation| operation.name));
    let exits = [Exit::Done, Exit::Failed, Exit::Usage, Exit::NoHub, Exit::NoGuest];
    new("call", "Makes one call and prints what comes back", CALL, &exits)
        .arg(Arg::new("op").value_name("OP").required(true).value_parser(operations).help("Operation"))
        .arg(
            Arg::new("fields")
                .value_name("KEY=VALUE")
                .action(ArgAction::Append)
                .value_hint(ValueHint::Other)
                .help("Its fields"),
        )
        .arg(flag("json", "Print the whole reply as one line, also one that is an error"))
}

pub(super) fn watch() -> Command {
    let exits = [Exit::Done, Exit::Failed, Exit::Usage, Exit::Interrupted, Exit::Terminated];
    new("watch", "Shows events, asks and link statistics as they come", WATCH, &exits)
        .arg(flag("json", "Print JSON lines: what the hub tells, with `time`"))
        .arg(flag("since-boot", "Begin with the events that the guest still has"))
        .arg(
            Arg::new("stats")
                .long("stats")
                .value_name("SECONDS")
                .value_parser(value_parser!(u64).range(0..=86_400))
                .help("How often to ask for link statistics; 0 is never [default: 2 on a terminal, else 30]"),
        )
}

pub(super) fn doctor() -> Command {
    let exits = [Exit::Done, Exit::Failed, Exit::Usage];
    new("doctor", "Finds what is wrong with a set-up and says what mends it", DOCTOR, &exits)
        .arg(flag("json", "Print one JSON object"))
}

pub(super) fn json() -> Command {
    let exits = [Exit::Done, Exit::Failed, Exit::Usage, Exit::NoHub];
    new("json", "The hub's JSON lines on stdin and stdout", JSON, &exits)
}

pub(super) fn capture() -> Command {
    let number = |name, help| {
        Arg::new(name).long(name).value_name("N").value_parser(value_parser!(u64).range(1..)).help(help)
    };
    let about = "Writes the frames between host and guest into a pcapng file, for Wireshark";
    let exits = [Exit::Done, Exit::Failed, Exit::Usage, Exit::NoHub, Exit::Interrupted, Exit::Terminated];
    new("capture", about, CAPTURE, &exits)
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("File to write, which is replaced; - for standard output"),
        )
        .arg(number("count", "End after so many packets"))
        .arg(number("seconds", "End after so many seconds"))
        .arg(flag("wait", "Wait for a hub, at the start and whenever it has ended"))
}

pub(super) fn hub() -> Command {
    let about = "Runs a hub on the sockets of a guest (`cargo run` has one of its own)";
    new("hub", about, HUB, &[Exit::Done, Exit::Failed, Exit::Usage])
        .arg(
            Arg::new("com2")
                .long("com2")
                .value_name("PATH")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("Unix socket that is the guest's COM2"),
        )
        .arg(
            Arg::new("data")
                .long("data")
                .value_name("PATH")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("Unix socket that is the guest's data door, if the machine has one"),
        )
        .arg(flag("no-agent", "Leave natural-language asks unanswered when no client takes them"))
}

#[cfg(feature = "mcp")]
pub(super) fn mcp() -> Command {
    let about = "An MCP server on stdin and stdout, for the configuration of an MCP client";
    new("mcp", about, MCP, &[Exit::Done, Exit::Failed, Exit::Usage])
        .arg(flag("boot", "Boot a guest if none runs, which ends with this server"))
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

pub(super) fn completions() -> Command {
    let shells = PossibleValuesParser::new(["bash", "zsh", "fish"]);
    let exits = [Exit::Done, Exit::Failed, Exit::Usage];
    new("completions", "Prints what makes a shell complete this program's command line", COMPLETIONS, &exits)
        .arg(Arg::new("shell").value_name("SHELL").required(true).value_parser(shells).help("Which shell"))
}
