"""Writes bags of ROS 1 into the folder ros1, and ros1.json: what rosbags reads in them and in other bags.

    pip install rosbags==0.11.9 && python3 ros1.py FILE...

For each topic ros1.json has the number of messages, the first and the last time, and hashes: of the times and bytes of
the messages, and of the numbers and texts that rosbags decodes.
"""
import hashlib
import json
import math
import struct
import sys
from pathlib import Path

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

here = Path(__file__).parent
store = get_typestore(Stores.ROS1_NOETIC)
store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms\n", "tf2_msgs/msg/TFMessage"))
T = store.types


def header(seq, ns, frame):
    return T["std_msgs/msg/Header"](seq=seq, stamp=T["builtin_interfaces/msg/Time"](sec=ns // 10**9, nanosec=ns % 10**9), frame_id=frame)


def pose(x, y):
    return T["geometry_msgs/msg/Pose"](position=T["geometry_msgs/msg/Point"](x=x, y=y, z=0.0), orientation=T["geometry_msgs/msg/Quaternion"](x=0.0, y=0.0, z=0.0, w=1.0))


def vector(x, y, z):
    return T["geometry_msgs/msg/Vector3"](x=x, y=y, z=z)


def write(path, compression):
    path.unlink(missing_ok=True)
    writer = Writer(path)
    writer.chunk_threshold = 16 << 10
    if compression:
        writer.set_compression(compression)
    with writer:
        def connect(topic, name, **more):
            return writer.add_connection(topic, name, typestore=store, **more)

        odom = connect("/odom", "nav_msgs/msg/Odometry", callerid="/base")
        tf = connect("/tf", "tf2_msgs/msg/TFMessage", callerid="/amcl")
        rosout = connect("/rosout", "rosgraph_msgs/msg/Log", callerid="/move_base")
        second = connect("/rosout", "rosgraph_msgs/msg/Log", callerid="/base")
        scan = connect("/scan", "sensor_msgs/msg/LaserScan", callerid="/laser", latching=1)
        image = connect("/camera/image", "sensor_msgs/msg/Image", callerid="/camera")
        empty = connect("/bump", "std_msgs/msg/Empty", callerid="/base")
        levels = connect("/levels", "std_msgs/msg/ByteMultiArray", callerid="/base")

        def put(connection, ns, message):
            writer.write(connection, ns, store.serialize_ros1(message, message.__msgtype__))

        start = 1_700_000_000 * 10**9
        for i in range(100):
            ns = start + i * 10**8
            x = i * 0.05
            put(odom, ns + 5, T["nav_msgs/msg/Odometry"](header=header(i, ns, "odom"), child_frame_id="base_link", pose=T["geometry_msgs/msg/PoseWithCovariance"](pose=pose(x, math.sin(x)), covariance=np.arange(36.0)), twist=T["geometry_msgs/msg/TwistWithCovariance"](twist=T["geometry_msgs/msg/Twist"](linear=vector(0.5, 0.0, 0.0), angular=vector(0.0, 0.0, 0.1)), covariance=np.zeros(36))))
            if i % 5 == 0:
                put(tf, ns + 7, T["tf2_msgs/msg/TFMessage"](transforms=[T["geometry_msgs/msg/TransformStamped"](header=header(i, ns, "/map"), child_frame_id="/odom", transform=T["geometry_msgs/msg/Transform"](translation=vector(1.0, 2.0, 0.0), rotation=T["geometry_msgs/msg/Quaternion"](x=0.0, y=0.0, z=0.0, w=1.0)))]))
                put(scan, ns + 3, T["sensor_msgs/msg/LaserScan"](header=header(i, ns, "laser"), angle_min=-1.5, angle_max=1.5, angle_increment=0.05, time_increment=0.0, scan_time=0.1, range_min=0.1, range_max=30.0, ranges=np.linspace(1, 5, 61, dtype=np.float32), intensities=np.array([math.nan, math.inf], dtype=np.float32)))
            if i % 25 == 0:
                put(image, ns, T["sensor_msgs/msg/Image"](header=header(i, ns, "camera"), height=8, width=8, encoding="mono8", is_bigendian=0, step=8, data=np.arange(64, dtype=np.uint8) + i))
                put(empty, ns, T["std_msgs/msg/Empty"]())
                put(levels, ns, T["std_msgs/msg/ByteMultiArray"](layout=T["std_msgs/msg/MultiArrayLayout"](dim=[T["std_msgs/msg/MultiArrayDimension"](label="x", size=3, stride=1)], data_offset=0), data=np.array([1, 2, 3], dtype=np.uint8)))
            if i in (40, 70):
                put(rosout, ns, T["rosgraph_msgs/msg/Log"](header=header(i, ns, ""), level=8, name="/move_base", msg="Aborting because a valid plan could not be found", file="move_base.cpp", function="executeCycle", line=900 + i, topics=["/rosout", "/odom"]))
            if i % 10 == 0:
                put(second, ns, T["rosgraph_msgs/msg/Log"](header=header(i, ns, ""), level=2, name="/base", msg=f"moving {i}", file="", function="", line=1, topics=[]))


def flat(value, out):
    """Appends the numbers and texts of a value, in the order of its fields."""
    if isinstance(value, np.ndarray) and value.dtype.itemsize == 1:
        out.append(value.tobytes())
    elif isinstance(value, (np.ndarray, list, tuple)):
        for one in value:
            flat(one, out)
    elif isinstance(value, str):
        out.append(value.encode() + b"\0")
    elif isinstance(value, (int, float, np.number, bool, np.bool_)):
        number = float(value)
        out.append(struct.pack("<d", 0.125 if math.isnan(number) else number))
    else:
        for name, _ in fields[value.__msgtype__]:
            if name != "structure_needs_at_least_one_member":
                flat(getattr(value, name), out)


(here / "ros1").mkdir(exist_ok=True)
for name, compression in (("none", None), ("bz2", Writer.CompressionFormat.BZ2), ("lz4", Writer.CompressionFormat.LZ4)):
    write(here / "ros1" / f"{name}.bag", compression)

oracle = {}
for path in [*sorted((here / "ros1").glob("*.bag")), *map(Path, sys.argv[1:])]:
    topics = {}
    with AnyReader([path]) as reader:
        fields = {name: one[1] for name, one in reader.typestore.fielddefs.items()}
        rows = [(time, bytes(raw), c) for c, time, raw in reader.messages()]
        for c in reader.connections:
            topics.setdefault(c.topic, {"count": 0, "type": c.msgtype.replace("/msg/", "/")})
        for topic, about in topics.items():
            data, numbers = hashlib.sha256(), hashlib.sha256()
            for time, raw, c in sorted((r for r in rows if r[2].topic == topic), key=lambda r: (r[0], r[1])):
                out = []
                flat(reader.deserialize(raw, c.msgtype), out)
                data.update(struct.pack("<QI", time, len(raw)) + raw)
                numbers.update(b"".join(out))
                about.setdefault("first", str(time))
                about["count"], about["last"] = about["count"] + 1, str(time)
            about["data"], about["numbers"] = data.hexdigest()[:16], numbers.hexdigest()[:16]
    oracle[path.name] = topics
(here / "ros1.json").write_text(json.dumps(oracle, indent="\t", sort_keys=True) + "\n")
