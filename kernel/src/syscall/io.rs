//! Reading and writing. All of these calls move bytes between a file and pieces of the program's memory.

use super::Call;
use super::file::descriptor;
use crate::{fs, mm, process};
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::SIGPIPE;
use askr_core::areas::Access;
use askr_vfs::{File, Kind, PIPE_BUF};

/// Bytes that go through the kernel at once.
const CHUNK: usize = 64 * 1024;
/// The same when memory is short.
const SMALL_CHUNK: usize = 512;
/// Most bytes of one read or write, as on Linux (`man 2 read`).
const COUNT_MAX: u64 = 0x7fff_f000;
/// Most pieces of one `readv` or `writev` (`UIO_MAXIOV`).
const IOV_MAX: u32 = 1024;

/// A piece of a program's memory.
#[derive(Clone, Copy)]
struct Piece {
    base: u64,
    length: u64,
}

/// `read(fd, buf, count)`
pub(super) fn read(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, base, length, ..] = call.args;
    let file = descriptor(call, call.int(0))?;
    read_into(call, &file, &[Piece { base, length }], |into, _| file.read(into))
}

/// `readv(fd, iov, iovcnt)`
pub(super) fn readv(call: &mut Call<'_>) -> Result<u64, Errno> {
    let file = descriptor(call, call.int(0))?;
    let pieces = vector(call)?;
    read_into(call, &file, &pieces, |into, _| file.read(into))
}

/// `pread64(fd, buf, count, offset)`
pub(super) fn pread64(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, base, length, ..] = call.args;
    let file = descriptor(call, call.int(0))?;
    let offset = offset(call)?;
    read_into(call, &file, &[Piece { base, length }], |into, done| file.read_at(offset + done, into))
}

/// `write(fd, buf, count)`
pub(super) fn write(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, base, length, ..] = call.args;
    let file = descriptor(call, call.int(0))?;
    write_from(call, &file, &[Piece { base, length }], |bytes, _| file.write(bytes))
}

/// `writev(fd, iov, iovcnt)`
pub(super) fn writev(call: &mut Call<'_>) -> Result<u64, Errno> {
    let file = descriptor(call, call.int(0))?;
    let pieces = vector(call)?;
    write_from(call, &file, &pieces, |bytes, _| file.write(bytes))
}

/// `pwrite64(fd, buf, count, offset)`
pub(super) fn pwrite64(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, base, length, ..] = call.args;
    let file = descriptor(call, call.int(0))?;
    let offset = offset(call)?;
    write_from(call, &file, &[Piece { base, length }], |bytes, done| file.write_at(offset + done, bytes))
}

/// The offset of `pread64` and `pwrite64`: with the whole transfer added it is one that a file can have.
fn offset(call: &Call<'_>) -> Result<u64, Errno> {
    let [_, _, count, offset, ..] = call.args;
    let end = offset.cast_signed().checked_add_unsigned(count.min(COUNT_MAX));
    if offset.cast_signed() < 0 || end.is_none() { Err(Errno::EINVAL) } else { Ok(offset) }
}

/// The pieces that `struct iovec` names.
fn vector(call: &Call<'_>) -> Result<Vec<Piece>, Errno> {
    const ENTRY: usize = 16;
    let [_, address, count, ..] = call.args;
    // An int, of which the upper half of the register is no part.
    let count = count as u32;
    if count > IOV_MAX {
        return Err(Errno::EINVAL);
    }
    let mut bytes = mm::zeroed(count as usize * ENTRY)?;
    call.copy_in(address, &mut bytes)?;
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let mut pieces = mm::with_room(count as usize)?;
    for entry in bytes.chunks_exact(ENTRY) {
        let piece = Piece { base: word(&entry[..8]), length: word(&entry[8..]) };
        if piece.length.cast_signed() < 0 {
            return Err(Errno::EINVAL);
        }
        pieces.push(piece);
    }
    Ok(pieces)
}

/// Bytes in all pieces, at most [`COUNT_MAX`].
fn total(pieces: &[Piece]) -> usize {
    pieces.iter().fold(0, |sum: u64, piece| sum.saturating_add(piece.length).min(COUNT_MAX)) as usize
}

/// Goes through the pieces from byte `skip` on, `count` bytes in all, and gives `visit` where in memory a part lies and
/// where in the count.
fn visit(
    pieces: &[Piece],
    skip: usize,
    count: usize,
    mut visit: impl FnMut(u64, core::ops::Range<usize>) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let (mut skip, mut done) = (skip as u64, 0);
    for piece in pieces {
        if done == count {
            break;
        }
        let skipped = skip.min(piece.length);
        skip -= skipped;
        let part = (piece.length - skipped).min((count - done) as u64) as usize;
        visit(piece.base.checked_add(skipped).ok_or(Errno::EFAULT)?, done..done + part)?;
        done += part;
    }
    Ok(())
}

/// Reads until the pieces are full, the file ends or a stream has no more now. `take` reads into a buffer; it is told
/// how much was read before.
fn read_into(
    call: &Call<'_>,
    file: &File,
    pieces: &[Piece],
    take: impl Fn(&mut [u8], u64) -> Result<usize, Errno>,
) -> Result<u64, Errno> {
    if file.node().is_in_memory() {
        return read_directly(call, pieces, take);
    }
    let count = total(pieces);
    let mut done = 0;
    loop {
        // No buffer is held while a stream is waited for.
        let got = fs::read_waiting(file, || {
            let mut buffer = transfer_buffer(count - done, file)?;
            let size = buffer.len();
            // Before anything is taken from a stream: a bad pointer must not lose it.
            visit(pieces, done, size, |at, part| {
                call.process().with_space(|space| mm::user::check(space, at, part.len(), Access::Write))
            })?;
            let got = take(&mut buffer, done as u64)?;
            visit(pieces, done, got, |at, part| call.copy_out(at, &buffer[part]))?;
            Ok(got)
        });
        match got {
            Ok(0) => break,
            Ok(got) => done += got,
            Err(_) if done > 0 => break,
            Err(errno) => return Err(errno),
        }
        // A stream gives what it has; a file is read until the end.
        if done >= count || file.kind() != Kind::File || process::breathe() {
            break;
        }
    }
    Ok(done as u64)
}

/// As [`read_into`] for a file whose content is at hand: nothing is between it and the program's memory.
fn read_directly(
    call: &Call<'_>,
    pieces: &[Piece],
    take: impl Fn(&mut [u8], u64) -> Result<usize, Errno>,
) -> Result<u64, Errno> {
    let count = total(pieces);
    if pieces.iter().any(|piece| !mm::user::is_possible(piece.base, piece.length)) {
        return Err(Errno::EFAULT);
    }
    // What is wrong with the file is told before what is wrong with the memory.
    take(&mut [], 0)?;
    let mut done = 0;
    while done < count {
        let (begun, size) = (done, CHUNK.min(count - done));
        let result = visit(pieces, begun, size, |at, part| {
            if done < begun + part.start {
                return Ok(()); // the file has ended, or the memory
            }
            done += call.process().with_space(|space| {
                mm::user::fill(space, at, part.len(), |into, filled| take(into, (done + filled) as u64))
            })?;
            Ok(())
        });
        match result {
            Err(errno) if done == 0 => return Err(errno),
            Ok(()) if done == begun + size && !process::breathe() => {}
            _ => break,
        }
    }
    Ok(done as u64)
}

/// Writes all the pieces, as far as there is room and no signal comes. `put` writes from a buffer; it is told how much
/// was written before.
fn write_from(
    call: &Call<'_>,
    file: &File,
    pieces: &[Piece],
    put: impl Fn(&[u8], u64) -> Result<usize, Errno>,
) -> Result<u64, Errno> {
    if file.kind() == Kind::File {
        mm::require_heap_room()?; // the kernel keeps what is written
    }
    let count = total(pieces);
    let mut done = 0;
    loop {
        let taken = fs::write_waiting(file, || {
            let mut buffer = transfer_buffer(count - done, file)?;
            let size = buffer.len();
            visit(pieces, done, size, |at, part| call.copy_in(at, &mut buffer[part]))?;
            put(&buffer, done as u64)
        });
        if taken == Err(Errno::EPIPE) {
            process::raise(SIGPIPE);
        }
        match taken {
            Ok(taken) => done += taken,
            Err(_) if done > 0 => break,
            Err(errno) => return Err(errno),
        }
        if done >= count || process::breathe() {
            break;
        }
    }
    Ok(done as u64)
}

/// A buffer for moving `count` bytes, in pieces if need be: small ones when the kernel's heap is down to its reserve,
/// since any number of programs may be waiting in the middle of a transfer. For a stream none waits with it, and what
/// goes into a pipe as one step has to fit.
fn transfer_buffer(count: usize, file: &File) -> Result<Vec<u8>, Errno> {
    let small = if fs::stream(file).is_some() { PIPE_BUF } else { SMALL_CHUNK };
    // The look at the heap is for transfers that it can make smaller: most are not.
    let most = if count > small && mm::require_heap_room().is_ok() { CHUNK } else { small };
    mm::zeroed(count.min(most))
}
