//! COM1, the human's line. Output of programs and of the kernel goes to the line's send ring; input goes through the
//! line discipline in a kernel task, which echoes it and turns Ctrl-C into SIGINT for the foreground group.

use crate::arch::clock::{self, Nanos, SECOND};
use crate::drivers::serial::{COM1, Events, SerialLine};
use crate::process::{self, Pid};
use crate::sched::{self, Task};
use crate::sync::IrqMutex;
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::SIGINT;
use askr_core::tty::{Event, LineDiscipline, Onlcr};
use askr_uart::UartError;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use spin::{Mutex, Once};

/// Room that an emergency message may wait for.
const EMERGENCY: Nanos = SECOND;
/// Bytes of input that the terminal task takes at once.
const CHUNK: usize = 256;
/// Bytes of program output that are prepared at once.
const OUTPUT_CHUNK: usize = 512;

static LINE: IrqMutex<SerialLine> = IrqMutex::new(SerialLine::new(None));
static TERMINAL: Mutex<Option<LineDiscipline>> = Mutex::new(None);
static TERMINAL_TASK: Once<Arc<Task>> = Once::new();
/// Tasks that wait for a line of input or for room to write.
static WAITING: Mutex<Vec<Arc<Task>>> = Mutex::new(Vec::new());
/// The send ring emptied since the terminal task last looked, and somebody may wait for that.
static ROOM: AtomicBool = AtomicBool::new(false);
static FOREGROUND: AtomicU32 = AtomicU32::new(process::INIT);
/// Whether the cursor stands at the start of a line, so that kernel lines begin on one of their own.
static AT_LINE_START: AtomicBool = AtomicBool::new(true);
static LOST: AtomicU64 = AtomicU64::new(0);

/// Opens the line.
///
/// # Errors
/// What is wrong with COM1; without it the kernel runs on, mute.
pub(crate) fn init() -> Result<(), UartError> {
    LINE.lock().open(COM1)
}

/// Starts the terminal task.
///
/// # Errors
/// ENOMEM.
pub(crate) fn start() -> Result<(), Errno> {
    *TERMINAL.lock() = Some(LineDiscipline::new());
    let task = sched::spawn_kernel(terminal_task)?;
    TERMINAL_TASK.call_once(|| task);
    Ok(())
}

/// COM1's interrupt.
pub(crate) fn on_interrupt() {
    let Events { received, drained } = LINE.lock().on_interrupt();
    if drained {
        ROOM.store(true, Ordering::Relaxed);
    }
    if let Some(task) = TERMINAL_TASK.get().filter(|_| received || drained) {
        sched::unpark(task);
    }
}

/// Writes a line of the kernel's, on a line of its own. Never waits: what does not fit is counted as lost.
pub(crate) fn write_kernel(line: &[u8]) {
    if !AT_LINE_START.swap(true, Ordering::Relaxed) {
        send_or_lose(b"\r\n");
    }
    Onlcr::new(line).for_each(|byte| send_or_lose(&[byte]));
}

/// Writes from a panic: by polling, with a deadline by the clock.
pub(crate) fn write_emergency(line: &[u8]) {
    let deadline = clock::now() + EMERGENCY;
    let mut port = LINE.lock();
    port.flush_until(|| clock::now() >= deadline);
    for byte in Onlcr::new(line) {
        port.write_polled(&[byte], || clock::now() >= deadline);
    }
}

/// Waits until everything written has left, or until `deadline`: before the machine goes off.
pub(crate) fn drain(deadline: Nanos) {
    LINE.lock().flush_until(|| clock::now() >= deadline);
}

/// Writes program output, waiting for room. Returns how much was taken: all, unless a signal came.
///
/// # Errors
/// EINTR if a signal came before anything was taken.
pub(crate) fn write(bytes: &[u8]) -> Result<usize, Errno> {
    let mut done = 0;
    while done < bytes.len() {
        let taken = take_output(&bytes[done..]);
        done += taken;
        if taken == 0 {
            if process::interrupted() {
                break;
            }
            wait_for(|| LINE.lock().room() > OUTPUT_CHUNK);
        }
    }
    if done == 0 && !bytes.is_empty() { Err(Errno::EINTR) } else { Ok(done) }
}

/// Moves as much as fits into the send ring.
fn take_output(bytes: &[u8]) -> usize {
    let chunk = &bytes[..bytes.len().min(OUTPUT_CHUNK)];
    let mut port = LINE.lock();
    let mut output = Onlcr::new(chunk);
    // A newline becomes two bytes: never take one that only half fits.
    while port.room() >= 2 {
        let before = output.consumed();
        while output.consumed() == before {
            let Some(byte) = output.next() else { break };
            port.send(&[byte]);
        }
        if output.consumed() == before {
            break; // the end
        }
    }
    let taken = output.consumed();
    drop(port);
    if taken > 0 {
        AT_LINE_START.store(chunk[taken - 1] == b'\n', Ordering::Relaxed);
    }
    taken
}

/// Reads a line, or the part of it that fits, waiting for one. 0 is the end of file.
///
/// # Errors
/// EINTR on a signal.
pub(crate) fn read(into: &mut [u8]) -> Result<usize, Errno> {
    loop {
        if let Some(count) = with_terminal(|terminal| terminal.read(into)) {
            return Ok(count);
        }
        if process::interrupted() {
            return Err(Errno::EINTR);
        }
        wait_for(|| with_terminal(|terminal| terminal.is_ready()));
    }
}

/// The process group that gets Ctrl-C.
pub(crate) fn foreground() -> Pid {
    FOREGROUND.load(Ordering::Relaxed)
}

/// Gives the terminal to a process group.
pub(crate) fn set_foreground(group: Pid) {
    FOREGROUND.store(group, Ordering::Relaxed);
}

/// Bytes of kernel lines and echo that COM1 did not take.
pub(crate) fn lost() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// `struct termios` of the kernel ABI (36 bytes; asm-generic/termbits.h) for the one mode there is: canonical, with
/// echo and signals, CR read as NL, NL written as CR NL.
pub(crate) fn attributes() -> [u8; 36] {
    const ICRNL: u32 = 0o400;
    const OPOST_ONLCR: u32 = 0o5;
    const B115200_CS8_CREAD: u32 = 0o10002 | 0o60 | 0o200;
    const ISIG_ICANON_ECHO_ECHOE_ECHOK: u32 = 0o1 | 0o2 | 0o10 | 0o20 | 0o40;
    let mut attributes = [0; 36];
    let flags = [ICRNL, OPOST_ONLCR, B115200_CS8_CREAD, ISIG_ICANON_ECHO_ECHOE_ECHOK];
    for (flag, slot) in flags.iter().zip(attributes.chunks_exact_mut(4)) {
        slot.copy_from_slice(&flag.to_le_bytes());
    }
    // c_line, then c_cc: VINTR, VQUIT, VERASE, VKILL, VEOF.
    attributes[17..22].copy_from_slice(&[3, 0, 0x7f, 0x15, 4]);
    attributes
}

fn with_terminal<R>(use_it: impl FnOnce(&mut LineDiscipline) -> R) -> R {
    use_it(TERMINAL.lock().as_mut().expect("made before the first process"))
}

/// Parks until woken by the terminal task, unless `ready` holds already: enlisting comes before the test.
fn wait_for(ready: impl FnOnce() -> bool) {
    let me = sched::current();
    WAITING.lock().push(me.clone());
    if !ready() {
        sched::park();
    }
    WAITING.lock().retain(|task| !Arc::ptr_eq(task, &me));
}

fn wake_waiting() {
    let waiting = core::mem::take(&mut *WAITING.lock());
    waiting.iter().for_each(sched::unpark);
}

fn send_or_lose(bytes: &[u8]) {
    let sent = LINE.lock().send(bytes);
    LOST.fetch_add((bytes.len() - sent) as u64, Ordering::Relaxed);
}

/// Takes what COM1 received, for ever.
extern "C" fn terminal_task(_: u64) -> ! {
    let mut chunk = [0; CHUNK];
    x86_64::instructions::interrupts::enable();
    loop {
        let count = LINE.lock().read(&mut chunk);
        chunk[..count].iter().for_each(|&byte| handle_input(byte));
        if ROOM.swap(false, Ordering::Relaxed) {
            wake_waiting();
        }
        if count == 0 {
            sched::park();
        }
    }
}

fn handle_input(byte: u8) {
    let reaction = with_terminal(|terminal| terminal.input(byte));
    for byte in reaction.echo {
        send_or_lose(&[byte]);
        AT_LINE_START.store(byte == b'\n', Ordering::Relaxed);
    }
    match reaction.event {
        Some(Event::Ready) => wake_waiting(),
        Some(Event::Interrupt) => process::interrupt_foreground(foreground(), SIGINT),
        None => {}
    }
}
