//! Frames over one connection to the guest: what is sent, and a thread that reads.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use askr::Vm;
use askr_wire::{Deframer, FRAME_MAX, Frame, FrameError, FrameType, SessionHead, SessionId, encode};
use host_bridge::link::{Door, OwnedFrame};

use super::PATIENCE;

/// Pause between two bytes of one that is slow.
pub(crate) const BYTE_PAUSE: Duration = Duration::from_millis(100);

/// Pause between two tries to connect.
const CONNECT_PAUSE: Duration = Duration::from_millis(10);

/// The sending side.
pub(super) struct Line {
    pub(super) stream: UnixStream,
    pub(super) session: Option<SessionId>,
    pub(super) seq: u32,
}

/// A frame as it came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) frame: OwnedFrame,
    /// Its bytes between two delimiters.
    pub(crate) wire: Vec<u8>,
}

impl Line {
    pub(super) fn request(&mut self, code: u16, payload: &[u8]) -> u32 {
        let seq = self.seq;
        self.seq += 1;
        self.frame(FrameType::Request, seq, code, payload);
        seq
    }

    pub(super) fn frame(&mut self, kind: FrameType, seq: u32, code: u16, payload: &[u8]) {
        // A guest that has ended is reported by whoever waits for its answer.
        let _ = self.stream.write_all(&frame(kind, seq, code, self.session, payload));
    }
}

/// A connection to a door of the guest, once QEMU has taken up those before it.
pub(crate) fn door(vm: &Vm, door: Door) -> UnixStream {
    let until = Instant::now() + PATIENCE;
    loop {
        let connected = match door {
            Door::Com2 => vm.com2(),
            Door::Data => vm.data(),
        };
        match connected {
            Ok(stream) => return stream,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
        thread::sleep(CONNECT_PAUSE);
    }
}

/// A connection to COM2.
pub(crate) fn com2(vm: &Vm) -> UnixStream {
    door(vm, Door::Com2)
}

/// The bytes of a frame, with its delimiters.
pub(crate) fn frame(
    kind: FrameType,
    seq: u32,
    code: u16,
    session: Option<SessionId>,
    payload: &[u8],
) -> Vec<u8> {
    let session = session.map(|id| SessionHead { id, ext: &[] });
    let mut out = [0; FRAME_MAX];
    let length = encode(&Frame { kind, seq, code, session, payload }, &mut out).unwrap();
    out[..length].to_vec()
}

pub(super) fn lock(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads frames until the connection or the receiver ends. What comes before the first delimiter is the rest of a frame
/// to whoever was connected before, so it is neither a frame nor a broken one.
pub(super) fn read_all(
    mut stream: UnixStream,
    sender: &Sender<Result<Received, FrameError>>,
    pause_ms: &AtomicU64,
) {
    let (mut deframer, mut wire, mut piece) = (Box::new(Deframer::new()), Vec::new(), [0; 4096]);
    let mut begun = false;
    loop {
        let pause = Duration::from_millis(pause_ms.load(Ordering::SeqCst));
        let most = if pause.is_zero() { piece.len() } else { 1 };
        let Ok(count @ 1..) = stream.read(&mut piece[..most]) else { return };
        thread::sleep(pause);
        for &byte in &piece[..count] {
            begun |= byte == 0;
            if !begun {
                continue;
            }
            let received = deframer.push(byte).map(|result| {
                result.map(|frame| Received { frame: OwnedFrame::from(&frame), wire: wire.clone() })
            });
            wire.push(byte);
            if byte == 0 {
                wire.clear();
            }
            if received.is_some_and(|received| sender.send(received).is_err()) {
                return;
            }
        }
    }
}
