//! What is installed on the host.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::termios::tcgetwinsize;

use super::check::Check;

/// What installs all of these.
const SETUP: &str = "./qemu/setup.sh   (in Askr's folder)";
/// The oldest QEMU and Rust that will do; `qemu/setup.sh` and the workspace say the same.
const QEMU_OLDEST: (u32, u32) = (7, 0);
const RUST_OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");
/// Longest time for a program to tell its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause between two looks whether it has.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// Columns that the lines of `watch` mostly fit in.
const COLUMNS: u16 = 80;

pub(super) fn look(tell: &impl Fn(Check)) {
    tell(terminal());
    tell(qemu());
    tell(kvm());
    tell(programs());
    tell(musl());
    tell(rust());
}

fn terminal() -> Check {
    if !io::stdout().is_terminal() {
        return Check::ok("terminal", "none: the output goes to a file or a program");
    }
    let kind = std::env::var("TERM").unwrap_or_default();
    let (rows, columns) = tcgetwinsize(io::stdout()).map_or((0, 0), |size| (size.ws_row, size.ws_col));
    match (kind.as_str(), rows, columns) {
        ("" | "dumb", ..) => Check::warn(
            "terminal",
            "TERM names none, so there are no colours and no status line",
            "export TERM=xterm",
        ),
        (kind, 0, _) | (kind, _, 0) => Check::warn(
            "terminal",
            format!("{kind}, which does not tell its size; 24 rows of 80 columns are taken for granted"),
            "stty rows 24 columns 80",
        ),
        (kind, rows, columns) if columns < COLUMNS => Check::warn(
            "terminal",
            format!("{kind}, {rows} rows of {columns} columns: long lines are broken"),
            format!("make the window {COLUMNS} columns wide"),
        ),
        (kind, rows, columns) => Check::ok("terminal", format!("{kind}, {rows} rows of {columns} columns")),
    }
}

fn qemu() -> Check {
    const NAME: &str = "qemu-system-x86_64";
    let Some(path) = find(NAME) else {
        return Check::fail("qemu", format!("{NAME} is not installed"), SETUP);
    };
    let said = version_of(&path);
    match said.as_deref().ok().and_then(number) {
        Some(version) if version < QEMU_OLDEST => {
            let (major, minor) = QEMU_OLDEST;
            let text = format!("{} is too old; {major}.{minor} or newer is needed", said.unwrap_or_default());
            Check::fail("qemu", text, format!("remove {}, then: {SETUP}", path.display()))
        }
        Some(_) => Check::ok("qemu", format!("{}, at {}", said.unwrap_or_default(), path.display())),
        None => {
            let why = said.err().unwrap_or_else(|| "it tells no version".into());
            Check::fail("qemu", format!("{}: {why}", path.display()), SETUP)
        }
    }
}

/// Without it QEMU translates the guest's code, which is slower and does no harm.
fn kvm() -> Check {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if !info.split_ascii_whitespace().any(|flag| flag == "vmx" || flag == "svm") {
        return Check::ok(
            "kvm",
            "this CPU has no virtualization, so QEMU translates the guest's code (slower)",
        );
    }
    match File::options().read(true).write(true).open("/dev/kvm") {
        Ok(_) => Check::ok("kvm", "/dev/kvm can be used"),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let text = "/dev/kvm is there but not for this user: the guest is slower than it could be";
            Check::warn("kvm", text, "sudo usermod -aG kvm \"$USER\"   (then log in again)")
        }
        Err(error) => Check::warn(
            "kvm",
            format!("/dev/kvm: {error}: the guest is slower"),
            "sudo modprobe kvm_intel || sudo modprobe kvm_amd",
        ),
    }
}

/// What building and running cannot do without.
fn programs() -> Check {
    let needed = [("cc", "links what cargo builds"), ("setpriv", "keeps QEMU from outliving the runner")];
    let missing: Vec<_> = needed
        .iter()
        .filter(|(name, _)| find(name).is_none())
        .map(|(name, what)| format!("{name}, which {what}"))
        .collect();
    if missing.is_empty() {
        Check::ok("tools", "cc and setpriv are there")
    } else {
        Check::fail("tools", format!("missing: {}", missing.join("; ")), SETUP)
    }
}

fn musl() -> Check {
    match (find("musl-gcc"), Path::new("/usr/include/stdlib.h").exists()) {
        (Some(_), true) => Check::ok("c", "musl-gcc and the C library's headers are there"),
        (None, _) => {
            Check::warn("c", "musl-gcc is missing: programs in C cannot be built for the guest", SETUP)
        }
        (_, false) => Check::warn("c", "the C library's headers are missing", SETUP),
    }
}

fn rust() -> Check {
    let Some(path) = find("rustc") else {
        return Check::fail("rust", "rustc is not installed", SETUP);
    };
    match version_of(&path) {
        Ok(said) if number(&said) >= number(RUST_OLDEST) => Check::ok("rust", said),
        Ok(said) => Check::fail("rust", format!("{said}: {RUST_OLDEST} or newer is needed"), SETUP),
        Err(why) => Check::fail("rust", format!("{}: {why}", path.display()), SETUP),
    }
}

/// Where a program lies in `PATH`.
fn find(name: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(name)).find(is_program)
}

/// The first line of what it says to `--version`.
fn version_of(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    let give_up = Instant::now() + VERSION_TIMEOUT;
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < give_up => thread::sleep(LOOK_AGAIN),
            _ => {
                // It is of no more use; that it may have ended meanwhile does not matter.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it did not tell its version within {} s", VERSION_TIMEOUT.as_secs()));
            }
        }
    }
    let mut said = Vec::new();
    // What it left in the pipe, and no more: a child of its own may keep the pipe open.
    let mut pipe = child.stdout.take().ok_or("its output is gone")?.take(4096);
    let mut piece = [0; 4096];
    let count = pipe.read(&mut piece).map_err(|error| error.to_string())?;
    said.extend_from_slice(&piece[..count]);
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().next().unwrap_or_default().trim();
    if line.is_empty() { Err("it tells no version".into()) } else { Ok(line.to_owned()) }
}

/// The first number of the form `7.2`, as major and minor.
fn number(text: &str) -> Option<(u32, u32)> {
    let part = |word: &str| {
        let mut parts = word.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    text.split(|symbol: char| !symbol.is_ascii_digit() && symbol != '.').find_map(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        assert_eq!(number("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)"), Some((7, 2)));
        assert_eq!(number("rustc 1.96.0 (stub)"), Some((1, 96)));
        assert_eq!(number("nothing of 3 the kind."), None);
    }

    #[test]
    fn setup_installs_what_is_looked_for() {
        let setup = include_str!("../../../../qemu/setup.sh");
        assert!(setup.contains(&format!("QEMU_OLDEST={}.{}\n", QEMU_OLDEST.0, QEMU_OLDEST.1)));
        for program in ["qemu-system-x86_64", "setpriv", "cc", "musl-gcc"] {
            assert!(setup.contains(&format!("have {program} ")), "{program}");
        }
    }
}
