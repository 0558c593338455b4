//! What to boot, and the QEMU command line for it.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use crate::boot_image::{self, Firmware};
use crate::command_line::Start;
use crate::initrd::{self, Entry, ExtraFile};
use crate::run_folder::RunFolder;
use crate::vm::{self, Vm};
use crate::{Disk, Door, Error, Guest, Result, command_line, state_dir};

/// Memory if nothing else is said, in MiB.
const DEFAULT_MEMORY_MIB: u32 = 128;
/// Where `init` looks for the one line that it is to run.
const RUN_FILE: &str = "etc/run";
/// Randomness for the guest, in bytes.
const SEED_BYTES: usize = 16;
/// The word that makes the kernel send its value on COM1 before anything else.
const START_WORD: &str = " start=";
/// Name of the disk image to boot from, in the run folder.
pub(crate) const BOOT_IMAGE: &str = "boot.img";

/// The kind of PC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// PCI Express, ICH9.
    #[default]
    Q35,
    /// PCI, PIIX3.
    Pc,
    /// No PCI; virtio over MMIO.
    Microvm,
}

/// What executes the guest's instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accel {
    /// KVM where it can run guests, else TCG.
    #[default]
    Auto,
    /// The host's CPU.
    Kvm,
    /// QEMU's translator: works everywhere, slower.
    Tcg,
}

impl Accel {
    /// Whether to use KVM.
    fn chooses_kvm(self) -> Result<bool> {
        match (self, kvm_obstacle()) {
            (Self::Tcg, _) | (Self::Auto, Some(_)) => Ok(false),
            (Self::Auto | Self::Kvm, None) => Ok(true),
            (Self::Kvm, Some(reason)) => Err(Error::NoKvm { reason }),
        }
    }
}

/// Why KVM can't be used. The device alone proves nothing: in a container or a nested machine it may exist on a
/// CPU without virtualization, where a KVM guest hangs before its first instruction.
fn kvm_obstacle() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if !info.split_ascii_whitespace().any(|flag| flag == "vmx" || flag == "svm") {
        return Some(
            "this CPU has no virtualization, or it is switched off (/proc/cpuinfo: vmx or svm)".into(),
        );
    }
    let device = File::options().read(true).write(true).open("/dev/kvm");
    device.err().map(|error| format!("/dev/kvm: {error}"))
}

/// A machine to boot. [`Machine::new`] is what tests want: Askr with its own initrd on q35 with 128 MiB, under
/// TCG, so that a result doesn't depend on the host's CPU.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) kernel: PathBuf,
    initrd: PathBuf,
    extra: Vec<ExtraFile>,
    run: Option<Vec<u8>>,
    words: Vec<String>,
    pub(crate) disk: Option<Disk>,
    pub(crate) door: Door,
    marks_start: bool,
    pub(crate) com1: bool,
    pub(crate) com2: bool,
    pub(crate) data_door: bool,
    pub(crate) disk_log: Option<PathBuf>,
    pub(crate) gdb: bool,
    pub(crate) restarts: bool,
    pub(crate) low_memory_mib: Option<u32>,
    pub(crate) memory_mib: u32,
    pub(crate) model: Model,
    accel: Accel,
    pub(crate) cpu: String,
    pub(crate) devices: Vec<String>,
    state_dir: PathBuf,
}

impl Default for Machine {
    fn default() -> Self {
        Self::new()
    }
}

impl Machine {
    /// Askr as it was built, on the default machine.
    #[must_use]
    pub fn new() -> Self {
        Self {
            kernel: crate::KERNEL.into(),
            initrd: crate::INITRD.into(),
            extra: Vec::new(),
            run: None,
            words: Vec::new(),
            disk: None,
            door: Door::default(),
            marks_start: false,
            com1: true,
            com2: true,
            data_door: true,
            disk_log: None,
            gdb: false,
            restarts: false,
            low_memory_mib: None,
            memory_mib: DEFAULT_MEMORY_MIB,
            model: Model::default(),
            accel: Accel::Tcg,
            cpu: "max".into(),
            devices: Vec::new(),
            state_dir: state_dir().to_owned(),
        }
    }

    /// Another kernel: an ELF file with a PVH note.
    #[must_use]
    pub fn kernel(mut self, path: impl Into<PathBuf>) -> Self {
        self.kernel = path.into();
        self
    }

    /// Another initrd (tar).
    #[must_use]
    pub fn initrd(mut self, path: impl Into<PathBuf>) -> Self {
        self.initrd = path.into();
        self
    }

    /// One more file for the guest.
    #[must_use]
    pub fn with(mut self, file: ExtraFile) -> Self {
        self.extra.push(file);
        self
    }

    /// Runs this line in the guest's shell and then powers off, instead of starting a shell on the terminal.
    /// Exactly the line's output comes out of [`Vm::take_output`], the kernel's own lines and the exit status out
    /// of [`Vm::take_kernel_log`].
    #[must_use]
    pub fn run(mut self, line: impl Into<Vec<u8>>) -> Self {
        self.run = Some(line.into());
        self
    }

    /// One more word for the kernel's command line, `name=value`.
    #[must_use]
    pub fn word(mut self, word: impl Into<String>) -> Self {
        self.words.push(word.into());
        self
    }

    /// A disk (virtio-blk).
    #[must_use]
    pub fn disk(mut self, disk: Disk) -> Self {
        self.disk = Some(disk);
        self
    }

    /// How the kernel gets into the machine; through a disk image there is a screen and a keyboard too.
    #[must_use]
    pub fn door(mut self, door: Door) -> Self {
        self.door = door;
        self
    }

    /// Lets the kernel tell on COM1 where what comes from it begins, see [`Vm::start_mark`]. Firmware may have written
    /// something before.
    #[must_use]
    pub fn mark_start(mut self) -> Self {
        self.marks_start = true;
        self
    }

    /// Leaves COM1 out. What [`Vm::take_com1`] gives is then connected to nothing.
    #[must_use]
    pub fn without_com1(mut self) -> Self {
        self.com1 = false;
        self
    }

    /// Leaves the data door out: the agent has COM2 only.
    #[must_use]
    pub fn without_data_door(mut self) -> Self {
        self.data_door = false;
        self
    }

    /// Leaves COM2 out: an agent can attach at the data door only.
    #[must_use]
    pub fn without_com2(mut self) -> Self {
        self.com2 = false;
        self
    }

    /// Writes down all that the guest writes to its disk, and when it flushes, in the format of Linux's dm-log-writes.
    #[must_use]
    pub fn log_disk_writes(mut self, path: impl Into<PathBuf>) -> Self {
        self.disk_log = Some(path.into());
        self
    }

    /// Does not start the guest until a debugger says so, which connects to [`Vm::gdb_path`].
    #[must_use]
    pub fn wait_for_debugger(mut self) -> Self {
        self.gdb = true;
        self
    }

    /// Lets the guest start again when it resets itself, as any machine does. One that does not stay up ends
    /// ([`Exit::ResetLoop`](crate::Exit::ResetLoop)). Without this a reset is the end ([`Exit::Reset`](crate::Exit::Reset)).
    #[must_use]
    pub fn restarts(mut self) -> Self {
        self.restarts = true;
        self
    }

    /// Memory in MiB.
    #[must_use]
    pub fn memory_mib(mut self, mib: u32) -> Self {
        self.memory_mib = mib;
        self
    }

    /// Puts no more than this below 4 GiB, in MiB, and the rest of memory above. Not for a microvm.
    #[must_use]
    pub fn low_memory_mib(mut self, mib: u32) -> Self {
        self.low_memory_mib = Some(mib);
        self
    }

    /// The kind of PC.
    #[must_use]
    pub fn model(mut self, model: Model) -> Self {
        self.model = model;
        self
    }

    /// What executes the guest's instructions.
    #[must_use]
    pub fn accel(mut self, accel: Accel) -> Self {
        self.accel = accel;
        self
    }

    /// The CPU model, as `qemu-system-x86_64 -cpu help` lists them; `max` by default.
    #[must_use]
    pub fn cpu(mut self, model: &str) -> Self {
        model.clone_into(&mut self.cpu);
        self
    }

    /// More words for QEMU's command line, for devices that only another kernel has a use for. Paths in them are relative to
    /// the run folder, where [`Vm::com2_path`] is.
    #[must_use]
    pub fn qemu_words(mut self, words: &str) -> Self {
        self.devices.extend(words.split_ascii_whitespace().map(str::to_owned));
        self
    }

    /// Starts QEMU and listens to the console.
    ///
    /// # Errors
    /// As [`Machine::spawn`].
    pub fn start(&self) -> Result<Guest> {
        Guest::new(self.spawn()?)
    }

    /// Starts QEMU; COM1 is left to the caller ([`Vm::take_com1`]).
    ///
    /// # Errors
    /// A program is missing or too old, KVM is asked for and can't be used, an extra file can't be read, or QEMU
    /// ended at once.
    pub fn spawn(&self) -> Result<Vm> {
        let kvm = self.accel.chooses_kvm()?;
        let folder = RunFolder::create(&self.state_dir).map_err(Error::io("making the run folder"))?;
        let words = self.kernel_words().map_err(Error::io("/dev/urandom"))?;
        let line = format!("{words}\n");
        if self.door != Door::Direct {
            boot_image::check_builder()?;
        }
        let firmware = match (self.door, self.model) {
            (Door::Bios | Door::Uefi, Model::Microvm) => return Err(Error::NoDiskBoot { model: "microvm" }),
            (Door::Uefi, _) => Some(Firmware::find()?),
            _ => None,
        };
        let mut entries: Vec<Entry<'_>> = self.extra.iter().map(Entry::of_file).collect();
        entries.extend(self.run.as_deref().map(|line| Entry::of_bytes(RUN_FILE, line)));
        if self.door != Door::Direct {
            entries.push(boot_image::cmdline_entry(&line));
        }
        let initrd = if entries.is_empty() {
            self.initrd.clone()
        } else {
            let packed = folder.path().join("initrd.tar");
            initrd::with_entries(&self.initrd, &entries, &packed)?;
            packed
        };
        let start = match self.door {
            Door::Direct => Start::Direct { initrd: &initrd, words: &words },
            Door::Bios | Door::Uefi => {
                let image = folder.path().join(BOOT_IMAGE);
                boot_image::build(&initrd, &image)?;
                Start::Image { firmware }
            }
        };
        let arguments = command_line::arguments(self, kvm, &start);
        let mark = mark_in(&words).map(str::to_owned);
        vm::launch(folder, self, &arguments, mark)
    }

    /// Whether COM1 is only for the output of one line.
    pub(crate) fn runs_line(&self) -> bool {
        self.run.is_some()
    }

    /// The kernel's command line.
    fn kernel_words(&self) -> std::io::Result<String> {
        let mut seed = [0; SEED_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut seed)?;
        let mut words = format!("seed={:032x}", u128::from_ne_bytes(seed));
        if self.runs_line() {
            words.push_str(" log=debugcon");
        }
        if self.marks_start {
            let mut mark = [0; SEED_BYTES];
            File::open("/dev/urandom")?.read_exact(&mut mark)?;
            words.push_str(&format!("{START_WORD}{:032x}", u128::from_ne_bytes(mark)));
        }
        for word in &self.words {
            words.push(' ');
            words.push_str(word);
        }
        Ok(words)
    }
}

/// The value of the word that says where the kernel's output begins.
fn mark_in(words: &str) -> Option<&str> {
    words.split_once(START_WORD)?.1.split(' ').next()
}
