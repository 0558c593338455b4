//! How long the bus takes, against a bare echo on the same line: `cargo bench --bench latency`.
//!
//! Two guests run side by side, one whose kernel echoes what comes over COM2 (`bus=echo`) and one with the bus. They are
//! measured in turn, so that whatever else the machine does slows both; what counts are the ratios of one run.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use askr::{Guest, Machine};
use askr_wire::message::{
    EventsReply, EventsRequest, HelloReply, HelloRequest, PathRequest, PingReply, PingRequest, SpawnReply,
    SpawnRequest, StdinPolicy, Word,
};
use askr_wire::{Deframer, FRAME_MAX, Frame, FrameType, List, Message, SessionHead, SessionId, code, encode};
use host_bridge::link::OwnedFrame;

/// How often each is measured.
const ROUNDS: usize = 300;
/// How often those that start a program are.
const SPAWNS: usize = 60;
/// Pings by which the clocks are compared.
const PINGS: usize = 8;
/// Longest that anything may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// What the shell shows when the guest has booted.
const PROMPT: &str = "askr$ ";

fn main() {
    let (echo, bus) = (boot(&Machine::new().word("bus=echo")), boot(&Machine::new()));
    let (mut echo, mut bus) = (Mirror::new(echo), Bus::new(bus));
    let (mut echoes, mut pings, mut stats) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (ping, bytes) = bus.ping();
        echoes.push(echo.echo(bytes));
        pings.push(ping);
        stats.push(bus.stat(b"/bin/true"));
    }
    let (mut spawns, mut faults) = (Vec::new(), Vec::new());
    for _ in 0..SPAWNS {
        spawns.push(bus.spawn_to_exit());
        faults.push(bus.fault_to_event());
    }
    let ping = median(&mut pings);
    println!("{:<28} {:>9} {:>9}   ratio", "", "median", "p99");
    row("echo of the same size", &mut echoes, None);
    let echo = median(&mut echoes);
    row("PING", &mut pings, Some((echo, "echo", 1.3)));
    row("STAT", &mut stats, Some((ping, "PING", 1.5)));
    row("SPAWN /bin/true to its exit", &mut spawns, Some((ping, "PING", 12.0)));
    row("fault to its event", &mut faults, Some((ping, "PING", 5.0)));
}

fn row(what: &str, times: &mut [Duration], of: Option<(Duration, &str, f64)>) {
    let (median, p99) = (median(times), times[times.len() * 99 / 100]);
    let micros = |time: Duration| format!("{} us", time.as_micros());
    let ratio = of.map_or(String::new(), |(base, name, target)| {
        let ratio = median.as_secs_f64() / base.as_secs_f64();
        format!("{ratio:.2} x {name} (aim: at most {target})")
    });
    println!("{what:<28} {:>9} {:>9}   {ratio}", micros(median), micros(p99));
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn boot(machine: &Machine) -> Guest {
    let mut guest = machine.start().expect("QEMU");
    guest.wait_for(PROMPT, PATIENCE).expect("a prompt");
    guest
}

fn connect(guest: &mut Guest) -> UnixStream {
    let stream = guest.vm().com2().expect("COM2");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time over zero");
    stream
}

/// The guest that echoes.
struct Mirror {
    _guest: Guest,
    stream: UnixStream,
}

impl Mirror {
    fn new(mut guest: Guest) -> Self {
        Self { stream: connect(&mut guest), _guest: guest }
    }

    /// Time until as many bytes have come back.
    fn echo(&mut self, bytes: usize) -> Duration {
        // The line wakes its reader at the end of a frame.
        let mut sent = vec![0x55; bytes];
        sent[bytes - 1] = 0;
        let started = Instant::now();
        self.stream.write_all(&sent).expect("the guest runs");
        self.stream.read_exact(&mut vec![0; bytes]).expect("an echo");
        started.elapsed()
    }
}

/// The guest with the bus, in a session.
struct Bus {
    _guest: Guest,
    stream: UnixStream,
    deframer: Box<Deframer>,
    buffer: Vec<u8>,
    session: Option<SessionId>,
    seq: u32,
    counter: u32,
    /// Guest's uptime at this moment.
    clock: (Instant, Duration),
    closest: Duration,
}

impl Bus {
    fn new(mut guest: Guest) -> Self {
        let stream = connect(&mut guest);
        let now = Instant::now();
        let mut bus = Self {
            _guest: guest,
            stream,
            deframer: Box::new(Deframer::new()),
            buffer: Vec::new(),
            session: None,
            seq: 0,
            counter: 0,
            clock: (now, Duration::ZERO),
            closest: PATIENCE,
        };
        let hello =
            HelloRequest { generation: 1, payload_limit: 4096, window: 8, nonce: [7; 16], client: b"bench" };
        let reply = bus.call(code::HELLO, &hello);
        bus.session = Some(HelloReply::decode(&reply).expect("an answer to HELLO").session);
        bus
    }

    /// Sends a request; returns its number and its bytes on the line.
    fn send<'a>(&mut self, code: u16, message: &impl Message<'a>) -> (u32, usize) {
        let (mut payload, mut out) = ([0; 1024], [0; FRAME_MAX]);
        let len = message.encode(&mut payload).expect("a short message");
        self.seq += 1;
        let session = self.session.map(|id| SessionHead { id, ext: &[] });
        let frame =
            Frame { kind: FrameType::Request, seq: self.seq, code, session, payload: &payload[..len] };
        let len = encode(&frame, &mut out).expect("a short frame");
        self.stream.write_all(&out[..len]).expect("the guest runs");
        (self.seq, len)
    }

    /// The next frame, and its bytes on the line.
    fn receive(&mut self) -> (OwnedFrame, usize) {
        let mut taken = 0;
        loop {
            while let Some(byte) = self.buffer.pop() {
                taken += 1;
                if let Some(frame) = self.deframer.push(byte) {
                    return (OwnedFrame::from(&frame.expect("a whole frame")), taken);
                }
            }
            let mut piece = [0; 4096];
            let count = self.stream.read(&mut piece).expect("the guest runs");
            self.buffer.extend(piece[..count].iter().rev());
        }
    }

    /// The body of the response to request `seq`; what else comes is of no use.
    fn response(&mut self, seq: u32) -> (Vec<u8>, usize) {
        loop {
            let (frame, bytes) = self.receive();
            if frame.kind == FrameType::Response && frame.seq == seq {
                assert_eq!(frame.payload[0], 0, "status of request {seq}");
                return (frame.payload[1..].to_vec(), bytes);
            }
        }
    }

    fn call<'a>(&mut self, code: u16, message: &impl Message<'a>) -> Vec<u8> {
        let (seq, _) = self.send(code, message);
        self.response(seq).0
    }

    /// Time of a ping, and half of its bytes in both directions together.
    fn ping(&mut self) -> (Duration, usize) {
        self.counter += 1;
        let request = PingRequest { counter: self.counter };
        let started = Instant::now();
        let (seq, out) = self.send(code::PING, &request);
        let (body, back) = self.response(seq);
        let took = started.elapsed();
        if took < self.closest {
            let uptime = PingReply::decode(&body).expect("an answer to PING").uptime_ns;
            self.closest = took;
            self.clock = (started + took / 2, Duration::from_nanos(uptime));
        }
        (took, (out + back) / 2)
    }

    fn stat(&mut self, path: &[u8]) -> Duration {
        let started = Instant::now();
        self.call(code::STAT, &PathRequest { path });
        started.elapsed()
    }

    /// Starts a program; returns its pid once its event of this kind has come, and when that was.
    fn spawn_until(&mut self, path: &[u8], event: u16) -> (u32, Instant) {
        let (mut argv, mut pid, mut seen) = ([0; 64], None, Vec::new());
        let request = SpawnRequest {
            stdin: StdinPolicy::Closed,
            timeout_ms: 0,
            output_limit: 0,
            path,
            cwd: b"",
            argv: List::build([Word(path)], &mut argv).expect("a short path"),
            env: List::EMPTY,
            input: b"",
        };
        let (seq, _) = self.send(code::SPAWN, &request);
        loop {
            let (frame, _) = self.receive();
            let now = Instant::now();
            if frame.kind == FrameType::Response && frame.seq == seq {
                assert_eq!(frame.payload[0], 0, "status of SPAWN");
                pid = Some(SpawnReply::decode(&frame.payload[1..]).expect("an answer to SPAWN").pid);
            } else if frame.kind == FrameType::Event && frame.code == event {
                seen.push((u32::from_le_bytes(frame.payload[..4].try_into().expect("a pid")), now));
            }
            if let Some(&found) = seen.iter().find(|(of, _)| Some(*of) == pid) {
                return found;
            }
        }
    }

    fn spawn_to_exit(&mut self) -> Duration {
        let started = Instant::now();
        self.spawn_until(b"/bin/true", code::EVENT_EXIT);
        started.elapsed()
    }

    /// Time from a fault, by the guest's clock, to its event here. The clocks are compared anew each time, by the fastest of
    /// some pings: they do not run equally fast.
    fn fault_to_event(&mut self) -> Duration {
        self.closest = PATIENCE;
        for _ in 0..PINGS {
            self.ping();
        }
        let (pid, came) = self.spawn_until(b"/bin/crash", code::EVENT_FAULT);
        let mut cursor = 0;
        loop {
            let body = self.call(code::EVENTS, &EventsRequest { cursor });
            let page = EventsReply::decode(&body).expect("an answer to EVENTS");
            let is_it = |one: &askr_wire::message::LoggedEvent<'_>| {
                one.code == code::EVENT_FAULT && one.event.pid == pid
            };
            if let Some(fault) = page.events.iter().find(is_it) {
                let (moment, uptime) = self.clock;
                let happened = (moment + Duration::from_nanos(fault.time_ns)).checked_sub(uptime);
                return came.saturating_duration_since(happened.unwrap_or(came));
            }
            assert!(!page.events.is_empty(), "the fault is among the events");
            cursor += page.lost + u64::from(page.events.len());
        }
    }
}
