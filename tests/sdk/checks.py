"""What tests/sdk/python.rs checks of the Python client, against a guest whose hub ASKR_SOCKET names."""

import ast
import os
import socket
import sys
import tempfile
import threading
from pathlib import Path

import askr

EVERY = bytes(range(256))


def raises(kind, call, *arguments, **fields):
    try:
        call(*arguments, **fields)
    except kind as error:
        assert type(error) is kind, repr(error)
        return error
    raise AssertionError(f"no {kind.__name__}")


def bytes_are_exact():
    with askr.connect() as guest:
        long = EVERY * 8192 + b"\xe2\x82\xac"
        # A control character takes six bytes of JSON, and a line to the hub has room for four for each.
        zeros = bytes(1 << 20)
        for content in (b"", EVERY, "é€".encode(), "é€".encode()[:-1], b"\r\n\x00", zeros, long):
            guest.write(b"/tmp/\xff\n", content)
            assert guest.read(b"/tmp/\xff\n") == content
        names = [askr._name(entry, "name") for entry in guest.call("fs.list", path="/tmp")["entries"]]
        assert b"\xff\n" in names
        # As Python itself names such a file.
        assert guest.read(os.fsdecode(b"/tmp/\xff\n")) == long
        guest.call("fs.remove", path_base64="L3RtcC//Cg==")
        assert guest.run(["cat"], stdin=EVERY[:200]).stdout == EVERY[:200]
        shown = guest.run(["echo", b"\xfe", "é"], env={b"A": b"\xff"}).stdout
        assert shown == b"\xfe \xc3\xa9\n", shown


def programs_end_as_they_end():
    with askr.connect() as guest:
        ended = guest.run(["sh", "-c", "pwd; echo $A; echo bad >&2; exit 7"], cwd="/tmp", env={"A": "b", "PATH": "/bin"})
        assert (ended.exit_code, ended.signal, ended.cause) == (7, None, "itself")
        assert (ended.stdout, ended.stderr) == (b"/tmp\nb\n", b"bad\n")
        crashed = guest.run(["crash"])
        assert (crashed.exit_code, crashed.signal) == (None, "SEGV") and crashed.fault["signal"] == "SEGV"
        late = guest.run(["sleep", "1000"], deadline=0.2)
        assert late.cause == "deadline" and late.exit_code is None, late
        job = guest.spawn(["sleep", "1000"])
        assert guest.wait(job, 0.1) is None
        guest.call("proc.kill", job=job.job, signal="KILL")
        killed = guest.wait(job)
        assert (killed.signal, killed.cause, killed.job) == ("KILL", "killed", job), killed
        # More than the guest keeps: the end of it, and how much is missing.
        whole = "".join(f"{number}\n" for number in range(1, 300001)).encode()
        for much in (guest.run(["seq", "300000"]), guest.wait(guest.spawn(["seq", "300000"]))):
            assert (much.out.start, much.out.total) == (len(whole) - (1 << 20), len(whole))
            assert much.stdout == whole[much.out.start :] and not much.out.is_whole and much.err.is_whole


def errors_are_typed():
    with askr.connect() as guest:
        missing = raises(askr.NotFound, guest.read, "/tmp/no\x1b[2J")
        assert missing.code == "ENOENT" and "\x1b" not in str(missing) and missing.hint
        assert missing.boot == guest.call("status")["guest"]["boot"]
        assert raises(askr.HubError, guest.write, "/bin/ls", b"").code == "EPERM"
        assert raises(askr.HubError, guest.call, "nonsense").code == "unknown_op"
        assert raises(askr.HubError, guest.call, "fs.stat", path="/", colour="red").code == "bad_request"
        assert raises(askr.NotFound, guest.run, ["no-such-program"]).code == "ENOENT"
        raises(TypeError, guest.run, "ls -l")
        # A refusal leaves the connection as it was.
        assert guest.read("/proc/version").startswith(b"Askr ")
    raises(askr.NoHub, askr.connect, "/nonexistent/agent.sock")
    raises(askr.ConnectionLost, guest.read, "/etc/motd")


def asks_and_events():
    with askr.connect() as guest, askr.connect().follow() as follower:
        assert guest.asks() == []
        job = guest.spawn(["ask", "-t", "300", b"may I, \xff?"])
        asked = next(told for told in follower if isinstance(told, askr.Ask))
        assert (asked.question, asked.pid, asked.intent, asked.boot) == (
            b"may I, \xff?", job.pid, "generic", guest.call("status")["guest"]["boot"])
        assert 0 < asked.left <= 300
        assert guest.asks(60) == [asked] or guest.asks(60)[0].ask == asked.ask
        guest.answer(asked, "yes é")
        raises(askr.Late, guest.answer, asked, "no")
        assert guest.wait(job).stdout == "answer: yes é\ndecided by: agent\n".encode()
        refused = guest.spawn(["ask", "-t", "300", "and now?"])
        guest.refuse(guest.asks(60)[0])
        assert guest.wait(refused).exit_code != 0
        kinds = []
        for told in follower:
            if isinstance(told, askr.Event) and told.pid == refused.pid:
                kinds.append((told.kind, told.name))
                if told.kind == "exit":
                    break
        assert kinds == [("spawn", "ask"), ("exit", "ask")], kinds


def times_pass():
    with askr.connect().follow(asks=False) as follower:
        while follower.next(0.5) is not None:
            pass
    with askr.connect(timeout=60) as guest:
        job = guest.spawn(["sleep", "1000"])
        guest.timeout = 0.3
        raises(askr.NoReply, guest.wait, job, 3)
        guest.timeout = 60
        # What is asked next gets its own reply.
        assert guest.read("/proc/version").startswith(b"Askr ")
        guest.call("proc.kill", job=job.job)


def hubs_that_misbehave():
    def hub(folder, *lines):
        path = Path(folder) / "agent.sock"
        path.unlink(missing_ok=True)
        # Longer than the address of a socket may be.
        server = socket.socket(socket.AF_UNIX)
        here = os.getcwd()
        os.chdir(folder)
        server.bind("agent.sock")
        os.chdir(here)
        server.listen()

        def serve():
            connection, _ = server.accept()
            with server, connection, connection.makefile("rb") as requests:
                for line in lines:
                    requests.readline()
                    connection.sendall(line)

        threading.Thread(target=serve).start()
        return path

    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.join(folder, "d" * 150)
        os.mkdir(folder)
        for line in (b"nonsense\n", b"[]\n", b"{}\n", b'{"id":1,"ok":7}\n', b'{"id":null,"error":"x"}\n'):
            with askr.connect(hub(folder, line), timeout=30) as guest:
                raises(askr.ProtocolError, guest.call, "status")
        with askr.connect(hub(folder, b'{"id":1,"ok":{"content":"=","encoding":"base64"}}\n'), timeout=30) as guest:
            raises(askr.ProtocolError, guest.read, "/x")
        with askr.connect(hub(folder, b'{"id":1,"o'), timeout=30) as guest:
            raises(askr.ConnectionLost, guest.call, "status")
        full = b'{"boot":null,"id":null,"error":{"code":"too_many_clients","message":"m","hint":"h"}}\n'
        with askr.connect(hub(folder, full), timeout=30) as guest:
            assert raises(askr.HubError, guest.call, "status").code == "too_many_clients"
        # The reply to a call that was not waited for comes between what a follower is told.
        event = b'{"boot":"b","event":{"kind":"exit","name":"x","number":1,"pid":2}}\n'
        late = b'{"boot":"b","id":2,"ok":{}}\n{"boot":"b","id":1,"ok":{"asks":[]}}\n' + event
        with askr.connect(hub(folder, b"", late), timeout=0.2) as guest:
            raises(askr.NoReply, guest.asks, 60)
            guest.timeout = 30
            with guest.follow() as follower:
                assert follower.next(30).number == 1
                raises(askr.ConnectionLost, follower.next, 30)


def a_hub_that_closes_before_it_is_asked_has_said_why():
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/agent.sock")
        server.listen()
        with askr.connect(f"{folder}/agent.sock", timeout=30) as guest:
            with server.accept()[0] as full:
                full.sendall(b'{"boot":null,"id":null,"error":{"code":"too_many_clients","message":"m","hint":"h"}}\n')
            assert raises(askr.HubError, guest.call, "status").code == "too_many_clients"
            raises(askr.ConnectionLost, guest.call, "status")


def who_sent_half_a_line_sends_no_more():
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/agent.sock")
        server.listen()
        with askr.connect(f"{folder}/agent.sock", timeout=0.2) as guest:
            deaf, _ = server.accept()
            raises(askr.ConnectionLost, guest.write, "/x", bytes(1 << 20))
            deaf.settimeout(30)
            # Room for more.
            heard = deaf.recv(1 << 20)
            raises(askr.ConnectionLost, guest.call, "status")
        with deaf:
            heard += b"".join(iter(lambda: deaf.recv(1 << 16), b""))
            assert heard.startswith(b'{"path": "/x"') and b"status" not in heard and b"\n" not in heard


# What the page promises of old versions, as far as a newer one can tell.
ast.parse(Path(askr.__file__).read_text(encoding="utf-8"), feature_version=(3, 9))
globals()[sys.argv[1]]()
print("ok")
