//! One running QEMU.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::Duration;

use host_bridge::socket;
use serde_json::{Value, json};

use crate::command_line::{COM2_SOCKET, DATA_SOCKET, GDB_SOCKET, LOG_SOCKET};
use crate::error::{Transcript, printable};
use crate::qmp::Qmp;
use crate::resets::SHORT;
use crate::run_folder::RunFolder;
use crate::{Disk, Error, Machine, Result, spawner};

/// The program that is started.
const QEMU: &str = "qemu-system-x86_64";
/// The oldest version that is known to work.
const OLDEST_QEMU: (u64, u64) = (7, 0);
/// The file in the run folder that takes QEMU's standard error.
const ERROR_LOG: &str = "qemu.log";
/// How much of the end of that file is shown, in lines.
const ERROR_LINES: usize = 20;
/// Status of QEMU when a kernel writes `POWEROFF_CODE` to port 0xf4 (isa-debug-exit: `code << 1 | 1`).
const DEBUG_EXIT_POWEROFF: i32 = (POWEROFF_CODE << 1) | 1;
/// What the kernel writes to port 0xf4 to say "powered off" where there is no ACPI. Zero would give QEMU the
/// status 1, which is also that of its own failures.
const POWEROFF_CODE: i32 = 0x31;

/// Status of QEMU when a kernel that panicked writes 0x32 there, which it does when it runs one line only.
const DEBUG_EXIT_PANIC: i32 = (0x32 << 1) | 1;

/// How a guest ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It powered itself off, or was told to quit.
    PowerOff,
    /// It reset itself: a reboot, or a triple fault. Not with [`Machine::restarts`].
    Reset,
    /// It reset itself again and again, each time shortly after its start ([`Machine::restarts`]).
    ResetLoop,
    /// Its kernel panicked, and said so by ending QEMU ([`Machine::run`]).
    Panic,
    /// QEMU ended in another way.
    Failed {
        /// QEMU's exit status or signal.
        status: String,
        /// The end of its standard error.
        stderr: String,
    },
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PowerOff => f.write_str("the guest powered off"),
            Self::Reset => f.write_str("the guest reset itself (a triple fault, or a reboot)"),
            Self::ResetLoop => write!(
                f,
                "the guest reset itself again and again, each time within {} s of its start; it is not started again",
                SHORT.as_secs()
            ),
            Self::Panic => f.write_str("the guest's kernel panicked"),
            Self::Failed { status, stderr } if stderr.is_empty() => {
                write!(f, "QEMU ended unexpectedly ({status})")
            }
            Self::Failed { status, stderr } => write!(f, "QEMU ended unexpectedly ({status}):\n{stderr}"),
        }
    }
}

/// A running QEMU; killed on drop.
pub struct Vm {
    child: Child,
    com1: Option<UnixStream>,
    output: Option<PipeReader>,
    kernel_log: Option<UnixStream>,
    start_mark: Option<String>,
    has_data_door: bool,
    qmp: Qmp,
    // Its lock.
    _disk: Option<Disk>,
    // Last: the folder goes after QEMU is gone.
    folder: RunFolder,
}

/// Starts QEMU in `folder` with these arguments.
pub(crate) fn launch(
    folder: RunFolder,
    machine: &Machine,
    arguments: &[OsString],
    start_mark: Option<String>,
) -> Result<Vm> {
    let program = spawner::find_program(QEMU).ok_or(Error::NotInstalled { program: QEMU })?;
    spawner::find_program("setpriv").ok_or(Error::NotInstalled { program: "setpriv (util-linux)" })?;
    let com1 = Com1::open(machine.runs_line(), &folder)?;
    let (monitor, monitor_qemu) = UnixStream::pair().map_err(Error::io("socket for the monitor"))?;
    let log = File::create(folder.path().join(ERROR_LOG)).map_err(Error::io(ERROR_LOG))?;
    let mut command = spawner::bound_command(&program, arguments);
    command.current_dir(folder.path()).stdin(com1.qemu).stdout(OwnedFd::from(monitor_qemu)).stderr(log);
    let mut child = spawner::spawn(command).map_err(Error::io("starting QEMU"))?;
    match Qmp::start(monitor) {
        Ok(Some(qmp)) if qmp.version() < OLDEST_QEMU => {
            let (major, minor) = qmp.version();
            end(&mut child);
            Err(too_old(&format!("{major}.{minor}")))
        }
        Ok(Some(qmp)) => {
            let _disk = machine.disk.clone();
            let (terminal, output) = (com1.terminal, com1.output);
            let mut vm = Vm {
                child,
                com1: terminal,
                output,
                kernel_log: None,
                start_mark,
                has_data_door: machine.data_door,
                qmp,
                _disk,
                folder,
            };
            // QEMU connected before it answered on the monitor, so this does not wait.
            let accepted = com1.log_listener.map(|listener| listener.accept()).transpose();
            vm.kernel_log = accepted.map_err(Error::io(LOG_SOCKET))?;
            Ok(vm)
        }
        Ok(None) => {
            let status = child.wait().map_err(Error::io("waiting for QEMU"))?;
            Err(did_not_start(&program, status, &folder))
        }
        Err(error) => {
            end(&mut child);
            Err(error)
        }
    }
}

/// Both ends of what COM1 is connected to.
struct Com1 {
    qemu: OwnedFd,
    terminal: Option<UnixStream>,
    output: Option<PipeReader>,
    log_listener: Option<socket::Listener>,
}

impl Com1 {
    /// A socket; or, for the output of one line, a pipe: QEMU sends byte by byte, and of those a pipe holds 200
    /// times as many. The kernel's log is then apart.
    fn open(runs_line: bool, folder: &RunFolder) -> Result<Self> {
        if runs_line {
            let (ours, qemu) = io::pipe().map_err(Error::io("pipe for COM1"))?;
            let listener = socket::bind(&folder.path().join(LOG_SOCKET)).map_err(Error::io(LOG_SOCKET))?;
            let (output, log_listener) = (Some(ours), Some(listener));
            return Ok(Self { qemu: qemu.into(), terminal: None, output, log_listener });
        }
        let (ours, qemu) = UnixStream::pair().map_err(Error::io("socket for COM1"))?;
        Ok(Self { qemu: qemu.into(), terminal: Some(ours), output: None, log_listener: None })
    }
}

/// An old QEMU may fail on an option that it doesn't know: then its age is the reason to tell.
fn did_not_start(program: &PathBuf, status: ExitStatus, folder: &RunFolder) -> Error {
    match installed_version(program) {
        Some(version) if version < OLDEST_QEMU => too_old(&format!("{}.{}", version.0, version.1)),
        _ => Error::QemuDidNotStart { status: status.to_string(), stderr: error_tail(folder) },
    }
}

fn too_old(found: &str) -> Error {
    Error::QemuTooOld { found: found.to_owned(), needed: format!("{}.{}", OLDEST_QEMU.0, OLDEST_QEMU.1) }
}

/// Reads `QEMU emulator version 7.2.22 (…)`.
fn installed_version(program: &PathBuf) -> Option<(u64, u64)> {
    let output = std::process::Command::new(program).arg("--version").output().ok()?;
    parse_version(&String::from_utf8_lossy(&output.stdout))
}

fn parse_version(text: &str) -> Option<(u64, u64)> {
    let mut numbers = text.split_once("version ")?.1.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn end(child: &mut Child) {
    // Fails only if it ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

fn error_tail(folder: &RunFolder) -> String {
    let log = std::fs::read(folder.path().join(ERROR_LOG)).unwrap_or_default();
    let text = String::from_utf8_lossy(&log);
    let lines: Vec<_> = text.lines().map(printable).collect();
    lines[lines.len().saturating_sub(ERROR_LINES)..].join("\n")
}

impl Vm {
    /// Our end of COM1, from the first byte on; nothing with [`Machine::run`]. It can be taken once; bytes that
    /// nobody reads stall the guest's console after a few hundred.
    pub fn take_com1(&mut self) -> Option<UnixStream> {
        self.com1.take()
    }

    /// The output of the line, from the first byte on; only with [`Machine::run`]. It can be taken once.
    pub fn take_output(&mut self) -> Option<PipeReader> {
        self.output.take()
    }

    /// The kernel's own lines and, after them, a 0x00 byte and the exit status when the machine switched itself
    /// off; only with [`Machine::run`]. It can be taken once, and has to be read: the guest waits for it.
    pub fn take_kernel_log(&mut self) -> Option<UnixStream> {
        self.kernel_log.take()
    }

    /// A line that the kernel sends on COM1 before anything else, with [`Machine::mark_start`]; what comes before it is
    /// the firmware's.
    #[must_use]
    pub fn start_mark(&self) -> Option<&str> {
        self.start_mark.as_deref()
    }

    /// Where a debugger connects, with [`Machine::wait_for_debugger`]: a unix socket that speaks gdb's remote
    /// protocol. The path leads through QEMU's working folder, so it is short and needs no quotes anywhere.
    #[must_use]
    pub fn gdb_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/cwd/{GDB_SOCKET}", self.pid()))
    }

    /// Where COM2's socket is. QEMU serves one client at a time.
    #[must_use]
    pub fn com2_path(&self) -> PathBuf {
        self.folder.path().join(COM2_SOCKET)
    }

    /// Connects to COM2. Drop the stream before connecting again: a second client waits for the first to leave.
    ///
    /// # Errors
    /// As `connect(2)`.
    pub fn com2(&self) -> Result<UnixStream> {
        socket::connect(&self.com2_path()).map_err(Error::io("connecting to COM2"))
    }

    /// Where the socket of the data door is, if the machine has one. QEMU serves one client at a time.
    #[must_use]
    pub fn data_path(&self) -> Option<PathBuf> {
        self.has_data_door.then(|| self.folder.path().join(DATA_SOCKET))
    }

    /// Connects to the data door, as [`Vm::com2`] to COM2.
    ///
    /// # Errors
    /// As `connect(2)`; `NotFound` where the machine has none.
    pub fn data(&self) -> Result<UnixStream> {
        let path = self.data_path().ok_or(io::ErrorKind::NotFound.into());
        path.and_then(|path| socket::connect(&path)).map_err(Error::io("connecting to the data door"))
    }

    /// The run's own folder, which is QEMU's working folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a QMP command with its arguments (an object) and returns what QEMU returns.
    ///
    /// # Errors
    /// QEMU refuses the command, is gone, or doesn't answer.
    pub fn qmp(&self, command: &str, arguments: &Value) -> Result<Value> {
        self.qmp.execute(command, arguments)
    }

    /// Stops the guest's CPU and clock.
    ///
    /// # Errors
    /// As [`Vm::qmp`].
    pub fn pause(&self) -> Result<()> {
        self.qmp("stop", &json!({})).map(drop)
    }

    /// Lets the guest go on.
    ///
    /// # Errors
    /// As [`Vm::qmp`].
    pub fn resume(&self) -> Result<()> {
        self.qmp("cont", &json!({})).map(drop)
    }

    /// QEMU's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the guest has ended.
    ///
    /// # Errors
    /// [`Error::Deadline`] when it still runs.
    pub fn wait(&mut self, within: Duration) -> Result<Exit> {
        if !self.qmp.wait_closed(within) {
            let what = "end of the guest".to_owned();
            return Err(Error::Deadline { what, within, transcript: Transcript::default() });
        }
        let status = self.child.wait().map_err(Error::io("waiting for QEMU"))?;
        if self.qmp.gave_up() {
            return Ok(Exit::ResetLoop);
        }
        let exit = exit_of(status.code(), self.qmp.shutdown_reason().as_deref());
        Ok(exit
            .unwrap_or_else(|| Exit::Failed { status: status.to_string(), stderr: error_tail(&self.folder) }))
    }

    /// Ends QEMU now, as a power cut would.
    pub fn kill(&mut self) {
        end(&mut self.child);
    }
}

/// What QEMU's exit code and the reason that it gave say. A guest that ends before the monitor is ready gives none: then
/// nobody knows whether it powered off or reset itself.
fn exit_of(code: Option<i32>, reason: Option<&str>) -> Option<Exit> {
    match (code?, reason) {
        (0, Some("guest-reset")) => Some(Exit::Reset),
        (0, Some(_)) | (DEBUG_EXIT_POWEROFF, _) => Some(Exit::PowerOff),
        (DEBUG_EXIT_PANIC, _) => Some(Exit::Panic),
        _ => None,
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_as_what_it_was_known_to_be() {
        assert_eq!(exit_of(Some(0), Some("guest-reset")), Some(Exit::Reset));
        assert_eq!(exit_of(Some(0), Some("guest-shutdown")), Some(Exit::PowerOff));
        assert_eq!(exit_of(Some(0), Some("host-qmp-quit")), Some(Exit::PowerOff));
        assert_eq!(exit_of(Some(99), None), Some(Exit::PowerOff));
        assert_eq!(exit_of(Some(101), None), Some(Exit::Panic));
        for (code, reason) in [(Some(0), None), (Some(1), None), (None, None), (None, Some("guest-reset"))] {
            assert_eq!(exit_of(code, reason), None, "{code:?} {reason:?}");
        }
    }

    #[test]
    fn versions_are_read_from_qemus_first_line() {
        let debian = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\nCopyright …";
        assert_eq!(parse_version(debian), Some((7, 2)));
        assert_eq!(parse_version("QEMU emulator version 10.0.50"), Some((10, 0)));
        assert_eq!(parse_version("something else"), None);
    }
}
