"""Calls the package's public methods as lines of JSON on stdin ask for, one answer a line.

{"url", "op", "request"} -> {"response"} or {"error"}. A payload to save is asked for in turn, with
{"read": bytes} -> {"data"} or {"broken": why}; one that is read is open between calls.
"""

import base64
import io
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"))
import robotmem_node  # noqa: E402
from robotmem_node._values import encode  # noqa: E402


class Payload(io.RawIOBase):
    """What the asker hands out, piece by piece."""

    def read(self, size=-1):
        answer({"read": size})
        piece = ask()
        if "broken" in piece:
            raise OSError(piece["broken"])
        return base64.b64decode(piece.get("data") or "")


def ask():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line, parse_float=robotmem_node.Number)


def answer(value):
    print(encode(value), flush=True)


def run(memory, opened, op, request):
    if op == "open":
        data = memory.open_data(request["memory_id"])
        handle = str(len(opened))
        opened[handle] = data
        return {"handle": handle, "media_type": data.media_type, "bytes": data.size, "sha256": data.sha256}
    if op == "read":
        return {"data": base64.b64encode(opened[request["handle"]].read(request["size"])).decode()}
    if op == "seek":
        return {"position": opened[request["handle"]].seek(request["offset"], request["whence"])}
    if op == "close":
        opened[request["handle"]].close()
        return {}
    if op == "save_perception_from":
        return memory.save_perception_from(Payload(), **arguments(request))
    return getattr(memory, op)(**arguments(request))


def arguments(request):
    """Fields that are words of Python have a line after them."""
    return {name + "_" if name in ("from", "in", "is") else name: value for name, value in request.items()}


def main():
    opened, memories = {}, {}
    while True:
        asked = ask()
        try:
            response = {"response": run(memories.setdefault(asked["url"], robotmem_node.Memory(asked["url"])), opened, asked["op"], asked["request"])}
        except robotmem_node.RobotmemError as err:
            response = {"error": {"kind": err.kind, "field": err.field, "detail": err.detail, "op": err.op}}
        except ValueError as err:
            response = {"error": {"kind": "value", "detail": str(err)}}
        answer(response)


main()
