//! Frames over a door, without the bridge: what the guest's own part of a time is.

use std::fmt::Display;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use askr_wire::message::{HelloReply, HelloRequest, Response};
use askr_wire::status::Status;
use askr_wire::{
    Deframer, FRAME_MAX, Frame, FrameType, Message, SESSION_PAYLOAD_MAX, SessionHead, SessionId, code, encode,
};
use host_bridge::link::OwnedFrame;

use crate::Result;
use crate::guest::{ANSWER, BOOT};
use crate::screen::Screen;

/// Pause in the middle of a frame: whoever wakes for every few bytes of a UART takes the processor from the guest. As the
/// bridge does it.
const TRICKLE: Duration = Duration::from_micros(100);
/// Time after which a wait looks at the clock, and a HELLO that came too early is sent again.
const LOOK: Duration = Duration::from_millis(100);
/// Requests that may be outstanding, as we ask for it.
const WINDOW: u16 = 8;

/// A conversation.
pub(crate) struct Line {
    stream: UnixStream,
    /// What the guest shows, for errors.
    screen: Screen,
    deframer: Box<Deframer>,
    /// What was read and not looked at yet, the first byte last.
    buffer: Vec<u8>,
    session: Option<SessionId>,
    seq: u32,
    /// Bytes of a session frame's payload, as the guest grants them.
    pub(crate) payload_limit: usize,
    /// Bytes received until now.
    pub(crate) received: usize,
}

impl Line {
    /// On a connection that is there, to the guest with this console.
    pub(crate) fn new(stream: UnixStream, screen: Screen) -> Result<Self> {
        stream.set_write_timeout(Some(ANSWER))?;
        stream.set_read_timeout(Some(LOOK))?;
        let (deframer, buffer) = (Box::new(Deframer::new()), Vec::new());
        let payload_limit = SESSION_PAYLOAD_MAX;
        Ok(Self { stream, screen, deframer, buffer, session: None, seq: 0, payload_limit, received: 0 })
    }

    /// Opens a session. The guest may not have got that far yet: HELLO is sent until it is answered.
    pub(crate) fn hello(&mut self) -> Result<()> {
        let nonce = fastrand::u128(..).to_ne_bytes();
        let (generation, payload_limit, window) = (1, u32::try_from(SESSION_PAYLOAD_MAX)?, WINDOW);
        let hello = HelloRequest { generation, payload_limit, window, nonce, client: b"askr-bench" };
        let until = Instant::now() + BOOT;
        // A UART that is not set up yet loses its first byte.
        self.write(&[0])?;
        let (seq, _) = self.send(code::HELLO, &hello)?;
        while Instant::now() < until {
            match self.receive(Instant::now() + LOOK)? {
                Some(frame) if frame.kind == FrameType::Response && frame.seq == seq => {
                    let body = body_of(&frame)?;
                    let reply = HelloReply::decode(&body).map_err(|_| "the answer to HELLO is malformed")?;
                    self.session = Some(reply.session);
                    self.payload_limit = reply.payload_limit as usize;
                    return Ok(());
                }
                Some(_) => {}
                None => {
                    self.seq -= 1;
                    self.send(code::HELLO, &hello)?;
                }
            }
        }
        Err(self.screen.blame(format_args!("no answer to HELLO within {BOOT:?}")).into())
    }

    /// Writes all of these bytes.
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.stream.write_all(bytes);
        written.map_err(|error| self.screen.missed("the guest takes no frame", ANSWER, &error).into())
    }

    /// Sends a request; returns its number and its bytes on the line.
    pub(crate) fn send<'a>(&mut self, code: u16, message: &impl Message<'a>) -> Result<(u32, usize)> {
        let mut payload = [0; SESSION_PAYLOAD_MAX];
        let len = message.encode(&mut payload).map_err(|_| "a message that does not fit a frame")?;
        self.seq += 1;
        let bytes = self.send_frame(FrameType::Request, self.seq, code, &payload[..len])?;
        Ok((self.seq, bytes))
    }

    /// Sends a frame; returns its bytes on the line.
    pub(crate) fn send_frame(
        &mut self,
        kind: FrameType,
        seq: u32,
        code: u16,
        payload: &[u8],
    ) -> Result<usize> {
        let mut out = [0; FRAME_MAX];
        let session = self.session.map(|id| SessionHead { id, ext: &[] });
        let frame = Frame { kind, seq, code, session, payload };
        let len = encode(&frame, &mut out).map_err(|_| "a frame that is too long")?;
        self.write(&out[..len])?;
        Ok(len)
    }

    /// The next frame; nothing if none came until then.
    fn receive(&mut self, until: Instant) -> Result<Option<OwnedFrame>> {
        loop {
            while let Some(byte) = self.buffer.pop() {
                self.received += 1;
                match self.deframer.push(byte) {
                    Some(Ok(frame)) => return Ok(Some(OwnedFrame::from(&frame))),
                    // Before a session the line may hold anything.
                    Some(Err(error)) if self.session.is_some() => {
                        return Err(self.screen.blame(format_args!("a broken frame: {error:?}")).into());
                    }
                    _ => {}
                }
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                Ok(0) => return Err(self.screen.blame("the guest is gone").into()),
                Ok(count) => {
                    if piece[count - 1] != 0 && count < piece.len() {
                        thread::sleep(TRICKLE);
                    }
                    self.buffer.extend(piece[..count].iter().rev());
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(self.screen.blame(error).into()),
            }
            if self.buffer.is_empty() && Instant::now() >= until {
                return Ok(None);
            }
        }
    }

    /// The next frame, whatever it is; `what` is waited for, as it is named if it does not come until then.
    pub(crate) fn next(&mut self, what: impl Display, until: Instant) -> Result<OwnedFrame> {
        let frame = if Instant::now() < until { self.receive(until)? } else { None };
        frame.ok_or_else(|| self.screen.blame(format_args!("no {what} in time")).into())
    }

    /// The body of the answer to request `seq`, which was this verb; what else comes is of no use.
    pub(crate) fn answer(&mut self, seq: u32, code: u16) -> Result<Vec<u8>> {
        let (verb, until) = (code::verb_name(code).unwrap_or("a request"), Instant::now() + ANSWER);
        loop {
            let frame = self.next(format_args!("answer to {verb} {seq}"), until)?;
            if frame.kind == FrameType::Response && frame.seq == seq {
                return body_of(&frame);
            }
        }
    }

    /// A request and its answer.
    pub(crate) fn call<'a>(&mut self, code: u16, message: &impl Message<'a>) -> Result<Vec<u8>> {
        let (seq, _) = self.send(code, message)?;
        self.answer(seq, code)
    }
}

/// The body of a response that says OK.
pub(crate) fn body_of(frame: &OwnedFrame) -> Result<Vec<u8>> {
    match Response::decode(&frame.payload) {
        Ok(Response { status: Status::Ok, body }) => Ok(body.to_vec()),
        Ok(Response { status, .. }) => Err(format!("request {:#06x}: {status:?}", frame.code).into()),
        Err(_) => Err("a response that is malformed".into()),
    }
}
