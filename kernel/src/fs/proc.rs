//! `/proc`: version, uptime, meminfo, mounts, asks, bus, events, kernel messages, and a directory for each process.

use super::DEV_PROC;
use crate::arch::clock::{self, SECOND};
use crate::process::{self, Facts, Pid};
use crate::{bus, console, mm, policy, sched, timeline, trace, version};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_vfs::{DirEntry, FixedDir, Generated, Kind, Metadata, Place, Vnode};

const INO_ROOT: u64 = 1;
const INO_SELF: u64 = 2;
/// Numbers of the files with fixed names start here.
const INO_FIXED: u64 = 16;
/// The directory of process n has this number plus 4 n, its files the ones after.
const INO_PROCESS: u64 = 1024;

type Make = fn() -> Result<Vec<u8>, Errno>;

const FIXED: &[(&str, Make)] = &[
    ("asks", bus::asks),
    ("bus", || Ok(bus::report().into_bytes())),
    ("console", || Ok(console::report().into_bytes())),
    ("events", bus::events),
    ("kmsg", trace::messages),
    ("meminfo", meminfo),
    ("mounts", mounts),
    ("timeline", timeline::report),
    ("uptime", uptime),
    ("version", || {
        Ok(format!("{} version {} ({})\n", version::NAME, version::RELEASE, version::VERSION).into_bytes())
    }),
];

pub(super) fn root() -> Arc<dyn Vnode> {
    Arc::new(Root)
}

struct Root;

impl Vnode for Root {
    fn kind(&self) -> Kind {
        Kind::Directory
    }

    fn metadata(&self) -> Result<Metadata, Errno> {
        Ok(Metadata::bare(Kind::Directory, 0o555, DEV_PROC, INO_ROOT))
    }

    fn place(&self) -> Result<Place, Errno> {
        Ok(Place::Root)
    }

    fn lookup(&self, name: &[u8]) -> Result<Arc<dyn Vnode>, Errno> {
        if name == b"self" {
            return Ok(Arc::new(SelfLink));
        }
        if let Some((index, (_, make))) =
            FIXED.iter().enumerate().find(|(_, (entry, _))| entry.as_bytes() == name)
        {
            return Ok(Arc::new(Generated::new(DEV_PROC, INO_FIXED + index as u64, *make)));
        }
        let pid = parse_pid(name).ok_or(Errno::ENOENT)?;
        process::find(pid).ok_or(Errno::ENOENT)?;
        Ok(process_directory(pid))
    }

    /// Cursors: 0 is `self`, then the fixed files, then process numbers, so that a process that goes in between
    /// shifts nothing.
    fn read_dir(&self, cursor: u64, emit: &mut dyn FnMut(DirEntry<'_>) -> bool) -> Result<(), Errno> {
        let fixed = FIXED.len() as u64;
        if cursor == 0
            && !emit(DirEntry { name: b"self", ino: INO_SELF, kind: Kind::Symlink, next: 1, facts: None })
        {
            return Ok(());
        }
        for index in cursor.saturating_sub(1)..fixed {
            let name = FIXED[index as usize].0.as_bytes();
            let entry =
                DirEntry { name, ino: INO_FIXED + index, kind: Kind::File, next: index + 2, facts: None };
            if !emit(entry) {
                return Ok(());
            }
        }
        let from = Pid::try_from(cursor.saturating_sub(fixed + 1)).unwrap_or(Pid::MAX);
        for facts in process::facts_from(from) {
            let name = format!("{}", facts.pid);
            let ino = INO_PROCESS + 4 * u64::from(facts.pid);
            let next = u64::from(facts.pid) + 1 + fixed + 1;
            if !emit(DirEntry { name: name.as_bytes(), ino, kind: Kind::Directory, next, facts: None }) {
                break;
            }
        }
        Ok(())
    }
}

/// A decimal number without leading zeros.
fn parse_pid(name: &[u8]) -> Option<Pid> {
    let pid = core::str::from_utf8(name).ok()?.parse().ok()?;
    (format!("{pid}").as_bytes() == name).then_some(pid)
}

struct SelfLink;

impl Vnode for SelfLink {
    fn kind(&self) -> Kind {
        Kind::Symlink
    }

    fn metadata(&self) -> Result<Metadata, Errno> {
        Ok(Metadata::bare(Kind::Symlink, 0o777, DEV_PROC, INO_SELF))
    }

    fn read_link(&self) -> Result<Vec<u8>, Errno> {
        let task = sched::current();
        let pid = task.process().ok_or(Errno::ENOENT)?.pid();
        Ok(format!("{pid}").into_bytes())
    }
}

fn process_directory(pid: Pid) -> Arc<dyn Vnode> {
    let ino = INO_PROCESS + 4 * u64::from(pid);
    let status = Generated::new(DEV_PROC, ino + 1, move || status(pid));
    let place = Place::In { parent: Arc::new(Root), name: format!("{pid}").into_bytes() };
    Arc::new(FixedDir::new(DEV_PROC, ino, place, vec![("status", Arc::new(status) as Arc<dyn Vnode>)]))
}

/// `/proc/PID/status` with the lines of Linux's that make sense here, and who stands behind the process.
fn status(pid: Pid) -> Result<Vec<u8>, Errno> {
    let facts = process::facts_from(pid).next().filter(|facts| facts.pid == pid).ok_or(Errno::ESRCH)?;
    let Facts { parent, group, session, state, origin, name, resident, size, age, time, .. } = facts;
    let meaning = match state {
        b'R' => "running",
        b'S' => "sleeping",
        b'T' => "stopped",
        _ => "zombie",
    };
    let mut text = b"Name:\t".to_vec();
    text.extend_from_slice(&name);
    text.extend_from_slice(
        format!(
            "\nState:\t{} ({meaning})\nPid:\t{pid}\nPPid:\t{parent}\nNSpgid:\t{group}\nNSsid:\t{session}\nOrigin:\t{}\n\
             VmSize:\t{} kB\nVmRSS:\t{} kB\nAge:\t{} ms\nCpu:\t{} ms\n",
            char::from(state),
            policy::name(origin),
            size / 1024,
            resident / 1024,
            age / 1_000_000,
            time / 1_000_000,
        )
        .as_bytes(),
    );
    Ok(text)
}

fn meminfo() -> Result<Vec<u8>, Errno> {
    let mm::Usage { total, free } = mm::usage();
    let kib = |frames: u64| frames * mm::PAGE / 1024;
    let heap = mm::heap_usage();
    Ok(format!(
        "MemTotal:       {:8} kB\nMemFree:        {:8} kB\nKernelHeap:     {:8} kB\nKernelHeapUsed: {:8} kB\n",
        kib(total),
        kib(free),
        heap.total / 1024,
        heap.used / 1024,
    )
    .into_bytes())
}

fn mounts() -> Result<Vec<u8>, Errno> {
    let mut text = String::new();
    for (path, mount) in super::mounts() {
        let rights = if mount.root.statfs()?.writable { "rw" } else { "ro" };
        text += &format!("none {} {} {rights} 0 0\n", String::from_utf8_lossy(&path), mount.name);
    }
    Ok(text.into_bytes())
}

/// Seconds since boot, in the form that `uptime` programs read; nobody measures idle time, so it is 0.
fn uptime() -> Result<Vec<u8>, Errno> {
    let now = clock::now();
    Ok(format!("{}.{:02} 0.00\n", now / SECOND, now % SECOND / 10_000_000).into_bytes())
}
