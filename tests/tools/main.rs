//! The tools in `/bin`, as people use them.

#[path = "../common/mod.rs"]
mod common;

mod files;
mod text;

use std::fs;
use std::path::Path;
use std::time::Instant;

use askr::{ExtraFile, Machine};
use common::PATIENCE;
use common::shell::{Askr, Shared, number_after};

static GUEST: Shared = Shared::new(machine);

/// Twelve lines, of which some are peculiar.
const TEXT: &str =
    "one\ntwo words\n\nfour\tfour\nFive\nsix\nseven\neight\nnine\nten\neleven\nlast without end";

fn machine() -> Machine {
    let file = |name: &str, content: &[u8]| {
        let host = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tools-{}", name.replace('/', "-")));
        fs::write(&host, content).unwrap();
        ExtraFile { host, guest: format!("/data/{name}") }
    };
    let bytes: Vec<u8> = (0..=255).chain([0; 64]).collect();
    let large: String = (0..20_000).map(|i| format!("line {i}\n")).collect();
    [
        file("text", TEXT.as_bytes()),
        file("bytes", &bytes),
        file("large", large.as_bytes()),
        file("in/deep/text", b"hidden treasure\n"),
        file("odd \x1b[31m", b"x\n"),
    ]
    .into_iter()
    .fold(Machine::new(), Machine::with)
}

/// Runs each line and compares what it shows, with `\n` for the terminal's line ends, and its exit status.
#[track_caller]
fn check(askr: &mut Askr, cases: &[(&str, &str, u64)]) {
    for (line, expected, status) in cases {
        let shown = askr.run(line).replace("\r\n", "\n");
        assert_eq!(shown, *expected, "{line}");
        assert_eq!(askr.status(), *status, "{line}");
    }
}

#[test]
fn the_machine_tells_about_itself() {
    let mut askr = GUEST.take();
    let free = askr.run("free");
    let rows: Vec<Vec<&str>> = free.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((rows[0][0], rows[1][0], rows[2][0]), ("total", "Mem:", "Heap:"));
    let number = |text: &str| text.parse::<u64>().unwrap();
    assert_eq!(number(rows[1][1]), number(rows[1][2]) + number(rows[1][3]), "{free}");
    assert!(askr.run("free -h").contains("M "));
    assert!(askr.run("uptime").contains(" up 0:"));
    check(
        &mut askr,
        &[
            ("date -d @0", "Thu Jan  1 00:00:00 UTC 1970\n", 0),
            ("date -d @1709210096 '+%F %T %j %a'", "2024-02-29 12:34:56 060 Thu\n", 0),
            (
                "date -d x",
                "date: invalid date 'x': only @SECONDS is known\nTry 'date --help' for more information.\n",
                1,
            ),
        ],
    );
    // The guest's clock is the host's.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let guest: u64 = askr.run("date +%s").trim().parse().unwrap();
    assert!(guest.abs_diff(now) < 3600, "{guest} and {now}");
    let forest = askr.run("ps -f");
    assert!(forest.contains(" init\r\n") && forest.contains(" \\_ sh\r\n"), "{forest}");
    assert!(forest.contains("     \\_ ps\r\n"), "{forest}");
    assert_eq!(askr.run("ps aux").lines().next(), askr.run("ps").lines().next());
}

#[test]
fn signals_are_sent_by_name_and_number_to_several() {
    let mut askr = GUEST.take();
    check(
        &mut askr,
        &[
            ("/bin/kill -l 9", "KILL\n", 0),
            ("/bin/kill -l TERM", "15 TERM\n", 0),
            ("/bin/kill -l 139", "SEGV\n", 0),
            ("kill -l 9 139 TERM x", "KILL\nSEGV\nTERM\nsh: kill: x: no such signal\n", 1),
            ("/bin/kill 99999 1x", "kill: (99999): No such process\nkill: 1x: not a process number\n", 1),
            (
                "/bin/kill -NOPE 1",
                "kill: NOPE: invalid signal; `kill -l` lists them\nTry 'kill --help' for more information.\n",
                1,
            ),
        ],
    );
    // The last is a group of two.
    let jobs = ["sleep infinity", "sleep infinity", "(sleep infinity; true)"];
    let pids = jobs.map(|job| number_after(&askr.run(&format!("{job} &")), "] "));
    let until = Instant::now() + PATIENCE;
    while askr.run("ps").matches(" sleep\r\n").count() < 3 {
        assert!(Instant::now() < until, "not all of them sleep");
    }
    askr.run(&format!("/bin/kill -s KILL {} -- {}; /bin/kill -9 -{}; wait", pids[0], pids[1], pids[2]));
    assert!(!askr.run("ps").contains(" sleep\r\n"));
}

#[test]
fn the_kernels_messages_and_events_can_be_read_again() {
    let mut askr = GUEST.take();
    let crash = askr.run("crash");
    let pid = number_after(&crash, "crash[");
    let messages = askr.run("dmesg");
    let line = format!("] crash[{pid}] ended by signal 11: page fault\r\n");
    let stamped = messages.lines().find(|message| message.contains(line.trim_end()));
    assert!(stamped.is_some_and(|message| message.starts_with("[ ")), "{messages}");
    let events = askr.run("events -n 12");
    for part in
        [format!("fault pid={pid} vector=14 name=crash"), format!("exit pid={pid} status=139 name=crash")]
    {
        assert!(events.contains(&part), "{part}: {events}");
    }
    // What does not fit any more is told, not dropped in silence.
    askr.run("sh -c 'for n in $(seq 520); do /bin/true; done'");
    let events = askr.run("events");
    let (lost, kept) = (number_after(&events, "lost "), events.lines().count() - 1);
    let last = number_after(events.lines().last().unwrap(), "");
    assert_eq!((kept, lost + 1023), (1024, last), "{events}");
}

#[test]
fn the_ring_of_messages_tells_what_it_lost() {
    let mut askr = GUEST.take();
    // A report of a crash is about half a KiB, and the ring has 32.
    for _ in 0..8 {
        askr.run(&"crash ud; ".repeat(12));
    }
    let messages = askr.run("dmesg");
    let first = messages.lines().next().unwrap();
    assert!(number_after(first, "[") > 0 && first.ends_with(" bytes of older messages are lost]"), "{first}");
    assert!(messages.lines().nth(1).unwrap().starts_with("[ "), "{messages}");
}

#[test]
fn hog_takes_what_it_is_told_and_gives_it_back() {
    let mut askr = GUEST.take();
    let before = number_after(&askr.run("cat /proc/meminfo"), "MemFree:");
    assert_eq!(askr.run("hog -x 20M"), "hog: 16M taken\r\nhog: 20M taken, as wanted\r\n");
    let pid = number_after(&askr.run("hog 24M &"), "] ");
    askr.expect("24M taken, as wanted\r\n");
    let during = number_after(&askr.run("cat /proc/meminfo"), "MemFree:");
    assert!(during + 24 * 1024 <= before, "{during} KiB are free, and {before} were");
    askr.run(&format!("kill {pid}; wait"));
    let after = number_after(&askr.run("cat /proc/meminfo"), "MemFree:");
    assert!(after + 512 >= before, "{} KiB are gone", before - after);
}

#[test]
fn every_tool_explains_itself() {
    let mut askr = GUEST.take();
    let programs = askr.run("ls /bin");
    // Those that are samples, or take over the machine, take no options.
    let plain = [
        "ask", "crash", "echo", "false", "hello", "init", "poweroff", "reboot", "sh", "spin", "true",
        "uname", "xmm", "test", "[",
    ];
    for name in programs.lines().map(str::trim_end).filter(|name| !plain.contains(name)) {
        let help = askr.run(&format!("/bin/{name} --help"));
        assert!(help.starts_with(&format!("usage: {name} ")) && help.contains("--help"), "{name}: {help}");
        assert_eq!(askr.status(), 0, "{name}");
    }
}

#[test]
fn what_went_wrong_is_told_apart() {
    let mut askr = GUEST.take();
    askr.run("/bin/true; /bin/false; crash; echo fine");
    let failures = askr.run("events -x -n 3");
    let kinds: Vec<&str> = failures.lines().map(|line| line.trim_end().rsplit(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["name=false", "name=crash", "name=crash"], "{failures}");
}
