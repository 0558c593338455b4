"""Sessions, asks and events, written from docs/protocol.md alone. Nothing but the standard library."""

import os
import random
import time
from collections import deque
from dataclasses import dataclass
from typing import Callable, Optional

import askr_frames as frames
from askr_frames import Frame, Reader, u8, u16, u32, u64
from askr_link import PATIENCE, PING, RESEND, Link, Request

HELLO, ASKS, ANSWER, EVENTS = 0x0100, 0x0103, 0x0104, 0x0105

FIRST_EVENT = 0x4000_0000
ASK_FACTS, ASK_CHOICES, ASK_CONTEXT, ASK_DEFAULT, FAULT_FACTS = range(1, 6)
VERDICTS = ("accepted", "late", "unknown", "not a choice")
REGISTERS = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rflags".split()


@dataclass(frozen=True)
class Event:
    number: int
    code: int
    pid: int
    aux: int
    info: int
    name: bytes
    ext: dict

    @property
    def fault(self) -> Optional[dict]:
        return fault_facts(Reader(self.ext[FAULT_FACTS])) if FAULT_FACTS in self.ext else None


@dataclass(frozen=True)
class Ask:
    seq: int
    code: int
    question: bytes
    ext: dict

    @property
    def choices(self) -> list:
        return Reader(self.ext.get(ASK_CHOICES, b"")).until_end(lambda item: item.string(1))

    @property
    def context(self) -> dict:
        pairs = Reader(self.ext.get(ASK_CONTEXT, b"")).until_end(lambda item: (item.string(1), item.string(2)))
        return dict(pairs)

    @property
    def default(self) -> Optional[bytes]:
        return self.ext.get(ASK_DEFAULT)

    @property
    def program(self) -> bytes:
        facts = Reader(self.ext[ASK_FACTS])
        facts.take(8)
        return facts.string(1)


@dataclass(frozen=True)
class Hello:
    generation: int
    payload_limit: int
    window: int
    lease_ms: int
    ping_ms: int
    boot_id: bytes
    session: bytes
    event_cursor: int
    kernel: bytes
    version: bytes
    verbs: dict


def ext_items(ext: bytes) -> dict:
    return dict(Reader(ext).until_end(lambda item: (item.number(1), item.string(2))))


def hello_payload(nonce: bytes, payload_limit: int = 4096, window: int = 8) -> bytes:
    name = b"askr_client.py"
    return u16(1) + u32(payload_limit) + u16(window) + nonce + u8(len(name)) + name


def parse_hello(answer: Frame) -> Hello:
    body = Reader(answer.payload)
    body.take(1)
    hello = Hello(
        *(body.number(size) for size in (2, 4, 2, 4, 4)),
        body.take(16),
        body.take(8),
        body.number(8),
        body.string(1),
        body.string(1),
        dict(body.items(lambda item: (item.number(2), item.number(2)))),
    )
    body.end()
    return hello


def fault_facts(body: Reader) -> dict:
    facts = {"signal": body.number(1), "vector": body.number(1)}
    facts.update((name, body.number(8)) for name in ("error", "address", "rip"))
    facts["registers"] = {name: body.number(8) for name in REGISTERS}
    facts["backtrace"] = body.items(lambda item: item.number(8))
    return facts


class Session(Link):
    """A link that says HELLO, pings, and loses no ask and no event."""

    def __init__(self, path: str) -> None:
        self.payload_limit = frames.BASE_PAYLOAD_MAX
        self.ping_s = 0.0
        self.events: deque = deque()
        self.next_event = 0
        self.known_events = 0
        self.asks: dict = {}
        self.pending_asks = 0
        self.ping_counter = 0
        self.ping_known = 0
        self.ping_request: Optional[Request] = None
        self.last_ping = 0.0
        self.opening: Optional[Request] = None
        super().__init__(path)

    # The session.

    def reconnect(self) -> None:
        """Goes on in the same session, if the guest still has it: a ping first, then all that is outstanding."""
        with self.lock:
            ping = self.ping_request
            held = {seq: request for seq, request in self.outstanding.items() if request is not ping}
            self.outstanding = {ping.frame.seq: ping} if ping else {}
        self.connect()
        self.ping()
        with self.lock:
            self.outstanding.update(held)
            for request in held.values():
                self._send(request)

    def hello(self, nonce: Optional[bytes] = None, payload_limit: int = 4096, window: int = 8) -> Hello:
        """Opens a session; what was outstanding before belongs to nobody."""
        nonce = nonce or os.urandom(16)
        with self.lock:
            self.session, self.window = None, 1
            self.outstanding.clear()
            self.lost = False
            self.seq = random.randrange(1, 1 << 20)
            self.opening = self._post(HELLO, hello_payload(nonce, payload_limit, window))
        deadline = time.monotonic() + PATIENCE
        while self.opening.answer is None:
            try:
                self.result(self.opening, RESEND)
            except TimeoutError:
                if time.monotonic() > deadline:
                    raise
                with self.lock:
                    self._send(self.opening)
        self.result(self.opening)
        self.ping()
        return parse_hello(self.opening.answer)

    def _open(self, hello: Hello) -> None:
        """The very next frame may be of the session."""
        self.session, self.window = hello.session, hello.window
        self.payload_limit, self.ping_s = hello.payload_limit, hello.ping_ms / 1000
        self.next_event = self.known_events = hello.event_cursor
        self.events.clear()
        self.asks.clear()
        self.ping_counter, self.ping_known = random.randrange(1, 1 << 20), 0
        self.ping_request, self.last_ping = None, 0.0

    def ping(self) -> None:
        """One ping and its answer."""
        with self.lock:
            if self.ping_request is None:
                self._ping()
            self._wait_for(lambda: self.ping_request is None)

    def _ping(self) -> None:
        self.ping_counter += 1
        self.last_ping = time.monotonic()
        self.ping_request = self._post(PING, u32(self.ping_counter))

    def _pong(self, answer: Frame) -> None:
        self.ping_request = None
        body = Reader(answer.payload)
        if body.number(1) != 0 or body.number(4) != self.ping_known:
            self.lost = True
            return
        self.ping_known = self.ping_counter
        self.pending_asks = body.number(2)
        self.known_events = max(self.known_events, body.number(8))
        self.uptime_ns = body.number(8)
        body.end()

    def _receive(self, frame: Frame) -> None:
        is_hello = frame.session is None and frame.code == HELLO
        if frame.session != self.session and not is_hello and frame.kind != frames.RESPONSE:
            self.strays += 1
        elif frame.kind == frames.RESPONSE:
            self._answered(frame)
            if self.opening is not None and self.opening.answer is frame and frame.payload[:1] == b"\0":
                self._open(parse_hello(frame))
        elif frame.kind == frames.EVENT:
            self._happened(frame)
        elif frame.kind == frames.DECISION_REQ:
            self.asks.setdefault(frame.seq, Ask(frame.seq, frame.code, frame.payload, ext_items(frame.ext)))

    def _happened(self, frame: Frame) -> None:
        """Events below the cursor were seen before; with a gap in front, EVENTS has to fill it first."""
        body = Reader(frame.payload)
        fields = [body.number(4) for _ in range(3)]
        event = Event(frame.seq - FIRST_EVENT, frame.code, *fields, body.string(1), ext_items(frame.ext))
        body.end()
        self.known_events = max(self.known_events, event.number + 1)
        if self.session is None or event.number == self.next_event:
            self.next_event = event.number + 1
            self.events.append(event)

    def _keep_up(self) -> None:
        super()._keep_up()
        if self.session is None:
            return
        if self.ping_request is not None and self.ping_request.answer is not None:
            self._pong(self.ping_request.answer)
        if self.ping_request is None and time.monotonic() - self.last_ping > self.ping_s:
            self._ping()

    # Asks and events.

    def next_ask(self, is_it: Callable[[Ask], bool] = lambda ask: True) -> Ask:
        """Waits for an ask; one that the line lost is found by the next ping and fetched."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with self.lock:
                found = [ask for ask in self.asks.values() if is_it(ask)]
                if found:
                    return self.asks.pop(found[0].seq)
                missing = self.session is not None and self.pending_asks > len(self.asks)
                if not missing:
                    self.lock.wait(0.5)
            if missing:
                for ask in self.list_asks():
                    with self.lock:
                        self.asks.setdefault(ask.seq, ask)
        raise TimeoutError("nobody asked")

    def list_asks(self) -> list:
        def one(item: Reader) -> Ask:
            seq, code = item.number(4), item.number(2)
            facts = item.take(8)
            program = item.string(1)
            question = item.string(2)
            ext = {ASK_FACTS: facts + u8(len(program)) + program, **ext_items(item.string(2))}
            return Ask(seq, code, question, ext)

        asks: list = []
        while True:
            page = self.call(ASKS, u16(len(asks))).items(one)
            if not page:
                return asks
            asks += page

    def answer(self, ask: int, answer: Optional[bytes]) -> str:
        """Answers an ask, or refuses to; what became of it."""
        decision = u8(1) if answer is None else u8(0) + answer
        body = self.call(ANSWER, u32(ask) + decision)
        verdict = VERDICTS[body.number(1)]
        body.end()
        return verdict

    def answer_as_base(self, ask: Ask, answer: bytes) -> None:
        with self.lock:
            self.socket.sendall(Frame(frames.DECISION_RESP, ask.seq, ask.code, answer, self.session).wire())

    def replay(self, cursor: int) -> tuple:
        """Events from a number on: how many of them are lost, how many there were since boot, and the events."""

        def one(item: Reader) -> tuple:
            time_ns, code = item.number(8), item.number(2)
            fields = [item.number(4) for _ in range(3)]
            return time_ns, code, *fields, item.string(1), ext_items(item.string(2))

        body = self.call(EVENTS, u64(cursor))
        lost, count = body.number(8), body.number(8)
        found = body.items(one)
        body.end()
        events = [Event(cursor + lost + n, *item[1:]) for n, item in enumerate(found)]
        return lost, count, events

    def next_happening(self, is_it: Callable[[Event], bool] = lambda event: True) -> Event:
        """Waits for an event, in the order of their numbers; gaps are filled."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with self.lock:
                while self.events:
                    event = self.events.popleft()
                    if is_it(event):
                        return event
                missing = self.session is not None and self.known_events > self.next_event
                if not missing:
                    self.lock.wait(0.5)
            if missing:
                self._fill()
        raise TimeoutError("it did not happen")

    def _fill(self) -> None:
        with self.lock:
            cursor = self.next_event
        lost, _, events = self.replay(cursor)
        with self.lock:
            self.next_event = max(self.next_event, cursor + lost)
            for event in events:
                if event.number == self.next_event:
                    self.next_event += 1
                    self.events.append(event)
