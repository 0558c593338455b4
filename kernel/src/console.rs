//! COM1, the human's line. Output of programs and of the kernel goes to the line's send ring; input goes through the
//! line discipline in a kernel task, which echoes it and turns Ctrl-C and its like into signals for the foreground group.
//!
//! Nobody's input is lost: when the line discipline is full, the task leaves bytes in the line's receive ring, and
//! when that is full, the device and the host wait. Nobody's output waits for ever: a program whose output the host
//! does not take can be killed, and what the kernel itself has to say is dropped and counted.

use crate::arch::clock::{self, Nanos, SECOND};
use crate::arch::{boot, pic, power};
use crate::drivers::keyboard::{self, Keyboard};
use crate::drivers::serial::{COM1, Events, LineErrors, SerialLine};
use crate::process::terminal;
use crate::sched::{self, Task, WaitQueue};
use crate::screen;
use crate::sync::IrqMutex;
use crate::timeline::{self, Point};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use askr_abi::Errno;
use askr_abi::terminal::{TERMIOS_SIZE, Termios, Winsize};
use askr_core::tty::{Event, LineDiscipline, Modes, Onlcr, Reaction};
use askr_screen::Typed;
use askr_uart::UartError;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use spin::{Mutex, Once};

/// Room that an emergency message may wait for.
const EMERGENCY: Nanos = SECOND;
/// Bytes of input that the terminal task takes at once.
const CHUNK: usize = 256;
/// Bytes of program output that are prepared at once.
const OUTPUT_CHUNK: usize = 512;
/// Unit of VTIME.
const TENTH: Nanos = SECOND / 10;

static LINE: IrqMutex<SerialLine> = IrqMutex::new(SerialLine::new(None));
static KEYBOARD: IrqMutex<Keyboard> = IrqMutex::new(Keyboard::new());
static TERMINAL: Mutex<Option<LineDiscipline>> = Mutex::new(None);
static TERMINAL_TASK: Once<Arc<Task>> = Once::new();
/// Tasks that wait for a line of input or for room to write.
static WAITING: WaitQueue = WaitQueue::new();
/// The send ring emptied since the terminal task last looked, and somebody may wait for that.
static ROOM: AtomicBool = AtomicBool::new(false);
/// Whether the cursor stands at the start of a line, so that kernel lines begin on one of their own.
static AT_LINE_START: AtomicBool = AtomicBool::new(true);
static LOST: AtomicU64 = AtomicU64::new(0);
static WINDOW: Mutex<Winsize> = Mutex::new(Winsize { rows: 0, columns: 0, x_pixels: 0, y_pixels: 0 });

/// Opens the line.
///
/// # Errors
/// What is wrong with COM1; without it the kernel runs on, mute.
pub(crate) fn init() -> Result<(), UartError> {
    LINE.lock().open(COM1)
}

/// Starts the terminal task. A serial line does not tell the size of what is at its other end; the host may do so on
/// the kernel command line.
///
/// # Errors
/// ENOMEM.
pub(crate) fn start() -> Result<(), Errno> {
    *TERMINAL.lock() = Some(LineDiscipline::new());
    let told = boot::option(b"winsize").and_then(window_of);
    let shown = screen::start(told.map(|size| (size.rows, size.columns)))?;
    let on_screen = shown.map(|(rows, columns)| Winsize {
        rows: u16::try_from(rows).unwrap_or(0),
        columns: u16::try_from(columns).unwrap_or(0),
        ..Winsize::default()
    });
    if let Some(size) = told.or(on_screen) {
        set_window(size);
    }
    let task = sched::spawn_kernel(terminal_task)?;
    TERMINAL_TASK.call_once(|| task);
    if keyboard::start() {
        pic::open_line(pic::IRQ_KEYBOARD);
    }
    Ok(())
}

/// The keyboard's interrupt.
pub(crate) fn on_keyboard_interrupt() {
    let came = KEYBOARD.lock().on_interrupt();
    if let Some(task) = TERMINAL_TASK.get().filter(|_| came) {
        sched::unpark(task);
    }
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
    let own_line: &[u8] = if AT_LINE_START.swap(true, Ordering::Relaxed) { b"" } else { b"\n" };
    screen::cancel_sequence();
    send_or_lose(Onlcr::new(own_line).chain(Onlcr::new(line)));
}

/// Tells the host where our output begins, if it wants to know: `start=TEXT` on the command line. Firmware and boot loader
/// may have written to COM1 before.
pub(crate) fn mark_start() {
    if let Some(mark) = boot::option(b"start") {
        let mut port = LINE.lock();
        port.queue(mark);
        port.queue(b"\n");
        port.start();
    }
}

/// Writes from a panic: by polling, with a deadline by the clock. The line may not even be open yet.
pub(crate) fn write_emergency(parts: &[&[u8]]) {
    let deadline = clock::now() + EMERGENCY;
    let mut port = LINE.seize();
    if !port.is_open() {
        // What is wrong with it can be told to nobody.
        let _ = port.open(COM1);
    }
    port.flush_until(|| clock::now() >= deadline);
    for byte in parts.iter().copied().flat_map(Onlcr::new) {
        port.write_polled(&[byte], || clock::now() >= deadline);
    }
}

/// Waits until the device has taken everything written, or takes nothing for as long as `patience`: before the machine
/// goes off.
pub(crate) fn drain(patience: Nanos) {
    let mut port = LINE.lock();
    let (mut unsent, mut progress) = (port.unsent(), clock::now());
    while unsent > 0 && clock::now() - progress < patience {
        port.start();
        if port.unsent() < unsent {
            progress = clock::now();
        }
        unsent = port.unsent();
    }
}

/// Those who wait for input or for room.
pub(crate) fn waiting() -> &'static WaitQueue {
    &WAITING
}

/// Whether [`write`] would take something.
pub(crate) fn is_writable() -> bool {
    LINE.lock().room() > OUTPUT_CHUNK
}

/// Writes program output, as much as there is room for.
///
/// # Errors
/// EAGAIN if there is no room.
pub(crate) fn write(bytes: &[u8]) -> Result<usize, Errno> {
    let mut done = 0;
    while done < bytes.len() {
        match take_output(&bytes[done..]) {
            0 => break,
            taken => done += taken,
        }
    }
    if done == 0 && !bytes.is_empty() { Err(Errno::EAGAIN) } else { Ok(done) }
}

/// Moves as much as fits into the send ring.
fn take_output(bytes: &[u8]) -> usize {
    let chunk = &bytes[..bytes.len().min(OUTPUT_CHUNK)];
    let convert = with_terminal(|terminal| terminal.modes().adds_carriage_return());
    let mut port = LINE.lock();
    let mut output = Onlcr::when(convert, chunk);
    // A newline becomes two bytes: never take one that only half fits.
    while port.room() >= 2 {
        let before = output.consumed();
        while output.consumed() == before {
            let Some(byte) = output.next() else { break };
            port.queue(&[byte]);
        }
        if output.consumed() == before {
            break; // the end
        }
    }
    let taken = output.consumed();
    let is_open = port.is_open();
    port.start();
    drop(port);
    if taken > 0 {
        screen::write(Onlcr::when(convert, &chunk[..taken]));
        if let Some(task) = TERMINAL_TASK.get().filter(|_| !is_open) {
            sched::unpark(task); // the screen may have an answer
        }
        AT_LINE_START.store(chunk[taken - 1] == b'\n', Ordering::Relaxed);
    }
    taken
}

/// Until when somebody who reads from now on waits, by the terminal's modes; `None` is without end.
pub(crate) fn patience() -> Option<Nanos> {
    let patience = with_terminal(|terminal| terminal.patience());
    patience.map(|tenths| clock::now() + u64::from(tenths) * TENTH)
}

/// Whether [`read`] would give something, to somebody who wants that.
pub(crate) fn is_readable() -> bool {
    with_terminal(LineDiscipline::want);
    take_up_backlog();
    with_terminal(|terminal| terminal.is_ready())
}

/// Reads what the terminal's modes give: a line or the part of it that fits, or bytes. 0 is the end of the file.
///
/// # Errors
/// EAGAIN if there is nothing yet.
pub(crate) fn read(into: &mut [u8]) -> Result<usize, Errno> {
    timeline::pass(Point::Read, into.len() as u64);
    let count = with_terminal(|terminal| terminal.read(into));
    take_up_backlog();
    count.ok_or(Errno::EAGAIN)
}

/// Input that found no room, or nobody who wanted it, goes on, and the terminal task fetches more.
fn take_up_backlog() {
    while let Some(reaction) = with_terminal(LineDiscipline::resume) {
        react(reaction);
    }
    if let Some(task) = TERMINAL_TASK.get() {
        sched::unpark(task);
    }
}

/// `/proc/console`: what was lost on COM1. `lost`: bytes of kernel lines and echo that it did not take; `refused`: bytes typed
/// beyond the longest line.
pub(crate) fn report() -> String {
    let LineErrors { overruns, damaged } = LINE.lock().errors();
    let refused = with_terminal(|terminal| terminal.refused());
    let lost = LOST.load(Ordering::Relaxed);
    let keys = KEYBOARD.lock().lost();
    format!(
        "lost {lost}\nrefused {refused}\nrx_overruns {overruns}\nrx_line_errors {damaged}\nkeys_lost {keys}\n"
    )
}

/// `struct termios` of the terminal.
pub(crate) fn attributes() -> [u8; TERMIOS_SIZE] {
    with_terminal(|terminal| terminal.modes()).to_termios().to_bytes()
}

/// Sets what can be set of `struct termios`; with `discard`, what was typed and not read is forgotten.
pub(crate) fn set_attributes(attributes: &[u8; TERMIOS_SIZE], discard: bool) {
    let modes = Modes::from_termios(&Termios::from_bytes(attributes));
    let reaction = with_terminal(|terminal| {
        if discard {
            terminal.discard();
        }
        terminal.set_modes(modes)
    });
    reaction.into_iter().for_each(react);
    take_up_backlog();
    // Whoever reads waits by other rules now.
    WAITING.wake();
}

/// The size of the window, zeros if it is not known.
pub(crate) fn window() -> Winsize {
    *WINDOW.lock()
}

/// Sets the size of the window.
pub(crate) fn set_window(size: Winsize) {
    *WINDOW.lock() = size;
}

/// The size in `winsize=ROWSxCOLUMNS`, a word of the kernel command line.
fn window_of(value: &[u8]) -> Option<Winsize> {
    let (rows, columns) = core::str::from_utf8(value).ok()?.split_once('x')?;
    Some(Winsize { rows: rows.parse().ok()?, columns: columns.parse().ok()?, x_pixels: 0, y_pixels: 0 })
}

fn with_terminal<R>(use_it: impl FnOnce(&mut LineDiscipline) -> R) -> R {
    use_it(TERMINAL.lock().as_mut().expect("made before the first process"))
}

/// Sends what there is room for and counts the rest.
fn send_or_lose(bytes: impl Iterator<Item = u8> + Clone) {
    screen::write(bytes.clone());
    let mut port = LINE.lock();
    let lost = bytes.filter(|&byte| port.queue(&[byte]) == 0).count();
    port.start();
    drop(port);
    LOST.fetch_add(lost as u64, Ordering::Relaxed);
}

/// Takes what COM1 received and what was typed on the keyboard, for ever.
extern "C" fn terminal_task(_: u64) -> ! {
    let mut chunk = [0; CHUNK];
    let mut keys = askr_screen::Keyboard::new();
    x86_64::instructions::interrupts::enable();
    loop {
        let room = with_terminal(|terminal| terminal.room()).min(CHUNK);
        let count = LINE.lock().read(&mut chunk[..room]);
        for &byte in &chunk[..count] {
            react(with_terminal(|terminal| terminal.input(byte)));
        }
        if ROOM.swap(false, Ordering::Relaxed) {
            WAITING.wake();
        }
        if !take_key(&mut keys) && !take_answer() && count == 0 {
            sched::park();
        }
    }
}

/// Takes a byte of what the screen answers. Where there is COM1, the terminal at its other end answers. Returns whether
/// there was one.
fn take_answer() -> bool {
    if LINE.lock().is_open() || with_terminal(|terminal| terminal.room()) == 0 {
        return false;
    }
    let Some(byte) = screen::take_answer() else { return false };
    react(with_terminal(|terminal| terminal.input(byte)));
    true
}

/// Takes one scan code, if there is room for what it may mean. Returns whether there was one.
fn take_key(keys: &mut askr_screen::Keyboard) -> bool {
    if with_terminal(|terminal| terminal.room()) < askr_screen::SEQUENCE_MAX {
        return false;
    }
    let Some(code) = KEYBOARD.lock().take() else { return false };
    match keys.scan_code(code) {
        Some(Typed::Bytes(bytes)) => {
            for &byte in bytes.as_bytes() {
                react(with_terminal(|terminal| terminal.input(byte)));
            }
        }
        Some(Typed::Restart) => power::restart(),
        None => {}
    }
    true
}

fn react(reaction: Reaction) {
    if let Some(last) = reaction.echo.clone().last() {
        send_or_lose(reaction.echo);
        AT_LINE_START.store(last == b'\n', Ordering::Relaxed);
    }
    match reaction.event {
        Some(Event::Ready) => WAITING.wake(),
        Some(Event::Signal(signal)) => terminal::signal_foreground(signal),
        None => {}
    }
}
