//! The link decodes the shared vectors as the kernel does, and counts what is broken by kind.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use askr_wire::FrameError;
use askr_wire::vectors::{self, Vector};
use host_bridge::link::{Delivery, Door, Link, LinkCounters, LinkEvent, OwnedFrame, Stream};
use host_bridge::tap::{BYTES_MAX, Direction, Seen, Tap, Verdict};

const DEADLINE: Duration = Duration::from_secs(20);

/// Frames up to the end of the connection.
fn frames(receiver: &Receiver<LinkEvent>) -> Vec<OwnedFrame> {
    let mut frames = Vec::new();
    loop {
        match receiver.recv_timeout(DEADLINE).expect("the link stopped in the middle of a vector") {
            LinkEvent::Frame(frame) => frames.push(frame),
            LinkEvent::Up(_) => {}
            LinkEvent::Down => return frames,
        }
    }
}

/// What a tap was told of the bytes: what they were, those that it was given, and how many there were.
type Told = Vec<(Verdict, Vec<u8>, usize)>;

fn tap() -> (Tap, Arc<Mutex<Told>>) {
    let told = Arc::new(Mutex::new(Told::new()));
    let theirs = Arc::clone(&told);
    let tap = move |door: Door, seen: &Seen<'_>| match *seen {
        Seen::Bytes { direction, verdict, bytes, length } => {
            assert_eq!((door, direction), (Door::Com2, Direction::ToHost));
            theirs.lock().unwrap().push((verdict, bytes.to_vec(), length));
        }
        Seen::Up | Seen::Down => {}
    };
    (Arc::new(tap), told)
}

/// What a link makes of a connection over which just these bytes come.
fn receive(wire: &[u8]) -> (Vec<OwnedFrame>, [u64; FrameError::ALL.len()], Told) {
    let (tap, told) = tap();
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let mut once = Some(ours);
    let connect = Box::new(move || Stream::try_from(once.take().ok_or(std::io::ErrorKind::NotFound)?));
    let (sender, receiver) = sync_channel(64);
    let take = move |event| sender.send(event).map_or(Delivery::Full, |()| Delivery::Taken);
    let counters: Arc<LinkCounters> = Arc::default();
    let _link = Link::start(Door::Com2, connect, Arc::clone(&counters), take, tap).unwrap();
    theirs.write_all(wire).unwrap();
    drop(theirs);
    let frames = frames(&receiver);
    let told = told.lock().unwrap().clone();
    (frames, counters.broken.each_ref().map(|counter| counter.load(Ordering::Relaxed)), told)
}

fn same(got: &OwnedFrame, expected: &vectors::OwnedFrame) -> bool {
    (got.kind, got.seq, got.code, &got.session, &got.payload)
        == (expected.kind, expected.seq, expected.code, &expected.session, &expected.payload)
}

fn check(vector: &Vector) {
    let (got, broken, told) = receive(&vector.wire);
    let frames: Vec<_> = vector.verdicts.iter().filter_map(|verdict| verdict.as_ref().ok()).collect();
    assert_eq!(got.len(), frames.len(), "{}", vector.name);
    assert!(got.iter().zip(frames).all(|(got, expected)| same(got, expected)), "{}", vector.name);
    let mut expected = [0; FrameError::ALL.len()];
    vector.verdicts.iter().filter_map(|verdict| verdict.as_ref().err()).for_each(|error| {
        expected[error.index()] += 1;
    });
    assert_eq!(broken, expected, "{}", vector.name);
    check_told(vector, &told);
}

/// Every piece between two delimiters was told of once, with its bytes and the verdict on it.
fn check_told(vector: &Vector, told: &Told) {
    let pieces: Vec<_> = vector.wire.split(|&byte| byte == 0).filter(|piece| !piece.is_empty()).collect();
    let kept = |piece: &[u8]| (piece[..piece.len().min(BYTES_MAX)].to_vec(), piece.len());
    let bytes: Vec<_> = told.iter().map(|(_, bytes, length)| (bytes.clone(), *length)).collect();
    assert_eq!(bytes, pieces.iter().map(|piece| kept(piece)).collect::<Vec<_>>(), "{}", vector.name);
    let verdict_of = |verdict: &vectors::Verdict| match verdict {
        Ok(_) => Verdict::Whole,
        Err(error) => Verdict::Broken(*error),
    };
    let mut verdicts: Vec<_> = vector.verdicts.iter().map(verdict_of).collect();
    if verdicts.len() < told.len() {
        // The connection ended before the last one did.
        assert_ne!(vector.wire.last(), Some(&0), "{}", vector.name);
        verdicts.push(Verdict::Cut);
    }
    assert_eq!(told.iter().map(|told| told.0).collect::<Vec<_>>(), verdicts, "{}", vector.name);
}

#[test]
fn frames_and_errors_are_those_of_the_vectors() {
    let all = vectors::parse(vectors::FRAMES).unwrap();
    let has = |error| all.iter().any(|vector| vector.verdicts.contains(&Err(error)));
    assert!(FrameError::ALL.into_iter().all(has), "every kind of error is among the vectors");
    all.iter().for_each(check);
}
