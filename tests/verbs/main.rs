//! Every verb of a session that is about files and the machine, from a booted kernel: what it does, what it refuses, and
//! that absurd numbers get an answer.

#[path = "../common/mod.rs"]
mod common;

mod directories;
mod facts;
mod files;
mod power;
mod refusals;
mod uploads;

use std::collections::VecDeque;
use std::fs::File;
use std::path::Path;

use askr::{Disk, Machine};
use askr_wire::message::{
    ReadReply, ReadRequest, RenameRequest, TruncateRequest, WriteAtRequest, WriteMode, WriteReply,
    WriteRequest,
};
use askr_wire::status::Status;
use askr_wire::{Message, code};
use common::peer::{Peer, bytes};
use common::shell::{Askr, Shared};
use serde_json::json;

static GUEST: Shared = Shared::new(|| Machine::new().memory_mib(256).disk(disk("verbs.img", 16 << 20)));

/// Requests that may be outstanding.
const WINDOW: usize = 8;
/// Data of one WRITE_AT, with room for head and path in a frame of 4096 bytes.
const PIECE: usize = 3072;

/// An empty disk of this size.
fn disk(name: &str, size: u64) -> Disk {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    File::create(&path).unwrap().set_len(size).unwrap();
    Disk::open(&path, false).unwrap()
}

/// Lets the disk serve so many requests a second; 0 is as many as it can.
fn throttle(askr: &mut Askr, iops: u64) {
    let limits = json!({ "device": "disk", "bps": 0, "bps_rd": 0, "bps_wr": 0, "iops": iops, "iops_rd": 0, "iops_wr": 0 });
    askr.vm().qmp("block_set_io_throttle", &limits).unwrap();
}

fn write_at(path: &[u8], offset: u64, data: &[u8], sync: bool) -> Vec<u8> {
    bytes(&WriteAtRequest { offset, sync, path, data })
}

fn rename(from: &[u8], to: &[u8]) -> Vec<u8> {
    bytes(&RenameRequest { from, to })
}

fn truncate(path: &[u8], size: u64) -> Vec<u8> {
    bytes(&TruncateRequest { size, path })
}

fn write(path: &[u8], data: &[u8]) -> Vec<u8> {
    bytes(&WriteRequest { mode: WriteMode::Replace, path, data })
}

fn read_at(path: &[u8], offset: u64) -> Vec<u8> {
    bytes(&ReadRequest { offset, len: u32::MAX, path })
}

/// Sends requests, as many at once as may be outstanding, and gives what each was answered, in their order.
fn stream(
    peer: &mut Peer,
    code: u16,
    requests: impl Iterator<Item = Vec<u8>>,
) -> impl Iterator<Item = (Status, Vec<u8>)> {
    let (mut sent, mut answers) = (VecDeque::new(), Vec::new());
    for request in requests {
        if sent.len() == WINDOW {
            answers.push(peer.response(sent.pop_front().unwrap(), code));
        }
        sent.push_back(peer.send(code, &request));
    }
    answers.extend(sent.into_iter().map(|seq| peer.response(seq, code)));
    answers.into_iter()
}

/// Writes a file piece by piece; the last piece asks for it to be on the device. Gives the status of each piece.
fn upload(peer: &mut Peer, path: &[u8], data: &[u8]) -> Vec<Status> {
    let count = data.len().div_ceil(PIECE).max(1);
    let pieces = (0..count).map(|index| {
        let at = index * PIECE;
        let piece = &data[at..data.len().min(at + PIECE)];
        write_at(path, at as u64, piece, index + 1 == count)
    });
    let answers = stream(peer, code::WRITE_AT, pieces);
    answers
        .enumerate()
        .map(|(index, (status, body))| {
            if status == Status::Ok {
                let written = WriteReply::decode(&body).unwrap().written as usize;
                assert_eq!(written, PIECE.min(data.len() - index * PIECE));
            }
            status
        })
        .collect()
}

/// Reads a file of this size, and on to its end.
fn download(peer: &mut Peer, path: &[u8], size: usize) -> Vec<u8> {
    // A session's frame has 4096 bytes for head (10), status (1), count (4) and data.
    const READ: usize = 4081;
    let requests = (0..=size / READ).map(|index| read_at(path, (index * READ) as u64));
    let answers = stream(peer, code::READ, requests);
    let mut data = Vec::new();
    for (status, body) in answers {
        assert_eq!(status, Status::Ok);
        data.extend_from_slice(ReadReply::decode(&body).unwrap().data);
    }
    data
}

/// Bytes of all values without a pattern, the same for the same seed.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..len).map(|_| random.u8(..)).collect()
}
