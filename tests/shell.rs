//! The shell as a person types at it, on every kind of machine.

mod common;

use askr::{Machine, Model};
use common::shell::{Askr, PROMPT, Shared, number_after};

static GUEST: Shared = Shared::new(Machine::new);

#[test]
fn help_names_the_builtins_and_the_programs() {
    let mut askr = GUEST.take();
    let help = askr.run("help");
    for word in ["ai TEXT", "cd", "jobs", "Programs in /bin:", " ask ", " hello ", "poweroff"] {
        assert!(help.contains(word), "{word:?} in {help}");
    }
}

#[test]
fn files_are_listed_and_printed() {
    let mut askr = GUEST.take();
    let root = askr.run("ls /");
    assert_eq!(root.lines().map(str::trim_end).collect::<Vec<_>>(), ["bin", "dev", "etc", "proc", "tmp"]);
    let version = askr.run("cat /proc/version");
    assert_eq!(version, format!("Askr version {0} (#1 askr-kernel)\r\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(askr.run("cat /nothing"), "cat: /nothing: No such file or directory\r\n");
    assert_eq!(askr.status(), 1);
    assert_eq!(askr.run("nothing"), "sh: nothing: not found\r\n");
    assert_eq!(askr.status(), 127);
}

#[test]
fn the_shell_has_a_home() {
    let mut askr = GUEST.take();
    assert_eq!(askr.run("cd ~/tmp; pwd; cd ~; pwd; echo ~ $HOME"), "/tmp\r\n/\r\n/ /\r\n");
    assert_eq!(askr.run("cd /bin; cd; sh -c 'echo $PWD ~/*tc'"), "/ /etc\r\n");
}

#[test]
fn processes_are_listed_with_who_stands_behind_them() {
    let mut askr = GUEST.take();
    let ps = askr.run("ps");
    let rows: Vec<Vec<&str>> = ps.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["PID", "PPID", "PGID", "STATE", "RSS", "ORIGIN", "NAME"]);
    assert_eq!((&rows[1][..4], &rows[1][5..]), (&["1", "0", "1", "sleeping"][..], &["console", "init"][..]));
    // The shell may not have come to its wait yet.
    assert!(["sleeping", "running"].contains(&rows[2][3]), "{ps}");
    assert_eq!((rows[2][1], &rows[2][5..]), ("1", &["console", "sh"][..]));
    assert_eq!(
        (&rows[3][1..4], &rows[3][5..]),
        (&[rows[2][0], rows[3][0], "running"][..], &["console", "ps"][..])
    );
    assert!(rows[1..].iter().all(|row| row[4].ends_with('K')), "{ps}");
    assert_eq!(rows.len(), 4, "nothing is left over: {ps}");
}

#[test]
fn programs_get_their_arguments_and_give_their_status() {
    let mut askr = GUEST.take();
    let hello = askr.run("/bin/hello a b");
    assert!(number_after(&hello, "hello from pid ") > 1);
    assert!(hello.ends_with("argv[0] = /bin/hello\r\nargv[1] = a\r\nargv[2] = b\r\n"), "{hello}");
    assert_eq!(askr.run("false || echo \"two  words\" && true; echo $?"), "two  words\r\n0\r\n");
    assert_eq!(askr.run("sh -c 'exit 7'; echo $?"), "7\r\n");
}

#[test]
fn a_crash_is_reported_and_the_shell_lives() {
    let mut askr = GUEST.take();
    let crash = askr.run("/bin/crash");
    let pid = number_after(&crash, "crash[");
    assert!(crash.starts_with(&format!("crash[{pid}] ended by signal 11: page fault\r\n")), "{crash}");
    assert!(crash.contains("  write to 0x0: no memory there\r\n  rip 0000"), "{crash}");
    assert!(crash.ends_with("/bin/crash: killed by signal 11 (Segmentation fault)\r\n"), "{crash}");
    assert_eq!(askr.status(), 139);
}

#[test]
fn without_an_agent_an_ask_fails_at_once() {
    let mut askr = GUEST.take();
    // Its own patience would be 60 seconds.
    let before = askr.uptime();
    assert_eq!(
        askr.run("/bin/ask \"may I?\""),
        "ask: no agent is attached, or too many questions wait (EAGAIN)\r\n"
    );
    assert_eq!(askr.status(), 1);
    let ai = askr.run("ai what can you do");
    assert!(
        ai.starts_with(
            "ai: no agent is attached to this machine, or too many questions wait; attach one from the host"
        ),
        "{ai}"
    );
    let default = askr.run("ask -d no \"may I?\"");
    assert_eq!(
        default,
        "answer: no\r\ndecided by: default (no agent is attached, or too many questions wait)\r\n"
    );
    assert!(askr.uptime() - before < 50.0);
}

#[test]
fn ctrl_c_ends_the_program_in_front_and_nothing_else() {
    let mut askr = GUEST.take();
    // In user mode, in a sleep, in a read. The first line shows that the program's group has the terminal.
    for program in ["spin", "sleep 1000", "cat"] {
        askr.start(&format!("sh -c 'echo running; {program}'"));
        askr.expect("running\r\n");
        askr.type_bytes(b"\x03").unwrap();
        assert_eq!(askr.finish().trim_end(), "^C", "{program}");
        assert_eq!(askr.status(), 130, "{program}");
    }
    // At the prompt it drops the line that was begun.
    askr.type_bytes(b"echo not-run\x03").unwrap();
    askr.expect("^C\r\n");
    assert_eq!(askr.run("echo run"), "run\r\n");
}

#[test]
fn a_job_in_the_background_leaves_the_prompt_free() {
    let mut askr = GUEST.take();
    let pid = number_after(&askr.run("spin &"), "[1] ");
    assert_eq!(askr.run("echo here"), "here\r\n");
    assert_eq!(askr.run("jobs"), "[1] + Running  spin\r\n");
    assert_eq!(askr.run("jobs -l"), format!("[1] + {pid} Running  spin\r\n"));
    askr.type_bytes(b"\x03").unwrap();
    askr.expect("^C\r\n");
    assert!(askr.run("ps").contains(" spin\r\n"), "Ctrl-C is for the foreground only");
    assert_eq!(askr.run(&format!("kill {pid}; wait")), "[1] spin: killed by signal 15 (Terminated)\r\n");
    assert!(!askr.run("ps").contains("spin"));
}

#[test]
fn commands_are_connected_to_each_other_and_to_files() {
    let mut askr = GUEST.take();
    assert_eq!(askr.run("echo one two | cat | cat > /tmp/f; cat < /tmp/f"), "one two\r\n");
    assert_eq!(askr.run("cat /no 2>/tmp/e || cat /tmp/e"), "cat: /no: No such file or directory\r\n");
    assert_eq!(askr.run("x=$(cat /tmp/f); echo \"$x\" ${x%two}three"), "one two one three\r\n");
    assert_eq!(askr.run("cat < /no"), "sh: /no: No such file or directory\r\n");
    assert_eq!(askr.status(), 2);
    assert_eq!(askr.run("/etc"), "sh: /etc: Permission denied\r\n");
    assert_eq!(askr.status(), 126);
    // Of two descriptors the one that is wrong is named.
    assert_eq!(askr.run("echo x >&9"), "sh: 9: Bad file descriptor\r\n");
    assert_eq!(askr.run("cat 3<&9x"), "sh: 9x: Bad file descriptor\r\n");
    assert!(askr.run("sh -ez").starts_with("sh: -ez: unknown option\r\nusage: sh "));
}

#[test]
fn a_mistake_is_told_and_nothing_of_its_line_is_run() {
    let mut askr = GUEST.take();
    assert_eq!(askr.run("echo no; if true; fi"), "sh: syntax error: unexpected `fi`\r\n");
    assert_eq!(askr.status(), 2);
    let script = "printf 'echo no\\nif true\\nthen echo no\\ndone\\n' > /tmp/s; sh /tmp/s";
    assert_eq!(askr.run(script), "sh: /tmp/s: line 4: syntax error: unexpected `done`\r\n");
    assert_eq!(
        askr.run("sh -c 'echo no; ('"),
        "sh: line 1: syntax error: the text ends before a command\r\n"
    );
}

#[test]
fn a_command_goes_on_over_several_lines() {
    let mut askr = GUEST.take();
    for line in ["for i in 1 2", "do echo \"<$i", "$i>\""] {
        askr.start(line);
        askr.expect("> ");
    }
    assert_eq!(askr.run("done"), "<1\r\n1>\r\n<2\r\n2>\r\n");
    askr.start("cat <<END");
    askr.expect("> ");
    askr.start("text $((1+1))");
    askr.expect("> ");
    assert_eq!(askr.run("END"), "text 2\r\n");
    askr.start("if true");
    askr.expect("> ");
    askr.type_bytes(b"\x03").unwrap();
    askr.finish();
    assert_eq!(askr.run("echo dropped"), "dropped\r\n");
}

#[test]
fn ctrl_c_ends_loops_and_pipelines_and_what_follows_them() {
    let mut askr = GUEST.take();
    for line in [
        "echo go; while true; do :; done",
        "echo go; while true; do sleep 0.01; done; echo no",
        "echo go; sleep 1000 | cat; echo no",
        "echo go; x=$(sleep 1000); echo no",
        "echo go; (sleep 1000; echo no); echo no",
        "echo go; sleep 1000 & wait; echo no",
    ] {
        askr.start(line);
        askr.expect("go\r\n");
        askr.type_bytes(b"\x03").unwrap();
        let rest = askr.finish();
        assert!(!rest.contains("no"), "{line}: {rest}");
        assert_eq!(askr.status(), 130, "{line}");
    }
    askr.run("kill $!; wait");
}

#[test]
fn a_job_is_stopped_and_goes_on() {
    let mut askr = GUEST.take();
    askr.start("sh -c 'echo running; sleep 1000'");
    askr.expect("running\r\n");
    askr.type_bytes(b"\x1a").unwrap();
    let text = "sh -c 'echo running; sleep 1000'";
    assert!(askr.finish().ends_with(&format!("[1] {text}: stopped by signal 20 (Stopped)\r\n")));
    assert_eq!(askr.status(), 148);
    assert_eq!(askr.run("jobs"), format!("[1] + Stopped  {text}\r\n"));
    assert_eq!(askr.run("bg"), format!("[1] {text}\r\n"));
    assert_eq!(askr.run("jobs %1 2>/dev/null; jobs"), format!("[1] + Running  {text}\r\n"));
    askr.start("fg %1");
    askr.expect(&format!("{text}\r\n"));
    askr.type_bytes(b"\x03").unwrap();
    assert_eq!(askr.finish(), "^C\r\n");
    assert_eq!(askr.run("jobs"), "");
    // What reads the terminal from the background is stopped.
    askr.run("cat &");
    while !askr.run("jobs").contains("Stopped") {}
    askr.start("fg");
    askr.expect("cat\r\n");
    askr.type_bytes(b"typed\r").unwrap();
    askr.expect("typed\r\ntyped\r\n");
    askr.type_bytes(b"\x04").unwrap();
    assert_eq!(askr.finish(), "");
}

#[test]
fn tab_completes_commands_and_paths() {
    let mut askr = GUEST.take();
    askr.run("> '/tmp/tab one'; > '/tmp/tab two'");
    askr.type_bytes(b"ech\tdone\r").unwrap();
    askr.expect("echo done\r\ndone\r\n");
    askr.finish();
    askr.type_bytes(b"cat /pro\tvers\t\r").unwrap();
    askr.expect("cat /proc/version \r\nAskr version ");
    askr.finish();
    askr.type_bytes(b"echo /tmp/tab\t\t").unwrap();
    askr.expect("echo /tmp/tab\\ ");
    askr.expect("tab one  tab two\r\naskr$ echo /tmp/tab\\ ");
    askr.type_bytes(b"o\t|cat\r").unwrap();
    askr.expect("one |cat\r\n/tmp/tab one\r\n");
    askr.finish();
}

#[test]
fn ten_thousand_commands_leave_no_memory_behind() {
    let mut askr = GUEST.take();
    let mut rounds = |count: u32| {
        let shown = askr.run(&format!(
            "i=0; while [ $i -lt {count} ]; do f() {{ local z=\"$1\"; return 1; }}; f \"a $i\" || x=${{z-$i}}; \
             i=$((i+1)); done; echo $i $x"
        ));
        assert_eq!(shown, format!("{count} {}\r\n", count - 1));
        let pid = number_after(&askr.run("echo pid=$$"), "pid=");
        let free = askr.run("cat /proc/meminfo");
        (pid, number_after(&free, "MemFree:"))
    };
    let (pid, before) = rounds(100);
    let (same, after) = rounds(2_500);
    assert_eq!(pid, same, "the shell lives");
    assert!(before.saturating_sub(after) < 256, "{before} kB were free, and now {after} kB");
}

#[test]
fn what_is_typed_ahead_is_run_and_keys_erase() {
    let mut askr = GUEST.take();
    askr.type_bytes(b"sleep 0.3\recho one\recho two\r").unwrap();
    for word in ["\none\r\n", "\ntwo\r\n"] {
        askr.expect(word);
    }
    askr.finish();
    askr.type_bytes(b"echo no\x7f\x7fyes\r").unwrap();
    assert!(askr.finish().ends_with("\r\nyes\r\n"));
}

/// Boots, runs a program, and switches off; a machine that ends in another way fails.
fn boots_and_ends(machine: &Machine) {
    let mut askr = Askr::boot(machine);
    assert!(askr.run("hello").starts_with("hello from pid "));
    assert!(askr.run("cat /proc/meminfo").starts_with("MemTotal: "));
    askr.power_off();
}

#[test]
fn every_model_and_processor_boots_and_powers_off() {
    for (model, cpu) in
        [(Model::Q35, "qemu64"), (Model::Pc, "max"), (Model::Microvm, "max"), (Model::Microvm, "qemu64")]
    {
        eprintln!("{model:?}, {cpu}");
        boots_and_ends(&Machine::new().model(model).cpu(cpu));
    }
}

#[test]
fn a_reboot_resets_the_machine() {
    let mut askr = Askr::boot(&Machine::new());
    askr.start("reboot");
    assert_eq!(askr.exit(common::PATIENCE).unwrap(), askr::Exit::Reset);
}

#[test]
fn a_shell_that_ends_is_started_again() {
    let mut askr = Askr::boot(&Machine::new());
    askr.start("exit 3");
    askr.expect("init: /bin/sh ended: exit code 3");
    askr.expect(PROMPT);
    assert_eq!(askr.run("echo back"), "back\r\n");
}
