"""Drives `askr-bridge mcp` on a running guest with the MCP project's own Python client.

usage: sdk.py BRIDGE SOCKET auto|legacy

A program in the guest must be asking "may I?" already, or begin to. The client checks every result against the
schema of its tool. Prints the protocol version at the end.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

TOOLS = {"ask_answer", "asks_wait", "fs_list", "fs_read", "fs_stat", "guest_status", "proc_list"}
# Longest time for one call, in seconds. The machine that tests run on may be slow and busy.
PATIENCE = 90


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments, read_timeout_seconds=PATIENCE)
    assert not result.is_error, result
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def code(client, tool, **arguments):
    """The code of the error that a call must end with."""
    result = await client.call_tool(tool, arguments, read_timeout_seconds=PATIENCE)
    assert result.is_error, result
    return json.loads(result.content[0].text)["code"]


async def check(client, mode):
    assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
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
    server = StdioServerParameters(command=bridge, args=["mcp", "--socket", socket])
    async with Client(server, mode=mode) as client:
        await check(client, mode)
        print(client.protocol_version)


asyncio.run(main())
