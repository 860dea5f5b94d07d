"""Writes messages.txt: the messages of the common dialect, from the definitions that pymavlink has.

    make.py > ../messages.txt

A line is the number, the extra byte of the checksum, the name, and the fields in the order of the wire, each
as type:name or type:name:length.
"""
from pymavlink.dialects.v20 import common as d

TYPES = {"uint8_t": "u1", "int8_t": "i1", "uint16_t": "u2", "int16_t": "i2", "uint32_t": "u4", "int32_t": "i4",
         "uint64_t": "u8", "int64_t": "i8", "float": "f4", "double": "f8", "char": "c1"}

for number, m in sorted(d.mavlink_map.items()):
    if number < 0:
        continue
    out = []
    # pymavlink lists names and types in the order of the definition, and where each is on the wire.
    for name in m.ordered_fieldnames:
        at = m.fieldnames.index(name)
        kind, length = m.fieldtypes[at], m.array_lengths[m.ordered_fieldnames.index(name)]
        out.append(":".join([TYPES[kind], name] + ([str(length)] if length else [])))
    print(number, m.crc_extra, m.msgname, *out)
