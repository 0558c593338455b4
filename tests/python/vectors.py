"""The page and the shared vectors against frames that were written from the page."""

import re

from askr_frames import Deframer, Frame, FrameError, cobs_encode, parse

TYPES = {"request": 1, "response": 2, "event": 3, "decision_req": 4, "decision_resp": 5}


def bytes_of(text: str, separator: str) -> bytes:
    """`XX*N` stands for N times the byte XX."""
    words = [word.partition("*") for word in text.split(separator) if word]
    return b"".join(bytes.fromhex(byte) * int(times or 1) for byte, _, times in words)


def expected(line: str) -> Frame:
    kind, *fields = line.split(" ")
    field = dict(field.split("=") for field in fields)
    session = bytes_of(field["session"], ",") if "session" in field else None
    payload, ext = bytes_of(field["payload"], ","), bytes_of(field.get("ext", ""), ",")
    return Frame(TYPES[kind], int(field["seq"], 16), int(field["code"], 16), payload, session, ext)


def shared_vectors(path: str) -> None:
    """Every vector gets its verdict, however the bytes are cut, and the exact ones are what is sent."""
    found: list = []
    with open(path, encoding="ascii") as file:
        for line in file.read().splitlines():
            word, _, rest = line.partition(" ")
            if word in ("exact", "stream"):
                found.append({"name": rest, "exact": word == "exact", "wire": b"", "verdicts": []})
            elif word == "wire":
                found[-1]["wire"] += bytes_of(rest, " ")
            elif word == "frame":
                found[-1]["verdicts"].append(expected(rest))
            elif word == "error":
                found[-1]["verdicts"].append(rest)
    assert len(found) > 70, len(found)
    for vector in found:
        wire = vector["wire"]
        for step in (1, 7, len(wire)):
            deframer = Deframer()
            pieces = [deframer.push(wire[at : at + step]) for at in range(0, len(wire), step)]
            verdicts = [str(one) if isinstance(one, FrameError) else one for piece in pieces for one in piece]
            assert verdicts == vector["verdicts"], (vector["name"], step, verdicts)
        if vector["exact"]:
            assert vector["verdicts"][0].wire() == wire, vector["name"]


def examples_of_the_page(path: str) -> None:
    """Every example is a frame, and is what this implementation would send."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    blocks = re.findall(r"^```(hex|wire) (\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    data = {(kind, name): bytes.fromhex(re.sub(r"#.*", "", body)) for kind, name, body in blocks}
    assert len(data) == len(blocks) > 80, len(blocks)
    for (kind, name), raw in data.items():
        if kind == "hex":
            assert parse(raw).raw() == raw, name
        else:
            assert b"\0" + cobs_encode(data["hex", name]) + b"\0" == raw, name
