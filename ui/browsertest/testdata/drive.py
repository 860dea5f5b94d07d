"""Makes drive.mcap: eight seconds of a robot that drives 2.4 m through a hall.

    pip install mcap-ros2-support av numpy
    python drive.py drive.mcap

The robot is at x = 5 m + 0.3 m/s, y = 7 m in map, and at x = 0.3 m/s in odom. Its
speed in /odom swings around 0.3 m/s, its left motor reports an error at second 5,
and a bar moves to the right in the video.
"""

import fractions
import math
import sys

import av
import numpy as np
from mcap_ros2.writer import Writer

START = 1_778_750_000  # 14 May 2026, 09:13:20 UTC
SECONDS = 8
SPEED = 0.3  # m/s

TYPES = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Pose": "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation",
    "geometry_msgs/PoseWithCovariance": "geometry_msgs/Pose pose\nfloat64[36] covariance",
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular",
    "geometry_msgs/TwistWithCovariance": "geometry_msgs/Twist twist\nfloat64[36] covariance",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation",
    "geometry_msgs/TransformStamped": "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform",
    "geometry_msgs/Wrench": "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque",
    "sensor_msgs/NavSatStatus": "int8 status\nuint16 service",
    "diagnostic_msgs/KeyValue": "string key\nstring value",
    "diagnostic_msgs/DiagnosticStatus": "byte level\nstring name\nstring message\nstring hardware_id\ndiagnostic_msgs/KeyValue[] values",
}
TOPICS = {
    "/odom": ("nav_msgs/msg/Odometry", "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist"),
    "/amcl_pose": ("geometry_msgs/msg/PoseWithCovarianceStamped", "std_msgs/Header header\ngeometry_msgs/PoseWithCovariance pose"),
    "/fix": ("sensor_msgs/msg/NavSatFix", "std_msgs/Header header\nsensor_msgs/NavSatStatus status\nfloat64 latitude\nfloat64 longitude\nfloat64 altitude\nfloat64[9] position_covariance\nuint8 position_covariance_type"),
    "/tf": ("tf2_msgs/msg/TFMessage", "geometry_msgs/TransformStamped[] transforms"),
    "/tf_static": ("tf2_msgs/msg/TFMessage", "geometry_msgs/TransformStamped[] transforms"),
    "/diagnostics": ("diagnostic_msgs/msg/DiagnosticArray", "std_msgs/Header header\ndiagnostic_msgs/DiagnosticStatus[] status"),
    "/rosout": ("rcl_interfaces/msg/Log", "builtin_interfaces/Time stamp\nuint8 level\nstring name\nstring msg\nstring file\nstring function\nuint32 line"),
    "/wrist/wrench": ("geometry_msgs/msg/WrenchStamped", "std_msgs/Header header\ngeometry_msgs/Wrench wrench"),
    "/camera/h264": ("foxglove_msgs/msg/CompressedVideo", "builtin_interfaces/Time timestamp\nstring frame_id\nuint8[] data\nstring format"),
    "/robot_description": ("std_msgs/msg/String", "string data"),
}


def definition(text):
    """The text with all types that it uses, as ros2msg takes it."""
    used, waiting = [], [text]
    while waiting:
        for line in waiting.pop().splitlines():
            name = line.split()[0].removesuffix("[]")
            if name in TYPES and name not in used:
                used.append(name)
                waiting.append(TYPES[name])
    return text + "".join(f"\n{'=' * 80}\nMSG: {name}\n{TYPES[name]}" for name in used)


def stamp(t):
    return {"sec": int(t), "nanosec": round(t % 1 * 1e9)}


def header(t, frame):
    return {"stamp": stamp(t), "frame_id": frame}


def xyz(x=0.0, y=0.0, z=0.0):
    return {"x": x, "y": y, "z": z}


def turn(yaw=0.0):
    return {"x": 0.0, "y": 0.0, "z": math.sin(yaw / 2), "w": math.cos(yaw / 2)}


def pose(x, y):
    return {"pose": {"position": xyz(x, y), "orientation": turn()}, "covariance": [0.0] * 36}


def transform(t, parent, child, x, y, yaw=0.0):
    return {"header": header(t, parent), "child_frame_id": child, "transform": {"translation": xyz(x, y), "rotation": turn(yaw)}}


def video():
    """Images of 160 by 120 pixels at 10 Hz as Annex B, a key every second."""
    codec = av.CodecContext.create("libx264", "w")
    codec.width, codec.height, codec.pix_fmt = 160, 120, "yuv420p"
    codec.time_base, codec.framerate = fractions.Fraction(1, 10), fractions.Fraction(10)
    codec.options = {"tune": "zerolatency", "preset": "veryfast", "g": "10", "x264-params": "repeat-headers=1:annexb=1"}
    for i in range(SECONDS * 10):
        image = np.full((120, 160, 3), (0, 0, 60), np.uint8)
        image[40:80, i * 140 // (SECONDS * 10) :][:, :12] = (255, 200, 0)
        frame = av.VideoFrame.from_ndarray(image, format="rgb24")
        frame.pts = i
        yield from (bytes(p) for p in codec.encode(frame))


def messages():
    yield START, "/tf_static", {"transforms": [transform(START - 30 * 86400, "base_link", child, 0.2, 0, yaw) for child, yaw in (("laser", 0.0), ("camera", 0.1))]}
    yield START, "/robot_description", {"data": "<robot name='amr3'/>"}
    for i in range(SECONDS * 20):
        s = i / 20
        t, x = START + s, SPEED * s
        speed = {"twist": {"linear": xyz(SPEED + 0.05 * math.sin(i / 10)), "angular": xyz(z=0.1 * math.cos(i / 15))}, "covariance": [0.0] * 36}
        yield t, "/odom", {"header": header(t, "odom"), "child_frame_id": "base_link", "pose": pose(x, 0.0), "twist": speed}
        yield t, "/tf", {"transforms": [transform(t, "odom", "base_link", x, 0.0)] + ([transform(t, "map", "odom", 5.0, 7.0)] if i % 10 == 0 else [])}
    for i in range(SECONDS):
        t, x = START + i, SPEED * i
        hot = i == 5
        yield t, "/amcl_pose", {"header": header(t, "map"), "pose": pose(5 + x, 7.0)}
        yield t, "/fix", {"header": header(t, "gps"), "status": {"status": 0, "service": 1}, "latitude": 48.1 + x * 1e-5, "longitude": 11.6, "altitude": 500.0, "position_covariance": [0.0] * 9, "position_covariance_type": 0}
        yield t, "/diagnostics", {"header": header(t, ""), "status": [
            {"level": 1 if i > 6 else 0, "name": "battery", "message": "low" if i > 6 else "ok", "hardware_id": "b1", "values": [{"key": "voltage", "value": f"{25 - i / 4:.2f}"}]},
            {"level": 2 if hot else 0, "name": "motor left", "message": "over temperature" if hot else "ok", "hardware_id": "m1", "values": []},
        ]}
        yield t + 0.5, "/rosout", {"stamp": stamp(t + 0.5), "level": 40 if hot else 20, "name": "controller", "msg": "motor left is hot" if hot else f"goal {i} reached", "file": "controller.cpp", "function": "tick", "line": 12}
    for i in range(SECONDS * 100):
        t = START + i / 100
        yield t, "/wrist/wrench", {"header": header(t, "wrist"), "wrench": {"force": xyz(z=5 + 2 * math.sin(i / 30)), "torque": xyz(z=0.1)}}
    for i, data in enumerate(video()):
        t = START + i / 10
        yield t, "/camera/h264", {"timestamp": stamp(t), "frame_id": "camera", "data": data, "format": "h264"}


with open(sys.argv[1], "wb") as f:
    out = Writer(f)
    schemas = {topic: out.register_msgdef(name, definition(text)) for topic, (name, text) in TOPICS.items()}
    for t, topic, message in sorted(messages(), key=lambda m: m[0]):
        ns = int(t) * 10**9 + round(t % 1 * 1e9)
        out.write_message(topic, schemas[topic], message, log_time=ns, publish_time=ns)
    out.finish()
