//! Guests of the benchmark, and the programs that run in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use askr::{ExtraFile, Machine, Vm};

use crate::screen::Screen;
use crate::{Result, load};

/// Longest that a guest may take to boot, or to say its first word over the wire.
pub(crate) const BOOT: Duration = Duration::from_secs(120);
/// Longest that it may take to answer one short request.
pub(crate) const ANSWER: Duration = Duration::from_secs(60);
/// Longest that a program in it, or a file of many MiB on its way, may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(500);
/// What the shell shows when it waits for a line.
pub(crate) const PROMPT: &str = "askr$ ";

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/guest");
const HEADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/userland/c");

/// Folder of what the benchmark makes: `peers` in the target folder.
pub(crate) fn folder() -> PathBuf {
    askr::state_dir().with_file_name("peers")
}

/// A machine that runs, and its console.
pub(crate) struct Guest {
    pub(crate) vm: Vm,
    pub(crate) screen: Screen,
}

impl Guest {
    /// Starts QEMU as one of ours.
    pub(crate) fn start(machine: &Machine) -> Result<Self> {
        let mut vm = machine.spawn()?;
        load::is_ours(vm.pid());
        let screen = Screen::new(vm.take_com1().ok_or("no COM1")?);
        Ok(Self { vm, screen })
    }

    /// Boots Askr and waits for its prompt.
    pub(crate) fn boot(machine: &Machine) -> Result<Self> {
        let guest = Self::start(machine)?;
        guest.screen.shows(PROMPT, BOOT)?;
        Ok(guest)
    }
}

/// The programs of the benchmark: static binaries that run on Askr and, but for `asks`, on Linux.
pub(crate) struct Programs {
    /// Names and files.
    pub(crate) all: Vec<(&'static str, PathBuf)>,
}

impl Programs {
    /// Compiles them.
    pub(crate) fn compile() -> Result<Self> {
        let mut all = Vec::new();
        for name in ["syscalls", "crowd", "asks"] {
            let mut musl = Command::new("musl-gcc");
            musl.args(["-static", "-O2", "-Wall", "-Wextra", "-Werror", "-I", HEADERS]);
            all.push((name, compile(musl, &format!("{name}.c"), name)?));
        }
        Ok(Self { all })
    }

    /// The machine, with these in `/bin`.
    pub(crate) fn put_into(&self, machine: Machine) -> Machine {
        self.all.iter().fold(machine, |machine, (name, file)| {
            machine.with(ExtraFile { host: file.clone(), guest: format!("/bin/{name}") })
        })
    }
}

/// Compiles one of the sources beside this one to a file of this name.
pub(crate) fn compile(mut compiler: Command, source: &str, name: &str) -> Result<PathBuf> {
    let file = made(name)?;
    let program = compiler.get_program().to_string_lossy().into_owned();
    let source = Path::new(SOURCES).join(source);
    let output = compiler.current_dir(SOURCES).arg("-o").arg(&file).arg(&source).output();
    let output = output.map_err(|error| format!("{program}: {error}; ./qemu/setup.sh installs it"))?;
    if output.status.success() {
        Ok(file)
    } else {
        Err(format!("{}: {}", source.display(), String::from_utf8_lossy(&output.stderr)).into())
    }
}

/// A place for a file that the benchmark makes.
pub(crate) fn made(name: &str) -> Result<PathBuf> {
    fs::create_dir_all(folder())?;
    Ok(folder().join(name))
}
