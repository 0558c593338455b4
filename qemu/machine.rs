//! What to boot, and the QEMU command line for it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::initrd::{self, ExtraFile};
use crate::run_folder::RunFolder;
use crate::vm::{self, Vm};
use crate::{Guest, Result, state_dir};

/// Name of COM2's socket in the run folder.
pub(crate) const COM2_SOCKET: &str = "com2.sock";
/// Memory if nothing else is said, in MiB.
const DEFAULT_MEMORY_MIB: u32 = 128;
/// Input clock of the UARTs in bits per second, raised from 115,200: QEMU paces the FIFO's receive timeout by
/// it, and a short frame's tail waits for that timeout.
const UART_BAUD_BASE: u32 = 10_000_000;
/// What QEMU may not do once it runs (seccomp): the guest is code under test.
const SANDBOX: &str = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";

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
    /// Whether to use KVM. The device alone proves nothing: in a container or a nested machine it may exist on
    /// a CPU without virtualization, where a KVM guest hangs before its first instruction.
    fn is_kvm(self) -> bool {
        let device = || std::fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_ok();
        let cpu = || {
            let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
            info.split_ascii_whitespace().any(|flag| flag == "vmx" || flag == "svm")
        };
        match self {
            Self::Auto => cpu() && device(),
            Self::Kvm => true,
            Self::Tcg => false,
        }
    }
}

/// A machine to boot. [`Machine::new`] is what tests want: Askr with its own initrd on q35 with 128 MiB, under
/// TCG, so that a result doesn't depend on the host's CPU.
#[derive(Clone, Debug)]
pub struct Machine {
    kernel: PathBuf,
    initrd: PathBuf,
    extra: Vec<ExtraFile>,
    memory_mib: u32,
    model: Model,
    accel: Accel,
    cpu: String,
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
            memory_mib: DEFAULT_MEMORY_MIB,
            model: Model::default(),
            accel: Accel::Tcg,
            cpu: "max".into(),
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

    /// Memory in MiB.
    #[must_use]
    pub fn memory_mib(mut self, mib: u32) -> Self {
        self.memory_mib = mib;
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
    /// A program is missing or too old, an extra file can't be read, or QEMU ended at once.
    pub fn spawn(&self) -> Result<Vm> {
        let folder = RunFolder::create(&self.state_dir).map_err(crate::Error::io("making the run folder"))?;
        let initrd = if self.extra.is_empty() {
            self.initrd.clone()
        } else {
            let packed = folder.path().join("initrd.tar");
            initrd::with_extra_files(&self.initrd, &self.extra, &packed)?;
            packed
        };
        vm::launch(folder, &self.arguments(&initrd))
    }

    /// QEMU's arguments. COM1 is file descriptor 0, the monitor is 1; names of sockets are relative to the run
    /// folder, QEMU's working folder, so that the length of the checkout's path doesn't matter.
    fn arguments(&self, initrd: &Path) -> Vec<OsString> {
        let kvm = self.accel.is_kvm();
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |words: &str| arguments.extend(words.split_ascii_whitespace().map(OsString::from));
        add("-nodefaults -no-user-config -nic none -display none -no-reboot -sandbox");
        add(SANDBOX);
        add("-machine");
        add(match self.model {
            Model::Q35 => "q35",
            Model::Pc => "pc",
            Model::Microvm => "microvm,pic=on,pit=on,rtc=on,isa-serial=on",
        });
        // Without KVM the list has TCG only: QEMU's own fallback would print a warning for every start.
        add(if kvm { "-accel kvm -accel tcg" } else { "-accel tcg" });
        add(&format!("-cpu {} -m {}M", self.cpu, self.memory_mib));
        add(&format!("-global isa-serial.baudbase={UART_BAUD_BASE}"));
        add("-chardev socket,id=com1,fd=0 -serial chardev:com1");
        add(&format!("-chardev socket,id=com2,path={COM2_SOCKET},server=on,wait=off"));
        add(match self.model {
            Model::Q35 | Model::Pc => "-serial chardev:com2",
            Model::Microvm => "-device isa-serial,index=1,chardev=com2",
        });
        add("-chardev socket,id=monitor,fd=1 -mon chardev=monitor,mode=control");
        add("-device isa-debug-exit,iobase=0xf4,iosize=0x04");
        arguments.extend([OsString::from("-kernel"), self.kernel.clone().into()]);
        arguments.extend([OsString::from("-initrd"), initrd.into()]);
        arguments
    }
}
