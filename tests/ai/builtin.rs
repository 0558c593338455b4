//! The built-in agent, from the phrase to what the guest does.

use askr::Machine;

use serde_json::json;

use crate::common::bridge::{call, hub_on};
use crate::common::shell::{Askr, number_after};

#[test]
fn a_day_with_the_built_in_agent() {
    let mut askr = Askr::boot(&Machine::new());
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let _hub = hub_on(askr.vm(), &socket, true);

    // Looking needs no yes.
    let memory = askr.run("ai how much memory is free?");
    assert!(memory.starts_with("+ free -h\r\n") && memory.contains("Mem:"), "{memory}");
    let space = askr.run("ai 还有多少空间");
    assert!(space.starts_with("+ df -h\r\n") && space.contains("SIZE"), "{space}");
    let motd = askr.run("ai show /etc/motd");
    assert_eq!(motd, format!("+ cat /etc/motd\r\n{}(decided by: agent)\r\n", askr.run("cat /etc/motd")));

    // Changing does.
    askr.start("ai make a directory \"/tmp/my files\"");
    askr.expect("  1. run: mkdir '/tmp/my files'\r\ndo it? [y/N] ");
    askr.type_line("y").unwrap();
    askr.expect("(decided by: agent)\r\n");
    askr.settle();
    askr.run("cd '/tmp/my files'; touch a b c");
    let counted = askr.run("ai how many files are here");
    assert!(counted.contains("There are 3 entries here.\r\n(decided by: agent)"), "{counted}");
    let found = askr.run("ai find a file named b in /tmp");
    assert!(found.contains("/tmp/my files/b\r\n"), "{found}");
    askr.run("cd /");

    // With results: who is it, and why did it fail.
    let pid = number_after(&askr.run("sleep 1000 &"), "] ");
    askr.start("ai stop sleep");
    askr.expect(&format!("  1. run: kill {pid}\r\ndo it? [y/N] "));
    askr.type_line("y").unwrap();
    askr.expect("(decided by: agent)\r\n");
    askr.settle();
    askr.run("wait; crash");
    let why = askr.run("ai what failed last and why?");
    assert!(why.contains("\r\ncrash (process ") && why.contains("because of a page fault"), "{why}");
    let most = askr.run("ai 什么在占用内存");
    assert!(most.contains("\r\nMost memory has "), "{most}");

    // Deleting is never guessed at, and what is not known is said.
    let all = askr.run("ai delete everything");
    assert!(all.starts_with("I do not guess at what to delete."), "{all}");
    let poem = askr.run("ai write a poem");
    assert!(poem.contains("no language model") && poem.contains("ai config provider"), "{poem}");
}

/// What README.md shows in the guest and from the host.
#[test]
fn the_tour_fits_into_32_mebibytes() {
    let mut askr = Askr::boot(&Machine::new().memory_mib(32));
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let _hub = hub_on(askr.vm(), &socket, true);

    for (line, shows) in [
        ("help", "poweroff"),
        ("ls /", "proc"),
        ("cat /proc/version", "Askr version "),
        ("ps", " sh"),
        ("/bin/hello a b", "argv[2] = b"),
        ("/bin/crash", "page fault"),
        ("ai what is using memory", "Most memory has "),
    ] {
        let shown = askr.run(line);
        assert!(shown.contains(shows), "{line}: {shown}");
    }
    let version = call(&socket, json!({ "op": "fs.read", "path": "/proc/version" })).unwrap();
    assert!(version["content"].as_str().unwrap().starts_with("Askr version "), "{version}");
    let run = json!({ "op": "proc.run", "argv": ["sh", "-c", "echo hello from $PWD"] });
    assert_eq!(call(&socket, run).unwrap()["stdout"]["content"], "hello from /\n");

    askr.start("/bin/ask \"may I?\"");
    let asks = call(&socket, json!({ "op": "asks.wait", "wait_ms": 60_000 })).unwrap();
    let answer = json!({ "op": "ask.answer", "ask": asks["asks"][0]["ask"], "answer": "yes" });
    call(&socket, answer).unwrap();
    askr.expect("decided by: agent");
    askr.settle();
}
