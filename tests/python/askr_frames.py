"""Frames on COM2, written from docs/protocol.md alone. Nothing but the standard library."""

import struct
from dataclasses import dataclass
from typing import Optional

REQUEST, RESPONSE, EVENT, DECISION_REQ, DECISION_RESP = range(1, 6)
TYPES = range(REQUEST, DECISION_RESP + 1)
IN_SESSION = 0x80

BASE_PAYLOAD_MAX = 1024
SESSION_PAYLOAD_MAX = 4096
HEAD = struct.Struct("<BIHH")
SESSION_HEAD = struct.Struct("<8sH")
# Head, longest payload and checksum, and a COBS code byte for each 254 bytes begun.
RAW_MAX = HEAD.size + SESSION_PAYLOAD_MAX + 4
ENCODED_MAX = RAW_MAX + -(-RAW_MAX // 254)


class FrameError(Exception):
    """A broken frame; its text is the kind in the page's table."""


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE."""
    crc = 0xFFFF
    for byte in data:
        crc = ((crc << 8) & 0xFFFF) ^ CRC16_TABLE[(crc >> 8) ^ byte]
    return crc


def crc32c(data: bytes) -> int:
    """CRC-32C of RFC 3720, 12.1."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ CRC32C_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _crc16_entry(value: int) -> int:
    crc = value << 8
    for _ in range(8):
        crc = (crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1
    return crc & 0xFFFF


def _crc32c_entry(value: int) -> int:
    for _ in range(8):
        value = (value >> 1) ^ 0x82F63B78 if value & 1 else value >> 1
    return value


CRC16_TABLE = [_crc16_entry(value) for value in range(256)]
CRC32C_TABLE = [_crc32c_entry(value) for value in range(256)]


def cobs_encode(data: bytes) -> bytes:
    out = bytearray()
    runs = data.split(b"\0")
    for number, run in enumerate(runs):
        while len(run) >= 254:
            out += b"\xff" + run[:254]
            run = run[254:]
            if not run and number == len(runs) - 1:
                return bytes(out)
        out.append(len(run) + 1)
        out += run
    return bytes(out)


def cobs_decode(data: bytes) -> bytes:
    out = bytearray()
    at = 0
    while at < len(data):
        code = data[at]
        run = data[at + 1 : at + code]
        if len(run) != code - 1:
            raise FrameError("cobs")
        out += run
        at += code
        if code != 0xFF and at < len(data):
            out.append(0)
    return bytes(out)


@dataclass(frozen=True)
class Frame:
    kind: int
    seq: int
    code: int
    payload: bytes
    session: Optional[bytes] = None
    ext: bytes = b""

    def raw(self) -> bytes:
        """The frame with its checksum, before COBS."""
        if self.session is None:
            head = HEAD.pack(self.kind, self.seq, self.code, len(self.payload))
            body = head + self.payload
            return body + struct.pack("<H", crc16(body))
        payload = SESSION_HEAD.pack(self.session, len(self.ext)) + self.ext + self.payload
        head = HEAD.pack(self.kind | IN_SESSION, self.seq, self.code, len(payload))
        body = head + payload
        return body + struct.pack("<I", crc32c(body))

    def wire(self) -> bytes:
        """What is sent, with a delimiter before and after."""
        return b"\0" + cobs_encode(self.raw()) + b"\0"


def parse(raw: bytes) -> Frame:
    """The frame that these bytes are, after COBS."""
    in_session = bool(raw) and bool(raw[0] & IN_SESSION)
    trailer = 4 if in_session else 2
    if len(raw) < HEAD.size + trailer:
        raise FrameError("short")
    body, checksum = raw[:-trailer], int.from_bytes(raw[-trailer:], "little")
    kind, seq, code, length = HEAD.unpack_from(body)
    payload = body[HEAD.size :]
    if len(payload) > (SESSION_PAYLOAD_MAX if in_session else BASE_PAYLOAD_MAX):
        raise FrameError("oversize")
    if length != len(payload):
        raise FrameError("length")
    if checksum != (crc32c(body) if in_session else crc16(body)):
        raise FrameError("crc")
    if kind & ~IN_SESSION not in TYPES:
        raise FrameError("type")
    if not in_session:
        return Frame(kind, seq, code, payload)
    if len(payload) < SESSION_HEAD.size:
        raise FrameError("length")
    session, ext_len = SESSION_HEAD.unpack_from(payload)
    rest = payload[SESSION_HEAD.size :]
    if ext_len > len(rest):
        raise FrameError("length")
    return Frame(kind & ~IN_SESSION, seq, code, rest[ext_len:], session, rest[:ext_len])


class Deframer:
    """Takes bytes as they come; gives frames and errors in order."""

    def __init__(self) -> None:
        self.pending = bytearray()
        self.skipping = False

    def push(self, data: bytes) -> list:
        out = []
        *ended, rest = bytes(data).split(b"\0")
        for piece in ended:
            self._take(piece, out)
            if self.pending and not self.skipping:
                try:
                    out.append(parse(cobs_decode(bytes(self.pending))))
                except FrameError as error:
                    out.append(error)
            self.pending.clear()
            self.skipping = False
        self._take(rest, out)
        return out

    def _take(self, piece: bytes, out: list) -> None:
        """What is over the limit is reported once and then skipped."""
        if self.skipping:
            return
        self.pending += piece
        if len(self.pending) > ENCODED_MAX + 1:
            out.append(FrameError("oversize"))
            self.skipping = True


class Reader:
    """Takes fields from the front of a payload."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        piece = self.data[self.at : self.at + count]
        if len(piece) != count:
            raise ValueError("the payload ends inside a field")
        self.at += count
        return piece

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def string(self, size_of_length: int) -> bytes:
        return self.take(self.number(size_of_length))

    def rest(self) -> bytes:
        return self.take(len(self.data) - self.at)

    def items(self, item) -> list:
        return [item(self) for _ in range(self.number(2))]

    def until_end(self, item) -> list:
        found = []
        while self.at < len(self.data):
            found.append(item(self))
        return found

    def end(self) -> None:
        if self.at != len(self.data):
            raise ValueError(f"{len(self.data) - self.at} bytes after the last field")


def u8(value: int) -> bytes:
    return value.to_bytes(1, "little")


def u16(value: int) -> bytes:
    return value.to_bytes(2, "little")


def u32(value: int) -> bytes:
    return value.to_bytes(4, "little")


def u64(value: int) -> bytes:
    return value.to_bytes(8, "little")


def long(text: bytes) -> bytes:
    """A string with a length of two bytes before it."""
    return u16(len(text)) + text


def listed(items: list) -> bytes:
    return u16(len(items)) + b"".join(items)
