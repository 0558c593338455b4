//! QEMU's command line for a [`Machine`].

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::boot_image::Firmware;
use crate::machine::BOOT_IMAGE;
use crate::{Disk, Machine, Model};

/// Name of COM2's socket in the run folder.
pub(crate) const COM2_SOCKET: &str = "com2.sock";
/// Name of the data door's socket in the run folder.
pub(crate) const DATA_SOCKET: &str = "data.sock";
/// Name of the socket that the kernel's log comes out of, in the run folder.
pub(crate) const LOG_SOCKET: &str = "log.sock";
/// Name of the socket for a debugger, in the run folder.
pub(crate) const GDB_SOCKET: &str = "gdb.sock";
/// Input clock of the UARTs in bits per second, raised from 115,200: QEMU paces the FIFO's receive timeout by
/// it, and a short frame's tail waits for that timeout.
const UART_BAUD_BASE: u32 = 10_000_000;
/// What QEMU may not do once it runs (seccomp): the guest is code under test.
const SANDBOX: &str = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";

/// What the machine starts with.
pub(crate) enum Start<'a> {
    /// The kernel, its initrd and its command line.
    Direct { initrd: &'a Path, words: &'a str },
    /// The disk image in the run folder; by UEFI if there is firmware for it.
    Image { firmware: Option<Firmware> },
}

/// QEMU's arguments. COM1 is file descriptor 0, the monitor is 1; names of sockets are relative to the run
/// folder, QEMU's working folder, so that the length of the checkout's path doesn't matter.
pub(crate) fn arguments(machine: &Machine, kvm: bool, start: &Start<'_>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut add = |words: &str| arguments.extend(words.split_ascii_whitespace().map(OsString::from));
    add("-nodefaults -no-user-config -nic none -display none -sandbox");
    add(SANDBOX);
    if !machine.restarts {
        add("-no-reboot");
    }
    add("-machine");
    add(match (machine.model, machine.com1) {
        (Model::Q35, _) => "q35",
        (Model::Pc, _) => "pc",
        // Without ACPI the command line tells the kernel where the disk is, and the disk has a line at the 8259.
        (Model::Microvm, true) => "microvm,acpi=off,pic=on,pit=on,rtc=on,isa-serial=on",
        (Model::Microvm, false) => "microvm,acpi=off,pic=on,pit=on,rtc=on,isa-serial=off",
    });
    if let Some(mib) = machine.low_memory_mib {
        add(&format!("-machine max-ram-below-4g={mib}M"));
    }
    // QEMU's own fallback would print a warning for every start without KVM.
    add(if kvm { "-accel kvm" } else { "-accel tcg" });
    add(&format!("-cpu {} -m {}M", machine.cpu, machine.memory_mib));
    add(&format!("-global isa-serial.baudbase={UART_BAUD_BASE}"));
    add(if machine.runs_line() {
        // A pipe. QEMU opens files only by name.
        "-chardev file,id=com1,path=/proc/self/fd/0"
    } else {
        "-chardev socket,id=com1,fd=0"
    });
    if machine.com1 {
        add("-serial chardev:com1");
    }
    add(&format!("-chardev socket,id=com2,path={COM2_SOCKET},server=on,wait=off"));
    if machine.com2 {
        add("-device isa-serial,index=1,chardev=com2");
    }
    if machine.data_door {
        add(&format!("-chardev socket,id=data,path={DATA_SOCKET},server=on,wait=off"));
        // Two ports: number 0 is for a console, which this machine does not have.
        add(match machine.model {
            Model::Q35 | Model::Pc => "-device virtio-serial-pci,max_ports=2",
            Model::Microvm => "-device virtio-serial-device,max_ports=2",
        });
        add("-device virtserialport,chardev=data,name=askr.agent");
    }
    add("-chardev socket,id=monitor,fd=1 -mon chardev=monitor,mode=control");
    add("-device isa-debug-exit,iobase=0xf4,iosize=0x04");
    if machine.runs_line() {
        add(&format!("-chardev socket,id=log,path={LOG_SOCKET}"));
        add("-device isa-debugcon,iobase=0xe9,chardev=log");
    }
    if machine.gdb {
        add(&format!("-S -chardev socket,id=gdb,path={GDB_SOCKET},server=on,wait=off -gdb chardev:gdb"));
    }
    if let Some(disk) = &machine.disk {
        add(match machine.model {
            Model::Q35 | Model::Pc => "-device virtio-blk-pci,drive=disk",
            Model::Microvm => "-device virtio-blk-device,drive=disk",
        });
        arguments.extend([OsString::from("-drive"), drive(disk, machine.disk_log.as_deref())]);
    }
    arguments.extend(machine.devices.iter().map(OsString::from));
    arguments.extend(start_arguments(machine, start));
    arguments
}

/// What the machine starts with.
fn start_arguments(machine: &Machine, start: &Start<'_>) -> Vec<OsString> {
    match start {
        Start::Direct { initrd, words } => vec![
            "-kernel".into(),
            machine.kernel.clone().into(),
            "-initrd".into(),
            OsString::from(initrd),
            "-append".into(),
            OsString::from(words),
        ],
        Start::Image { firmware } => {
            let mut words = format!(
                "-device VGA -drive if=none,id=boot,format=raw,file={BOOT_IMAGE} \
                 -device ide-hd,drive=boot,bootindex=0"
            );
            if let Some(Firmware { code, variables }) = firmware {
                // What it writes among its variables is gone afterwards.
                words.push_str(&format!(
                    " -drive if=pflash,format=raw,readonly=on,file={code} \
                     -drive if=pflash,format=raw,snapshot=on,file={variables}"
                ));
            }
            words.split_ascii_whitespace().map(OsString::from).collect()
        }
    }
}

/// The value of `-drive`. The path is absolute, so QEMU takes no part of it for a protocol; a comma in it is
/// doubled (`man qemu-system-x86_64`, under "-drive").
fn drive(disk: &Disk, log: Option<&Path>) -> OsString {
    let mut value = b"if=none,id=disk".to_vec();
    if disk.is_throwaway() {
        value.extend_from_slice(b",snapshot=on");
    }
    let mut file = |name: &[u8], path: &Path| {
        value.extend_from_slice(name);
        for byte in path.as_os_str().as_bytes() {
            value.push(*byte);
            if *byte == b',' {
                value.push(b',');
            }
        }
    };
    match log {
        None => file(b",format=raw,file=", disk.path()),
        Some(log) => {
            file(b",driver=blklogwrites,file.driver=file,file.filename=", disk.path());
            file(b",log.driver=file,log.filename=", log);
        }
    }
    OsString::from_vec(value)
}
