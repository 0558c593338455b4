//! `ps [-f]`: all processes, from `/proc/<pid>/status`; with `-f` each below its parent.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag};
use askr_userland::number::{Human, parse_u64};
use askr_userland::procfs::{self, Process};
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, io, println};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "ps",
    operands: "",
    about: "Lists all processes: number, parent, group, state, memory, for whom it works, program.",
    flags: &[
        flag(b'f', "forest", "each below its parent"),
        flag(b'e', "", "nothing: all are listed"),
        flag(b'A', "", "nothing: all are listed"),
        flag(b'a', "", "nothing: all are listed"),
        flag(b'x', "", "nothing: all are listed"),
        flag(b'u', "", "nothing: there is one user"),
    ],
};

/// Most of a status file that is read, in bytes.
const FILE_MAX: usize = 64 * 1024;

/// A line about a process, all but its name.
struct Row {
    pid: u64,
    parent: u64,
    facts: String,
    name: String,
}

fn main(args: Args) -> i32 {
    // `ps aux` is the way of the BSDs, without a dash.
    let arguments: Vec<Vec<u8>> = args.rest().iter().map(|argument| dashed(argument)).collect();
    let arguments: Vec<&'static [u8]> = arguments.into_iter().map(|argument| &*argument.leak()).collect();
    let given = tool::read_arguments(&SYNTAX, &arguments, 1);
    if let Some(more) = given.operands.first() {
        misuse(&SYNTAX, 1, format_args!("extra operand '{}'", Bytes(more)));
    }
    let outcome = Outcome::new();
    let names = match io::list_directory(b"/proc") {
        Ok(names) => names,
        Err(errno) => {
            outcome.complain_of(b"/proc", errno);
            return outcome.status();
        }
    };
    let mut pids: Vec<u64> = names.iter().filter_map(|name| parse_u64(name)).collect();
    pids.sort_unstable();
    let rows: Vec<Row> = pids.into_iter().filter_map(|pid| row(pid, &outcome)).collect();
    println!("{:>5} {:>5} {:>5} {:<8} {:>5} {:<10} NAME", "PID", "PPID", "PGID", "STATE", "RSS", "ORIGIN");
    if given.has(b'f') {
        // Those without a parent here begin a tree.
        let is_root = |row: &&Row| !rows.iter().any(|other| other.pid == row.parent);
        rows.iter().filter(is_root).for_each(|row| print_tree(row, &rows, 0));
    } else {
        rows.iter().for_each(|row| println!("{} {}", row.facts, row.name));
    }
    outcome.status()
}

fn dashed(argument: &[u8]) -> Vec<u8> {
    let bare = !argument.is_empty() && argument.iter().all(|letter| b"aefuxA".contains(letter));
    [if bare { &b"-"[..] } else { b"" }, argument].concat()
}

/// `None` if the process has ended since the directory was read.
fn row(pid: u64, outcome: &Outcome) -> Option<Row> {
    let path = format!("/proc/{pid}/status");
    let text = match io::read_file(path.as_bytes(), FILE_MAX) {
        Ok(text) => text,
        Err(Errno::ENOENT | Errno::ESRCH) => return None,
        Err(errno) => {
            outcome.complain_of(path.as_bytes(), errno);
            return None;
        }
    };
    let process = Process::parse(&text);
    // A letter and, in brackets, the word for it.
    let state = process.state.splitn(2, |byte| *byte == b'(').nth(1).unwrap_or(process.state);
    let state = state.strip_suffix(b")").unwrap_or(state);
    let resident = procfs::bytes(process.resident).map_or("?".to_string(), |bytes| Human(bytes).to_string());
    // Padding needs finished strings.
    let [parent, group, state, origin, name] =
        [process.parent, process.group, state, process.origin, process.name]
            .map(|text| Bytes(text).to_string());
    let facts = format!("{pid:>5} {parent:>5} {group:>5} {state:<8} {resident:>5} {origin:<10}");
    Some(Row { pid, parent: parse_u64(process.parent).unwrap_or(0), facts, name })
}

/// A process has a greater number than its parent only until the numbers begin again, so the depth bounds the way down.
fn print_tree(row: &Row, rows: &[Row], depth: usize) {
    let mark = if depth > 0 { "\\_ " } else { "" };
    println!("{} {:indent$}{mark}{}", row.facts, "", row.name, indent = 4 * depth.saturating_sub(1));
    if depth < rows.len() {
        let children = rows.iter().filter(|child| child.parent == row.pid && child.pid != row.pid);
        children.for_each(|child| print_tree(child, rows, depth + 1));
    }
}
