"""Writes foxglove.mcap: messages in protobuf with Foxglove's schemas.

    pip install foxglove-sdk==0.30.3 && python3 protobuf.py
"""
import math
import struct
import zlib
from pathlib import Path

import foxglove
from foxglove import Channel
from foxglove import messages as m

here = Path(__file__).parent
path = here / "foxglove.mcap"
path.unlink(missing_ok=True)
context = foxglove.Context()


def png(gray):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + bytes([gray] * 8) for _ in range(8))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


start = 1_700_000_000
with foxglove.open_mcap(path, context=context):
    channels = {}

    def put(topic, message, ns):
        if topic not in channels:
            channels[topic] = Channel(topic, schema=type(message).get_schema(), message_encoding="protobuf", context=context)
        channels[topic].log(message.encode(), log_time=ns)

    for i in range(40):
        ns = start * 10**9 + i * 10**8
        t = m.Timestamp(sec=ns // 10**9, nsec=ns % 10**9)
        x = i * 0.1
        q = m.Quaternion(x=0, y=0, z=math.sin(x / 2), w=math.cos(x / 2))
        put("/tf", m.FrameTransforms(transforms=[m.FrameTransform(timestamp=t, parent_frame_id="odom", child_frame_id="base_link", translation=m.Vector3(x=x, y=2.0, z=0.0), rotation=q)]), ns + 1000)
        put("/map_to_odom", m.FrameTransform(timestamp=t, parent_frame_id="map", child_frame_id="odom", translation=m.Vector3(x=10.0, y=0.0, z=0.0), rotation=m.Quaternion(x=0, y=0, z=0, w=1)), ns + 1000)
        put("/pose", m.PoseInFrame(timestamp=t, frame_id="map", pose=m.Pose(position=m.Vector3(x=x + 10, y=2.0, z=0.0), orientation=q)), ns + 2000)
        put("/joints", m.JointStates(timestamp=t, joints=[m.JointState(name="a", position=x), m.JointState(name="b", position=-x, velocity=1.0)]), ns + 3000)
        if i % 10 == 5:
            put("/camera", m.CompressedImage(timestamp=t, frame_id="camera", data=png(i), format="png"), ns + 4000)
            put("/raw", m.RawImage(timestamp=t, frame_id="camera", width=4, height=2, encoding="mono8", step=4, data=bytes(range(i, i + 8))), ns + 4000)
            cloud = b"".join(struct.pack("<ffff", j, x, 0.5, 7) for j in range(5))
            F = m.PackedElementFieldNumericType
            put("/cloud", m.PointCloud(timestamp=t, frame_id="lidar", pose=m.Pose(position=m.Vector3(x=0, y=0, z=0), orientation=m.Quaternion(x=0, y=0, z=0, w=1)), point_stride=16, fields=[m.PackedElementField(name=n, offset=4 * k, type=F.Float32) for k, n in enumerate(("x", "y", "z", "intensity"))], data=cloud), ns + 5000)
            put("/fix", m.LocationFix(timestamp=t, frame_id="gps", latitude=52.5 + x, longitude=13.4, altitude=30.0), ns + 6000)
            put("/log", m.Log(timestamp=t, level=m.LogLevel.Error if i == 25 else m.LogLevel.Info, name="planner", message="no path to the goal" if i == 25 else "planning", file="p.cpp", line=i), ns + 7000)
