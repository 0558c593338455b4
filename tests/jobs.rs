//! Jobs: programs that an agent starts over COM2, waits for, reads from, writes to and ends.

mod common;

use askr::Machine;
use askr_wire::message::{EndCause, JobState, OutputStream};
use common::jobs::Start;
use common::peer::Peer;
use common::shell::Shared;

static GUEST: Shared = Shared::new(Machine::new);

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
    assert!(!askr.run("ps").contains("Z"), "none of them is left as a zombie");
}

#[test]
fn the_two_outputs_come_apart_while_it_runs_and_after() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let (job, _) = peer.spawn_line("echo one; echo two >&2; sleep 1; echo three");
    peer.expect_output(job, "one\n");
    assert_eq!(peer.look(job).state, JobState::Running);
    assert_eq!(peer.all_output(job, OutputStream::Stdout), (b"one\nthree\n".to_vec(), 0));
    assert_eq!(peer.all_output(job, OutputStream::Stderr), (b"two\n".to_vec(), 0));
    let waited = peer.wait(job);
    assert_eq!((waited.stdout_total, waited.stderr_total), (10, 4));
    let (job, _) = peer.spawn(Start::program("/bin/echo", &["a b", "", "c"]));
    assert_eq!(peer.all_output(job, OutputStream::Stdout).0, b"a b  c\n");
}
