//! Frames over a door, without the bridge: what the guest's own part of a time is.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use askr_wire::message::{HelloReply, HelloRequest, Response};
use askr_wire::status::Status;
use askr_wire::{Deframer, FRAME_MAX, Frame, FrameType, Message, SessionHead, SessionId, code, encode};
use host_bridge::link::OwnedFrame;

use crate::Result;
use crate::guest::PATIENCE;

/// Pause in the middle of a frame: whoever wakes for every few bytes of a UART takes the processor from the guest. As the
/// bridge does it.
const TRICKLE: Duration = Duration::from_micros(100);
/// Pause after which a HELLO that came too early is sent again.
const AGAIN: Duration = Duration::from_millis(100);
/// What a session frame may hold, as we ask for it.
const PAYLOAD_LIMIT: u32 = 4096;
/// Requests that may be outstanding, as we ask for it.
const WINDOW: u16 = 8;

/// A conversation.
pub(crate) struct Line {
    stream: UnixStream,
    deframer: Box<Deframer>,
    /// What was read and not looked at yet, the first byte last.
    buffer: Vec<u8>,
    session: Option<SessionId>,
    seq: u32,
    /// Bytes received until now.
    pub(crate) received: usize,
}

impl Line {
    /// On a connection that is there.
    pub(crate) fn new(stream: UnixStream) -> Result<Self> {
        stream.set_write_timeout(Some(PATIENCE))?;
        let (deframer, buffer) = (Box::new(Deframer::new()), Vec::new());
        Ok(Self { stream, deframer, buffer, session: None, seq: 0, received: 0 })
    }

    /// Opens a session. The guest may not have got that far yet: HELLO is sent until it is answered.
    pub(crate) fn hello(&mut self) -> Result<()> {
        let nonce = fastrand::u128(..).to_ne_bytes();
        let (generation, payload_limit, window) = (1, PAYLOAD_LIMIT, WINDOW);
        let hello = HelloRequest { generation, payload_limit, window, nonce, client: b"askr-bench" };
        let until = Instant::now() + PATIENCE;
        // A UART that is not set up yet loses its first byte.
        self.stream.write_all(&[0])?;
        let (seq, _) = self.send(code::HELLO, &hello)?;
        loop {
            match self.receive(AGAIN)? {
                Some(frame) if frame.kind == FrameType::Response && frame.seq == seq => {
                    let body = body_of(&frame)?;
                    let reply = HelloReply::decode(&body).map_err(|_| "the answer to HELLO is malformed")?;
                    self.session = Some(reply.session);
                    return self.stream.set_read_timeout(Some(PATIENCE)).map_err(Into::into);
                }
                Some(_) => {}
                None if Instant::now() > until => return Err("no answer to HELLO".into()),
                None => {
                    self.seq -= 1;
                    self.send(code::HELLO, &hello)?;
                }
            }
        }
    }

    /// Sends a request; returns its number and its bytes on the line.
    pub(crate) fn send<'a>(&mut self, code: u16, message: &impl Message<'a>) -> Result<(u32, usize)> {
        let mut payload = [0; PAYLOAD_LIMIT as usize];
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
        self.stream.write_all(&out[..len])?;
        Ok(len)
    }

    /// The next frame; nothing if none came in time, which holds until the session is there.
    fn receive(&mut self, within: Duration) -> Result<Option<OwnedFrame>> {
        if self.session.is_none() {
            self.stream.set_read_timeout(Some(within))?;
        }
        loop {
            while let Some(byte) = self.buffer.pop() {
                self.received += 1;
                match self.deframer.push(byte) {
                    Some(Ok(frame)) => return Ok(Some(OwnedFrame::from(&frame))),
                    // Before a session the line may hold anything.
                    Some(Err(error)) if self.session.is_some() => return Err(format!("{error:?}").into()),
                    _ => {}
                }
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                Ok(0) => return Err("the guest is gone".into()),
                Ok(count) => {
                    if piece[count - 1] != 0 && count < piece.len() {
                        thread::sleep(TRICKLE);
                    }
                    self.buffer.extend(piece[..count].iter().rev());
                }
                Err(error) if self.session.is_none() && error.kind() == std::io::ErrorKind::WouldBlock => {
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The next frame, whatever it is.
    pub(crate) fn next(&mut self) -> Result<OwnedFrame> {
        self.receive(PATIENCE)?.ok_or_else(|| "nothing came from the guest".into())
    }

    /// The body of the answer to request `seq`; what else comes is of no use.
    pub(crate) fn answer(&mut self, seq: u32) -> Result<Vec<u8>> {
        loop {
            let frame = self.next()?;
            if frame.kind == FrameType::Response && frame.seq == seq {
                return body_of(&frame);
            }
        }
    }

    /// A request and its answer.
    pub(crate) fn call<'a>(&mut self, code: u16, message: &impl Message<'a>) -> Result<Vec<u8>> {
        let (seq, _) = self.send(code, message)?;
        self.answer(seq)
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
