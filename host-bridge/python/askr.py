"""A running Askr guest from Python: one file, standard library only, Python 3.9 or later.

    import askr

    with askr.connect() as guest:
        print(guest.read("/etc/motd"))
        print(guest.run(["ls", "-l", "/"]).stdout)

It speaks the hub's JSON lines, for which ``docs/host.md`` is the contract; ``docs/sdk.md`` explains this file. Bytes
are exact: contents and outputs are ``bytes``; names and paths are ``str`` where they are UTF-8, else ``bytes``, and
both are taken. Times are seconds.
"""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

__all__ = [
    "Ask", "AskrError", "ConnectionLost", "Event", "EventsLost", "Finished", "Follower", "Guest", "HubError", "Job",
    "NoHub", "NoReply", "NotFound", "NotReady", "OutcomeUnknown", "Output", "ProtocolError", "GuestRestarted", "Late",
    "connect", "find_socket",
]

#: A name or a text of the guest: ``bytes`` only where it is no UTF-8.
Name = Union[str, bytes]

#: Longest time that a hub takes over any request: it ends all of them after ten and a half minutes.
REPLY_MAX = 660.0
#: Most bytes of each output that a guest keeps, and that one reply has.
OUTPUT_MAX = 1 << 20
#: Bytes of a file in one request: far below the longest line, also as base64.
WRITE_PIECE = 1 << 20
#: Longest that one request may wait.
WAIT_MAX = 600.0
#: Longest path that fits the address of a unix socket.
SUN_PATH_MAX = 107


class AskrError(Exception):
    """Whatever went wrong with a hub or its guest."""


class NoHub(AskrError):
    """No hub is there to connect to."""


class ConnectionLost(AskrError):
    """The connection broke. What a call was to change may have been changed."""


class NoReply(AskrError):
    """The hub did not reply in time. What a call was to change may have been changed, or may still be."""


class ProtocolError(AskrError):
    """The hub sent something that is no reply: hub and this file may be of different versions."""


class HubError(AskrError):
    """The hub or the guest said no.

    ``code`` is for programs: the guest's status, such as ``ENOENT``, or the hub's own, such as ``not_ready``.
    ``message`` says what happened and may quote the guest, ``hint`` what to do about it, ``boot`` is the boot of the
    guest that it is of. Some codes have a class of their own.
    """

    def __init__(self, code: str, message: str, hint: str, boot: Optional[str]) -> None:
        super().__init__(_printable(f"{code}: {message} ({hint})"))
        self.code, self.message, self.hint, self.boot = code, message, hint, boot


class NotFound(HubError):
    """``ENOENT``: there is no such file or directory."""


class NotReady(HubError):
    """``not_ready``: no guest was in session in time; nothing was sent."""


class GuestRestarted(HubError):
    """``guest_restarted``: what the guest knew before is gone."""


class OutcomeUnknown(HubError):
    """``outcome_unknown``: a change may or may not have been made, and was not tried again."""


class Late(HubError):
    """``late``: the ask was settled before this answer."""


_ERRORS = {
    "ENOENT": NotFound,
    "not_ready": NotReady,
    "guest_restarted": GuestRestarted,
    "outcome_unknown": OutcomeUnknown,
    "late": Late,
}


@dataclass(frozen=True)
class Job:
    """A started program, with all that it starts: its number in this boot, and its first process."""

    job: int
    pid: int


@dataclass(frozen=True)
class Output:
    """What a program wrote, the last MiB of it: the bytes from ``start`` on. ``total`` were written, and ``ended`` says that
    it will be no more: other processes of the job may still write."""

    content: bytes
    start: int
    total: int
    ended: bool

    @property
    def is_whole(self) -> bool:
        """Whether ``content`` is all of it."""
        return self.ended and len(self.content) == self.total

    @classmethod
    def _of(cls, piece: Mapping[str, Any]) -> Output:
        return cls(_content(piece), piece["start"], piece["total"], piece["ended"])


@dataclass(frozen=True)
class Finished:
    """A program that has ended: with an ``exit_code``, or by a ``signal`` (a name, or a number without one).

    ``cause`` is ``itself``, ``deadline``, ``killed`` or ``out_of_memory``; ``fault`` is what ``docs/host.md`` lists, if
    one ended it.
    """

    job: Job
    exit_code: Optional[int]
    signal: Union[str, int, None]
    cause: str
    out: Output
    err: Output
    fault: Optional[Mapping[str, Any]]

    @property
    def stdout(self) -> bytes:
        """What it wrote to standard output; ``out`` tells whether something is missing."""
        return self.out.content

    @property
    def stderr(self) -> bytes:
        """What it wrote to standard error output; ``err`` tells whether something is missing."""
        return self.err.content

    @classmethod
    def _of(cls, ok: Mapping[str, Any]) -> Finished:
        job = Job(ok["job"], ok["pid"])
        out, err = Output._of(ok["stdout"]), Output._of(ok["stderr"])
        return cls(job, ok.get("exit_code"), ok.get("signal"), ok["cause"], out, err, ok.get("fault"))


@dataclass(frozen=True)
class Ask:
    """A question of a program in the guest. Its texts are not to be trusted: they may be made to look like others.

    ``ask`` is its name, ``intent`` is ``generic``, ``natural_language`` (what ``ai …`` sends) or ``other``. It takes
    only the ``choices``, if it has any, and ``default`` is what the program takes when nobody answers within ``left``
    seconds.
    """

    ask: str
    intent: str
    question: Name
    left: float
    pid: Optional[int] = None
    program: Optional[Name] = None
    choices: Tuple[Name, ...] = ()
    context: Tuple[Tuple[Name, Name], ...] = ()
    default: Optional[Name] = None
    boot: Optional[str] = field(default=None, compare=False)

    @classmethod
    def _of(cls, told: Mapping[str, Any], boot: Optional[str]) -> Ask:
        return cls(
            ask=told["ask"],
            intent=told["intent"],
            question=_needed(told, "question"),
            left=told["left_ms"] / 1000,
            pid=told.get("pid"),
            program=_name(told, "program"),
            choices=tuple(_item(choice) for choice in told.get("choices", [])),
            context=tuple((_item(pair["key"]), _item(pair["value"])) for pair in told.get("context", [])),
            default=_name(told, "default"),
            boot=boot,
        )


@dataclass(frozen=True)
class Event:
    """Something that happened: its ``number`` in this boot, its ``kind``, the process where there is one, and all of
    its ``fields``, as ``docs/host.md`` lists them."""

    number: int
    kind: str
    name: Name
    pid: Optional[int]
    fields: Mapping[str, Any]
    boot: Optional[str] = field(default=None, compare=False)

    @classmethod
    def _of(cls, told: Mapping[str, Any], boot: Optional[str]) -> Event:
        return cls(told["number"], told["kind"], _needed(told, "name"), told.get("pid"), told, boot)


@dataclass(frozen=True)
class EventsLost:
    """``count`` events, from this number on, that nobody can tell any more."""

    first: int
    count: int
    boot: Optional[str] = field(default=None, compare=False)


def find_socket(named: Union[str, os.PathLike, None] = None) -> Path:
    """The hub's socket: the one named, else the one in ``ASKR_SOCKET``, else that of ``cargo run`` in the checkout that
    this file or the working directory lies in."""
    if named or os.environ.get("ASKR_SOCKET"):
        return Path(named or os.environ["ASKR_SOCKET"])
    for start in (Path(__file__).resolve(), Path.cwd() / "_"):
        for folder in start.parents:
            if (folder / "target/askr/agent.sock").exists():
                return folder / "target/askr/agent.sock"
    raise NoHub("no hub is running: start a guest with `cargo run`, or name the socket of another hub in ASKR_SOCKET")


def connect(path: Union[str, os.PathLike, None] = None, *, timeout: float = REPLY_MAX) -> Guest:
    """Connects to the hub at this socket, or at the one that :func:`find_socket` finds. No call waits longer than
    ``timeout`` for its reply; all have deadlines of their own in hub and guest, so it is for a hub that hangs."""
    path = find_socket(path)
    try:
        return Guest(_connected(path), timeout)
    except OSError as error:
        raise NoHub(f"no hub is running at {path} ({error}): start a guest with `cargo run`") from error


class _Lines:
    """Lines of JSON on a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._buffer = connection, bytearray()

    def send(self, value: Mapping[str, Any], give_up: float) -> None:
        line = json.dumps(value).encode("ascii") + b"\n"
        with _losing():
            try:
                self._connection.settimeout(_left(give_up))
                self._connection.sendall(line)
            except BrokenPipeError:
                # The hub has ended it, and may have said why.
                pass
            except BaseException:
                # A line that was sent in part is one that the next cannot follow.
                self.close()
                raise

    def receive(self, give_up: float) -> Optional[Mapping[str, Any]]:
        """The next line; ``None`` if it does not come until then. What is there counts, whatever the time."""
        seen = 0
        while (end := self._buffer.find(b"\n", seen)) < 0:
            seen = len(self._buffer)
            with _losing():
                self._connection.settimeout(_left(give_up))
                try:
                    piece = self._connection.recv(1 << 16)
                except socket.timeout:
                    return None
            if not piece:
                raise ConnectionLost("the hub ended: has the guest been stopped?")
            self._buffer += piece
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            value = json.loads(line)
        except ValueError as error:
            raise ProtocolError("the hub's line is no JSON") from error
        if not isinstance(value, dict):
            raise ProtocolError("the hub's line is no JSON object")
        return value

    def close(self) -> None:
        self._connection.close()


class Guest:
    """The guest behind a hub; :func:`connect` makes one. Calls are made one after the other, by one thread: for two at
    once make two connections."""

    def __init__(self, connection: socket.socket, timeout: float) -> None:
        self.timeout = timeout
        self._lines, self._id = _Lines(connection), 0

    def __enter__(self) -> Guest:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection. What was asked for is carried out all the same."""
        self._lines.close()

    def call(self, op: str, **fields: Any) -> Mapping[str, Any]:
        """Any operation of ``docs/host.md``: ``call("fs.stat", path="/etc/motd")``. What it lists under ``ok``."""
        return self._reply(op, fields)[0]

    def _reply(self, op: str, fields: Mapping[str, Any]) -> Tuple[Mapping[str, Any], Optional[str]]:
        self._id += 1
        give_up = time.monotonic() + self.timeout
        self._lines.send({**fields, "op": op, "id": self._id}, give_up)
        while True:
            line = self._lines.receive(give_up)
            if line is None:
                raise NoReply(f"the hub did not reply within {self.timeout} seconds")
            number, boot = line.get("id"), line.get("boot")
            if isinstance(number, int) and number < self._id:
                # Of an earlier call that was not waited for.
                continue
            if isinstance(line.get("ok"), dict) and number == self._id:
                return line["ok"], boot
            error = line.get("error")
            if not isinstance(error, dict) or "code" not in error:
                raise ProtocolError("the hub's line is no reply")
            code = str(error["code"])
            told = code, str(error.get("message", "")), str(error.get("hint", "")), boot
            raise _ERRORS.get(code, HubError)(*told)

    def read(self, path: Name) -> bytes:
        """The bytes of a file."""
        content = b""
        while True:
            ok = self.call("fs.read", offset=len(content), **_named("path", path))
            with _reading():
                piece, goes_on = _content(ok), ok["truncated"]
            content += piece
            if not piece or not goes_on:
                return content

    def write(self, path: Name, content: Union[bytes, str]) -> None:
        """Makes this the content of a file, which is made if it is not there. It goes in pieces of 1 MiB: if a later one
        fails, those before it are there. To replace a file in one step write another one and call ``fs.rename``."""
        data = _bytes(content)
        self.call("fs.write", **_named("path", path), **_coded(data[:WRITE_PIECE]))
        for offset in range(WRITE_PIECE, len(data), WRITE_PIECE):
            piece = _coded(data[offset : offset + WRITE_PIECE])
            self.call("fs.write", offset=offset, **_named("path", path), **piece)

    def run(self, argv: Sequence[Name], **how: Any) -> Finished:
        """Runs a program to its end, a minute long unless it has another ``deadline``. One that ends badly is no error.
        Takes the keywords of :meth:`spawn`."""
        ok = self.call("proc.run", max=OUTPUT_MAX, **_program(argv, **how))
        return self._finished(ok)

    def spawn(self, argv: Sequence[Name], **how: Any) -> Job:
        """Starts a program, which goes on when this connection ends. Without a slash in its name it is looked for in
        ``/bin``. ``env`` is a mapping instead of ``PATH=/bin`` and ``HOME=/``, ``cwd`` where it starts, ``stdin`` what it
        reads instead of nothing, ``deadline`` the seconds after which the guest kills it and all that it started."""
        ok = self.call("proc.spawn", **_program(argv, **how))
        with _reading():
            return Job(ok["job"], ok["pid"])

    def wait(self, job: Job, wait: float = WAIT_MAX) -> Optional[Finished]:
        """Waits for the end of a program; ``None`` if it still runs after this time, ten minutes at most."""
        fields = {"job": job.job, "until": "exit", "max": OUTPUT_MAX, "wait_ms": _milliseconds(min(wait, WAIT_MAX))}
        ok = self.call("proc.wait", **fields)
        return None if ok.get("state") == "running" else self._finished(ok)

    def _finished(self, ok: Mapping[str, Any], again: bool = True) -> Finished:
        with _reading():
            finished = Finished._of(ok)
        # What was read while the program wrote may have gaps, and then ends before the first.
        if again and any(len(output.content) < output.total for output in (finished.out, finished.err)):
            fields = {"job": finished.job.job, "until": "exit", "max": OUTPUT_MAX, "wait_ms": 0}
            return self._finished(self.call("proc.wait", **fields), again=False)
        return finished

    def asks(self, wait: float = 0) -> List[Ask]:
        """The asks that wait for an answer: at once if there are any, else when one comes, within this time."""
        ok, boot = self._reply("asks.wait", {"wait_ms": _milliseconds(min(wait, WAIT_MAX))})
        with _reading():
            return [Ask._of(told, boot) for told in ok["asks"]]

    def answer(self, ask: Union[Ask, str], answer: Name) -> None:
        """Answers an ask. :class:`Late` when it was settled before; ``not_a_choice`` when it takes others only."""
        self.call("ask.answer", ask=_ask_name(ask), **_named("answer", answer))

    def refuse(self, ask: Union[Ask, str]) -> None:
        """Refuses an ask: its program gets EACCES."""
        self.call("ask.answer", ask=_ask_name(ask), refuse=True)

    def follow(self, *, asks: bool = True, events: bool = True) -> Follower:
        """Makes this the connection on which asks, events or both are told as they come. While it is open the built-in
        agent leaves the asks to it, if it is told them."""
        self.call("subscribe", asks=asks, events=events)
        return Follower(self._lines)


class Follower:
    """A connection that is told what happens: iterate over it, or ask for the :meth:`next` with a time. Take what comes:
    a hub disconnects whoever leaves a line unread for 5 seconds, or more than 1024 of them."""

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._lines.close()

    def next(self, wait: float) -> Union[Ask, Event, EventsLost, None]:
        """What comes next; ``None`` if that takes longer than ``wait``."""
        give_up = time.monotonic() + wait
        # A number is that of a call that was not waited for, whose reply comes only now.
        while isinstance((line := self._lines.receive(give_up) or {}).get("id"), int):
            pass
        if not line:
            return None
        with _reading():
            if "ask" in line:
                return Ask._of(line["ask"], line["boot"])
            if "event" in line:
                return Event._of(line["event"], line["boot"])
            return EventsLost(line["events_lost"]["from"], line["events_lost"]["count"], line["boot"])

    def __iter__(self) -> Iterator[Union[Ask, Event, EventsLost]]:
        """For ever: it ends with :class:`ConnectionLost`."""
        while True:
            told = self.next(WAIT_MAX)
            if told is not None:
                yield told


def _connected(path: Path) -> socket.socket:
    """Goes through the opened folder when the path is longer than a socket's address, and never blocks."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        if len(os.fsencode(path)) <= SUN_PATH_MAX:
            connection.connect(os.fspath(path))
            return connection
        folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            connection.connect(f"/proc/self/fd/{folder}/{path.name}")
        finally:
            os.close(folder)
        return connection
    except BaseException:
        connection.close()
        raise


@contextmanager
def _losing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConnectionLost(f"the connection to the hub broke: {error}") from error


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ProtocolError(f"the hub's line has another form: {error!r}") from error


def _left(give_up: float) -> float:
    """Zero would be another mode."""
    return max(give_up - time.monotonic(), 0.001)


def _printable(text: str) -> str:
    """On one line, with nothing that a terminal obeys."""
    return re.sub("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", "\ufffd", text)


def _bytes(value: Union[Name, os.PathLike]) -> bytes:
    value = os.fspath(value) if isinstance(value, os.PathLike) else value
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)


def _text(data: bytes) -> Optional[str]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _named(key: str, value: Name) -> Mapping[str, str]:
    """A name or a text for the hub: as text, or in base64 under the name that says so."""
    data = _bytes(value)
    text = _text(data)
    return {key: text} if text is not None else {key + "_base64": _base64(data)}


def _coded(data: bytes) -> Mapping[str, str]:
    """As text, if that is no longer in JSON: a control character takes six bytes there, and so do most others beyond ASCII."""
    text = _text(data)
    if text is not None and len(json.dumps(text)) <= len(data) * 4 // 3 + 8:
        return {"content": text, "encoding": "text"}
    return {"content": _base64(data), "encoding": "base64"}


def _content(ok: Mapping[str, Any]) -> bytes:
    if ok["encoding"] == "text":
        return ok["content"].encode()
    return base64.b64decode(ok["content"], validate=True)


def _name(told: Mapping[str, Any], key: str) -> Optional[Name]:
    coded = told.get(key + "_base64")
    return told.get(key) if coded is None else base64.b64decode(coded, validate=True)


def _needed(told: Mapping[str, Any], key: str) -> Name:
    name = _name(told, key)
    if name is None:
        raise KeyError(key)
    return name


def _item(value: Union[str, Mapping[str, str]]) -> Name:
    return value if isinstance(value, str) else base64.b64decode(value["base64"], validate=True)


def _ask_name(ask: Union[Ask, str]) -> str:
    return ask.ask if isinstance(ask, Ask) else ask


def _milliseconds(seconds: float) -> int:
    return max(round(seconds * 1000), 0)


def _words(key: str, words: Sequence[Name]) -> Mapping[str, List[str]]:
    data = [_bytes(word) for word in words]
    texts = [_text(word) for word in data]
    if None in texts:
        return {key + "_base64": [_base64(word) for word in data]}
    return {key: texts}


def _program(
    argv: Sequence[Name],
    *,
    env: Optional[Mapping[Name, Name]] = None,
    cwd: Optional[Name] = None,
    stdin: Optional[Name] = None,
    deadline: Optional[float] = None,
) -> Mapping[str, Any]:
    if isinstance(argv, (str, bytes)):
        raise TypeError("argv is a list: the program and its arguments")
    fields: dict = {"max_output": OUTPUT_MAX, **_words("argv", argv)}
    if env is not None:
        pairs = [_bytes(key) + b"=" + _bytes(value) for key, value in env.items()]
        fields.update(_words("env", pairs))
    for key, value in (("cwd", cwd), ("stdin", stdin)):
        if value is not None:
            fields.update(_named(key, value))
    if deadline is not None:
        # Zero would be none.
        fields["deadline_ms"] = max(_milliseconds(deadline), 1)
    return fields
