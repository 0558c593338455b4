//! Carries out the agent's requests about files, which may take as long as a disk takes. It is a task of its own, so that
//! the bus goes on meanwhile: a ping is answered, an ask is put and answered, other sessions begin.

use super::{control, wake, with_router};
use crate::sched::{self, Task};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_agentbus::policy::Origin;
use askr_agentbus::{Control, Request, Token};
use askr_wire::message::WriteMode;
use askr_wire::status::Status;
use spin::{Mutex, Once};

/// Requests that wait or are being carried out. The window of a session and the places of base peers are 16 together;
/// what is over that is of sessions that have ended.
const JOBS_MAX: usize = 32;

static JOBS: Mutex<VecDeque<Job>> = Mutex::new(VecDeque::new());
static TASK: Once<Arc<Task>> = Once::new();

/// A request, copied out of its frame.
struct Job {
    token: Token,
    origin: Origin,
    body_max: usize,
    what: What,
    path: Vec<u8>,
    data: Vec<u8>,
}

#[derive(Clone, Copy)]
enum What {
    Stat,
    List { start: u32 },
    Read { offset: u64, len: u32 },
    Write { mode: WriteMode },
    Mkdir,
    Remove,
    Ps { start: u32 },
}

impl Job {
    fn new(control: &Control<'_>) -> Self {
        let (what, path, data) = match control.request {
            Request::Stat { path } => (What::Stat, path, &[][..]),
            Request::List { start, path } => (What::List { start }, path, &[][..]),
            Request::Read { offset, len, path } => (What::Read { offset, len }, path, &[][..]),
            Request::Write { mode, path, data } => (What::Write { mode }, path, data),
            Request::Mkdir { path } => (What::Mkdir, path, &[][..]),
            Request::Remove { path } => (What::Remove, path, &[][..]),
            Request::Ps { start } => (What::Ps { start }, &[][..], &[][..]),
        };
        let Control { token, origin, body_max, .. } = *control;
        Self { token, origin, body_max, what, path: path.to_vec(), data: data.to_vec() }
    }

    fn control(&self) -> Control<'_> {
        let (path, data) = (&self.path[..], &self.data[..]);
        let request = match self.what {
            What::Stat => Request::Stat { path },
            What::List { start } => Request::List { start, path },
            What::Read { offset, len } => Request::Read { offset, len, path },
            What::Write { mode } => Request::Write { mode, path, data },
            What::Mkdir => Request::Mkdir { path },
            What::Remove => Request::Remove { path },
            What::Ps { start } => Request::Ps { start },
        };
        Control { token: self.token, origin: self.origin, request, body_max: self.body_max }
    }
}

/// Starts the task.
///
/// # Errors
/// ENOMEM.
pub(super) fn start() -> Result<(), Errno> {
    JOBS.lock().reserve(JOBS_MAX);
    let task = sched::spawn_kernel(work)?;
    TASK.call_once(|| task);
    Ok(())
}

/// Takes a request on. Its answer comes when it is done; at once, if there are too many.
pub(super) fn submit(control: &Control<'_>) {
    if JOBS.lock().len() >= JOBS_MAX {
        with_router(|router| router.respond(control.token, Err(Status::Busy)));
        return;
    }
    let job = Job::new(control);
    JOBS.lock().push_back(job);
    if let Some(task) = TASK.get() {
        sched::unpark(task);
    }
}

/// Carries out one request after the other, for ever.
extern "C" fn work(_: u64) -> ! {
    x86_64::instructions::interrupts::enable();
    loop {
        let next = JOBS.lock().pop_front();
        let Some(job) = next else {
            sched::park();
            continue;
        };
        let result = control::execute(&job.control());
        with_router(|router| router.respond(job.token, result.as_deref().map_err(|&status| status)));
        wake();
    }
}
