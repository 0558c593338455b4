//! Frames from the shared vectors, and every message.

use askr_wire::message::{
    AnswerReply, AnswerRequest, AskFacts, AsksRequest, Counter, Decision, DirEntry, FileType, HelloReply,
    HelloRequest, ListRequest, PathRequest, PendingAsk, PingReply, PingRequest, ProcessEntry, ProcessEvent,
    ProcessState, PsRequest, ReadReply, ReadRequest, Response, StatReply, VerbGeneration, WriteMode,
    WriteReply, WriteRequest,
};
use askr_wire::status::Status;
use askr_wire::vectors::{FRAMES, parse};
use askr_wire::{List, Message, SessionId, ext};

use crate::Seed;
use crate::later;

/// The lines of all vectors.
pub(crate) fn lines() -> Vec<Seed> {
    let vectors = parse(FRAMES).expect("the vectors are well-formed");
    vectors.into_iter().map(|vector| (vector.name, vector.wire)).collect()
}

/// The frames that those lines hold, without COBS and checksum, and a few with a length that is not theirs.
pub(crate) fn frames() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (name, line) in lines() {
        let parts = line.split(|&byte| byte == 0).filter(|part| !part.is_empty()).enumerate();
        for (index, part) in parts {
            let mut raw = vec![0; part.len()];
            let Ok(report) = cobs::decode(part, &mut raw) else { continue };
            raw.truncate(report.frame_size());
            let checksum = if raw.first().is_some_and(|kind| kind & 0x80 != 0) { 4 } else { 2 };
            raw.truncate(raw.len().saturating_sub(checksum));
            seeds.push((format!("{name}-{index}"), raw));
        }
    }
    seeds.push(("empty".to_owned(), Vec::new()));
    seeds
}

pub(crate) fn bytes<'a>(message: &impl Message<'a>) -> Vec<u8> {
    let mut out = vec![0; 4096];
    let len = message.encode(&mut out).expect("a short message");
    out.truncate(len);
    out
}

pub(crate) fn list<'a, T: Message<'a>>(items: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut out = vec![0; 4096];
    let mut writer = askr_wire::ListWriter::new(&mut out).expect("room for the count");
    items.into_iter().for_each(|item| writer.push(&item).expect("room for a few items"));
    let len = writer.finish();
    out.truncate(len);
    out
}

pub(crate) fn hello(nonce: u8) -> Vec<u8> {
    bytes(&HelloRequest {
        generation: 1,
        payload_limit: 4096,
        window: 8,
        nonce: [nonce; 16],
        client: b"askr-bridge",
    })
}

fn entry(file_type: FileType, size: u64, name: &[u8]) -> DirEntry<'_> {
    DirEntry { file_type, size, name }
}

fn process(pid: u32, state: ProcessState, is_user: bool, name: &[u8]) -> ProcessEntry<'_> {
    ProcessEntry { pid, tid: pid, state, is_user, name }
}

fn asked(seq: u32) -> PendingAsk<'static> {
    let facts = AskFacts { pid: 4, left_ms: 29_000, program: b"/bin/ask" };
    PendingAsk { seq, code: 1, facts, question: b"delete /tmp/notes?", ext: b"\x04\x02\0no" }
}

/// One of each layout; the first byte is its place in the table of the target.
pub(crate) fn messages() -> Vec<Seed> {
    let mut seeds = first();
    let (layouts, later) = (27.., later::messages());
    for (layout, (name, message)) in layouts.zip(later) {
        seeds.push((name.to_owned(), [&[layout], &message[..]].concat()));
    }
    seeds
}

/// The layouts of the base, of sessions and of asks, which the table has first.
fn first() -> Vec<Seed> {
    let stat = StatReply {
        file_type: FileType::File,
        mode: 0o644,
        uid: 0,
        gid: 0,
        size: 12,
        mtime: 1_700_000_000,
        atime: 1_700_000_000,
        ctime: 1_700_000_000,
    };
    let mut scratch = [0; 64];
    let generations = [1, 2, 0x100].map(|code| VerbGeneration { code, generation: 1 });
    let hello_reply = HelloReply {
        generation: 1,
        payload_limit: 4096,
        window: 8,
        lease_ms: 10_000,
        ping_ms: 2_000,
        boot_id: [3; 16],
        session: SessionId(*b"session1"),
        event_cursor: 5,
        kernel: b"askr",
        version: b"0.1.0",
        verbs: List::build(generations, &mut scratch).expect("three verbs"),
    };
    let ping_reply =
        PingReply { previous_counter: 1, pending_asks: 2, event_cursor: 9, uptime_ns: 5_000_000_000 };
    let event = ProcessEvent { pid: 7, aux: 1, info: 0, name: b"/bin/sh" };
    let write = WriteRequest { mode: WriteMode::Append, path: b"/tmp/notes", data: b"one more\n" };
    let names = [entry(FileType::File, 12, b"notes"), entry(FileType::Directory, 0, b"sub")];
    let processes =
        [process(1, ProcessState::Blocked, true, b"init"), process(2, ProcessState::Zombie, true, b"")];
    let counters =
        [Counter { name: b"frames_in", value: 77 }, Counter { name: b"asks_opened", value: u64::MAX }];
    let mut item = vec![ext::ASK_FACTS, 17, 0];
    item.extend(bytes(&asked(0).facts));
    let messages = [
        ("path", bytes(&PathRequest { path: b"/etc/motd" })),
        ("stat", bytes(&stat)),
        ("list", bytes(&ListRequest { start: 16, path: b"/tmp" })),
        ("entries", list(names)),
        ("read", bytes(&ReadRequest { offset: 1 << 32, len: 4096, path: b"/bin/hello" })),
        ("read-reply", bytes(&ReadReply { data: b"#!askr\n\0\xff" })),
        ("write", bytes(&write)),
        ("write-reply", bytes(&WriteReply { written: 9 })),
        ("ps", bytes(&PsRequest { start: 0 })),
        ("processes", list(processes)),
        ("hello", hello(9)),
        ("hello-reply", bytes(&hello_reply)),
        ("ping", bytes(&PingRequest { counter: 1 })),
        ("ping-reply", bytes(&ping_reply)),
        ("nothing", Vec::new()),
        ("counters", list(counters)),
        ("asks", bytes(&AsksRequest { start: 0 })),
        ("pending", list([asked(0x8000_0000), asked(0x8000_0001)])),
        ("answer", bytes(&AnswerRequest { ask: 0x8000_0000, decision: Decision::Answer(b"yes") })),
        ("answer-reply", bytes(&AnswerReply::Late)),
        ("response", bytes(&Response { status: Status::Ok, body: b"body" })),
        ("event", bytes(&event)),
        ("facts", bytes(&asked(0).facts)),
        ("verbs", list(generations)),
        ("entry", bytes(&names[0])),
        ("ask", bytes(&asked(0x8000_0000))),
        ("ext", item),
    ];
    let mut seeds: Vec<Seed> = Vec::new();
    for (layout, (name, message)) in (0..).zip(messages) {
        seeds.push((name.to_owned(), [&[layout], &message[..]].concat()));
    }
    let refusal = bytes(&AnswerRequest { ask: 0x8000_0000, decision: Decision::Refuse });
    seeds.push(("refuse".to_owned(), [&[18], &refusal[..]].concat()));
    seeds.push(("error".to_owned(), [&[20], &bytes(&Response::error(Status::NoEnt))[..]].concat()));
    seeds
}
