"""A client for every verb of the bus on COM2, written from docs/protocol.md alone. Nothing but the standard library."""

import time
from typing import Callable, Iterable, Optional

import askr_frames as frames
from askr_frames import Reader, listed, long, u8, u32, u64
from askr_link import PATIENCE
from askr_session import Session, fault_facts

STAT, LIST, READ, WRITE, MKDIR, REMOVE, PS = range(0x0001, 0x0008)
STATS, POWER = 0x0102, 0x0106
RENAME, UNLINK, RMDIR, TRUNCATE, WRITE_AT, FSINFO, READDIR = range(0x0110, 0x0117)
SPAWN, WAIT, KILL, OUTPUT, INPUT, PS2 = range(0x0120, 0x0126)
UPTIME, TIME, MEMINFO, INFO = range(0x0130, 0x0134)


class Client(Session):
    """All verbs. The ones of the base work without `hello`, too."""

    # Files.

    def room(self) -> int:
        """Bytes that a payload may have beside the session head."""
        if self.session is None:
            return frames.BASE_PAYLOAD_MAX
        return self.payload_limit - frames.SESSION_HEAD.size

    def stat(self, path: bytes) -> dict:
        body = self.call(STAT, path)
        names = ("ftype", 1), ("mode", 2), ("uid", 4), ("gid", 4), ("size", 8), ("mtime", 8), ("atime", 8), ("ctime", 8)
        facts = {name: body.number(size) for name, size in names}
        body.end()
        return facts

    def list(self, path: bytes) -> list:
        entries: list = []
        while True:
            body = self.call(LIST, u32(len(entries)) + path)
            page = body.items(lambda item: (item.number(1), item.number(8), item.string(1)))
            body.end()
            if not page:
                return entries
            entries += page

    def read(self, path: bytes) -> bytes:
        """A whole file, piece after piece."""
        content = b""
        while True:
            piece = self.call(READ, u64(len(content)) + u32(0xFFFF_FFFF) + path).string(4)
            if not piece:
                return content
            content += piece

    def write(self, path: bytes, data: bytes, append: bool = False) -> int:
        return self.call(WRITE, u8(append) + long(path) + data).number(4)

    def ps(self) -> list:
        processes: list = []
        while True:
            body = self.call(PS, u32(len(processes)))
            page = body.items(lambda item: (*(item.number(size) for size in (4, 4, 1, 1)), item.string(1)))
            body.end()
            if not page:
                return processes
            processes += page

    def upload(self, path: bytes, content: bytes, sync: bool = False, start: int = 0) -> int:
        """Writes a large file from `start` on, as many pieces at a time as the window allows."""
        room = self.room() - 8 - 1 - 2 - len(path)

        def pieces() -> Iterable:
            for offset in range(start, max(len(content), 1), room):
                last = offset + room >= len(content)
                data = content[offset : offset + room]
                yield WRITE_AT, u64(offset) + u8(sync and last) + long(path) + data

        return sum(body.number(4) for body in self.call_all(pieces()))

    def download(self, path: bytes, size: int) -> bytes:
        room = self.room() - 1 - 4
        requests = ((READ, u64(offset) + u32(room) + path) for offset in range(0, size, room))
        return b"".join(body.string(4) for body in self.call_all(requests))

    def rename(self, old: bytes, new: bytes) -> None:
        self.call(RENAME, long(old) + new)

    def truncate(self, path: bytes, size: int) -> None:
        self.call(TRUNCATE, u64(size) + path)

    def fsinfo(self, path: bytes) -> dict:
        body = self.call(FSINFO, path)
        names = ("block_size", 4), ("blocks", 8), ("free", 8), ("name_max", 4), ("read_only", 1)
        facts = {name: body.number(size) for name, size in names}
        facts.update(kind=body.string(1), mount=body.string(1))
        body.end()
        return facts

    def readdir(self, path: bytes) -> list:
        entries, cursor = [], 0
        while True:
            body = self.call(READDIR, u64(cursor) + path)
            cursor = body.number(8)
            entries += body.items(lambda item: (*(item.number(size) for size in (1, 2, 8, 8)), item.string(1)))
            body.end()
            if cursor == 0:
                return entries

    # Jobs.

    def spawn(
        self,
        *argv: bytes,
        path: Optional[bytes] = None,
        stdin: int = 0,
        timeout_ms: int = 0,
        output_limit: int = 0,
        cwd: bytes = b"",
        env: Iterable = (),
        data: bytes = b"",
    ) -> tuple:
        """The numbers of the job and of its first process."""
        path = path or b"/bin/" + argv[0]
        words = listed([long(word) for word in argv]) + listed([long(word) for word in env])
        head = u8(stdin) + u32(timeout_ms) + u32(output_limit)
        body = self.call(SPAWN, head + long(path) + long(cwd) + words + data)
        job, pid = body.number(4), body.number(4)
        body.end()
        return job, pid

    def wait(self, job: int, wait_ms: int = 1000) -> dict:
        body = self.call(WAIT, u32(job) + u32(wait_ms))
        names = [("state", 1), ("cause", 1), ("code", 4), ("pid", 4), ("processes", 4), ("cpu_ns", 8)]
        names += [("out", 8), ("err", 8)]
        facts = {name: body.number(size) for name, size in names}
        facts["fault"] = fault_facts(body) if body.number(1) else None
        body.end()
        return facts

    def wait_end(self, job: int) -> dict:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            facts = self.wait(job)
            if facts["state"] != 0:
                return facts
        raise TimeoutError(f"job {job} runs still")

    def kill(self, target: int, number: int, signal: int) -> int:
        return self.call(KILL, u8(target) + u32(number) + u8(signal)).number(4)

    def output(self, job: int, stream: int, cursor: int = 0, wait_ms: int = 1000, most: int = 0xFFFF_FFFF) -> dict:
        body = self.call(OUTPUT, u32(job) + u8(stream) + u64(cursor) + u32(most) + u32(wait_ms))
        lost, total, ended = body.number(8), body.number(8), body.number(1)
        data = body.rest()
        return {"lost": lost, "total": total, "ended": ended, "data": data, "next": cursor + lost + len(data)}

    def output_until(self, job: int, stream: int, is_all: Callable[[bytes, dict], bool]) -> tuple:
        """Reads on until `is_all`: what came, and how much was lost."""
        data, cursor, lost = b"", 0, 0
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            piece = self.output(job, stream, cursor)
            data, cursor, lost = data + piece["data"], piece["next"], lost + piece["lost"]
            if is_all(data, piece):
                return data, lost
        raise TimeoutError(f"after {data!r}")

    def all_output(self, job: int, stream: int = 1) -> tuple:
        return self.output_until(job, stream, lambda _, piece: piece["ended"] and piece["next"] == piece["total"])

    def input(self, job: int, data: bytes, eof: bool = False) -> int:
        return self.call(INPUT, u32(job) + u8(eof) + data).number(4)

    def ps2(self) -> list:
        names = [(name, 4) for name in ("pid", "parent", "group", "job")]
        names += [("state", 1), ("origin", 1), ("code", 4), ("cpu_ns", 8), ("memory", 8), ("age_ns", 8)]

        def one(item: Reader) -> dict:
            return {**{name: item.number(size) for name, size in names}, "name": item.string(1)}

        processes: list = []
        while True:
            page = self.call(PS2, u32(processes[-1]["pid"] if processes else 0)).items(one)
            if not page:
                return processes
            processes += page

    # The system.

    def counters(self, code: int = STATS) -> dict:
        body = self.call(code)
        found = dict(body.items(lambda item: (item.string(1).decode(), item.number(8))))
        body.end()
        return found

    def info(self) -> dict:
        return dict(self.call(INFO).items(lambda item: (item.string(1).decode(), item.string(2))))

    def power(self, action: int) -> None:
        """Sends it; whether it is answered before the end is not certain."""
        self.post(POWER, u8(action))
