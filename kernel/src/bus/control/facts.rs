//! UPTIME, TIME, MEMINFO and INFO: what `/proc` tells of the machine, and a little more.

use super::super::boot_id;
use super::too_big;
use crate::arch::{boot, clock, cpu};
use crate::{fs, mm, version};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_wire::message::{Counter, Fact, TimeReply, UptimeReply};
use askr_wire::{ListWriter, Message};

/// A word of the command line that is not told: whoever knows it can guess what the kernel's random numbers will be.
const SECRET: &[u8] = b"seed=";

pub(super) fn uptime(body: &mut [u8]) -> Result<usize, Errno> {
    UptimeReply { uptime_ns: clock::now() }.encode(body).map_err(too_big)
}

pub(super) fn time(body: &mut [u8]) -> Result<usize, Errno> {
    TimeReply { unix_ns: clock::wall() }.encode(body).map_err(too_big)
}

/// The numbers of `/proc/meminfo`, in bytes.
pub(super) fn meminfo(body: &mut [u8]) -> Result<usize, Errno> {
    let mm::Usage { total, free } = mm::usage();
    let heap = mm::heap_usage();
    let mut writer = ListWriter::new(body).map_err(too_big)?;
    for (name, value) in [
        ("total", total * mm::PAGE),
        ("free", free * mm::PAGE),
        ("kernel_heap", heap.total as u64),
        ("kernel_heap_used", heap.used as u64),
    ] {
        writer.push(&Counter { name: name.as_bytes(), value }).map_err(too_big)?;
    }
    Ok(writer.finish())
}

/// What kernel and machine this is. Nothing of it is asked of a device, so it never waits.
pub(super) fn info(body: &mut [u8]) -> Result<usize, Errno> {
    let boot_id: String = boot_id().iter().map(|byte| format!("{byte:02x}")).collect();
    let memory = format!("{} KiB", mm::usage().total * mm::PAGE / 1024);
    let (cpu, command_line) = (cpu::name(), command_line());
    let mut writer = ListWriter::new(body).map_err(too_big)?;
    for (name, value) in [
        ("kernel", version::NAME.as_bytes()),
        ("release", version::RELEASE.as_bytes()),
        ("version", version::VERSION.as_bytes()),
        ("boot_id", boot_id.as_bytes()),
        ("door", boot::door().as_bytes()),
        ("command_line", &command_line),
        ("machine", b"x86_64"),
        ("cpu", &cpu),
        ("processors", b"1"),
        ("memory", memory.as_bytes()),
        ("disk", fs::disk::state().as_bytes()),
    ] {
        writer.push(&Fact { name: name.as_bytes(), value }).map_err(too_big)?;
    }
    Ok(writer.finish())
}

/// The words that the kernel was started with, all but [`SECRET`].
fn command_line() -> Vec<u8> {
    let words = boot::cmdline().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let told: Vec<_> = words.filter(|word| !word.starts_with(SECRET)).collect();
    told.join(&b' ')
}
