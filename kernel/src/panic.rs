//! The end of a kernel that found itself wrong: say why on the screen and on COM1, with a deadline, and halt; or, where a
//! host only waits for a result, on the debug console, and end.

use crate::arch::power;
use crate::drivers::debugcon;
use crate::{bus, console, screen, trace};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

static PANICKING: AtomicBool = AtomicBool::new(false);

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    x86_64::instructions::interrupts::disable();
    // A panic while reporting one: there is nothing left to say.
    if !PANICKING.swap(true, Ordering::Relaxed) {
        let line = trace::Line::format(format_args!("kernel panic: {info}"));
        if debugcon::is_enabled() {
            debugcon::write(line.as_bytes());
            power::fail();
        }
        let words = [line.as_bytes(), b"The machine is halted. Start it again.\n"];
        screen::write_alarm(&words);
        console::write_emergency(&words);
        let where_to = info.location();
        let told = match where_to {
            Some(at) => trace::Line::format(format_args!("{} ({at})", info.message())),
            None => trace::Line::format(format_args!("{}", info.message())),
        };
        bus::panicked(told.as_bytes().trim_ascii_end());
    }
    power::halt()
}
