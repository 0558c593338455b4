//! How jobs end: by their deadline, by a signal, by a fault; and who waits for that.

mod common;

use std::time::{Duration, Instant};

use askr::Machine;
use askr_wire::message::{EndCause, JobState, KillTarget, OutputStream, StdinPolicy};
use askr_wire::status::Status;
use askr_wire::{FrameType, code};
use common::jobs::{LONG, Start, Waited, wait_bytes};
use common::peer::Peer;
use common::program::program;
use common::shell::Shared;

static GUEST: Shared = Shared::new(|| Machine::new().with(program("job")));

/// A part of `job.c`.
const fn part<'a>(arguments: &'a [&'a str]) -> Start<'a> {
    Start::program("/bin/job", arguments)
}

#[test]
fn a_deadline_ends_whoever_ignores_signals_and_whoever_hides() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let until = Instant::now() + Duration::from_millis(1500);
    let (deaf, _) = peer.spawn(Start { timeout_ms: 1500, ..part(&["deaf"]) });
    peer.expect_output(deaf, "deaf\n");
    assert_eq!(peer.kill(KillTarget::Job, deaf, 15), Ok(1));
    assert_eq!(peer.wait(deaf).end(), (JobState::Signalled, EndCause::Deadline, 9));
    assert!(Instant::now() >= until);

    let (job, _) = peer.spawn(Start { timeout_ms: 3000, ..part(&["orphan"]) });
    let waited = peer.wait(job);
    assert_eq!((waited.end(), waited.processes > 0), ((JobState::Exited, EndCause::Itself, 7), true));
    peer.expect_output(job, "orphan\n");
    let hidden: Vec<_> = peer.processes().into_iter().filter(|process| process.job == job).collect();
    assert!(hidden.iter().any(|process| process.parent == 1 && process.group != waited.pid), "{hidden:?}");
    peer.wait_for_processes(job, 0);
    assert_eq!(peer.all_output(job, OutputStream::Stdout), (b"orphan\n".to_vec(), 0), "nobody holds it open");

    let reader = Start { timeout_ms: 500, ..Start::program("/bin/cat", &[]) }.reading(StdinPolicy::Open, b"");
    let (job, _) = peer.spawn(reader);
    assert_eq!(peer.wait(job).end(), (JobState::Signalled, EndCause::Deadline, 9));
}

#[test]
fn kill_signals_a_process_a_tree_or_a_job() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let (job, pid) = peer.spawn(part(&["tree"]));
    peer.expect_output(job, "tree\n");
    let members = |peer: &mut Peer| -> Vec<u32> {
        let all = peer.processes().into_iter().filter(|process| process.job == job);
        all.map(|process| process.pid).collect()
    };
    let [first, child, grandchild] = members(&mut peer)[..] else { panic!("{:?}", peer.processes()) };
    assert_eq!(first, pid);
    for (target, id, there) in [
        (KillTarget::Process, pid, 1),
        (KillTarget::Tree, pid, 3),
        (KillTarget::Tree, child, 2),
        (KillTarget::Job, job, 3),
    ] {
        assert_eq!(peer.kill(target, id, 0), Ok(there), "{target:?}");
    }
    assert_eq!(peer.kill(KillTarget::Process, grandchild, 9), Ok(1));
    peer.wait_for_processes(job, 2);
    assert_eq!(peer.kill(KillTarget::Tree, child, 15), Ok(1), "who has ended is not signalled");
    peer.wait_for_processes(job, 1);
    assert_eq!(peer.look(job).state, JobState::Running);
    assert_eq!(peer.kill(KillTarget::Job, job, 10), Ok(1));
    assert_eq!(peer.wait(job).end(), (JobState::Signalled, EndCause::Killed, 10));
    for (target, id) in [(KillTarget::Process, pid), (KillTarget::Tree, pid), (KillTarget::Job, job)] {
        assert_eq!(peer.kill(target, id, 9), Err(Status::Srch), "{target:?}");
    }
    for (target, id) in [(KillTarget::Process, 0), (KillTarget::Job, 0), (KillTarget::Job, u32::MAX)] {
        assert_eq!(peer.kill(target, id, 9), Err(Status::Srch), "{target:?} {id}");
    }
    for signal in [65, 255] {
        assert_eq!(peer.kill(KillTarget::Process, pid, signal), Err(Status::Inval));
    }
    for target in [KillTarget::Process, KillTarget::Tree] {
        assert_eq!(peer.kill(target, 1, 9), Err(Status::Perm), "{target:?}");
    }
    assert!(askr.run("echo alive").starts_with("alive"), "no shell of the person's was hit with process 1");
}

#[test]
fn the_facts_of_a_fault_are_known_to_whoever_waits() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let (job, _) = peer.spawn(part(&["x"]));
    let waited = peer.wait(job);
    assert_eq!(waited.end(), (JobState::Signalled, EndCause::Itself, 11));
    let fault = waited.fault.unwrap();
    // A read in ring 3 of a page that is not there.
    assert_eq!((fault.signal, fault.vector, fault.error, fault.address), (11, 14, 4, 16));
    // rbp, rsp and rflags are what they happen to be.
    let [rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, rest @ ..] = fault.registers;
    assert_eq!([rax, rbx, rcx, rdx, rsi, rdi], [1, 2, 3, 4, 5, 6]);
    assert_eq!((rest[..8].to_vec(), rbp), ((8..16).collect(), rsp));
    assert_eq!(fault.backtrace, [0x1234], "as the program's stack says");
    assert!((0x40_0000..0x50_0000).contains(&fault.rip), "{:#x}", fault.rip);
}

#[test]
fn waiting_holds_up_nobody_and_ends_with_its_session() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let (job, _) = peer.spawn(part(&["holding"]));
    let waits: Vec<u32> = (0..8).map(|_| peer.send(code::WAIT, &wait_bytes(job, LONG))).collect();
    for _ in 0..92 {
        assert_eq!(peer.call(code::WAIT, &wait_bytes(job, LONG)).0, Status::Busy);
    }
    peer.ping(1);
    // The window of another session is empty.
    peer.set_session(None);
    peer.hello();
    let again: Vec<u32> = (0..7).map(|_| peer.send(code::WAIT, &wait_bytes(job, LONG))).collect();
    assert_eq!(Waited::decode(&peer.ok(code::WAIT, &wait_bytes(job, 100))).state, JobState::Running);
    assert_eq!(peer.path_status(code::STAT, b"/bin/sh"), Status::Ok);
    let orphaned = peer.stats()["replies_orphaned"];
    assert_eq!(peer.kill(KillTarget::Job, job, 9), Ok(1));
    for seq in again {
        assert_eq!(Waited::decode(&peer.response(seq, code::WAIT).1).cause, EndCause::Killed);
    }
    let old = |frame: &host_bridge::link::OwnedFrame| {
        frame.kind == FrameType::Response && waits.contains(&frame.seq)
    };
    assert!(peer.find(Duration::from_millis(300), old).is_none(), "nobody waits in a session that has ended");
    assert_eq!(peer.stats()["replies_orphaned"], orphaned);
}

#[test]
fn as_many_jobs_run_as_there_are_places() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let jobs: Vec<u32> = (0..32).map(|_| peer.spawn(part(&["holding"])).0).collect();
    assert_eq!(peer.try_spawn(part(&["holding"])), Err(Status::Again));
    assert_eq!(peer.kill(KillTarget::Job, jobs[7], 9), Ok(1));
    peer.wait_for_processes(jobs[7], 0);
    let (last, _) = peer.spawn(part(&["holding"]));
    assert_eq!(last, jobs[31] + 1);
    assert_eq!(peer.call(code::WAIT, &wait_bytes(jobs[7], 0)).0, Status::Srch, "its place was needed");
    for job in jobs.iter().filter(|job| **job != jobs[7]).chain([&last]) {
        assert_eq!(peer.kill(KillTarget::Job, *job, 9), Ok(1));
    }
}
