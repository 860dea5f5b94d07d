"""Writes protobuf.json: messages in protobuf, and their values as Google's library reads them.

    pip install mcap==1.6.0 mcap-protobuf-support==0.6.0 && python3 protobuf.py

It holds messages of types of its own in the languages proto2 and proto3, which have every kind of field, and those of
../../recording/testdata/foxglove.mcap.
"""
import base64
import json
import random
from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor as F
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

here = Path(__file__).parent
rng = random.Random(7)
kinds = {n[5:].lower(): getattr(F, n) for n in dir(F) if n.startswith("TYPE_")}


def file(name, syntax):
    """A file of own definitions: a message of every kind of field."""
    out = descriptor_pb2.FileDescriptorProto(name=f"{name}.proto", package=name, syntax=syntax)
    out.enum_type.add(name="Color").value.extend([descriptor_pb2.EnumValueDescriptorProto(name=f"{name}_{n}".upper(), number=k) for n, k in (("red", 0), ("green", 5), ("blue", -2))])
    part = out.message_type.add(name="Part")
    part.field.add(name="a", number=1, type=F.TYPE_INT32, label=1)
    part.field.add(name="text", number=2, type=F.TYPE_STRING, label=1)
    part.field.add(name="next", number=3, type=F.TYPE_MESSAGE, type_name=f".{name}.Part", label=1)
    whole = out.message_type.add(name="Whole")
    number = 0
    for kind, value in sorted(kinds.items()):
        more = {"type_name": f".{name}.Color"} if kind == "enum" else {"type_name": f".{name}.Part"} if kind == "message" else {}
        if kind == "group":
            if syntax == "proto3":
                continue
            # The type of a group has the name of its field.
            for form in ("One", "Many"):
                whole.nested_type.add(name=f"{form}_group").field.add(name="x", number=1, type=F.TYPE_SINT32, label=1)
            more = {"type_name": f".{name}.Whole.One_group"}
        number += 1
        whole.field.add(name=f"one_{kind}", number=number, type=value, label=1, **more)
        number += 1
        if kind == "group":
            more = {"type_name": f".{name}.Whole.Many_group"}
        many = whole.field.add(name=f"many_{kind}", number=number, type=value, label=3, **more)
        # The other form than that of the language.
        if kind not in ("string", "bytes", "message", "group") and rng.random() < 0.5:
            many.options.packed = syntax == "proto2"
    entry = whole.nested_type.add(name="LabelsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=F.TYPE_STRING, label=1)
    entry.field.add(name="value", number=2, type=F.TYPE_MESSAGE, type_name=f".{name}.Part", label=1)
    whole.field.add(name="labels", number=500, type=F.TYPE_MESSAGE, type_name=f".{name}.Whole.LabelsEntry", label=3)
    whole.oneof_decl.add(name="either")
    whole.field.add(name="this", number=501, type=F.TYPE_DOUBLE, label=1, oneof_index=0)
    whole.field.add(name="that", number=502, type=F.TYPE_STRING, label=1, oneof_index=0)
    if syntax == "proto3":
        whole.oneof_decl.add(name="_maybe")
        whole.field.add(name="maybe", number=503, type=F.TYPE_FLOAT, label=1, oneof_index=1, proto3_optional=True)
    return out


ranges = {F.TYPE_INT32: 32, F.TYPE_SINT32: 32, F.TYPE_SFIXED32: 32, F.TYPE_INT64: 53, F.TYPE_SINT64: 53, F.TYPE_SFIXED64: 53}
unsigned = {F.TYPE_UINT32: 32, F.TYPE_FIXED32: 32, F.TYPE_UINT64: 53, F.TYPE_FIXED64: 53}


def scalar(f):
    if f.type in ranges:
        return rng.choice([0, -1, rng.randint(-2 ** (ranges[f.type] - 1), 2 ** (ranges[f.type] - 1) - 1)])
    if f.type in unsigned:
        return rng.randrange(2 ** unsigned[f.type])
    if f.type == F.TYPE_BOOL:
        return rng.random() < 0.5
    if f.type == F.TYPE_ENUM:
        return rng.choice([v.number for v in f.enum_type.values])
    if f.type == F.TYPE_STRING:
        return "".join(rng.choice("abc xyz/_é夹") for _ in range(rng.randrange(0, 9)))
    if f.type == F.TYPE_BYTES:
        return rng.randbytes(rng.randrange(0, 9))
    return rng.uniform(-1000, 1000)


def fill(m, depth=0):
    for f in m.DESCRIPTOR.fields:
        if rng.random() < 0.2 or depth > 3:
            continue
        if f.message_type and f.message_type.GetOptions().map_entry:
            for k in range(rng.randrange(3)):
                fill(getattr(m, f.name)[f"k{k}"], depth + 1)
        elif f.is_repeated:
            for _ in range(rng.randrange(1, 4)):
                if f.message_type:
                    fill(getattr(m, f.name).add(), depth + 1)
                else:
                    getattr(m, f.name).append(scalar(f))
        elif f.message_type:
            getattr(m, f.name).SetInParent()
            fill(getattr(m, f.name), depth + 1)
        else:
            setattr(m, f.name, scalar(f))


def plain(m):
    out = {}
    for f in m.DESCRIPTOR.fields:
        v = getattr(m, f.name)

        def one(v):
            return plain(v) if f.message_type else list(v) if f.type == F.TYPE_BYTES else v
        if f.message_type and f.message_type.GetOptions().map_entry:
            out[f.name] = [{"key": k, "value": plain(x)} for k, x in sorted(v.items())]
        elif f.is_repeated:
            out[f.name] = [one(x) for x in v]
        elif f.has_presence and not m.HasField(f.name):
            out[f.name] = None
        else:
            out[f.name] = one(v)
    return out


out = []


def add(name, schema, data, m):
    out.append({"type": name, "schema": base64.b64encode(schema).decode(), "data": base64.b64encode(data).decode(), "value": plain(m)})


for syntax in ("proto2", "proto3"):
    proto = file(f"own_{syntax}", syntax)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(proto)
    whole = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"own_{syntax}.Whole"))
    schema = descriptor_pb2.FileDescriptorSet(file=[proto]).SerializeToString()
    for i in range(12):
        m = whole()
        if i:
            fill(m)
        data = m.SerializeToString(deterministic=True)
        add(f"own_{syntax}.Whole", schema, data, m)
    # Written twice, the parts are merged.
    other = whole()
    fill(other)
    both = data + other.SerializeToString(deterministic=True)
    add(f"own_{syntax}.Whole", schema, both, whole.FromString(both))

seen = {}
with open(here / "../../recording/testdata/foxglove.mcap", "rb") as f:
    for schema, channel, message, decoded in make_reader(f, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
        seen[channel.topic] = seen.get(channel.topic, 0) + 1
        if seen[channel.topic] in (2, 3):
            add(schema.name, schema.data, message.data, decoded)
(here / "protobuf.json").write_text("[\n" + ",\n".join(json.dumps(o, ensure_ascii=False) for o in out) + "\n]\n")
