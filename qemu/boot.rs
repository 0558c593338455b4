//! `cargo run`: boots Askr in QEMU, with COM1 on this terminal and a hub for agents on COM2.

#![forbid(unsafe_code)]

mod after;
mod agent;
mod args;
mod image;
mod kernel_log;
mod keys;
mod pump;
mod terminal;

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use after::After;
use args::Options;
use askr::{Door, Exit, ExtraFile, Vm};
use host_bridge::symbols::load_base;
use pump::Event;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

/// How long QEMU may take to end after it closed COM1.
const END_DEADLINE: Duration = Duration::from_secs(20);
/// Added to a signal's number, as shells do for programs that a signal ended.
const SIGNAL_STATUS: i32 = 128;
/// Status with `--run` when there is none of the line: the number that `env`, `timeout` and `chroot` have for it.
const NO_STATUS: u8 = 125;

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
            if options.run.is_some() { ExitCode::from(NO_STATUS) } else { ExitCode::FAILURE }
        }
    }
}

fn run(options: &Options) -> Result<ExitCode> {
    for file in &options.with {
        if let Some(warning) = file.check()? {
            eprintln!("askr: warning: {warning}");
        }
    }
    if let Some(out) = &options.image {
        askr::write_boot_image(&options.with, out)?;
        eprintln!("askr: wrote {}, which boots by BIOS and by UEFI", out.display());
        return Ok(ExitCode::SUCCESS);
    }
    let (sender, events) = mpsc::channel();
    watch_signals(sender.clone())?;
    let on_terminal = !options.headless && options.run.is_none() && io::stdin().is_terminal();
    let mut machine = options.machine().disk(image::open(options)?);
    if on_terminal && let Some(word) = terminal::size_word() {
        machine = machine.word(word);
    }
    if !on_terminal && options.door != Door::Direct {
        machine = machine.mark_start();
    }
    let mut vm = machine.spawn()?;
    let hub = agent::start(&vm, &options.agent, options.run.is_none())?;
    if let Some(hub) = &hub {
        options.with.iter().for_each(|file| hub.know_program(file.name(), file.host.clone()));
    }
    if options.gdb {
        let command = debugger_command(&vm, &options.with);
        eprintln!("askr: the guest waits for a debugger; attach one with\n  {command}");
    }

    let log = vm.take_kernel_log().map(kernel_log::copy);
    let raw = connect_console(&mut vm, on_terminal, &sender)?;
    let end = events.recv()?;
    let exit = match end {
        Event::GuestGone => vm.wait(END_DEADLINE)?,
        _ => {
            vm.kill();
            Exit::PowerOff
        }
    };
    drop(hub);
    if raw.is_some() {
        pump::end_line();
    }
    drop(raw);
    report(&end, &exit, log)
}

/// Starts the pumps; on a terminal the result is its raw mode.
fn connect_console(
    vm: &mut Vm,
    on_terminal: bool,
    events: &Sender<Event>,
) -> Result<Option<terminal::RawMode>> {
    let mark = vm.start_mark().map(str::to_owned);
    if let Some(output) = vm.take_output() {
        pump::line_output(After::new(output, mark), events.clone());
        return Ok(None);
    }
    let com1 = vm.take_com1().ok_or("COM1 is taken")?;
    let first_byte = pump::output(After::new(com1.try_clone()?, mark), events.clone());
    if on_terminal {
        let raw = terminal::RawMode::enter()?;
        pump::keyboard(com1, events.clone())?;
        return Ok(Some(raw));
    }
    pump::piped_input(com1, first_byte, events.clone());
    Ok(None)
}

/// What attaches gdb with the symbols of the kernel and of the programs that `--with` brings, as a shell has it.
fn debugger_command(vm: &Vm, programs: &[ExtraFile]) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let mut command = format!("gdb -ex {}", quoted(&format!("target remote {}", vm.gdb_path().display())));
    for program in programs {
        if let Some(base) = load_base(&program.host) {
            let file = std::path::absolute(&program.host).unwrap_or_else(|_| program.host.clone());
            let add = format!("add-symbol-file \"{}\" -o {base:#x}", file.display());
            command += &format!(" -ex {}", quoted(&add));
        }
    }
    command + " " + &quoted(askr::KERNEL)
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

/// Says how it ended, if that was not the ordinary way, and gives the status for it. `log` is there with `--run`.
fn report(end: &Event, exit: &Exit, log: Option<JoinHandle<Option<u8>>>) -> Result<ExitCode> {
    match (end, exit) {
        (Event::Signal(signal), _) => return signal_status(*signal),
        // The reader has enough, as `head` has: no reason for a message.
        (Event::StreamGone(_, error), _) if error.kind() == io::ErrorKind::BrokenPipe => {
            return signal_status(SIGPIPE);
        }
        (Event::StreamGone(name, error), _) => return Err(format!("{name}: {error}").into()),
        _ => {}
    }
    let Some(log) = log else {
        return match exit {
            Exit::PowerOff => Ok(ExitCode::SUCCESS),
            other => Err(other.to_string().into()),
        };
    };
    let status = log.join().map_err(|_| "the reader of the kernel's log failed")?;
    match (exit, status) {
        (Exit::PowerOff, Some(status)) => Ok(ExitCode::from(status)),
        (Exit::PowerOff, None) => Err("QEMU ended before the line's exit status came".into()),
        (other, _) => Err(format!("{other} before the line's exit status came").into()),
    }
}

fn signal_status(signal: i32) -> Result<ExitCode> {
    Ok(ExitCode::from(u8::try_from(SIGNAL_STATUS + signal)?))
}
