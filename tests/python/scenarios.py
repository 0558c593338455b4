"""What an independent client does with a guest. `scenarios.py NAME ARGUMENT...` runs one scenario and says "ok".

The test in main.rs boots the guest and types at its shell what a scenario's docstring asks for.
"""

import signal
import sys

import base
import files
import jobs
import sessions
import system
import talk
import vectors

# Seconds after which a scenario ends, whatever it waits for.
LONGEST = 600

MODULES = vectors, base, sessions, files, jobs, system, talk


def main() -> None:
    signal.alarm(LONGEST)
    name, *arguments = sys.argv[1:]
    for module in MODULES:
        if hasattr(module, name):
            getattr(module, name)(*arguments)
            print("ok")
            return
    sys.exit(f"there is no scenario {name}")


main()
