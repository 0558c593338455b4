//! What is possible at all: the smallest guest that boots, what goes through a bare port, and an echo.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use askr::{Machine, Model};

use crate::Result;
use crate::guest::{ANSWER, BOOT, Guest, PATIENCE, compile, made};
use crate::screen::Screen;

/// What the smallest guest says on COM1.
const GREETING: &str = "askr-floor";
/// What it says on COM2 once it takes commands.
const READY: u8 = b'!';
/// Pause between two reads: the UART gives a few bytes at a time.
const LAZY: Duration = Duration::from_micros(100);

/// The smallest guest.
pub(crate) struct Floor {
    kernel: PathBuf,
    /// It needs none, but a machine has one.
    initrd: PathBuf,
}

impl Floor {
    /// Compiles it.
    pub(crate) fn compile() -> Result<Self> {
        let mut cc = Command::new("cc");
        cc.args(["-m32", "-march=i686", "-mno-sse", "-mno-mmx", "-ffreestanding", "-fno-pic", "-no-pie"]);
        cc.args(["-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-nostdlib", "-static", "-O2"]);
        cc.args(["-Wall", "-Wextra", "-Werror", "-Wl,-T,floor.ld,--build-id=none,--no-warn-rwx-segments"]);
        let kernel = compile(cc, "floor.c", "floor.elf")?;
        let initrd = made("empty.tar")?;
        std::fs::write(&initrd, [0; 1024])?;
        Ok(Self { kernel, initrd })
    }

    fn machine(&self, model: Model) -> Machine {
        let machine = Machine::new().kernel(self.kernel.as_path()).initrd(self.initrd.as_path());
        machine.model(model).without_data_door()
    }

    /// Time from QEMU's start to the guest's first words.
    pub(crate) fn boot(&self, model: Model, memory_mib: u32) -> Result<f64> {
        let started = Instant::now();
        let guest = Guest::start(&self.machine(model).memory_mib(memory_mib))?;
        let seen = guest.screen.shows(GREETING, BOOT)?;
        Ok((seen - started).as_secs_f64())
    }

    /// A guest whose COM2 is nothing but a port.
    pub(crate) fn port(&self) -> Result<Port> {
        let guest = Guest::start(&self.machine(Model::Q35))?;
        let mut wire = Wire::new(guest.vm.com2()?, guest.screen.clone())?;
        let (mut byte, until) = ([0], Instant::now() + BOOT);
        while byte[0] != READY {
            wire.read(&mut byte, until)?;
        }
        Ok(Port { wire, _guest: guest })
    }
}

/// COM2 without frames; every wait for it has an end.
struct Wire {
    stream: UnixStream,
    screen: Screen,
}

impl Wire {
    fn new(stream: UnixStream, screen: Screen) -> Result<Self> {
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, screen })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.stream.write_all(bytes);
        written.map_err(|error| self.screen.missed("COM2 does not take all of it", PATIENCE, &error).into())
    }

    /// Some bytes.
    fn read_some(&mut self, into: &mut [u8], until: Instant) -> Result<usize> {
        // Zero would be no limit.
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        self.stream.set_read_timeout(Some(left))?;
        match self.stream.read(into) {
            Ok(0) => Err(self.screen.blame("the guest is gone").into()),
            Ok(count) => Ok(count),
            Err(error) => Err(self.screen.missed("nothing more on COM2", left, &error).into()),
        }
    }

    /// As many bytes.
    fn read(&mut self, into: &mut [u8], until: Instant) -> Result<()> {
        let mut came = 0;
        while came < into.len() {
            came += self.read_some(&mut into[came..], until)?;
        }
        Ok(())
    }
}

/// A bare COM2.
pub(crate) struct Port {
    wire: Wire,
    _guest: Guest,
}

impl Port {
    fn command(&mut self, name: u8, count: usize) -> Result<()> {
        let mut command = vec![name];
        command.extend_from_slice(&u32::try_from(count)?.to_le_bytes());
        self.wire.write(&command)
    }

    /// So many bytes from the guest.
    pub(crate) fn receive(&mut self, count: usize) -> Result<()> {
        self.command(b'T', count)?;
        let (mut piece, mut came, until) = ([0; 16 << 10], 0, Instant::now() + PATIENCE);
        while came < count {
            came += self.wire.read_some(&mut piece, until)?;
            thread::sleep(LAZY);
        }
        Ok(())
    }

    /// So many bytes into the guest.
    pub(crate) fn send(&mut self, count: usize) -> Result<()> {
        self.command(b'R', count)?;
        self.wire.write(&vec![1; count])?;
        let mut sum = [0; 4];
        self.wire.read(&mut sum, Instant::now() + ANSWER)?;
        let right = u32::from_le_bytes(sum) == u32::try_from(count)?;
        if right { Ok(()) } else { Err("bytes were lost on the port".into()) }
    }
}

/// Askr's kernel, sending back what comes over COM2 and nothing else.
pub(crate) struct Mirror {
    wire: Wire,
    _guest: Guest,
}

impl Mirror {
    pub(crate) fn boot(memory_mib: u32) -> Result<Self> {
        let guest = Guest::boot(&Machine::new().word("bus=echo").memory_mib(memory_mib).without_data_door())?;
        Ok(Self { wire: Wire::new(guest.vm.com2()?, guest.screen.clone())?, _guest: guest })
    }

    /// As many bytes go there and come back.
    pub(crate) fn echo(&mut self, bytes: usize) -> Result<()> {
        // The line wakes its reader at the end of a frame.
        let mut sent = vec![0x55; bytes.max(1)];
        sent[bytes.max(1) - 1] = 0;
        self.wire.write(&sent)?;
        let mut back = vec![0; sent.len()];
        self.wire.read(&mut back, Instant::now() + ANSWER)?;
        if back == sent { Ok(()) } else { Err("an echo that is none".into()) }
    }
}
