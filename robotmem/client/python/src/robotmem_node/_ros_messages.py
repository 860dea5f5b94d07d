"""Messages of ROS 1 and 2, as dictionaries, as what a memory stores.

A dictionary has the fields of the message: {"header": {"stamp": {"sec": 1, "nanosec": 0}, "frame_id": "map"},
"pose": {…}}. to_dict makes one out of a message of rclpy, rospy or rosbags. Arrays of bytes may be bytes,
arrays, lists, or base64 as rosbridge sends them. No function here needs ROS.
"""

from __future__ import annotations

import array
import base64
import dataclasses
import datetime
import math
import sys
from typing import Any, Mapping, NamedTuple, Sequence

from ._operations import Object

_CLOCK_SET = 946_684_800  # the year 2000: the clock of a simulator counts from 0
_DEPTHS = {"16UC1": "mm", "32FC1": "m"}  # REP 118
_DEPTH_HEAD = 12  # bytes that compressed_depth_image_transport puts before a PNG


def to_dict(message: Any) -> Any:
    """A message of rclpy, rospy or rosbags as a dictionary; other values as they are."""
    if isinstance(message, Mapping):
        return {name: to_dict(value) for name, value in message.items()}
    if hasattr(message, "get_fields_and_field_types"):  # rclpy
        return {name: to_dict(getattr(message, name)) for name in message.get_fields_and_field_types()}
    if dataclasses.is_dataclass(message) and not isinstance(message, type):  # rosbags
        return {field.name: to_dict(getattr(message, field.name)) for field in dataclasses.fields(message) if field.name != "__msgtype__"}
    if type(message).__module__.partition(".")[0] in ("genpy", "rospy") or hasattr(message, "_full_text"):  # ROS 1
        return {name: to_dict(getattr(message, name)) for name in message.__slots__}
    if isinstance(message, (list, tuple)):
        return [to_dict(value) for value in message]
    return message


def stamp(message: Mapping[str, Any]) -> float | None:
    """The time of a message in seconds since 1970: that of its header, {sec, nanosec}, in ROS 1 {secs,
    nsecs}. None if it has none, or the clock was not set: it is 0 or that of a simulator."""
    found = _stamp(message)
    return found if found is not None and found >= _CLOCK_SET else None


def observed_at(message: Mapping[str, Any]) -> str | None:
    """stamp as RFC 3339 with nanoseconds, for observed_at."""
    if stamp(message) is None:
        return None
    time = message["header"]["stamp"]
    seconds, nanoseconds = divmod(int(time.get("sec", time.get("secs", 0))) * 10**9 + int(time.get("nanosec", time.get("nsecs", 0))), 10**9)
    return "%s.%09dZ" % (datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S"), nanoseconds)


def _stamp(message: Mapping[str, Any]) -> float | None:
    header = message.get("header")
    time = header.get("stamp") if isinstance(header, Mapping) else None
    if not isinstance(time, Mapping):
        return None
    return float(time.get("sec", time.get("secs", 0))) + float(time.get("nanosec", time.get("nsecs", 0))) / 1e9


def frame_id(message: Mapping[str, Any]) -> str:
    """The frame of the header, without the slash with which ROS 1 began it; "" if there is none."""
    header = message.get("header")
    return str(header.get("frame_id", "")).lstrip("/") if isinstance(header, Mapping) else ""


def spatial(message: Mapping[str, Any]) -> Object:
    """The section spatial of a context from a Pose, Point, Transform, Odometry, or a message of theirs with a
    header or a covariance: position [x, y, z] in metres, orientation [x, y, z, w], frame_id.

    Raises ValueError for a message without a position, and for one whose numbers are not finite.
    """
    found: Mapping[str, Any] = message
    while True:
        inner = next((found[name] for name in ("pose", "transform", "point") if isinstance(found.get(name), Mapping)), None)
        if inner is None:
            break
        found = inner
    position = found.get("position", found.get("translation", found))
    orientation = found.get("orientation", found.get("rotation"))
    out: Object = {"position": _numbers(position, "xyz", "a position")}
    if isinstance(orientation, Mapping):
        turned = _numbers(orientation, "xyzw", "an orientation")
        if any(turned):  # a quaternion of zeros was never set
            out["orientation"] = turned
    if frame_id(message):
        out["frame_id"] = frame_id(message)
    return out


def _numbers(found: Any, axes: str, what: str) -> list[float]:
    if not isinstance(found, Mapping) or not all(axis in found for axis in axes):
        raise ValueError("the message has no %s with %s" % (what, ", ".join(axes)))
    out = [float(found[axis]) for axis in axes]
    if not all(map(math.isfinite, out)):
        raise ValueError("%s of the message is not finite: %s" % (what, out))
    return out


class Sample(NamedTuple):
    """One sample of a trace: values, with a channel and a unit ("" if unknown) for each."""

    values: list[float]
    channels: list[str]
    units: list[str]
    kind: str


def sample(kind: str, message: Mapping[str, Any]) -> Sample:
    """A JointState, Wrench, WrenchStamped or Imu as a sample; kind is the type of the message.

    Joint channels are shoulder.position, shoulder.velocity and shoulder.effort, as far as they are given;
    their units are not: rad for a joint that turns, m for one that slides. Raises ValueError for another type
    and for a JointState whose arrays do not fit its names.
    """
    name = short(kind)
    if name == "sensor_msgs/JointState":
        return _joints(message)
    if name in ("geometry_msgs/WrenchStamped", "geometry_msgs/Wrench"):
        wrench = message.get("wrench", message)
        values = _vector(wrench, "force") + _vector(wrench, "torque")
        return Sample(values, ["Fx", "Fy", "Fz", "Tx", "Ty", "Tz"], ["N"] * 3 + ["Nm"] * 3, "wrench")
    if name == "sensor_msgs/Imu":
        return _imu(message)
    raise ValueError("a message of %s is no sample; JointState, Wrench, WrenchStamped and Imu are" % kind)


def _joints(message: Mapping[str, Any]) -> Sample:
    names = [str(n) for n in message.get("name", ())]
    values: list[float] = []
    channels: list[str] = []
    for part in ("position", "velocity", "effort"):
        given = [float(v) for v in message.get(part, ())]
        if given and len(given) != len(names):
            raise ValueError("the JointState has %d names and %d values of %s" % (len(names), len(given), part))
        values += given
        channels += ["%s.%s" % (n, part) for n in names[: len(given)]]
    if not values:
        raise ValueError("the JointState has no values")
    return Sample(values, channels, [""] * len(values), "joint_state")


def _imu(message: Mapping[str, Any]) -> Sample:
    out = Sample([], [], [], "imu")
    for part, axes, letter, unit in (("angular_velocity", "xyz", "w", "rad/s"), ("linear_acceleration", "xyz", "a", "m/s^2"), ("orientation", "xyzw", "q", "")):
        covariance = message.get(part + "_covariance")
        if part not in message or (covariance is not None and len(covariance) and float(covariance[0]) == -1):  # not measured
            continue
        out.values.extend(float(message[part][axis]) for axis in axes)
        out.channels.extend(letter + axis for axis in axes)
        out.units.extend([unit] * len(axes))
    if not out.values:
        raise ValueError("the Imu has no values")
    return out


def _vector(message: Any, name: str) -> list[float]:
    found = message.get(name) if isinstance(message, Mapping) else None
    if not isinstance(found, Mapping):
        raise ValueError("the message has no %s with x, y, z" % name)
    return [float(found[axis]) for axis in "xyz"]


SAMPLED = ("sensor_msgs/JointState", "geometry_msgs/WrenchStamped", "geometry_msgs/Wrench", "sensor_msgs/Imu")
PICTURED = ("sensor_msgs/Image", "sensor_msgs/CompressedImage", "sensor_msgs/PointCloud2")


def perception(kind: str, message: Mapping[str, Any], topic: str = "") -> Object:
    """What save_perception stores of a message; kind is its type, such as sensor_msgs/msg/Image.

    An Image becomes raw pixels, a CompressedImage its JPEG or PNG (also the PNG of compressedDepth), a
    PointCloud2 its points, each byte for byte; a JointState, Wrench, WrenchStamped or Imu a trace of one sample.
    Metadata has what is needed to read it, the topic, the frame, and the stamp if it is no time since 1970.
    A message with a pose also gives the place. Raises ValueError for another type and for a damaged message.
    """
    name = short(kind)
    out: Object = {"description": "%s of %s" % (name.partition("/")[2], topic or name), "source": (topic or name)[:64]}
    metadata: Object = {"topic": topic} if topic else {}
    if name == "sensor_msgs/Image":
        metadata.update({key: _whole(message, key) for key in ("width", "height", "step", "is_bigendian")}, encoding=str(message.get("encoding", "")))
        if metadata["encoding"] in _DEPTHS:
            metadata.update(kind="depth", units=_DEPTHS[metadata["encoding"]])
        out.update(perception_type="visual", media_type="image/x-raw", data_base64=_payload(message, metadata["step"] * metadata["height"]))
    elif name == "sensor_msgs/CompressedImage":
        metadata["format"] = str(message.get("format", ""))
        data = _payload(message, 1)
        if "compressedDepth" in metadata["format"] and data[_DEPTH_HEAD:].startswith(b"\x89PNG"):
            metadata["encoding"] = metadata["format"].partition(";")[0].strip()
            if metadata["encoding"] == "16UC1":
                metadata.update(kind="depth", units="mm")
            data = data[_DEPTH_HEAD:]
        out.update(perception_type="visual", data_base64=data)
    elif name == "sensor_msgs/PointCloud2":
        metadata.update({key: _whole(message, key) for key in ("width", "height", "point_step", "row_step", "is_bigendian")})
        metadata["fields"] = [{"name": str(f["name"]), **{key: _whole(f, key) for key in ("offset", "datatype", "count")}} for f in message.get("fields", ())]
        out.update(perception_type="spatial", media_type="application/x-pointcloud2", data_base64=_payload(message, metadata["row_step"] * metadata["height"]))
    else:
        values, channels, units, what = sample(kind, message)
        metadata.update(kind=what, dtype="<f8", shape=[1, len(values)], channels=channels)
        if any(units):
            metadata["units"] = units
        out.update(perception_type="tactile" if what == "wrench" else "proprioceptive", media_type="application/x-samples", data_base64=_doubles(values))
    out["metadata"] = metadata
    return placed(out, message)


def placed(fields: Object, message: Mapping[str, Any]) -> Object:
    """Fields of save_perception with the time, the frame and the place of a message."""
    metadata = dict(fields.get("metadata") or {})
    if observed_at(message):
        fields["observed_at"] = observed_at(message)
    elif _stamp(message):
        metadata["stamp_s"] = _stamp(message)
    if isinstance(message.get("pose"), Mapping):
        fields["context"] = {**(fields.get("context") or {}), "spatial": spatial(message)}
    elif frame_id(message):
        metadata["frame_id"] = frame_id(message)
    if metadata:
        fields["metadata"] = metadata
    return fields


def short(kind: str) -> str:
    """The name of a type as in ROS 1: sensor_msgs/Image for sensor_msgs/msg/Image."""
    return kind.replace("/msg/", "/")


def _whole(message: Mapping[str, Any], name: str) -> int:
    if name not in message:
        raise ValueError("the message has no %s" % name)
    return int(message[name])


def _payload(message: Mapping[str, Any], least: int) -> bytes:
    """The field data as bytes. Raises ValueError if it has fewer than the message says."""
    value: Any = message.get("data")
    if value is None:
        raise ValueError("the message has no data")
    if isinstance(value, str):  # rosbridge
        found = base64.b64decode(value, validate=True)
    elif hasattr(value, "tobytes"):
        found = bytes(value.tobytes())
    else:
        found = bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else bytes(bytearray(_list(value)))
    if not found or len(found) < least:
        raise ValueError("the message has %d bytes of data and needs %d" % (len(found), max(1, least)))
    return found


def _list(value: Sequence[Any]) -> list[int]:
    return [int(v) for v in value]


def _doubles(values: list[float]) -> bytes:
    out = array.array("d", values)
    if sys.byteorder == "big":
        out.byteswap()
    return out.tobytes()
