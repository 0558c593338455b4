//! The examples and tables of `docs/protocol.md` are what this crate does.

use std::collections::{BTreeMap, BTreeSet};

use askr_wire::message::{
    AnswerReply, AnswerRequest, AskFacts, AsksRequest, Counter, Decision, DirEntry, FileType, GENERATION,
    HelloReply, HelloRequest, ListRequest, PathRequest, PendingAsk, PingReply, PingRequest, ProcessEntry,
    ProcessEvent, ProcessState, PsRequest, ReadReply, ReadRequest, Response, StatReply, VerbGeneration,
    WriteMode, WriteReply, WriteRequest,
};
use askr_wire::status::Status;
use askr_wire::vectors::{OwnedFrame, deframe};
use askr_wire::{FRAME_MAX, FrameError, FrameType, List, Message, SessionId, Writer, code, encode, ext};

const PAGE: &str = include_str!("../../../docs/protocol.md");
const SESSION: SessionId = SessionId([0x8c, 0x1f, 0x3a, 0x5b, 0x2d, 0x40, 0x9e, 0x77]);

/// The bytes of every fenced block of `kind`, by name; what follows a `#` in a line is a comment.
fn blocks(kind: &str) -> BTreeMap<&'static str, Vec<u8>> {
    let mut blocks = BTreeMap::new();
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("```").and_then(|info| info.strip_prefix(kind)) else { continue };
        let body = lines.by_ref().take_while(|line| *line != "```");
        let words = body.flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace());
        let bytes = words.map(|word| u8::from_str_radix(word, 16).expect(line)).collect();
        assert!(blocks.insert(name.trim(), bytes).is_none(), "two blocks are called {name}");
    }
    blocks
}

/// The bytes on the line for a frame that already has its checksum.
fn on_the_wire(raw: &[u8]) -> Vec<u8> {
    let mut out = [0; FRAME_MAX];
    let len = cobs::try_encode_including_sentinels(raw, &mut out).unwrap();
    out[..len].to_vec()
}

#[test]
fn every_example_is_a_frame_and_is_what_is_sent() {
    let examples = blocks("hex ");
    assert!(examples.len() > 30, "{}", examples.len());
    for (name, raw) in &examples {
        let wire = on_the_wire(raw);
        let verdicts = deframe(&wire);
        let [Ok(frame)] = verdicts.as_slice() else { panic!("{name}: {verdicts:?}") };
        let mut out = [0; FRAME_MAX];
        let len = encode(&frame.as_frame(), &mut out).expect(name);
        assert_eq!(&out[..len], wire, "{name}");
    }
    let wires = blocks("wire ");
    assert!(!wires.is_empty());
    for (name, wire) in wires {
        assert_eq!(on_the_wire(&examples[name]), wire, "{name}");
    }
}

/// Takes the examples of the page out one by one, and compares each with what is sent for given fields.
struct Examples {
    left: BTreeMap<&'static str, OwnedFrame>,
}

impl Examples {
    fn new() -> Self {
        let frames = blocks("hex ").into_iter().map(|(name, raw)| {
            (name, deframe(&on_the_wire(&raw)).remove(0).unwrap_or_else(|error| panic!("{name}: {error}")))
        });
        Self { left: frames.collect() }
    }

    fn take(&mut self, name: &str, kind: FrameType, code: u16) -> OwnedFrame {
        let frame = self.left.remove(name).unwrap_or_else(|| panic!("no example is called {name}"));
        assert_eq!((frame.kind, frame.code), (kind, code), "{name}");
        if let Some((session, _)) = &frame.session {
            assert_eq!(*session, SESSION, "{name}");
        }
        frame
    }

    fn is<'a>(&mut self, name: &str, kind: FrameType, code: u16, message: &impl Message<'a>) {
        let frame = self.take(name, kind, code);
        let mut out = [0; 512];
        let len = message.encode(&mut out).expect(name);
        assert_eq!(&out[..len], frame.payload, "{name}");
    }

    fn request<'a>(&mut self, name: &str, code: u16, message: &impl Message<'a>) {
        self.is(name, FrameType::Request, code, message);
    }

    fn response<'a>(&mut self, name: &str, code: u16, message: &impl Message<'a>) {
        let mut body = [0; 512];
        let len = message.encode(&mut body).expect(name);
        self.is(name, FrameType::Response, code, &Response { status: Status::Ok, body: &body[..len] });
    }

    fn error(&mut self, name: &str, code: u16, status: Status) {
        self.is(name, FrameType::Response, code, &Response::error(status));
    }
}

#[test]
fn every_example_says_what_the_page_says() {
    let mut page = Examples::new();
    files(&mut page);
    processes(&mut page);
    sessions(&mut page);
    asks(&mut page);
    assert!(page.left.is_empty(), "not compared: {:?}", page.left.keys());
}

fn files(page: &mut Examples) {
    let path = b"/proc/version".as_slice();
    page.request("stat-request", code::STAT, &PathRequest { path });
    let stat = StatReply {
        file_type: FileType::File,
        mode: 0o444,
        uid: 0,
        gid: 0,
        size: 21,
        mtime: 0,
        atime: 0,
        ctime: 0,
    };
    page.response("stat-response", code::STAT, &stat);
    page.error("stat-not-there", code::STAT, Status::NoEnt);
    page.request("list-request", code::LIST, &ListRequest { start: 0, path: b"/" });
    let entries = [
        DirEntry { file_type: FileType::Directory, size: 0, name: b"bin" },
        DirEntry { file_type: FileType::File, size: 1500, name: b"motd" },
    ];
    page.response("list-response", code::LIST, &List::build(entries, &mut [0; 64]).unwrap());
    page.request("read-request", code::READ, &ReadRequest { offset: 5, len: 16, path });
    page.response("read-response", code::READ, &ReadReply { data: b"0.1.0" });
    let write = WriteRequest { mode: WriteMode::Append, path: b"/tmp/log", data: b"done\n" };
    page.request("write-request", code::WRITE, &write);
    page.response("write-response", code::WRITE, &WriteReply { written: 5 });
    page.request("mkdir-request", code::MKDIR, &PathRequest { path: b"/tmp/d" });
    page.response("mkdir-response", code::MKDIR, &());
    page.request("remove-request", code::REMOVE, &PathRequest { path: b"/bin/sh" });
    page.error("remove-response", code::REMOVE, Status::Perm);
}

fn processes(page: &mut Examples) {
    page.request("ps-request", code::PS, &PsRequest { start: 0 });
    let entries = [
        ProcessEntry { pid: 1, tid: 1, state: ProcessState::Blocked, is_user: true, name: b"sh" },
        ProcessEntry { pid: 7, tid: 7, state: ProcessState::Zombie, is_user: true, name: b"hello" },
    ];
    page.response("ps-response", code::PS, &List::build(entries, &mut [0; 64]).unwrap());
    let event = |pid, aux, info, name| ProcessEvent { pid, aux, info, name };
    page.is("event-spawn", FrameType::Event, code::EVENT_SPAWN, &event(7, 1, 0, b"hello"));
    page.is("event-exit", FrameType::Event, code::EVENT_EXIT, &event(7, 0, 3, b"hello"));
    page.is("event-fault", FrameType::Event, code::EVENT_FAULT, &event(9, 0, 14, b"crash"));
}

fn sessions(page: &mut Examples) {
    let hello = HelloRequest {
        generation: GENERATION,
        payload_limit: 4096,
        window: 8,
        nonce: *b"\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f",
        client: b"askr-bridge",
    };
    page.request("hello-request", code::HELLO, &hello);
    let scratch = &mut [0; 256];
    let verbs = code::VERBS.iter().map(|&(code, generation)| VerbGeneration { code, generation });
    let reply = HelloReply {
        generation: GENERATION,
        payload_limit: 4096,
        window: 8,
        lease_ms: 10_000,
        ping_ms: 2_000,
        boot_id: 0x6f1d_0e2b_9c8a_4735_5a60_b1c2_d3e4_f501_u128.to_be_bytes(),
        session: SESSION,
        event_cursor: 3,
        kernel: b"askr",
        version: b"0.1.0",
        verbs: List::build(verbs, scratch).unwrap(),
    };
    page.response("hello-response", code::HELLO, &reply);
    page.request("ping-request", code::PING, &PingRequest { counter: 2 });
    let pong = PingReply { previous_counter: 1, pending_asks: 1, event_cursor: 3, uptime_ns: 12_500_000_000 };
    page.response("ping-response", code::PING, &pong);
    page.request("stats-request", code::STATS, &());
    let counters =
        [Counter { name: b"frames_in", value: 41 }, Counter { name: b"frame_error_crc", value: 1 }];
    page.response("stats-response", code::STATS, &List::build(counters, &mut [0; 64]).unwrap());
    page.error("stale-response", code::STAT, Status::Stale);
    page.request("events-request", code::EVENTS, &());
    page.error("events-response", code::EVENTS, Status::NoSys);
}

fn asks(page: &mut Examples) {
    let ask = page.take("ask", FrameType::DecisionReq, code::DECISION_GENERIC);
    assert_eq!((ask.seq, ask.payload.as_slice()), (code::ASK_SEQ_FIRST, b"may I?".as_slice()));
    let answer = page.take("answer", FrameType::DecisionResp, code::DECISION_GENERIC);
    assert_eq!((answer.seq, answer.payload.as_slice()), (ask.seq, b"yes".as_slice()));

    let ask = page.take("ask-in-session", FrameType::DecisionReq, code::DECISION_NATURAL);
    let facts = |left_ms| AskFacts { pid: 12, left_ms, program: b"/bin/ai" };
    let (facts_bytes, ext_bytes) = (&mut [0; 64], &mut [0; 64]);
    let facts_len = facts(30_000).encode(facts_bytes).unwrap();
    let mut writer = Writer::new(ext_bytes);
    ext::put_item(&mut writer, (ext::ASK_FACTS, &facts_bytes[..facts_len])).unwrap();
    let ext_len = writer.len();
    assert_eq!(ask.session, Some((SESSION, ext_bytes[..ext_len].to_vec())));
    assert_eq!(ask.payload, b"open the door");
    let answer = page.take("answer-in-session", FrameType::DecisionResp, code::DECISION_NATURAL);
    assert_eq!((answer.seq, answer.payload.as_slice()), (ask.seq, b"it is open".as_slice()));

    page.request("asks-request", code::ASKS, &AsksRequest { start: 0 });
    let waiting = PendingAsk {
        seq: ask.seq,
        code: code::DECISION_NATURAL,
        facts: facts(29_500),
        question: b"open the door",
        ext: &[],
    };
    page.response("asks-response", code::ASKS, &List::build([waiting], &mut [0; 64]).unwrap());
    let answer = AnswerRequest { ask: ask.seq, decision: Decision::Answer(b"it is open") };
    page.request("answer-request", code::ANSWER, &answer);
    page.response("answer-response", code::ANSWER, &AnswerReply::Accepted);
    let refusal = AnswerRequest { ask: ask.seq + 1, decision: Decision::Refuse };
    page.request("answer-refuse", code::ANSWER, &refusal);
}

/// First two cells of the table rows on the page, without code marks.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGE.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        Some((cells.next()?, cells.next()?))
    })
}

#[test]
fn the_tables_have_the_numbers_of_the_code() {
    let rows: BTreeSet<_> = rows().collect();
    for &status in Status::ALL {
        let number = (status as u8).to_string();
        assert!(rows.contains(&(&number, status.name())), "{status}");
    }
    for kind in FrameError::ALL {
        assert!(rows.iter().any(|(name, _)| *name == kind.name()), "{kind}");
    }
    for (kind, name) in
        [(1, "REQUEST"), (2, "RESPONSE"), (3, "EVENT"), (4, "DECISION_REQ"), (5, "DECISION_RESP")]
    {
        assert!(rows.contains(&(kind.to_string().as_str(), name)), "{name}");
        assert_eq!(FrameType::from_u8(kind).map(|kind| kind as u8), Some(kind));
    }
    for (code, _) in code::VERBS {
        assert!(PAGE.contains(&format!("{code:#06x}")), "{code:#06x} is not on the page");
    }
}
