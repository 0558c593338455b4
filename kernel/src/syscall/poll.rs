//! `poll`: waiting for several files at once.

use super::Call;
use crate::arch::clock::{self, Nanos, SECOND};
use crate::sched::{self, Enlisted};
use crate::{fs, mm, process};
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::POLLNVAL;
use askr_vfs::File;

/// `struct pollfd`: descriptor, events wanted, events there.
const ENTRY: usize = 8;

struct Entry {
    /// `None` for a descriptor that is negative or not open.
    file: Option<Arc<File>>,
    wanted: u16,
    /// What is there without looking.
    fixed: u16,
}

/// `poll(fds, nfds, timeout)`
pub(super) fn poll(call: &mut Call<'_>) -> Result<u64, Errno> {
    const MILLISECOND: Nanos = SECOND / 1000;
    let timeout = u64::try_from(call.int(2)).ok();
    wait(call, timeout.map(|timeout| clock::now().saturating_add(timeout * MILLISECOND)))
}

/// `ppoll(fds, nfds, timeout, sigmask, sigsetsize)`
pub(super) fn ppoll(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, _, timeout_at, mask_at, size, ..] = call.args;
    let mask = if mask_at == 0 { None } else { Some(call.signal_mask(mask_at, size)?) };
    let mut deadline = None;
    if timeout_at != 0 {
        deadline = Some(clock::now().saturating_add(call.duration(timeout_at)?));
    }
    if let Some(mask) = mask {
        call.process().signals().lock().set_temporary_mask(mask);
    }
    let result = wait(call, deadline);
    if result != Err(Errno::EINTR) {
        // What the mask let through and has not come has to wait again.
        call.process().signals().lock().restore_mask();
    }
    result
}

fn wait(call: &Call<'_>, deadline: Option<Nanos>) -> Result<u64, Errno> {
    let deadline = call.resumed.or(deadline);
    let [address, count, ..] = call.args;
    // The count is an unsigned int, of which the upper half of the register is no part.
    let mut bytes = read_entries(call, address, u64::from(count as u32))?;
    let mut entries: Vec<Entry> = mm::with_room(bytes.len() / ENTRY)?;
    entries.extend(bytes.chunks_exact(ENTRY).map(|entry| open_entry(call, entry)));
    let mut enlisted: Vec<Enlisted<'_>> = mm::with_room(entries.len())?;
    let ready = loop {
        // Enlist, then test: what happens in between wakes.
        enlisted.extend(entries.iter().filter_map(Entry::enlist));
        let ready = test(&entries, &mut bytes);
        if ready > 0 || deadline.is_some_and(|deadline| clock::now() >= deadline) {
            break ready;
        }
        if process::interrupted() {
            return Err(call.interrupted_before(deadline.unwrap_or(Nanos::MAX)));
        }
        sched::park_for(deadline);
        enlisted.clear();
    };
    call.copy_out(address, &bytes)?;
    Ok(ready)
}

/// The array, as many entries as a process may have descriptors.
fn read_entries(call: &Call<'_>, address: u64, count: u64) -> Result<Vec<u8>, Errno> {
    let count = usize::try_from(count).ok().filter(|&count| count <= call.process().descriptor_limit());
    let mut bytes = mm::zeroed(count.ok_or(Errno::EINVAL)? * ENTRY)?;
    call.copy_in(address, &mut bytes)?;
    Ok(bytes)
}

fn open_entry(call: &Call<'_>, entry: &[u8]) -> Entry {
    let fd = i32::from_le_bytes(entry[..4].try_into().expect("four bytes"));
    let wanted = u16::from_le_bytes([entry[4], entry[5]]);
    let file = call.process().files().lock().get(fd).ok();
    let fixed = if fd >= 0 && file.is_none() { POLLNVAL } else { 0 };
    Entry { file, wanted, fixed }
}

/// Writes what is there into the array and returns how many entries have something.
fn test(entries: &[Entry], bytes: &mut [u8]) -> u64 {
    let mut ready = 0;
    for (entry, bytes) in entries.iter().zip(bytes.chunks_exact_mut(ENTRY)) {
        let there = entry.ready();
        bytes[6..8].copy_from_slice(&there.to_le_bytes());
        ready += u64::from(there != 0);
    }
    ready
}

impl Entry {
    fn enlist(&self) -> Option<Enlisted<'_>> {
        let stream = fs::stream(self.file.as_ref()?)?;
        Some(stream.queue().enlist())
    }

    fn ready(&self) -> u16 {
        self.fixed | self.file.as_ref().map_or(0, |file| fs::readiness(file, self.wanted))
    }
}
