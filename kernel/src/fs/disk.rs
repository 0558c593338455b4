//! `/disk`: the file system on the machine's disk, and the task that writes what waits to be written.

use super::{DEV_DISK, now, vfs};
use crate::arch::boot;
use crate::arch::clock::{self, SECOND};
use crate::drivers::block::BlockDevice;
use crate::drivers::debugcon;
use crate::kprintln;
use crate::sched::{self, Task};
use crate::sync::SleepLock;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use askr_abi::Errno;
use askr_disk::{DiskFs, Hooks, SECTOR, State};
use spin::Once;

const POINT: &[u8] = b"/disk";
/// Seconds after which what was written to an open file is on the disk, whether anybody asks for it or not.
const AGE: i64 = 5;

static DISK: Once<DiskFs<SleepLock>> = Once::new();
static WRITER: Once<Arc<Task>> = Once::new();

impl askr_disk::BlockDevice for BlockDevice {
    fn sectors(&self) -> u64 {
        BlockDevice::sectors(self)
    }

    fn read(&mut self, sector: u64, into: &mut [u8]) -> Result<(), Errno> {
        BlockDevice::read(self, sector, into)
    }

    fn write(&mut self, sector: u64, bytes: &[u8]) -> Result<(), Errno> {
        BlockDevice::write(self, sector, bytes)
    }

    fn flush(&mut self) -> Result<(), Errno> {
        BlockDevice::flush(self)
    }
}

/// Mounts the disk, if there is one that can be used, and says why not if it cannot. Interrupts are on.
pub(crate) fn mount() {
    match BlockDevice::find() {
        // A host that runs one line wants to hear of trouble only.
        None if debugcon::is_enabled() => {}
        None => kprintln!("disk: this machine has none; there is no /disk"),
        Some(device) => {
            if let Err(errno) = mount_on(device) {
                kprintln!("disk: {}; there is no /disk", errno.message());
            }
        }
    }
}

fn mount_on(device: BlockDevice) -> Result<(), Errno> {
    if device.is_read_only() {
        return Err(Errno::EROFS);
    }
    let wants_format = boot::option(b"disk") == Some(b"format");
    let Some(device) = prepare(Box::new(device), wants_format)? else { return Ok(()) };
    let fs = DiskFs::mount(device, DEV_DISK, Hooks { clock: now, wake, lost })?;
    let fs = DISK.call_once(|| fs);
    match vfs().root().mkdir(&POINT[1..], 0o755) {
        Ok(_) | Err(Errno::EEXIST) => {}
        Err(errno) => return Err(errno),
    }
    vfs().mount(POINT, "littlefs", fs.root())?;
    let task = sched::spawn_kernel(writer)?;
    WRITER.call_once(|| task);
    Ok(())
}

/// Makes a file system where there is none or where one is asked for. Gives no device back if it is not ours to use,
/// after a line that says so.
fn prepare(
    device: Box<dyn askr_disk::BlockDevice>,
    wants_format: bool,
) -> Result<Option<Box<dyn askr_disk::BlockDevice>>, Errno> {
    let mib = (device.sectors() * SECTOR as u64) >> 20;
    let (state, device) = if wants_format { (State::Empty, device) } else { askr_disk::examine(device)? };
    match state {
        State::FileSystem => Ok(Some(device)),
        State::Empty => {
            let device = askr_disk::format(device)?;
            if wants_format || !debugcon::is_enabled() {
                kprintln!("disk: made an empty file system, {mib} MiB");
            }
            Ok(Some(device))
        }
        State::Foreign => {
            kprintln!(
                "disk: neither empty nor a file system of Askr, or damaged: nothing was changed, and there is no /disk; \
                 `cargo run -- --format-disk` makes an empty file system and loses what is there"
            );
            Ok(None)
        }
        State::TooSmall => {
            kprintln!("disk: too small for a file system; there is no /disk");
            Ok(None)
        }
    }
}

/// Wakes the writer.
fn wake() {
    if let Some(task) = WRITER.get() {
        sched::unpark(task);
    }
}

fn lost(path: &[u8], errno: Errno) {
    kprintln!("disk: lost what was written to /disk/{}: {}", String::from_utf8_lossy(path), errno.message());
}

/// Writes what waits, for ever.
extern "C" fn writer(_: u64) -> ! {
    x86_64::instructions::interrupts::enable();
    loop {
        let is_left = DISK.get().is_some_and(|fs| fs.write_back(AGE));
        if is_left {
            sched::park_until(clock::now() + SECOND);
        } else {
            sched::park();
        }
    }
}
