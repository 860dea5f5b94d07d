"""The node of rclpy that ros.node makes. Nothing here runs without ROS 2; its decisions are in ros and _ros_messages."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import time
from typing import Any, Callable

from . import ros
from ._memory import Memory
from ._recorder import Recorder

_ERRORS_EVERY = 10.0  # seconds between two warnings of one topic
_REPORT_EVERY = 10.0  # seconds


def make(messages: Any, services: Any, memory: Memory | None, name: str) -> Any:
    """The node, with its services, topics and parameters; see ros.node."""
    import rclpy.callback_groups
    import rclpy.node
    import rclpy.qos

    made = rclpy.node.Node(name)
    parameter = {key: made.declare_parameter(key, default).value for key, default in (
        ("db_path", ""), ("url", ""), ("collection", ""), ("embedder", ""), ("perception_qos", "reliable"), ("queue_size", 1000), ("topics", [""]), ("pose_topic", ""),
    )}
    if parameter["perception_qos"] not in ("reliable", "best_effort"):
        raise ValueError("perception_qos is reliable or best_effort, not %r" % parameter["perception_qos"])
    if memory is None:
        options = ["--embedder", parameter["embedder"]] if parameter["embedder"] else []
        memory = Memory(parameter["url"] or parameter["db_path"] or None, options=options)
    collection = parameter["collection"] or None
    made.robotmem = _Robotmem(made, memory, collection, int(parameter["queue_size"]))

    # Calls wait for the memory side by side, each in a thread of the executor.
    group = rclpy.callback_groups.ReentrantCallbackGroup()
    for service in ros.SERVICES:
        kind = getattr(services, "".join(part.capitalize() for part in service.split("_")))
        made.create_service(kind, "~/" + service, _callback(service, memory, collection, messages.Memory), callback_group=group)

    depth = rclpy.qos.QoSProfile(depth=100)
    if parameter["perception_qos"] == "best_effort":
        depth.reliability = rclpy.qos.ReliabilityPolicy.BEST_EFFORT
    made.create_subscription(messages.PerceptionData, "~/perception", lambda message: made.robotmem.queue.push(ros.to_dict(message)), depth)  # one at a time: seq counts
    made.create_timer(_REPORT_EVERY, made.robotmem.report)
    for line in filter(None, parameter["topics"]):
        made.robotmem.follow(line, rclpy.qos.qos_profile_sensor_data)
    if parameter["pose_topic"]:
        made.robotmem.follow_pose(parameter["pose_topic"], rclpy.qos.qos_profile_sensor_data)

    late = rclpy.qos.QoSProfile(depth=1, durability=rclpy.qos.DurabilityPolicy.TRANSIENT_LOCAL)
    publisher, said = made.create_publisher(messages.NodeStatus, "~/ready", late), ros.status(memory, collection, parameter["embedder"])
    made.robotmem.ready = lambda ready: publisher.publish(ros.fill(messages.NodeStatus(), {**said, "ready": ready}, messages.Memory))
    made.robotmem.ready(True)
    return made


def _callback(service: str, memory: Memory, collection: str | None, make_memory: Any) -> Any:
    call = ros.SERVICES[service]
    return lambda request, response: ros.fill(response, call(memory, ros.to_dict(request), collection), make_memory)


class _Robotmem:
    """What a node has beside its services: the queue, the recorders of its topics, the place of the robot."""

    ready: Callable[[bool], None]  # publishes the state of the node

    def __init__(self, node: Any, memory: Memory, collection: str | None, limit: int):
        self.node, self.memory, self.collection = node, memory, collection
        self.queue = ros.PerceptionQueue(memory, collection, limit)
        self.place: dict[str, Any] | None = None
        self._recorders: dict[str, Recorder] = {}
        self._next: dict[str, float] = {}
        self._warned: dict[str, float] = {}
        self._told = (0, 0, 0)

    def report(self) -> None:
        """Log what happened to perceptions since the last call, if some were not stored."""
        now = (self.queue.dropped, self.queue.failed, self.queue.lost)
        if now != self._told:
            self._told = now
            self.node.get_logger().warning("perceptions so far: %d stored, %d dropped, %d refused, %d lost on the way; %s" % (self.queue.stored, *now, self.queue.error or "no error"))

    def follow(self, line: str, qos: Any) -> None:
        """Store a topic: "TOPIC TYPE" or "TOPIC TYPE HZ"."""
        found = re.fullmatch(r"\s*(\S+)\s+(\w+)(?:/msg)?/(\w+)(?:\s+(\d+(?:\.\d+)?))?\s*", line)
        kind = "%s/%s" % found.group(2, 3) if found else ""
        if found is None or kind not in ros.SAMPLED + ros.PICTURED:
            raise ValueError('topics has %r; a line is "TOPIC TYPE" or "TOPIC TYPE HZ", such as "/camera sensor_msgs/msg/Image 2", of %s' % (line, ", ".join(ros.SAMPLED + ros.PICTURED)))
        topic, package, name, rate = found.groups()
        period = 1 / float(rate) if rate and float(rate) else 0.0
        store = self._record if kind in ros.SAMPLED else self._queue
        self.node.create_subscription(getattr(importlib.import_module(package + ".msg"), name), topic, lambda message: self._take(store, topic, kind, period, message), qos)

    def follow_pose(self, topic: str, qos: Any) -> None:
        def take(message: Any) -> None:
            try:
                self.place = ros.spatial(ros.to_dict(message))
            except ValueError as err:
                self._warn(topic, err)

        self.node.create_subscription(importlib.import_module("geometry_msgs.msg").PoseStamped, topic, take, qos)

    def _take(self, store: Any, topic: str, kind: str, period: float, message: Any) -> None:
        now = time.monotonic()
        if now < self._next.get(topic, 0.0):
            return
        self._next[topic] = now + period
        try:
            store(topic, kind, ros.to_dict(message))
        except Exception as err:  # one message must not end the node
            self._warn(topic, err)

    def _queue(self, topic: str, kind: str, message: dict[str, Any]) -> None:
        self.queue.push({"type": kind, "message": message, "topic": topic, "spatial": self.place}, ros.sense)

    def _record(self, topic: str, kind: str, message: dict[str, Any]) -> None:
        values, channels, units, what = ros.sample(kind, message)
        if topic not in self._recorders:
            self._recorders[topic] = self.memory.recorder(topic, channels=channels, units=units if all(units) else None, kind=what, collection=self.collection)
        self._recorders[topic].push(ros.stamp(message) or time.time(), values)

    def _warn(self, topic: str, err: object) -> None:
        if time.monotonic() >= self._warned.get(topic, 0.0):
            self._warned[topic] = time.monotonic() + _ERRORS_EVERY
            self.node.get_logger().warning("%s: %s" % (topic, err))

    def close(self) -> None:
        """Store what waits, and end the memory if this node started it."""
        with contextlib.suppress(Exception):  # after Ctrl-C rclpy may be shut down
            self.ready(False)
        for recorder in self._recorders.values():
            try:
                recorder.close(5)
            except Exception as err:
                self._warn(recorder.source, err)
        self.queue.close()
        with contextlib.suppress(Exception):
            self.report()
        self.memory.close()


def run(messages: Any, services: Any, arguments: list[str]) -> int:
    """Spin the node until it is shut down; returns the exit code."""
    import rclpy
    import rclpy.executors

    rclpy.init(args=[sys.argv[0], *arguments])
    made = None
    try:
        made = make(messages, services, None, "robotmem")
        executor = rclpy.executors.MultiThreadedExecutor()
        executor.add_node(made)
        made.get_logger().info("the memory is at %s" % made.robotmem.memory.url)
        executor.spin()
    except (KeyboardInterrupt, rclpy.executors.ExternalShutdownException):
        pass
    except Exception as err:
        print("robotmem_node.ros: %s" % err, file=sys.stderr)
        return 1
    finally:
        if made is not None:
            made.robotmem.close()
            made.destroy_node()
        if rclpy.ok():
            rclpy.shutdown()
    return 0
