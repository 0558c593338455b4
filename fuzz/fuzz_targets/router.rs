//! The agent bus under any mix of frames, time, questions and results. What must always hold is checked, as in the
//! tests of askr-agentbus, but here the frames are any bytes.
//!
//! The input is a list of steps, each a byte and its arguments: see `World::step`.
#![no_main]

use std::collections::HashSet;

use askr_agentbus::{Ask, AskPoll, Config, Counter, Door, Effect, Event, Request, Router, Ticket, Token};
use askr_wire::message::{
    HelloReply, ReaddirRequest, RenameRequest, Response, SpawnRequest, TruncateRequest, WriteAtRequest,
};
use askr_wire::status::Status;
use askr_wire::{
    DecodeError, Deframer, FRAME_MAX, Frame, FrameType, Message, Reader, SESSION_HEAD_LEN,
    SESSION_PAYLOAD_MAX, SessionHead, SessionId, check_path, code, encode,
};
use libfuzzer_sys::fuzz_target;

/// Most steps of one input.
const STEPS_MAX: usize = 256;
const MS: u64 = 1_000_000;

fuzz_target!(|input: &[u8]| {
    let mut world = World::new();
    let mut reader = Reader::new(input);
    for _ in 0..STEPS_MAX {
        if world.step(&mut reader).is_err() {
            break;
        }
        world.check();
    }
    world.end();
    world.check();
});

/// An ask; its place in the list is its waiter.
struct Asked {
    ticket: Ticket,
    woken: bool,
    /// Its outcome was taken, or its asker has died.
    gone: bool,
}

struct World {
    router: Router<usize>,
    now: u64,
    /// Where what happens now happens.
    door: Door,
    line: Deframer,
    /// The newest session and its limit on payloads.
    session: Option<(SessionId, usize)>,
    tokens: Vec<Token>,
    done: HashSet<(SessionId, u32)>,
    asks: Vec<Asked>,
    frames: u64,
    requests: u64,
    responses: u64,
}

impl World {
    fn new() -> Self {
        Self {
            router: Router::new(Config::new([7; 16], "0.1.0")),
            now: 1_000 * MS,
            door: Door::Com2,
            line: Deframer::new(),
            session: None,
            tokens: Vec::new(),
            done: HashSet::new(),
            asks: Vec::new(),
            frames: 0,
            requests: 0,
            responses: 0,
        }
    }

    fn step(&mut self, input: &mut Reader<'_>) -> Result<(), DecodeError> {
        let step = input.u8()?;
        self.door = Door::ALL[usize::from(step / 12 % 2)];
        match step % 12 {
            0 => self.bytes(input.long_string()?),
            1 | 2 => self.frame(input)?,
            3 => self.pass(u64::from(input.u16()?) * MS),
            4 => self.ask(input)?,
            5 => self.take(input.u8()?),
            6 => {
                let which = usize::from(input.u8()?);
                let woken = self.asks.get(which).and_then(|asked| self.router.cancel(asked.ticket));
                woken.into_iter().for_each(|waiter| self.woken(waiter));
            }
            7 => {
                let Some(asked) = self.asks.get_mut(usize::from(input.u8()?)) else { return Ok(()) };
                self.router.forget(asked.ticket);
                asked.gone = true;
            }
            8 => self.respond(usize::from(input.u8()?), input.long_string()?),
            9 => {
                let name = input.short_string()?;
                self.router.event(self.now, &Event::Exit { pid: input.u32()?, code: 1, name });
            }
            10 => (0..input.u8()?).for_each(|_| _ = self.send()),
            _ if step / 24 % 2 == 0 => self.router.on_stall(self.door),
            _ => self.router.on_close(self.now, self.door),
        }
        Ok(())
    }

    /// Bytes as they come from the line.
    fn bytes(&mut self, bytes: &[u8]) {
        let mut line = std::mem::take(&mut self.line);
        for &byte in bytes {
            match line.push(byte) {
                None => {}
                Some(Ok(frame)) => self.put(&frame),
                Some(Err(error)) => self.router.on_frame_error(error),
            }
        }
        self.line = line;
    }

    /// `[type:1][seq:4][code:2][session:1]` and with a session that is not the newest its id; ext and payload.
    fn frame(&mut self, input: &mut Reader<'_>) -> Result<(), DecodeError> {
        let kind = FrameType::from_u8(input.u8()? % 5 + 1).ok_or(DecodeError::Value)?;
        let (seq, code) = (input.u32()?, input.u16()?);
        let id = match input.u8()? % 4 {
            0 => None,
            1 => Some(SessionId(input.array()?)),
            _ => self.session.map(|(id, _)| id),
        };
        let ext = if id.is_some() { input.short_string()? } else { &[] };
        let frame = Frame {
            kind,
            seq,
            code,
            session: id.map(|id| SessionHead { id, ext }),
            payload: input.long_string()?,
        };
        // As from the line: what does not fit into a frame never comes.
        if encode(&frame, &mut [0; FRAME_MAX]).is_ok() {
            self.put(&frame);
        }
        Ok(())
    }

    fn put(&mut self, frame: &Frame<'_>) {
        self.frames += 1;
        self.requests += u64::from(frame.kind == FrameType::Request);
        let sessions = self.router.stats().get(Counter::Sessions);
        match self.router.on_frame(self.now, self.door, frame) {
            Effect::None => {}
            Effect::Wake(waiter) => self.woken(waiter),
            Effect::Control(control) => {
                if let Some(head) = frame.session {
                    assert_eq!(
                        Some(head.id),
                        self.session.map(|(id, _)| id),
                        "done for a session that is over"
                    );
                    assert!(self.done.insert((head.id, frame.seq)), "done twice");
                }
                assert!(!self.tokens.contains(&control.token));
                assert!(control.body_max < SESSION_PAYLOAD_MAX);
                for path in paths_of(&control.request) {
                    assert_eq!(check_path(path), Ok(()), "handed on what is no path");
                }
                self.tokens.push(control.token);
            }
        }
        if self.router.stats().get(Counter::Sessions) > sessions {
            self.send().expect("a new session is greeted at once");
        }
    }

    fn respond(&mut self, which: usize, body: &[u8]) {
        let Some(&token) = self.tokens.get(which) else { return };
        if body.is_empty() {
            // It stays in the list: to end it twice must do nothing.
            self.router.respond(token, Err(Status::NoEnt));
        } else {
            self.router.respond(token, Ok(body));
            self.tokens.remove(which);
        }
    }

    fn ask(&mut self, input: &mut Reader<'_>) -> Result<(), DecodeError> {
        let (code, wait, pid) = (input.u16()?, u64::from(input.u16()?), input.u32()?);
        let (program, question) = (input.short_string()?, input.long_string()?);
        let ask = Ask { code, question, deadline: self.now + wait * MS, pid, program, extra: None };
        if let Ok(ticket) = self.router.ask(self.now, &ask, self.asks.len()) {
            assert!(self.router.is_attached(self.now), "asked nobody");
            self.asks.push(Asked { ticket, woken: false, gone: false });
        }
        Ok(())
    }

    fn woken(&mut self, waiter: usize) {
        let asked = &mut self.asks[waiter];
        assert!(!asked.woken && !asked.gone, "woken twice, or after its end");
        asked.woken = true;
    }

    fn take(&mut self, which: u8) {
        let Some(asked) = self.asks.get_mut(usize::from(which)) else { return };
        match self.router.take(asked.ticket, &mut [0; 4]) {
            AskPoll::Pending => assert!(!asked.woken && !asked.gone),
            AskPoll::Done(_) => {
                assert!(asked.woken && !asked.gone, "over, and nobody was woken");
                asked.gone = true;
            }
            AskPoll::Stale => assert!(asked.gone),
        }
    }

    fn pass(&mut self, time: u64) {
        self.now += time;
        // Each round ends an ask.
        for _ in 0..=self.asks.len() {
            let Some(waiter) = self.router.tick(self.now) else { break };
            self.woken(waiter);
        }
        assert!(self.router.next_deadline().is_none_or(|deadline| deadline > self.now));
    }

    /// Takes one frame to send, as its receiver does.
    fn send(&mut self) -> Option<()> {
        let mut out = [0; FRAME_MAX];
        let len = self.router.next_frame(self.now, self.door, &mut out)?;
        let (&end, start) = out[..len].split_last()?;
        let mut deframer = Deframer::new();
        assert!(start.iter().all(|&byte| deframer.push(byte).is_none()), "more than one frame");
        let frame = deframer.push(end).expect("a whole frame").expect("a good frame");
        if frame.kind == FrameType::Response {
            self.responses += 1;
            let response = Response::decode(frame.payload).expect("a response");
            if let (code::HELLO, None, Status::Ok) = (frame.code, frame.session, response.status) {
                let reply = HelloReply::decode(response.body).expect("the response to HELLO");
                let limit = usize::try_from(reply.payload_limit).expect("a small number");
                self.session = Some((reply.session, limit));
            }
        } else {
            assert!(matches!(frame.kind, FrameType::Event | FrameType::DecisionReq));
            assert!(self.router.is_attached(self.now), "sent to nobody");
        }
        if let (Some(head), Some((id, limit))) = (frame.session, self.session)
            && head.id == id
        {
            assert!(
                SESSION_HEAD_LEN + head.ext.len() + frame.payload.len() <= limit,
                "over the agreed limit"
            );
        }
        Some(())
    }

    fn check(&self) {
        let count = |counter| self.router.stats().get(counter);
        assert_eq!(count(Counter::FramesIn), self.frames);
        assert_eq!(count(Counter::Replies), self.responses);
        assert!(self.responses <= self.requests, "more answers than requests");
        assert_eq!(count(Counter::AsksOpened), self.asks.len() as u64);
    }

    /// Nobody comes any more: every ask ends, and so does what is to be sent.
    fn end(&mut self) {
        self.pass(1_000_000 * MS);
        for which in 0..self.asks.len() {
            assert!(self.asks[which].woken || self.asks[which].gone, "an ask waits for ever");
        }
        // Every queue of the router is far shorter than this.
        for door in Door::ALL {
            self.door = door;
            (0..1_000).for_each(|_| _ = self.send());
            assert!(self.send().is_none(), "it never ends");
        }
    }
}

/// The paths of a request; the root for those that it does not have.
fn paths_of<'a>(request: &Request<'a>) -> [&'a [u8]; 2] {
    const NONE: &[u8] = b"/";
    match *request {
        Request::Stat { path }
        | Request::List { path, .. }
        | Request::Read { path, .. }
        | Request::Write { path, .. }
        | Request::Mkdir { path }
        | Request::Remove { path }
        | Request::Unlink { path }
        | Request::Rmdir { path }
        | Request::FsInfo { path }
        | Request::Truncate(TruncateRequest { path, .. })
        | Request::WriteAt(WriteAtRequest { path, .. })
        | Request::Readdir(ReaddirRequest { path, .. }) => [path, NONE],
        Request::Rename(RenameRequest { from, to }) => [from, to],
        Request::Spawn(SpawnRequest { path, cwd, .. }) => [path, if cwd.is_empty() { NONE } else { cwd }],
        Request::Ps { .. }
        | Request::Wait(_)
        | Request::Kill(_)
        | Request::Output(_)
        | Request::Input(_)
        | Request::Ps2(_)
        | Request::Uptime
        | Request::Time
        | Request::MemInfo
        | Request::Info
        | Request::Power(_) => [NONE; 2],
    }
}
