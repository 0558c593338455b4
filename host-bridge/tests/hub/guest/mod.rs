//! A guest without a machine: the kernel's router over one end of a socket pair for each door, with files in a map and
//! faults on the line at will.

mod verbs;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use askr_agentbus::{
    Ask, AskExtra, AskOutcome, AskPoll, Backtrace, Config, Effect, Event, Fault, Nanos, Router, Ticket,
};
use askr_wire::message::REGISTERS;
use askr_wire::{Deframer, FRAME_MAX, FrameType, SESSION_PAYLOAD_MAX, code};
use host_bridge::link::{Connect, Door, Doors, OwnedFrame, Stream};

/// Longest that a test waits for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What happens to a frame on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    Lost,
    Doubled,
}

/// Decides the fate of each frame, in either direction.
pub(crate) type Line = Box<dyn FnMut(&OwnedFrame) -> Fate + Send>;

/// A file, or a directory without content.
pub(crate) type Node = Option<Vec<u8>>;

/// The guest; clones are the same guest.
#[derive(Clone)]
pub(crate) struct Guest {
    shared: Arc<(Mutex<State>, Condvar)>,
}

pub(crate) struct State {
    router: Router<Waiter>,
    started: Instant,
    /// Canonical absolute paths.
    pub(crate) files: BTreeMap<Vec<u8>, Node>,
    pub(crate) line: Line,
    /// Requests that were carried out, in order.
    pub(crate) done: Vec<String>,
    /// Reads nothing more for now.
    pub(crate) deaf: bool,
    /// Takes connections.
    pub(crate) powered: bool,
    /// Has a data door.
    pub(crate) has_data: bool,
    ports: [Option<UnixStream>; Door::ALL.len()],
    next_waiter: Waiter,
    woken: Vec<Waiter>,
}

type Waiter = u32;

impl Guest {
    /// A guest that has booted for the first time, with a few files.
    pub(crate) fn new() -> Self {
        let files = [
            (&b"/"[..], None),
            (b"/proc", None),
            (b"/proc/version", Some(b"Askr 0.1.0\n".to_vec())),
            (b"/tmp", None),
        ];
        let state = State {
            router: Router::new(Config::new([1; 16], "0.1.0")),
            started: Instant::now(),
            files: files.map(|(path, node)| (path.to_vec(), node)).into(),
            line: Box::new(|_| Fate::Arrives),
            done: Vec::new(),
            deaf: false,
            powered: true,
            has_data: true,
            ports: [const { None }; Door::ALL.len()],
            next_waiter: 0,
            woken: Vec::new(),
        };
        let guest = Self { shared: Arc::new((Mutex::new(state), Condvar::new())) };
        let clock = Arc::downgrade(&guest.shared);
        // Ends with the guest: tells the router the time a hundred times a second, as the kernel's tick does.
        thread::spawn(move || {
            while let Some(shared) = clock.upgrade() {
                let guest = Self { shared };
                guest.lock().tick();
                guest.shared.1.notify_all();
                drop(guest);
                thread::sleep(Duration::from_millis(10));
            }
        });
        guest
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap()
    }

    /// What the hub connects to COM2 with.
    pub(crate) fn connect(&self) -> Connect {
        self.connect_at(Door::Com2)
    }

    /// What the hub connects to both doors with.
    pub(crate) fn doors(&self) -> Doors {
        Doors { com2: self.connect_at(Door::Com2), data: Some(self.connect_at(Door::Data)) }
    }

    fn connect_at(&self, door: Door) -> Connect {
        let guest = self.clone();
        Box::new(move || guest.plug_in(door))
    }

    fn plug_in(&self, door: Door) -> io::Result<Stream> {
        let is_there = {
            let state = self.lock();
            state.powered && (door == Door::Com2 || state.has_data)
        };
        if !is_there {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (host, port) = UnixStream::pair()?;
        self.plug(door, port);
        Stream::try_from(host)
    }

    /// Takes this end of a connection for this door.
    pub(crate) fn plug(&self, door: Door, port: UnixStream) {
        self.lock().ports[door.index()] = Some(port.try_clone().unwrap());
        let guest = self.clone();
        thread::spawn(move || guest.receive(door, port));
    }

    fn receive(&self, door: Door, mut port: UnixStream) {
        let (mut deframer, mut buffer) = (Deframer::new(), [0; 4096]);
        while let Ok(count @ 1..) = port.read(&mut buffer) {
            let mut state = self.lock();
            while state.deaf {
                state = self.shared.1.wait(state).unwrap();
            }
            for &byte in &buffer[..count] {
                match deframer.push(byte) {
                    None => {}
                    Some(Err(error)) => state.router.on_frame_error(error),
                    Some(Ok(frame)) => {
                        let copies = state.copies(&OwnedFrame::from(&frame));
                        (0..copies).for_each(|_| state.take(door, &frame));
                    }
                }
            }
            state.transmit();
            self.shared.1.notify_all();
        }
    }

    /// Ends all connections, as QEMU does when it ends; the hub connects again.
    pub(crate) fn unplug(&self) {
        Door::ALL.into_iter().for_each(|door| self.unplug_at(door));
    }

    /// Ends the connection to this door. Of the data door's the guest is told, as the kernel is.
    pub(crate) fn unplug_at(&self, door: Door) {
        let mut state = self.lock();
        let now = state.now();
        if let Some(port) = state.ports[door.index()].take() {
            port.shutdown(Shutdown::Both).unwrap();
            if door == Door::Data {
                state.router.on_close(now, door);
            }
        }
    }

    /// Reads again.
    pub(crate) fn hear(&self) {
        self.lock().deaf = false;
        self.shared.1.notify_all();
    }

    /// Boots again without ending the connection: a new boot id, nothing remembered.
    pub(crate) fn reboot(&self, boot: u8) {
        self.lock().router = Router::new(Config::new([boot; 16], "0.1.0"));
    }

    /// Puts bytes on COM2's line to the host.
    pub(crate) fn babble(&self, bytes: &[u8]) {
        self.babble_at(Door::Com2, bytes);
    }

    /// Puts bytes on the line of this door to the host.
    pub(crate) fn babble_at(&self, door: Door, bytes: &[u8]) {
        self.lock().ports[door.index()].as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn event(&self, code: u16, pid: u32, name: &[u8]) {
        let mut state = self.lock();
        let (now, fault) = (state.now(), fault());
        state.router.event(now, &event(code, pid, name, &fault));
        state.transmit();
    }

    /// A program asks; once somebody is attached.
    pub(crate) fn ask(&self, code: u16, question: &[u8], timeout: Duration) -> Asked {
        self.ask_among(code, question, &[], timeout)
    }

    /// A program asks, and takes one of these choices, if there are any.
    pub(crate) fn ask_among(
        &self,
        code: u16,
        question: &[u8],
        choices: &[&[u8]],
        timeout: Duration,
    ) -> Asked {
        let mut extra = AskExtra::default();
        choices.iter().for_each(|choice| extra.choice(choice).unwrap());
        let extra = (!choices.is_empty()).then_some(&extra);
        let mut state = self.lock();
        let give_up = Instant::now() + PATIENCE;
        while !state.router.is_attached(state.now()) {
            assert!(Instant::now() < give_up, "nobody attached");
            state = self.shared.1.wait_timeout(state, PATIENCE).unwrap().0;
        }
        let now = state.now();
        state.next_waiter += 1;
        let waiter = state.next_waiter;
        let deadline = now + u64::try_from(timeout.as_nanos()).unwrap();
        let ask = Ask { code, question, deadline, pid: 7, program: b"/bin/ask", extra };
        let ticket = state.router.ask(now, &ask, waiter).unwrap();
        state.transmit();
        Asked { guest: self.clone(), ticket, waiter }
    }

    /// Waits until `holds` is true of the guest.
    pub(crate) fn wait_for(&self, what: &str, holds: impl Fn(&State) -> bool) {
        let mut state = self.lock();
        let give_up = Instant::now() + PATIENCE;
        while !holds(&state) {
            assert!(Instant::now() < give_up, "waited in vain: {what}");
            state = self.shared.1.wait_timeout(state, PATIENCE).unwrap().0;
        }
    }
}

/// A page fault at address 0.
fn fault() -> Fault {
    let mut backtrace = Backtrace::default();
    backtrace.push(0x40_1234);
    Fault {
        signal: 11,
        vector: 14,
        error: 6,
        address: 0,
        rip: 0x40_1000,
        registers: [7; REGISTERS],
        backtrace,
    }
}

fn event<'a>(code: u16, pid: u32, name: &'a [u8], fault: &'a Fault) -> Event<'a> {
    match code {
        code::EVENT_SPAWN => Event::Spawn { pid, parent: 1, name },
        code::EVENT_EXIT => Event::Exit { pid, code: 3, name },
        _ => Event::Fault { pid, name, fault },
    }
}

/// An ask of a program that waits.
pub(crate) struct Asked {
    guest: Guest,
    ticket: Ticket,
    waiter: Waiter,
}

impl Asked {
    /// Waits for its outcome and the answer.
    pub(crate) fn outcome(self) -> (AskOutcome, Vec<u8>) {
        self.guest.wait_for("the outcome of an ask", |state| state.woken.contains(&self.waiter));
        let mut answer = vec![0; SESSION_PAYLOAD_MAX];
        match self.guest.lock().router.take(self.ticket, &mut answer) {
            AskPoll::Done(outcome @ AskOutcome::Answered { len, .. }) => (outcome, answer[..len].to_vec()),
            AskPoll::Done(outcome) => (outcome, Vec::new()),
            other => panic!("woken without an outcome: {other:?}"),
        }
    }

    /// Its program dies.
    pub(crate) fn forget(self) {
        self.guest.lock().router.forget(self.ticket);
    }

    /// Whether it is still waiting.
    pub(crate) fn is_pending(&self) -> bool {
        !self.guest.lock().woken.contains(&self.waiter)
    }
}

impl State {
    fn now(&self) -> Nanos {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap()
    }

    pub(crate) fn counter(&self, counter: askr_agentbus::Counter) -> u64 {
        self.router.stats().get(counter)
    }

    fn tick(&mut self) {
        let now = self.now();
        while let Some(waiter) = self.router.tick(now) {
            self.woken.push(waiter);
        }
        self.transmit();
    }

    fn copies(&mut self, frame: &OwnedFrame) -> usize {
        match (self.line)(frame) {
            Fate::Arrives => 1,
            Fate::Lost => 0,
            Fate::Doubled => 2,
        }
    }

    fn take(&mut self, door: Door, frame: &askr_wire::Frame<'_>) {
        match self.router.on_frame(self.now(), door, frame) {
            Effect::None => {}
            Effect::Wake(waiter) => self.woken.push(waiter),
            Effect::Control(control) => {
                let result = self.carry_out(&control.request, control.body_max);
                self.router.respond(control.token, result.as_deref().map_err(|status| *status));
            }
        }
    }

    fn transmit(&mut self) {
        Door::ALL.into_iter().for_each(|door| self.transmit_at(door));
    }

    fn transmit_at(&mut self, door: Door) {
        let mut frame = [0; FRAME_MAX];
        while let Some(len) = self.router.next_frame(self.now(), door, &mut frame) {
            let mut deframer = Deframer::new();
            let sent = frame[..len]
                .iter()
                .find_map(|&byte| deframer.push(byte).map(|frame| OwnedFrame::from(&frame.unwrap())));
            for _ in 0..self.copies(&sent.unwrap()) {
                // With nobody plugged in bytes vanish, as on the real line.
                let _ = self.ports[door.index()].as_mut().map(|port| port.write_all(&frame[..len]));
            }
        }
    }
}

/// Whether the frame is a response; those are what an unlucky line loses.
pub(crate) fn is_response(frame: &OwnedFrame) -> bool {
    frame.kind == FrameType::Response
}
