"""Sessions: what HELLO says, at most once, cuts of the line."""

import os
import time

from askr_client import MKDIR, READ, REMOVE, STAT, WAIT, WRITE, Client
from askr_frames import REQUEST, RESPONSE, Frame, long, u8, u32, u64
from askr_link import Refused, Request, SessionLost
from askr_session import HELLO, hello_payload

BASE_VERBS = range(0x0001, 0x0008)


def append(path: bytes, data: bytes) -> bytes:
    return u8(1) + long(path) + data


def send_as(client: Client, frame: Frame) -> Request:
    """Sends a request with a number, a session or an ext that would not be its next ones."""
    request = Request(frame)
    with client.lock:
        client.outstanding[frame.seq] = request
        client._send(request)
    return request


def status_as(client: Client, frame: Frame) -> str:
    try:
        client.result(send_as(client, frame))
    except Refused as refused:
        return refused.status
    return "OK"


def next_number(client: Client) -> int:
    with client.lock:
        client.seq += 1
        return client.seq - 1


def session(com2: str) -> None:
    client = Client(com2)
    hello = client.hello()
    assert (hello.generation, hello.payload_limit, hello.window, hello.kernel) == (1, 4096, 8, b"askr"), hello
    assert 2 * hello.ping_ms < hello.lease_ms, hello
    assert set(BASE_VERBS) <= set(hello.verbs) and hello.verbs[0x0103] == 2, hello.verbs
    assert client.status(0x7777) == "ENOSYS"
    assert client.status(STAT, b"relative") == "EINVAL"
    assert client.status(STAT, b"/" * 1024) == "ENAMETOOLONG"
    assert client.status(STAT, b"/proc/version/x") == "ENOTDIR"
    assert client.status(HELLO) == "EINVAL", "within a session"
    client.ping()
    client.ping()
    assert client.uptime_ns > 0 and client.ping_known == client.ping_counter
    stats = client.counters()
    assert stats["sessions"] >= 1 and stats["pings"] >= 3, stats

    # The smaller of two limits holds.
    small = client.hello(payload_limit=1024, window=2)
    assert (small.payload_limit, small.window) == (1024, 2), small
    assert len(client.call(READ, u64(0) + u32(9999) + b"/bin/sh").string(4)) == 1024 - 10 - 1 - 4
    # Answered with an ext that nobody knows; a broken one is EINVAL.
    for ext, status in ((b"\xee\x02\0hi", "OK"), (b"\x01\xff\xff", "EINVAL")):
        frame = Frame(REQUEST, next_number(client), STAT, b"/", small.session, ext)
        assert status_as(client, frame) == status, ext
    client.close()


def stale(com2: str) -> None:
    client = Client(com2)
    nonce = os.urandom(16)
    first = client.hello(nonce)
    # A copy gets the same answer and resets nothing.
    copies = []
    for _ in range(2):
        frame = Frame(REQUEST, next_number(client), HELLO, hello_payload(nonce))
        copies.append(client.result(send_as(client, frame)).rest())
        client.ping()
    assert copies[0] == copies[1] and first.session in copies[0]
    second = client.hello()
    assert second.boot_id == first.boot_id and second.session != first.session
    # The old session, and one that never was: nothing is done.
    for other in (first.session, bytes(8)):
        frame = Frame(REQUEST, next_number(client), MKDIR, b"/tmp/stale", other)
        assert status_as(client, frame) == "ESTALE"
    assert client.status(STAT, b"/tmp/stale") == "ENOENT"
    # A copy of a HELLO whose session has ended ends nothing.
    frame = Frame(REQUEST, next_number(client), HELLO, hello_payload(nonce))
    assert status_as(client, frame) == "EINVAL"
    assert client.status(STAT, b"/") == "OK"
    client.close()


def at_most_once(com2: str) -> None:
    client = Client(com2)
    client.hello()
    # Every answer is lost once, and everything happens once.
    for number in range(12):
        client.lose[RESPONSE] = 1
        client.call(WRITE, append(b"/tmp/once", b"%d," % number))
    assert client.read(b"/tmp/once") == b"".join(b"%d," % number for number in range(12))
    # A window full of lost answers.
    client.lose[RESPONSE] = 8
    for _ in client.call_all((WRITE, append(b"/tmp/window", u8(number))) for number in range(40)):
        pass
    assert sorted(client.read(b"/tmp/window")) == list(range(40)), "in whatever order"
    for path in (b"/tmp/once", b"/tmp/window"):
        client.call(REMOVE, path)

    request = client.post(WRITE, append(b"/tmp/other", b"x"))
    client.result(request)

    def again(payload: bytes) -> str:
        return status_as(client, Frame(REQUEST, request.frame.seq, WRITE, payload, request.frame.session))

    assert again(request.frame.payload) == "OK"
    assert again(append(b"/tmp/other", b"y")) == "EINVAL", "its number was used with other bytes"
    for _ in range(8):
        client.stat(b"/")
    assert again(request.frame.payload) == "ESTALE", "too old to be known"
    assert client.read(b"/tmp/other") == b"x"
    client.call(REMOVE, b"/tmp/other")
    client.close()


def cut_line(com2: str) -> None:
    """The line is cut in the middle of requests; the session goes on over a new connection, and nothing is doubled."""
    client = Client(com2)
    client.hello()
    requests = []
    for number in range(40):
        if number % 10 == 5:
            requests.append(client.post(WRITE, append(b"/tmp/cut", u8(number))))
            client.cut()
            client.reconnect()
        else:
            requests.append(client.post(WRITE, append(b"/tmp/cut", u8(number))))
    for request in requests:
        client.result(request)
    assert sorted(client.read(b"/tmp/cut")) == list(range(40))
    client.call(REMOVE, b"/tmp/cut")
    # Another client takes the line meanwhile: the session is over, and what was not answered is unknown.
    client.cut()
    other = Client(com2)
    other.hello()
    other.close()
    try:
        client.reconnect()
        raise AssertionError("the session of somebody else")
    except SessionLost:
        pass
    client.hello()
    client.stat(b"/")
    client.close()


def full_window(com2: str) -> None:
    """As many waits as the window holds; one more request is EBUSY, and pings go on."""
    client = Client(com2)
    hello = client.hello()
    job, _ = client.spawn(b"sh", b"-c", b"while [ ! -e /tmp/go ]; do sleep 0.1; done; exit 7")
    waits = [client.post(WAIT, u32(job) + u32(600_000)) for _ in range(hello.window)]
    with client.lock:
        over = client._post(STAT, b"/")
        client._wait_for(lambda: over.answer is not None)
    assert over.answer.payload == b"\x06", "EBUSY"
    client.ping()
    assert all(request.answer is None for request in waits)
    # A base peer has places of its own.
    with client.lock:
        client.session = None
        go = client._post(WRITE, u8(0) + long(b"/tmp/go"))
        client.session = hello.session
    client.result(go)
    for request in waits:
        body = client.result(request)
        assert (body.number(1), body.number(1), body.number(4)) == (1, 0, 7)
    # EBUSY is not remembered: the same bytes again, once there is a place.
    with client.lock:
        over.answer = None
        client.outstanding[over.frame.seq] = over
        client._send(over)
    client.result(over)
    client.call(REMOVE, b"/tmp/go")
    client.close()


def another_boot(com2_before: str, com2_after: str) -> None:
    """The second socket is that of a guest that boots when the first has gone."""
    client = Client(com2_before)
    before = client.hello()
    client.write(b"/tmp/boot", b"first")
    client.power(1)
    deadline = time.monotonic() + 90
    while client.thread.is_alive() and time.monotonic() < deadline:
        client.thread.join(1)
    assert not client.thread.is_alive(), "the guest has started again"
    client.path = com2_after
    while not os.path.exists(com2_after):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    client.socket.close()
    try:
        client.reconnect()
        raise AssertionError("the session of another boot")
    except SessionLost:
        pass
    after = client.hello()
    assert after.boot_id != before.boot_id and after.session != before.session
    assert client.status(STAT, b"/tmp/boot") == "ENOENT"
    assert client.counters()["sessions"] == 1
    client.close()
