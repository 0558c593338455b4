//! A booted guest with a person at its shell.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use askr::{Exit, Guest, Machine};

use super::PATIENCE;

/// What the shell shows when it is ready.
pub(crate) const PROMPT: &str = "askr$ ";

/// Guests beside the one that the tests of a file share: one at a time.
static OWN: Mutex<()> = Mutex::new(());

/// A guest at its prompt. When a test fails while it has one, everything that the console showed is printed.
pub(crate) struct Askr {
    guest: Guest,
}

impl Askr {
    /// Boots a machine of the test's own and waits for the prompt.
    pub(crate) fn boot(machine: &Machine) -> Own {
        let turn = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        Own { askr: Self::boot_now(machine), _turn: turn }
    }

    fn boot_now(machine: &Machine) -> Self {
        let mut askr = Self { guest: machine.start().unwrap() };
        askr.expect(PROMPT);
        askr
    }

    /// Waits until `text` is shown, looking only at what came after the last match; returns what came before it.
    #[track_caller]
    pub(crate) fn expect(&mut self, text: &str) -> String {
        self.guest.wait_for(text, PATIENCE).unwrap()
    }

    /// Types a command line and waits for its echo.
    #[track_caller]
    pub(crate) fn start(&mut self, line: &str) {
        self.guest.type_line(line).unwrap();
        self.expect(line);
        // What the editor tells the terminal at the end of a line may come first.
        self.expect("\r\n");
    }

    /// Waits for the prompt; returns what was shown before it.
    #[track_caller]
    pub(crate) fn finish(&mut self) -> String {
        self.expect(PROMPT)
    }

    /// Runs a command line to its end and returns what it showed.
    #[track_caller]
    pub(crate) fn run(&mut self, line: &str) -> String {
        self.start(line);
        self.finish()
    }

    /// The exit status of the command before.
    #[track_caller]
    pub(crate) fn status(&mut self) -> u64 {
        number_after(&self.run("echo status=$?"), "status=")
    }

    /// Makes sure that the shell, and nothing else, has the console, whatever happened before.
    pub(crate) fn settle(&mut self) {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        let marker = format!("settled-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.guest.type_bytes(b"\x03").unwrap();
        self.guest.type_line(&format!("echo {marker}")).unwrap();
        self.expect(&format!("\n{marker}\r\n"));
        self.finish();
    }

    /// Seconds since boot, by the guest's own clock.
    #[track_caller]
    pub(crate) fn uptime(&mut self) -> f64 {
        self.run("cat /proc/uptime").split_whitespace().next().unwrap().parse().unwrap()
    }

    /// What the kernel has of memory: KiB that are free, KiB of its heap that are used.
    #[track_caller]
    pub(crate) fn memory(&mut self) -> (u64, u64) {
        let shown = self.run("cat /proc/meminfo");
        (number_after(&shown, "MemFree:"), number_after(&shown, "KernelHeapUsed:"))
    }

    /// Waits until the kernel has as much memory as `before`, but for `slack` KiB.
    #[track_caller]
    pub(crate) fn expect_memory(&mut self, before: (u64, u64), slack: u64) {
        let give_up = Instant::now() + PATIENCE;
        loop {
            let now = self.memory();
            if now.0 + slack >= before.0 && now.1 <= before.1 + slack {
                eprintln!("free and used by the kernel in KiB: {before:?} before, {now:?} after");
                return;
            }
            assert!(Instant::now() < give_up, "free and used by the kernel in KiB: {before:?}, now {now:?}");
        }
    }

    /// Switches the machine off and checks that QEMU ends because of that.
    pub(crate) fn power_off(&mut self) {
        self.start("poweroff");
        assert_eq!(self.guest.exit(PATIENCE).unwrap(), Exit::PowerOff);
    }
}

impl Deref for Askr {
    type Target = Guest;

    fn deref(&self) -> &Guest {
        &self.guest
    }
}

impl DerefMut for Askr {
    fn deref_mut(&mut self) -> &mut Guest {
        &mut self.guest
    }
}

impl Drop for Askr {
    fn drop(&mut self) {
        if thread::panicking() {
            print_transcript(&self.guest);
        }
    }
}

/// A guest of the test's own, and the turn to have one.
pub(crate) struct Own {
    // Before the turn: the guest has to be gone when the next one boots.
    askr: Askr,
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Own {
    type Target = Askr;

    fn deref(&self) -> &Askr {
        &self.askr
    }
}

impl DerefMut for Own {
    fn deref_mut(&mut self) -> &mut Askr {
        &mut self.askr
    }
}

fn print_transcript(guest: &Guest) {
    eprintln!("the console showed:");
    for line in guest.transcript().lines() {
        eprintln!("    | {}", line.escape_debug());
    }
}

/// The guest that the tests of one file share, one test at a time.
pub(crate) struct Shared {
    make: fn() -> Machine,
    guest: Mutex<Option<Askr>>,
}

impl Shared {
    /// A guest on this machine, booted by the first test that uses it.
    pub(crate) const fn new(make: fn() -> Machine) -> Self {
        Self { make, guest: Mutex::new(None) }
    }

    /// The guest at its prompt, for this test alone.
    pub(crate) fn take(&'static self) -> Borrowed {
        let mut guest = self.guest.lock().unwrap_or_else(PoisonError::into_inner);
        match guest.as_mut() {
            Some(guest) => guest.settle(),
            None => *guest = Some(Askr::boot_now(&(self.make)())),
        }
        Borrowed(guest)
    }
}

/// A shared guest while one test has it.
pub(crate) struct Borrowed(MutexGuard<'static, Option<Askr>>);

impl Deref for Borrowed {
    type Target = Askr;

    fn deref(&self) -> &Askr {
        self.0.as_ref().expect("filled by `take`")
    }
}

impl DerefMut for Borrowed {
    fn deref_mut(&mut self) -> &mut Askr {
        self.0.as_mut().expect("filled by `take`")
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if thread::panicking() {
            print_transcript(self);
        }
    }
}

/// The decimal number that follows `key`.
#[track_caller]
pub(crate) fn number_after(text: &str, key: &str) -> u64 {
    let Some((_, rest)) = text.split_once(key) else { panic!("no {key:?} in {text:?}") };
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number after {key:?} in {text:?}"))
}
