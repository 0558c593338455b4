//! The screen of a machine that has a frame buffer: it shows what goes to COM1. Writing changes cells only; a kernel
//! task paints those that changed, a little at a time, so that neither programs nor COM1 wait for pixels.

use crate::arch::clock::{self, Nanos, SECOND};
use crate::drivers::debugcon;
use crate::drivers::framebuffer::{self, FrameBuffer, Location};
use crate::kprintln;
use crate::sched::{self, Task};
use crate::sync::IrqMutex;
use crate::trace;
use alloc::sync::Arc;
use askr_abi::Errno;
use askr_core::tty::Onlcr;
use askr_screen::{Cell, Change, Colors, Screen};
use bootloader_api::BootInfo;
use spin::Once;

/// Bytes that are taken with interrupts off.
const PIECE: usize = 64;
/// Cells that are painted between two looks at the clock.
const CELLS: usize = 32;
/// Time that painting may take at once, and the pause after it. So it takes a sixth of the processor's time at most, and
/// what is overwritten meanwhile is never painted.
const SLICE: Nanos = SECOND / 500;
const PAUSE: Nanos = SECOND / 100;
/// Longest message of a panic, in characters.
const ALARM_MAX: usize = 4096;

static LOCATION: Once<Location> = Once::new();
/// The frame buffer as it can be written to before there is memory for more.
static EARLY: Once<FrameBuffer> = Once::new();
static FRAME_BUFFER: Once<FrameBuffer> = Once::new();
static SCREEN: IrqMutex<Option<Screen>> = IrqMutex::new(None);
static PAINTER: Once<Arc<Task>> = Once::new();

/// Finds the frame buffer. Call it while the boot loader's page tables are in use.
pub(crate) fn locate(info: &mut BootInfo) {
    if let Some(location) = framebuffer::locate(info) {
        LOCATION.call_once(|| location);
        if let Some(early) = FrameBuffer::early(location) {
            EARLY.call_once(|| early);
        }
    }
}

/// Shows the kernel's messages so far and everything that follows. Returns rows and columns, if there is a screen.
/// `limit` is the size of the window of who is at COM1: what is written for that has to wrap here at the same place.
///
/// # Errors
/// ENOMEM.
pub(crate) fn start(limit: Option<(u16, u16)>) -> Result<Option<(usize, usize)>, Errno> {
    let Some(location) = LOCATION.get() else { return Ok(None) };
    let buffer = FrameBuffer::open(*location).ok_or(Errno::ENOMEM)?;
    let (width, height) = buffer.size();
    let within = |limit: u16, size: usize| if limit == 0 { size } else { size.min(usize::from(limit)) };
    let (rows, columns) = match limit {
        Some((rows, columns)) => (within(rows, buffer.rows()), within(columns, buffer.columns())),
        None => (buffer.rows(), buffer.columns()),
    };
    buffer.clear();
    FRAME_BUFFER.call_once(|| buffer);
    let mut screen = Screen::new(rows, columns);
    let size = (screen.rows(), screen.columns());
    Onlcr::new(&trace::messages()?).for_each(|byte| screen.write(&[byte]));
    *SCREEN.lock() = Some(screen);
    let task = sched::spawn_kernel(painter)?;
    PAINTER.call_once(|| task);
    if !debugcon::is_enabled() {
        kprintln!("screen of {width} x {height} pixels, {} rows, {} columns", size.0, size.1);
    }
    Ok(Some(size))
}

/// Shows bytes, as COM1 gets them.
pub(crate) fn write(bytes: impl Iterator<Item = u8>) {
    let Some(painter) = PAINTER.get() else { return };
    let mut piece = heapless::Vec::<u8, PIECE>::new();
    for byte in bytes {
        if piece.push(byte).is_err() {
            take(&piece);
            piece.clear();
            // It was empty just now.
            let _ = piece.push(byte);
        }
    }
    take(&piece);
    sched::unpark(painter);
}

/// The next byte of what the screen answers to a program that asked it something.
pub(crate) fn take_answer() -> Option<u8> {
    SCREEN.lock().as_mut()?.take_answer()
}

/// What comes next is the kernel's: a sequence that a program began and did not end must not swallow it.
pub(crate) fn cancel_sequence() {
    if let Some(screen) = &mut *SCREEN.lock() {
        screen.cancel_sequence();
    }
}

fn take(piece: &[u8]) {
    if let Some(screen) = &mut *SCREEN.lock() {
        screen.write(piece);
    }
}

/// Writes the last words of the kernel over what is at the top, whatever state everything else is in.
pub(crate) fn write_alarm(parts: &[&[u8]]) {
    let Some(buffer) = FRAME_BUFFER.get().or(EARLY.get()) else { return };
    let (rows, columns) = (buffer.rows(), buffer.columns());
    let (mut row, mut column) = (0, 0);
    let paint = |row, column, character| {
        if row < rows {
            buffer.paint(row, column, Cell { character, colors: Colors::ALARM });
        }
    };
    for &byte in parts.iter().copied().flatten().take(ALARM_MAX) {
        let ends_line = byte == b'\n';
        if !ends_line {
            paint(row, column, if byte.is_ascii_graphic() { char::from(byte) } else { ' ' });
            column += 1;
        }
        if ends_line || column == columns {
            (column..columns).for_each(|column| paint(row, column, ' '));
            (row, column) = (row + 1, 0);
        }
    }
}

/// Paints what changed, for ever.
extern "C" fn painter(_: u64) -> ! {
    x86_64::instructions::interrupts::enable();
    loop {
        let end = clock::now() + SLICE;
        let (count, mut done) = paint_some();
        if count == 0 && done {
            sched::park();
            continue;
        }
        while !done && clock::now() < end {
            (_, done) = paint_some();
        }
        // The pause comes in any case: what is written in it is painted together.
        sched::sleep_until(clock::now() + PAUSE, || false);
    }
}

/// Paints some cells. Returns how many, and whether all is painted.
fn paint_some() -> (usize, bool) {
    let mut changes = [Change { row: 0, column: 0, cell: Cell::blank(0) }; CELLS];
    let (count, done) = match &mut *SCREEN.lock() {
        Some(screen) => screen.take_changes(&mut changes),
        None => (0, true),
    };
    if let Some(buffer) = FRAME_BUFFER.get() {
        for Change { row, column, cell } in &changes[..count] {
            buffer.paint(*row, *column, *cell);
        }
    }
    (count, done)
}
