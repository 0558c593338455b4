//! Every message of both directions. What decodes encodes to the very bytes it came from, fits into no smaller
//! buffer, and its lists hold what they say.
//!
//! The first byte of the input names the layout, by its place in `LAYOUTS`; the rest is the payload.
#![no_main]

use askr_wire::message::{
    Address, AnswerReply, AnswerRequest, AskFacts, AsksRequest, Choice, Context, Counter, DirEntry,
    EventsReply, EventsRequest, Fact, FaultFacts, FsInfoReply, HelloReply, HelloRequest, InputReply,
    InputRequest, KillReply, KillRequest, ListRequest, LoggedEvent, NodeEntry, OutputReply, OutputRequest,
    PathRequest, PendingAsk, PingReply, PingRequest, PowerRequest, ProcessEntry, ProcessEvent, ProcessFacts,
    Ps2Request, PsRequest, ReadReply, ReadRequest, ReaddirReply, ReaddirRequest, RenameRequest, Response,
    SpawnReply, SpawnRequest, StatReply, TimeReply, TruncateRequest, UptimeReply, VerbGeneration, WaitReply,
    WaitRequest, Word, WriteAtRequest, WriteReply, WriteRequest,
};
use askr_wire::{List, ListWriter, Message, ext, ext_items};
use libfuzzer_sys::fuzz_target;

/// The order stays: the corpus refers to it.
const LAYOUTS: [for<'a> fn(&'a [u8]); 58] = [
    |bytes| check::<PathRequest<'_>>(bytes),
    |bytes| check::<StatReply>(bytes),
    |bytes| check::<ListRequest<'_>>(bytes),
    |bytes| list::<DirEntry<'_>>(bytes),
    |bytes| check::<ReadRequest<'_>>(bytes),
    |bytes| check::<ReadReply<'_>>(bytes),
    |bytes| check::<WriteRequest<'_>>(bytes),
    |bytes| check::<WriteReply>(bytes),
    |bytes| check::<PsRequest>(bytes),
    |bytes| list::<ProcessEntry<'_>>(bytes),
    |bytes| check::<HelloRequest<'_>>(bytes),
    |bytes| check::<HelloReply<'_>>(bytes),
    |bytes| check::<PingRequest>(bytes),
    |bytes| check::<PingReply>(bytes),
    |bytes| check::<()>(bytes),
    |bytes| list::<Counter<'_>>(bytes),
    |bytes| check::<AsksRequest>(bytes),
    |bytes| list::<PendingAsk<'_>>(bytes),
    |bytes| check::<AnswerRequest<'_>>(bytes),
    |bytes| check::<AnswerReply>(bytes),
    |bytes| check::<Response<'_>>(bytes),
    |bytes| check::<ProcessEvent<'_>>(bytes),
    |bytes| check::<AskFacts<'_>>(bytes),
    |bytes| list::<VerbGeneration>(bytes),
    |bytes| check::<DirEntry<'_>>(bytes),
    |bytes| check::<PendingAsk<'_>>(bytes),
    ext_list,
    |bytes| check::<RenameRequest<'_>>(bytes),
    |bytes| check::<TruncateRequest<'_>>(bytes),
    |bytes| check::<WriteAtRequest<'_>>(bytes),
    |bytes| check::<FsInfoReply<'_>>(bytes),
    |bytes| check::<ReaddirRequest<'_>>(bytes),
    |bytes| check::<ReaddirReply<'_>>(bytes),
    |bytes| list::<NodeEntry<'_>>(bytes),
    |bytes| check::<SpawnRequest<'_>>(bytes),
    |bytes| check::<SpawnReply>(bytes),
    |bytes| list::<Word<'_>>(bytes),
    |bytes| check::<WaitRequest>(bytes),
    |bytes| check::<WaitReply<'_>>(bytes),
    |bytes| check::<FaultFacts<'_>>(bytes),
    |bytes| list::<Address>(bytes),
    |bytes| check::<KillRequest>(bytes),
    |bytes| check::<KillReply>(bytes),
    |bytes| check::<OutputRequest>(bytes),
    |bytes| check::<OutputReply<'_>>(bytes),
    |bytes| check::<InputRequest<'_>>(bytes),
    |bytes| check::<InputReply>(bytes),
    |bytes| check::<Ps2Request>(bytes),
    |bytes| list::<ProcessFacts<'_>>(bytes),
    |bytes| check::<UptimeReply>(bytes),
    |bytes| check::<TimeReply>(bytes),
    |bytes| list::<Fact<'_>>(bytes),
    |bytes| check::<PowerRequest>(bytes),
    |bytes| check::<EventsRequest>(bytes),
    |bytes| check::<EventsReply<'_>>(bytes),
    |bytes| list::<LoggedEvent<'_>>(bytes),
    |bytes| check::<Choice<'_>>(bytes),
    |bytes| check::<Context<'_>>(bytes),
];

fuzz_target!(|input: &[u8]| {
    let Some((&layout, payload)) = input.split_first() else { return };
    LAYOUTS[usize::from(layout) % LAYOUTS.len()](payload);
});

fn check<'a, M: Message<'a> + std::fmt::Debug>(bytes: &'a [u8]) {
    let Ok(message) = M::decode(bytes) else { return };
    let mut out = vec![0xAA; bytes.len()];
    assert_eq!(message.encode(&mut out), Ok(bytes.len()));
    assert_eq!(out, bytes, "another encoding of {message:?}");
    if let Some(short) = bytes.len().checked_sub(1) {
        message.encode(&mut out[..short]).expect_err("fits into less than its length");
    }
}

fn list<'a, T: Message<'a> + std::fmt::Debug>(bytes: &'a [u8]) {
    check::<List<'a, T>>(bytes);
    let Ok(list) = List::<'a, T>::decode(bytes) else { return };
    let mut out = vec![0xAA; bytes.len()];
    let mut writer = ListWriter::new(&mut out).expect("a list has room for its count");
    list.iter().for_each(|item| writer.push(&item).expect("items fit where they came from"));
    assert_eq!(writer.count(), list.len());
    assert_eq!(writer.finish(), bytes.len());
    assert_eq!(out, bytes, "another list of the same items");
}

/// The items of an ext, put together again; after a broken one nothing follows.
fn ext_list(bytes: &[u8]) {
    let mut out = vec![0; bytes.len()];
    let mut writer = askr_wire::Writer::new(&mut out);
    let mut items = ext_items(bytes);
    while let Some(item) = items.next() {
        let Ok(item) = item else { return assert!(items.next().is_none()) };
        ext::put_item(&mut writer, item).expect("items fit where they came from");
    }
    assert_eq!(writer.len(), bytes.len());
    assert_eq!(out, bytes);
}
