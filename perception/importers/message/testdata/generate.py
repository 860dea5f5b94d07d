"""Writes ../definitions.txt and messages.json from the rosbags package.

    pip install rosbags==0.11.9 && python3 generate.py

messages.json holds, for each type of the packages below, one message of made-up
values: its CDR in both byte orders as rosbags writes it, and the values.
"""
import base64, json, random, re
from pathlib import Path

import numpy as np
from rosbags.typesys import Stores, get_typestore

here = Path(__file__).parent
store = get_typestore(Stores.ROS2_HUMBLE)
packages = ("std_msgs", "builtin_interfaces", "geometry_msgs", "sensor_msgs", "nav_msgs", "tf2_msgs")
more = ("action_msgs/msg/GoalInfo", "action_msgs/msg/GoalStatus", "action_msgs/msg/GoalStatusArray", "unique_identifier_msgs/msg/UUID", "rcl_interfaces/msg/ParameterEvent", "rcl_interfaces/msg/Parameter", "rcl_interfaces/msg/ParameterValue", "rosgraph_msgs/msg/Clock", "diagnostic_msgs/msg/DiagnosticArray", "diagnostic_msgs/msg/DiagnosticStatus", "diagnostic_msgs/msg/KeyValue", "rcl_interfaces/msg/Log", "trajectory_msgs/msg/JointTrajectory", "trajectory_msgs/msg/JointTrajectoryPoint")
names = sorted(n for n in store.fielddefs if "/msg/" in n and (n.split("/")[0] in packages or n in more))

with open(here / "../definitions.txt", "w") as out:
    for name in names:
        text = store.generate_msgdef(name, ros_version=2)[0].split("=" * 80)[0].rstrip("\n")
        out.write(f"= {name.replace('/msg/', '/')}\n{text}\n" if text else f"= {name.replace('/msg/', '/')}\n")

rng = random.Random(7)
ranges = {"int8": (-128, 127), "uint8": (0, 255), "byte": (0, 127), "char": (0, 255), "octet": (0, 255), "int16": (-2**15, 2**15 - 1), "uint16": (0, 2**16 - 1), "int32": (-2**31, 2**31 - 1), "uint32": (0, 2**32 - 1), "int64": (-2**53, 2**53), "uint64": (0, 2**53)}


def base(name):
    if name == "string":
        return "".join(rng.choice("abc xyz/_é夹") for _ in range(rng.randrange(0, 9)))
    if name == "bool":
        return rng.random() < 0.5
    if name == "float32":
        return float(np.float32(rng.uniform(-1000, 1000)))
    if name == "float64":
        return rng.uniform(-1000, 1000)
    return rng.randint(*ranges[name])


def make(desc):
    kind, arg = int(desc[0]), desc[1]
    if kind == 1:
        return base(arg[0])
    if kind == 2:
        return build(arg)
    sub, count = arg if kind in (3, 4) else (arg, 0)
    if kind == 4:
        count = rng.randrange(0, 4)
    values = [make(sub) for _ in range(count)]
    if int(sub[0]) == 1 and sub[1][0] != "string":
        dtype = {"bool": "bool", "byte": "uint8", "char": "uint8", "octet": "uint8"}.get(sub[1][0], sub[1][0])
        return np.array(values, dtype=dtype)
    return values


def build(name):
    fields = store.fielddefs[name][1]
    return store.types[name](**{n: make(d) for n, d in fields})


def plain(v):
    if isinstance(v, np.ndarray):
        return [plain(x) for x in v.tolist()]
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if hasattr(v, "__dataclass_fields__"):
        return {n: plain(getattr(v, n)) for n in v.__dataclass_fields__ if n not in ("__msgtype__", "structure_needs_at_least_one_member") and not re.fullmatch(r"[A-Z0-9_]+", n)}
    return v


out = []
for name in names:
    for _ in range(2):
        m = build(name)
        out.append({"type": name, "le": base64.b64encode(bytes(store.serialize_cdr(m, name, little_endian=True))).decode(), "be": base64.b64encode(bytes(store.serialize_cdr(m, name, little_endian=False))).decode(), "value": plain(m)})
(here / "messages.json").write_text("[\n" + ",\n".join(json.dumps(o, ensure_ascii=False) for o in out) + "\n]\n")
