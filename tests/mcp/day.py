"""A day of an agent with a guest, over `askr-bridge mcp`.

usage: day.py BRIDGE SOCKET auto|legacy PROGRAM

PROGRAM is the ELF of `tests/programs/visitor.c`. Prints the protocol version at the end.
"""

import asyncio
import base64
import json
import os
import subprocess
import sys

from mcp.types import ElicitResult

from agent import PATIENCE, call, code, connect, until

LONG = PATIENCE * 1000
# A program with another one.
SLEEP = ["sh", "-c", "sleep 1000; echo"]
# A program's name that would clear a terminal, and that is no text.
HOSTILE = "/tmp/\\x1b[2Jevil\\xff"


async def look_around(client):
    status = await call(client, "guest_status", wait_ready_ms=LONG)
    assert status["state"] == "ready", status
    entries = (await call(client, "fs_list", path="/"))["entries"]
    assert {"bin", "proc", "tmp"} <= {entry["name"] for entry in entries}, entries
    version = await call(client, "fs_read", path="/proc/version")
    assert version["content"].startswith("Askr version ") and version["boot"] == status["boot"], version
    return status["boot"]


async def bring(client, program):
    """Writes a program into the guest, makes it executable, and gives its path."""
    content = base64.b64encode(program).decode()
    await call(client, "fs_mkdir", path="/tmp/day")
    written = await call(client, "fs_write", path="/tmp/day/new", content=content, encoding="base64")
    assert written["written"] == len(program), written
    assert (await call(client, "fs_stat", path="/tmp/day/new"))["size"] == len(program)
    whole = await call(client, "fs_read", path="/tmp/day/new", length=len(program), encoding="base64")
    assert whole["content"] == content and not whole["truncated"]
    assert await code(client, "proc_spawn", argv=["/tmp/day/new"]) == "refused", "it is no program yet"
    await call(client, "fs_rename", **{"from": "/tmp/day/new", "to": "/tmp/day/visitor"})
    chmod = await call(client, "proc_spawn", argv=["chmod", "+x", "/tmp/day/visitor"])
    assert (chmod["state"], chmod["exit_code"], chmod["cause"]) == ("exited", 0, "itself"), chmod
    return "/tmp/day/visitor"


async def read_on(client, job, cursor, text):
    """Reads the output of a program from a cursor until it ends with `text`; all of it and the next cursor."""
    content = ""

    async def has_come():
        nonlocal content, cursor
        heard = await call(client, "proc_wait", job=job, cursor=cursor, wait_ms=1000)
        content, cursor = content + heard["stdout"]["content"], heard["next"]
        return content.endswith(text)

    await until(repr(text), has_come)
    return content, cursor


async def tell(client, job, line):
    taken = await call(client, "proc_input", job=job, data=f"{line}\n")
    assert (taken["accepted"], taken["truncated"]) == (len(line) + 1, False), taken


async def work_with(client, path):
    """Starts the program, talks with it, answers what it asks, and sees it crash. Gives its process."""
    last = (await call(client, "events_read"))["total"]
    started = await call(client, "proc_spawn", argv=[path, "one"], wait=False)
    assert started["state"] == "running", started
    job = started["job"]
    heard, cursor = await read_on(client, job, "0:0", "here\n")
    assert heard == "here\n", heard
    await tell(client, job, "hello")
    heard, cursor = await read_on(client, job, cursor, "hello!\n")
    assert heard == "hello!\n", heard

    await tell(client, job, "ask")
    asks = (await call(client, "asks_wait", wait_ms=LONG))["asks"]
    assert [ask["question"] for ask in asks] == ["stay or leave?"], asks
    ask = asks[0]
    assert (ask["choices"], ask["default"], ask["pid"]) == (["stay", "leave"], "leave", started["pid"]), ask
    storm = {"key": "weather", "value": "\\x1b[31mstorm\\x1b[0m", "encoding": "escaped"}
    assert ask["context"] == [storm], ask
    assert await code(client, "ask_answer", ask=ask["ask"], answer="perhaps") == "not_a_choice"
    await call(client, "ask_answer", ask=ask["ask"], answer="stay")
    assert await code(client, "ask_answer", ask=ask["ask"], answer="leave") == "late"
    heard, cursor = await read_on(client, job, cursor, "stay\n")
    assert heard == "agent says stay\n", heard

    await tell(client, job, "crash")
    end = await until("the crash", lambda: ended(client, job, cursor))
    assert (end["signal"], end["cause"]) == ("SEGV", "itself"), end
    assert await code(client, "proc_input", job=job, data="x") in ("failed", "not_found")
    fault = await find_fault(client, started["pid"], last)
    assert fault["fault"] == end["fault"], (fault, end)
    return fault


async def ended(client, job, cursor):
    heard = await call(client, "proc_wait", job=job, cursor=cursor, wait_ms=1000)
    return heard["state"] != "running" and heard


async def find_fault(client, pid, since):
    """The fault of a process, among the events from number `since` on."""
    cursor, seen = None, []

    async def look():
        nonlocal cursor
        more = {} if cursor is None else {"cursor": cursor}
        read = await call(client, "events_read", wait_ms=1000, **more)
        assert read["lost"] == 0, read
        cursor = read["next"]
        seen.extend(event for event in read["events"] if event["number"] >= since)
        return next((event for event in seen if event["kind"] == "fault" and event["pid"] == pid), None)

    return await until("the fault", look)


def check_fault(fault, binary):
    what = fault["fault"]
    assert (what["signal"], what["vector"], what["address"]) == ("SEGV", 14, "0x123000"), fault
    assert what["registers"]["rbx"] == "0x5eed", fault
    # The place in the source, as the prompt `debug_fault` says.
    words = ["addr2line", "-f", "-s", "-e", binary, what["rip"]]
    told = subprocess.run(words, capture_output=True, check=True, text=True).stdout
    function, file, line = told.replace(":", "\n").split()[:3]
    assert (function, file) == ("crash", "visitor.c"), told
    source = open(f"{os.path.dirname(__file__)}/../programs/visitor.c").read().splitlines()
    assert "0x123000" in source[int(line) - 1], told


async def long_output(client):
    numbers = "".join(f"{number}\n" for number in range(1, 5001))
    first = await call(client, "proc_spawn", argv=["seq", "1", "5000"])
    assert first["exit_code"] == 0 and first["stdout"]["truncated"], first
    assert first["stdout"]["total"] == len(numbers) and len(json.dumps(first)) <= 8192, first
    content, cursor, truncated = first["stdout"]["content"], first["next"], True
    while truncated:
        more = await call(client, "proc_wait", job=first["job"], cursor=cursor, wait_ms=0)
        assert more["stdout"]["lost"] == 0 and len(json.dumps(more)) <= 8192, more
        assert more["next"] != cursor, "it gets on"
        content, cursor, truncated = content + more["stdout"]["content"], more["next"], more["stdout"]["truncated"]
    assert content == numbers

    # More than the guest keeps: what is missing is counted.
    flood = await call(client, "proc_spawn", argv=["seq", "1", "200000"])
    had, lost, more = 0, 0, flood
    while more["stdout"]["truncated"]:
        had, lost = had + len(more["stdout"]["content"]), lost + more["stdout"]["lost"]
        more = await call(client, "proc_wait", job=flood["job"], cursor=more["next"], wait_ms=0)
    had, lost = had + len(more["stdout"]["content"]), lost + more["stdout"]["lost"]
    assert lost > 0 and had + lost == more["stdout"]["total"] == 1288895, (had, lost, more)


async def hostile_text(client):
    """A program whose name and output hold what a terminal obeys."""
    program = await call(client, "fs_read", path="/bin/crash", length=262144, encoding="base64")
    assert not program["truncated"], "the programs of the guest are smaller"
    name = {"path": HOSTILE, "path_encoding": "escaped"}
    await call(client, "fs_write", content=program["content"], encoding="base64", **name)
    names = (await call(client, "fs_list", path="/tmp"))["entries"]
    mine = [entry for entry in names if "evil" in entry["name"]]
    assert [(entry["name"], entry["name_encoding"]) for entry in mine] == [("\\x1b[2Jevil\\xff", "escaped")], names
    await call(client, "proc_spawn", argv=["chmod", "+x", HOSTILE], argv_encoding="escaped")
    last = (await call(client, "events_read"))["total"]
    assert await code(client, "proc_spawn", argv=[HOSTILE]) == "not_found", "taken as it is"
    crashed = await call(client, "proc_spawn", argv=[HOSTILE], argv_encoding="escaped")
    assert crashed["signal"] == "SEGV", crashed
    fault = await find_fault(client, crashed["pid"], last)
    assert (fault["name"], fault["name_encoding"]) == ("\\x1b[2Jevil\\xff", "escaped"), fault

    text = b"a\x1b]0;title\x07\xe2\x80\xae\r\nb\n"
    written = await call(client, "fs_write", path="/tmp/text", content=base64.b64encode(text).decode(), encoding="base64")
    assert written["written"] == len(text)
    shown = (await call(client, "proc_spawn", argv=["cat", "/tmp/text"]))["stdout"]
    assert (shown["content"], shown["encoding"]) == ("a\\x1b]0;title\\x07\\u{202e}\r\nb\n", "escaped"), shown
    echo = (await call(client, "proc_spawn", argv=["cat"], stdin="AP8K", stdin_encoding="base64"))["stdout"]
    assert (echo["content"], echo["encoding"]) == ("AP8K", "base64"), echo
    words = {"argv": ["sh", "-c", "echo $X; pwd"], "env": ["PATH=/bin", "X=a\\xff"], "cwd": "/tmp/d\\xfe"}
    await call(client, "fs_mkdir", path="/tmp/d\\xfe", path_encoding="escaped")
    said = (await call(client, "proc_spawn", argv_encoding="escaped", **words))["stdout"]
    assert base64.b64decode(said["content"]) == b"a\xff\n/tmp/d\xfe\n", said
    await call(client, "fs_remove", **name)
    assert await code(client, "fs_stat", **name) == "not_found"


async def sleepers(client):
    listed = (await call(client, "proc_list"))["processes"]
    return [process["pid"] for process in listed if process["name"] == "sleep" and process["state"] != "zombie"]


async def begin_sleep(client, watcher):
    """A call that waits for a program, once that runs: the task of it."""
    task = asyncio.create_task(call(client, "proc_spawn", argv=SLEEP))
    await until("the program", lambda: sleepers(watcher))
    return task


async def nobody_sleeps(client):
    return not await sleepers(client)


async def ends_of_calls(client, reconnect):
    """What waits for a program ends it: by a cancel, by going away, by its deadline."""
    (await begin_sleep(client, client)).cancel()
    await until("the end of what was cancelled", lambda: nobody_sleeps(client))
    async with reconnect() as other:
        left = await begin_sleep(other, client)
    await until("the end of what nobody waits for", lambda: nobody_sleeps(client))
    left.cancel()
    late = await call(client, "proc_spawn", argv=SLEEP, timeout_ms=500)
    assert (late["state"], late["signal"], late["cause"]) == ("signalled", "KILL", "deadline"), late
    assert await nobody_sleeps(client)
    stays = await call(client, "proc_spawn", argv=SLEEP, wait=False)
    await until("the program", lambda: sleepers(client))
    killed = await call(client, "proc_kill", job=stays["job"])
    assert killed["processes"] == 2, killed
    end = await until("its end", lambda: ended(client, stays["job"], stays["next"]))
    assert (end["signal"], end["cause"]) == ("TERM", "killed"), end


async def reboot(client, boot, fault):
    cursor = (await call(client, "events_read"))["next"]
    waiting = asyncio.create_task(code(client, "proc_spawn", argv=SLEEP))
    await until("the program", lambda: sleepers(client))
    assert (await call(client, "guest_power", action="reboot"))["boot"] == boot
    assert await waiting in ("guest_restarted", "outcome_unknown")

    boot = await new_boot(client, boot)
    assert await code(client, "events_read", cursor=cursor) == "guest_restarted"
    assert await code(client, "fs_stat", path="/tmp/day") == "not_found", "what was in memory is gone"
    hello = await call(client, "proc_spawn", argv=["echo", "good", "morning"])
    assert (hello["stdout"]["content"], hello["boot"]) == ("good morning\n", boot), hello
    assert all(event["kind"] != "fault" for event in (await call(client, "events_read"))["events"]), fault
    return boot


async def reboot_while_a_person_thinks(client, boot, reconnect):
    """The call ends with the boot that its program ran in; what has its number in the next one is left alone."""
    sees, answers = asyncio.Event(), asyncio.Event()

    async def person(context, params):
        sees.set()
        await answers.wait()
        return ElicitResult(action="accept", content={"answer": "late"})

    number = (await call(client, "proc_spawn", argv=["true"]))["job"] + 1
    async with reconnect(elicitation_callback=person) as asked:
        ask = ["ask", "-t", "300", "may I?"]
        task = asyncio.create_task(code(asked, "proc_spawn", argv=ask, ask_person=True))
        await sees.wait()
        await call(client, "guest_power", action="reboot")
        await new_boot(client, boot)
        jobs = [(await call(client, "proc_spawn", argv=["sleep", "1000"], wait=False))["job"] for _ in range(number)]
        assert jobs[-1] == number, jobs
        answers.set()
        assert await task in ("guest_restarted", "outcome_unknown")
    assert len(await sleepers(client)) == number
    for job in jobs:
        assert (await call(client, "proc_kill", job=job))["processes"] == 1
    await until("their end", lambda: nobody_sleeps(client))


async def new_boot(client, old):
    async def is_new():
        status = await call(client, "guest_status", wait_ready_ms=LONG)
        return status["ready"] and status["boot"] != old and status["boot"]

    return await until("the new boot", is_new)


async def main():
    bridge, socket, mode, binary = sys.argv[1:]
    program = open(binary, "rb").read()
    assert len(program) > 4096, "more than one frame"

    def reconnect(**more):
        return connect(bridge, socket, mode, **more)

    async with reconnect() as client:
        boot = await look_around(client)
        fault = await work_with(client, await bring(client, program))
        check_fault(fault, binary)
        await long_output(client)
        await hostile_text(client)
        await ends_of_calls(client, reconnect)
        boot = await reboot(client, boot, fault)
        await reboot_while_a_person_thinks(client, boot, reconnect)
        print(client.protocol_version)


asyncio.run(main())
