//! A peer that speaks frames on COM2 or the data door, without the bridge.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use askr::Vm;
use askr_wire::message::{
    AnswerReply, AnswerRequest, Counter, Decision, HelloReply, HelloRequest, PathRequest, PingReply,
    PingRequest, ReadReply, ReadRequest, Response,
};
use askr_wire::status::Status;
use askr_wire::{FRAME_MAX, FrameError, FrameType, List, Message, SessionId, code};
use host_bridge::link::{Door, OwnedFrame};

use super::PATIENCE;
pub(crate) use super::line::{BYTE_PAUSE, Received, com2, door, frame};
use super::line::{Line, lock, read_all};

/// How often a session that is kept alive pings.
const PING_EVERY: Duration = Duration::from_secs(1);

/// One connection to the guest. A thread of its own always reads, so that the guest's line never stands still.
pub(crate) struct Peer {
    line: Arc<Mutex<Line>>,
    incoming: Receiver<Result<Received, FrameError>>,
    /// What came while something else was awaited.
    waiting: VecDeque<Received>,
    /// Broken frames received.
    pub(crate) errors: Vec<FrameError>,
    keep_alive: Option<Sender<()>>,
    /// Milliseconds between two bytes that it reads; 0 if it reads what there is.
    pause_ms: Arc<AtomicU64>,
    /// The receiving side, until somebody reads it.
    unread: Option<(UnixStream, Sender<Result<Received, FrameError>>)>,
}

/// What HELLO was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) payload_limit: u32,
    pub(crate) window: u16,
    pub(crate) lease_ms: u32,
    pub(crate) ping_ms: u32,
    pub(crate) boot_id: [u8; 16],
    pub(crate) session: SessionId,
    pub(crate) kernel: String,
    pub(crate) version: String,
    pub(crate) verbs: Vec<u16>,
}

impl Peer {
    /// Connects to COM2. Until [`Peer::hello`] this is a base peer.
    pub(crate) fn connect(vm: &Vm) -> Self {
        Self::at(vm, Door::Com2)
    }

    /// Connects to a door.
    pub(crate) fn at(vm: &Vm, at: Door) -> Self {
        let mut peer = Self::over(door(vm, at));
        peer.begin_to_read();
        peer
    }

    /// Connects to COM2 and reads nothing, so that the guest's line stands still as soon as the socket is full.
    pub(crate) fn connect_without_reading(vm: &Vm) -> Self {
        Self::over(com2(vm))
    }

    /// Reads nothing from this connection yet.
    pub(crate) fn over(stream: UnixStream) -> Self {
        let reader = stream.try_clone().unwrap();
        let (sender, incoming) = mpsc::channel();
        let line = Arc::new(Mutex::new(Line { stream, session: None, seq: code::REQUEST_SEQ_FIRST }));
        let (waiting, errors) = (VecDeque::new(), Vec::new());
        let (pause_ms, unread) = (Arc::default(), Some((reader, sender)));
        Self { line, incoming, waiting, errors, keep_alive: None, pause_ms, unread }
    }

    /// Reads from now on.
    pub(crate) fn begin_to_read(&mut self) {
        if let Some((reader, sender)) = self.unread.take() {
            let pause_ms = Arc::clone(&self.pause_ms);
            thread::spawn(move || read_all(reader, &sender, &pause_ms));
        }
    }

    /// Pauses for so long, in whole milliseconds, after each byte that it reads from now on; with no pause it reads as before.
    pub(crate) fn read_slowly(&self, pause: Duration) {
        self.pause_ms.store(u64::try_from(pause.as_millis()).unwrap(), Ordering::SeqCst);
    }

    /// Sends bytes, one every tenth of a second.
    pub(crate) fn send_slowly(&self, bytes: &[u8]) {
        for &byte in bytes {
            self.send_raw(&[byte]);
            thread::sleep(BYTE_PAUSE);
        }
    }

    /// A peer in a session of its own that pings by itself.
    pub(crate) fn in_session(vm: &Vm) -> Self {
        let mut peer = Self::connect(vm);
        peer.hello();
        peer.keep_alive();
        peer
    }

    /// Opens a session; everything after is sent in it.
    pub(crate) fn hello(&mut self) -> Hello {
        let hello = self.hello_with(&nonce());
        self.line().session = Some(hello.session);
        hello
    }

    /// Sends a HELLO with this nonce.
    pub(crate) fn hello_with(&mut self, nonce: &[u8; 16]) -> Hello {
        let request =
            HelloRequest { generation: 1, payload_limit: 4096, window: 8, nonce: *nonce, client: b"test" };
        self.line().session = None;
        let body = self.ok(code::HELLO, &bytes(&request));
        let reply = HelloReply::decode(&body).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Hello {
            payload_limit: reply.payload_limit,
            window: reply.window,
            lease_ms: reply.lease_ms,
            ping_ms: reply.ping_ms,
            boot_id: reply.boot_id,
            session: reply.session,
            kernel: text(reply.kernel),
            version: text(reply.version),
            verbs: reply.verbs.iter().map(|verb| verb.code).collect(),
        }
    }

    /// Pings from now on, so that the session stays attached however slow the test is.
    pub(crate) fn keep_alive(&mut self) {
        let (stop, stopped) = mpsc::channel();
        let line = Arc::clone(&self.line);
        self.keep_alive = Some(stop);
        thread::spawn(move || {
            let mut counter = 0;
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(PING_EVERY) {
                counter += 1;
                let ping = bytes(&PingRequest { counter });
                lock(&line).request(code::PING, &ping);
            }
        });
    }

    /// No more pings; the connection stays.
    pub(crate) fn stop_pinging(&mut self) {
        self.keep_alive = None;
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        lock(&self.line)
    }

    /// The session's id.
    pub(crate) fn session(&self) -> Option<SessionId> {
        self.line().session
    }

    /// Uses another session id, or none.
    pub(crate) fn set_session(&self, session: Option<SessionId>) {
        self.line().session = session;
    }

    /// Sends bytes as they are.
    pub(crate) fn send_raw(&self, bytes: &[u8]) {
        self.line().stream.write_all(bytes).unwrap();
    }

    /// Sends a request and returns its number.
    pub(crate) fn send(&self, code: u16, payload: &[u8]) -> u32 {
        self.line().request(code, payload)
    }

    /// The next number, and the bytes of a request with it that the caller may send or break. It is of this session, or
    /// of a base peer.
    pub(crate) fn make(&self, session: Option<SessionId>, code: u16, payload: &[u8]) -> (u32, Vec<u8>) {
        let mut line = self.line();
        let seq = line.seq;
        line.seq += 1;
        (seq, frame(FrameType::Request, seq, code, session, payload))
    }

    /// Sends a frame with this number.
    pub(crate) fn send_frame(&self, kind: FrameType, seq: u32, code: u16, payload: &[u8]) {
        self.line().frame(kind, seq, code, payload);
    }

    /// The next frame for which `wanted` holds, of those that were put aside or that come `within` this time.
    /// Others are put aside.
    pub(crate) fn find(
        &mut self,
        within: Duration,
        wanted: impl Fn(&OwnedFrame) -> bool,
    ) -> Option<Received> {
        if let Some(at) = self.waiting.iter().position(|received| wanted(&received.frame)) {
            return self.waiting.remove(at);
        }
        let until = Instant::now() + within;
        loop {
            match self.incoming.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Ok(received)) if wanted(&received.frame) => return Some(received),
                Ok(Ok(received)) => self.waiting.push_back(received),
                Ok(Err(error)) => self.errors.push(error),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// As [`Peer::find`], of what has to come.
    #[track_caller]
    pub(crate) fn expect(&mut self, what: &str, wanted: impl Fn(&OwnedFrame) -> bool) -> Received {
        let found = self.find(PATIENCE, wanted);
        found.unwrap_or_else(|| panic!("no {what} came; put aside: {:?}", self.waiting))
    }

    /// The response to request `seq`.
    #[track_caller]
    pub(crate) fn response(&mut self, seq: u32, code: u16) -> (Status, Vec<u8>) {
        let mine =
            |frame: &OwnedFrame| (frame.kind, frame.seq, frame.code) == (FrameType::Response, seq, code);
        let received = self.expect(&format!("response to request {seq} ({code:#06x})"), mine);
        let Response { status, body } = Response::decode(&received.frame.payload).unwrap();
        (status, body.to_vec())
    }

    /// Sends a request and waits for its response.
    #[track_caller]
    pub(crate) fn call(&mut self, code: u16, payload: &[u8]) -> (Status, Vec<u8>) {
        let seq = self.send(code, payload);
        self.response(seq, code)
    }

    /// As [`Peer::call`], for what has to succeed.
    #[track_caller]
    pub(crate) fn ok(&mut self, code: u16, payload: &[u8]) -> Vec<u8> {
        let (status, body) = self.call(code, payload);
        assert_eq!(status, Status::Ok, "request {code:#06x}");
        body
    }

    /// The status of a request that has a path and nothing else.
    #[track_caller]
    pub(crate) fn path_status(&mut self, code: u16, path: &[u8]) -> Status {
        self.call(code, &bytes(&PathRequest { path })).0
    }

    /// The start of a file, as much of it as fits into a frame.
    #[track_caller]
    pub(crate) fn read(&mut self, path: &str) -> Vec<u8> {
        let request = ReadRequest { offset: 0, len: u32::MAX, path: path.as_bytes() };
        let body = self.ok(code::READ, &bytes(&request));
        ReadReply::decode(&body).unwrap().data.to_vec()
    }

    /// A ping.
    #[track_caller]
    pub(crate) fn ping(&mut self, counter: u32) -> PingReply {
        let body = self.ok(code::PING, &bytes(&PingRequest { counter }));
        PingReply::decode(&body).unwrap()
    }

    /// The counters of STATS.
    #[track_caller]
    pub(crate) fn stats(&mut self) -> BTreeMap<String, u64> {
        let body = self.ok(code::STATS, &[]);
        let list = List::<Counter<'_>>::decode(&body).unwrap();
        list.iter().map(|item| (String::from_utf8(item.name.to_vec()).unwrap(), item.value)).collect()
    }

    /// The next ask.
    #[track_caller]
    pub(crate) fn ask(&mut self) -> OwnedFrame {
        self.expect("ask", |frame| frame.kind == FrameType::DecisionReq).frame
    }

    /// Answers an ask with ANSWER.
    #[track_caller]
    pub(crate) fn decide(&mut self, ask: u32, decision: Decision<'_>) -> AnswerReply {
        let body = self.ok(code::ANSWER, &bytes(&AnswerRequest { ask, decision }));
        AnswerReply::decode(&body).unwrap()
    }

    /// Answers an ask with ANSWER and a text.
    #[track_caller]
    pub(crate) fn answer(&mut self, ask: u32, text: &str) -> AnswerReply {
        self.decide(ask, Decision::Answer(text.as_bytes()))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Fails only if QEMU has closed the connection before.
        let _ = self.line().stream.shutdown(Shutdown::Both);
    }
}

/// Sixteen bytes that no HELLO had before.
pub(crate) fn nonce() -> [u8; 16] {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let mut nonce = [0x5a; 16];
    nonce[..8].copy_from_slice(&COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    nonce
}

/// The bytes of a message.
pub(crate) fn bytes<'a>(message: &impl Message<'a>) -> Vec<u8> {
    let mut out = vec![0; FRAME_MAX];
    let length = message.encode(&mut out).unwrap();
    out.truncate(length);
    out
}

/// The lines `name value` of `/proc/bus`.
pub(crate) fn counters(text: &str) -> BTreeMap<String, u64> {
    let pair = |line: &str| {
        let (name, value) = line.trim_end().split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    text.lines().filter_map(pair).collect()
}
