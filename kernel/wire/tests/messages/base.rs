//! The base generation, sessions, and asks.

use askr_wire::message::{
    AnswerRequest, AskFacts, AsksRequest, Counter, Decision, DirEntry, FileType, HelloReply, HelloRequest,
    ListRequest, PathRequest, PendingAsk, PingReply, PingRequest, ProcessEntry, ProcessEvent, ProcessState,
    PsRequest, ReadReply, ReadRequest, Response, StatReply, VerbGeneration, WriteMode, WriteReply,
    WriteRequest,
};
use askr_wire::status::Status;
use askr_wire::{List, SessionId};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{ROOM, closed, data, round_trip, string};

fn file_type() -> impl Strategy<Value = FileType> {
    prop_oneof![Just(FileType::File), Just(FileType::Directory)]
}

fn process_state() -> impl Strategy<Value = ProcessState> {
    prop_oneof![
        Just(ProcessState::Ready),
        Just(ProcessState::Running),
        Just(ProcessState::Blocked),
        Just(ProcessState::Zombie)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn files(
        (file_type, mode, uid, gid) in (file_type(), any::<u16>(), any::<u32>(), any::<u32>()),
        times in any::<[u64; 4]>(),
        (start, offset, len) in any::<(u32, u64, u32)>(),
        (path, content, append) in (data(), data(), any::<bool>()),
    ) {
        let [size, mtime, atime, ctime] = times;
        let (path, data) = (path.as_slice(), content.as_slice());
        let buffer = &mut [0; ROOM];
        round_trip(&PathRequest { path }, buffer);
        closed(&StatReply { file_type, mode, uid, gid, size, mtime, atime, ctime }, buffer);
        round_trip(&ListRequest { start, path }, buffer);
        round_trip(&ReadRequest { offset, len, path }, buffer);
        closed(&ReadReply { data }, buffer);
        let mode = if append { WriteMode::Append } else { WriteMode::Replace };
        round_trip(&WriteRequest { mode, path, data }, buffer);
        closed(&WriteReply { written: len }, buffer);
    }

    #[test]
    fn directories(entries in vec((file_type(), any::<u64>(), string()), 0..=16)) {
        let entries = entries.iter().map(|(file_type, size, name)| DirEntry {
            file_type: *file_type, size: *size, name,
        });
        let (scratch, buffer) = (&mut [0; ROOM], &mut [0; ROOM]);
        let list = List::build(entries.clone(), scratch).unwrap();
        prop_assert!(list.iter().eq(entries));
        closed(&list, buffer);
    }

    #[test]
    fn processes(
        start in any::<u32>(),
        entries in vec((any::<(u32, u32, bool)>(), process_state(), string()), 0..=16),
        (pid, aux, info) in any::<(u32, u32, u32)>(),
        name in string(),
    ) {
        let entries = entries.iter().map(|((pid, tid, is_user), state, name)| ProcessEntry {
            pid: *pid, tid: *tid, state: *state, is_user: *is_user, name,
        });
        let (scratch, buffer) = (&mut [0; ROOM], &mut [0; ROOM]);
        let list = List::build(entries.clone(), scratch).unwrap();
        prop_assert!(list.iter().eq(entries));
        closed(&list, buffer);
        closed(&PsRequest { start }, buffer);
        closed(&ProcessEvent { pid, aux, info, name: &name }, buffer);
    }

    #[test]
    fn sessions(
        (generation, payload_limit, window, nonce) in any::<(u16, u32, u16, [u8; 16])>(),
        (lease_ms, ping_ms, boot_id, session, event_cursor) in any::<(u32, u32, [u8; 16], [u8; 8], u64)>(),
        (client, version) in (string(), string()),
        verbs in vec(any::<(u16, u16)>(), 0..20),
        counters in vec((string(), any::<u64>()), 0..20),
    ) {
        let (scratch, buffer) = (&mut [0; ROOM], &mut [0; ROOM]);
        closed(&HelloRequest { generation, payload_limit, window, nonce, client: &client }, buffer);
        let verbs = verbs.iter().map(|&(code, generation)| VerbGeneration { code, generation });
        let verbs = List::build(verbs, scratch).unwrap();
        let (kernel, version, session) = (client.as_slice(), version.as_slice(), SessionId(session));
        closed(&HelloReply {
            generation, payload_limit, window, lease_ms, ping_ms, boot_id, session, event_cursor, kernel,
            version, verbs,
        }, buffer);
        closed(&PingRequest { counter: lease_ms }, buffer);
        closed(&PingReply {
            previous_counter: ping_ms, pending_asks: window, event_cursor, uptime_ns: event_cursor ^ 1,
        }, buffer);
        let counters = counters.iter().map(|(name, value)| Counter { name, value: *value });
        let scratch = &mut [0; ROOM];
        let list = List::build(counters.clone(), scratch).unwrap();
        prop_assert!(list.iter().eq(counters));
        closed(&list, buffer);
    }

    #[test]
    fn asks(
        (start, seq, code) in any::<(u16, u32, u16)>(),
        asks in vec((any::<(u32, u16, u32, u32)>(), string(), data()), 0..6),
        answer in data(),
    ) {
        let asks = asks.iter().map(|((seq, code, pid, left_ms), program, question)| PendingAsk {
            seq: *seq, code: *code, facts: AskFacts { pid: *pid, left_ms: *left_ms, program }, question, ext: question,
        });
        let (scratch, buffer) = (&mut [0; ROOM], &mut [0; ROOM]);
        let list = List::build(asks.clone(), scratch).unwrap();
        prop_assert!(list.iter().eq(asks));
        closed(&list, buffer);
        closed(&AsksRequest { start }, buffer);
        closed(&AskFacts { pid: seq, left_ms: u32::from(code), program: b"sh" }, buffer);
        round_trip(&AnswerRequest { ask: seq, decision: Decision::Answer(&answer) }, buffer);
        closed(&AnswerRequest { ask: seq, decision: Decision::Refuse }, buffer);
        round_trip(&Response { status: Status::Ok, body: &answer }, buffer);
    }
}
