//! Random mixes of everything, against what must always hold.

use std::collections::{HashMap, HashSet};

use askr_agentbus::{Ask, AskError, AskExtra, AskPoll, Counter, Door, Event, Human, Ticket, Token};
use askr_wire::message::{Decision, HelloReply, HelloRequest, PingRequest};
use askr_wire::status::Status;
use askr_wire::{FrameType, Message, SessionId, code};
use proptest::prelude::*;

use crate::peer::{Bus, Did, SECOND, Sent, answer_request, bytes_of};

#[derive(Clone, Copy, Debug)]
enum Step {
    Hello {
        nonce: u8,
    },
    /// What comes from now on comes through the other door.
    Move,
    /// The peer at this door goes.
    Close,
    Stall,
    Request {
        session: usize,
        seq: u32,
        path: usize,
    },
    Base {
        seq: u32,
    },
    Ping {
        seq: u32,
    },
    Respond {
        which: usize,
        ok: bool,
    },
    Ask {
        wait: u64,
    },
    Answer {
        session: usize,
        which: usize,
    },
    AnswerVerb {
        seq: u32,
        which: usize,
        refuse: bool,
    },
    Human {
        number: u32,
        yes: bool,
    },
    Cancel {
        which: usize,
    },
    Forget {
        which: usize,
    },
    Take {
        which: usize,
    },
    Event,
    Pass {
        time: u64,
    },
    Send {
        frames: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let which = 0..12_usize;
    let seq = 1..14_u32;
    prop_oneof![
        1 => (0..4_u8).prop_map(|nonce| Step::Hello { nonce }),
        2 => Just(Step::Move),
        1 => Just(Step::Close),
        1 => Just(Step::Stall),
        5 => (0..3_usize, seq.clone(), 0..2_usize)
            .prop_map(|(session, seq, path)| Step::Request { session, seq, path }),
        2 => seq.clone().prop_map(|seq| Step::Base { seq }),
        1 => (1..30_u32).prop_map(|seq| Step::Ping { seq }),
        5 => (which.clone(), any::<bool>()).prop_map(|(which, ok)| Step::Respond { which, ok }),
        4 => (0..20_u64).prop_map(|wait| Step::Ask { wait }),
        2 => (0..3_usize, which.clone()).prop_map(|(session, which)| Step::Answer { session, which }),
        2 => (seq, which.clone(), any::<bool>())
            .prop_map(|(seq, which, refuse)| Step::AnswerVerb { seq, which, refuse }),
        1 => (0..12_u32, any::<bool>()).prop_map(|(number, yes)| Step::Human { number, yes }),
        1 => which.clone().prop_map(|which| Step::Cancel { which }),
        1 => which.clone().prop_map(|which| Step::Forget { which }),
        2 => which.prop_map(|which| Step::Take { which }),
        1 => Just(Step::Event),
        2 => (0..15_u64).prop_map(|time| Step::Pass { time }),
        3 => (1..6_usize).prop_map(|frames| Step::Send { frames }),
    ]
}

/// An ask by its number, which is also its waiter.
struct Asked {
    ticket: Ticket,
    wakes: u32,
    /// Its outcome was taken, or its asker has died.
    gone: bool,
}

struct World {
    bus: Bus,
    sessions: Vec<SessionId>,
    /// Where the last frame of the current session came through.
    session_door: Door,
    tokens: Vec<Token>,
    asks: Vec<Asked>,
    /// Requests handed on, by session and seq.
    done: HashSet<(SessionId, u32)>,
    /// What each request of a session was answered, refusals aside.
    answers: HashMap<(SessionId, u32), Vec<u8>>,
    put: u64,
    requests: u64,
    sent: u64,
    responses: u64,
}

impl World {
    fn new() -> Self {
        Self {
            bus: Bus::new(),
            sessions: Vec::new(),
            session_door: Door::Com2,
            tokens: Vec::new(),
            asks: Vec::new(),
            done: HashSet::new(),
            answers: HashMap::new(),
            put: 0,
            requests: 0,
            sent: 0,
            responses: 0,
        }
    }

    /// The current session for 0, one before it for others, and one that never was where there is none.
    fn session(&self, which: usize) -> SessionId {
        let index = self.sessions.len().checked_sub(1 + which);
        index.map_or(SessionId([0xEE; 8]), |index| self.sessions[index])
    }

    fn request(&mut self, seq: u32, code: u16, session: Option<SessionId>, payload: &[u8]) {
        self.requests += 1;
        let greeted = self.greeted();
        let did = self.put(FrameType::Request, seq, code, session, payload);
        if self.greeted() > greeted {
            self.session_door = self.bus.door;
        }
        if let (Did::Control(_), Some(session)) = (&did, session) {
            assert!(self.done.insert((session, seq)), "{session} {seq} was done twice");
            assert_eq!(Some(&session), self.sessions.last(), "done for a session that is over");
        }
        self.take_note(did);
    }

    fn put(
        &mut self,
        kind: FrameType,
        seq: u32,
        code: u16,
        session: Option<SessionId>,
        payload: &[u8],
    ) -> Did {
        self.put += 1;
        if session.is_some() && session.as_ref() == self.sessions.last() {
            self.session_door = self.bus.door;
        }
        self.bus.put(kind, seq, code, session, payload)
    }

    /// How many HELLOs were those of the current session.
    fn greeted(&self) -> u64 {
        self.bus.count(Counter::Sessions) + self.bus.count(Counter::HellosRepeated)
    }

    fn move_over(&mut self) {
        self.bus.door = other(self.bus.door);
    }

    fn take_note(&mut self, did: Did) {
        match did {
            Did::Nothing => {}
            Did::Woke(waiter) => self.woke(waiter),
            Did::Control(token) => self.tokens.push(token),
        }
    }

    fn woke(&mut self, waiter: u32) {
        let asked = &mut self.asks[waiter as usize];
        asked.wakes += 1;
        assert_eq!((asked.wakes, asked.gone), (1, false), "woken twice, or after its end");
    }

    fn hello(&mut self, nonce: u8) {
        let opened = self.bus.count(Counter::Sessions);
        let hello = HelloRequest {
            generation: 1,
            payload_limit: 4096,
            window: 5,
            nonce: [nonce; 16],
            client: b"model",
        };
        self.request(1, code::HELLO, None, &bytes_of(&hello));
        if self.bus.count(Counter::Sessions) > opened {
            let sent = self.send().unwrap();
            let reply = HelloReply::decode(sent.body());
            let id = reply.unwrap().session;
            assert!(!self.sessions.contains(&id), "an ended session came back");
            self.sessions.push(id);
        }
    }

    /// Ends a request. One that failed stays in the list and may be ended again, which must do nothing.
    fn respond(&mut self, which: usize, ok: bool) {
        let Some(&token) = self.tokens.get(which) else { return };
        let body = self.responses.to_le_bytes();
        self.bus.router.respond(token, if ok { Ok(&body) } else { Err(Status::NoEnt) });
        if ok {
            self.tokens.remove(which);
        }
    }

    fn ask(&mut self, wait: u64) {
        let waiter = u32::try_from(self.asks.len()).unwrap();
        // Every second one takes one answer only.
        let mut extra = AskExtra::default();
        extra.choice(b"yes").unwrap();
        let extra = (wait % 2 == 1).then_some(&extra);
        let ask = Ask { extra, ..self.bus.question(wait * SECOND) };
        match self.bus.router.ask(self.bus.now, &ask, waiter) {
            Ok(ticket) => self.asks.push(Asked { ticket, wakes: 0, gone: false }),
            Err(error) => {
                assert_eq!(error, AskError::NotAttached);
                assert!(!self.bus.router.is_attached(self.bus.now));
            }
        }
    }

    fn take(&mut self, which: usize) {
        let Some(asked) = self.asks.get_mut(which) else { return };
        match self.bus.router.take(asked.ticket, &mut [0; 4]) {
            AskPoll::Pending => assert_eq!((asked.wakes, asked.gone), (0, false)),
            AskPoll::Done(_) => {
                assert_eq!((asked.wakes, asked.gone), (1, false), "over, and nobody was woken");
                asked.gone = true;
            }
            AskPoll::Stale => assert!(asked.gone),
        }
    }

    fn pass(&mut self, time: u64) {
        self.bus.now += time;
        let woken = self.bus.tick();
        woken.into_iter().for_each(|waiter| self.woke(waiter));
        assert!(self.bus.router.next_deadline().is_none_or(|deadline| deadline > self.bus.now));
    }

    fn send(&mut self) -> Option<Sent> {
        let sent = self.bus.next()?;
        self.sent += 1;
        let is_refusal = sent.kind == FrameType::Response && sent.payload[0] != 0;
        if sent.session.is_some() && sent.session.as_ref() == self.sessions.last() && !is_refusal {
            assert_eq!(self.bus.door, self.session_door, "sent where the session is not any more");
        }
        match sent.kind {
            FrameType::Response => self.check_response(&sent),
            FrameType::DecisionReq => {
                assert!(self.bus.router.is_attached(self.bus.now));
                let asked = &self.asks[(sent.seq - code::ASK_SEQ_FIRST) as usize];
                assert_eq!((asked.wakes, asked.gone), (0, false), "put a question that is over");
            }
            _ => assert!(self.bus.router.is_attached(self.bus.now)),
        }
        Some(sent)
    }

    fn check_response(&mut self, sent: &Sent) {
        self.responses += 1;
        let Some(session) = sent.session.filter(|_| sent.code == code::MKDIR && sent.payload[0] == 0) else {
            return;
        };
        let first = self.answers.entry((session, sent.seq)).or_insert_with(|| sent.payload.clone());
        assert_eq!(*first, sent.payload, "two answers to one request");
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Hello { nonce } => self.hello(nonce),
            Step::Move => self.move_over(),
            Step::Close => self.bus.router.on_close(self.bus.now, self.bus.door),
            Step::Stall => self.bus.router.on_stall(self.bus.door),
            Step::Request { session, seq, path } => {
                self.request(seq, code::MKDIR, Some(self.session(session)), [b"/a", b"/b"][path]);
            }
            Step::Base { seq } => self.request(seq, code::MKDIR, None, b"/a"),
            Step::Ping { seq } => {
                let payload = bytes_of(&PingRequest { counter: seq });
                self.request(seq, code::PING, Some(self.session(0)), &payload);
            }
            Step::Respond { which, ok } => self.respond(which, ok),
            Step::Ask { wait } => self.ask(wait),
            Step::Answer { session, which } => {
                let seq = code::ASK_SEQ_FIRST + u32::try_from(which).unwrap();
                let session = Some(self.session(session)).filter(|_| session > 0);
                let did = self.put(FrameType::DecisionResp, seq, 0, session, b"yes");
                self.take_note(did);
            }
            Step::AnswerVerb { seq, which, refuse } => {
                let ask = code::ASK_SEQ_FIRST + u32::try_from(which).unwrap();
                let decision = if refuse { Decision::Refuse } else { Decision::Answer(b"no") };
                self.request(seq, code::ANSWER, Some(self.session(0)), &answer_request(ask, decision));
            }
            Step::Human { number, yes } => {
                match self.bus.router.answer_by_hand(number, if yes { b"yes" } else { b"no" }) {
                    Human::Accepted(waiter) => self.woke(waiter),
                    Human::NotAChoice => assert!(!yes, "it is one"),
                    Human::Late | Human::Unknown => {}
                }
            }
            Step::Cancel { which } => {
                let Some(asked) = self.asks.get(which) else { return };
                if let Some(waiter) = self.bus.router.cancel(asked.ticket) {
                    self.woke(waiter);
                }
            }
            Step::Forget { which } => {
                let Some(asked) = self.asks.get_mut(which) else { return };
                self.bus.router.forget(asked.ticket);
                asked.gone = true;
            }
            Step::Take { which } => self.take(which),
            Step::Event => {
                self.bus.router.event(self.bus.now, &Event::Exit { pid: 1, code: 0, name: b"x" });
            }
            Step::Pass { time } => self.pass(time * SECOND),
            Step::Send { frames } => {
                for _ in 0..frames {
                    self.send();
                }
            }
        }
    }

    fn check(&self) {
        let count =
            |counters: &[Counter]| counters.iter().map(|&counter| self.bus.count(counter)).sum::<u64>();
        assert_eq!(count(&[Counter::FramesIn]), self.put);
        assert_eq!(count(&[Counter::FramesOut]), self.sent);
        assert_eq!(count(&[Counter::Replies]), self.responses);
        assert!(self.responses <= self.requests, "more answers than requests");
        let waiting = self.asks.iter().filter(|asked| !asked.gone && asked.wakes == 0).count() as u64;
        let over = [
            Counter::AsksAnswered,
            Counter::AsksRefused,
            Counter::AsksTimedOut,
            Counter::AsksCancelled,
            Counter::AsksLinkLost,
        ];
        assert_eq!(count(&[Counter::AsksOpened]), self.asks.len() as u64);
        assert_eq!(count(&over) + waiting, self.asks.len() as u64);
    }

    /// Nobody comes any more: everything ends, and nothing is left.
    fn end(&mut self) {
        self.pass(1_000 * SECOND);
        for which in 0..self.asks.len() {
            self.take(which);
            assert!(self.asks[which].gone, "an ask waits for ever");
        }
        for _ in Door::ALL {
            self.move_over();
            while let Some(sent) = self.send() {
                // Only what was refused to somebody who is not attached and knows no better.
                let refused = if sent.code == code::HELLO { Status::Inval } else { Status::Stale };
                assert_eq!(sent.status(), refused, "sent to a peer that has gone");
            }
        }
        assert_eq!(self.bus.router.next_deadline(), None);
    }
}

const fn other(door: Door) -> Door {
    match door {
        Door::Com2 => Door::Data,
        Door::Data => Door::Com2,
    }
}

proptest! {
    #[test]
    fn what_must_always_hold(steps in prop::collection::vec(step(), 0..150)) {
        let mut world = World::new();
        for step in steps {
            world.run(step);
            world.check();
        }
        world.end();
        world.check();
    }
}
