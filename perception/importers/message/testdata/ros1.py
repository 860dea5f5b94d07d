"""Writes ros1.json from the rosbags package: messages of ROS 1 with their definitions.

    pip install rosbags==0.11.9 && python3 ros1.py

It holds, for each type of the packages below, one message of made-up values: the definition as a bag has it, the
bytes as rosbags writes them, and the values.
"""
import base64, json, random
from pathlib import Path

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

store = get_typestore(Stores.ROS1_NOETIC)
own = """int32 LIMIT=5 # a constant
string NAME=a # b is its value
bool on
int8 small
byte level
char letter
byte[] levels
char[3] letters
int64 large
uint64 larger
time at
duration took
time[] times
duration[2] pair
string[] words
string[2] two
own_msgs/Part[] parts
own_msgs/Part[2] both
std_msgs/Empty nothing
Header header
"""
store.register(get_types_from_msg("uint8 a\nfloat64 b\nstring c\nbool[] d\n", "own_msgs/msg/Part"))
store.register(get_types_from_msg(own, "own_msgs/msg/Whole"))
packages = ("std_msgs", "geometry_msgs", "sensor_msgs", "nav_msgs", "tf2_msgs", "diagnostic_msgs", "rosgraph_msgs", "actionlib_msgs", "own_msgs")
names = sorted(n for n in store.fielddefs if "/msg/" in n and n.split("/")[0] in packages)

rng = random.Random(7)
ranges = {"int8": (-128, 127), "uint8": (0, 255), "byte": (0, 127), "char": (0, 255), "octet": (0, 127), "int16": (-2**15, 2**15 - 1), "uint16": (0, 2**16 - 1), "int32": (-2**31, 2**31 - 1), "uint32": (0, 2**32 - 1), "int64": (-2**53, 2**53), "uint64": (0, 2**53)}


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
        return np.array(values, dtype={"byte": "uint8", "char": "uint8", "octet": "uint8"}.get(sub[1][0], sub[1][0]))
    return values


def build(name):
    # The times of ROS 1 are of 32 bits.
    if name == "builtin_interfaces/msg/Time":
        return store.types[name](sec=rng.randint(0, 2**31 - 1), nanosec=rng.randrange(10**9))
    if name == "builtin_interfaces/msg/Duration":
        return store.types[name](sec=rng.randint(-2**31, 2**31 - 1), nanosec=rng.randrange(10**9))
    return store.types[name](**{n: make(d) for n, d in store.fielddefs[name][1]})


def plain(v):
    if isinstance(v, np.ndarray):
        return [plain(x) for x in v.tolist()]
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if hasattr(v, "__dataclass_fields__"):
        return {n: plain(getattr(v, n)) for n, _ in store.fielddefs[v.__msgtype__][1] if n != "structure_needs_at_least_one_member"}
    return v


out = []
for name in names:
    text = own if name == "own_msgs/msg/Whole" else None
    definition = store.generate_msgdef(name, ros_version=1)[0]
    if text:
        definition = text + definition[definition.index("=" * 80):]
    m = build(name)
    out.append({"type": name.replace("/msg/", "/"), "definition": definition, "data": base64.b64encode(bytes(store.serialize_ros1(m, name))).decode(), "value": plain(m)})
(Path(__file__).parent / "ros1.json").write_text("[\n" + ",\n".join(json.dumps(o, ensure_ascii=False) for o in out) + "\n]\n")
