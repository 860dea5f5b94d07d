"""HTTP to a node: one request for each call, connections that are kept, payloads as streams."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import io
import json
import os
import re
import secrets
import selectors
import time
import urllib.parse
import uuid
from typing import Any, BinaryIO, Iterator, NamedTuple

from ._errors import RobotmemError
from ._node import read_secret
from ._operations import ROUTES
from ._version import VERSION
from ._values import Number, encode, payload

Object = dict[str, Any]


def older(node: str, package: str) -> bool:
    """Whether a node is of an older minor version than the package. A node that names no version is older than
    all that name one. A build whose version has no number is not older."""
    if not node:
        return True
    node_version, package_version = (re.match(r"v?(\d+)\.(\d+)\.", text) for text in (node, package))
    if node_version is None or package_version is None:
        return False
    return [int(n) for n in node_version.groups()] < [int(n) for n in package_version.groups()]


class Event(NamedTuple):
    """One event of the node: change, with data["change"], the number of the change."""

    event: str
    data: Any


class Http:
    """Calls of one node over HTTP. Connections are kept for the calls of the next 30 s, one for each
    call at a time, so that threads and forked processes may share it."""

    def __init__(self, url: str, token: str | None, timeout: float, retries: int, file: str | None = None):
        """file is the memory that the node must prove to serve, on every connection and before anything
        is sent; None for a node that was named by its address."""
        self._file = file
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("the address of a node is like http://127.0.0.1:7878, not %r" % url)
        parts.port  # raises ValueError for a bad one
        if not (isinstance(timeout, (int, float)) and timeout > 0) or not (isinstance(retries, int) and retries >= 0):
            raise ValueError("timeout is in seconds, above 0, and retries 0 or more; not %r and %r" % (timeout, retries))
        self.url = url.rstrip("/")
        self.timeout = timeout
        self.retries = retries
        self._address = parts
        self.token = token
        self._kept: list[tuple[int, float, http.client.HTTPConnection]] = []  # process, since when, connection

    def close(self) -> None:
        """Close the connections that are kept. Later calls open new ones."""
        while self._kept:
            self._kept.pop()[2].close()

    def __del__(self) -> None:
        if hasattr(self, "_kept"):
            self.close()

    def check(self) -> None:
        """Ask whether the node is one that a Memory started. Raises RobotmemError: not_found if it does
        not ask for the token, conflict if it is older than this package."""
        answer = self._answer("whoami", self._request("whoami", "GET", "/api/whoami", {"Accept": "application/json"}, None, self.timeout))
        if not answer.get("required"):
            raise RobotmemError("not_found", "", "%s is another node" % self.url)
        node = str(answer.get("version", ""))
        if older(node, VERSION):
            raise RobotmemError("conflict", "", "the node at %s is robotmem %s, and this package is of %s; end that node, or install robotmem-node==%s" % (self.url, node or "of an older version", VERSION, node or "..."))

    def events(self, timeout: float) -> Iterator[Event]:
        response = self._request("events", "GET", "/api/events", {"Accept": "text/event-stream"}, None, timeout)
        return _events(response, self)

    def call(self, op: str, fields: Object) -> Any:
        method, path, reads = ROUTES[op]
        encoded = _encode_fields(op, fields)
        path = _fill(op, path, encoded)
        body, headers = None, {"Accept": "application/json"}
        if method in ("GET", "DELETE"):
            if encoded:
                path += "?" + urllib.parse.urlencode({name: _text(v) for name, v in sorted(encoded.items())})
        else:
            body = ("{" + ",".join(json.dumps(name) + ":" + v for name, v in encoded.items()) + "}").encode()
            headers["Content-Type"] = "application/json"
        patience = self.timeout + (fields.get("wait_ms") or 0) / 1000
        for attempt in range(self.retries + 1):
            try:
                return self._ask(op, method, path, headers, body, patience, reads)
            except RobotmemError as busy:
                if not reads or busy.status not in (429, 503) or attempt == self.retries:
                    raise
                time.sleep(min(0.1 * 2**attempt if busy.retry_after is None else busy.retry_after, 10))

    def upload(self, op: str, stream: BinaryIO, fields: Object) -> Any:
        """Send the fields, then the payload, as a form whose length need not be known."""
        method, path, _ = ROUTES[op]
        boundary = uuid.uuid4().hex
        form = _form(boundary, _encode_fields(op, fields), stream)
        headers = {"Accept": "application/json", "Content-Type": "multipart/form-data; boundary=" + boundary}
        return self._answer(op, self._request(op, method, path, headers, form, self.timeout))

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._file is not None:
            return _ProvenConnection(self._address.hostname or "", self._address.port, timeout, self._file)
        kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
        return kind(self._address.hostname or "", self._address.port, timeout=timeout)

    def _reuse(self, timeout: float) -> http.client.HTTPConnection:
        """A kept connection, or a new one that is not open yet."""
        while True:
            try:
                process, since, connection = self._kept.pop()
            except IndexError:
                return self._connect(timeout)
            # The node sends nothing over a connection at rest, so one that can be read has been closed.
            with selectors.DefaultSelector() as closed:
                closed.register(connection.sock, selectors.EVENT_READ)
                own, fresh = process == os.getpid(), time.monotonic() - since < 30
                if own and fresh and not closed.select(0):
                    connection.timeout = timeout
                    connection.sock.settimeout(timeout)
                    return connection
            connection.close()

    def _ask(self, op: str, method: str, path: str, headers: dict[str, str], body: Any, timeout: float, reads: bool) -> Any:
        """Send a request over a kept connection and return the answer."""
        connection = self._reuse(timeout)
        whole = False  # the answer was read to its end, so the connection can be used again
        try:
            kept = connection.sock is not None
            try:
                answer = self._answer(op, self._request(op, method, path, headers, body, timeout, connection))
            except RobotmemError as err:
                whole = err.status != 0
                if not (kept and reads and isinstance(err.__cause__, ConnectionError)):
                    raise
                connection.close()  # the node closed it just now
                answer = self._answer(op, self._request(op, method, path, headers, body, timeout, connection))
            whole = True
            return answer
        finally:
            if whole and connection.sock is not None:
                self._kept.append((os.getpid(), time.monotonic(), connection))
            else:
                connection.close()

    def _request(self, op: str, method: str, path: str, headers: dict[str, str], body: Any, timeout: float, kept: http.client.HTTPConnection | None = None) -> http.client.HTTPResponse:
        """Send a request and return the answer with its body unread. Only 2xx is returned."""
        connection = kept or self._connect(timeout)
        headers = dict(headers) if kept else dict(headers, Connection="close")
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        target = self._address.path.rstrip("/") + path
        try:
            if body is None or isinstance(body, bytes):
                connection.request(method, target, body, headers)
            else:
                _send_chunks(connection, method, target, headers, body)
            response = connection.getresponse()
            if 200 <= response.status <= 299:
                return response
            with response:
                raise self._failure(op, response, response.read())
        except (OSError, http.client.HTTPException) as err:
            raise self._unreachable(op, err) from err
        finally:
            if not kept and connection.sock is not None:
                connection.sock.close()  # the response can still be read: it has a file of its own on the socket
                connection.sock = None

    def _answer(self, op: str, response: http.client.HTTPResponse) -> Any:
        with response:
            try:
                return json.loads(response.read(), parse_float=Number)
            except (OSError, http.client.HTTPException) as err:
                raise self._unreachable(op, err) from err
            except ValueError as err:
                raise RobotmemError("unavailable", "", "%s did not answer as a robotmem node; check the address" % self.url, response.status, op) from err

    def _unreachable(self, op: str, err: Exception) -> RobotmemError:
        why = str(err) or type(err).__name__
        return RobotmemError("unavailable", "", "no answer from %s: %s; is `robotmem web` running there?" % (self.url, why), 0, op)

    def _failure(self, op: str, response: http.client.HTTPResponse, body: bytes) -> RobotmemError:
        """The error that a problem document, or an answer of something else, stands for."""
        status, problem = response.status, None
        if response.headers.get_content_type() == "application/problem+json":
            try:
                problem = json.loads(body)
            except ValueError:
                pass
        if isinstance(problem, dict) and problem.get("kind"):
            err = RobotmemError(problem["kind"], problem.get("field", ""), problem.get("detail", ""), status, problem.get("op") or op)
        else:
            kind = {401: "forbidden", 403: "forbidden", 413: "too_large"}.get(status, "unavailable")
            err = RobotmemError(kind, "", "%s answered %d %s, and not as a robotmem node; check the address and what stands between" % (self.url, status, response.reason), status, op)
        try:
            err.retry_after = float(response.headers["Retry-After"] or "")
        except (TypeError, ValueError):
            pass  # the header is absent, or a date
        return err



class DataReader(io.RawIOBase):
    """The bytes of a perception as they come from the node. media_type, size and sha256 say what
    they are. Close it, or use it in a with statement."""

    def __init__(self, node: Http, memory_id: int | str):
        super().__init__()
        self._node, self.memory_id = node, memory_id
        self._position = self._hashed = 0
        self._hash = hashlib.sha256()
        self._response: http.client.HTTPResponse | None = None
        self._response = self._get(0)
        headers = self._response.headers
        self.media_type = headers.get("Content-Type", "")
        self.sha256 = headers.get("ETag", "").strip('"')
        self.size = int(headers.get("Content-Length", -1))
        if len(self.sha256) != 64 or self.size < 0:
            self.close()
            raise self._fail("unavailable", "%s did not answer as a robotmem node: its answer has no checksum or no length" % node.url)

    def _fail(self, kind: str, detail: str) -> RobotmemError:
        return RobotmemError(kind, "", detail, 0, "data")

    def _get(self, start: int) -> http.client.HTTPResponse:
        headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
        if start:
            headers["Range"] = "bytes=%d-" % start
        path = _fill("data", ROUTES["data"][1], _encode_fields("data", {"memory_id": self.memory_id}))
        return self._node._request("data", "GET", path, headers, None, self._node.timeout)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
            raise ValueError("there is no whence %r" % whence)
        offset += {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence]
        if offset < 0:
            raise ValueError("%d is before the first byte" % offset)
        if offset != self._position:
            self._position = offset
            self._drop()
        return offset

    def readinto(self, buffer: Any) -> int:
        if self._position >= self.size:
            return 0
        if self._response is None:
            self._response = self._get(self._position)
        room = memoryview(buffer).cast("B")[: self.size - self._position]
        try:
            n = self._response.readinto(room)
        except (OSError, http.client.HTTPException) as err:
            raise self._node._unreachable("data", err) from err
        if room and not n:
            raise self._fail("unavailable", "the answer of %s ended after %d of %d bytes; run robotmem doctor on the node to check the payload" % (self._node.url, self._position, self.size))
        self._check(room[:n])
        return n

    def _check(self, data: memoryview) -> None:
        if self._position == 0:
            self._hash, self._hashed = hashlib.sha256(), 0
        if self._position == self._hashed:
            self._hash.update(data)
            self._hashed += len(data)
        self._position += len(data)
        if self._position == self.size == self._hashed and self._hash.hexdigest() != self.sha256:
            raise self._fail("corrupt", "the bytes of memory %s are not those that were saved; run robotmem doctor on the node" % self.memory_id)

    def _drop(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None

    def close(self) -> None:
        self._drop()
        super().close()


def _encode_fields(op: str, fields: Object) -> dict[str, str]:
    """The fields that are given, each as JSON."""
    encoded = {}
    for name, value in _with_payload(op, fields).items():
        if value is None:
            continue
        try:
            if isinstance(value, (bytes, bytearray, memoryview)) and name != "data_base64":
                raise ValueError("is bytes; give text")
            encoded[name] = encode(value)
        except (TypeError, ValueError, RecursionError) as err:
            raise RobotmemError("invalid", name, "refers to itself" if isinstance(err, RecursionError) else str(err), 0, op) from err
    return encoded


def _with_payload(op: str, fields: Object) -> Object:
    """fields with an array, an image, a frame or bytes in data as data_base64, also within like."""
    value, like = fields.get("data"), fields.get("like")
    if isinstance(like, dict) and "data" in like:
        fields = dict(fields, like=_with_payload(op, like))
    if value is None or isinstance(value, str):
        return fields
    if isinstance(value, (bytes, bytearray, memoryview)):
        return dict(fields, data=None, data_base64=value)
    try:
        found = payload(value)
    except ValueError as err:
        raise RobotmemError("invalid", "data", str(err), 0, op) from err
    if found is None:
        return fields
    fields = {name: v for name, v in fields.items() if name != "data"}
    fields["data_base64"] = found.data
    for name, v in (("media_type", found.media_type), ("perception_type", found.perception_type)):
        if v is not None and fields.get(name) is None:
            fields[name] = v
    return fields


def _text(encoded: str) -> str:
    """A JSON value as a path, a query or a form has it: text without its quotes."""
    return json.loads(encoded) if encoded.startswith('"') else encoded


def _fill(op: str, path: str, encoded: dict[str, str]) -> str:
    """path with its wildcards filled from the fields, which are taken out."""
    for name in [n for n in encoded if "{%s}" % n in path]:
        value = _text(encoded.pop(name))
        if not value:
            raise RobotmemError("invalid", name, "is required", 0, op)
        path = path.replace("{%s}" % name, urllib.parse.quote(value, safe=""))
    missing = re.search(r"\{(\w+)\}", path)
    if missing:
        raise RobotmemError("invalid", missing[1], "is required", 0, op)
    return path


def _form(boundary: str, encoded: dict[str, str], stream: BinaryIO) -> Iterator[bytes]:
    """A form: the fields, then the payload, so that the node can pass it on as it comes."""
    for name, value in sorted(encoded.items()):
        yield ('--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (boundary, name, _text(value))).encode()
    yield ('--%s\r\nContent-Disposition: form-data; name="data"; filename="data"\r\nContent-Type: application/octet-stream\r\n\r\n' % boundary).encode()
    while True:
        try:
            data = stream.read(1 << 16)
        except Exception as err:
            raise RobotmemError("invalid", "data", "could not be read to its end (%s); nothing was stored" % err, 0, "save_perception") from err
        if data:
            yield data
        elif data is not None:  # a stream that does not block returns None when it has nothing yet
            break
    yield ("\r\n--%s--\r\n" % boundary).encode()


class _ProvenConnection(http.client.HTTPConnection):
    """A connection to a node that has proved that it may read the secret beside its file. When a node has
    ended, another user's program may take its port. It cannot prove this, so it gets neither the token
    nor the facts."""

    def __init__(self, host: str, port: int | None, timeout: float, file: str):
        super().__init__(host, port, timeout=timeout)
        self._memory_file = file

    def connect(self) -> None:
        secret = read_secret(self._memory_file)
        super().connect()
        try:
            address = "%s:%d" % self.sock.getpeername()[:2]
            nonce = secrets.token_hex(32)
            self.sock.sendall(("GET /api/proof?nonce=%s HTTP/1.1\r\nHost: %s\r\nAccept: application/json\r\n\r\n" % (nonce, address)).encode())
            response = http.client.HTTPResponse(self.sock, method="GET")
            response.begin()
            with response:
                answer = response.read(4096)
            if response.status != 200 or response.will_close or not _proves(answer, secret, nonce, address):
                raise ConnectionRefusedError("what answers there does not serve this file")
        except BaseException as err:
            self.close()
            if isinstance(err, http.client.HTTPException):
                raise ConnectionRefusedError("what answers there is no robotmem node") from err
            raise


def _proves(answer: bytes, secret: bytes, nonce: str, address: str) -> bool:
    expected = hmac.new(secret, ("robotmem node proof 1\n%s\n%s" % (nonce, address)).encode(), hashlib.sha256).hexdigest()
    try:
        given = json.loads(answer)["proof"]
    except (ValueError, KeyError, TypeError):
        return False
    return isinstance(given, str) and hmac.compare_digest(given.encode(), expected.encode())


def _send_chunks(connection: http.client.HTTPConnection, method: str, target: str, headers: dict[str, str], chunks: Iterator[bytes]) -> None:
    """Send a body of unknown length, and stop when the node answers before its end."""
    connection.putrequest(method, target)
    for name, value in dict(headers, **{"Transfer-Encoding": "chunked"}).items():
        connection.putheader(name, value)
    connection.endheaders()
    with selectors.DefaultSelector() as answers:
        if not isinstance(connection, http.client.HTTPSConnection):  # TLS sends messages that are no answer
            answers.register(connection.sock, selectors.EVENT_READ)
        try:
            for chunk in chunks:
                connection.send(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                if answers.select(0):
                    return
            connection.send(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # it answered and hung up: the answer says why


def _events(response: http.client.HTTPResponse, node: Http) -> Iterator[Event]:
    """Read server-sent events: lines of field: value, an empty line after each event."""
    with response:
        name, data = "message", []
        while True:
            try:
                line = response.readline()
            except (OSError, http.client.HTTPException) as err:
                raise node._unreachable("events", err) from err
            if not line:
                return
            field, _, value = line.decode().rstrip("\r\n").partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "event":
                name = value
            elif field == "data":
                data.append(value)
            elif not line.strip():
                if data:
                    yield Event(name, json.loads("\n".join(data), parse_float=Number))
                name, data = "message", []
