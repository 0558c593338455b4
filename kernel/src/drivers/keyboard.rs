//! A PS/2 keyboard behind the PC's keyboard controller (Intel 8042; IBM PC AT Technical Reference, "Keyboard
//! Controller"). Firmware emulates both for USB keyboards on many machines. The interrupt only moves bytes.

use crate::arch::clock::{self, Nanos, SECOND};
use heapless::Deque;
use x86_64::instructions::port::Port;

const DATA: u16 = 0x60;
/// Status when read, command when written.
const CONTROL: u16 = 0x64;
const OUTPUT_FULL: u8 = 0x01;
const INPUT_FULL: u8 = 0x02;
/// What waits comes from the mouse.
const FROM_MOUSE: u8 = 0x20;
/// What a port reads as where there is no device.
const NOTHING: u8 = 0xff;

const DISABLE_MOUSE: u8 = 0xa7;
const DISABLE_KEYBOARD: u8 = 0xad;
const ENABLE_KEYBOARD: u8 = 0xae;
const READ_CONFIG: u8 = 0x20;
const WRITE_CONFIG: u8 = 0x60;
/// Configuration: the keyboard's interrupt is on.
const INTERRUPT: u8 = 0x01;
/// The mouse's interrupt is on.
const MOUSE_INTERRUPT: u8 = 0x02;
/// The keyboard's clock is off.
const CLOCK_OFF: u8 = 0x10;
/// Scan codes of set 2 are translated to set 1.
const TRANSLATE: u8 = 0x40;
/// Commands to the keyboard itself.
const SET_DEFAULTS: u8 = 0xf6;
const ENABLE_SCANNING: u8 = 0xf4;

/// How long the controller or the keyboard may take for one byte.
const PATIENCE: Nanos = SECOND / 20;
/// Bytes taken in one interrupt; more raise another one.
const BURST: usize = 16;
/// Scan codes that wait to be looked at; more are lost and counted.
const QUEUE: usize = 128;

/// A keyboard's bytes.
pub(crate) struct Keyboard {
    codes: Deque<u8, QUEUE>,
    lost: u64,
}

impl Keyboard {
    pub(crate) const fn new() -> Self {
        Self { codes: Deque::new(), lost: 0 }
    }

    /// Serves the interrupt. Returns whether something came.
    pub(crate) fn on_interrupt(&mut self) -> bool {
        let before = self.codes.len();
        for _ in 0..BURST {
            let now = status();
            if now & OUTPUT_FULL == 0 || now == NOTHING {
                break;
            }
            let byte = read_data();
            if now & FROM_MOUSE == 0 && self.codes.push_back(byte).is_err() {
                self.lost += 1;
            }
        }
        self.codes.len() > before
    }

    /// The next scan code.
    pub(crate) fn take(&mut self) -> Option<u8> {
        self.codes.pop_front()
    }

    /// Scan codes lost because nobody took them.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }
}

/// Looks for the controller and makes it tell of keys by its interrupt. `false` if there is none or it does not answer; it
/// takes no longer than a few times [`PATIENCE`].
pub(crate) fn start() -> bool {
    if status() == NOTHING {
        return false;
    }
    set_up().is_some()
}

fn set_up() -> Option<()> {
    command(DISABLE_KEYBOARD)?;
    command(DISABLE_MOUSE)?;
    drain();
    command(READ_CONFIG)?;
    let config = answer()? & !(MOUSE_INTERRUPT | CLOCK_OFF);
    command(WRITE_CONFIG)?;
    send(config | INTERRUPT | TRANSLATE)?;
    command(ENABLE_KEYBOARD)?;
    for to_keyboard in [SET_DEFAULTS, ENABLE_SCANNING] {
        send(to_keyboard)?;
        // Without a keyboard there is no answer; one that is plugged in later needs no commands.
        let _ = answer();
    }
    drain();
    Some(())
}

/// Waits until `is_so`, as long as [`PATIENCE`].
fn wait(is_so: impl Fn() -> bool) -> Option<()> {
    let deadline = clock::now() + PATIENCE;
    while !is_so() {
        if clock::now() >= deadline {
            return None;
        }
        core::hint::spin_loop();
    }
    Some(())
}

fn command(command: u8) -> Option<()> {
    wait(|| status() & INPUT_FULL == 0)?;
    // SAFETY: the keyboard controller's command port; the kernel owns the device.
    unsafe { Port::<u8>::new(CONTROL).write(command) };
    Some(())
}

fn send(byte: u8) -> Option<()> {
    wait(|| status() & INPUT_FULL == 0)?;
    // SAFETY: as above, its data port.
    unsafe { Port::<u8>::new(DATA).write(byte) };
    Some(())
}

fn answer() -> Option<u8> {
    wait(|| status() & OUTPUT_FULL != 0)?;
    Some(read_data())
}

/// Forgets what waits to be read.
fn drain() {
    for _ in 0..BURST {
        if status() & OUTPUT_FULL == 0 {
            break;
        }
        read_data();
    }
}

fn status() -> u8 {
    // SAFETY: reading the status changes nothing.
    unsafe { Port::<u8>::new(CONTROL).read() }
}

fn read_data() -> u8 {
    // SAFETY: takes what the controller has, which is ours.
    unsafe { Port::<u8>::new(DATA).read() }
}
