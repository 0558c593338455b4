//! `/disk`: the file system on the machine's disk, and the task that writes what waits to be written.

use super::{DEV_DISK, now, vfs};
use crate::arch::boot;
use crate::arch::clock::{self, SECOND};
use crate::drivers::block::BlockDevice;
use crate::drivers::debugcon;
use crate::sched::{self, Task};
use crate::sync::SleepLock;
use crate::{bus, kprintln, mm};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use askr_abi::Errno;
use askr_disk::{BLOCK, DiskFs, Hooks, SECTOR, State};
use spin::Once;

const POINT: &[u8] = b"/disk";
/// Seconds after which what was written to an open file is on the disk, whether anybody asks for it or not.
const AGE: i64 = 5;

/// Part of the kernel's heap that blocks of the disk may take, ...
const CACHE_HEAP_SHARE: usize = 16;
/// ... but so many blocks at least, and no more than these.
const CACHED_MIN: usize = 64;
const CACHED_MAX: usize = 1024;

static DISK: Once<DiskFs<SleepLock>> = Once::new();
static WRITER: Once<Arc<Task>> = Once::new();
/// What became of the disk at boot, in words.
static STATE: Once<String> = Once::new();

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
    let state = match BlockDevice::find() {
        None => {
            // A host that runs one line wants to hear of trouble only.
            if !debugcon::is_enabled() {
                kprintln!("disk: this machine has none; there is no /disk");
            }
            "this machine has none".into()
        }
        Some(device) => mount_on(device).unwrap_or_else(|errno| {
            kprintln!("disk: {}; there is no /disk", errno.message());
            errno.message().into()
        }),
    };
    STATE.call_once(|| state);
}

/// What became of the disk, in words, as it is known without asking the disk.
pub(crate) fn state() -> &'static str {
    STATE.get().map_or("not looked for yet", String::as_str)
}

/// Mounts the device, or says why it is not used, and returns what became of it.
fn mount_on(device: BlockDevice) -> Result<String, Errno> {
    if device.is_read_only() {
        return Err(Errno::EROFS);
    }
    let wants_format = boot::option(b"disk") == Some(b"format");
    let mib = (device.sectors() * SECTOR as u64) >> 20;
    let device = match prepare(Box::new(device), wants_format)? {
        Ok(device) => device,
        Err(why) => return Ok(why.into()),
    };
    let cached_blocks = (mm::heap_usage().total / CACHE_HEAP_SHARE / BLOCK).clamp(CACHED_MIN, CACHED_MAX);
    let hooks = Hooks { clock: now, wake, lost, full, cached_blocks };
    let fs = DiskFs::mount(device, DEV_DISK, hooks)?;
    let fs = DISK.call_once(|| fs);
    match vfs().root().mkdir(&POINT[1..], 0o755) {
        Ok(_) | Err(Errno::EEXIST) => {}
        Err(errno) => return Err(errno),
    }
    vfs().mount(POINT, "littlefs", fs.root())?;
    let task = sched::spawn_kernel(writer)?;
    WRITER.call_once(|| task);
    Ok(format!("littlefs, {mib} MiB, at /disk"))
}

/// Makes a file system where there is none or where one is asked for. Gives the reason back if the device is not ours to
/// use, after a line that says so.
fn prepare(
    device: Box<dyn askr_disk::BlockDevice>,
    wants_format: bool,
) -> Result<Result<Box<dyn askr_disk::BlockDevice>, &'static str>, Errno> {
    let mib = (device.sectors() * SECTOR as u64) >> 20;
    let (state, device) = if wants_format { (State::Empty, device) } else { askr_disk::examine(device)? };
    match state {
        State::FileSystem => Ok(Ok(device)),
        State::Empty => {
            let device = askr_disk::format(device)?;
            if wants_format || !debugcon::is_enabled() {
                kprintln!("disk: made an empty file system, {mib} MiB");
            }
            Ok(Ok(device))
        }
        State::Foreign => {
            kprintln!(
                "disk: neither empty nor a file system of Askr, or damaged: nothing was changed, and there is no /disk; \
                 `cargo run -- --format-disk` makes an empty file system and loses what is there"
            );
            Ok(Err("neither empty nor a file system of Askr, or damaged; not used"))
        }
        State::TooSmall => {
            kprintln!("disk: too small for a file system; there is no /disk");
            Ok(Err("too small for a file system"))
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

fn full() {
    bus::filesystem_full(POINT);
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
