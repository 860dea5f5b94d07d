"""The program robotmem as a child process, and the address of one that already serves a file."""

from __future__ import annotations

import collections
import contextlib
import json
import logging
import os
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Any, NamedTuple

from ._errors import RobotmemError

log = logging.getLogger("robotmem_node")

PATIENCE = 15.0  # seconds that a node has to end


class Address(NamedTuple):
    """Where a node is, and what it asks for."""

    url: str
    token: str
    pid: int


def binary() -> str:
    """The path of the program robotmem: that of ROBOTMEM_BINARY, of this package, or of PATH.

    Raises RobotmemError (unavailable) if there is none.
    """
    name = "robotmem.exe" if os.name == "nt" else "robotmem"
    given = os.environ.get("ROBOTMEM_BINARY")
    if given:
        if os.access(given, os.X_OK):
            return given
        raise RobotmemError("unavailable", "ROBOTMEM_BINARY", "%s is no program that can be run" % given)
    own = packaged()
    if own is not None:
        return own
    found = shutil.which(name)
    if found is None:
        raise RobotmemError("unavailable", "", "this installation of robotmem-node has no program robotmem for %s on %s, and there is none on PATH; run `go install ./cmd/robotmem` in a clone of https://github.com/robotmem/robotmem-go, or set ROBOTMEM_BINARY to its path" % (sys.platform, _machine()))
    return found


def packaged() -> str | None:
    """The path of the program in this package, or None: the wheel for any system has none."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "robotmem.exe" if os.name == "nt" else "robotmem")
    if not os.path.exists(path):
        return None
    if not os.access(path, os.X_OK):  # some installers lose the mode
        os.chmod(path, 0o755)
    return path


def _machine() -> str:
    return os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "an unknown processor")


class Child:
    """A node that runs as long as this process: it ends when its standard input does, so also if the
    process is killed. A process that was forked from this one does not end it."""

    def __init__(self, file: str, port: int, options: list[str], timeout: float):
        token = secrets.token_urlsafe(24)
        command = [binary(), "web", "--db", file, "--addr", "127.0.0.1:%d" % port, "--until-stdin-ends", *options]
        environment = {**os.environ, "ROBOTMEM_TOKEN": token}
        for name in ("ROBOTMEM_URL", "ROBOTMEM_ADDR", "ROBOTMEM_DB"):  # flags say these
            environment.pop(name, None)
        try:
            self._process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                encoding="utf-8", errors="replace", start_new_session=os.name != "nt",  # Ctrl-C is for Python
            )
        except OSError as err:
            raise RobotmemError("unavailable", "", "%s cannot be started: %s" % (command[0], err)) from err
        self._owner = os.getpid()
        self._said: collections.deque[str] = collections.deque(maxlen=20)
        self._reader = threading.Thread(target=self._read, args=(self._process.stderr,), name="robotmem-log", daemon=True)
        self._reader.start()
        try:
            self.address = Address(self._first_line(file, timeout), token, self._process.pid)
            self._file = _address_file(file)
            self._publish()
        except BaseException:  # also Ctrl-C
            self.stop()
            raise

    def _read(self, stderr: IO[str]) -> None:
        for line in stderr:
            self._said.append(line.strip())
            log.info("%s", line.strip())

    def _first_line(self, file: str, timeout: float) -> str:
        """The address, which the node prints once it can be asked."""
        line: list[str] = []
        stdout = self._process.stdout
        assert stdout is not None
        reader = threading.Thread(target=lambda: line.append(stdout.readline()), daemon=True)
        reader.start()
        reader.join(timeout)
        if line and line[0].startswith("http"):
            return line[0].strip()
        if line:  # it ended
            self._process.wait(10)
            self._reader.join(1)
            said = [text.removeprefix("robotmem: ") for text in self._said if text.startswith("robotmem: ")] or [*self._said] or ["exit code %s" % self._process.returncode]
            raise RobotmemError("unavailable", "", "the node of %s did not start: %s" % (file, said[-1]))
        raise RobotmemError("unavailable", "", "the node was not ready after %g s (%s); a large file that is migrated needs longer: give start_timeout" % (timeout, " ".join(self._said) or "it said nothing"))

    def _publish(self) -> None:
        """Write the address beside the file, for other processes of this user."""
        temporary = None
        try:
            handle, temporary = tempfile.mkstemp(prefix=os.path.basename(self._file), dir=os.path.dirname(self._file))  # for this user alone
            with open(handle, "w", encoding="utf-8") as out:
                json.dump(self.address._asdict(), out)
            os.replace(temporary, self._file)
        except OSError as err:
            log.warning("other processes will not find this node: %s", err)
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.remove(temporary)

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """End the node and wait for it. Answered writes are in the file whatever happens."""
        if os.getpid() != self._owner:
            return
        process = self._process
        if hasattr(self, "_file"):
            known = _read_address(self._file)
            if known is not None and known.pid == process.pid:
                with contextlib.suppress(OSError):
                    os.remove(self._file)
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        if os.name == "nt":  # where terminate is not gentle
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
        for end in (process.terminate, process.kill):  # a forked process may hold the standard input
            try:
                end()
                process.wait(PATIENCE)
                break
            except (OSError, subprocess.TimeoutExpired):
                continue
        self._reader.join(1)
        self._close()

    def _close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None and (stream is not self._process.stderr or not self._reader.is_alive()):
                with contextlib.suppress(OSError):
                    stream.close()


def _address_file(file: str) -> str:
    return file + ".node"


def _read_own(path: str) -> str:
    """The text of a file that this user made and nobody else can read or write. Raises OSError for others."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), encoding="utf-8") as source:
        info = os.fstat(source.fileno())
        if not stat.S_ISREG(info.st_mode) or hasattr(os, "getuid") and (info.st_uid != os.getuid() or info.st_mode & 0o077):
            raise PermissionError("%s is not of this user alone" % path)
        return source.read(1 << 16)


def read_secret(file: str) -> bytes:
    """The secret of a file, which its node proves that it knows. Raises ConnectionError if it cannot be read."""
    path = os.path.realpath(file) + ".secret"
    try:
        secret = bytes.fromhex(_read_own(path).strip())
    except (OSError, ValueError) as err:
        raise ConnectionError("%s cannot be used: %s" % (path, err)) from err
    if len(secret) != 32:
        raise ConnectionError("%s holds no secret" % path)
    return secret


def _read_address(path: str) -> Address | None:
    try:
        found: Any = json.loads(_read_own(path))
        url = str(found["url"])
        return Address(url, str(found["token"]), int(found["pid"])) if url.startswith("http://127.0.0.1:") else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def published(file: str) -> Address | None:
    """The node that another process of this user started for a file; None if no address of one is there."""
    return _read_address(_address_file(file))


def usual_file() -> str:
    """The file of the command robotmem: memory.db in its folder, unless its settings name another.

    Raises RobotmemError if the settings are wrong or name a site on PostgreSQL.
    """
    found = json.loads(run(["config", "show", "--json"]))["memory"]
    if "://" in found:
        raise RobotmemError("invalid", "where", "the settings name %s; give the address of a node that serves it, or the path of a file" % found)
    return str(found)


def run(arguments: list[str], timeout: float | None = None) -> str:
    """Run a command of the program, such as ["import", "old.db", "--db", "new.db"]; return what it printed.

    Raises RobotmemError with what the command said if it fails.
    """
    began = time.monotonic()
    try:
        done = subprocess.run([binary(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", timeout=timeout, check=False)
    except subprocess.TimeoutExpired as err:
        raise RobotmemError("unavailable", "", "robotmem %s took longer than %.0f s" % (arguments[0], time.monotonic() - began)) from err
    if done.returncode != 0:
        raise RobotmemError("invalid" if done.returncode == 2 else "unavailable", "", (done.stderr or done.stdout).strip().removeprefix("robotmem: "))
    return done.stdout
