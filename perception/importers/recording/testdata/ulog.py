"""Writes ulog/made.ulg, a log with all kinds of records, and ulog.json: what pyulog reads in it, in other logs and in
damaged copies of them.

    pip install pyulog==1.3.0 && python3 ulog.py FILE...

A damaged copy is the file cut to so many bytes, with a byte changed at each of some places.
"""
import contextlib
import hashlib
import io
import json
import math
import random
import struct
import sys
from pathlib import Path

from pyulog import ULog

here = Path(__file__).parent


def record(kind, body):
    return struct.pack("<HB", len(body), ord(kind)) + body


def key(kind, typ, name, value):
    text = f"{typ} {name}".encode()
    return record(kind, bytes([len(text)]) + text + value)


def made():
    start = 5_000_000
    definitions = b""
    for text in ("part:float x;uint8_t n;char[3] tag;", "whole:uint64_t timestamp;int8_t a;uint16_t b;int32_t c;int64_t d;double e;bool on;float[3] xyz;uint8_t[4] raw;part one;part[2] two;uint8_t[5] _padding0;",
                 "vehicle_status:uint64_t timestamp;bool failsafe;uint8_t[7] _padding0;", "gyro:uint64_t timestamp;float[3] xyz;uint32_t id;"):
        definitions += record("F", text.encode())
    definitions += key("I", "char[3]", "sys_name", b"PX4") + key("I", "uint32_t", "ver_sw_release", struct.pack("<I", 17498624)) + key("I", "int32_t", "time_ref_utc", struct.pack("<i", -3600))
    definitions += record("M", b"\0" + key("I", "char[2]", "perf", b"ab")[3:]) + record("Q", b"\1" + key("P", "float", "MC_ROLL_P", struct.pack("<f", 6.5))[3:])
    definitions += key("P", "float", "MC_ROLL_P", struct.pack("<f", 6.1)) + key("P", "int32_t", "SYS_AUTOSTART", struct.pack("<i", 4001)) + key("P", "float", "BAD", struct.pack("<f", math.nan))
    data = b""
    for i, (multi, name) in enumerate(((0, b"whole"), (0, b"gyro"), (1, b"gyro"), (0, b"vehicle_status"))):
        data += record("A", struct.pack("<BH", multi, i) + name)
    for i in range(200):
        ts = start + i * 10_000
        data += record("D", struct.pack("<HQbHiqd?3f4B", 0, ts, -i % 100, i * 7, -i * 1000, -i * 10**9, i / 3, i % 2, i, -i, 0.1, 1, 2, 3, i) + b"".join(struct.pack("<fB3s", k + i, k, b"a\0b") for k in range(3)))
        data += record("D", struct.pack("<HQ3fI", 1, ts + 1, math.sin(i), math.nan, math.inf, 7)) + record("D", struct.pack("<HQ3fI", 2, ts + 2, math.cos(i), 0, 0, 8))
        if i % 50 == 10:
            data += record("D", struct.pack("<HQ?", 3, ts + 3, i == 110)) + record("S", ULog.SYNC_BYTES)
        if i in (60, 120):
            data += record("L", struct.pack("<BQ", ord("4" if i == 60 else "2"), ts + 4) + (b"[commander] low battery" if i == 60 else b"[commander] engine failure"))
        if i == 70:
            data += record("C", struct.pack("<BHQ", ord("6"), 9, ts + 4) + b"tagged") + record("L", struct.pack("<BQ", ord("6"), ts + 5) + b"hello")
        if i == 100:
            data += key("P", "float", "MC_ROLL_P", struct.pack("<f", 7.25)) + record("O", struct.pack("<H", 35)) + record("R", struct.pack("<H", 9))
        if i == 150:
            data += record("Z", b"a newer kind")
    head = ULog.HEADER_BYTES + b"\1" + struct.pack("<Q", start)

    def whole(appended):
        flags = record("B", bytes(8) + bytes([1 if appended else 0]) + bytes(7) + struct.pack("<3Q", appended, 0, 0))
        return head + flags + definitions + data
    # The crash cuts the last record, and what was appended follows.
    cut = len(whole(1)) + 7
    return whole(cut) + record("L", struct.pack("<BQ", ord("0"), 9) + b"cut by the crash")[:7] + record("L", struct.pack("<BQ", ord("0"), start + 10**7) + b"hard fault")


def numbers(d):
    """Hashes the values in the order of the rows; of arrays of bytes the bytes."""
    columns = []
    for field in d.field_data:
        column = d.data[field.field_name]
        raw = column.dtype.itemsize == 1 and field.field_name.endswith("]")
        if field.type_str == "bool" and not raw:
            column = column != 0  # a damaged one has another value than 0 and 1
        columns.append([x.tobytes() if raw else struct.pack("<d", 0.125 if math.isnan(x) else float(x)) for x in column])
    digest = hashlib.sha256()
    for row in zip(*columns):
        digest.update(b"".join(row))
    return digest.hexdigest()[:16]


def described(data):
    with contextlib.redirect_stdout(io.StringIO()):
        log = ULog(io.BytesIO(data))
    topics = {}
    for d in log.data_list:
        t = d.data["timestamp"]
        topics[f"/{d.name}" + (f"/{d.multi_id}" if d.multi_id else "")] = {"count": len(t), "type": f"ulog/{d.name}", "first": str(int(t[0]) * 1000), "last": str(int(t[-1]) * 1000), "numbers": numbers(d)}
    lines = [[m.timestamp * 1000, m.log_level - 48, m.message] for m in log.logged_messages] + [[m.timestamp * 1000, m.log_level - 48, m.message] for some in log.logged_messages_tagged.values() for m in some]
    return {
        "topics": topics, "lines": sorted(lines), "dropouts": [d.duration for d in log.dropouts], "corrupt": bool(log.file_corruption),
        "initial": {k: (None if isinstance(v, float) and math.isnan(v) else v) for k, v in sorted(log.initial_parameters.items())} if len(log.initial_parameters) < 10 else len(log.initial_parameters),
        "changed": [[t * 1000, k, v] for t, k, v in log.changed_parameters],
        "info": {k: v for k, v in sorted(log.msg_info_dict.items())},
    }


(here / "ulog" / "made.ulg").write_bytes(made())
rng = random.Random(7)
out = []
for path in [here / "ulog" / "made.ulg", *map(Path, sys.argv[1:])]:
    data = path.read_bytes()
    out.append({"file": path.name, "cut": len(data), "flips": [], **described(data)})
    first = data.index(b"\0A") if path.name == "made.ulg" else 60_000
    for k in range(16):
        cut = rng.randrange(first, len(data)) if k < 4 else len(data)
        flips = [] if k < 4 else [[rng.randrange(first, cut), rng.randrange(1, 256)] for _ in range(1 + k % 3)]
        damaged = bytearray(data[:cut])
        for at, mask in flips:
            damaged[at] ^= mask
        out.append({"file": path.name, "cut": cut, "flips": flips, **described(bytes(damaged))})
for one in out:
    first = next(o for o in out if o["file"] == one["file"])
    if one is not first:
        # A damaged copy lists the topics that differ from those of the whole file, and null for those that it lacks.
        topics = {k: one["topics"].get(k) for k, v in first["topics"].items() if one["topics"].get(k) != v}
        one["topics"] = topics | {k: v for k, v in one["topics"].items() if k not in first["topics"]}
        del one["info"], one["initial"]
(here / "ulog.json").write_text("[\n" + ",\n".join(json.dumps(o, sort_keys=True) for o in out) + "\n]\n")
