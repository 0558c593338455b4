"""The line and the requests on it, written from docs/protocol.md alone. Nothing but the standard library.

A thread always reads, so that the guest's line never stands still; it also sends requests again that have no answer
yet.
"""

import os
import select
import socket
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass
from typing import Callable, Iterable, Optional

import askr_frames as frames
from askr_frames import Frame, Reader

PING, WAIT, OUTPUT = 0x0101, 0x0121, 0x0123

STATUSES = (
    "OK ENOENT EINVAL EEXIST EPERM EAGAIN EBUSY EIO ENOSPC ENOTDIR EISDIR ENOTEMPTY ENAMETOOLONG EFBIG ESRCH "
    "ENOEXEC ENOMEM ETIMEDOUT ENOSYS EMSGSIZE EROFS EACCES ESTALE ELOOP ECANCELED"
).split()

# A request without an answer is sent again after this time.
RESEND = 1.0
# How often the clock is looked at while nothing comes.
LOOK = 0.05
# Longest time for anything that has to happen; the machine may be slow and busy.
PATIENCE = 90.0


class Refused(Exception):
    """The guest answered with a status that is not OK."""

    def __init__(self, status: int) -> None:
        super().__init__(STATUSES[status])
        self.status = STATUSES[status]


class SessionLost(Exception):
    """The session ended under the request: it may have been done or not."""


@dataclass
class Request:
    frame: Frame
    sent: float = 0.0
    answer: Optional[Frame] = None
    again: bool = False


class Link:
    """One connection, and what is outstanding on it. Without a session it is a base peer."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lock = threading.Condition()
        self.session: Optional[bytes] = None
        self.window = 1
        self.seq = 1
        self.outstanding: dict = {}
        self.errors: list = []
        self.strays = 0
        self.lost = False
        # For tests: how many of the next frames of a type are thrown away as if the line had lost them.
        self.lose: Counter = Counter()
        self.connect()

    # The connection.

    def connect(self) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        # A unix socket's address holds 107 bytes.
        folder = os.open(os.path.dirname(os.path.abspath(self.path)), os.O_PATH)
        try:
            self.socket.connect(f"/proc/self/fd/{folder}/{os.path.basename(self.path)}")
        finally:
            os.close(folder)
        self.socket.sendall(b"\0")
        self.running = True
        self.thread = threading.Thread(target=self._serve, args=(self.socket,), daemon=True)
        self.thread.start()

    def cut(self) -> None:
        """Closes the connection in the middle of whatever goes on; requests stay outstanding."""
        self.running = False
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(PATIENCE)
        self.socket.close()

    def close(self) -> None:
        self.cut()

    def _serve(self, line: socket.socket) -> None:
        deframer = frames.Deframer()
        while self.running:
            try:
                readable, _, _ = select.select([line], [], [], LOOK)
                data = line.recv(65536) if readable else b""
            except OSError:
                break
            if readable and not data:
                break
            with self.lock:
                for found in deframer.push(data):
                    if isinstance(found, Frame):
                        if self.lose[found.kind] > 0:
                            self.lose[found.kind] -= 1
                        else:
                            self._receive(found)
                    else:
                        self.errors.append(str(found))
                self._keep_up()
                self.lock.notify_all()

    def _answered(self, frame: Frame) -> None:
        request = self.outstanding.get(frame.seq)
        if request is None or (request.frame.code, request.frame.session) != (frame.code, frame.session):
            self.strays += 1
            return
        request.answer = frame
        del self.outstanding[frame.seq]

    def _receive(self, frame: Frame) -> None:
        if frame.kind == frames.RESPONSE:
            self._answered(frame)

    def _keep_up(self) -> None:
        """A base peer does not send again: its number would be a new request."""
        if self.session is None:
            return
        now = time.monotonic()
        for request in list(self.outstanding.values()):
            if now - request.sent > RESEND:
                self._send(request)

    def _send(self, request: Request) -> None:
        request.sent = time.monotonic()
        try:
            self.socket.sendall(request.frame.wire())
        except OSError:
            # It stays outstanding until somebody connects again.
            pass

    # Requests.

    def post(self, code: int, payload: bytes = b"") -> Request:
        """Sends a request as soon as the window has a place."""
        with self.lock:
            self._wait_for(lambda: self._has_place())
            return self._post(code, payload)

    def _post(self, code: int, payload: bytes) -> Request:
        request = Request(Frame(frames.REQUEST, self.seq, code, payload, self.session))
        self.seq += 1
        self.outstanding[request.frame.seq] = request
        self._send(request)
        return request

    def _has_place(self) -> bool:
        """The page's rule: whatever has no answer yet must still be remembered when this is done."""
        seqs = sorted(seq for seq, request in self.outstanding.items() if request.frame.code != PING)
        if len(seqs) >= self.window:
            return False
        return all(
            self.seq - seq < self.window - below or self.outstanding[seq].frame.code in (WAIT, OUTPUT)
            for below, seq in enumerate(seqs)
        )

    def _wait_for(self, is_so: Callable[[], bool], patience: float = PATIENCE) -> None:
        if not self.lock.wait_for(lambda: self.lost or is_so(), patience):
            raise TimeoutError("the guest did not answer in time")
        if self.lost:
            raise SessionLost()

    def result(self, request: Request, patience: float = PATIENCE) -> Reader:
        """Waits for the answer: the body, or an error."""
        with self.lock:
            self._wait_for(lambda: request.answer is not None, patience)
        body = Reader(request.answer.payload)
        status = body.number(1)
        if STATUSES[status] == "ESTALE" and request.frame.code in (WAIT, OUTPUT) and not request.again:
            # Its answer was forgotten, or the session is: the next one tells.
            again = self.post(request.frame.code, request.frame.payload)
            again.again = True
            return self.result(again, patience)
        if status != 0:
            body.end()
            raise Refused(status)
        return body

    def call(self, code: int, payload: bytes = b"", patience: float = PATIENCE) -> Reader:
        return self.result(self.post(code, payload), patience)

    def status(self, code: int, payload: bytes = b"") -> str:
        try:
            self.call(code, payload)
        except Refused as refused:
            return refused.status
        return "OK"

    def call_all(self, requests: Iterable) -> Iterable:
        """The results of many requests in order, as many at a time as the window allows."""
        waiting: deque = deque()
        for code, payload in requests:
            waiting.append(self.post(code, payload))
            while waiting and waiting[0].answer is not None:
                yield self.result(waiting.popleft())
        while waiting:
            yield self.result(waiting.popleft())
