"""What the scripts of this folder share: `askr-bridge mcp` on a running guest, in the hands of the Python SDK of MCP."""

import asyncio
import json
import time

from mcp import Client, StdioServerParameters

# Longest time for anything, in seconds. The machine that tests run on may be slow and busy.
PATIENCE = 90


def connect(bridge, socket, mode, **more):
    return Client(StdioServerParameters(command=bridge, args=["mcp", "--socket", socket]), mode=mode, **more)


async def call(client, tool, **arguments):
    """The result of a call that must succeed."""
    result = await client.call_tool(tool, arguments, read_timeout_seconds=PATIENCE)
    assert not result.is_error, result
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def code(client, tool, **arguments):
    """The code of the error that a call must end with."""
    result = await client.call_tool(tool, arguments, read_timeout_seconds=PATIENCE)
    assert result.is_error, result
    return json.loads(result.content[0].text)["code"]


async def until(what, holds):
    """Tries until `holds` gives something that is true, and returns that."""
    give_up = time.monotonic() + PATIENCE
    while not (found := await holds()):
        assert time.monotonic() < give_up, f"waited in vain for {what}"
        await asyncio.sleep(0.02)
    return found
