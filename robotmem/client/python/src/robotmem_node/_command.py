"""The command robotmem of a wheel: the program that the package carries."""

from __future__ import annotations

import os
import subprocess
import sys

from ._node import packaged


def main() -> None:
    """Becomes the program; on Windows, which has no exec, its parent."""
    program = packaged()
    if program is None:
        sys.exit("robotmem: this installation of robotmem-node has no program; install its wheel for this system again")
    command = [program, *sys.argv[1:]]
    if os.name != "nt":
        os.execv(program, command)

    with subprocess.Popen(command) as child:
        while True:
            try:
                sys.exit(child.wait())
            except KeyboardInterrupt:  # the program has it too, and ends
                continue
