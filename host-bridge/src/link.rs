//! Byte streams to the guest: connected with retry, always drained, cut into frames.
//!
//! A host that stops reading stalls the guest's transmitter after some 280 bytes, so one thread does nothing but
//! read. It hands frames on without ever waiting for whoever takes them: when the taker is behind, the frame is
//! dropped and counted, and the request it answered is sent again.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use askr_wire::Door;
use askr_wire::{Deframer, Frame, FrameError, FrameType, SessionId};

use crate::tap::{DoorTap, Gatherer, Seen, Tap, Verdict};

/// Pause between two tries to connect.
const CONNECT_PAUSE: Duration = Duration::from_millis(50);
/// Pause before reading on in the middle of a frame. The UART delivers a few bytes at a time; waking for each of
/// them costs more than half of the throughput.
const TRICKLE_PAUSE: Duration = Duration::from_micros(100);
/// Longest time one frame may take to leave.
const WRITE_DEADLINE: Duration = Duration::from_millis(500);
/// Longest single write before the clock is looked at.
const WRITE_STEP: Duration = Duration::from_millis(100);
/// Bytes read at once.
const READ_MAX: usize = 16 * 1024;

/// Both directions of one connection.
pub struct Stream {
    /// Bytes from the guest; 0 bytes means that it is gone.
    pub reader: Box<dyn Read + Send>,
    /// Bytes to the guest; should give up now and then (`WouldBlock`, `TimedOut`) so that deadlines hold.
    pub writer: Box<dyn Write + Send>,
    /// Ends a blocked read or write from another thread.
    pub close: Box<dyn Fn() + Send + Sync>,
}

impl TryFrom<UnixStream> for Stream {
    type Error = io::Error;

    fn try_from(stream: UnixStream) -> io::Result<Self> {
        stream.set_write_timeout(Some(WRITE_STEP))?;
        let (writer, closer) = (stream.try_clone()?, stream.try_clone()?);
        let close = move || {
            // Already disconnected is what was wanted.
            let _ = closer.shutdown(Shutdown::Both);
        };
        Ok(Self { reader: Box::new(stream), writer: Box::new(writer), close: Box::new(close) })
    }
}

/// Makes a connection, called again whenever there is none.
pub type Connect = Box<dyn FnMut() -> io::Result<Stream> + Send>;

/// How the guest is reached.
pub struct Doors {
    /// COM2.
    pub com2: Connect,
    /// The data door, if the machine has one.
    pub data: Option<Connect>,
}

impl From<Connect> for Doors {
    fn from(com2: Connect) -> Self {
        Self { com2, data: None }
    }
}

impl Doors {
    pub(crate) fn into_connects(self) -> impl Iterator<Item = (Door, Connect)> {
        [(Door::Com2, self.com2)].into_iter().chain(self.data.map(|data| (Door::Data, data)))
    }
}

/// A frame with its own bytes, see [`Frame`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedFrame {
    /// What kind of frame.
    pub kind: FrameType,
    /// Correlates a response with its request.
    pub seq: u32,
    /// Verb, event or intent.
    pub code: u16,
    /// Session and its extensions; `None` for a base frame.
    pub session: Option<(SessionId, Vec<u8>)>,
    /// The base-layout payload.
    pub payload: Vec<u8>,
}

impl From<&Frame<'_>> for OwnedFrame {
    fn from(frame: &Frame<'_>) -> Self {
        Self {
            kind: frame.kind,
            seq: frame.seq,
            code: frame.code,
            session: frame.session.as_ref().map(|head| (head.id, head.ext.to_vec())),
            payload: frame.payload.to_vec(),
        }
    }
}

/// What happens on the link.
pub enum LinkEvent {
    /// Connected; frames go out through the writer.
    Up(FrameWriter),
    /// The guest's end is gone.
    Down,
    /// A whole frame.
    Frame(OwnedFrame),
}

/// Whether the taker of an event had room for it. Only [`LinkEvent::Frame`] may be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Taken.
    Taken,
    /// No room: the frame is lost.
    Full,
}

/// What the link counted since it started.
#[derive(Debug, Default)]
pub struct LinkCounters {
    /// Connections made.
    pub connects: AtomicU64,
    /// Bytes read.
    pub bytes_in: AtomicU64,
    /// Whole frames read.
    pub frames_in: AtomicU64,
    /// Frames dropped because the taker was behind.
    pub frames_dropped: AtomicU64,
    /// Broken frames, by [`FrameError::ALL`].
    pub broken: [AtomicU64; FrameError::ALL.len()],
}

/// The link; dropping it closes the stream and ends its thread.
pub struct Link {
    shared: Arc<Shared>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    door: Door,
    counters: Arc<LinkCounters>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    stopped: bool,
    close: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Link {
    /// Starts the reader thread. What is counted is added to `counters`. `take` gets every event in order; it may wait for
    /// room only for events other than frames. `tap` is told of all that goes through the door.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(
        door: Door,
        mut connect: Connect,
        counters: Arc<LinkCounters>,
        take: impl Fn(LinkEvent) -> Delivery + Send + 'static,
        tap: Tap,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared { door, counters, open: Mutex::default() });
        let (stop, stopped) = mpsc::channel();
        let (theirs, tap) = (Arc::clone(&shared), DoorTap::new(door, tap));
        let thread = thread::Builder::new()
            .name("askr-link".into())
            .spawn(move || run(&theirs, &mut connect, &stopped, &take, &tap))?;
        Ok(Self { shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Ends the connection there is, so that the next one is made.
    pub fn reconnect(&self) {
        let open = self.shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(close) = &open.close {
            close();
        }
    }

    /// Closes the stream and makes the thread end; [`Drop`] waits for it.
    pub fn stop(&mut self) {
        self.stop = None;
        let mut open = self.shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.stopped = true;
        if let Some(close) = open.close.take() {
            close();
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already printed; there is nothing left to clean up here.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Remembers how to close the current stream. `false` when the link was stopped meanwhile.
    fn opened(&self, close: Box<dyn Fn() + Send + Sync>) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.stopped {
            return false;
        }
        open.close = Some(close);
        true
    }
}

/// Connects, drains until the other end is gone, and again, until stopped.
fn run(
    shared: &Shared,
    connect: &mut Connect,
    stopped: &Receiver<()>,
    take: &impl Fn(LinkEvent) -> Delivery,
    tap: &DoorTap,
) {
    loop {
        if let Ok(stream) = connect() {
            if !shared.opened(stream.close) {
                return;
            }
            shared.counters.connects.fetch_add(1, Ordering::Relaxed);
            tap.tell(&Seen::Up);
            take(LinkEvent::Up(FrameWriter { inner: stream.writer, tap: tap.clone() }));
            drain(shared, stream.reader, take, tap);
            tap.tell(&Seen::Down);
            take(LinkEvent::Down);
        }
        match stopped.recv_timeout(CONNECT_PAUSE) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Reads until the stream ends.
fn drain(
    shared: &Shared,
    mut reader: Box<dyn Read + Send>,
    take: &impl Fn(LinkEvent) -> Delivery,
    tap: &DoorTap,
) {
    let (mut deframer, mut gatherer) = (Deframer::new(), Gatherer::new());
    let mut buffer = vec![0; READ_MAX];
    loop {
        let count = match reader.read(&mut buffer) {
            Err(error) if may_go_on(&error) => continue,
            Ok(0) | Err(_) => return gatherer.finish(tap),
            Ok(count) => count,
        };
        shared.counters.bytes_in.fetch_add(count as u64, Ordering::Relaxed);
        let mut bytes = &buffer[..count];
        while !bytes.is_empty() {
            let before = bytes;
            let result = deframer.take(&mut bytes);
            let verdict = result.as_ref().map(|result| match result {
                Ok(_) => Verdict::Whole,
                Err(error) => Verdict::Broken(*error),
            });
            gatherer.take(&before[..before.len() - bytes.len()], verdict, tap);
            if let Some(result) = result {
                count_and_take(&shared.counters, result, take);
            }
        }
        if shared.door == Door::Com2 && buffer[count - 1] != 0 && count < buffer.len() {
            thread::sleep(TRICKLE_PAUSE);
        }
    }
}

fn count_and_take(
    counters: &LinkCounters,
    result: Result<Frame<'_>, FrameError>,
    take: &impl Fn(LinkEvent) -> Delivery,
) {
    let counter = match result {
        Ok(frame) => {
            counters.frames_in.fetch_add(1, Ordering::Relaxed);
            match take(LinkEvent::Frame(OwnedFrame::from(&frame))) {
                Delivery::Taken => return,
                Delivery::Full => &counters.frames_dropped,
            }
        }
        Err(error) => &counters.broken[error.index()],
    };
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Whether the stream is still good after this error.
fn may_go_on(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// The way out of one connection.
pub struct FrameWriter {
    inner: Box<dyn Write + Send>,
    tap: DoorTap,
}

impl FrameWriter {
    /// Writes all of `bytes` (whole frames, or the delimiter that ends a cut one).
    ///
    /// # Errors
    /// `TimedOut` when the guest took too long: the frame may be cut, which the delimiter before the next one
    /// mends. Else as `write(2)`.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        // Told before it leaves: the answer must not be seen first.
        self.tap.tell_written(bytes);
        let mut rest = bytes;
        let result = self.write_rest(&mut rest);
        if result.is_err() {
            self.tap.tell_given_up(&bytes[..bytes.len() - rest.len()]);
        }
        result
    }

    /// Takes what was written off the front of `rest`.
    fn write_rest(&mut self, rest: &mut &[u8]) -> io::Result<()> {
        let give_up = Instant::now() + WRITE_DEADLINE;
        while !rest.is_empty() {
            match self.inner.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => *rest = &rest[count..],
                Err(error) if may_go_on(&error) => {}
                Err(error) => return Err(error),
            }
            if !rest.is_empty() && Instant::now() >= give_up {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tap::Direction;

    fn nobody() -> Tap {
        Arc::new(|_, _| {})
    }

    #[test]
    fn a_frame_that_the_guest_does_not_take_is_given_up_in_time() {
        let (ours, _guest) = UnixStream::pair().unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let tap: Tap = {
            let told = Arc::clone(&told);
            Arc::new(move |door, seen| match seen {
                Seen::Bytes { direction, verdict, length, .. } => {
                    assert_eq!(door, Door::Data);
                    told.lock().unwrap().push((*direction, *verdict, *length));
                }
                other => panic!("{other:?}"),
            })
        };
        let mut writer =
            FrameWriter { inner: Stream::try_from(ours).unwrap().writer, tap: DoorTap::new(Door::Data, tap) };
        let more_than_any_buffer = vec![1; 64 << 20];
        let begin = Instant::now();
        let error = writer.write(&more_than_any_buffer).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begin.elapsed() >= WRITE_DEADLINE, "{:?}", begin.elapsed());
        assert!(begin.elapsed() < 10 * WRITE_DEADLINE, "{:?}", begin.elapsed());
        let told = told.lock().unwrap();
        let [whole, (Direction::ToGuest, Verdict::Cut, left)] = told[..] else { panic!("{told:?}") };
        assert_eq!(whole, (Direction::ToGuest, Verdict::Whole, more_than_any_buffer.len()));
        assert!((1..more_than_any_buffer.len()).contains(&left), "{left}");
    }

    #[test]
    fn a_link_that_is_dropped_lets_go_of_a_silent_guest() {
        let (ours, mut guest) = UnixStream::pair().unwrap();
        let mut once = Some(ours);
        let connect = Box::new(move || Stream::try_from(once.take().ok_or(io::ErrorKind::NotFound)?));
        let (sender, receiver) = mpsc::channel();
        let take = move |event| sender.send(event).map_or(Delivery::Full, |()| Delivery::Taken);
        let link = Link::start(Door::Com2, connect, Arc::default(), take, nobody());
        assert!(matches!(receiver.recv().unwrap(), LinkEvent::Up(_)));
        drop(link);
        assert_eq!(guest.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn a_taker_without_room_loses_frames_and_does_not_stop_the_reading() {
        let (ours, mut guest) = UnixStream::pair().unwrap();
        let mut once = Some(ours);
        let connect = Box::new(move || Stream::try_from(once.take().ok_or(io::ErrorKind::NotFound)?));
        let counters: Arc<LinkCounters> = Arc::default();
        let take = |event| match event {
            LinkEvent::Frame(_) => Delivery::Full,
            _ => Delivery::Taken,
        };
        let _link = Link::start(Door::Com2, connect, Arc::clone(&counters), take, nobody()).unwrap();
        let frame = Frame { kind: FrameType::Event, seq: 1, code: 1, session: None, payload: &[7; 1000] };
        let mut bytes = [0; askr_wire::FRAME_MAX];
        let len = askr_wire::encode(&frame, &mut bytes).unwrap();
        // Far more than the socket holds: this would block for ever if the link waited for its taker.
        for _ in 0..2000 {
            guest.write_all(&bytes[..len]).unwrap();
        }
        drop(guest);
        let give_up = Instant::now() + Duration::from_secs(20);
        while counters.frames_dropped.load(Ordering::Relaxed) < 2000 {
            assert!(Instant::now() < give_up);
            thread::yield_now();
        }
    }
}
