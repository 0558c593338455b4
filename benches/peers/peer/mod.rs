//! What one would take instead: QEMU's guest agent on a small Linux.

mod agent;
mod initramfs;
mod packages;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use askr::Machine;
use host_bridge::socket;

pub(crate) use agent::Agent;

use crate::Result;
use crate::guest::{BOOT, Guest, Programs, made};
use initramfs::Initramfs;
use packages::Packages;

/// The agent's port on the host, in the run folder.
const SOCKET: &str = "agent.sock";
/// The devices for it.
const DEVICES: &str = "-device virtio-serial-pci -chardev socket,id=agent,path=agent.sock,server=on,wait=off \
                       -device virtserialport,chardev=agent,name=org.qemu.guest_agent.0";
/// The kernel's command line: as fast a boot as it has, and no defences against a processor that is emulated.
const WORDS: &str = "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable no_timer_check";
/// The processor, QEMU's default. On `max` Linux clears memory with an instruction that QEMU translates byte by byte.
pub(crate) const CPU: &str = "qemu64";
/// Modules that the agent's port needs, as Debian has them.
const MODULES: [&str; 6] = [
    "drivers/virtio/virtio_ring",
    "drivers/virtio/virtio",
    "drivers/virtio/virtio_pci_legacy_dev",
    "drivers/virtio/virtio_pci_modern_dev",
    "drivers/virtio/virtio_pci",
    "drivers/char/virtio_console",
];
/// What busybox is called by.
const TOOLS: [&str; 15] = [
    "sh", "mount", "insmod", "usleep", "sleep", "true", "cat", "ls", "stat", "rm", "mkdir", "echo", "ps",
    "dd", "kill",
];
/// Where `init` is, among the sources of the programs.
const INIT: &str = include_str!("../guest/init");

/// The peer, ready to be booted.
pub(crate) struct Peer {
    kernel: PathBuf,
    initramfs: PathBuf,
}

/// The peer, booted.
pub(crate) struct Running {
    pub(crate) agent: Agent,
    pub(crate) guest: Guest,
}

impl Peer {
    /// Fetches its packages, if they are not here yet, and packs its file system with these programs.
    pub(crate) fn build(programs: &Programs) -> Result<Self> {
        let packages = Packages::fetch(&made("debian")?)?;
        let mut root = Initramfs::default();
        for folder in ["bin", "dev", "proc", "sys", "tmp", "modules", "run", "var", "var/run", "etc"] {
            root.folder(folder);
        }
        root.file("init", 0o755, INIT.as_bytes());
        root.file("bin/busybox", 0o755, &fs::read(&packages.busybox)?);
        for tool in TOOLS {
            root.link(&format!("bin/{tool}"), "/bin/busybox");
        }
        root.file("bin/qemu-ga", 0o755, &fs::read(&packages.agent)?);
        for (path, library) in packages.libraries()? {
            root.file_with_folders(&path, 0o755, &fs::read(library)?);
        }
        for module in MODULES {
            let file = packages.modules.join(format!("{module}.ko"));
            // What is not there is built into the kernel.
            if let (Ok(module), Some(name)) =
                (fs::read(&file), file.file_name().and_then(|name| name.to_str()))
            {
                root.file(&format!("modules/{name}"), 0o644, &module);
            }
        }
        for (name, file) in &programs.all {
            root.file(&format!("bin/{name}"), 0o755, &fs::read(file)?);
        }
        let initramfs = made("initramfs.cpio")?;
        fs::write(&initramfs, root.finish())?;
        Ok(Self { kernel: packages.kernel, initramfs })
    }

    /// Boots it; returns it, and when the agent answered its first ping.
    pub(crate) fn boot(&self, memory_mib: u32) -> Result<(Running, Instant)> {
        // Its only port is its own: Askr's would take the number that the agent's has.
        let machine = Machine::new().without_data_door().memory_mib(memory_mib);
        let machine = machine.kernel(self.kernel.as_path()).initrd(self.initramfs.as_path());
        let guest = Guest::start(&machine.cpu(CPU).word(WORDS).qemu_words(DEVICES))?;
        let stream = socket::connect(&guest.vm.com2_path().with_file_name(SOCKET))?;
        let mut agent = Agent::new(stream, guest.screen.clone())?;
        agent.ping_within(BOOT).map_err(|error| format!("the peer did not boot: {error}"))?;
        Ok((Running { agent, guest }, Instant::now()))
    }
}
