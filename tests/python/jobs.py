"""Programs: how they start, what they read and write, how they end."""

from askr_client import KILL, SPAWN, STAT, WAIT, OUTPUT, INPUT, Client
from askr_frames import listed, long, u8, u32, u64

EXITED, SIGNALLED = 1, 2
ITSELF, DEADLINE, KILLED = 0, 1, 2
PROCESS, TREE, JOB = 0, 1, 2
SIGKILL, SIGSEGV, SIGTERM = 9, 11, 15


def spawn_payload(path: bytes, *argv: bytes, stdin: int = 0, cwd: bytes = b"", data: bytes = b"") -> bytes:
    words = listed([long(word) for word in argv]) + listed([])
    return u8(stdin) + u32(0) + u32(0) + long(path) + long(cwd) + words + data


def ends(client: Client, job: int) -> tuple:
    facts = client.wait_end(job)
    return facts["state"], facts["cause"], facts["code"]


def programs(com2: str) -> None:
    client = Client(com2)
    client.hello()
    job, pid = client.spawn(b"echo", b"a b", b"", b"c")
    assert ends(client, job) == (EXITED, ITSELF, 0)
    assert client.all_output(job) == (b"a b  c\n", 0)
    assert client.all_output(job, 2) == (b"", 0)
    facts = client.wait(job)
    assert (facts["pid"], facts["out"], facts["err"], facts["processes"]) == (pid, 7, 0, 0), facts

    # Both outputs apart; environment, working directory and exit code.
    script = b'echo "$X $(cat)"; echo oops >&2; ls known; exit 3'
    client.write(b"/tmp/known", b"")
    job, _ = client.spawn(
        b"sh", b"-c", script, cwd=b"/tmp", env=[b"X=from the environment", b"PATH=/bin"], stdin=1, data=b"given\n"
    )
    assert ends(client, job) == (EXITED, ITSELF, 3)
    assert client.all_output(job) == (b"from the environment given\nknown\n", 0)
    assert client.all_output(job, 2) == (b"oops\n", 0)

    for path, status in ((b"/nothing", "ENOENT"), (b"/tmp/known", "EACCES"), (b"/tmp", "EACCES")):
        assert client.status(SPAWN, spawn_payload(path, b"x")) == status, path
    client.write(b"/tmp/known", b"no program")
    for payload in (
        spawn_payload(b"/bin/true"),
        spawn_payload(b"bin/true", b"true"),
        spawn_payload(b"/bin/true", b"tr\0ue"),
        spawn_payload(b"/bin/true", b"true", stdin=3),
        spawn_payload(b"/bin/true", b"true", data=b"closed"),
    ):
        assert client.status(SPAWN, payload) == "EINVAL", payload
    assert client.status(SPAWN, spawn_payload(b"/bin/true", b"true", cwd=b"/nothing")) == "ENOENT"
    for code, payload in (
        (WAIT, u32(0xFFFF) + u32(0)),
        (OUTPUT, u32(0xFFFF) + u8(1) + u64(0) + u32(9) + u32(0)),
        (INPUT, u32(0xFFFF) + u8(0)),
        (KILL, u8(JOB) + u32(0xFFFF) + u8(9)),
        (KILL, u8(PROCESS) + u32(0xFFFF) + u8(9)),
    ):
        assert client.status(code, payload) == "ESRCH", (code, payload)
    assert client.status(KILL, u8(PROCESS) + u32(1) + u8(9)) == "EPERM", "process 1 is not for agents"
    assert client.status(OUTPUT, u32(job) + u8(1) + u64(1000) + u32(9) + u32(0)) == "EINVAL", "beyond the end"
    client.close()


def guarded(com2: str) -> None:
    """What a program does for an agent is done by an agent."""
    client = Client(com2)
    client.hello()
    job, _ = client.spawn(b"cp", b"/bin/sh", b"/bin/mine")
    assert ends(client, job)[:2] == (EXITED, ITSELF) and client.wait(job)["code"] != 0
    assert client.status(STAT, b"/bin/mine") == "ENOENT"
    client.close()


def conversation(com2: str) -> None:
    """Input and output while it runs."""
    client = Client(com2)
    client.hello()
    job, _ = client.spawn(b"cat", stdin=2, data=b"first\n", output_limit=1 << 20)
    assert client.output_until(job, 1, lambda data, _: data.endswith(b"\n"))[0] == b"first\n"
    # Nothing to read yet: the answer comes when the time is over, and other requests are not held up.
    assert client.output(job, 1, 6, wait_ms=0)["data"] == b""
    waiting = client.post(OUTPUT, u32(job) + u8(1) + u64(6) + u32(99) + u32(60_000))
    client.stat(b"/")
    assert waiting.answer is None
    assert client.input(job, b"second\n") == 7
    body = client.result(waiting)
    assert (body.number(8), body.number(8), body.number(1), body.rest()) == (0, 13, 0, b"second\n")
    assert client.wait(job, 0)["state"] == 0
    # It may take fewer bytes than there are, if they are not read; cat reads them all.
    content, at = bytes(range(256)) * 300, 0
    while at < len(content):
        at += client.input(job, content[at : at + 3000], eof=False)
    assert client.input(job, b"", eof=True) == 0
    data, lost = client.all_output(job)
    assert (data[13:], lost) == (content, 0)
    assert ends(client, job) == (EXITED, ITSELF, 0)
    client.close()


def ends_by_force(com2: str) -> None:
    client = Client(com2)
    client.hello()
    job, pid = client.spawn(b"spin")
    assert client.wait(job, 0)["state"] == 0
    process = next(process for process in client.ps2() if process["pid"] == pid)
    assert (process["job"], process["origin"], process["name"]) == (job, 2, b"spin"), process
    assert client.kill(PROCESS, pid, 0) == 1, "only looks"
    assert client.kill(PROCESS, pid, SIGTERM) == 1
    assert ends(client, job) == (SIGNALLED, KILLED, SIGTERM)

    # A tree of processes; all of them end.
    job, pid = client.spawn(b"sh", b"-c", b"sleep 600 & sleep 600 & echo ready; wait")
    client.output_until(job, 1, lambda data, _: data == b"ready\n")
    assert client.wait(job, 0)["processes"] == 3
    assert client.kill(TREE, pid, SIGKILL) == 3
    assert ends(client, job) == (SIGNALLED, KILLED, SIGKILL)

    # One that ignores SIGTERM, of a first process that has gone; the job is still whole.
    job, pid = client.spawn(b"sh", b"-c", b"(trap '' TERM; echo up; sleep 600) & exit 4")
    assert ends(client, job) == (EXITED, ITSELF, 4)
    client.output_until(job, 1, lambda data, _: data == b"up\n")
    assert client.wait(job, 0)["processes"] > 0
    assert client.kill(JOB, job, SIGKILL) > 0
    data, _ = client.all_output(job)
    assert data == b"up\n" and client.wait(job, 0)["processes"] == 0

    # The deadline ends the whole tree.
    job, _ = client.spawn(b"sh", b"-c", b"trap '' TERM; sleep 600 & sleep 600; exit 5", timeout_ms=700)
    assert ends(client, job) == (SIGNALLED, DEADLINE, SIGKILL)
    client.all_output(job)
    assert client.wait(job, 0)["processes"] == 0

    # A fault and what is known of it.
    job, pid = client.spawn(b"crash")
    facts = client.wait_end(job)
    assert (facts["state"], facts["cause"], facts["code"]) == (SIGNALLED, ITSELF, SIGSEGV), facts
    fault = facts["fault"]
    assert (fault["signal"], fault["vector"], fault["address"]) == (SIGSEGV, 14, 0), fault
    assert fault["rip"] > 0x1_0000 and fault["registers"]["rsp"] > fault["rip"], fault
    assert fault["backtrace"], fault
    client.close()


def much_output(com2: str) -> None:
    """More than is kept: the loss is counted, and the program does not stand still for it."""
    client = Client(com2)
    client.hello()
    job, _ = client.spawn(b"seq", b"200000", output_limit=5000)
    assert ends(client, job) == (EXITED, ITSELF, 0)
    whole = b"".join(b"%d\n" % number for number in range(1, 200_001))
    assert client.wait(job)["out"] == len(whole)
    data, lost = client.all_output(job)
    assert lost + len(data) == len(whole) and whole.endswith(data) and 0 < len(data) <= 5000, (lost, len(data))
    client.close()
