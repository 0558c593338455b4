//! What can go wrong around a guest, said so that the reader knows what to do next.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error around a guest. `Debug` prints the same text as `Display`, so that a test that returns one shows
/// its transcript readably.
#[derive(thiserror::Error)]
pub enum Error {
    /// A program that is needed is not installed.
    #[error("{program} is not installed; ./qemu/setup.sh installs it")]
    NotInstalled {
        /// The program's name, as looked for in PATH.
        program: &'static str,
    },
    /// QEMU is older than the oldest version that is known to work.
    #[error("QEMU {found} is too old, {needed} or newer is needed; ./qemu/setup.sh installs Debian's")]
    QemuTooOld {
        /// The version found.
        found: String,
        /// The oldest version that works.
        needed: String,
    },
    /// KVM is asked for by name and can't be used.
    #[error("KVM can't be used: {reason}")]
    NoKvm {
        /// Why.
        reason: String,
    },
    /// QEMU ended before it was ready.
    #[error("QEMU did not start ({status})\n{stderr}")]
    QemuDidNotStart {
        /// How it ended.
        status: String,
        /// The end of what it wrote to its standard error.
        stderr: String,
    },
    /// The awaited thing did not happen in time.
    #[error("no {what} within {within:?}{transcript}")]
    Deadline {
        /// What was awaited.
        what: String,
        /// The deadline that passed.
        within: Duration,
        /// What the console had shown, or nothing.
        transcript: Transcript,
    },
    /// The guest ended while something was awaited of it.
    #[error("the guest ended before {what}{transcript}")]
    GuestEnded {
        /// What was awaited.
        what: String,
        /// What the console had shown, or nothing.
        transcript: Transcript,
    },
    /// The console printed more than is kept.
    #[error("the console printed more than {limit} bytes; its output is no longer recorded")]
    ConsoleFlooded {
        /// The limit in bytes.
        limit: usize,
    },
    /// QEMU refused a QMP command.
    #[error("QEMU refused the QMP command {command}: {reason}")]
    Qmp {
        /// The command.
        command: String,
        /// QEMU's own words.
        reason: String,
    },
    /// A file that is to go into the guest can't.
    #[error("{}: {reason}", path.display())]
    ExtraFile {
        /// The file on the host.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// This program was built without what makes disk images to boot from.
    #[error(
        "this was built without the boot loader of the disk image; use: cargo run --features disk-image -- …"
    )]
    NoImageBuilder,
    /// A disk image to boot from could not be made.
    #[error("can't make the disk image: {reason}")]
    BootImage {
        /// Why.
        reason: String,
    },
    /// There is no UEFI firmware for QEMU.
    #[error("UEFI firmware for QEMU (OVMF) is not installed; ./qemu/setup.sh --image installs it")]
    NoFirmware,
    /// The machine can't boot this way.
    #[error("a {model} machine does not boot from a disk; take q35 or pc")]
    NoDiskBoot {
        /// The kind of machine.
        model: &'static str,
    },
    /// A disk image can't be used.
    #[error("{}: {reason}", path.display())]
    Disk {
        /// The image.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The operating system refused something.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: names what was tried.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a console showed so far; prints as an indented block, or as nothing when there was no console.
#[derive(Clone, Default)]
pub struct Transcript(pub(crate) Option<String>);

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(text) = &self.0 else { return Ok(()) };
        f.write_str("; the console showed:")?;
        if text.is_empty() {
            return f.write_str(" nothing");
        }
        // Control characters of the guest must not reach the terminal of whoever reads the report.
        text.lines().try_for_each(|line| write!(f, "\n    | {}", printable(line)))
    }
}

/// The text with every control character escaped.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}
