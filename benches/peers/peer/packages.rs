//! The peer's parts, from Debian's packages. They are fetched and unpacked below the target folder; nothing is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::progress::say;

/// The package that depends on the newest kernel for virtual machines.
const KERNEL: &str = "linux-image-cloud-amd64";
const AGENT: &str = "qemu-guest-agent";
const BUSYBOX: &str = "busybox-static";
/// Seconds that apt may take for what it is told.
const APT_PATIENCE: &str = "300";
/// Exit status of `timeout` when they were over (`man 1 timeout`).
const TIMED_OUT: i32 = 124;

/// Where the parts are.
pub(super) struct Packages {
    /// The kernel's image.
    pub(super) kernel: PathBuf,
    /// The folder of its modules.
    pub(super) modules: PathBuf,
    pub(super) busybox: PathBuf,
    pub(super) agent: PathBuf,
}

impl Packages {
    /// Fetches and unpacks them, unless that was done before. An error says what is missing.
    pub(super) fn fetch(folder: &Path) -> Result<Self> {
        let unpacked = folder.join("unpacked");
        if !unpacked.exists() {
            fs::create_dir_all(folder)?;
            Apt::new(folder)?.unpack_to(&unpacked)?;
        }
        let only = |folder: &str, start: &str| only_entry(&unpacked.join(folder), start);
        Ok(Self {
            kernel: only("boot", "vmlinuz-")?,
            modules: only("lib/modules", "")?.join("kernel"),
            busybox: unpacked.join("bin/busybox"),
            agent: unpacked.join("usr/sbin/qemu-ga"),
        })
    }

    /// The libraries that the agent needs, by the path it looks for them and where they are. QEMU needs the same ones, so
    /// this machine has them.
    pub(super) fn libraries(&self) -> Result<Vec<(String, PathBuf)>> {
        let listed = output("ldd", Command::new("ldd").arg(&self.agent))?;
        let mut libraries = Vec::new();
        for line in listed.lines().filter(|line| !line.contains("linux-vdso")) {
            if line.contains("not found") {
                return Err(format!("{AGENT} needs a library: {}", line.trim()).into());
            }
            let path =
                line.split_whitespace().find(|word| word.starts_with('/')).ok_or("ldd says nothing")?;
            libraries.push((path.to_owned(), PathBuf::from(path)));
        }
        Ok(libraries)
    }
}

/// The one entry of a folder whose name begins so.
fn only_entry(folder: &Path, start: &str) -> Result<PathBuf> {
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(start) {
            return Ok(entry.path());
        }
    }
    Err(format!("{}: no {start}", folder.display()).into())
}

/// apt with package lists of its own if those of the machine are too old.
struct Apt<'a> {
    folder: &'a Path,
    own_lists: bool,
}

impl<'a> Apt<'a> {
    fn new(folder: &'a Path) -> Result<Self> {
        for below in ["debs", "lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(folder.join(below))?;
        }
        Ok(Self { folder, own_lists: false })
    }

    /// All three packages in one tree, which appears under its name when it is whole.
    fn unpack_to(mut self, unpacked: &Path) -> Result<()> {
        say("the peer: fetching its packages, about 30 MB");
        if self.download().is_err() {
            say("the peer: the package lists of this machine are too old or missing, fetching others");
            self.own_lists = true;
            output("apt-get", self.command("apt-get").args(["-qq", "update"]))?;
            self.download()?;
        }
        let unfinished = self.folder.join("unfinished");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        for package in fs::read_dir(self.folder.join("debs"))? {
            output("dpkg-deb", Command::new("dpkg-deb").arg("-x").arg(package?.path()).arg(&unfinished))?;
        }
        Ok(fs::rename(unfinished, unpacked)?)
    }

    fn download(&self) -> Result<()> {
        let shown =
            output("apt-cache", self.command("apt-cache").args(["--no-all-versions", "show", KERNEL]))?;
        let depends = shown.lines().find_map(|line| line.strip_prefix("Depends: "));
        let kernel = depends
            .and_then(|line| line.split_whitespace().next())
            .ok_or("no kernel in the package lists")?;
        let debs = self.folder.join("debs");
        fs::remove_dir_all(&debs)?;
        fs::create_dir_all(&debs)?;
        let mut download = self.command("apt-get");
        download.current_dir(debs).args(["-q", "download", kernel, AGENT, BUSYBOX]);
        output("apt-get", &mut download).map(drop)
    }

    /// One of apt's programs, which is ended if it does not end by itself.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=10", APT_PATIENCE, program]);
        let mut set = |name: &str, value: &str| {
            command.arg("-o").arg(format!("{name}={value}"));
        };
        // It says so when a server does not answer.
        set("Acquire::Retries", "1");
        set("Acquire::http::Timeout", "30");
        set("APT::Sandbox::User", "root");
        if self.own_lists {
            set("Dir::State::lists", &self.folder.join("lists").to_string_lossy());
            set("Dir::Cache", &self.folder.join("cache").to_string_lossy());
        }
        command
    }
}

/// What a command prints; an error with its own words if it fails.
fn output(name: &str, command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it failed");
    Err(match output.status.code() {
        Some(TIMED_OUT) => format!("{name} did not end within {APT_PATIENCE} s").into(),
        _ => format!("{name}: {last}").into(),
    })
}
