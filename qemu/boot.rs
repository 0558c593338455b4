//! `cargo run`: boots Askr in QEMU, with COM1 on this terminal and a hub for agents on COM2.

#![forbid(unsafe_code)]

mod agent;
mod args;
mod keys;
mod pump;
mod terminal;

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use args::Options;
use askr::{Exit, Vm};
use pump::Event;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

/// How long QEMU may take to end after it closed COM1.
const END_DEADLINE: Duration = Duration::from_secs(20);
/// Added to a signal's number, as shells do for programs that a signal ended.
const SIGNAL_STATUS: i32 = 128;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args_os()) {
        Ok(options) => options,
        Err(error) => error.exit(),
    };
    match run(&options) {
        Ok(code) => code,
        Err(error) => {
            pump::end_line();
            terminal::restore();
            eprintln!("askr: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<ExitCode> {
    for file in &options.with {
        if let Some(warning) = file.check()? {
            eprintln!("askr: warning: {warning}");
        }
    }
    let (sender, events) = mpsc::channel();
    watch_signals(sender.clone())?;
    let mut vm = options.machine().spawn()?;
    let hub = agent::start(&vm, &options.agent)?;

    let headless = options.headless || !io::stdin().is_terminal();
    let raw = connect_console(&mut vm, headless, &sender)?;
    let end = events.recv()?;
    let exit = match end {
        Event::GuestGone => vm.wait(END_DEADLINE)?,
        _ => {
            vm.kill();
            Exit::PowerOff
        }
    };
    drop(hub);
    pump::end_line();
    drop(raw);
    report(&end, &exit)
}

/// Starts the pumps; on a terminal the result is its raw mode.
fn connect_console(vm: &mut Vm, headless: bool, events: &Sender<Event>) -> Result<Option<terminal::RawMode>> {
    let com1 = vm.take_com1().ok_or("COM1 is taken")?;
    let first_byte = pump::output(com1.try_clone()?, events.clone());
    if headless {
        pump::piped_input(com1, first_byte, events.clone());
        return Ok(None);
    }
    let raw = terminal::RawMode::enter()?;
    pump::keyboard(com1, events.clone())?;
    Ok(Some(raw))
}

fn watch_signals(events: Sender<Event>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCONT])?;
    thread::spawn(move || {
        for signal in &mut signals {
            if signal == SIGCONT {
                terminal::reenter();
            } else if events.send(Event::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Says how it ended, if that was not the ordinary way, and gives the status for it.
fn report(end: &Event, exit: &Exit) -> Result<ExitCode> {
    match (end, exit) {
        (Event::Signal(signal), _) => Ok(ExitCode::from(u8::try_from(SIGNAL_STATUS + signal)?)),
        (Event::StreamGone(name, error), _) => Err(format!("{name}: {error}").into()),
        (_, Exit::PowerOff) => Ok(ExitCode::SUCCESS),
        (_, other) => Err(other.to_string().into()),
    }
}
