"""Asks and events."""

from askr_client import Client
from askr_frames import DECISION_REQ, EVENT
from askr_session import ASK_FACTS


def asks(com2: str) -> None:
    client = Client(com2)
    client.hello()
    job, pid = client.spawn(b"ask", b"-t", b"600", b"may I?")
    ask = client.next_ask()
    assert (ask.code, ask.question, ask.choices, ask.default) == (0, b"may I?", [], None), ask
    assert ask.program == b"ask" and int.from_bytes(ask.ext[ASK_FACTS][:4], "little") == pid, ask
    client.ping()
    assert client.pending_asks == 1
    listed = client.list_asks()
    assert [(one.seq, one.question, one.program) for one in listed] == [(ask.seq, b"may I?", b"ask")], listed
    assert client.answer(ask.seq, b"yes, says python") == "accepted"
    assert client.answer(ask.seq, b"no") == "late"
    assert client.answer(0xFFFF_FFFF, b"no") == "unknown"
    data, _ = client.all_output(job)
    assert data == b"answer: yes, says python\ndecided by: agent\n", data
    assert client.wait_end(job)["code"] == 0

    job, _ = client.spawn(b"ask", b"-t", b"600", b"refuse me")
    assert client.answer(client.next_ask().seq, None) == "accepted"
    assert client.wait_end(job)["code"] == 1

    # An answer as in the base, in a frame of the session.
    job, _ = client.spawn(b"ask", b"-t", b"600", b"old way?")
    client.answer_as_base(client.next_ask(), b"yes")
    assert client.wait_end(job)["code"] == 0

    # Called off with its asker.
    job, _ = client.spawn(b"ask", b"-t", b"600", b"forget me")
    ask = client.next_ask()
    client.kill(2, job, 9)
    client.wait_end(job)
    assert client.answer(ask.seq, b"yes") == "late"
    assert client.list_asks() == []
    client.close()


def defaults(com2: str) -> None:
    client = Client(com2)
    client.hello()
    # Nobody answers; the program has a default.
    job, _ = client.spawn(b"ask", b"-t", b"1", b"-d", b"better not", b"delete it?")
    ask = client.next_ask()
    assert ask.default == b"better not", ask
    data, _ = client.all_output(job)
    assert data.startswith(b"answer: better not\ndecided by: default"), data
    assert client.answer(ask.seq, b"yes") == "late"

    client.close()


def choices(com2: str) -> None:
    client = Client(com2)
    client.hello()
    words = b"ask", b"-t", b"600", b"-c", b"yes", b"-c", b"no", b"-k", b"path=/tmp/log", b"-d", b"no", b"delete it?"
    job, _ = client.spawn(*words)
    ask = client.next_ask()
    assert (ask.choices, ask.context, ask.default) == ([b"yes", b"no"], {b"path": b"/tmp/log"}, b"no"), ask
    assert client.answer(ask.seq, b"maybe") == "not a choice"
    client.answer_as_base(ask, b"maybe")
    (listed,) = client.list_asks()
    assert (listed.question, listed.choices, listed.context) == (ask.question, ask.choices, ask.context), listed
    assert listed.default == b"no"
    assert client.answer(ask.seq, b"yes") == "accepted"
    data, _ = client.all_output(job)
    assert data == b"answer: yes\ndecided by: agent\n", data
    client.close()


def lost_ask(com2: str) -> None:
    """An ask that the line lost is noticed by the next ping; a new session is sent it again."""
    client = Client(com2)
    client.hello()
    client.lose[DECISION_REQ] = 1
    job, _ = client.spawn(b"ask", b"-t", b"600", b"later")
    first = client.next_ask()
    assert first.question == b"later" and client.lose[DECISION_REQ] == 0
    client.hello()
    with client.lock:
        client._wait_for(lambda: client.asks)
    again = client.next_ask()
    assert (again.seq, again.question) == (first.seq, b"later")
    assert client.answer(again.seq, b"done") == "accepted"
    assert client.wait_end(job)["code"] == 0
    client.close()


def lost_events(com2: str) -> None:
    """The line loses events, the last one too; all of them are seen, in order and once."""
    client = Client(com2)
    client.hello()
    first = client.next_event
    seen: list = []
    client.lose[EVENT] = 3
    job, pid = client.spawn(b"sh", b"-c", b"/bin/true; /bin/false; /bin/true; exit 6")
    client.next_happening(lambda event: seen.append(event) or (event.pid == pid and event.code == 2))
    # Nothing comes after these two: only a ping tells of them.
    client.lose[EVENT] = 2
    last, other = client.spawn(b"true")
    client.wait_end(last)
    client.next_happening(lambda event: seen.append(event) or (event.pid == other and event.code == 2))
    assert client.lose[EVENT] == 0
    assert [event.number for event in seen] == list(range(first, first + len(seen))), seen
    assert [(event.code, event.info) for event in seen if event.pid == pid] == [(1, 0), (2, 6)], seen
    client.close()


def events(com2: str) -> None:
    client = Client(com2)
    client.hello()
    start = client.next_event
    job, pid = client.spawn(b"crash")
    fault = client.next_happening(lambda event: event.code == 3)
    assert (fault.pid, fault.info, fault.name) == (pid, 14, b"crash"), fault
    assert fault.fault is not None and fault.fault == client.wait_end(job)["fault"], fault
    end = client.next_happening(lambda event: event.pid == pid)
    assert (end.code, end.info) == (2, 128 + 11), end
    lost, count, found = client.replay(start)
    assert lost == 0 and count >= start + 3, (lost, count)
    mine = [event.code for event in found if event.pid == pid]
    assert mine == [1, 3, 2], found
    assert next(event for event in found if event.code == 3) == fault
    assert client.replay(count) == (0, count, [])
    client.close()


def replay_after_a_cut(com2: str) -> None:
    client = Client(com2)
    client.hello()
    job, pid = client.spawn(b"sh", b"-c", b"for i in $(seq 40); do true; /bin/true; done; exit 9")
    begun = client.next_happening(lambda event: event.pid == pid and event.code == 1)
    client.cut()
    # More may have come before the cut than was looked at so far.
    before = begun.number + 1
    client.reconnect()
    seen = []
    client.next_happening(lambda event: seen.append(event) or (event.pid == pid and event.code == 2))
    numbers = [event.number for event in seen]
    assert numbers == list(range(before, before + len(numbers))), numbers
    assert sum(event.code == 1 and event.name == b"true" for event in seen) == 40, seen
    assert client.wait_end(job)["code"] == 9
    # All of this boot, from the first on, page by page; the kernel says how many it does not keep any more.
    cursor, total = 0, 0
    while True:
        lost, count, found = client.replay(cursor)
        assert lost == 0 or cursor == 0
        assert [event.number for event in found] == list(range(cursor + lost, cursor + lost + len(found)))
        cursor += lost + len(found)
        total += len(found)
        if cursor == count:
            break
    assert total >= 82, total
    client.close()
