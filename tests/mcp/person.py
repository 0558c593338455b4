"""Has the person at an MCP client answer what programs of a running guest ask.

usage: person.py BRIDGE SOCKET auto|legacy

Prints the protocol version at the end.
"""

import asyncio
import sys

from mcp.types import ElicitResult

from agent import PATIENCE, call, code, connect, until

LONG = PATIENCE * 1000
# Longer than the scripts take.
ASK = ["ask", "-t", "300"]


class Person:
    """Does with each form what is said in advance, and keeps what it saw."""

    def __init__(self):
        self.seen, self.plans, self.before = [], [], None

    async def __call__(self, context, params):
        self.seen.append((params.message, params.requested_schema["properties"]["answer"]))
        if self.before:
            await self.before()
        plan = self.plans.pop(0)
        if plan in ("decline", "cancel"):
            return ElicitResult(action=plan)
        return ElicitResult(action="accept", content={"answer": plan})

    def will(self, *plans):
        self.seen, self.plans, self.before = [], list(plans), None


async def run(client, *words, **more):
    """Runs `ask` with the person at hand: its output, and what came of its asks."""
    ran = await call(client, "proc_spawn", argv=[*ASK, *words], ask_person=True, **more)
    return ran["stdout"]["content"], [told["verdict"] for told in ran.get("person", [])]


async def while_a_program_runs(client, person):
    person.will("of course")
    assert await run(client, "may I?") == ("answer: of course\ndecided by: agent\n", ["accepted"])
    [(message, form)] = person.seen
    assert message.startswith("Process ") and "\n> ask\n\nasks:\n\n> may I?\n" in message, message
    assert form == {"type": "string", "title": "Answer", "maxLength": 4096}, form

    person.will("go")
    words = ["-c", "stay", "-c", "go", "-k", "weather=\x1b[31mstorm", "-d", "stay", "stay or go?"]
    assert await run(client, *words) == ("answer: go\ndecided by: agent\n", ["accepted"])
    [(message, form)] = person.seen
    assert form["enum"] == ["stay", "go"] and "default" not in form, form
    assert "> weather: \\x1b[31mstorm\n" in message and message.endswith("it takes\n\n> stay\n"), message

    # Two choices that look the same where they are not told apart by escapes.
    person.will("a\\x1b")
    words = ["-c", "a\x1b", "-c", "a\\x1b", "which?"]
    assert await run(client, *words) == ("answer: a\\u{1b}\ndecided by: agent\n", ["accepted"])
    assert person.seen[0][1]["enum"] == ["a\\x1b", "a\\\\x1b"], person.seen

    # What is none of the choices is not taken, and the ask is not put again.
    person.will("perhaps")
    late = await call(client, "proc_spawn", argv=["ask", "-t", "2", "-c", "yes", "-d", "yes", "?"], ask_person=True)
    assert [(told["verdict"], told["code"]) for told in late["person"]] == [("failed", "not_a_choice")], late
    assert late["stdout"]["content"].startswith("answer: yes\ndecided by: default"), late

    person.will("one", "two")
    both = ["sh", "-c", "ask -t 300 first; ask -t 300 second"]
    ran = await call(client, "proc_spawn", argv=both, ask_person=True)
    assert ran["stdout"]["content"] == "answer: one\ndecided by: agent\nanswer: two\ndecided by: agent\n", ran
    assert [told["answer"] for told in ran["person"]] == ["one", "two"], ran


async def who_does_not_decide(client, person, other):
    """The ask goes on to others, and to its default."""
    person.will("decline")
    words = ["ask", "-t", "2", "-d", "no", "may I?"]
    ran = await call(client, "proc_spawn", argv=words, ask_person=True)
    assert ran["stdout"]["content"].startswith("answer: no\ndecided by: default"), ran
    assert [told["verdict"] for told in ran["person"]] == ["declined"], ran

    person.will("cancel")
    task = asyncio.create_task(run(client, "may I?"))
    asks = (await call(other, "asks_wait", wait_ms=LONG))["asks"]
    await until("the person", lambda: settled(person))
    await call(other, "ask_answer", ask=asks[0]["ask"], answer="by another")
    assert await task == ("answer: by another\ndecided by: agent\n", ["cancelled"])


async def settled(person):
    return not person.plans


async def who_is_late(client, person, other):
    async def other_is_first():
        ask = (await call(other, "asks_wait", wait_ms=0))["asks"][0]
        await call(other, "ask_answer", ask=ask["ask"], answer="first")

    person.will("second")
    person.before = other_is_first
    assert await run(client, "may I?") == ("answer: first\ndecided by: agent\n", ["late"])


async def what_waits_is_put(client, person, other):
    started = await call(client, "proc_spawn", argv=[*ASK, "may I?"], wait=False)
    person.will("by asks_wait")
    waited = await call(client, "asks_wait", ask_person=True, wait_ms=LONG)
    assert [told["verdict"] for told in waited["person"]] == ["accepted"] and waited["total"] == 0, waited
    heard = await ended(client, started)
    assert heard == "answer: by asks_wait\ndecided by: agent\n", heard

    # A choice that does not stand for itself is given back as it came.
    started = await call(client, "proc_spawn", argv=[*ASK, "-c", "a\x1b", "-c", "b\\n", "which?"], wait=False)
    ask = (await call(client, "asks_wait", wait_ms=LONG))["asks"][0]
    assert (ask["choices"], ask["choices_encoding"]) == (["a\\x1b", "b\\\\n"], "escaped"), ask
    assert await code(client, "ask_answer", ask=ask["ask"], answer=ask["choices"][1]) == "not_a_choice"
    await call(client, "ask_answer", ask=ask["ask"], answer=ask["choices"][1], answer_encoding="escaped")
    assert await ended(client, started) == "answer: b\\n\ndecided by: agent\n"

    started = await call(client, "proc_spawn", argv=[*ASK, "may I?"], wait=False)
    ask = (await call(client, "asks_wait", wait_ms=LONG))["asks"][0]["ask"]
    person.will("by ask_answer")
    answered = await call(client, "ask_answer", ask=ask, ask_person=True)
    assert (answered["verdict"], answered["answer"]) == ("accepted", "by ask_answer"), answered
    assert await ended(client, started) == "answer: by ask_answer\ndecided by: agent\n"
    assert await code(client, "ask_answer", ask=ask, ask_person=True) == "late"
    assert await code(other, "asks_wait", ask_person=True) == "cannot_ask", "this one shows no forms"


async def ended(client, job):
    async def heard():
        heard = await call(client, "proc_wait", job=job["job"], wait_ms=1000)
        return heard["state"] != "running" and heard["stdout"]["content"]

    return await until("its end", heard)


async def ends_with_the_call(client, reconnect):
    """A program whose ask the person has before them ends when the call is cancelled, and when the client goes."""

    async def nobody_asks():
        listed = (await call(client, "proc_list"))["processes"]
        return all(process["name"] != "ask" or process["state"] == "zombie" for process in listed)

    async def never():
        await asyncio.sleep(PATIENCE)

    for goes in [False, True]:
        person = Person()
        person.will("never")
        person.before = never
        async with reconnect(person) as leaving:
            task = asyncio.create_task(run(leaving, "may I?", timeout_ms=590000))

            async def is_seen():
                return person.seen

            await until("the form", is_seen)
            assert not await nobody_asks()
            # Since 2026-07-28 no call is under way while the person thinks, so there is none to cancel.
            if not goes and leaving.protocol_version < "2026":
                task.cancel()
                await until("the end of what was cancelled", nobody_asks)
        await until("the end of what nobody waits for", nobody_asks)
        task.cancel()


async def main():
    bridge, socket, mode = sys.argv[1:]

    def reconnect(person):
        return connect(bridge, socket, mode, elicitation_callback=person)

    person = Person()
    async with reconnect(person) as client:
        async with connect(bridge, socket, mode) as other:
            await call(client, "guest_status", wait_ready_ms=LONG)
            await while_a_program_runs(client, person)
            await who_does_not_decide(client, person, other)
            await who_is_late(client, person, other)
            await what_waits_is_put(client, person, other)
            await ends_with_the_call(client, reconnect)
            print(client.protocol_version)


asyncio.run(main())
