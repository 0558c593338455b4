"""A client that never says HELLO."""

from askr_client import LIST, MKDIR, READ, REMOVE, SPAWN, STAT, STATS, WRITE, Client
from askr_frames import long, u8, u32, u64
from askr_link import PING


def base_files(com2: str) -> None:
    client = Client(com2)
    facts = client.stat(b"/proc/version")
    assert (facts["ftype"], facts["mode"], facts["uid"], facts["gid"]) == (1, 0o444, 0, 0), facts
    assert client.read(b"/proc/version").startswith(b"Askr version ")
    assert client.stat(b"/")["ftype"] == 2
    assert any(entry[2] == b"sh" for entry in client.list(b"/bin"))

    client.call(MKDIR, b"/tmp/base")
    assert client.status(MKDIR, b"/tmp/base") == "EEXIST"
    assert client.write(b"/tmp/base/f", b"first\n") == 6
    assert client.write(b"/tmp/base/f", b"second\n", append=True) == 7
    assert client.read(b"/tmp/base/f") == b"first\nsecond\n"
    assert client.write(b"/tmp/base/f", b"third\n") == 6
    assert client.read(b"/tmp/base/f") == b"third\n"
    assert client.stat(b"/tmp/base/f")["size"] == 6

    # Longer than a frame, every byte value.
    content = bytes(range(256)) * 12
    for at in range(0, len(content), 900):
        client.write(b"/tmp/base/long", content[at : at + 900], append=True)
    assert client.read(b"/tmp/base/long") == content
    piece = client.call(READ, u64(0) + u32(0xFFFF_FFFF) + b"/tmp/base/long").string(4)
    assert len(piece) == 1024 - 1 - 4, "what fits into one frame"
    assert client.call(READ, u64(1 << 40) + u32(9) + b"/tmp/base/long").string(4) == b""

    for number in range(20):
        client.write(b"/tmp/base/n%02d" % number, b"")
    names = [name for _, _, name in client.list(b"/tmp/base")]
    assert sorted(names) == sorted([b"f", b"long"] + [b"n%02d" % number for number in range(20)]), names
    body = client.call(LIST, u32(0) + b"/tmp/base")
    assert body.number(2) == 16, "at most 16 entries"

    assert client.status(REMOVE, b"/tmp/base") == "EINVAL", "ENOTEMPTY is no status of the base"
    for name in names:
        client.call(REMOVE, b"/tmp/base/" + name)
    client.call(REMOVE, b"/tmp/base")
    assert client.status(STAT, b"/tmp/base") == "ENOENT"
    client.close()


def base_errors(com2: str) -> None:
    client = Client(com2)
    for path in (b"/bin/sh", b"/bin/../bin/x", b"//bin/x", b"/./bin/x"):
        assert client.status(WRITE, u8(0) + long(path) + b"x") == "EPERM", path
        assert client.status(REMOVE, path) == "EPERM", path
    for code, payload in (
        (STAT, b"relative"),
        (STAT, b"/a\0b"),
        (STAT, b"/" * 1024),
        (STAT, b""),
        (READ, b"\0\0"),
        (WRITE, u8(2) + long(b"/tmp/x")),
        (WRITE, u8(0) + b"\xff\xff/tmp"),
        (0x7777, b""),
        (PING, u32(1)),
        (STATS, b""),
        (SPAWN, b""),
    ):
        assert client.status(code, payload) == "EINVAL", (code, payload)
    # A number that comes again is a new request.
    for _ in range(2):
        client.seq = 77
        client.write(b"/tmp/again", b"x", append=True)
    assert client.read(b"/tmp/again") == b"xx"
    client.call(REMOVE, b"/tmp/again")
    # What is broken gets no answer and costs nothing else.
    client.socket.sendall(b"\0noise\0\x05\x01\0" + b"\xaa" * 5000 + b"\0")
    processes = client.ps()
    assert processes[0][4] == b"init" and processes[0][0] == 1, processes
    assert all(state in (0, 1, 2, 3) and is_user == 1 for _, _, state, is_user, _ in processes)
    client.close()


def base_ask(com2: str) -> None:
    """Type `ask "may I?"` at the shell."""
    client = Client(com2)
    client.stat(b"/")
    ask = client.next_ask()
    assert (ask.code, ask.question, ask.ext) == (0, b"may I?", {}), ask
    assert ask.seq >= 0x8000_0000
    client.answer_as_base(ask, b"yes, says base")
    client.stat(b"/")
    client.close()


def base_events(com2: str) -> None:
    """Type `crash` at the shell."""
    client = Client(com2)
    client.stat(b"/")
    spawn = client.next_happening(lambda event: event.code == 1 and event.name == b"crash")
    fault = client.next_happening(lambda event: event.pid == spawn.pid)
    end = client.next_happening(lambda event: event.pid == spawn.pid)
    assert (fault.code, fault.aux, fault.info, fault.name) == (3, 0, 14, b"crash"), fault
    assert (end.code, end.aux, end.info, end.name) == (2, 0, 128 + 11, b"crash"), end
    assert spawn.aux != 0 and spawn.info == 0, spawn
    assert spawn.number < fault.number < end.number
    client.close()
