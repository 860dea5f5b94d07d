"""Writes frames.json: one frame of each message of the common dialect with random fields, as pymavlink packs it.

    frames.py > frames.json
"""
import json, os, random, sys

version = 1 if "1" in sys.argv[1:] else 2
from pymavlink.dialects.v20 import common as d

LIMITS = {"uint8_t": (0, 255), "int8_t": (-128, 127), "uint16_t": (0, 65535), "int16_t": (-32768, 32767),
          "uint32_t": (0, 2**32 - 1), "int32_t": (-2**31, 2**31 - 1), "uint64_t": (0, 2**53), "int64_t": (-2**53, 2**53)}
random.seed(1)
out = []
for number, m in sorted(d.mavlink_map.items()):
    if number < 0:
        continue
    values = {}
    for at, name in enumerate(m.fieldnames):
        kind, length = m.fieldtypes[at], m.array_lengths[m.ordered_fieldnames.index(name)]
        if kind == "char":
            values[name] = "".join(random.choice("abcxyz ") for _ in range(random.randint(0, max(1, length)))).strip() or "a"
            continue
        def one():
            if kind in ("float", "double"):
                return random.randint(-1000, 1000) / 4
            return random.randint(*LIMITS[kind])
        values[name] = [one() for _ in range(length)] if length else one()
    encoded = {k: v.encode() if isinstance(v, str) else v for k, v in values.items()}
    mav = d.MAVLink(None, srcSystem=7, srcComponent=1)
    mav.seq = number % 256
    out.append({"name": m.msgname, "frame": bytes(m(**encoded).pack(mav)).hex(), "fields": values})
print(json.dumps(out, separators=(",", ":")))
