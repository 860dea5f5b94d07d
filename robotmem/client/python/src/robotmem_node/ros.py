"""The services of a robotmem node for ROS, and messages as perceptions.

    python -m robotmem_node.ros --interfaces ~/ros2_ws/src       # write the package robotmem_msgs, then colcon build
    python -m robotmem_node.ros --ros-args -p db_path:=arm7.db   # the node, with ROS 2 sourced

The functions of this module need no ROS: a service takes a request as a dictionary, calls the memory and
returns the response as a dictionary with every field of the response. It never raises: success is false and
error says why.

    from robotmem_node import Memory
    from robotmem_node.ros import SERVICES

    with Memory("arm7.db") as m:
        answer = SERVICES["learn"](m, {"insight": "grip_force=12.5 N holds the glass"})
        print(answer["success"], answer["memory_id"], answer["error"])

node wires them to rclpy, which comes with ROS 2 and not from PyPI. It is its own process with its own threads:
a service waits for the memory, and no control loop waits for it. Perceptions go through a queue.
"""

from __future__ import annotations

import argparse
import collections
import functools
import importlib
import json
import os
import shutil
import sys
import threading
from typing import Any, Callable, Mapping, Sequence

from ._errors import RobotmemError
from ._memory import Memory
from ._operations import Object
from ._ros_messages import PICTURED, SAMPLED, Sample, frame_id, observed_at, perception, placed, sample, spatial, stamp, to_dict
from ._values import encode

__all__ = [
    "PICTURED", "SAMPLED", "SERVICES", "PerceptionQueue", "Sample", "advise", "definitions", "end_session", "fill", "forget", "frame_id", "learn", "main", "node", "observed_at",
    "perceive", "perception", "recall", "sample", "save_perception", "sense", "spatial", "stamp", "start_session", "status", "to_dict", "update",
]

Service = Callable[..., Object]

_INT32 = 2**31 - 1


def _service(**empty: Any) -> Callable[[Callable[..., Object]], Service]:
    """A service whose response has these fields; a failure leaves them empty and says why in error."""

    def wrapping(call: Callable[..., Object]) -> Service:
        @functools.wraps(call)
        def answering(memory: Memory, request: Mapping[str, Any], collection: str | None = None) -> Object:
            response: Object = {name: list(value) if isinstance(value, list) else value for name, value in empty.items()}
            try:
                response.update(call(memory, request, collection))
            except Exception as err:  # a service answers whatever happens
                return {**response, "error": str(err) or type(err).__name__}
            return {**response, "success": True} if "success" in empty else response

        return answering

    return wrapping


def _given(request: Mapping[str, Any], *names: str) -> Object:
    """The fields of a request that are not empty, which in ROS means not given."""
    return {name: request[name] for name in names if request.get(name) not in (None, "")}


def _among(request: Mapping[str, Any], collection: str | None) -> Object:
    """The collection of a request: its own, none for a session, which has one, else the default."""
    found = request.get("collection") or (None if request.get("session_id") else collection)
    return {"collection": found} if found else {}


@_service(success=False, memory_id=0, status="", error="", auto_inferred_json="")
def learn(memory: Memory, request: Mapping[str, Any], collection: str | None) -> Object:
    """Learn.srv. collection is the one of a request that names none."""
    told = memory.learn(str(request.get("insight", "")), **_given(request, "context", "session_id"), **_among(request, collection)).to_dict()
    inferred = {**(told.get("auto_inferred") or {}), **{name: told[name] for name in ("uid", "conflicts", "similar", "interpreted") if told.get(name)}}
    return {"memory_id": int(told.get("existing_id") or told.get("memory_id") or 0), "status": told["status"], "auto_inferred_json": encode(inferred)}


@_service(memories=[], total=0, mode="", error="")
def recall(memory: Memory, request: Mapping[str, Any], collection: str | None) -> Object:
    """Recall.srv. Its response has no success: error is empty if the call succeeded."""
    fields = _given(request, "session_id", "context_filter", "spatial_sort")
    if request.get("n"):
        fields["n"] = int(request["n"])
    least = float(request.get("min_confidence") or 0)
    if least:
        fields["min_confidence"] = max(0.0, least)
    found = memory.recall(request.get("query") or None, **fields, **_among(request, collection)).to_dict()
    return {"memories": [_memory(m) for m in found["memories"]], "total": int(found["total"]), "mode": found["mode"]}


@_service(success=False, memory_id=0, error="")
def save_perception(memory: Memory, request: Mapping[str, Any], collection: str | None) -> Object:
    """SavePerception.srv."""
    fields = _given(request, "perception_type", "data", "metadata", "session_id")
    return {"memory_id": int(memory.save_perception(str(request.get("description", "")), **fields, **_among(request, collection)).memory_id)}


@_service(success=False, error="")
def forget(memory: Memory, request: Mapping[str, Any], collection: str | None) -> Object:
    """Forget.srv."""
    memory.forget(int(request.get("memory_id", 0)), str(request.get("reason", "")))
    return {}


@_service(success=False, old_content="", new_content_out="", error="")
def update(memory: Memory, request: Mapping[str, Any], collection: str | None) -> Object:
    """Update.srv."""
    done = memory.update(int(request.get("memory_id", 0)), str(request.get("new_content", "")), **_given(request, "context"))
    return {"old_content": done.old_content, "new_content_out": done.new_content}


@_service(success=False, session_id="", collection="", active_memories_count=0, error="")
def start_session(memory: Memory, request: Mapping[str, Any], collection: str | None) -> Object:
    """StartSession.srv."""
    begun = memory.start_session(**_given(request, "context"), **_among(request, collection))
    return {"session_id": begun.session_id, "collection": begun.collection, "active_memories_count": int(begun.active_memories_count)}


@_service(success=False, summary_json="", decayed_count=0, consolidated_json="", related_memories=[], error="")
def end_session(memory: Memory, request: Mapping[str, Any], collection: str | None) -> Object:
    """EndSession.srv."""
    score = float(request.get("outcome_score", 0.0)) if request.get("has_outcome_score") else None
    ended = memory.end_session(str(request.get("session_id", "")), outcome_score=score).to_dict()
    return {
        "summary_json": encode(ended["summary"]), "decayed_count": min(_INT32, int(ended["decayed_count"])), "consolidated_json": encode(ended["consolidated"]),
        "related_memories": [_memory(m) for m in ended.get("related_memories") or []],
    }


@_service(success=False, has_suggestion=False, text="", parameters_json="", advice_json="", error="")
def advise(memory: Memory, request: Mapping[str, Any], collection: str | None) -> Object:
    """Advise.srv: which parameters worked."""
    fields = _given(request, "task", "context_filter", "spatial_sort", "goal")
    advice = memory.advise(request.get("query") or None, **fields, **_among(request, collection))
    return {
        "has_suggestion": bool(advice.suggestion), "text": str(advice.suggestion.text or ""),
        "parameters_json": encode(advice.suggestion.to_dict().get("parameters") or {}), "advice_json": encode(advice.to_dict()),
    }


SERVICES: dict[str, Service] = {
    "learn": learn, "recall": recall, "save_perception": save_perception, "forget": forget, "update": update, "start_session": start_session,
    "end_session": end_session, "advise": advise,
}


def _memory(found: Mapping[str, Any]) -> Object:
    """Memory.msg of a memory of an answer."""
    return {
        "id": int(found.get("memory_id") or 0), "content": str(found.get("content") or found.get("summary") or ""), "type": str(found.get("type") or "fact"),
        "perception_type": str(found.get("perception_type") or ""), "confidence": float(found.get("confidence") or 0), "rrf_score": float(found.get("score") or 0),
        "context_json": encode(found.get("context") or {}), "session_id": str(found.get("session_id") or ""), "created_at": str(found.get("created_at") or ""),
    }


@_service(success=False, memory_id=0, error="")
def perceive(memory: Memory, message: Mapping[str, Any], collection: str | None) -> Object:
    """PerceptionData.msg: save it with the time of its header; with a field pose also with its place."""
    fields = _given(message, "perception_type", "data", "session_id")
    metadata = message.get("metadata") or None
    if metadata is not None:
        fields["metadata"] = json.loads(metadata) if isinstance(metadata, str) else metadata
        if not isinstance(fields["metadata"], Mapping):
            raise ValueError("metadata is a JSON object, not %s" % metadata)
    fields.update(_among(message, collection))
    return {"memory_id": int(memory.save_perception(str(message.get("description", "")), **placed(fields, message)).memory_id)}


@_service(success=False, memory_id=0, error="")
def sense(memory: Memory, message: Mapping[str, Any], collection: str | None) -> Object:
    """Save a message of sensor_msgs or geometry_msgs that perception understands: {"type": …, "message": …}, and
    if they are known "topic", "session_id" and the context "spatial" of the robot."""
    fields = perception(str(message["type"]), message["message"], str(message.get("topic", "")))
    place = message.get("spatial")
    if place and "spatial" not in fields.get("context", {}):
        fields["context"] = {**fields.get("context", {}), "spatial": place}
    fields.update(_given(message, "session_id"), **_among(message, collection))
    return {"memory_id": int(memory.save_perception(fields.pop("description"), **fields).memory_id)}


def status(memory: Memory, collection: str | None = None, embedder: str = "") -> Object:
    """NodeStatus.msg."""
    counts = {c.collection: c.active for c in memory.collections()} if collection else {}
    return {
        "ready": True, "db_path": memory._path or memory.url, "embed_backend": embedder or "auto", "collection": collection or "default",
        "active_memories_count": int(counts.get(collection or "", 0) if collection else memory.stats().total),
    }


class PerceptionQueue:
    """Saves perceptions in a thread, in their order. push never waits: what does not fit is dropped and counted.

    While the node of the memory is away they wait. One that is refused is counted in failed, and error has
    the last reason. lost counts the messages that a seq of PerceptionData.msg shows to be missing.
    """

    def __init__(self, memory: Memory, collection: str | None = None, limit: int = 1000):
        self.pushed = self.stored = self.dropped = self.failed = self.lost = 0
        self.error = ""
        self._memory, self._collection, self._limit = memory, collection, limit
        self._waiting: collections.deque[tuple[Service, Mapping[str, Any]]] = collections.deque()
        self._changed = threading.Condition()  # guards what is above
        self._last = 0
        self._closing = self._gone = False
        self._thread = threading.Thread(target=self._work, name="robotmem-perceptions", daemon=True)
        self._thread.start()

    def push(self, message: Mapping[str, Any], service: Service = perceive) -> bool:
        """Add a message for perceive or sense. False if it was dropped."""
        with self._changed:
            self.pushed += 1
            seq = int(message.get("seq") or 0)
            if seq:
                gap = (seq - self._last - 1) % 2**32
                if self._last and 0 < gap < 2**31:
                    self.lost += gap
                self._last = seq
            if self._closing or len(self._waiting) >= self._limit:
                self.dropped += 1
                return False
            self._waiting.append((service, message))
            self._changed.notify()
            return True

    def close(self, timeout: float = 10.0) -> None:
        """Save what waits, for at most timeout seconds; the rest is dropped."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout)
        with self._changed:
            self._gone = True
            self.dropped += len(self._waiting)
            self._waiting.clear()
            self._changed.notify()

    def _work(self) -> None:
        pause = 0.1
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                if not self._waiting:
                    return
                service, message = self._waiting[0]
            failed = _failure(service, self._memory, message, self._collection)
            with self._changed:
                if self._gone:
                    return
                if isinstance(failed, RobotmemError) and (failed.kind == "unavailable" or failed.status in (429, 503)):
                    self.error = str(failed)
                    self._changed.wait(pause)
                    pause = min(2 * pause, 5.0)
                    continue
                pause = 0.1
                self._waiting.popleft()
                self.stored += failed is None
                if failed is not None:
                    self.failed += 1
                    self.error = str(failed) or type(failed).__name__


def _failure(service: Service, memory: Memory, message: Mapping[str, Any], collection: str | None) -> Exception | None:
    """Why a service fails, with its kind, which the text of its answer does not have; None if it succeeds."""
    try:
        service.__wrapped__(memory, message, collection)  # type: ignore[attr-defined]  # of functools.wraps
    except Exception as err:
        return err
    return None


def fill(message: Any, values: Mapping[str, Any], make: Callable[[], Any]) -> Any:
    """Set the fields of a message of rclpy; make makes a message for each dictionary in a list."""
    for name, value in values.items():
        setattr(message, name, [fill(make(), v, make) if isinstance(v, Mapping) else v for v in value] if isinstance(value, list) else value)
    return message


def definitions() -> dict[str, str]:
    """The texts of the interface package robotmem_msgs by file: srv/Learn.srv, msg/Memory.msg, package.xml …"""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "robotmem_msgs")
    out = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                out[os.path.relpath(path, root).replace(os.sep, "/")] = file.read()
    return dict(sorted(out.items()))


def node(memory: Memory | None = None, name: str = "robotmem") -> Any:
    """A node of rclpy with the services ~/learn, ~/recall …, the topic ~/perception, and ~/ready. Call it after
    rclpy.init, and spin it in a MultiThreadedExecutor; main does both. Without a memory its parameters choose one:

        db_path         the file of the memory; empty: that of the command robotmem
        url             or the address of a node that runs; its token is read from ROBOTMEM_TOKEN
        collection      of requests that name none; empty: default
        embedder        of a memory that this node starts: auto, builtin, none, ollama:MODEL …
        perception_qos  reliable or best_effort
        queue_size      perceptions that may wait
        topics          more topics to store, each "TOPIC TYPE" or "TOPIC TYPE HZ": messages of JointState, WrenchStamped
                        and Imu become traces, of Image, CompressedImage and PointCloud2 one perception each
        pose_topic      a topic of PoseStamped, whose last pose is the place of what is stored of topics

    Raises ImportError, with what to install, without rclpy or robotmem_msgs.
    """
    messages, services = _interfaces()
    from . import _ros_node

    return _ros_node.make(messages, services, memory, name)


def _interfaces() -> tuple[Any, Any]:
    """The messages and the services of robotmem_msgs. Raises ImportError, with what to install."""
    try:
        importlib.import_module("rclpy")
    except ImportError as err:
        raise ImportError(
            "rclpy is not here. It comes with ROS 2 and not from PyPI: install ROS 2 (https://docs.ros.org), run `source /opt/ros/$ROS_DISTRO/setup.bash`, "
            "and use the Python of that ROS, with robotmem-node installed for it"
        ) from err
    try:
        return importlib.import_module("robotmem_msgs.msg"), importlib.import_module("robotmem_msgs.srv")
    except ImportError as err:
        raise ImportError(
            "the interfaces are not built: python -m robotmem_node.ros --interfaces ~/ros2_ws/src && cd ~/ros2_ws && "
            "colcon build --packages-select robotmem_msgs && source install/setup.bash"
        ) from err


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: write the interface package, or run the node until Ctrl-C."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    own = given[: given.index("--ros-args")] if "--ros-args" in given else given
    parser = argparse.ArgumentParser(
        prog="python -m robotmem_node.ros", description="A ROS 2 node with the services of a memory. Its parameters follow --ros-args -p NAME:=VALUE: db_path, url, collection, embedder, perception_qos, queue_size, topics, pose_topic.",
    )
    parser.add_argument("--interfaces", metavar="FOLDER", help="write the package robotmem_msgs into this folder of a workspace, and end")
    chosen = parser.parse_args(own)
    if chosen.interfaces is not None:
        target = os.path.join(os.path.expanduser(chosen.interfaces), "robotmem_msgs")
        if os.path.exists(target):
            print("robotmem_node.ros: %s exists; remove it to write it anew" % target, file=sys.stderr)
            return 2
        shutil.copytree(os.path.join(os.path.dirname(os.path.abspath(__file__)), "robotmem_msgs"), target, ignore=shutil.ignore_patterns("__pycache__"))
        print("%s\nnow: colcon build --packages-select robotmem_msgs && source install/setup.bash" % target)
        return 0
    try:
        messages, services = _interfaces()
    except ImportError as err:
        print("robotmem_node.ros: %s" % err, file=sys.stderr)
        return 1
    from . import _ros_node

    return _ros_node.run(messages, services, given)


if __name__ == "__main__":
    sys.exit(main())
