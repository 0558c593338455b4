//! Every message, both ways: what is encoded decodes to itself, and nothing else decodes to it.

use core::fmt::Debug;

use askr_wire::message::{
    AnswerReply, AnswerRequest, AskFacts, AsksRequest, Counter, Decision, DirEntry, FileType, HelloReply,
    HelloRequest, ListRequest, PathRequest, PendingAsk, PingReply, PingRequest, ProcessEntry, ProcessEvent,
    ProcessState, PsRequest, ReadReply, ReadRequest, Response, StatReply, VerbGeneration, WriteMode,
    WriteReply, WriteRequest,
};
use askr_wire::status::Status;
use askr_wire::{DecodeError, List, ListWriter, Message, NoRoom, SessionId, Writer, check_path, ext};
use proptest::collection::vec;
use proptest::prelude::*;

/// Encodes and decodes `message`; no buffer that is too small is taken.
fn round_trip<'a, M: Message<'a> + Debug + PartialEq>(message: &M, buffer: &'a mut [u8]) -> &'a [u8] {
    let len = message.encode(buffer).expect("the buffer is large enough");
    for small in 0..len {
        assert_eq!(message.encode(&mut vec![0; small]), Err(NoRoom), "{message:?} in {small} bytes");
    }
    let bytes = &buffer[..len];
    assert_eq!(M::decode(bytes).as_ref(), Ok(message));
    bytes
}

/// Round trip of a message that says itself where it ends: any other length is refused.
fn closed<'a, M: Message<'a> + Debug + PartialEq>(message: &M, buffer: &'a mut [u8]) {
    let bytes = round_trip(message, buffer);
    for len in 0..bytes.len() {
        assert_eq!(M::decode(&bytes[..len]), Err(DecodeError::Short), "{message:?} cut to {len}");
    }
}

/// A byte after the end of a closed message is refused.
fn not_longer<'a, M: Message<'a> + Debug + PartialEq>(longer: &'a [u8]) {
    assert_eq!(M::decode(longer), Err(DecodeError::Trailing));
}

/// Whatever decodes is the encoding of what it decodes to: no two payloads mean the same.
fn only_encoding<'a, M: Message<'a> + Debug>(bytes: &'a [u8]) {
    if let Ok(message) = M::decode(bytes) {
        let mut out = vec![0; bytes.len()];
        assert_eq!(message.encode(&mut out), Ok(bytes.len()), "{message:?}");
        assert_eq!(out, bytes, "{message:?}");
    }
}

fn decode_as_everything(bytes: &[u8]) {
    only_encoding::<()>(bytes);
    only_encoding::<Response<'_>>(bytes);
    only_encoding::<PathRequest<'_>>(bytes);
    only_encoding::<StatReply>(bytes);
    only_encoding::<ListRequest<'_>>(bytes);
    only_encoding::<List<'_, DirEntry<'_>>>(bytes);
    only_encoding::<ReadRequest<'_>>(bytes);
    only_encoding::<ReadReply<'_>>(bytes);
    only_encoding::<WriteRequest<'_>>(bytes);
    only_encoding::<WriteReply>(bytes);
    only_encoding::<PsRequest>(bytes);
    only_encoding::<List<'_, ProcessEntry<'_>>>(bytes);
    only_encoding::<HelloRequest<'_>>(bytes);
    only_encoding::<HelloReply<'_>>(bytes);
    only_encoding::<PingRequest>(bytes);
    only_encoding::<PingReply>(bytes);
    only_encoding::<List<'_, Counter<'_>>>(bytes);
    only_encoding::<AsksRequest>(bytes);
    only_encoding::<List<'_, PendingAsk<'_>>>(bytes);
    only_encoding::<AskFacts<'_>>(bytes);
    only_encoding::<AnswerRequest<'_>>(bytes);
    only_encoding::<AnswerReply>(bytes);
    only_encoding::<ProcessEvent<'_>>(bytes);
    assert!(ext::ext_items(bytes).take(bytes.len() + 1).count() <= bytes.len());
}

fn string() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=255)
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..400)
}

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

const ROOM: usize = 16 << 10;

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

    #[test]
    fn ext_lists(items in vec((any::<u8>(), data()), 0..5)) {
        let buffer = &mut [0; ROOM];
        let mut writer = Writer::new(buffer);
        for (kind, bytes) in &items {
            ext::put_item(&mut writer, (*kind, bytes)).unwrap();
        }
        let len = writer.len();
        let items: Vec<_> = items.iter().map(|(kind, bytes)| Ok((*kind, bytes.as_slice()))).collect();
        prop_assert_eq!(ext::ext_items(&buffer[..len]).collect::<Vec<_>>(), items);
    }

    #[test]
    fn no_bytes_make_a_decoder_panic_or_mean_what_other_bytes_mean(bytes in data()) {
        decode_as_everything(&bytes);
    }

    // Small numbers are lengths and enum values that are known: more of these decode.
    #[test]
    fn nor_do_bytes_of_small_numbers(bytes in vec(0..4u8, 0..80)) {
        decode_as_everything(&bytes);
    }
}

#[test]
fn bytes_after_the_last_field_are_refused() {
    not_longer::<()>(b"\0");
    not_longer::<StatReply>(&[1; 44]);
    not_longer::<List<'_, DirEntry<'_>>>(b"\0\0\0");
    not_longer::<ReadReply<'_>>(b"\x01\0\0\0ab");
    not_longer::<WriteReply>(&[0; 5]);
    not_longer::<PsRequest>(&[0; 5]);
    not_longer::<List<'_, ProcessEntry<'_>>>(b"\0\0\0");
    not_longer::<HelloRequest<'_>>(&[0; 26]);
    not_longer::<HelloReply<'_>>(&[0; 53]);
    not_longer::<PingRequest>(&[0; 5]);
    not_longer::<PingReply>(&[0; 23]);
    not_longer::<AsksRequest>(&[0; 3]);
    not_longer::<AskFacts<'_>>(&[0; 10]);
    not_longer::<AnswerRequest<'_>>(b"\0\0\0\x80\x01x");
    not_longer::<AnswerReply>(b"\0\0");
    not_longer::<ProcessEvent<'_>>(&[0; 14]);
    not_longer::<Response<'_>>(b"\x01\0");
}

#[test]
fn values_nobody_knows_are_refused() {
    let unknown = Err(DecodeError::Value);
    assert_eq!(StatReply::decode(&[3; 43]).map(drop), unknown);
    assert_eq!(WriteRequest::decode(b"\x02\x01\0/").map(drop), unknown);
    assert_eq!(ProcessEntry::decode(b"\0\0\0\0\0\0\0\0\x04\0\0").map(drop), unknown);
    assert_eq!(ProcessEntry::decode(b"\0\0\0\0\0\0\0\0\0\x02\0").map(drop), unknown);
    assert_eq!(AnswerRequest::decode(b"\0\0\0\x80\x02").map(drop), unknown);
    assert_eq!(AnswerReply::decode(b"\x04").map(drop), unknown);
    assert_eq!(Response::decode(&[25]).map(drop), unknown);
}

#[test]
fn a_count_that_lies_is_refused() {
    assert_eq!(List::<VerbGeneration>::decode(b"\xff\xff\0\0\0\0"), Err(DecodeError::Short));
    assert_eq!(ReadReply::decode(b"\xff\xff\xff\xff"), Err(DecodeError::Short));
}

#[test]
fn a_full_list_keeps_the_items_it_has() {
    let mut out = [0; 12];
    let mut list = ListWriter::new(&mut out).unwrap();
    let verb = |code| VerbGeneration { code, generation: 1 };
    list.push(&verb(1)).unwrap();
    list.push(&verb(2)).unwrap();
    assert_eq!(list.push(&verb(3)), Err(NoRoom));
    assert_eq!(list.push(&Counter { name: b"", value: 0 }), Err(NoRoom));
    assert_eq!(list.count(), 2);
    let len = list.finish();
    assert!(List::<VerbGeneration>::decode(&out[..len]).unwrap().iter().eq([verb(1), verb(2)]));
    assert_eq!(ListWriter::new(&mut [0]).map(drop), Err(NoRoom));
}

#[test]
fn strings_longer_than_their_length_field_can_say_are_refused() {
    let (long, buffer) = (vec![b'x'; 70_000], &mut vec![0; 80_000]);
    assert_eq!(
        DirEntry { file_type: FileType::File, size: 0, name: &long[..256] }.encode(buffer),
        Err(NoRoom)
    );
    let write = WriteRequest { mode: WriteMode::Append, path: &long, data: b"" };
    assert_eq!(write.encode(buffer), Err(NoRoom));
}

#[test]
fn an_ext_item_over_the_end_is_an_error_and_ends_the_list() {
    let items: Vec<_> = ext::ext_items(b"\x07\x01\0a\x01\x02\0b").collect();
    assert_eq!(items, [Ok((7, b"a".as_slice())), Err(ext::MalformedExt)]);
    assert_eq!(ext::ext_items(b"\x01\x02").collect::<Vec<_>>(), [Err(ext::MalformedExt)]);
}

#[test]
fn statuses_keep_their_numbers_and_fold_to_the_five() {
    for (number, &status) in Status::ALL.iter().enumerate() {
        assert_eq!(status as usize, number);
        assert_eq!(Status::from_u8(status as u8), Some(status));
        assert!(status.base() as u8 <= 4, "{status}");
        assert_eq!(status.base() == Status::Ok, status == Status::Ok, "{status}");
    }
    assert_eq!(Status::from_u8(25), None);
    assert_eq!(Status::Acces.base(), Status::Perm);
    assert_eq!(Status::NotDir.base(), Status::Inval);
    assert_eq!((Status::NoEnt.base(), Status::Exist.base()), (Status::NoEnt, Status::Exist));
}

#[test]
fn paths_are_absolute_without_nul_and_not_too_long() {
    assert_eq!(check_path(b"/"), Ok(()));
    assert_eq!(check_path(b"/\xff\xfe"), Ok(()));
    for bad in [b"".as_slice(), b"a", b"./a", b"/a\0", b"\0"] {
        assert_eq!(check_path(bad), Err(Status::Inval), "{bad:?}");
    }
    let mut path = vec![b'/'; askr_wire::PATH_MAX];
    assert_eq!(check_path(&path), Ok(()));
    path.push(b'x');
    assert_eq!(check_path(&path), Err(Status::NameTooLong));
}
