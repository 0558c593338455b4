use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use askr_abi::signal::{SIGKILL, SIGSEGV, SIGTERM};
use askr_wire::Message;
use askr_wire::message::{
    EndCause, JobState, OutputReply, OutputRequest, OutputStream, REGISTERS, WaitReply, WaitRequest,
};
use askr_wire::status::Status;
use proptest::prelude::*;

use super::{
    Action, End, HowEnded, JOBS_MAX, JobTable, NewJob, OUTPUT_LIMIT_MAX, Question, WAIT_MAX, Waiting,
};
use crate::reply_slots::{Asker, Token};
use crate::{Backtrace, Fault, NANOS_PER_MS, Nanos, WINDOW_MAX};

const BUDGET: usize = 1 << 20;

type Table = JobTable<&'static str>;

fn table() -> Table {
    JobTable::new(BUDGET)
}

/// Asks with a token of this number.
fn ask<I: Clone>(
    table: &mut JobTable<I>,
    now: Nanos,
    generation: u64,
    question: Question,
) -> Result<(), Status> {
    table.ask(now, waiting(generation, question))
}

const fn waiting(generation: u64, question: Question) -> Waiting {
    let token = Token { asker: Asker::Session, index: 0, generation };
    Waiting { token, question, body_max: 4096 }
}

const fn answer<I>(generation: u64, question: Question) -> Option<Action<I>> {
    Some(Action::Answer(waiting(generation, question)))
}

fn start(table: &mut Table, pid: u32) -> u32 {
    table.open(0, NewJob { pid, timeout_ms: 0, output_limit: 0, input: None }).unwrap()
}

const fn end(how: HowEnded) -> End {
    End { how, cpu_ns: 5, out_of_memory: false, fault: None }
}

/// Its only process ends.
fn finish(table: &mut Table, job: u32, pid: u32, how: HowEnded) {
    table.left(job, pid, || end(how));
    assert_eq!(table.next(0), Some(Action::Reap(pid)));
}

const fn wait(job: u32, wait_ms: u32) -> Question {
    Question::Wait(WaitRequest { job, wait_ms })
}

const fn output(job: u32, cursor: u64, wait_ms: u32) -> Question {
    Question::Output(OutputRequest { job, stream: OutputStream::Stdout, cursor, max: u32::MAX, wait_ms })
}

/// What WAIT says now, and what of the reply it borrows is left out.
fn state(table: &Table, job: u32) -> (JobState, EndCause, u32, u32) {
    let mut out = [0; 512];
    let length = table.answer(&wait(job, 0), |pid| pid.into(), &mut out).unwrap();
    let reply = WaitReply::decode(&out[..length]).unwrap();
    let cpu_ns = if reply.state == JobState::Running { reply.pid.into() } else { 5 };
    assert_eq!(reply.cpu_ns, cpu_ns, "the clock of a process that runs is read now");
    (reply.state, reply.cause, reply.code, reply.processes)
}

#[test]
fn a_job_says_how_it_is_and_how_it_ended() {
    let mut table = table();
    let job = start(&mut table, 7);
    assert_eq!(state(&table, job), (JobState::Running, EndCause::Itself, 0, 1));
    table.joined(job);
    table.left(job, 7, || end(HowEnded::Code(3)));
    assert_eq!(
        state(&table, job),
        (JobState::Exited, EndCause::Itself, 3, 1),
        "one that descends from it lives"
    );
    // Its number is given to another process of the same job.
    table.left(job, 7, || unreachable!("the first has ended before"));
    assert_eq!(state(&table, job), (JobState::Exited, EndCause::Itself, 3, 0));
    assert_eq!(table.answer(&wait(job + 1, 0), |_| 0, &mut [0; 64]), Err(Status::Srch));
}

#[test]
fn why_a_job_ended_is_told() {
    let killed = |signal: u32, how: HowEnded| {
        let mut table = table();
        let job = start(&mut table, 7);
        table.note_kill(job, 7, signal);
        table.note_kill(job, 8, SIGKILL);
        table.left(job, 7, || end(how));
        state(&table, job).1
    };
    assert_eq!(killed(SIGTERM, HowEnded::Signal(SIGTERM)), EndCause::Killed);
    assert_eq!(killed(SIGTERM, HowEnded::Code(0)), EndCause::Itself, "it took the signal and chose to end");
    assert_eq!(
        killed(SIGTERM, HowEnded::Signal(SIGKILL)),
        EndCause::Itself,
        "another signal, from elsewhere"
    );
    assert_eq!(killed(0, HowEnded::Signal(SIGKILL)), EndCause::Itself, "a probe is no signal");

    let with = |out_of_memory, fault| {
        let mut table = table();
        let job = start(&mut table, 7);
        table.note_kill(job, 7, SIGKILL);
        table.note_kill(job, 7, SIGSEGV);
        let signal = if out_of_memory { SIGKILL } else { SIGSEGV };
        table.left(job, 7, || End { out_of_memory, fault, ..end(HowEnded::Signal(signal)) });
        state(&table, job).1
    };
    assert_eq!(with(true, None), EndCause::OutOfMemory);
    let registers = [0; REGISTERS];
    let backtrace = Backtrace::default();
    let fault = Fault { signal: 11, vector: 14, error: 4, address: 8, rip: 9, registers, backtrace };
    assert_eq!(
        with(false, Some(Box::new(fault))),
        EndCause::Itself,
        "its own fault, whatever was sent besides"
    );
}

#[test]
fn the_facts_of_a_fault_are_in_the_answer() {
    let mut table = table();
    let job = start(&mut table, 7);
    let (registers, backtrace) = ([1; REGISTERS], Backtrace::default());
    let fault = Fault { signal: 11, vector: 14, error: 4, address: 8, rip: 9, registers, backtrace };
    table.left(job, 7, || End { fault: Some(Box::new(fault)), ..end(HowEnded::Signal(SIGSEGV)) });
    let mut out = [0; 512];
    let length = table.answer(&wait(job, 0), |_| 0, &mut out).unwrap();
    let facts = WaitReply::decode(&out[..length]).unwrap().fault.unwrap();
    assert_eq!((facts.signal, facts.vector, facts.address, facts.rip), (11, 14, 8, 9));
}

#[test]
fn a_deadline_kills_the_job_once_and_while_it_has_processes() {
    let mut table = table();
    let new = |pid| NewJob { pid, timeout_ms: 2, output_limit: 0, input: None };
    let job = table.open(0, new(7)).unwrap();
    assert_eq!(table.next_deadline(), Some(2 * NANOS_PER_MS));
    assert_eq!(table.next(2 * NANOS_PER_MS - 1), None);
    assert_eq!(table.next(2 * NANOS_PER_MS), Some(Action::Kill(job)));
    assert_eq!(table.next(Nanos::MAX), None);
    table.note_kill(job, 7, SIGKILL);
    table.left(job, 7, || end(HowEnded::Signal(SIGKILL)));
    assert_eq!(state(&table, job).1, EndCause::Deadline, "it came before KILL");

    let job = table.open(0, new(8)).unwrap();
    table.note_kill(job, 8, SIGKILL);
    assert_eq!(table.next(Nanos::MAX), Some(Action::Reap(7)));
    assert_eq!(table.next(Nanos::MAX), Some(Action::Kill(job)));
    table.left(job, 8, || end(HowEnded::Signal(SIGKILL)));
    assert_eq!(state(&table, job).1, EndCause::Killed, "KILL came before it");

    let job = table.open(0, new(9)).unwrap();
    table.left(job, 9, || end(HowEnded::Code(0)));
    assert_eq!(table.next(Nanos::MAX), Some(Action::Reap(8)));
    assert_eq!(table.next(Nanos::MAX), Some(Action::Reap(9)));
    assert_eq!((table.next(Nanos::MAX), table.next_deadline()), (None, None), "nobody is left to be killed");
}

#[test]
fn a_wait_is_answered_when_the_job_ends_or_by_the_clock() {
    let mut table = table();
    let job = start(&mut table, 7);
    ask(&mut table, 0, 1, wait(job, 50)).unwrap();
    ask(&mut table, 0, 2, wait(job, u32::MAX)).unwrap();
    assert_eq!((table.next(0), table.next_deadline()), (None, Some(50 * NANOS_PER_MS)));
    assert_eq!(table.next(50 * NANOS_PER_MS), answer(1, wait(job, 50)));
    assert_eq!((table.next(WAIT_MAX - 1), table.next_deadline()), (None, Some(WAIT_MAX)));
    finish(&mut table, job, 7, HowEnded::Code(0));
    assert_eq!(table.next(51), answer(2, wait(job, u32::MAX)));
    ask(&mut table, 0, 3, wait(job, u32::MAX)).unwrap();
    assert_eq!(table.next(0), answer(3, wait(job, u32::MAX)), "it has ended already");
    assert_eq!(table.next(Nanos::MAX), None);
}

#[test]
fn an_output_is_answered_when_something_is_there_or_nothing_can_come() {
    let mut table = table();
    let job = start(&mut table, 7);
    ask(&mut table, 0, 1, output(job, 0, 1000)).unwrap();
    assert_eq!(table.next(0), None);
    assert!(!table.write(job, OutputStream::Stderr, b"other", true), "nobody waits for that");
    assert!(table.write(job, OutputStream::Stdout, b"abc", true));
    assert_eq!(table.next(0), answer(1, output(job, 0, 1000)));
    ask(&mut table, 0, 2, output(job, 3, 1000)).unwrap();
    assert_eq!(table.next(0), None, "all of it has been read");
    assert_eq!(ask(&mut table, 0, 3, output(job, 4, 0)), Err(Status::Inval));
    assert!(table.close(job, OutputStream::Stdout));
    assert_eq!(table.next(0), answer(2, output(job, 3, 1000)));
    let mut out = [0; 64];
    let length = table.answer(&output(job, 1, 0), |_| 0, &mut out).unwrap();
    let reply = OutputReply::decode(&out[..length]).unwrap();
    assert_eq!(reply, OutputReply { lost: 0, total: 3, ended: true, data: b"bc" });
}

#[test]
fn what_an_ended_session_waited_for_is_forgotten() {
    let mut table = table();
    let job = start(&mut table, 7);
    for generation in 0..WINDOW_MAX as u64 {
        ask(&mut table, 0, generation, wait(job, 1000)).unwrap();
    }
    assert_eq!(ask(&mut table, 0, 99, wait(job, 0)), Err(Status::Busy));
    table.retain(|token| token.generation == 3);
    assert_eq!(table.next(Nanos::MAX), answer(3, wait(job, 1000)));
    assert_eq!(table.next(Nanos::MAX), None);
}

#[test]
fn input_is_closed_when_the_last_process_has_gone() {
    let mut table = table();
    let new = NewJob { pid: 7, timeout_ms: 0, output_limit: 0, input: Some("pipe") };
    let job = table.open(0, new).unwrap();
    table.joined(job);
    table.left(job, 7, || end(HowEnded::Code(0)));
    assert_eq!(table.next(0), Some(Action::Reap(7)));
    assert_eq!(table.input(job), Ok("pipe"), "a process that descends from it may read");
    table.left(job, 8, || unreachable!("not the first"));
    assert_eq!(table.input(job), Err(Status::Srch));
    assert_eq!((table.next(0), table.next(0)), (Some(Action::Close("pipe")), None));

    let job = table.open(0, new).unwrap();
    assert_eq!(table.end_input(job), Some("pipe"));
    assert_eq!((table.input(job), table.end_input(job)), (Err(Status::Inval), None));
}

#[test]
fn the_job_that_is_over_longest_goes_when_room_is_needed() {
    let mut table = table();
    let jobs: Vec<u32> = (100..).take(JOBS_MAX).map(|pid| start(&mut table, pid)).collect();
    assert_eq!(table.check(0), Err(Status::Again), "all of them run");
    let new = NewJob { pid: 1, timeout_ms: 0, output_limit: 0, input: None };
    assert_eq!(table.open(0, new), Err(Status::Again));
    assert_eq!(table.check(OUTPUT_LIMIT_MAX + 1), Err(Status::Inval));
    for job in [jobs[5], jobs[2], jobs[9]] {
        finish(&mut table, job, 99 + job, HowEnded::Code(0));
    }
    ask(&mut table, 0, 1, output(jobs[5], 0, 1000)).unwrap();
    let first = start(&mut table, 1);
    assert!(!table.is_known(jobs[2]), "the first to end that nobody asks about");
    assert!(table.is_known(jobs[5]) && table.is_known(jobs[9]));
    assert!(first > jobs[JOBS_MAX - 1], "numbers are not given twice");
}

#[test]
fn outputs_share_a_budget_and_those_of_jobs_that_are_over_go_first() {
    let mut table = JobTable::<()>::new(256 << 10);
    let open = |table: &mut JobTable<()>, pid| {
        table.open(0, NewJob { pid, timeout_ms: 0, output_limit: 1 << 20, input: None }).unwrap()
    };
    let lost = |table: &JobTable<()>, job| {
        let mut out = vec![0; 4096];
        let length = table.answer(&output(job, 0, 0), |_| 0, &mut out).unwrap();
        OutputReply::decode(&out[..length]).unwrap().lost
    };
    let (old, new) = (open(&mut table, 7), open(&mut table, 8));
    table.write(old, OutputStream::Stdout, &[1; 128 << 10], true);
    assert_eq!(lost(&table, old), 0);
    table.write(new, OutputStream::Stdout, &[2; 160 << 10], true);
    assert!(lost(&table, new) > 0, "the budget is used up");
    table.left(old, 7, || end(HowEnded::Code(0)));
    let _ = table.next(0);
    table.write(new, OutputStream::Stdout, &[3; 32 << 10], true);
    assert!(!table.is_known(old));
    assert!(table.memory() <= 256 << 10);
    let before = table.memory();
    table.write(new, OutputStream::Stdout, &[3; 512 << 10], false);
    assert_eq!(table.memory(), before, "there is no memory to be had");
}

/// What a test does to a table.
#[derive(Clone, Debug)]
enum Step {
    Open { timeout_ms: u32, limit: u32 },
    Join(usize),
    Leave(usize),
    Write { job: usize, stderr: bool, length: usize, may_grow: bool },
    Ask { job: usize, wait_ms: u32, output: bool },
    Advance(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let job = 0_usize..48;
    prop_oneof![
        (0_u32..50, 0_u32..200_000).prop_map(|(timeout_ms, limit)| Step::Open { timeout_ms, limit }),
        job.clone().prop_map(Step::Join),
        job.clone().prop_map(Step::Leave),
        (job.clone(), any::<bool>(), 0_usize..100_000, any::<bool>())
            .prop_map(|(job, stderr, length, may_grow)| Step::Write { job, stderr, length, may_grow }),
        (job, 0_u32..40, any::<bool>()).prop_map(|(job, wait_ms, output)| Step::Ask { job, wait_ms, output }),
        (0_u64..30).prop_map(Step::Advance),
    ]
}

proptest! {
    /// Whatever happens in whatever order: no job with processes is forgotten, memory stays within its bounds, every
    /// request is answered exactly once and not after its time, every first process is reaped exactly once.
    #[test]
    fn nothing_is_lost_or_done_twice(steps in prop::collection::vec(step(), 1..200)) {
        let mut table = JobTable::<()>::new(BUDGET);
        let mut now: Nanos = 0;
        let mut living: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut asked: BTreeMap<u64, Nanos> = BTreeMap::new();
        let mut unreaped: Vec<u32> = Vec::new();
        let (mut next_pid, mut next_token) = (1_u32, 0_u64);
        for step in steps {
            let pick = |index: usize| living.keys().nth(index % living.len().max(1)).copied();
            match step {
                Step::Open { timeout_ms, limit } => {
                    let running = living.values().filter(|pids| !pids.is_empty()).count();
                    let new = NewJob { pid: next_pid, timeout_ms, output_limit: limit, input: None };
                    match table.open(now, new) {
                        Ok(job) => drop(living.insert(job, vec![next_pid])),
                        Err(status) => prop_assert!(status == Status::Again && running + WINDOW_MAX >= JOBS_MAX),
                    }
                    next_pid += 1;
                }
                Step::Join(index) => {
                    let job = pick(index).filter(|job| !living[job].is_empty());
                    if let Some(job) = job {
                        table.joined(job);
                        living.entry(job).or_default().push(next_pid);
                        next_pid += 1;
                    }
                }
                Step::Leave(index) => {
                    let job = pick(index);
                    if let Some((job, pid)) = job.and_then(|job| Some((job, living.get_mut(&job)?.pop()?))) {
                        table.left(job, pid, || {
                            unreaped.push(pid);
                            end(HowEnded::Code(0))
                        });
                    }
                }
                Step::Write { job, stderr, length, may_grow } => {
                    let stream = if stderr { OutputStream::Stderr } else { OutputStream::Stdout };
                    if let Some(job) = pick(job) {
                        table.write(job, stream, &vec![7; length], may_grow);
                    }
                }
                Step::Ask { job, wait_ms, output: is_output } => {
                    let job = pick(job).unwrap_or(0);
                    let question = if is_output { output(job, 0, wait_ms) } else { wait(job, wait_ms) };
                    match ask(&mut table, now, next_token, question) {
                        Ok(()) => drop(asked.insert(next_token, now + Nanos::from(wait_ms) * NANOS_PER_MS)),
                        Err(Status::Srch) => prop_assert!(!table.is_known(job)),
                        Err(status) => prop_assert!(status == Status::Busy && asked.len() == WINDOW_MAX),
                    }
                    next_token += 1;
                }
                Step::Advance(ms) => now += ms * NANOS_PER_MS,
            }
            while let Some(action) = table.next(now) {
                match action {
                    Action::Answer(Waiting { token, question, .. }) => {
                        prop_assert!(asked.remove(&token.generation).is_some(), "answered twice");
                        prop_assert!(table.answer(&question, |_| 0, &mut [0; 4096]).is_ok());
                    }
                    Action::Reap(pid) => {
                        let before = unreaped.len();
                        unreaped.retain(|&other| other != pid);
                        prop_assert_eq!(unreaped.len() + 1, before);
                    }
                    Action::Kill(job) => prop_assert!(!living[&job].is_empty()),
                    Action::Close(()) => prop_assert!(false, "no job has an input"),
                }
            }
            prop_assert!(asked.values().all(|&deadline| deadline > now), "answered by the clock at the latest");
            prop_assert!(unreaped.is_empty());
            prop_assert!(table.memory() <= BUDGET + 2 * JOBS_MAX * 4096);
            prop_assert!(living.iter().all(|(&job, pids)| pids.is_empty() || table.is_known(job)));
        }
    }
}
