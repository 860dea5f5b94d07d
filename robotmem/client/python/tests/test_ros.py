"""The services for ROS with the types of Humble and Jazzy, and of ROS 1, as rosbags serialises them. rclpy itself needs
an installed ROS 2: a stand-in takes its place where the node is wired."""

import base64
import contextlib
import io
import json
import math
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock

from robotmem_node import Memory, RobotmemError, ros
from robotmem_node._ros_messages import Sample

try:
    import numpy
    import PIL.Image
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore
except ImportError:
    if os.environ.get("CI"):
        raise
    numpy = None

SECONDS = 1_770_000_000  # 2026-02-02T02:40:00Z


def stores():
    """The stores of both distributions with the types of robotmem_msgs; requests and responses are messages."""
    for version in (Stores.ROS2_HUMBLE, Stores.ROS2_JAZZY):
        store = get_typestore(version)
        for path, text in ros.definitions().items():
            folder, _, name = path.rpartition("/")
            stem, _, kind = name.partition(".")
            if folder == "msg":
                store.register(get_types_from_msg(text, "robotmem_msgs/msg/" + stem))
            elif folder == "srv":
                for half, part in zip(("Request", "Response"), text.split("---\n")):
                    store.register(get_types_from_msg(part, "robotmem_msgs/msg/%s_%s" % (stem, half)))
        yield store


def made(store, name, values):
    """A message of a store out of a dictionary; what is not given is empty, as ROS has it."""
    cls, out = store.types[name], {}
    for field, (node, inner) in store.fielddefs[name][1]:
        value = values.get(field)
        if int(node) == 2:  # a message in it
            out[field] = made(store, inner, value or {})
        elif int(node) in (3, 4) and int(inner[0][0]) == 2:
            out[field] = [made(store, inner[0][1], v) for v in value or []]
        elif int(node) in (3, 4) and inner[0][1][0] != "string":
            kind = inner[0][1][0].replace("octet", "uint8").replace("byte", "uint8")
            length = inner[1] if int(node) == 3 else 0
            out[field] = numpy.asarray(value if value is not None else [0] * length, dtype=kind)
        elif int(node) in (3, 4):
            out[field] = list(value or [])
        else:
            out[field] = value if value is not None else {"string": "", "bool": False}.get(inner[0], 0)
    return cls(**out)


def through(store, name, values):
    """values as a message of a store, to CDR and back, as a dictionary."""
    return ros.to_dict(store.deserialize_cdr(store.serialize_cdr(made(store, name, values), name), name))


def plain(value):
    """A dictionary with lists in place of arrays, so that two can be compared."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value.tolist() if hasattr(value, "tolist") else value


class WithMemory(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.m = Memory(os.path.join(self.dir, "m.db"), options=["--embedder", "none"])

    def tearDown(self):
        self.m.close()
        shutil.rmtree(self.dir)


@unittest.skipUnless(numpy, "pip install rosbags numpy pillow")
class Services(WithMemory):
    def call(self, store, service, request, collection=None):
        """Call a service as ROS does: both ways through CDR. What comes out equals what was answered."""
        name = "robotmem_msgs/msg/" + "".join(part.capitalize() for part in service.split("_"))
        answer = ros.SERVICES[service](self.m, through(store, name + "_Request", request), collection)
        fields = [field for field, _ in store.fielddefs[name + "_Response"][1]]
        self.assertEqual(sorted(answer), sorted(fields))
        self.assertEqual(plain(through(store, name + "_Response", answer)), answer)
        return answer

    def test_an_episode(self):
        for i, store in enumerate(stores()):
            robot = "robot%d" % i
            begun = self.call(store, "start_session", {"context": '{"task":{"name":"hold a glass"}}', "collection": robot})
            self.assertEqual((begun["success"], begun["error"], begun["collection"], begun["active_memories_count"]), (True, "", robot, 0))
            session = begun["session_id"]
            context = '{"params":{"grip_force":"%s N"},"task":{"name":"hold a glass","success":true}}'
            learnt = self.call(store, "learn", {"insight": "grip_force=12.5 N holds the glass 玻璃", "context": context % 12.5, "session_id": session}, "another")
            self.assertEqual((learnt["success"], learnt["status"]), (True, "created"))
            self.assertLessEqual({"category", "confidence", "tags", "uid"}, json.loads(learnt["auto_inferred_json"]).keys())
            again = self.call(store, "learn", {"insight": "grip_force=12.5 N holds the glass 玻璃", "context": context % 12.5, "session_id": session})
            self.assertEqual((again["success"], again["status"], again["memory_id"]), (True, "duplicate", learnt["memory_id"]))
            for force in (12, 13):
                self.call(store, "learn", {"insight": "grip_force=%d N holds the glass" % force, "context": context % force, "session_id": session})
            sensed = self.call(store, "save_perception", {"description": "force at the finger", "perception_type": "tactile", "data": "t,fz\n0,1.5\n0.01,9.8", "metadata": '{"units":"N"}', "session_id": session})
            self.assertEqual((sensed["success"], self.m.read_data(sensed["memory_id"])), (True, b"t,fz\n0,1.5\n0.01,9.8"))
            found = self.call(store, "recall", {"query": "how to hold the glass", "n": 2, "context_filter": '{"params.grip_force":{"$gt":"12 N"}}'}, robot)
            self.assertEqual((found["total"], found["error"], len(found["memories"])), (2, "", 2))
            first = found["memories"][0]
            self.assertEqual((first["type"], first["perception_type"], first["rrf_score"], first["session_id"]), ("fact", "", 1, session))
            self.assertEqual(json.loads(first["context_json"])["task"]["success"], True)
            advice = self.call(store, "advise", {"task": "hold a glass"}, robot)
            self.assertEqual((advice["success"], advice["has_suggestion"]), (True, True))
            self.assertIn("params.grip_force", json.loads(advice["parameters_json"]))
            changed = self.call(store, "update", {"memory_id": learnt["memory_id"], "new_content": "grip_force=12.5 N holds the wet glass"})
            self.assertEqual((changed["success"], changed["old_content"], changed["new_content_out"]), (True, "grip_force=12.5 N holds the glass 玻璃", "grip_force=12.5 N holds the wet glass"))
            ended = self.call(store, "end_session", {"session_id": session, "has_outcome_score": True, "outcome_score": 0.9})
            self.assertEqual((ended["success"], json.loads(ended["summary_json"])["outcome_score"]), (True, 0.9))
            self.assertIn("merged_groups", json.loads(ended["consolidated_json"]))
            second = self.call(store, "start_session", {"context": '{"task":{"name":"hold a glass"}}'}, robot)
            ended = self.call(store, "end_session", {"session_id": second["session_id"]})
            self.assertTrue(all(m["id"] and m["content"] for m in ended["related_memories"]))
            gone = self.call(store, "forget", {"memory_id": learnt["memory_id"], "reason": "measured again"})
            self.assertEqual(gone, {"success": True, "error": ""})

    def test_failures_are_answers(self):
        store = next(iter(stores()))
        for service, request, words in (
            ("learn", {}, "insight"), ("learn", {"insight": "x", "context": "{"}, "context"), ("learn", {"insight": "x", "session_id": "none"}, "session_id"),
            ("recall", {}, "query"), ("recall", {"query": "x", "context_filter": '{"a":{"$near":1}}'}, "$near"),
            ("save_perception", {"description": "abc"}, "description"), ("save_perception", {"description": "a force", "metadata": "[1]"}, "metadata"),
            ("forget", {"memory_id": 99, "reason": "x"}, "99"), ("update", {"memory_id": 99, "new_content": "x"}, "99"),
            ("start_session", {"context": "no JSON"}, "context"), ("end_session", {"session_id": "none"}, "session"),
            ("end_session", {"session_id": "none", "has_outcome_score": True, "outcome_score": math.nan}, "outcome_score"),
        ):
            with self.subTest(service, request=request):
                answer = self.call(store, service, request)
                self.assertFalse(answer.get("success", False))
                self.assertIn(words, answer["error"])
        for service, call in ros.SERVICES.items():  # requests that no ROS makes, and a node that is away
            for request in ({}, {"memory_id": "x", "n": "x", "outcome_score": "x", "has_outcome_score": True}):
                self.assertNotEqual(call(self.m, request)["error"], "") if service not in ("start_session", "advise") else None
            with unittest.mock.patch.object(self.m._http, "call", side_effect=RobotmemError("unavailable", "", "no answer")):
                self.assertEqual(call(self.m, {"insight": "a", "query": "a", "memory_id": 1, "reason": "a"})["error"], "no answer")
            with unittest.mock.patch.object(self.m._http, "call", side_effect=MemoryError()):
                self.assertEqual(call(self.m, {"insight": "a", "query": "a", "memory_id": 1, "reason": "a"})["error"], "MemoryError")

    def test_defaults_of_a_request(self):
        self.m.learn("the cup is blue", collection="kitchen")
        self.assertEqual(ros.recall(self.m, {"query": "cup"}, "kitchen")["total"], 1)
        self.assertEqual(ros.recall(self.m, {"query": "cup"}, "hall")["total"], 0)
        self.assertEqual(ros.recall(self.m, {"query": "cup", "collection": "*"}, "hall")["total"], 1)
        self.assertEqual(ros.recall(self.m, {"query": "cup", "min_confidence": 0.99}, "kitchen")["total"], 0)
        self.assertEqual(ros.recall(self.m, {"query": "cup", "min_confidence": -1.0}, "kitchen")["total"], 1)

    def test_status(self):
        self.m.learn("the cup is blue", collection="kitchen")
        for store in stores():
            for collection, count in (("kitchen", 1), ("hall", 0), (None, 1)):
                said = ros.status(self.m, collection)
                self.assertEqual(plain(through(store, "robotmem_msgs/msg/NodeStatus", said)), said)
                self.assertEqual((said["ready"], said["active_memories_count"]), (True, count))


@unittest.skipUnless(numpy, "pip install rosbags numpy pillow")
class Perceptions(WithMemory):
    HEADER = {"stamp": {"sec": SECONDS, "nanosec": 123456789}, "frame_id": "camera_link"}

    def sensed(self, store, kind, values, **more):
        answer = ros.sense(self.m, {"type": kind, "message": through(store, kind, values), "topic": "/topic", **more})
        self.assertEqual(answer["error"], "")
        return self.m.get(answer["memory_id"])

    def test_perception_data(self):
        for i, store in enumerate(stores()):
            message = {
                "header": self.HEADER, "seq": 7, "perception_type": "tactile", "description": "force of the push", "data": "t,fz\n0,1.5\n0.01,%d" % i,
                "metadata": '{"units":"N"}', "collection": "kitchen",
            }
            answer = ros.perceive(self.m, through(store, "robotmem_msgs/msg/PerceptionData", message))
            self.assertEqual((answer["success"], answer["error"]), (True, ""))
            p = self.m.get(answer["memory_id"])
            self.assertEqual((p.observed_at.text, p.metadata["frame_id"], p.metadata["units"], p.perception_type, p.collection), ("2026-02-02T02:40:00.123456789Z", "camera_link", "N", "tactile", "kitchen"))
        self.assertIn("description", ros.perceive(self.m, {"description": "x"})["error"])
        self.assertNotEqual(ros.perceive(self.m, {"description": "a force", "metadata": "{"})["error"], "")
        self.assertIn("metadata is a JSON object", ros.perceive(self.m, {"description": "a force", "metadata": "[1]"})["error"])
        ros1 = {"header": {"stamp": {"secs": SECONDS, "nsecs": 5}, "frame_id": "/map"}, "description": "seen here", "pose": {"position": {"x": 1, "y": 2, "z": 3}, "orientation": {"x": 0, "y": 0, "z": 0, "w": 1}}}
        p = self.m.get(ros.perceive(self.m, ros1)["memory_id"])
        self.assertEqual((p.observed_at.text, p.context["spatial"]), ("2026-02-02T02:40:00.000000005Z", {"position": [1, 2, 3], "orientation": [0, 0, 0, 1], "frame_id": "map"}))
        self.assertEqual(self.m.recall(spatial_sort={"field": "spatial.position", "target": [1, 2, 2.5], "max_distance": 1, "frame_id": "map"}).total, 1)

    def test_images_and_clouds(self):
        pixels = numpy.random.default_rng(1).integers(0, 255, (6, 8, 3), "u1")
        out = io.BytesIO()
        PIL.Image.fromarray(pixels).save(out, "JPEG")
        depth = io.BytesIO()
        PIL.Image.fromarray(numpy.arange(48, dtype="u2").reshape(6, 8) * 100).save(depth, "PNG")
        points = numpy.random.default_rng(2).normal(size=(50, 3)).astype("<f4")
        fields = [{"name": n, "offset": 4 * i, "datatype": 7, "count": 1} for i, n in enumerate("xyz")]
        for store in stores():
            p = self.sensed(store, "sensor_msgs/msg/Image", {"header": self.HEADER, "height": 6, "width": 8, "encoding": "rgb8", "step": 24, "data": pixels.ravel()})
            self.assertEqual((p.perception_type, p.observed_at.text, p.source), ("visual", "2026-02-02T02:40:00.123456789Z", "/topic"))
            self.assertIn("8x6", p.summary)
            self.assertEqual(self.m.read_data(p.memory_id), pixels.tobytes())
            p = self.sensed(store, "sensor_msgs/msg/Image", {"header": self.HEADER, "height": 6, "width": 8, "encoding": "16UC1", "step": 16, "data": (numpy.arange(48, dtype="<u2") * 100).view("u1")})
            self.assertIn("depth", p.summary)
            p = self.sensed(store, "sensor_msgs/msg/CompressedImage", {"header": self.HEADER, "format": "rgb8; jpeg compressed bgr8", "data": numpy.frombuffer(out.getvalue(), "u1")})
            self.assertEqual((p.media_type, self.m.read_data(p.memory_id)), ("image/jpeg", out.getvalue()))
            p = self.sensed(store, "sensor_msgs/msg/CompressedImage", {"header": self.HEADER, "format": "16UC1; compressedDepth png", "data": numpy.frombuffer(bytes(12) + depth.getvalue(), "u1")})
            self.assertEqual((p.media_type, p.metadata["kind"], self.m.read_data(p.memory_id)), ("image/png", "depth", depth.getvalue()))
            cloud = {"header": self.HEADER, "height": 1, "width": 50, "fields": fields, "point_step": 12, "row_step": 600, "data": points.view("u1").ravel(), "is_dense": True}
            p = self.sensed(store, "sensor_msgs/msg/PointCloud2", cloud)
            self.assertIn("50 points", p.summary)
            self.assertEqual((p.perception_type, self.m.read_data(p.memory_id)), ("spatial", points.tobytes()))

    def test_bytes_of_all_senders(self):
        pixels = bytes(range(12))
        for data in (pixels, bytearray(pixels), memoryview(pixels), list(pixels), numpy.frombuffer(pixels, "u1"), base64.b64encode(pixels).decode()):
            made = ros.perception("sensor_msgs/Image", {"height": 2, "width": 2, "encoding": "rgb8", "step": 6, "is_bigendian": 0, "data": data})
            self.assertEqual(made["data_base64"], pixels)
        for message, words in (
            ({"height": 2, "width": 2, "encoding": "rgb8", "step": 6, "is_bigendian": 0, "data": pixels[:5]}, "5 bytes of data and needs 12"),
            ({"height": 2, "width": 2, "encoding": "rgb8", "data": pixels}, "has no step"),
            ({"height": 2, "width": 2, "encoding": "rgb8", "step": 6, "is_bigendian": 0}, "has no data"),
        ):
            self.assertIn(words, ros.sense(self.m, {"type": "sensor_msgs/Image", "message": message})["error"])
        self.assertIn("std_msgs/String is no sample", ros.sense(self.m, {"type": "std_msgs/String", "message": {"data": "x"}})["error"])
        self.assertNotEqual(ros.sense(self.m, {})["error"], "")

    def test_samples(self):
        force = {"force": {"x": 1.5, "y": -2.0, "z": 60.25}, "torque": {"x": 0.1, "y": 0.2, "z": 0.3}}
        joints = {"header": self.HEADER, "name": ["shoulder", "elbow"], "position": [0.1, 0.2], "velocity": [], "effort": [5.0, math.inf]}
        imu = {"header": self.HEADER, "orientation": {"w": 1.0}, "orientation_covariance": [-1] + [0] * 8, "angular_velocity": {"z": 0.5}, "linear_acceleration": {"z": 9.81}}
        for store in stores():
            self.assertEqual(ros.sample("sensor_msgs/msg/JointState", through(store, "sensor_msgs/msg/JointState", joints)), Sample([0.1, 0.2, 5.0, math.inf], ["shoulder.position", "elbow.position", "shoulder.effort", "elbow.effort"], [""] * 4, "joint_state"))
            p = self.sensed(store, "geometry_msgs/msg/WrenchStamped", {"header": self.HEADER, "wrench": force}, spatial={"position": [1.0, 2.0, 3.0]})
            self.assertEqual((numpy.frombuffer(self.m.read_data(p.memory_id)).tolist(), p.perception_type, p.context["spatial"]["position"]), ([1.5, -2, 60.25, 0.1, 0.2, 0.3], "tactile", [1, 2, 3]))
            self.assertIn("6-axis wrench", p.summary)
            p = self.sensed(store, "sensor_msgs/msg/Imu", imu)
            self.assertEqual((p.metadata["channels"], p.metadata["units"][5]), (["wx", "wy", "wz", "ax", "ay", "az"], "m/s^2"))
            self.assertEqual(self.sensed(store, "sensor_msgs/msg/JointState", joints).metadata["kind"], "joint_state")
        for kind, message in (("sensor_msgs/JointState", {"name": ["a"], "position": [1, 2]}), ("sensor_msgs/JointState", {}), ("sensor_msgs/Imu", {}), ("geometry_msgs/Wrench", {"force": {"x": 1, "y": 2, "z": 3}})):
            with self.assertRaises(ValueError):
                ros.sample(kind, message)

    def test_places(self):
        pose = {"position": {"x": 1.0, "y": 2.0, "z": 3.0}, "orientation": {"x": 0.0, "y": 0.0, "z": 1.0, "w": 0.0}}
        want = {"position": [1, 2, 3], "orientation": [0, 0, 1, 0], "frame_id": "camera_link"}
        for store in stores():
            for kind, values in (
                ("PoseStamped", {"pose": pose}), ("PoseWithCovarianceStamped", {"pose": {"pose": pose}}),
                ("TransformStamped", {"transform": {"translation": pose["position"], "rotation": pose["orientation"]}}),
            ):
                self.assertEqual(ros.spatial(through(store, "geometry_msgs/msg/" + kind, {"header": self.HEADER, **values})), want)
            self.assertEqual(ros.spatial(through(store, "nav_msgs/msg/Odometry", {"header": self.HEADER, "pose": {"pose": pose}})), want)
            self.assertEqual(ros.spatial(through(store, "geometry_msgs/msg/PointStamped", {"header": self.HEADER, "point": pose["position"]})), {"position": [1, 2, 3], "frame_id": "camera_link"})
            self.assertEqual(ros.spatial(through(store, "geometry_msgs/msg/Pose", {"position": pose["position"]})), {"position": [1, 2, 3]})
            with self.assertRaises(ValueError):
                ros.spatial(through(store, "geometry_msgs/msg/PoseStamped", {"pose": {"position": {"x": math.nan}}}))
        with self.assertRaises(ValueError):
            ros.spatial({"data": 1})

    def test_times(self):
        for at, seconds, text in (
            ({"sec": SECONDS, "nanosec": 0}, SECONDS, "2026-02-02T02:40:00.000000000Z"), ({"secs": SECONDS, "nsecs": 999999999}, SECONDS + 0.999999999, "2026-02-02T02:40:00.999999999Z"),
            ({"sec": 0, "nanosec": 0}, None, None), ({"sec": 12, "nanosec": 5}, None, None), (None, None, None),
        ):
            message = {"header": {"stamp": at, "frame_id": ""}}
            self.assertEqual((ros.stamp(message), ros.observed_at(message)), (seconds, text))
        simulated = ros.perception("geometry_msgs/WrenchStamped", {"header": {"stamp": {"sec": 12, "nanosec": 500000000}}, "force": dict.fromkeys("xyz", 1), "torque": dict.fromkeys("xyz", 1)})
        self.assertEqual((simulated["metadata"]["stamp_s"], "observed_at" in simulated), (12.5, False))

    def test_ros_1(self):
        store = get_typestore(Stores.ROS1_NOETIC)
        kind = "geometry_msgs/msg/PoseStamped"
        values = {"header": {"seq": 1, "stamp": {"sec": SECONDS, "nanosec": 7}, "frame_id": "/map"}, "pose": {"position": {"x": 1.0}, "orientation": {"w": 1.0}}}
        message = ros.to_dict(store.deserialize_ros1(store.serialize_ros1(made(store, kind, values), kind), kind))
        self.assertEqual((ros.spatial(message), ros.observed_at(message)), ({"position": [1, 0, 0], "orientation": [0, 0, 0, 1], "frame_id": "map"}, "2026-02-02T02:40:00.000000007Z"))


class Queue(WithMemory):
    def test_it_never_waits(self):
        away = threading.Event()
        real = self.m._http.call

        def slow(op, fields):
            away.wait(30)
            return real(op, fields)

        self.m._http.call = slow
        queue = ros.PerceptionQueue(self.m, "kitchen", limit=5)
        began = time.monotonic()
        kept = [queue.push({"seq": seq, "description": "force %d" % seq, "data": "x"}) for seq in (1, 2, 5, 6, 7, 8, 9, 10)]
        self.assertLess(time.monotonic() - began, 1)
        self.assertEqual((sum(kept), queue.lost), (5, 2))
        away.set()
        queue.close()
        self.assertEqual((queue.pushed, queue.stored, queue.dropped, queue.failed), (8, 5, 3, 0))
        self.assertFalse(queue.push({"description": "too late"}))
        self.assertEqual([p.content for p in self.m.list_all(collection="kitchen")][::-1], ["force %d" % seq for seq in (1, 2, 5, 6, 7)])

    def test_a_node_that_is_away_and_messages_that_are_refused(self):
        real, failed = self.m._http.call, []

        def away(op, fields):
            if len(failed) < 3:
                failed.append(op)
                raise RobotmemError("unavailable", "", "no answer")
            return real(op, fields)

        self.m._http.call = away
        queue = ros.PerceptionQueue(self.m)
        for description in ("force 1", "x", "force 2"):
            queue.push({"description": description, "data": "x"})
        queue.close()
        self.assertEqual((queue.stored, queue.failed, queue.dropped), (2, 1, 0))
        self.assertIn("description", queue.error)

    def test_a_close_that_does_not_wait_for_ever(self):
        queue = ros.PerceptionQueue(self.m)
        with unittest.mock.patch.object(self.m._http, "call", side_effect=RobotmemError("unavailable", "", "no answer")):
            queue.push({"description": "force 1", "data": "x"})
            queue.close(0.3)
            self.assertEqual((queue.stored, queue.dropped, queue.error), (0, 1, "no answer"))


class Interfaces(unittest.TestCase):
    def test_the_package_lists_its_files(self):
        texts = ros.definitions()
        listed = {line.strip().strip('"') for line in texts["CMakeLists.txt"].splitlines() if line.strip().startswith('"')}
        self.assertEqual(listed, {path for path in texts if path.endswith((".msg", ".srv"))})
        self.assertEqual({path for path in texts if path.startswith("srv/")}, {"srv/%s.srv" % "".join(part.capitalize() for part in service.split("_")) for service in ros.SERVICES})

    def test_the_command_writes_it(self):
        with tempfile.TemporaryDirectory() as d, contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(ros.main(["--interfaces", d]), 0)
            self.assertIn("colcon build --packages-select robotmem_msgs", out.getvalue())
            for path, text in ros.definitions().items():
                self.assertEqual(pathlib.Path(d, "robotmem_msgs", path).read_text(encoding="utf-8"), text)
            self.assertEqual(ros.main(["--interfaces", d]), 2)
            self.assertIn("exists", err.getvalue())

    def test_what_is_missing(self):
        for modules, words in (({"rclpy": None}, "source /opt/ros"), ({"rclpy": types.ModuleType("rclpy"), "robotmem_msgs": None}, "colcon build --packages-select robotmem_msgs")):
            with unittest.mock.patch.dict(sys.modules, modules), contextlib.redirect_stderr(io.StringIO()) as err:
                with self.assertRaisesRegex(ImportError, words):
                    ros.node()
                self.assertEqual(ros.main([]), 1)
                self.assertIn(words, err.getvalue())


class Message:
    """A message of rclpy: its fields, each with a value of its type."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def get_fields_and_field_types(self):
        return dict.fromkeys(self.__dict__, "")


def rclpy():
    """What a node uses of rclpy, as far as it is documented; it shows that the wiring fits together, no more."""

    class Node:
        def __init__(self, name):
            self.services, self.subscriptions, self.published, self.given, self.log = {}, {}, [], self.parameters, []

        def declare_parameter(self, name, default):
            return types.SimpleNamespace(value=self.given.get(name, default))

        def create_service(self, kind, name, callback, callback_group=None):
            self.services[name] = (kind, callback)

        def create_subscription(self, kind, topic, callback, qos, callback_group=None):
            self.subscriptions[topic] = (kind, callback)

        def create_timer(self, period, callback):
            self.timer = callback

        def create_publisher(self, kind, topic, qos):
            return types.SimpleNamespace(publish=lambda message: self.published.append((topic, message)))

        def get_logger(self):
            return types.SimpleNamespace(warning=self.log.append, info=self.log.append)

        parameters: dict = {}

    anything = unittest.mock.MagicMock
    names = {
        "rclpy": {}, "rclpy.node": {"Node": Node}, "rclpy.qos": {"QoSProfile": anything, "ReliabilityPolicy": anything(), "DurabilityPolicy": anything(), "qos_profile_sensor_data": 1},
        "rclpy.callback_groups": {"ReentrantCallbackGroup": anything}, "robotmem_msgs": {}, "robotmem_msgs.msg": {"Memory": Message, "NodeStatus": Message, "PerceptionData": Message},
        "robotmem_msgs.srv": {name: name for name in ("Learn", "Recall", "SavePerception", "Forget", "Update", "StartSession", "EndSession", "Advise")},
        "sensor_msgs": {}, "sensor_msgs.msg": {"Imu": Message, "Image": Message}, "geometry_msgs": {}, "geometry_msgs.msg": {"PoseStamped": Message, "WrenchStamped": Message},
    }
    modules = {name: types.ModuleType(name) for name in names}
    for name, members in names.items():
        modules[name].__dict__.update(members)
        above, _, last = name.rpartition(".")
        if above:
            setattr(modules[above], last, modules[name])
    return modules


class Wiring(WithMemory):
    def test_a_node(self):
        modules = rclpy()
        modules["rclpy.node"].Node.parameters = {"collection": "kitchen", "topics": ["/wrench geometry_msgs/msg/WrenchStamped", "/camera sensor_msgs/msg/Image 0.01"], "pose_topic": "/pose"}
        with unittest.mock.patch.dict(sys.modules, modules):
            node = ros.node(self.m)
            self.assertEqual(sorted(node.services), sorted("~/" + service for service in ros.SERVICES))
            self.assertEqual(node.published[0][0], "~/ready")
            answer = node.services["~/learn"][1](Message(insight="the cup is blue", context="", collection="", session_id=""), Message())
            self.assertEqual((answer.success, answer.error), (True, ""))
            answer = node.services["~/recall"][1](Message(query="cup", n=0, min_confidence=0.0, session_id="", context_filter="", spatial_sort="", collection=""), Message())
            self.assertEqual([m.content for m in answer.memories], ["the cup is blue"])
            node.subscriptions["~/perception"][1](Message(header=Message(stamp=Message(sec=SECONDS, nanosec=0), frame_id="map"), seq=1, description="a force", data="x"))
            vector = {"x": 1.0, "y": 2.0, "z": 3.0}
            node.subscriptions["/pose"][1](Message(header=Message(stamp=Message(sec=0, nanosec=0), frame_id="map"), pose=Message(position=Message(**vector))))
            node.subscriptions["~/perception"][1](Message(header=Message(stamp=Message(sec=SECONDS, nanosec=0), frame_id="map"), seq=5, description="x", data="x"))
            for i in range(30):
                header = Message(stamp=Message(sec=SECONDS, nanosec=i * 10**7), frame_id="hand")
                node.subscriptions["/wrench"][1](Message(header=header, wrench=Message(force=Message(**vector), torque=Message(**vector))))
                node.subscriptions["/camera"][1](Message(header=header, height=1, width=2, encoding="rgb8", step=6, is_bigendian=0, data=b"abcdef"))
            node.subscriptions["/wrench"][1](Message(header=None))
            self.assertIn("no force", node.log[-1])
            node.robotmem.queue.close()
            node.timer()
            self.assertIn("2 stored, 0 dropped, 1 refused, 3 lost on the way; save_perception: description", node.log[-1])
            with unittest.mock.patch.object(self.m, "close"):
                node.robotmem.close()
            found = list(self.m.list_all(collection="kitchen", type="perception"))
            node.timer()
            self.assertEqual([message.ready for _, message in node.published], [True, False])
            self.assertEqual({p.content for p in found}, {"Image of /camera", "a force", "recording of /wrench"})
            self.assertEqual(next(p for p in found if p.source == "/camera").context["spatial"], {"position": [1, 2, 3], "frame_id": "map"})
            self.assertEqual(sum(p.metadata["shape"][0] for p in found if p.source == "/wrench"), 30)
            for topics in (["/camera"], ["/camera std_msgs/msg/String"], ["/camera sensor_msgs/msg/Image fast"]):
                modules["rclpy.node"].Node.parameters = {"topics": topics}
                with self.assertRaisesRegex(ValueError, "TOPIC TYPE HZ"):
                    ros.node(self.m)


if __name__ == "__main__":
    unittest.main()
