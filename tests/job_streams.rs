//! What a job writes and reads: bounded, counted, and in nobody's way.

mod common;

use std::time::Instant;

use askr::Machine;
use askr_wire::code;
use askr_wire::message::{EndCause, JobState, KillTarget, OutputRequest, OutputStream, StdinPolicy};
use askr_wire::status::Status;
use common::PATIENCE;
use common::jobs::{LONG, Start};
use common::peer::{Peer, bytes};
use common::program::program;
use common::shell::{Shared, number_after};

static GUEST: Shared = Shared::new(|| Machine::new().with(program("job")));

/// What a program writes that is to write without end.
const FLOOD: u64 = 100 << 20;

/// A part of `job.c`.
const fn part<'a>(arguments: &'a [&'a str]) -> Start<'a> {
    Start::program("/bin/job", arguments)
}

/// Whether each word is its own position, of bytes that began at `position`.
fn is_flood(position: u64, data: &[u8]) -> bool {
    let byte = |at: u64| (at / 8 * 8).to_le_bytes()[usize::try_from(at % 8).unwrap()];
    (position..).zip(data).all(|(at, &found)| found == byte(at))
}

/// What the kernel has in use, in KiB: its heap, and all of memory.
fn in_use(peer: &mut Peer) -> (u64, u64) {
    let text = String::from_utf8(peer.read("/proc/meminfo")).unwrap();
    let of = |name| number_after(&text, name);
    (of("KernelHeapUsed:"), of("MemTotal:") - of("MemFree:"))
}

#[test]
fn the_two_outputs_come_apart_while_it_runs_and_after() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let line = Start::program("/bin/sh", &["-c", "echo one; echo two >&2; read x; echo three"]);
    let (job, _) = peer.spawn(line.reading(StdinPolicy::Open, b""));
    peer.expect_output(job, "one\n");
    let nothing_more = peer.output(job, OutputStream::Stdout, 4, 100);
    assert_eq!((nothing_more.data.len(), nothing_more.total, nothing_more.ended), (0, 4, false));
    assert_eq!(peer.look(job).state, JobState::Running);
    assert_eq!(peer.input(job, true, b"\n"), Ok(1));
    for _ in 0..2 {
        assert_eq!(peer.all_output(job, OutputStream::Stdout), (b"one\nthree\n".to_vec(), 0));
        assert_eq!(peer.all_output(job, OutputStream::Stderr), (b"two\n".to_vec(), 0));
        let waited = peer.wait(job);
        assert_eq!((waited.stdout_total, waited.stderr_total), (10, 4));
    }
    let at =
        |cursor, max| bytes(&OutputRequest { job, stream: OutputStream::Stdout, cursor, max, wait_ms: LONG });
    assert_eq!(peer.ok(code::OUTPUT, &at(1, 2))[17..], *b"ne");
    assert_eq!(peer.ok(code::OUTPUT, &at(10, 2)).len(), 17, "the end");
    assert_eq!(peer.call(code::OUTPUT, &at(11, 2)).0, Status::Inval);
}

#[test]
fn a_flood_of_output_is_bounded_counted_and_in_nobodys_way() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let size = FLOOD.to_string();
    let arguments = ["flood", size.as_str()];
    let before = in_use(&mut peer);
    let (job, _) = peer.spawn(Start { output_limit: 256 << 10, ..part(&arguments) });
    let (mut cursor, mut lost, mut read, mut pings, mut worst) = (0, 0, 0, 1, 0);
    let until = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < until, "{cursor} bytes in all this time");
        peer.ping(pings);
        pings += 1;
        let output = peer.output(job, OutputStream::Stdout, cursor, 1000);
        cursor += output.lost;
        assert!(is_flood(cursor, &output.data), "at {cursor}");
        cursor += output.data.len() as u64;
        (lost, read) = (lost + output.lost, read + output.data.len() as u64);
        worst = worst.max(in_use(&mut peer).0);
        if output.ended && cursor == output.total {
            assert_eq!(output.total, FLOOD);
            break;
        }
    }
    assert_eq!(lost + read, FLOOD);
    assert!(lost > 0 && read >= 256 << 10, "{lost} lost, {read} read: the last of it is kept");
    assert!(worst < before.0 + 1024, "the kernel had {} KiB in use before and {worst} meanwhile", before.0);
    assert_eq!(peer.wait(job).end(), (JobState::Exited, EndCause::Itself, 0));

    // With nobody who reads it, all but the last of it is lost, the usual number of bytes.
    let (job, _) = peer.spawn(part(&["flood", "1000000"]));
    assert_eq!(peer.wait(job).stdout_total, 1_000_000);
    let (kept, lost) = peer.all_output(job, OutputStream::Stdout);
    assert_eq!((kept.len(), lost), (64 << 10, 1_000_000 - (64 << 10)));
    assert!(is_flood(lost, &kept));
}

#[test]
fn input_is_given_ended_or_left_open() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let all: Vec<u8> = (0..=255).cycle().take(3000).collect();
    let cat = Start::program("/bin/cat", &[]);
    let (job, _) = peer.spawn(cat);
    assert_eq!(peer.all_output(job, OutputStream::Stdout).0, b"", "the end at once");
    assert_eq!(peer.wait(job).end(), (JobState::Exited, EndCause::Itself, 0));
    assert_eq!(peer.input(job, false, b"x"), Err(Status::Srch));

    let (job, _) = peer.spawn(cat.reading(StdinPolicy::Given, &all));
    assert_eq!(peer.all_output(job, OutputStream::Stdout).0, all);
    let (job, _) = peer.spawn(part(&["holding"]).reading(StdinPolicy::Given, b"x"));
    assert_eq!(peer.input(job, false, b"x"), Err(Status::Inval), "it was not left open");
    assert_eq!(peer.kill(KillTarget::Job, job, 9), Ok(1));

    let (job, _) = peer.spawn(cat.reading(StdinPolicy::Open, b"first "));
    peer.expect_output(job, "first ");
    assert_eq!(peer.input(job, false, b"second "), Ok(7));
    peer.expect_output(job, "second ");
    assert_eq!(peer.input(job, true, &all), Ok(3000));
    assert_eq!(peer.all_output(job, OutputStream::Stdout).0, [b"first second ", &all[..]].concat());
    assert_eq!(peer.wait(job).end(), (JobState::Exited, EndCause::Itself, 0));

    let (job, _) = peer.spawn(part(&["shut"]).reading(StdinPolicy::Open, b""));
    peer.expect_output(job, "shut\n");
    assert_eq!(peer.input(job, false, b"x"), Err(Status::Srch), "nobody holds it open");
    assert_eq!(peer.input(u32::MAX, false, b"x"), Err(Status::Srch));
    assert_eq!(peer.kill(KillTarget::Job, job, 9), Ok(1));
}

#[test]
fn input_that_nobody_reads_is_not_accepted_and_not_lost() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let (job, _) = peer.spawn(part(&["holding"]).reading(StdinPolicy::Open, b""));
    let piece = [b'x'; 4000];
    assert_eq!(peer.input(job, true, &piece), Ok(4000));
    assert_eq!(peer.input(job, false, b"x"), Err(Status::Inval), "it has been ended");
    assert_eq!(peer.kill(KillTarget::Job, job, 9), Ok(1));

    let line = ["-c", "read go < /dev/null; while [ ! -e /tmp/go ]; do sleep 0.1; done; wc -c"];
    let (job, _) = peer.spawn(Start::program("/bin/sh", &line).reading(StdinPolicy::Open, b""));
    let mut total = 0;
    while let count @ 1.. = peer.input(job, false, &piece).unwrap() {
        total += count;
        assert!(total <= 64 << 10, "a pipe holds no more");
    }
    assert_eq!(peer.input(job, true, &piece), Ok(0), "and it is not ended");
    assert!(total > 32 << 10);
    askr.run("touch /tmp/go");
    let until = Instant::now() + PATIENCE;
    while peer.input(job, true, b"last").unwrap() == 0 {
        assert!(Instant::now() < until, "it does not read");
    }
    let (counted, _) = peer.all_output(job, OutputStream::Stdout);
    assert_eq!(String::from_utf8(counted).unwrap().trim(), (total + 4).to_string());
}

#[test]
fn five_hundred_jobs_leave_nothing_behind() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let run = |peer: &mut Peer, times: u32| {
        for n in 0..times {
            let text = n.to_string();
            let (job, _) = peer.spawn(Start::program("/bin/echo", &[&text]));
            assert_eq!(peer.wait(job).code, 0);
            assert_eq!(peer.all_output(job, OutputStream::Stdout).0, format!("{n}\n").as_bytes());
        }
    };
    // As many as are remembered.
    run(&mut peer, 40);
    let before = in_use(&mut peer);
    run(&mut peer, 500);
    let after = in_use(&mut peer);
    assert!(after.0.abs_diff(before.0) <= 4 && after.1.abs_diff(before.1) <= 4, "{before:?} {after:?}");
}
