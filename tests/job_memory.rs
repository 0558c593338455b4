//! Jobs on a machine whose memory is used up.

mod common;

use std::time::Instant;

use askr::Machine;
use askr_wire::message::{EndCause, JobState, KillTarget, OutputStream, StdinPolicy};
use askr_wire::status::Status;
use common::PATIENCE;
use common::jobs::Start;
use common::peer::Peer;
use common::program::program;
use common::shell::Shared;

/// The smallest machine.
static SMALL: Shared = Shared::new(|| Machine::new().memory_mib(32).with(program("job")));

/// Programs that take a MiB each; more do not fit into this machine.
const HOGS_MAX: usize = 32;

#[test]
fn a_program_is_refused_when_there_is_no_memory_and_started_when_there_is() {
    let mut askr = SMALL.take();
    let mut peer = Peer::in_session(askr.vm());
    // Alone it takes all there is.
    let (job, pid) = peer.spawn(Start::program("/bin/hog", &[]));
    let waited = peer.wait(job);
    assert_eq!(waited.end(), (JobState::Signalled, EndCause::OutOfMemory, 9));
    assert_eq!(waited.pid, pid);

    let mut hogs = Vec::new();
    let hog = Start::program("/bin/hog", &["1M"]);
    let refused = loop {
        let job = match peer.try_spawn(hog) {
            Ok((job, _)) => job,
            Err(status) => break status,
        };
        peer.expect_output(job, "taken");
        hogs.push(job);
        assert!(hogs.len() < HOGS_MAX, "there is no end to memory");
    };
    assert_eq!(refused, Status::NoMem);
    for _ in 0..50 {
        assert_eq!(peer.try_spawn(hog), Err(Status::NoMem));
    }
    assert!(askr.run("echo alive").starts_with("alive"), "the person at the shell goes on");
    let &first = hogs.first().unwrap();
    assert_eq!(peer.kill(KillTarget::Job, first, 9), Ok(1));
    assert_eq!(peer.wait(first).cause, EndCause::Killed);
    runs_again(&mut peer);
    for job in &hogs[1..] {
        assert_eq!(peer.kill(KillTarget::Job, *job, 9), Ok(1));
    }
}

/// Waits until a program can be started.
fn runs_again(peer: &mut Peer) {
    let until = Instant::now() + PATIENCE;
    let job = loop {
        if let Ok((job, _)) = peer.try_spawn(Start::program("/bin/echo", &["back"])) {
            break job;
        }
        assert!(Instant::now() < until, "memory does not come back");
    };
    assert_eq!(peer.all_output(job, OutputStream::Stdout).0, b"back\n");
}

#[test]
fn a_program_is_refused_when_the_kernel_has_no_memory_and_all_else_goes_on() {
    let mut askr = SMALL.take();
    let mut peer = Peer::in_session(askr.vm());
    let echo = Start::program("/bin/cat", &[]).reading(StdinPolicy::Open, b"before ");
    let (other, _) = peer.spawn(echo);
    peer.expect_output(other, "before ");
    let (job, _) = peer.spawn(Start::program("/bin/job", &["grab"]));
    peer.expect_output(job, "refused -12\n");
    for _ in 0..50 {
        assert_eq!(peer.try_spawn(echo), Err(Status::NoMem));
    }
    assert_eq!(peer.input(other, true, b"and meanwhile"), Ok(13));
    assert_eq!(peer.all_output(other, OutputStream::Stdout).0, b"before and meanwhile");
    assert_eq!(peer.wait(other).end(), (JobState::Exited, EndCause::Itself, 0));
    let members = peer.look(job).processes;
    assert_eq!(peer.processes().iter().filter(|process| process.job == job).count(), members as usize);
    assert!(askr.run("echo alive").starts_with("alive"));
    assert_eq!(peer.kill(KillTarget::Job, job, 9), Ok(members));
    runs_again(&mut peer);
}
