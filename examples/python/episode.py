#!/usr/bin/env python3
"""Live one episode of a robot arm with its memory in `robotmem mcp`.

Standard library only: MCP over stdio is one JSON-RPC message a line. The
script calls all seven tools, checks every answer, prints what happened, and
exits with 1 at the first answer that it did not expect.

    python3 episode.py --robotmem PATH
"""

import argparse
import base64
import hashlib
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

PROTOCOL = "2025-06-18"
SEVEN_TOOLS = {
    "learn", "recall", "save_perception", "forget", "update", "start_session", "end_session",
}


class Surprise(Exception):
    """An answer that is not what the contract promises."""


class Refused(Exception):
    """A tool's own error: what failed, what is allowed, what to do next."""

    def __init__(self, text, parts):
        super().__init__(text)
        self.kind = parts.get("kind", "")
        self.field = parts.get("field", "")


class Memory:
    """A robotmem node as a child process."""

    def __init__(self, command, patience_s=60):
        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        # A node that hangs must not hang its caller: without the child the
        # blocking read below ends.
        self.watchdog = threading.Timer(patience_s, self.child.kill)
        self.watchdog.daemon = True
        self.watchdog.start()
        self.last_id = 0

    def request(self, method, params):
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        while True:
            line = self.child.stdout.readline()
            if not line:
                raise Surprise("the node went away during %s" % method)
            message = json.loads(line)
            # Whatever is not the answer is a notification; none matters here.
            if message.get("id") == self.last_id:
                break
        if "error" in message:
            raise Surprise("%s: protocol error %s" % (method, message["error"]))
        return message["result"]

    def notify(self, method):
        self.send({"jsonrpc": "2.0", "method": method})

    def send(self, message):
        self.child.stdin.write(json.dumps(message, ensure_ascii=False) + "\n")
        self.child.stdin.flush()

    def connect(self):
        hello = self.request("initialize", {
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "episode.py", "version": "1.0.0"},
        })
        self.notify("notifications/initialized")
        return hello

    def call(self, tool, **arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise Refused(text, result.get("_meta", {}).get("robotmem/error", {}))
        answer = json.loads(text)
        expect(result.get("structuredContent") == answer, tool + ": text and structured content agree")
        return answer

    def close(self):
        """End the node's input; it answers what it has accepted and exits."""
        self.child.stdin.close()
        return self.child.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Leave no child behind, also after a surprise."""
        self.watchdog.cancel()
        self.child.kill()
        self.child.wait()


def expect(ok, what):
    if not ok:
        raise Surprise(what)


def say(tool, text):
    line = "%-15s  %s" % (tool, text)
    print(line if len(line) <= 100 else line[:97] + "...")


def slip_trace():
    """A finger force at 1 kHz that breaks down, as 32-bit floats."""
    newtons = [8.0 if i < 120 else 8.0 * math.exp(-(i - 120) / 15) for i in range(200)]
    return struct.pack("<%df" % len(newtons), *newtons)


def attempt(force, position, success):
    return {
        "params": {"grip_force": force},
        "spatial": {"object_position": position, "frame_id": "table"},
        "robot": {"id": "arm-1"},
        "task": {"name": "pick the wet glass", "success": success},
    }


def live(memory):
    hello = memory.connect()
    expect(hello["serverInfo"]["name"] == "robotmem", "the node says who it is")
    offered = {tool["name"] for tool in memory.request("tools/list", {})["tools"]}
    expect(SEVEN_TOOLS <= offered, "all seven tools are offered, missing %s" % (SEVEN_TOOLS - offered))
    say("initialize", "%s %s, %d tools" % (hello["serverInfo"]["name"], hello["serverInfo"]["version"], len(offered)))

    session = memory.call(
        "start_session", collection="kitchen", context={"task": {"name": "pick the wet glass"}, "robot": {"id": "arm-1"}}
    )
    sid = session["session_id"]
    expect(session["active_memories_count"] == 0, "a new memory knows nothing")
    say("start_session", "%s, %d memories so far" % (sid, session["active_memories_count"]))

    # Learn. The same again is a duplicate, another number is another fact.
    slipped = memory.call("learn", insight="grip_force=8 N lets the wet glass slip", session_id=sid,
                          context=attempt(8, [0.42, 0.10, 0.05], False))
    held = memory.call("learn", insight="grip_force=12.5 N holds the wet glass", session_id=sid,
                       context=attempt(12.5, [0.42, 0.10, 0.05], True))
    far = memory.call("learn", insight="grip_force=12.5 N holds the wet glass", session_id=sid,
                      context=attempt(12.5, [1.90, 0.40, 0.05], True))
    again = memory.call("learn", insight="grip_force=12.5 N holds the wet glass", session_id=sid,
                        context=attempt(12.5, [0.42, 0.10, 0.05], True))
    for fact in (slipped, held, far):
        expect(fact["status"] == "created", "a fact in a new context is created")
        say("learn", "[%d] %s" % (fact["memory_id"], fact["status"]))
    expect(again["status"] == "duplicate" and again["existing_id"] == held["memory_id"], "the same in the same context is a duplicate")
    say("learn", "[%d] %s of it, by %s" % (again["existing_id"], again["status"], again["method"]))

    # Sense. The bytes come back as they were: the checksum is of ours.
    trace = slip_trace()
    sensed = memory.call(
        "save_perception", description="finger force while the wet glass slipped", perception_type="tactile",
        data_base64=base64.b64encode(trace).decode(), media_type="application/octet-stream",
        metadata={"dtype": "<f4", "shape": [200, 1], "rate_hz": 1000, "channels": ["Fz"]},
        context=attempt(8, [0.42, 0.10, 0.05], False), session_id=sid,
    )
    expect(sensed["bytes"] == len(trace) and sensed["sha256"] == hashlib.sha256(trace).hexdigest(), "the payload is kept byte for byte")
    say("save_perception", "[%d] %d bytes, sha256 %s..." % (sensed["memory_id"], sensed["bytes"], sensed["sha256"][:12]))

    # Recall by words, outcome and place.
    found = memory.call(
        "recall", query="how hard to grip the wet glass", collection="kitchen", for_session=sid, type="fact",
        context_filter={"task.success": True, "params.grip_force": {"$lt": 15}},
        spatial_sort={"field": "spatial.object_position", "target": [0.40, 0.10, 0.05], "max_distance": 0.5},
    )
    expect([m["memory_id"] for m in found["memories"]] == [held["memory_id"]], "only what worked, and worked here")
    best = found["memories"][0]
    expect(abs(best["distance"] - 0.02) < 1e-9 and best["params"]["grip_force"] == 12.5, "with its distance and its parameters")
    say("recall", "[%d] %s, %.2f m away, %.1f ms" % (best["memory_id"], best["content"], best["distance"], found["query_ms"]))

    # Correct, and take back.
    updated = memory.call("update", memory_id=held["memory_id"], new_content="grip_force=12.5 N holds the wet glass for 30 s")
    expect(updated["memory_id"] == held["memory_id"] and updated["version"] == 2, "an update keeps the id and counts the version")
    say("update", "[%d] version %d, was: %s" % (updated["memory_id"], updated["version"], updated["old_content"]))
    forgotten = memory.call("forget", memory_id=far["memory_id"], reason="the glass there was dry")
    expect(forgotten["status"] == "forgotten", "forgotten")
    say("forget", "[%d] because %s" % (forgotten["memory_id"], forgotten["reason"]))
    found = memory.call("recall", query="wet glass", collection="kitchen", context_filter={"task.success": True})
    expect([m["content"] for m in found["memories"]] == [updated["new_content"]], "recall knows the new text and not the forgotten one")

    ended = memory.call("end_session", session_id=sid, outcome_score=1, used_memory_ids=[held["memory_id"]])
    summary = ended["summary"]
    expect(ended["status"] == "ended" and summary["perceptions"] == 1 and summary["failures"] == 2, "the summary counts what was lived")
    say("end_session", summary["text"])

    # What is refused is refused with its reason, as a result of the tool.
    for kind, tool, arguments in (
        ("conflict", "end_session", {"session_id": sid}),
        ("invalid", "recall", {"query": "glass", "nearest": 3}),
        ("not_found", "forget", {"memory_id": 4711, "reason": "never was"}),
    ):
        try:
            memory.call(tool, **arguments)
        except Refused as refused:
            expect(refused.kind == kind, "%s is %s, not %s: %s" % (tool, kind, refused.kind, refused))
            say(tool, "refused (%s): %s" % (refused.kind, refused))
        else:
            raise Surprise("%s %s was not refused" % (tool, arguments))
    return sid, held["memory_id"]


def relive(memory, lived, held):
    """What a second node on the same file knows: all of it."""
    memory.connect()
    session = memory.call("start_session", collection="kitchen", context={"task": {"name": "pick the wet glass"}})
    expect(session["active_memories_count"] == 3, "three memories are active")
    expect(session["briefing"]["last_session"]["session_id"] == lived, "the briefing knows the last session")
    found = memory.call("recall", query="grip force wet glass", collection="kitchen", context_filter={"task.success": True})
    expect([m["memory_id"] for m in found["memories"]] == [held], "what worked is still known")
    say("restarted", "%s" % found["memories"][0]["content"])
    memory.call("end_session", session_id=session["session_id"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robotmem", default=shutil.which("robotmem"), help="the binary (default: the one in PATH)")
    args = parser.parse_args()
    if not args.robotmem:
        parser.error("robotmem is not in PATH; pass --robotmem PATH")
    with tempfile.TemporaryDirectory(prefix="robotmem-python-") as folder:
        command = [args.robotmem, "mcp", "--db", os.path.join(folder, "memory.db")]
        try:
            with Memory(command) as memory:
                lived, held = live(memory)
                expect(memory.close() == 0, "the node exits with 0 when its input ends")
            with Memory(command) as memory:
                relive(memory, lived, held)
                expect(memory.close() == 0, "the node exits with 0 when its input ends")
        except (Surprise, Refused, OSError, KeyError, ValueError) as err:
            print("surprise: %s" % (str(err) or repr(err)), file=sys.stderr)
            return 1
    print("all as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
