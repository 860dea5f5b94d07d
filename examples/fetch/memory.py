"""The node: the one place that knows which client of robotmem is used."""

import contextlib
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import robotmem  # noqa: E402


@contextlib.contextmanager
def open_memory(program, file):
    """Start a node on a file, and give the client that asks it."""
    command = [program, "web", "--db", file, "--addr", "127.0.0.1:0"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
    try:
        address = child.stdout.readline().strip()  # printed once it can be asked
        if not address:
            raise SystemExit(f"{' '.join(command)} did not start: run it by hand to see why")
        yield robotmem.Robotmem(address)
    finally:
        child.terminate()
        child.wait(30)
        child.stdout.close()
