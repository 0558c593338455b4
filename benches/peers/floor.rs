//! What is possible at all: the smallest guest that boots, what goes through a bare port, and an echo.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use askr::{Guest, Machine, Model, Vm};

use crate::Result;
use crate::guest::{self, PATIENCE, compile, made};
use crate::watch;

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
        Machine::new().kernel(self.kernel.as_path()).initrd(self.initrd.as_path()).model(model)
    }

    /// Time from QEMU's start to the guest's first words.
    pub(crate) fn boot(&self, model: Model, memory_mib: u32) -> Result<f64> {
        let started = Instant::now();
        let mut vm = guest::spawn(&self.machine(model).memory_mib(memory_mib))?;
        let com1 = vm.take_com1().ok_or("no COM1")?;
        let seen = watch::for_text(com1, GREETING).recv_timeout(PATIENCE)?;
        Ok((seen - started).as_secs_f64())
    }

    /// A guest whose COM2 is nothing but a port.
    pub(crate) fn port(&self) -> Result<Port> {
        let vm = guest::spawn(&self.machine(Model::Q35))?;
        let mut stream = vm.com2()?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut byte = [0];
        while byte[0] != READY {
            stream.read_exact(&mut byte)?;
        }
        Ok(Port { stream, _vm: vm })
    }
}

/// A bare COM2.
pub(crate) struct Port {
    stream: UnixStream,
    _vm: Vm,
}

impl Port {
    fn command(&mut self, name: u8, count: usize) -> Result<()> {
        let mut command = vec![name];
        command.extend_from_slice(&u32::try_from(count)?.to_le_bytes());
        Ok(self.stream.write_all(&command)?)
    }

    /// So many bytes from the guest.
    pub(crate) fn receive(&mut self, count: usize) -> Result<()> {
        self.command(b'T', count)?;
        let (mut piece, mut came) = ([0; 16 << 10], 0);
        while came < count {
            let bytes = self.stream.read(&mut piece)?;
            if bytes == 0 {
                return Err("the guest is gone".into());
            }
            came += bytes;
            thread::sleep(LAZY);
        }
        Ok(())
    }

    /// So many bytes into the guest.
    pub(crate) fn send(&mut self, count: usize) -> Result<()> {
        self.command(b'R', count)?;
        self.stream.write_all(&vec![1; count])?;
        let mut sum = [0; 4];
        self.stream.read_exact(&mut sum)?;
        let right = u32::from_le_bytes(sum) == u32::try_from(count)?;
        if right { Ok(()) } else { Err("bytes were lost on the port".into()) }
    }
}

/// Askr's kernel, sending back what comes over COM2 and nothing else.
pub(crate) struct Mirror {
    stream: UnixStream,
    _guest: Guest,
}

impl Mirror {
    pub(crate) fn boot(memory_mib: u32) -> Result<Self> {
        let mut guest = guest::boot(&Machine::new().word("bus=echo").memory_mib(memory_mib))?;
        let stream = guest.vm().com2()?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, _guest: guest })
    }

    /// As many bytes go there and come back.
    pub(crate) fn echo(&mut self, bytes: usize) -> Result<()> {
        // The line wakes its reader at the end of a frame.
        let mut sent = vec![0x55; bytes.max(1)];
        sent[bytes.max(1) - 1] = 0;
        self.stream.write_all(&sent)?;
        let mut back = vec![0; sent.len()];
        self.stream.read_exact(&mut back)?;
        if back == sent { Ok(()) } else { Err("an echo that is none".into()) }
    }
}
