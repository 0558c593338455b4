//! Jobs: programs that an agent starts over COM2, waits for and ends.

mod common;

use std::time::{Duration, Instant};

use askr::Machine;
use askr_wire::code;
use askr_wire::message::{
    EndCause, JobState, KillTarget, OutputStream, ProcessOrigin, StdinPolicy, TaskState, WriteMode,
    WriteRequest,
};
use askr_wire::status::Status;
use common::PATIENCE;
use common::jobs::{Start, wait_bytes};
use common::peer::{Peer, bytes};
use common::program::program;
use common::shell::Shared;

static GUEST: Shared = Shared::new(|| Machine::new().with(program("job")));

/// A part of `job.c`.
const fn part<'a>(arguments: &'a [&'a str]) -> Start<'a> {
    Start::program("/bin/job", arguments)
}

#[test]
fn exit_codes_and_signals_are_those_of_the_program() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for code in (0..40).chain([127, 128, 255]) {
        let (job, pid) = peer.spawn_line(&format!("exit {code}"));
        let waited = peer.wait(job);
        assert_eq!(waited.end(), (JobState::Exited, EndCause::Itself, code), "job {job}");
        assert_eq!((waited.pid, waited.processes, waited.fault), (pid, 0, None));
    }
    let (job, _) = peer.spawn_line("kill -TERM $$");
    assert_eq!(peer.wait(job).end(), (JobState::Signalled, EndCause::Itself, 15));
    assert_eq!(
        peer.call(code::WAIT, &wait_bytes(job - 40, 0)).0,
        Status::Srch,
        "only the last ones are known"
    );
    assert_eq!(peer.call(code::WAIT, &wait_bytes(job + 1, 0)).0, Status::Srch);
    let zombies = |peer: &mut Peer| {
        peer.processes().into_iter().filter(|process| process.state == TaskState::Zombie).collect::<Vec<_>>()
    };
    assert_eq!(zombies(&mut peer), []);
}

#[test]
fn a_program_gets_its_arguments_environment_and_directory_and_nothing_else() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let line = r#"echo "$0|$1|$2|$A|$PATH|"; pwd; umask; read end"#;
    let arguments = ["-c", line, "x y", "", "z"];
    let start = Start { env: &["A=b c", "PATH=/bin"], cwd: "/tmp", ..Start::program("/bin/sh", &arguments) };
    let (job, pid) = peer.spawn(start.reading(StdinPolicy::Open, b""));
    let me = peer.processes().into_iter().find(|process| process.pid == pid).unwrap();
    assert_eq!(peer.input(job, false, b"end\n"), Ok(4));
    let (output, _) = peer.all_output(job, OutputStream::Stdout);
    assert_eq!(String::from_utf8(output).unwrap(), "x y||z|b c|/bin|\n/tmp\n0022\n");
    assert_eq!((me.parent, me.group, me.job, me.origin), (0, pid, job, ProcessOrigin::Agent));
    assert_eq!(me.name, "sh");
}

#[test]
fn what_cannot_be_started_says_why_and_leaves_nothing() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let files: [(&str, &[u8]); 5] = [
        ("/tmp/data", b"data"),
        ("/tmp/words", b"words\n"),
        ("/tmp/script", b"#!/bin/echo of the script\n"),
        ("/tmp/lost", b"#!/bin/nothing\n"),
        ("/tmp/cut", b"\x7fELF\x02\x01\x01"),
    ];
    for (path, data) in files {
        peer.ok(code::WRITE, &bytes(&WriteRequest { mode: WriteMode::Replace, path: path.as_bytes(), data }));
    }
    askr.run("chmod 755 /tmp/words /tmp/script /tmp/lost /tmp/cut");
    let first = peer.spawn_line("true").0;
    for (path, cwd, output_limit, wanted) in [
        ("/bin/nothing", "", 0, Status::NoEnt),
        ("/tmp/data", "", 0, Status::Acces),
        ("/tmp", "", 0, Status::Acces),
        ("/tmp/words", "", 0, Status::NoExec),
        ("/tmp/cut", "", 0, Status::NoExec),
        ("/tmp/lost", "", 0, Status::NoEnt),
        ("/bin/sh/x", "", 0, Status::NotDir),
        ("/bin/true", "/nothing", 0, Status::NoEnt),
        ("/bin/true", "/bin/sh", 0, Status::NotDir),
        ("/bin/true", "", (1 << 20) + 1, Status::Inval),
        ("true", "", 0, Status::Inval),
        ("/bin/true", "tmp", 0, Status::Inval),
    ] {
        let start = Start { cwd, output_limit, ..Start::program(path, &[]) };
        assert_eq!(peer.try_spawn(start), Err(wanted), "{path} in {cwd:?}");
    }
    assert_eq!(peer.spawn_line("true").0, first + 1, "a job is only what has started");
    let (job, _) = peer.spawn(Start::program("/tmp/script", &["a"]));
    assert_eq!(peer.all_output(job, OutputStream::Stdout).0, b"of the script /tmp/script a\n");
}

#[test]
fn a_request_that_comes_twice_starts_one_program() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let (before, _) = peer.spawn_line("true");
    let (seq, frame) = peer.make(peer.session(), code::SPAWN, &Start::program("/bin/true", &[]).bytes());
    peer.send_raw(&frame);
    peer.send_raw(&frame);
    let first = peer.response(seq, code::SPAWN);
    peer.send_raw(&frame);
    assert_eq!(peer.response(seq, code::SPAWN), first);
    assert_eq!(peer.spawn_line("true").0, before + 2);
}

/// The names and sizes of all programs, and the facts of one of them.
fn programs(peer: &mut Peer) -> Vec<Vec<u8>> {
    let pages = (0_u32..8).map(|page| [&(16 * page).to_le_bytes()[..], b"/bin"].concat());
    let mut all: Vec<_> = pages.map(|request| peer.ok(code::LIST, &request)).collect();
    assert!(all[0].len() > 100 && all[7] == [0, 0], "eight pages are all of it");
    all.push(peer.ok(code::STAT, b"/bin/sh"));
    all
}

#[test]
fn a_program_of_the_agents_changes_no_program_and_gets_no_terminal() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let before = programs(&mut peer);
    for line in [
        "echo x > /bin/x",
        "echo x >> /bin/sh",
        "cp /bin/ls /bin/x",
        "cp /bin/ls /bin/sh",
        "ln -s /bin /tmp/b && echo x > /tmp/b/x",
        "ln -s /bin/sh /tmp/s && echo x > /tmp/s",
        "ln /bin/sh /tmp/hard",
        "mv /bin/sh /tmp/sh",
        "rm /bin/sh",
        "mkdir /bin/d",
        "chmod 0 /bin/sh",
        "cd /bin && echo x > x",
        "sh -c 'echo x > /bin/x & wait $!'",
        "kill -9 1",
    ] {
        let (job, _) = peer.spawn_line(line);
        let waited = peer.wait(job);
        let (complaint, _) = peer.all_output(job, OutputStream::Stderr);
        assert_ne!(waited.code, 0, "{line}");
        let complaint = String::from_utf8(complaint).unwrap();
        assert!(complaint.contains("not permitted"), "{line}: {complaint}");
    }
    assert_eq!(programs(&mut peer), before);
    let (job, _) = peer.spawn(part(&["y"]));
    let (shown, _) = peer.all_output(job, OutputStream::Stdout);
    assert_eq!(String::from_utf8(shown).unwrap(), "open 1\ntake it -1\nsteal it -1\nread -5\n");
}

#[test]
fn processes_come_by_pid_with_the_time_that_they_took() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let (job, pid) =
        peer.spawn_line("i=0; while [ $i -lt 150 ]; do sleep 100 & i=$((i+1)); done; echo all; wait");
    peer.expect_output(job, "all\n");
    let all = peer.processes();
    assert!(all.is_sorted_by(|one, other| one.pid < other.pid));
    assert_eq!(all[0].pid, 1);
    assert_eq!(all.iter().filter(|process| process.job == job).count(), 151);
    assert_eq!(all.iter().filter(|process| process.parent == pid).count(), 150);
    assert!(
        all.iter().filter(|process| process.job == 0).all(|process| process.origin == ProcessOrigin::Console)
    );
    assert!(all.iter().all(|process| process.memory > 0 && process.age_ns > 0));
    assert_eq!(peer.kill(KillTarget::Job, job, 9), Ok(151));
    peer.wait_for_processes(job, 0);

    let (burning, burner) = peer.spawn(part(&["b", "3000"]));
    let time =
        |peer: &mut Peer| peer.processes().iter().find(|process| process.pid == burner).unwrap().cpu_ns;
    let (one, other) = (time(&mut peer), time(&mut peer));
    let waited = peer.wait(burning);
    assert!(one <= other && other <= waited.cpu_ns, "{one} {other} {waited:?}");
    assert!(waited.cpu_ns >= 2_000_000_000, "{waited:?}, and nobody else computes");
    assert_eq!(peer.look(burning).cpu_ns, waited.cpu_ns, "what has ended computes no more");
    let (idle, _) = peer.spawn(part(&["holding"]));
    peer.expect_output(idle, "holding\n");
    std::thread::sleep(Duration::from_secs(1));
    let used = peer.look(idle).cpu_ns;
    assert!((1..500_000_000).contains(&used), "{used} ns, and it only waited");
    assert_eq!(peer.kill(KillTarget::Job, idle, 19), Ok(1));
    let until = Instant::now() + PATIENCE;
    while !peer.processes().iter().any(|process| process.job == idle && process.state == TaskState::Stopped) {
        assert!(Instant::now() < until, "it does not stop");
    }
    assert_eq!(peer.kill(KillTarget::Job, idle, 9), Ok(1));
    assert_eq!(peer.wait(idle).end(), (JobState::Signalled, EndCause::Killed, 9));
    let (job, _) = peer.spawn(part(&["usage"]));
    let (told, _) = peer.all_output(job, OutputStream::Stdout);
    let told = String::from_utf8(told).unwrap();
    let wanted = [
        "child 1",
        "children 0",
        "the same 1",
        "times 1",
        "the same 1",
        "not its own 1",
        "self 0",
        "its own 1",
        "who -22",
        "sleep by it -22",
    ];
    assert_eq!(told.lines().collect::<Vec<_>>(), wanted);
}
