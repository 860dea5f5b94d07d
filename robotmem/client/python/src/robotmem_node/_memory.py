"""The memory and its episodes."""

from __future__ import annotations

import io
import math
import numbers
import os
import re
import threading
import weakref
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Iterator, Mapping, Sequence, TypeVar

from . import _node
from ._errors import RobotmemError
from ._http import DataReader, Event, Http
from ._operations import (
    AdviseResponse, Array, Briefing, EndSessionResponse, LearnResponse, Object, Operations, RecallResponse, SavePerceptionResponse, Session,
    StoredMemory,
)
from ._recorder import Recorder
from ._values import is_path, loaded

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._operations import AdviseFields, LearnFields, RecallFields, SaveFields, SpatialSort

__all__ = ["Episode", "Memory"]

T = TypeVar("T")

PLACE = "spatial.position"  # where an episode says it is


class Memory(Operations):
    """A memory: a file that a node of its own serves, or a node that runs already.

        with Memory("arm7.db") as m:
            with m.episode(task="pick the wet glass", place=[0.42, 0.10, 0.05]) as ep:
                ep.learn("grip_force=12.5 N holds the wet glass", context={"params": {"grip_force": 12.5}, "task": {"success": True}})
            print(m.recall("how hard to grip").memories[0].content)

    There is one method for each operation of a node, with its fields as arguments; answers have
    attributes. A failure is a RobotmemError with the kind and the field that the node named.

    where is a path or a URL; without it, the memory is the one that the command robotmem uses. For a path, the node that another process of this user started for it is
    joined; without one the program robotmem is started on a free loopback port with a token of its own,
    and ends with this process, however that ends. A Memory may be used from many threads and after a
    fork. A read that finds the node busy is asked again; a write never is, because one whose answer was
    lost may have been done.
    """

    def __init__(
        self,
        where: str | os.PathLike[str] | None = None,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        port: int = 0,
        options: Sequence[str] = (),
        start_timeout: float = 60.0,
        key_file: str | os.PathLike[str] | None = None,
    ):
        """token is one that the node at a URL knows (default: ROBOTMEM_TOKEN); timeout, in seconds, is
        how long a node may be silent; retries how often a read is asked again while the node is busy;
        port that of a node that is started, 0 for a free one; options more arguments of `robotmem web`,
        such as ["--embedder", "none"]; start_timeout, in seconds, how long it may take to start;
        key_file the file with the key of an encrypted memory (default: the setting of the command). The
        last four are of no use if a node is joined."""
        where = _node.usual_file() if where is None else os.path.expanduser(os.fsdecode(where))
        self._path = None if where.lower().startswith(("http://", "https://")) else os.path.abspath(where)
        if key_file is not None:
            if self._path is None:
                raise RobotmemError("invalid", "key_file", "opens a file, and %s is a node, which has its key" % where)
            options = [*options, "--key-file", os.path.abspath(os.path.expanduser(os.fsdecode(key_file)))]
        self._settings = (timeout, retries, port, list(options), start_timeout)
        self._child: _node.Child | None = None
        self._reopening = threading.Lock()
        self._closed = False
        _open.add(self)
        if self._path is None:
            self._http = Http(where, token if token is not None else os.environ.get("ROBOTMEM_TOKEN"), timeout, retries)
        else:
            if "://" in where or where == ":memory:" or re.fullmatch(r"[\w.-]+:\d+", where):
                raise ValueError("a memory is the path of a file, or an address such as http://127.0.0.1:7878, not %r" % where)
            self._http = self._open(self._path)

    def _open(self, path: str) -> Http:
        """Join the node of a file, or start one."""
        timeout, retries, port, options, start_timeout = self._settings
        running = _node.published(path)
        if running is not None:
            node = Http(running.url, running.token, 5.0, 0, path)
            try:
                node.check()
                node.timeout, node.retries = timeout, retries
                return node
            except RobotmemError as err:
                if err.kind == "conflict":  # another version
                    raise
                node.close()  # it ended without removing its address
        self._child = _node.Child(path, port, options, start_timeout)
        self._end = weakref.finalize(self, self._child.stop)  # also when Python ends
        return Http(self._child.address.url, self._child.address.token, timeout, retries, path)

    @property
    def url(self) -> str:
        """The address of the node; open it in a browser for the dashboard."""
        return self._http.url

    @property
    def token(self) -> str | None:
        """The token of the node, which the dashboard asks for."""
        return self._http.token

    def close(self) -> None:
        """Close the connections, and end the node if this Memory started it."""
        self._http.close()
        self._closed = True
        if self._child is not None:
            self._end()
            self._child = None

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "Memory(%r) at %s" % (self._path, self.url) if self._path else "Memory(%r)" % self.url

    def __reduce__(self) -> tuple[Any, ...]:  # another process joins the same node
        return _joined, (self._http.url, self._http.token, self._path, self._settings)

    # Episodes.

    def episode(
        self,
        *,
        task: str | Mapping[str, Any] | None = None,
        place: Sequence[float] | Array | None = None,
        robot: str | Mapping[str, Any] | None = None,
        context: Mapping[str, Any] | None = None,
        collection: str | None = None,
        outcome: float | None = None,
        session_id: str | None = None,
        origin: str | None = None,
    ) -> Episode:
        """Begin an episode, and end it at the end of a with statement.

        Args:
            task: Its name, or the section task of the context: "pick the wet glass".
            place: Where it happens, two or three coordinates in metres: spatial.position of the context.
                advise weighs by it.
            robot: Its id, or the section robot of the context.
            context: More of the context: {"env": {"surface": "wet"}}. What is learnt in the episode has
                this context too, below its own.
            collection: Namespace of the episode and of its memories.
            outcome: 0 (failed) to 1 (succeeded), unless the block sets another. A block that raises has
                failed; one that Ctrl-C ends has no outcome.
            session_id, origin: See start_session.
        """
        whole: Object = {}
        for name, key, value in (("task", "name", task), ("robot", "id", robot)):
            if value is not None and not isinstance(value, (str, Mapping)):
                raise RobotmemError("invalid", name, "must be text or a dict, not %r" % (value,), 0, "episode")
            if value is not None:
                whole[name] = {key: value} if isinstance(value, str) else dict(value)
        if place is not None:
            position = coordinates(place)
            if position is None:
                raise RobotmemError("invalid", "place", "must be two or three coordinates in metres, such as [0.42, 0.1, 0.05], not %r" % (place,), 0, "episode")
            whole["spatial"] = {"position": position}
        if context is not None and not isinstance(context, Mapping):
            raise RobotmemError("invalid", "context", "must be a dict, not %r" % (context,), 0, "episode")
        return Episode(self, merged(whole, context or {}), collection, outcome, {"session_id": session_id, "origin": origin})

    def recorder(self, source: str, rate: float = 0.0, *, channels: Sequence[str] | None = None, **fields: Any) -> Recorder:
        """Record the samples of a sensor in the background; see Recorder."""
        return Recorder(self, source, rate, channels=channels, **fields)

    # Perceptions.

    def save(self, data: Any, description: str, **fields: Any) -> SavePerceptionResponse:
        """Save a perception: text, bytes, the path of a file (pathlib.Path), an open file, an array of
        NumPy, a tensor of PyTorch, an image of Pillow, a figure of Matplotlib or a frame of pandas. Its other fields are those of
        save_perception; rate (Hz) and channels say how to read an array of samples.

        Files are sent as streams of any size. An array becomes a .npy file, an image or figure PNG (one of floats
        or of 32 bits .npy), a frame CSV, with an index other than 0, 1, … as its first columns. load
        gives it back; of a CSV, times come back as text.
        """
        given = {"rate_hz": fields.pop("rate", None), "channels": fields.pop("channels", None)}
        extra = {name: value for name, value in given.items() if value is not None}
        if extra:
            fields["metadata"] = {**extra, **(fields.get("metadata") or {})}
        if is_path(data):
            with open(data, "rb") as file:
                return self.save_perception_from(file, description, **fields)
        if isinstance(data, io.TextIOBase):
            raise RobotmemError("invalid", "data", "the file is open as text; open it in binary mode, or give its path as pathlib.Path", 0, "save_perception")
        if isinstance(data, str) and len(data) < 1024 and re.fullmatch(r"\S+\.\w{1,8}", data) and os.path.isfile(data):
            raise RobotmemError("invalid", "data", "is the name of a file; for its contents give pathlib.Path(%r)" % data, 0, "save_perception")
        if hasattr(data, "read"):
            return self.save_perception_from(data, description, **fields)
        return self.save_perception(description, data=data, **fields)

    def load(self, memory_id: int | str) -> Any:
        """The payload of a perception as what it was saved from: an array of NumPy (.npy, samples), an
        image of Pillow, a frame of pandas (CSV), text, otherwise bytes."""
        with self.open_data(memory_id) as data:
            return loaded(data.read(), data.media_type, self.get(memory_id).metadata)

    def read_data(self, memory_id: int | str) -> bytes:
        """The bytes of a perception as they were saved."""
        with self.open_data(memory_id) as data:
            return data.read()

    def open_data(self, memory_id: int | str) -> DataReader:
        """Open the bytes of a perception as a stream that can be read and sought. Reading fails at the
        end when they are not those that were saved."""
        return self._at_node(lambda node: DataReader(node, memory_id))

    # Lists and events.

    def list_all(self, **fields: Any) -> Iterator[StoredMemory]:
        """Iterate over all memories that list finds, page by page."""
        return map(StoredMemory, self._pages("list", "memories", fields))

    def sessions_all(self, **fields: Any) -> Iterator[Session]:
        """Iterate over all episodes that sessions finds, page by page."""
        return map(Session, self._pages("sessions", "sessions", fields))

    def session_memories_all(self, session_id: str, **fields: Any) -> Iterator[StoredMemory]:
        """Iterate over an episode in the order it was lived, page by page."""
        return map(StoredMemory, self._pages("session_memories", "memories", dict(fields, session_id=session_id)))

    def events(self, timeout: float = 60.0) -> Iterator[Event]:
        """Iterate over what happens at the node, as it happens, until the node ends the stream. The node
        shows every 15 s that it is there; timeout, in seconds, is how long it may not."""
        return self._at_node(lambda node: node.events(timeout))

    def _pages(self, op: str, items: str, fields: Object) -> Iterator[Any]:
        while True:
            answer = self._call(op, fields)
            yield from answer[items]
            if not answer.get("next"):
                return
            fields = dict(fields, cursor=answer["next"])

    # Calls.

    def _call(self, op: str, fields: Object) -> Any:
        return self._at_node(lambda node: node.call(op, fields))

    def _upload(self, op: str, payload: BinaryIO, fields: Object) -> Any:
        return self._at_node(lambda node: node.upload(op, payload, fields))

    def _at_node(self, call: Callable[[Http], T]) -> T:
        """Call the node, or another one for the file after that one has ended. A refused connection
        carried nothing, so that a write may be repeated as well."""
        if self._closed:
            raise RobotmemError("conflict", "", "the Memory is closed")
        node = self._http
        try:
            return call(node)
        except RobotmemError as err:
            if self._path is None or not isinstance(err.__cause__, ConnectionRefusedError):
                raise
        return call(self._reopened(node))

    def _reopened(self, gone: Http) -> Http:
        """Another node for the file, after the one that was joined has ended or the own one has died."""
        with self._reopening:
            if self._http is gone:
                assert self._path is not None
                if self._child is not None:
                    self._end()
                    self._child = None
                gone.close()
                self._http = self._open(self._path)
            return self._http


def _joined(url: str, token: str | None, path: str | None, settings: tuple[float, int, int, list[str], float]) -> Memory:
    """The Memory of another process that was pickled there."""
    made = Memory(url, token=token or "", timeout=settings[0], retries=settings[1])
    made._path, made._settings = path, settings
    return made


_open: weakref.WeakSet[Memory] = weakref.WeakSet()


def _after_fork() -> None:
    for memory in list(_open):  # another thread of the parent may have held it
        memory._reopening = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def coordinates(place: Any) -> list[Any] | None:
    """A place as a list of two or three finite numbers; None if it is none."""
    found = place.tolist() if hasattr(place, "tolist") else place
    if isinstance(found, (list, tuple)) and len(found) in (2, 3) and all(isinstance(v, numbers.Real) and not isinstance(v, bool) and math.isfinite(v) for v in found):
        return list(found)
    return None


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> Object:
    """Two contexts as one: sections key by key, other values from over."""
    out = dict(under)
    for name, value in over.items():
        below = out.get(name)
        out[name] = merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return out


class Episode:
    """An episode that a with statement begins and ends; see Memory.episode.

    id is its session_id, briefing what to know before it; add the memories that helped to used, and set
    outcome, 0 (failed) to 1 (succeeded). After the block, ended is the answer of end_session.
    """

    briefing: Briefing

    def __init__(self, memory: Memory, context: Object, collection: str | None, outcome: float | None, fields: Object):
        self.memory = memory
        self.context = context
        self.collection = collection
        self.outcome: float | None = None
        self.used: list[Any] = []  # memory_ids, or memories that were recalled
        self.ended: EndSessionResponse | None = None
        self._usual = outcome
        self._fields = fields
        self._id: str | None = None
        self._recorders: list[Recorder] = []

    @property
    def id(self) -> str:
        if self._id is None:
            raise RuntimeError("the episode has not begun; use it in a with statement: with m.episode(…) as ep")
        return self._id

    def __enter__(self) -> Episode:
        begun = self.memory.start_session(collection=self.collection, context=self.context or None, **self._fields)
        self._id, self.briefing = begun.session_id, begun.briefing
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: object) -> None:
        if self.outcome is None and raised is None:
            self.outcome = self._usual
        elif self.outcome is None and isinstance(raised, Exception):
            self.outcome = 0.0
        failed: Exception | None = None
        for recorder in self._recorders:
            try:
                recorder.close()
            except Exception as err:
                failed = failed or err
        try:
            score = None if self.outcome is None else float(self.outcome)
            self.ended = self.memory.end_session(self.id, outcome_score=score, used_memory_ids=[getattr(m, "memory_id", m) for m in self.used] or None)
        except RobotmemError as err:
            failed = failed or err
        if failed is not None and raised is None:  # what the block raised says more
            raise failed

    def learn(self, insight: str, *, context: Mapping[str, Any] | None = None, **fields: Unpack[LearnFields]) -> LearnResponse:
        """Learn a fact of this episode, with the episode's context below its own."""
        return self.memory.learn(insight, session_id=self.id, context=merged(self.context, context or {}) or None, **fields)

    def recall(self, query: str | None = None, *, near: float | None = None, **fields: Unpack[RecallFields]) -> RecallResponse:
        """Recall for this episode, in its collection unless another is named. near, in metres, asks for
        memories with a place at most so far from the episode's, nearest first."""
        fields.setdefault("collection", self.collection)
        if near is not None:
            fields["spatial_sort"] = self._here(near)
        return self.memory.recall(query, for_session=self.id, **fields)

    def advise(self, query: str | None = None, *, near: float | None = None, **fields: Unpack[AdviseFields]) -> AdviseResponse:
        """Ask which parameters worked for the task of this episode, near its place if it has one. near, in
        metres, is how far away an attempt still counts."""
        task = self.context.get("task")
        if query is None and "task" not in fields and isinstance(task, Mapping):
            fields["task"] = task.get("name")
        if "spatial_sort" not in fields and isinstance(self.context.get("spatial"), Mapping) and "position" in self.context["spatial"]:
            fields["spatial_sort"] = self._here(near)
        fields.setdefault("collection", self.collection)
        return self.memory.advise(query, **fields)

    def save(self, data: Any, description: str, *, context: Mapping[str, Any] | None = None, rate: float | None = None, channels: Sequence[str] | None = None, **fields: Unpack[SaveFields]) -> SavePerceptionResponse:
        """Save a perception of this episode; see Memory.save."""
        return self.memory.save(data, description, session_id=self.id, context=merged(self.context, context or {}) or None, rate=rate, channels=channels, **fields)

    def recorder(self, source: str, rate: float = 0.0, *, channels: Sequence[str] | None = None, **fields: Any) -> Recorder:
        """Record the samples of a sensor into this episode, to its end; see Recorder."""
        made = self.memory.recorder(source, rate, channels=channels, session_id=self.id, context=merged(self.context, fields.pop("context", None) or {}) or None, **fields)
        self._recorders.append(made)
        return made

    def _here(self, near: float | None) -> SpatialSort:
        spatial = self.context.get("spatial")
        if not isinstance(spatial, Mapping) or "position" not in spatial:
            raise ValueError("the episode has no place; begin it with place=[x, y, z]")
        here: SpatialSort = {"field": PLACE, "target": spatial["position"]}
        if near is not None:
            here["max_distance"] = near
        for name in ("frame_id", "map_id"):
            if name in spatial:
                here[name] = spatial[name]
        return here
