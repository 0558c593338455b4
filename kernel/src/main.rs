//! The Askr kernel: boots by two doors, runs ring-3 programs, and gives the agent on the host a line of its own.
#![no_std]
#![no_main]
#![allow(
    clippy::cast_possible_truncation,
    reason = "usize has 64 bits here, and system calls cut registers to the C types of their arguments"
)]

extern crate alloc;

mod arch;
mod bus;
mod console;
mod drivers;
mod fs;
mod mm;
mod panic;
mod policy;
mod process;
mod random;
mod sched;
mod screen;
mod sync;
mod syscall;
mod timeline;
mod trace;
mod version;

use bootloader_api::BootInfo;
use timeline::Point;
use x86_64::instructions::interrupts;

/// The first program.
const INIT: &[u8] = b"/bin/init";

/// Where both doors end, interrupts off, on the boot stack. Brings everything up, starts the first program, and parks for good.
#[unsafe(no_mangle)]
extern "C" fn kernel_main(info: &'static mut BootInfo) -> ! {
    timeline::pass(Point::Boot, 0);
    let begun = arch::clock::begin();
    let initrd = fs::initrd::locate(info);
    screen::locate(info);
    drivers::debugcon::init();
    let com1 = console::init();
    mm::init(info);
    if arch::boot::read_cmdline(initrd) {
        drivers::debugcon::init();
        console::mark_start();
    }
    arch::cpu::init();
    arch::pic::init();
    timeline::pass(Point::Boot, 1);
    arch::clock::init(begun);
    timeline::pass(Point::Boot, 2);
    random::init();
    sched::init().expect("memory for the scheduler");
    if !drivers::debugcon::is_enabled() {
        // A host that runs one line wants to hear of trouble only.
        kprintln!("{} {} on COM1, the agent's line is COM2", version::NAME, version::RELEASE);
    }
    if let Err(error) = com1 {
        kprintln!("COM1: {error}");
    }
    fs::init(initrd);
    timeline::pass(Point::Boot, 3);
    console::start().expect("memory for the terminal");
    bus::start().expect("memory for the bus");
    process::alarm::init().expect("memory for the alarms");
    timeline::pass(Point::Boot, 4);
    interrupts::enable();
    fs::disk::mount();
    timeline::pass(Point::Boot, 5);
    if let Err(error) = process::spawn_init(INIT) {
        panic!("cannot start /bin/init from the initrd: {error}");
    }
    bus::serve().expect("memory for the bus");
    loop {
        sched::park();
    }
}
