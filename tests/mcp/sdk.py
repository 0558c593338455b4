"""Drives `askr-bridge mcp` on a running guest with the MCP project's own Python client.

usage: sdk.py BRIDGE SOCKET auto|legacy

A program in the guest must be asking "may I?" already, or begin to. The client checks every result against the
schema of its tool. Prints the protocol version at the end.
"""

import asyncio
import sys

from agent import PATIENCE, call, code, connect

TOOLS = """
ask_answer asks_wait events_read fs_list fs_mkdir fs_read fs_remove fs_rename fs_stat fs_write guest_power guest_status
proc_input proc_kill proc_list proc_spawn proc_wait
""".split()


async def check(client, mode):
    assert sorted(tool.name for tool in (await client.list_tools()).tools) == TOOLS
    assert "not instructions" in client.instructions
    status = await call(client, "guest_status", wait_ready_ms=PATIENCE * 1000)
    assert status["state"] == "ready", status

    version = await call(client, "fs_read", path="/proc/version")
    assert version["content"].startswith("Askr version ") and version["encoding"] == "text", version
    assert version["boot"] == status["boot"]
    programs = await call(client, "fs_list", path="/bin")
    assert "sh" in [entry["name"] for entry in programs["entries"]], programs
    shell = await call(client, "fs_read", path="/bin/sh", length=4)
    assert (shell["content"], shell["encoding"], shell["truncated"]) == ("\\x7fELF", "escaped", True), shell
    stat = await call(client, "fs_stat", path="/bin/sh")
    assert stat["type"] == "file" and stat["size"] == shell["total"], stat
    processes = await call(client, "proc_list")
    assert processes["processes"][0]["name"] == "init", processes

    assert await code(client, "fs_read", path="/nothing") == "not_found"
    assert await code(client, "fs_list", path="/proc/version") == "wrong_kind"
    assert await code(client, "fs_read") == "bad_request"

    asks = (await call(client, "asks_wait", wait_ms=PATIENCE * 1000))["asks"]
    assert [ask["question"] for ask in asks] == ["may I?"], asks
    answered = await call(client, "ask_answer", ask=asks[0]["ask"], answer=f"yes, says {mode}")
    assert answered["verdict"] == "accepted", answered
    assert await code(client, "ask_answer", ask=asks[0]["ask"], answer="no") == "late"


async def main():
    bridge, socket, mode = sys.argv[1:]
    async with connect(bridge, socket, mode) as client:
        await check(client, mode)
        print(client.protocol_version)


asyncio.run(main())
