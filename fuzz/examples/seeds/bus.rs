//! Conversations with the router, as steps of its target.

use askr_wire::message::{
    AnswerRequest, Decision, EventsRequest, PingRequest, ReadRequest, RenameRequest, SpawnRequest,
    StdinPolicy, Word,
};
use askr_wire::{List, code};

use crate::Seed;
use crate::wire::{bytes, hello, lines};

const REQUEST: u8 = 0;
const ANSWER: u8 = 4;
const BASE: u8 = 0;
const NEWEST: u8 = 2;

fn long(bytes: &[u8]) -> Vec<u8> {
    let len = u16::try_from(bytes.len()).expect("a short string");
    [&len.to_le_bytes(), bytes].concat()
}

fn short(bytes: &[u8]) -> Vec<u8> {
    [&[u8::try_from(bytes.len()).expect("a short string")], bytes].concat()
}

fn frame(kind: u8, seq: u32, code: u16, session: u8, payload: &[u8]) -> Vec<u8> {
    let mut step = vec![1, kind];
    step.extend(seq.to_le_bytes());
    step.extend(code.to_le_bytes());
    step.push(session);
    if session != BASE {
        step.push(0);
    }
    step.extend(long(payload));
    step
}

fn greet(nonce: u8) -> Vec<u8> {
    frame(REQUEST, 1, code::HELLO, BASE, &hello(nonce))
}

fn pass(ms: u16) -> Vec<u8> {
    [&[3], &ms.to_le_bytes()[..]].concat()
}

fn ask(wait_ms: u16, question: &[u8]) -> Vec<u8> {
    let mut step = vec![4, 1, 0];
    step.extend(wait_ms.to_le_bytes());
    step.extend(7_u32.to_le_bytes());
    step.extend(short(b"/bin/ask"));
    step.extend(long(question));
    step
}

fn respond(which: u8, body: &[u8]) -> Vec<u8> {
    [vec![8, which], long(body)].concat()
}

fn event(name: &[u8]) -> Vec<u8> {
    [vec![9], short(name), 5_u32.to_le_bytes().to_vec()].concat()
}

fn settle(seq: u32, ask: u32, decision: Decision<'_>) -> Vec<u8> {
    frame(REQUEST, seq, code::ANSWER, NEWEST, &bytes(&AnswerRequest { ask, decision }))
}

const FIRST: u32 = code::ASK_SEQ_FIRST;
const SEND: [u8; 2] = [10, 9];
const STALL: [u8; 1] = [11];

pub(crate) fn steps() -> Vec<Seed> {
    let read = bytes(&ReadRequest { offset: 0, len: 64, path: b"/proc/version" });
    let request = |seq| frame(REQUEST, seq, code::READ, NEWEST, &read);
    let ping = |seq| frame(REQUEST, seq, code::PING, NEWEST, &bytes(&PingRequest { counter: seq }));
    let whole = |code| frame(REQUEST, 2, code, NEWEST, if code == code::ASKS { &[0, 0] } else { &[] });
    let served = |seq| [&request(seq)[..], &respond(0, b"x"), &SEND].concat();
    let replay = |seq, cursor| frame(REQUEST, seq, code::EVENTS, NEWEST, &bytes(&EventsRequest { cursor }));
    let rename = bytes(&RenameRequest { from: b"/tmp/a", to: b"/tmp/b" });
    let rename = frame(REQUEST, 1, code::RENAME, NEWEST, &rename);
    let mut argv = [0; 16];
    let spawn = bytes(&SpawnRequest {
        stdin: StdinPolicy::Closed,
        timeout_ms: 0,
        output_limit: 0,
        path: b"/bin/true",
        cwd: b"/tmp",
        argv: List::build([Word(b"true")], &mut argv).expect("a word"),
        env: List::EMPTY,
        input: b"",
    });
    let spawn = frame(REQUEST, 1, code::SPAWN, NEWEST, &spawn);
    let bad_path = frame(REQUEST, 1, code::LIST, NEWEST, b"\0\0\0\0tmp");
    let list: Vec<(&str, Vec<Vec<u8>>)> = vec![
        ("below", vec![greet(1), (1..=20).flat_map(served).collect(), request(1), SEND.to_vec()]),
        ("bad-path", vec![greet(1), bad_path, SEND.to_vec()]),
        ("hello", vec![greet(1), SEND.to_vec()]),
        ("hello-twice", vec![greet(1), greet(1), SEND.to_vec(), greet(2), greet(1), SEND.to_vec()]),
        ("request", vec![greet(1), request(1), respond(0, b"Askr 0.1.0"), SEND.to_vec()]),
        (
            "repeated",
            vec![
                greet(1),
                request(1),
                request(1),
                respond(0, b"x"),
                SEND.to_vec(),
                request(1),
                SEND.to_vec(),
            ],
        ),
        ("failed", vec![greet(1), request(1), respond(0, b""), respond(0, b"late"), SEND.to_vec()]),
        ("window", vec![greet(1), (1..=10).flat_map(request).collect(), respond(3, b"x"), SEND.to_vec()]),
        ("orphan", vec![greet(1), request(1), greet(2), respond(0, b"x"), SEND.to_vec()]),
        ("base", vec![frame(REQUEST, 1, code::STAT, BASE, b"/tmp"), respond(0, b"x"), SEND.to_vec()]),
        (
            "base-full",
            vec![
                (1..=9).flat_map(|seq| frame(REQUEST, seq, code::MKDIR, BASE, b"/a")).collect(),
                SEND.to_vec(),
            ],
        ),
        ("pings", vec![greet(1), ping(1), ping(2), ping(2), ping(1), SEND.to_vec()]),
        ("stats", vec![greet(1), whole(code::STATS), SEND.to_vec()]),
        ("unknown-verb", vec![greet(1), whole(code::EVENTS), whole(0x7777), SEND.to_vec()]),
        ("replay", vec![greet(1), event(b"sh"), event(b"true"), replay(2, 0), replay(3, 9), SEND.to_vec()]),
        ("rename", vec![greet(1), rename, respond(0, b"x"), SEND.to_vec()]),
        ("spawn", vec![greet(1), spawn, respond(0, b"\x01\0\0\0\x09\0\0\0"), SEND.to_vec()]),
        (
            "ask",
            vec![
                greet(1),
                ask(5_000, b"may I?"),
                SEND.to_vec(),
                settle(1, FIRST, Decision::Answer(b"yes")),
                vec![5, 0],
                SEND.to_vec(),
            ],
        ),
        (
            "ask-refused",
            vec![greet(1), ask(5_000, b"may I?"), settle(1, FIRST, Decision::Refuse), vec![5, 0]],
        ),
        (
            "ask-base",
            vec![
                frame(REQUEST, 1, code::STAT, BASE, b"/"),
                ask(9, b"?"),
                SEND.to_vec(),
                frame(ANSWER, FIRST, 1, BASE, b"no"),
                vec![5, 0],
            ],
        ),
        ("ask-list", vec![greet(1), ask(9, b"a"), ask(7, b"b"), whole(code::ASKS), SEND.to_vec()]),
        (
            "ask-late",
            vec![
                greet(1),
                ask(9, b"a"),
                pass(10),
                settle(1, FIRST, Decision::Refuse),
                vec![5, 0],
                SEND.to_vec(),
            ],
        ),
        ("ask-cancelled", vec![greet(1), ask(9, b"a"), vec![6, 0], vec![5, 0], ask(9, b"b"), vec![7, 1]]),
        ("ask-nobody", vec![ask(9, b"a")]),
        ("ask-lost", vec![greet(1), ask(60_000, b"a"), pass(20_000), vec![5, 0]]),
        (
            "ask-again",
            vec![
                greet(1),
                ask(60_000, b"a"),
                SEND.to_vec(),
                STALL.to_vec(),
                SEND.to_vec(),
                greet(2),
                SEND.to_vec(),
            ],
        ),
        ("events", vec![greet(1), event(b"sh"), event(b""), SEND.to_vec(), pass(20_000), event(b"x")]),
        (
            "stale",
            vec![
                greet(1),
                [&[1, REQUEST, 1, 0, 0, 0, 1, 0, 1][..], b"nobody!!", &[0], &long(b"/")].concat(),
                SEND.to_vec(),
            ],
        ),
    ];
    let mut seeds: Vec<Seed> =
        list.into_iter().map(|(name, steps)| (name.to_owned(), steps.concat())).collect();
    // All bytes of the vectors, as one line.
    let line: Vec<u8> =
        lines().into_iter().map(|(_, line)| line).filter(|line| line.len() < 512).flatten().collect();
    seeds.push(("line".to_owned(), [&[0], &long(&line)[..], &SEND].concat()));
    seeds
}
