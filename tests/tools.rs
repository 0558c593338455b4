//! The tools in `/bin`, as people use them.

mod common;

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
fn files_are_printed_counted_and_cut() {
    let mut askr = GUEST.take();
    let end = "last without end";
    check(
        &mut askr,
        &[
            ("head -n 2 /data/text", "one\ntwo words\n", 0),
            ("head -1 /data/text", "one\n", 0),
            ("head -c 5 /data/text; echo", "one\nt\n", 0),
            (
                "head -n1 /data/text /data/in/deep/text",
                "==> /data/text <==\none\n\n==> /data/in/deep/text <==\nhidden treasure\n",
                0,
            ),
            (
                "head -n x /data/text",
                "head: invalid number of lines: 'x'\nTry 'head --help' for more information.\n",
                1,
            ),
            ("tail -n 2 /data/text; echo", &format!("eleven\n{end}\n"), 0),
            ("tail -c 3 /data/text; echo", "end\n", 0),
            ("tail -n +11 /data/text; echo", &format!("eleven\n{end}\n"), 0),
            ("tail -n 2 /data/large", "line 19998\nline 19999\n", 0),
            ("wc /data/text", "     11      15      78 /data/text\n", 0),
            ("wc -l /data/large", "20000 /data/large\n", 0),
            (
                "wc -c /data/bytes /nothing",
                "    320 /data/bytes\nwc: /nothing: No such file or directory\n    320 total\n",
                1,
            ),
            ("cat -n /data/in/deep/text", "     1\thidden treasure\n", 0),
            (
                "cat /nothing /data/in/deep/text",
                "cat: /nothing: No such file or directory\nhidden treasure\n",
                1,
            ),
            ("cat /data", "cat: /data: Is a directory\n", 1),
            ("cat --nope", "cat: unrecognized option '--nope'\nTry 'cat --help' for more information.\n", 1),
        ],
    );
}

#[test]
fn files_are_copied_moved_and_removed() {
    let mut askr = GUEST.take();
    check(
        &mut askr,
        &[
            ("mkdir /tmp/a /tmp/a/b; mkdir -p /tmp/a/b/c/d /tmp/a/b", "", 0),
            ("mkdir /tmp/a", "mkdir: cannot create directory '/tmp/a': File exists\n", 1),
            ("mkdir /tmp/x/y", "mkdir: cannot create directory '/tmp/x/y': No such file or directory\n", 1),
            ("cp /data/bytes /data/text /tmp/a; ls /tmp/a", "b\nbytes\ntext\n", 0),
            ("cp /data/large /tmp/a/b/c/d/large; wc -c /tmp/a/b/c/d/large", "208890 /tmp/a/b/c/d/large\n", 0),
            ("ln -s ../text /tmp/a/b/link; readlink /tmp/a/b/link", "../text\n", 0),
            ("cp /tmp/a /tmp/z", "cp: -r not specified; omitting directory '/tmp/a'\n", 1),
            (
                "cp /data/text /data/bytes /tmp/none",
                "cp: target '/tmp/none': No such file or directory\nTry 'cp --help' for more information.\n",
                1,
            ),
            ("cp /nothing /tmp", "cp: cannot stat '/nothing': No such file or directory\n", 1),
            (
                "cp /tmp/a/text /tmp/a/../a/text",
                "cp: '/tmp/a/text' and '/tmp/a/../a/text' are the same file\n",
                1,
            ),
            (
                "cp -r /tmp/a /tmp/a/b/inside",
                "cp: cannot copy a directory, '/tmp/a/b/inside', into itself\n",
                1,
            ),
            (
                "rm -r /tmp/a/b/inside; cp -r /tmp/a /tmp/copy; ls -R /tmp/copy",
                "/tmp/copy:\nb\nbytes\ntext\n\n/tmp/copy/b:\nc\nlink\n\n/tmp/copy/b/c:\nd\n\n/tmp/copy/b/c/d:\nlarge\n",
                0,
            ),
            (
                "hexdump -n 4 -C /tmp/copy/bytes; head -1 /tmp/copy/b/link",
                "00000000  00 01 02 03                                       |....|\n00000004\none\n",
                0,
            ),
            (
                "mv /tmp/copy/text /tmp/copy/b/renamed; ls /tmp/copy /tmp/copy/b",
                "/tmp/copy:\nb\nbytes\n\n/tmp/copy/b:\nc\nlink\nrenamed\n",
                0,
            ),
            (
                "mv /tmp/copy /tmp/copy/b",
                "mv: cannot move '/tmp/copy' to a subdirectory of itself, '/tmp/copy/b/copy'\n",
                1,
            ),
            ("mv /nothing /tmp", "mv: cannot stat '/nothing': No such file or directory\n", 1),
            ("mv -n /data/large /tmp/copy/bytes; wc -c /tmp/copy/bytes", "320 /tmp/copy/bytes\n", 0),
            ("rmdir /tmp/copy", "rmdir: failed to remove '/tmp/copy': Directory not empty\n", 1),
            ("rm /tmp/copy", "rm: cannot remove '/tmp/copy': Is a directory\n", 1),
            ("rm /nothing", "rm: cannot remove '/nothing': No such file or directory\n", 1),
            ("rm -f /nothing", "", 0),
            (
                "rm -r /tmp/copy/.",
                "rm: refusing to remove '.' or '..' directory: skipping '/tmp/copy/.'\n",
                1,
            ),
            ("rm -rf /", "rm: it is dangerous to operate recursively on '/'\n", 1),
            ("rm -rf /bin/..", "rm: refusing to remove '.' or '..' directory: skipping '/bin/..'\n", 1),
            ("rm -r /tmp/a /tmp/copy; ls /tmp", "", 0),
            (
                "mkdir -p /tmp/p/q/r; touch /tmp/p/f; rmdir -p /tmp/p/q/r; rm -r /tmp/p",
                "rmdir: failed to remove '/tmp/p': Directory not empty\n",
                0,
            ),
            (
                "touch /tmp/new /tmp/old; rm -v /tmp/new /tmp/old",
                "removed '/tmp/new'\nremoved '/tmp/old'\n",
                0,
            ),
            ("touch -c /tmp/none; ls /tmp", "", 0),
            (
                "echo 'echo ran $1' > /tmp/s; /tmp/s; chmod -v u+x /tmp/s && /tmp/s well; rm /tmp/s",
                "sh: /tmp/s: Permission denied\nmode of '/tmp/s' is 0744\nran well\n",
                0,
            ),
            (
                "touch /tmp/s; chmod 755 /tmp/s; chmod -x -v /tmp/s; chmod -v -wx,u+w /tmp/s; rm /tmp/s",
                "mode of '/tmp/s' is 0644\nmode of '/tmp/s' is 0644\n",
                0,
            ),
            ("chmod 9 /tmp", "chmod: invalid mode: '9'\nTry 'chmod --help' for more information.\n", 1),
            ("chmod +x /none", "chmod: cannot access '/none': No such file or directory\n", 1),
            (
                "cp /data/text /proc/version",
                "cp: cannot create regular file '/proc/version': Read-only file system\n",
                1,
            ),
        ],
    );
}

#[test]
fn what_leaves_a_file_system_is_copied_and_removed() {
    let mut askr = GUEST.take();
    // /dev takes no files, so the move fails and the source stays whole.
    let shown = askr.run("mkdir /tmp/m; cp /data/text /tmp/m; mv /tmp/m/text /dev/text");
    assert!(shown.starts_with("mv: cannot create regular file '/dev/text': "), "{shown}");
    assert_eq!(askr.status(), 1);
    assert_eq!(askr.run("wc -l /tmp/m/text; rm -r /tmp/m"), "11 /tmp/m/text\r\n");
}

#[test]
fn lines_are_put_in_order_and_numbers_counted_off() {
    let mut askr = GUEST.take();
    check(
        &mut askr,
        &[
            ("sort -r /data/in/deep/text /data/in/deep/text", "hidden treasure\nhidden treasure\n", 0),
            ("sort -u /data/in/deep/text /data/in/deep/text", "hidden treasure\n", 0),
            ("seq 3", "1\n2\n3\n", 0),
            ("seq 5 -2 0", "5\n3\n1\n", 0),
            ("seq x", "seq: invalid number 'x'\nTry 'seq --help' for more information.\n", 1),
        ],
    );
}

#[test]
fn patterns_find_their_lines() {
    let mut askr = GUEST.take();
    check(
        &mut askr,
        &[
            ("grep -n five /data/text", "", 1),
            ("grep -in five /data/text", "5:Five\n", 0),
            ("grep -c e /data/text", "8\n", 0),
            ("grep -vc e /data/text", "4\n", 0),
            ("grep -x six /data/text", "six\n", 0),
            ("grep '^t' /data/text", "two words\nten\n", 0),
            ("grep -E '^(ten|two).*s?$' /data/text", "two words\nten\n", 0),
            ("grep -o 'e[a-z]*n' /data/text", "even\nen\neleven\nen\n", 0),
            ("grep -w word /data/text", "", 1),
            ("grep -rl treasure /data", "/data/in/deep/text\n", 0),
            ("grep -r treasure /data/in", "/data/in/deep/text:hidden treasure\n", 0),
            ("grep -q one /data/text", "", 0),
            ("grep one /nothing", "grep: /nothing: No such file or directory\n", 2),
            ("grep -s one /nothing", "", 2),
            ("grep '[' /data/text", "grep: unmatched [\nTry 'grep --help' for more information.\n", 2),
        ],
    );
}

#[test]
fn bytes_are_shown_as_the_host_shows_them() {
    let mut askr = GUEST.take();
    for line in ["hexdump -C", "hexdump", "hexdump -n 20", "hexdump -s 250 -n 30 -C"] {
        let host = std::process::Command::new("hexdump")
            .args(line.split(' ').skip(1))
            .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools-bytes"))
            .output();
        let Ok(host) = host.map(|output| String::from_utf8(output.stdout).unwrap()) else {
            return eprintln!("this host has no hexdump to compare with");
        };
        let shown = askr.run(&format!("{line} /data/bytes")).replace("\r\n", "\n");
        assert_eq!(shown, host, "{line}");
    }
}

#[test]
fn echo_obeys_what_it_is_told() {
    let mut askr = GUEST.take();
    check(
        &mut askr,
        &[
            (r"/bin/echo -n a; /bin/echo b", "ab\n", 0),
            (r"/bin/echo -e 'a\tb\x41'", "a\tbA\n", 0),
            (r"/bin/echo 'a\tb'", "a\\tb\n", 0),
            (r"/bin/echo -x -- a", "-x -- a\n", 0),
        ],
    );
}

#[test]
fn directories_are_listed_in_many_ways() {
    let mut askr = GUEST.take();
    check(
        &mut askr,
        &[
            ("ls /data/in", "deep\n", 0),
            ("ls -d /data/in", "/data/in\n", 0),
            ("ls -F /data/in", "deep/\n", 0),
            ("ls -R /data/in", "/data/in:\ndeep\n\n/data/in/deep:\ntext\n", 0),
            ("ls -A1r /data/in/deep /data/text", "/data/text\n\n/data/in/deep:\ntext\n", 0),
            ("ls -C /dev", "console  full  null  random  tty  urandom  zero\n", 0),
            ("ls /nothing", "ls: cannot access '/nothing': No such file or directory\n", 2),
        ],
    );
    let shown = askr.run("ls /data");
    assert!(shown.contains("odd \\u{1b}[31m\r\n") && !shown.contains('\u{1b}'), "{shown:?}");
    let long = askr.run("ls -l /data/bytes /dev/null /bin");
    assert!(long.contains("crw-rw-rw-  1 root root 1, 3 "), "{long}");
    assert!(long.contains(" 320 20") || long.contains(" 320 1970"), "{long}");
    assert!(long.contains("\r\n/bin:\r\ntotal ") && long.contains(" grep\r\n"), "{long}");
    assert!(askr.run("ls -lh /bin/grep").contains("K "), "sizes for people");
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
fn files_are_found_by_name_and_kind() {
    let mut askr = GUEST.take();
    askr.run("mkdir -p /tmp/f/b/c; touch /tmp/f/one.txt /tmp/f/b/two.txt /tmp/f/b/c/other; ln -s one.txt /tmp/f/link");
    check(
        &mut askr,
        &[
            ("find /tmp/f -name '*.txt'", "/tmp/f/b/two.txt\n/tmp/f/one.txt\n", 0),
            ("find /tmp/f -type d", "/tmp/f\n/tmp/f/b\n/tmp/f/b/c\n", 0),
            ("find /tmp/f -type l -name 'l?nk'", "/tmp/f/link\n", 0),
            ("cd /tmp/f/b; find; cd /", ".\n./c\n./c/other\n./two.txt\n", 0),
            (
                "find /tmp/f/one.txt /nowhere",
                "/tmp/f/one.txt\nfind: /nowhere: No such file or directory\n",
                1,
            ),
        ],
    );
    assert!(askr.run("find /tmp -delete").starts_with("find: '-delete' cannot be used so\r\nusage: find"));
    assert_eq!(askr.status(), 1);
    askr.run("rm -r /tmp/f");
}

#[test]
fn room_on_file_systems_is_shown() {
    let mut askr = GUEST.take();
    let free = |shown: &str| -> u64 {
        let root = shown.lines().find(|line| line.trim_end().ends_with(" /")).unwrap();
        root.split_whitespace().nth(2).unwrap().parse().unwrap()
    };
    let before = free(&askr.run("df"));
    askr.run("cat /data/large /data/large /data/large > /tmp/full");
    let after = free(&askr.run("df"));
    // Three files of 218 KiB.
    assert!(before - after >= 640, "{before} KiB, then {after}");
    assert!(askr.run("df -h /tmp").contains("% /tmp") || askr.run("df -h /tmp").contains("%  /tmp"));
    askr.run("rm /tmp/full");
    assert!(askr.run("df /nowhere").contains("df: /nowhere: No such file or directory"));
}

#[test]
fn what_went_wrong_is_told_apart() {
    let mut askr = GUEST.take();
    askr.run("/bin/true; /bin/false; crash; echo fine");
    let failures = askr.run("events -x -n 3");
    let kinds: Vec<&str> = failures.lines().map(|line| line.trim_end().rsplit(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["name=false", "name=crash", "name=crash"], "{failures}");
}
