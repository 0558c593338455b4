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
    code: u16,
    payload: Vec<u8>,
}

impl Job {
    fn new(control: &Control<'_>) -> Self {
        let Control { token, origin, body_max, code, payload, .. } = *control;
        Self { token, origin, body_max, code, payload: payload.to_vec() }
    }

    fn execute(&self) -> Result<Vec<u8>, Status> {
        let (code, payload) = (self.code, &self.payload[..]);
        let request = Request::decode(code, payload)?;
        let Self { token, origin, body_max, .. } = *self;
        control::execute(&Control { token, origin, code, payload, request, body_max })
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
        let result = job.execute();
        with_router(|router| router.respond(job.token, result.as_deref().map_err(|&status| status)));
        wake();
    }
}
