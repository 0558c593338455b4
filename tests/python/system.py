"""Facts about the system, its counters, and its processes."""

import time

from askr_client import INFO, MEMINFO, STATS, TIME, UPTIME, Client


def facts(com2: str) -> None:
    client = Client(com2)
    client.hello()
    first, second = client.call(UPTIME).number(8), client.call(UPTIME).number(8)
    assert 0 < first < second
    assert abs(client.call(TIME).number(8) / 1e9 - time.time()) < 120
    memory = client.counters(MEMINFO)
    assert all(isinstance(value, int) for value in memory.values()) and len(memory) >= 2, memory
    info = client.info()
    assert any(value.startswith(b"askr") or b"Askr" in value for value in info.values()), info
    for code in (UPTIME, TIME, MEMINFO, INFO, STATS):
        assert client.status(code, b"x") == "EINVAL", code
    processes = client.ps2()
    pids = [process["pid"] for process in processes]
    assert pids == sorted(pids), pids
    init = next(process for process in processes if process["pid"] == 1)
    assert (init["name"], init["parent"], init["job"], init["origin"]) == (b"init", 0, 0, 1), init
    assert all(process["age_ns"] > 0 for process in processes)
    client.close()
