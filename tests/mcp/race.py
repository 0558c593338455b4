"""Has two MCP clients and a script of the hub's JSON lines race for asks of a running guest.

usage: race.py BRIDGE SOCKET auto|legacy

Prints the protocol version at the end.
"""

import asyncio
import json
import sys

from agent import PATIENCE, call, connect, until

LONG = PATIENCE * 1000
ROUNDS = 5


class Script:
    """`askr-bridge json`, as somebody's program would use it."""

    @classmethod
    async def start(cls, bridge, socket):
        self = cls()
        pipe = asyncio.subprocess.PIPE
        self.program = await asyncio.create_subprocess_exec(bridge, "json", "--socket", socket, stdin=pipe, stdout=pipe)
        return self

    async def ask(self, **request):
        self.program.stdin.write(json.dumps({"id": 1, **request}).encode() + b"\n")
        line = await asyncio.wait_for(self.program.stdout.readline(), PATIENCE)
        return json.loads(line)

    async def wait(self):
        return (await self.ask(op="asks.wait", wait_ms=LONG))["ok"]["asks"]

    async def answer(self, ask, text):
        reply = await self.ask(op="ask.answer", ask=ask, answer=text)
        return reply["ok"]["verdict"] if "ok" in reply else reply["error"]["code"]

    async def stop(self):
        self.program.stdin.close()
        assert await asyncio.wait_for(self.program.wait(), PATIENCE) == 0


class Agent:
    """An MCP client."""

    def __init__(self, client):
        self.client = client

    async def wait(self):
        return (await call(self.client, "asks_wait", wait_ms=LONG))["asks"]

    async def answer(self, ask, text):
        result = await self.client.call_tool("ask_answer", {"ask": ask, "answer": text})
        said = json.loads(result.content[0].text)
        return said["code"] if result.is_error else said["verdict"]


async def begin(client, *words):
    """A program that asks: its job, and how to wait for what it says."""
    job = (await call(client, "proc_spawn", argv=["ask", *words], wait=False))["job"]

    async def end():
        heard = await call(client, "proc_wait", job=job, wait_ms=1000)
        return heard["state"] != "running" and heard["stdout"]["content"]

    return lambda: until("the program's end", end)


async def one_wins(client, racers):
    waits = [asyncio.create_task(racer.wait()) for racer in racers]
    end = await begin(client, "-t", "300", "who?")
    # Each has it, whether it waited before or after.
    asks = await asyncio.gather(*waits)
    [ask] = {one["ask"] for asks in asks for one in asks}
    verdicts = await asyncio.gather(*(racer.answer(ask, f"racer {n}") for n, racer in enumerate(racers)))
    assert sorted(verdicts) == ["accepted", "late", "late"], verdicts
    assert await end() == f"answer: racer {verdicts.index('accepted')}\ndecided by: agent\n", verdicts


async def nobody_answers(client, racers):
    """The default comes at the deadline; whoever answers after it is late."""
    waits = [asyncio.create_task(racer.wait()) for racer in racers]
    end = await begin(client, "-t", "2", "-d", "by default", "who?")
    asks = await asyncio.gather(*waits)
    said = await end()
    assert said.startswith("answer: by default\ndecided by: default ("), said
    verdicts = [await racer.answer(asks[0][0]["ask"], "late") for racer in racers]
    assert verdicts == ["late"] * len(racers), verdicts


async def main():
    bridge, socket, mode = sys.argv[1:]
    async with connect(bridge, socket, mode) as one, connect(bridge, socket, mode) as two:
        await call(one, "guest_status", wait_ready_ms=LONG)
        script = await Script.start(bridge, socket)
        racers = [Agent(one), Agent(two), script]
        for _ in range(ROUNDS):
            await one_wins(one, racers)
            racers.append(racers.pop(0))
        await nobody_answers(one, racers)
        await script.stop()
        print(one.protocol_version)


asyncio.run(main())
