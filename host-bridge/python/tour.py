"""What a program on the host can do with a running guest. docs/sdk.md explains it."""

import askr

# At the socket of `cargo run`, or at the one that ASKR_SOCKET names.
with askr.connect() as guest:
    # Files are bytes.
    motd = guest.read("/etc/motd")
    guest.write("/tmp/copy", motd)
    print(f"/etc/motd has {len(motd)} bytes")

    # A program that ends badly is no error; a call that fails is one, with a code.
    finished = guest.run(["sh", "-c", "wc -c; exit 3"], stdin=motd)
    print(f"exit code {finished.exit_code}, it counts {finished.stdout.decode().strip()}")
    try:
        guest.read("/nothing")
    except askr.NotFound as error:
        print(f"{error.code}: {error}")

    # Another connection is told what happens, from now on.
    with askr.connect().follow() as follower:
        job = guest.spawn(["ask", "-t", "60", "may I?"])
        for told in follower:
            if isinstance(told, askr.Ask) and told.pid == job.pid:
                print(f"asked: {told.question}")
                guest.answer(told, "yes")
            elif isinstance(told, askr.Event) and told.pid == job.pid:
                print(f"event: {told.kind} of {told.name}")
                if told.kind == "exit":
                    break
    print(guest.wait(job).stdout.decode(), end="")
