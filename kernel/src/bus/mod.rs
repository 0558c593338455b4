//! The agent's line: binds the router (`askr-agentbus`, pure) to its doors, the clock and the tasks. One kernel task feeds
//! it. The router is locked only while it decides; what it decided is carried out after.

mod ask;
mod control;
mod echo;
mod events;
pub(crate) mod jobs;
mod kernel_ask;
mod lanes;
pub(crate) mod port;
mod report;

pub(crate) use ask::{Answer, Question, answer_by_hand, ask, asks};
pub(crate) use events::{
    events, filesystem_full, panicked, process_exited, process_faulted, process_killed_for_memory,
    process_started,
};
pub(crate) use kernel_ask::{Decided, Turn, ask_for_kernel};

use crate::arch::clock::{self, Nanos, SECOND};
use crate::drivers::serial::LineErrors;
use crate::process::{self, Pid};
use crate::sched::{self, Task};
use crate::timeline::{self, Point};
use crate::{kprintln, random, version};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use askr_abi::Errno;
use askr_agentbus::{Config, Counter, Door, Effect, Event, Router};
use askr_wire::{Deframer, FRAME_MAX, Frame, SESSION_PAYLOAD_MAX};
use port::{Port, Watch};
use spin::{Mutex, Once};

/// Most bytes that are taken from a door between two looks at what is to be sent.
const CHUNK_MAX: usize = 4096;
/// The bus task looks around at least this often.
const IDLE: Nanos = SECOND;

/// The router; processes are those who wait. Only tasks touch it, so the lock masks nothing.
static ROUTER: Mutex<Option<Box<Router<Pid>>>> = Mutex::new(None);
static TASK: Once<Arc<Task>> = Once::new();

/// Opens the doors and starts the bus task. Requests about files and programs wait until [`serve`].
///
/// # Errors
/// ENOMEM.
pub(crate) fn start() -> Result<(), Errno> {
    let config = Config::new(random::bytes(), version::RELEASE);
    let mut router = Box::new(Router::new(config));
    router.event(clock::now(), &Event::Boot);
    *ROUTER.lock() = Some(router);
    jobs::init();
    if let Err(error) = port::com2::open() {
        kprintln!("COM2: {error}; this machine has no serial line for an agent");
    }
    let task = sched::spawn_kernel(if echo::is_wanted() { echo::task } else { bus_task })?;
    port::data::open();
    port::data::wake_by(&task);
    TASK.call_once(|| task);
    Ok(())
}

/// Carries out requests about files and programs from now on. Before the disk is mounted its files would land in memory, and
/// before the first process there is, somebody else would get its number.
///
/// # Errors
/// ENOMEM.
pub(crate) fn serve() -> Result<(), Errno> {
    lanes::start()
}

/// Makes the bus task look around. For tasks and interrupt handlers.
pub(crate) fn wake() {
    if let Some(task) = TASK.get() {
        sched::unpark(task);
    }
}

/// `/proc/bus`: the link's state and all counters, one to a line.
pub(crate) fn report() -> String {
    with_router(|router| {
        let attached = router.is_attached(clock::now());
        let stalled = Door::ALL.into_iter().any(|door| port::of(door).is_stalled());
        let mut text = format!("attached {attached}\nstalled {stalled}\nticks {}\n", sched::ticks());
        for &counter in Counter::ALL {
            text += &format!("{} {}\n", counter.name(), router.stats().get(counter));
        }
        text
    })
}

/// The id of this boot.
fn boot_id() -> [u8; 16] {
    with_router(|router| router.boot_id())
}

fn with_router<R>(use_it: impl FnOnce(&mut Router<Pid>) -> R) -> R {
    use_it(ROUTER.lock().as_mut().expect("made before the first process"))
}

/// A door on the side of what comes in.
struct Inward {
    door: Door,
    port: &'static dyn Port,
    deframer: Box<Deframer>,
    noted: LineErrors,
}

impl Inward {
    fn new(door: Door) -> Self {
        let port = port::of(door);
        Self { door, port, deframer: Box::new(Deframer::new()), noted: port.errors() }
    }

    /// Takes in what came, at most a chunk. Returns whether there was anything.
    fn receive(&mut self, chunk: &mut [u8]) -> bool {
        let count = self.port.read(&mut chunk[..self.port.chunk()]);
        let mut bytes = &chunk[..count];
        while let Some(result) = self.deframer.take(&mut bytes) {
            match result {
                Ok(frame) => {
                    timeline::pass(Point::FrameIn, frame.payload.len() as u64);
                    self.port.clear_stall();
                    on_frame(self.door, &frame);
                }
                Err(error) => with_router(|router| router.on_frame_error(error)),
            }
        }
        self.note_errors();
        count > 0
    }

    fn note_errors(&mut self) {
        let now = self.port.errors();
        if now != self.noted {
            with_router(|router| {
                router.note(Counter::RxOverruns, now.overruns - self.noted.overruns);
                router.note(Counter::RxLineErrors, now.damaged - self.noted.damaged);
            });
            self.noted = now;
        }
    }
}

/// Feeds the router, for ever.
extern "C" fn bus_task(_: u64) -> ! {
    x86_64::instructions::interrupts::enable();
    // These buffers are large, so they live on the heap and not on a kernel stack.
    let mut doors = Door::ALL.map(Inward::new);
    let mut frame = Box::new([0; FRAME_MAX]);
    let mut body = Box::new([0; SESSION_PAYLOAD_MAX]);
    let mut chunk = Box::new([0; CHUNK_MAX]);
    loop {
        let mut caught_up = true;
        for inward in &mut doors {
            caught_up &= !inward.receive(&mut chunk[..]);
        }
        end_waits();
        jobs::tick(&mut body[..]);
        let next_looks = Door::ALL.map(|door| transmit(door, &mut frame));
        if caught_up {
            let looks = doors.iter().map(|inward| inward.port.next_look()).chain(next_looks);
            let deadlines = [with_router(|router| router.next_deadline()), jobs::next_deadline()];
            let idle = clock::now() + IDLE;
            sched::park_until(looks.chain(deadlines).flatten().fold(idle, Nanos::min));
        } else {
            // A host that sends without a pause does not get the whole machine: others have their turn.
            sched::yield_now();
        }
    }
}

fn on_frame(door: Door, frame: &Frame<'_>) {
    // The effect borrows from the frame, not from the router: the lock is free again when it is carried out.
    let effect = with_router(|router| router.on_frame(clock::now(), door, frame));
    match effect {
        Effect::None => {}
        Effect::Wake(pid) => process::wake(pid),
        Effect::Control(control) => lanes::submit(&control),
    }
}

/// Wakes those whose wait is over by the clock or by the loss of the peer. At most as many as there are asks.
fn end_waits() {
    while let Some(pid) = with_router(|router| router.tick(clock::now())) {
        process::wake(pid);
    }
}

/// Sends what a door takes. Returns when to look again if it is not by its interrupt.
fn transmit(door: Door, frame: &mut [u8; FRAME_MAX]) -> Option<Nanos> {
    let port = port::of(door);
    loop {
        match port.watch() {
            Watch::Ready => {
                let next = with_router(|router| router.next_frame(clock::now(), door, frame));
                let Some(length) = next else { return with_router(|router| router.next_event(door)) };
                port.send(&frame[..length]);
                timeline::pass(Point::FrameOut, length as u64);
            }
            Watch::Busy(deadline) | Watch::Waiting(deadline) => return Some(deadline),
            Watch::Stalled => with_router(|router| router.on_stall(door)),
            Watch::Closed => with_router(|router| router.on_close(clock::now(), door)),
            Watch::Nobody => return None,
        }
    }
}
