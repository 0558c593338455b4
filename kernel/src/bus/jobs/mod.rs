//! The agent's jobs: binds the table (`askr_agentbus::jobs`, pure) to processes, files and the clock. Processes say what
//! happens to them, the task of the bus carries out what the table decides.

mod output;
mod start;

pub(super) use start::spawn;

use super::control::status;
use super::{wake, with_router};
use crate::arch::clock::{self, Nanos};
use crate::process::{self, Pid, Process};
use crate::{fs, mm};
use alloc::sync::Arc;
use askr_abi::Errno;
use askr_agentbus::jobs::{Action, End, JobTable, Question, Waiting};
use askr_agentbus::{Control, Request};
use askr_vfs::File;
use askr_wire::message::{InputReply, InputRequest, OutputStream};
use askr_wire::status::Status;
use spin::Mutex;

/// Part of the kernel's heap that outputs of jobs may take, beside the first block of each.
const OUTPUT_HEAP_SHARE: usize = 8;

/// The table; what INPUT writes to is the end of a pipe. Only tasks touch it. It may be locked under the router, never the
/// other way round.
static TABLE: Mutex<Option<JobTable<Arc<File>>>> = Mutex::new(None);

/// Makes the table.
pub(super) fn init() {
    *TABLE.lock() = Some(JobTable::new(mm::heap_usage().total / OUTPUT_HEAP_SHARE));
}

fn with_table<R>(use_it: impl FnOnce(&mut JobTable<Arc<File>>) -> R) -> R {
    use_it(TABLE.lock().as_mut().expect("made before the first process"))
}

/// A process was forked by one of this job; 0 is no job.
pub(crate) fn joined(job: u32) {
    if job != 0 {
        with_table(|table| table.joined(job));
    }
}

/// A process of a job has ended, and is a zombie. `end` says how, if that is to be known.
pub(crate) fn left(process: &Process, end: impl FnOnce() -> End) {
    with_table(|table| table.left(process.agent_job(), process.pid(), end));
    wake();
}

/// KILL is about to send `signal` to a process.
pub(super) fn note_kill(process: &Process, signal: u32) {
    with_table(|table| table.note_kill(process.agent_job(), process.pid(), signal));
}

/// Takes on a request that waits for a job; [`tick`] answers it.
///
/// # Errors
/// The status to answer with at once.
pub(super) fn ask(control: &Control<'_>) -> Result<(), Status> {
    let question = match control.request {
        Request::Wait(request) => Question::Wait(request),
        Request::Output(request) => Question::Output(request),
        _ => return Err(Status::NoSys),
    };
    let waiting = Waiting { token: control.token, question, body_max: control.body_max };
    forget_ended();
    with_table(|table| table.ask(clock::now(), waiting))
}

/// Forgets what a session waited for that has ended.
fn forget_ended() {
    with_router(|router| with_table(|table| table.retain(|token| router.is_awaited(token))));
}

/// Does what is to be done about jobs now. `room` is for the answers. At most as many rounds as there are jobs and waiting
/// requests, times what can be due of each.
pub(super) fn tick(room: &mut [u8]) {
    forget_ended();
    while let Some(action) = with_table(|table| table.next(clock::now())) {
        match action {
            Action::Answer(Waiting { token, question, body_max }) => {
                let most = body_max.min(room.len());
                let answer = with_table(|table| table.answer(&question, time_of, &mut room[..most]));
                with_router(|router| router.respond(token, answer.map(|length| &room[..length])));
            }
            Action::Kill(job) => process::end_job(job),
            Action::Reap(pid) => process::reap(pid),
            Action::Close(input) => drop(input),
        }
    }
}

/// When [`tick`] has something to do by the clock.
pub(super) fn next_deadline() -> Option<Nanos> {
    with_table(|table| table.next_deadline())
}

fn time_of(pid: Pid) -> Nanos {
    process::find(pid).and_then(|task| task.process().map(Process::time)).unwrap_or(0)
}

/// Gives a job bytes to read.
///
/// # Errors
/// ESRCH for a job that is unknown, has no processes or holds its input open no longer; EINVAL where INPUT has no place: the
/// input was not left open, or has been ended.
pub(super) fn input(request: &InputRequest<'_>) -> Result<InputReply, Status> {
    let InputRequest { job, eof, data } = *request;
    let input = with_table(|table| table.input(job))?;
    let accepted = match input.write(data) {
        Ok(count) => count,
        Err(Errno::EAGAIN) => 0,
        Err(Errno::EPIPE) => return Err(Status::Srch),
        Err(errno) => return Err(status(errno)),
    };
    if eof && accepted == data.len() {
        drop(with_table(|table| table.end_input(job)));
    }
    Ok(InputReply { accepted: accepted as u32 })
}

/// What a job has written goes into the table. It never waits.
fn write(job: u32, stream: OutputStream, bytes: &[u8]) {
    let may_grow = mm::require_heap_room().is_ok();
    if with_table(|table| table.write(job, stream, bytes, may_grow)) {
        wake();
    }
}

/// The last one who held an output open has closed it.
fn close(job: u32, stream: OutputStream) {
    if with_table(|table| table.close(job, stream)) {
        wake();
    }
}

/// The end of a pipe that is read, with these bytes in it, and the end to write more.
///
/// # Errors
/// ENOMEM.
fn pipe_with(bytes: &[u8]) -> Result<(File, File), Errno> {
    let (read, write) = fs::pipe(0)?;
    // A new pipe takes as much as a frame can bring.
    if !bytes.is_empty() && write.write(bytes)? < bytes.len() {
        return Err(Errno::ENOMEM);
    }
    Ok((read, write))
}
