//! Every message, both ways: what is encoded decodes to itself, and nothing else decodes to it.

mod base;
mod later;

use core::fmt::Debug;

use askr_wire::message::{
    AnswerReply, AnswerRequest, AskFacts, AsksRequest, Choice, Context, Counter, DirEntry, EventsReply,
    EventsRequest, Fact, FaultFacts, FileType, FsInfoReply, HelloReply, HelloRequest, InputReply,
    InputRequest, KillReply, KillRequest, ListRequest, LoggedEvent, NodeEntry, OutputReply, OutputRequest,
    PathRequest, PendingAsk, PingReply, PingRequest, PowerRequest, ProcessEntry, ProcessEvent, ProcessFacts,
    Ps2Request, PsRequest, ReadReply, ReadRequest, ReaddirReply, ReaddirRequest, RenameRequest, Response,
    SpawnReply, SpawnRequest, StatReply, TimeReply, TruncateRequest, UptimeReply, VerbGeneration, WaitReply,
    WaitRequest, WriteAtRequest, WriteMode, WriteReply, WriteRequest,
};
use askr_wire::status::Status;
use askr_wire::{DecodeError, List, ListWriter, Message, NoRoom, Writer, check_path, ext};
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
    decode_as_later(bytes);
    assert!(ext::ext_items(bytes).take(bytes.len() + 1).count() <= bytes.len());
}

fn decode_as_later(bytes: &[u8]) {
    only_encoding::<RenameRequest<'_>>(bytes);
    only_encoding::<TruncateRequest<'_>>(bytes);
    only_encoding::<WriteAtRequest<'_>>(bytes);
    only_encoding::<FsInfoReply<'_>>(bytes);
    only_encoding::<ReaddirRequest<'_>>(bytes);
    only_encoding::<ReaddirReply<'_>>(bytes);
    only_encoding::<SpawnRequest<'_>>(bytes);
    only_encoding::<SpawnReply>(bytes);
    only_encoding::<WaitRequest>(bytes);
    only_encoding::<WaitReply<'_>>(bytes);
    only_encoding::<FaultFacts<'_>>(bytes);
    only_encoding::<KillRequest>(bytes);
    only_encoding::<KillReply>(bytes);
    only_encoding::<OutputRequest>(bytes);
    only_encoding::<OutputReply<'_>>(bytes);
    only_encoding::<InputRequest<'_>>(bytes);
    only_encoding::<InputReply>(bytes);
    only_encoding::<Ps2Request>(bytes);
    only_encoding::<List<'_, ProcessFacts<'_>>>(bytes);
    only_encoding::<UptimeReply>(bytes);
    only_encoding::<TimeReply>(bytes);
    only_encoding::<List<'_, Fact<'_>>>(bytes);
    only_encoding::<PowerRequest>(bytes);
    only_encoding::<EventsRequest>(bytes);
    only_encoding::<EventsReply<'_>>(bytes);
    only_encoding::<LoggedEvent<'_>>(bytes);
    only_encoding::<Choice<'_>>(bytes);
    only_encoding::<Context<'_>>(bytes);
}

fn string() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=255)
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..400)
}

const ROOM: usize = 16 << 10;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

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
    not_longer::<FsInfoReply<'_>>(&[0; 28]);
    not_longer::<ReaddirReply<'_>>(&[0; 11]);
    not_longer::<SpawnReply>(&[0; 9]);
    not_longer::<WaitRequest>(&[0; 9]);
    not_longer::<WaitReply<'_>>(&[0; 40]);
    not_longer::<FaultFacts<'_>>(&[0; 165]);
    not_longer::<KillRequest>(&[0; 7]);
    not_longer::<KillReply>(&[0; 5]);
    not_longer::<OutputRequest>(&[1; 22]);
    not_longer::<InputReply>(&[0; 5]);
    not_longer::<Ps2Request>(&[0; 5]);
    not_longer::<UptimeReply>(&[0; 9]);
    not_longer::<TimeReply>(&[0; 9]);
    not_longer::<List<'_, Fact<'_>>>(b"\0\0\0");
    not_longer::<PowerRequest>(b"\0\0");
    not_longer::<EventsRequest>(&[0; 9]);
    not_longer::<EventsReply<'_>>(&[0; 19]);
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
    assert_eq!(WriteAtRequest::decode(b"\0\0\0\0\0\0\0\0\x02\0\0").map(drop), unknown);
    assert_eq!(FsInfoReply::decode(&[2; 30]).map(drop), unknown);
    for node_type in [0, 6] {
        assert_eq!(NodeEntry::decode(&[node_type; 20]).map(drop), unknown);
    }
    assert_eq!(SpawnRequest::decode(&[3; 30]).map(drop), unknown);
    let spawn = |stdin| [&[stdin][..], &[0; 16], b"input"].concat();
    assert_eq!(SpawnRequest::decode(&spawn(0)).map(drop), unknown, "closed, and yet something to read");
    assert!(SpawnRequest::decode(&spawn(1)).is_ok());
    assert_eq!(WaitReply::decode(&[3; 39]).map(drop), unknown);
    assert_eq!(WaitReply::decode(&[&[0, 4][..], &[0; 37]].concat()).map(drop), unknown);
    assert_eq!(WaitReply::decode(&[&[0; 38][..], &[2]].concat()).map(drop), unknown);
    assert_eq!(KillRequest::decode(&[3; 6]).map(drop), unknown);
    for stream in [0, 3] {
        assert_eq!(OutputRequest::decode(&[stream; 21]).map(drop), unknown);
    }
    assert_eq!(OutputReply::decode(&[2; 17]).map(drop), unknown);
    assert_eq!(InputRequest::decode(&[2; 5]).map(drop), unknown);
    assert_eq!(ProcessFacts::decode(&[&[0; 16][..], &[5], &[0; 30]].concat()).map(drop), unknown);
    assert_eq!(ProcessFacts::decode(&[&[0; 17][..], &[3], &[0; 29]].concat()).map(drop), unknown);
    assert_eq!(PowerRequest::decode(&[2]).map(drop), unknown);
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
