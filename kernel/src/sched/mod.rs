//! The scheduler. One core; kernel code is never preempted: a task runs until it parks, yields or returns to user
//! mode. User code is preempted by the tick. Kernel tasks (bus, terminal) run before user tasks, but not for ever
//! (`askr_core::turns`). The shells of the console, the terminal's foreground group and all others take turns, however
//! many there are of each, so that the person can always do something about them; else it is round robin.

mod task;
mod timer;
mod wait_queue;

pub(crate) use task::Task;
pub(crate) use timer::{park_until, sleep_until};
pub(crate) use wait_queue::{Enlisted, WaitQueue, park_for};

use crate::arch::clock::{self, Nanos};
use crate::arch::{context, trap};
use crate::mm::{KernelStack, Priority};
use crate::sync::IrqMutex;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use askr_abi::Errno;
use askr_core::turns::{Side, Turns};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use x86_64::instructions::interrupts;

/// Tasks that may exist at once. The run queues have room for all of them, so a wake never allocates.
pub(crate) const TASKS_MAX: usize = 2048;

/// Which user tasks wait in line together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Process 1 and the shells that it started.
    Console,
    /// The terminal's foreground group.
    Foreground,
    /// All others.
    Background,
}

const CLASSES: usize = 3;

struct Scheduler {
    current: Option<Arc<Task>>,
    kernel: VecDeque<Arc<Task>>,
    /// Between kernel tasks and user tasks.
    turns: Turns,
    /// User tasks, by [`Class`].
    user: [VecDeque<Arc<Task>>; CLASSES],
    /// The class whose turn is next, if it has a task.
    turn: usize,
}

static SCHEDULER: IrqMutex<Scheduler> = IrqMutex::new(Scheduler {
    current: None,
    kernel: VecDeque::new(),
    turns: Turns::new(),
    user: [const { VecDeque::new() }; CLASSES],
    turn: 0,
});
/// The tick asks for a change of user task.
static PREEMPT: AtomicBool = AtomicBool::new(false);
static TICKS: AtomicU64 = AtomicU64::new(0);
/// Since when the running task has the processor, as far as it was not charged for it.
static RUNS_SINCE: AtomicU64 = AtomicU64::new(0);

/// Turns the boot context into task 0 and makes room for all others.
pub(crate) fn init() -> Result<(), Errno> {
    let boot = Task::new_kernel(0, KernelStack::new(Priority::Init)?);
    let mut scheduler = SCHEDULER.lock();
    scheduler.kernel.reserve(TASKS_MAX);
    scheduler.user.iter_mut().for_each(|queue| queue.reserve(TASKS_MAX));
    scheduler.current = Some(boot);
    Ok(())
}

/// Starts a kernel task that runs `function` for ever.
///
/// # Errors
/// ENOMEM.
pub(crate) fn spawn_kernel(function: extern "C" fn(u64) -> !) -> Result<Arc<Task>, Errno> {
    let stack = KernelStack::new(Priority::Init)?;
    let rsp = context::prepare(&stack, function, 0);
    let task = Task::new_kernel(rsp, stack);
    SCHEDULER.lock().kernel.push_back(task.clone());
    Ok(task)
}

/// Puts a task that has not run yet into its queue.
pub(crate) fn start(task: Arc<Task>) {
    SCHEDULER.lock().push(task);
}

/// The running task. Do not hold it across the end of a task: what never returns drops nothing.
pub(crate) fn current() -> Arc<Task> {
    SCHEDULER.lock().current.clone().expect("a task runs since `init`")
}

/// Takes the running task off the processor until somebody wakes it. A wake since the last park makes it return
/// at once, so the caller tests its condition in a loop.
pub(crate) fn park() {
    let enabled = interrupts::are_enabled();
    interrupts::disable();
    let task = current();
    if task.token().begin_park() {
        task.set_parked(true);
        leave();
        task.set_parked(false);
        task.token().end_park();
    }
    if enabled {
        interrupts::enable();
    }
}

/// Wakes a task: it runs again if it is parked, else its next park returns at once. For tasks and interrupt handlers.
pub(crate) fn unpark(task: &Arc<Task>) {
    if task.token().wake() {
        SCHEDULER.lock().push(task.clone());
    }
}

/// The foreground is another, or somebody else is in it: who waits already waits with the others of his class from now on.
/// Else, with thousands of tasks, a command would get its first turn when all of them have had one.
pub(crate) fn sort() {
    SCHEDULER.lock().sort();
}

/// Lets others run and goes on afterwards.
pub(crate) fn yield_now() {
    interrupts::disable();
    let mut scheduler = SCHEDULER.lock();
    let current = scheduler.current.clone().expect("a task runs");
    scheduler.push(current);
    drop(scheduler);
    leave();
    interrupts::enable();
}

/// Leaves a task that has ended. Its entry in the process table keeps the stack until another task reaps it.
pub(crate) fn leave_for_good() -> ! {
    interrupts::disable();
    leave();
    unreachable!("an ended task was scheduled");
}

/// Whether the running user task should let others run: its time slice is over, or a kernel task waits whose turn it is.
pub(crate) fn should_yield() -> bool {
    let preempt = PREEMPT.swap(false, Ordering::Relaxed);
    let scheduler = SCHEDULER.lock();
    let for_kernel = !scheduler.kernel.is_empty() && !scheduler.turns.programs_first(clock::now());
    for_kernel || (preempt && scheduler.has_user())
}

/// The tick, in its interrupt.
pub(crate) fn on_tick() {
    TICKS.fetch_add(1, Ordering::Relaxed);
    PREEMPT.store(true, Ordering::Relaxed);
    timer::on_tick();
}

/// Ticks since boot, as many as arrived.
pub(crate) fn ticks() -> u64 {
    TICKS.load(Ordering::Relaxed)
}

/// Runs the timers that are due; cheap when no tick came since the last call.
pub(crate) fn run_timers() {
    timer::run();
}

/// Gives the processor to the next task, or idles until there is one. The caller has queued the running task, or
/// parked it, or ended it. Returns when the task is scheduled again. Interrupts are off on entry and on return.
fn leave() {
    charge(&current());
    let mut ticked_in_vain = false;
    loop {
        timer::run();
        let next = SCHEDULER.lock().pop();
        if let Some(next) = next {
            if next.process().is_some() {
                clock::end_rest();
            }
            RUNS_SINCE.store(clock::now(), Ordering::Relaxed);
            return switch_to(next);
        }
        // Not before a tick has come for nothing: programs that are busy pause often and shortly.
        if ticked_in_vain {
            clock::rest_until(timer::next());
        } else {
            clock::alarm_by(timer::next());
        }
        // STI takes effect after the next instruction, so an interrupt between the test above and HLT wakes it.
        interrupts::enable_and_hlt();
        interrupts::disable();
        ticked_in_vain |= timer::has_ticked();
    }
}

/// Adds the time since it got the processor, or was charged last, to the account of the running task's process, or to
/// that of the kernel tasks.
fn charge(task: &Task) {
    let now = clock::now();
    let time = now.saturating_sub(RUNS_SINCE.swap(now, Ordering::Relaxed));
    match task.process() {
        Some(process) => process.add_time(time),
        None => SCHEDULER.lock().turns.kernel_ran(time),
    }
}

/// Time that the running task has had the processor and was not charged for yet.
pub(crate) fn uncharged() -> Nanos {
    clock::now().saturating_sub(RUNS_SINCE.load(Ordering::Relaxed))
}

fn switch_to(next: Arc<Task>) {
    let mut scheduler = SCHEDULER.lock();
    let previous = scheduler.current.take().expect("a task runs");
    if Arc::ptr_eq(&previous, &next) {
        scheduler.current = Some(next);
        return;
    }
    let load = next.saved_rsp();
    if let Some(process) = previous.process() {
        process.leave_processor();
    }
    if let Some(process) = next.process() {
        process.enter_processor();
    }
    trap::set_kernel_stack(next.stack_top());
    scheduler.current = Some(next);
    drop(scheduler); // interrupts stay off: they were off when it was taken
    let save = previous.rsp_slot();
    // The process table (or a static, for kernel tasks) holds another reference: a task that has ended would
    // never drop this one.
    drop(previous);
    // SAFETY: `load` belongs to a task that was not running; `save` lies in a task that is still referred to.
    unsafe { context::switch(save, load) };
}

impl Scheduler {
    fn push(&mut self, task: Arc<Task>) {
        let queue = match task.process() {
            None => &mut self.kernel,
            Some(process) => &mut self.user[process.class() as usize],
        };
        debug_assert!(queue.len() < TASKS_MAX, "more tasks than the queue has room for");
        queue.push_back(task);
    }

    fn pop(&mut self) -> Option<Arc<Task>> {
        match self.turns.choose(clock::now(), !self.kernel.is_empty(), self.has_user())? {
            Side::Kernel => self.kernel.pop_front(),
            Side::Programs => self.pop_user(),
        }
    }

    fn pop_user(&mut self) -> Option<Arc<Task>> {
        for class in (self.turn..self.turn + CLASSES).map(|class| class % CLASSES) {
            if let Some(task) = self.user[class].pop_front() {
                self.turn = (class + 1) % CLASSES;
                return Some(task);
            }
        }
        None
    }

    fn has_user(&self) -> bool {
        self.user.iter().any(|queue| !queue.is_empty())
    }

    /// Puts every user task that waits into the queue of its class, each behind those that were before it.
    fn sort(&mut self) {
        let waiting = self.user.each_ref().map(VecDeque::len);
        for (class, count) in waiting.into_iter().enumerate() {
            for _ in 0..count {
                if let Some(task) = self.user[class].pop_front() {
                    self.push(task);
                }
            }
        }
    }
}
