//! Processes, jobs and their output.

use askr_wire::message::{EndCause, JobState, ProcessOrigin, TaskState};
use serde_json::{Map, Value, json};

use super::events::fault;
use crate::json::{bytes, name, signal};
use crate::ops::{Job, Listing, Piece, Process, Report};

pub(crate) fn processes(listing: &Listing<Process>) -> Value {
    let processes: Vec<_> = listing.entries.iter().map(process).collect();
    json!({ "processes": processes, "truncated": listing.truncated })
}

fn process(process: &Process) -> Value {
    let state = match process.state {
        TaskState::Ready => "ready",
        TaskState::Running => "running",
        TaskState::Blocked => "blocked",
        TaskState::Zombie => "zombie",
        TaskState::Stopped => "stopped",
    };
    let origin = match process.origin {
        ProcessOrigin::Kernel => "kernel",
        ProcessOrigin::Console => "console",
        ProcessOrigin::Agent => "agent",
    };
    let mut map = Map::new();
    for (field, value) in [(name::PID, process.pid), ("parent", process.parent), ("group", process.group)] {
        map.insert(field.into(), value.into());
    }
    map.insert(name::JOB.into(), Some(process.job).filter(|&job| job != 0).into());
    map.insert("state".into(), state.into());
    map.insert("origin".into(), origin.into());
    if process.state == TaskState::Zombie {
        map.insert("exit_code".into(), process.code.into());
    }
    for (field, value) in [("cpu_ns", process.cpu_ns), ("memory", process.memory), ("age_ns", process.age_ns)]
    {
        map.insert(field.into(), value.into());
    }
    bytes::put(&mut map, name::NAME, &process.name);
    Value::Object(map)
}

pub(crate) fn job(job: Job) -> Value {
    json!({ name::JOB: job.job, name::PID: job.pid })
}

pub(crate) fn report(job: u32, report: &Report) -> Value {
    let state = match report.state {
        JobState::Running => "running",
        JobState::Exited => "exited",
        JobState::Signalled => "signalled",
    };
    let mut map = Map::new();
    map.insert(name::JOB.into(), job.into());
    map.insert(name::PID.into(), report.pid.into());
    map.insert("state".into(), state.into());
    match report.state {
        JobState::Running => {}
        JobState::Exited => drop(map.insert("exit_code".into(), report.code.into())),
        JobState::Signalled => {
            map.insert(
                name::SIGNAL.into(),
                signal::name_of(report.code).map_or(report.code.into(), Value::from),
            );
        }
    }
    if report.state != JobState::Running {
        let cause = match report.cause {
            EndCause::Itself => "itself",
            EndCause::Deadline => "deadline",
            EndCause::Killed => "killed",
            EndCause::OutOfMemory => "out_of_memory",
        };
        map.insert("cause".into(), cause.into());
    }
    map.insert("processes".into(), report.processes.into());
    map.insert("cpu_ns".into(), report.cpu_ns.into());
    map.insert("stdout".into(), piece(&report.stdout));
    map.insert("stderr".into(), piece(&report.stderr));
    if let Some(facts) = &report.fault {
        map.insert("fault".into(), fault(facts));
    }
    Value::Object(map)
}

fn piece(piece: &Piece) -> Value {
    let mut map = Map::new();
    bytes::put_content(&mut map, &piece.data);
    let next = piece.next();
    for (field, value) in
        [("start", piece.start), ("next", next), ("lost", piece.lost), ("total", piece.total)]
    {
        map.insert(field.into(), value.into());
    }
    map.insert("truncated".into(), (next < piece.total).into());
    map.insert("ended".into(), piece.ended.into());
    Value::Object(map)
}

pub(crate) fn accepted_input(taken: usize, given: usize) -> Value {
    json!({ "accepted": taken, "truncated": taken < given })
}

pub(crate) fn killed(processes: u32) -> Value {
    json!({ "processes": processes })
}
