"""Files: changes of one step, and large ones in a window."""

import hashlib
import random

from askr_client import MKDIR, READ, REMOVE, RENAME, RMDIR, STAT, TRUNCATE, UNLINK, WRITE_AT, Client
from askr_frames import long, u8, u32, u64

FOLDER = b"/tmp/py"


def changes(com2: str) -> None:
    client = Client(com2)
    client.hello()
    client.call(MKDIR, FOLDER)
    one, two, deep = FOLDER + b"/one", FOLDER + b"/two", FOLDER + b"/deep"
    client.write(one, b"new")
    client.write(two, b"old")
    client.rename(one, two)
    assert client.read(two) == b"new" and client.status(STAT, one) == "ENOENT"
    assert client.status(RENAME, long(one) + two) == "ENOENT"
    client.call(MKDIR, deep)
    assert client.status(RENAME, long(two) + deep) == "EISDIR"
    assert client.status(RENAME, long(deep) + two) == "ENOTDIR"
    client.rename(deep, FOLDER + b"/moved")

    client.call(WRITE_AT, u64(10) + u8(0) + long(two) + b"at ten")
    assert client.read(two) == b"new" + bytes(7) + b"at ten"
    client.call(WRITE_AT, u64(0) + u8(1) + long(two) + b"N")
    assert client.read(two).startswith(b"New\0")
    assert client.call(WRITE_AT, u64(0) + u8(1) + long(two)).number(4) == 0, "only a sync"
    client.truncate(two, 2)
    assert client.read(two) == b"Ne"
    client.truncate(two, 5)
    assert client.read(two) == b"Ne\0\0\0"
    assert client.status(TRUNCATE, u64(0) + one) == "ENOENT", "it makes no file"
    assert client.status(WRITE_AT, u64(0) + u8(2) + long(two)) == "EINVAL"
    assert client.status(TRUNCATE, u64(1 << 62) + two) in ("EFBIG", "ENOSPC")

    assert client.status(UNLINK, FOLDER + b"/moved") == "EISDIR"
    assert client.status(RMDIR, two) == "ENOTDIR"
    assert client.status(RMDIR, FOLDER) == "ENOTEMPTY"
    client.call(UNLINK, two)
    client.call(RMDIR, FOLDER + b"/moved")
    client.call(RMDIR, FOLDER)
    assert client.status(STAT, FOLDER) == "ENOENT"

    for code, payload in (
        (RENAME, long(b"/bin/sh") + b"/tmp/sh"),
        (RENAME, long(b"/etc/motd") + b"/bin/../bin/x"),
        (UNLINK, b"//bin/sh"),
        (RMDIR, b"/bin"),
        (TRUNCATE, u64(0) + b"/./bin/sh"),
        (WRITE_AT, u64(0) + u8(0) + long(b"/bin/x") + b"x"),
        (MKDIR, b"/bin/x"),
    ):
        assert client.status(code, payload) == "EPERM", (code, payload)
    client.close()


def directories(com2: str) -> None:
    client = Client(com2)
    client.hello()
    client.call(MKDIR, FOLDER)
    names = [b"%03d-" % number + b"n" * 100 for number in range(120)]
    for _ in client.call_all((WRITE_AT, u64(0) + u8(0) + long(FOLDER + b"/" + name) + name) for name in names):
        pass
    client.call(MKDIR, FOLDER + b"/folder")
    entries = client.readdir(FOLDER)
    found = {name: (ntype, mode, size) for ntype, mode, size, _, name in entries}
    assert len(found) == len(entries) == 121, len(entries)
    assert found[b"folder"][:2] == (2, 0o755), found[b"folder"]
    assert all(found[name] == (1, 0o644, 104) for name in names)
    assert {entry[4]: entry[0] for entry in client.readdir(b"/dev")}[b"null"] == 4
    assert client.status(0x0116, u64(0) + FOLDER + b"/" + names[0]) == "ENOTDIR"
    for name in names:
        client.call(UNLINK, FOLDER + b"/" + name)
    client.call(RMDIR, FOLDER + b"/folder")
    client.call(REMOVE, FOLDER)

    root, proc = client.fsinfo(b"/tmp"), client.fsinfo(b"/proc/version")
    assert root["mount"] == b"/" and root["read_only"] == 0 and root["name_max"] == 255, root
    assert 0 < root["free"] <= root["blocks"] and root["block_size"] > 0, root
    assert proc["mount"] == b"/proc" and (proc["kind"], proc["blocks"]) == (b"procfs", 0), proc
    client.close()


def large(com2: str) -> None:
    """A file of several hundred frames, up and down in a window, with cuts of the line."""
    client = Client(com2)
    client.hello()
    content = random.Random(1).randbytes(1 << 19) + bytes(range(256))
    path = b"/tmp/large"
    assert client.upload(path, content, sync=True) == len(content)
    assert client.stat(path)["size"] == len(content)
    assert digest(client.download(path, len(content))) == digest(content)
    assert client.call(READ, u64(len(content)) + u32(1) + path).string(4) == b""

    # A new client goes on where the guest's file ends.
    half = len(content) // 2
    client.truncate(path, 0)
    client.upload(path, content[:half])
    client.close()
    client = Client(com2)
    client.hello()
    at = client.stat(path)["size"]
    assert at == half
    assert client.upload(path, content, start=at) == len(content) - at
    assert digest(client.download(path, len(content))) == digest(content)
    client.call(UNLINK, path)
    client.close()


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
