//! Where the agent's requests are carried out. What takes no time is done at once, in the task of the bus. What may
//! take as long as a disk takes is done by a worker, a task of its own, so that the bus goes on meanwhile: a ping is
//! answered, an ask is put and answered, other sessions begin. Starting programs has another worker.

use super::control::{self, Kept, Lane};
use super::{jobs, wake, with_router};
use crate::arch::clock;
use crate::sched::{self, Task};
use crate::timeline::{self, Point};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_agentbus::policy::Origin;
use askr_agentbus::{Control, Request, Token};
use askr_wire::status::Status;
use spin::{Mutex, Once};

/// Requests that wait for a worker. The window of a session and the places of base peers at both doors are 24 together; what
/// is over that is of sessions and connections that have ended.
const JOBS_MAX: usize = 32;

static FILES: Worker = Worker::new();
static PROGRAMS: Worker = Worker::new();

/// Starts the workers.
///
/// # Errors
/// ENOMEM.
pub(super) fn start() -> Result<(), Errno> {
    FILES.start(work_on_files)?;
    PROGRAMS.start(work_on_programs)
}

/// Takes a request on. Its answer comes when it is done; at once, if it takes no time or there are too many.
pub(super) fn submit(control: &Control<'_>) {
    match control::lane(&control.request) {
        Lane::AtOnce => respond(control.token, &control::at_once(control)),
        Lane::Later => {
            if let Err(status) = jobs::ask(control) {
                respond(control.token, &Err(status));
            }
        }
        Lane::Files => FILES.submit(control),
        Lane::Programs => PROGRAMS.submit(control),
    }
}

/// Gives the answer to a request, for the bus to send. For tasks, at any time.
pub(super) fn respond(token: Token, result: &Result<Vec<u8>, Status>) {
    timeline::pass(Point::Answer, result.as_ref().map_or(0, Vec::len) as u64);
    with_router(|router| router.respond(token, result.as_deref().map_err(|&status| status)));
    wake();
}

/// Requests in line for one task, which carries them out in their order.
struct Worker {
    jobs: Mutex<VecDeque<Job>>,
    task: Once<Arc<Task>>,
}

impl Worker {
    const fn new() -> Self {
        Self { jobs: Mutex::new(VecDeque::new()), task: Once::new() }
    }

    fn start(&self, work: extern "C" fn(u64) -> !) -> Result<(), Errno> {
        self.jobs.lock().reserve(JOBS_MAX);
        let task = sched::spawn_kernel(work)?;
        self.task.call_once(|| task);
        Ok(())
    }

    fn submit(&self, control: &Control<'_>) {
        if self.jobs.lock().len() >= JOBS_MAX {
            respond(control.token, &Err(Status::Busy));
            return;
        }
        self.jobs.lock().push_back(Job::new(control));
        if let Some(task) = self.task.get() {
            sched::unpark(task);
        }
    }

    /// Carries out what is in line, then returns. After each request others have their turn.
    fn serve(&self, mut execute: impl FnMut(&Control<'_>) -> Result<Vec<u8>, Status>) {
        loop {
            let next = self.jobs.lock().pop_front();
            let Some(job) = next else { return };
            respond(job.token, &job.execute(&mut execute));
            sched::yield_now();
        }
    }
}

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

    fn execute(
        &self,
        execute: impl FnOnce(&Control<'_>) -> Result<Vec<u8>, Status>,
    ) -> Result<Vec<u8>, Status> {
        let (code, payload) = (self.code, &self.payload[..]);
        let request = Request::decode(code, payload)?;
        let Self { token, origin, body_max, .. } = *self;
        execute(&Control { token, origin, code, payload, request, body_max })
    }
}

extern "C" fn work_on_files(_: u64) -> ! {
    x86_64::instructions::interrupts::enable();
    let mut kept = Kept::new();
    loop {
        FILES.serve(|control| control::files(control, &mut kept));
        let now = clock::now();
        match kept.idle_at() {
            // Waits for the disk, which uses up the wake of whoever comes meanwhile: the line is looked at again.
            Some(deadline) if deadline <= now => kept.close_idle(now),
            Some(deadline) => sched::park_until(deadline),
            None => sched::park(),
        }
    }
}

extern "C" fn work_on_programs(_: u64) -> ! {
    x86_64::instructions::interrupts::enable();
    loop {
        PROGRAMS.serve(control::programs);
        sched::park();
    }
}
