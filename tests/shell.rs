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
    assert_eq!(askr.run("nothing"), "sh: nothing: command not found\r\n");
    assert_eq!(askr.status(), 127);
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
    assert!(crash.contains("  write to 0x0: not allowed\r\n  rip 0000"), "{crash}");
    assert!(crash.ends_with("/bin/crash: killed by signal 11 (Segmentation fault)\r\n"), "{crash}");
    assert_eq!(askr.status(), 139);
}

#[test]
fn without_an_agent_an_ask_fails_at_once() {
    let mut askr = GUEST.take();
    // Its own patience would be 60 seconds.
    let before = askr.uptime();
    assert_eq!(askr.run("/bin/ask \"may I?\""), "ask: no agent is attached (EAGAIN)\r\n");
    assert_eq!(askr.status(), 1);
    let ai = askr.run("ai what can you do");
    assert!(ai.starts_with("ai: no agent is attached to this machine; attach one from the host"), "{ai}");
    let default = askr.run("ask -d no \"may I?\"");
    assert_eq!(default, "answer: no\r\ndecided by: default (no agent is attached)\r\n");
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
    assert_eq!(askr.run("jobs"), format!("[1] {pid} spin\r\n"));
    askr.type_bytes(b"\x03").unwrap();
    askr.expect("^C\r\n");
    assert!(askr.run("ps").contains(" spin\r\n"), "Ctrl-C is for the foreground only");
    assert_eq!(askr.run(&format!("kill {pid}; wait")), "[1] spin: killed by signal 15 (Terminated)\r\n");
    assert!(!askr.run("ps").contains("spin"));
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
