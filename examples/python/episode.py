#!/usr/bin/env python3
"""Live one episode of a robot arm with its memory in a node of its own.

The script starts a node through the package robotmem-node, checks every answer, prints
what happened, and exits with 1 at the first answer that it did not expect.

    make wheels ONLY=linux/amd64
    pip install --no-index --find-links artifacts/release robotmem-node
    python3 episode.py
"""

import argparse
import hashlib
import io
import math
import os
import struct
import sys
import tempfile

from robotmem_node import Memory, RobotmemError


class Surprise(Exception):
    """An answer that is not what the contract promises."""


def expect(ok, what):
    if not ok:
        raise Surprise(what)


def say(what, text):
    line = "%-15s  %s" % (what, text)
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
    with memory.episode(collection="kitchen", context={"task": {"name": "pick the wet glass"}, "robot": {"id": "arm-1"}}) as episode:
        say("session", "%s begun" % episode.id)

        # Learn. The same again is a duplicate, another number is another fact.
        slipped = episode.learn("grip_force=8 N lets the wet glass slip", context=attempt(8, [0.42, 0.10, 0.05], False))
        held = episode.learn("grip_force=12.5 N holds the wet glass", context=attempt(12.5, [0.42, 0.10, 0.05], True))
        far = episode.learn("grip_force=12.5 N holds the wet glass", context=attempt(12.5, [1.90, 0.40, 0.05], True))
        again = episode.learn("grip_force=12.5 N holds the wet glass", context=attempt(12.5, [0.42, 0.10, 0.05], True))
        for fact in (slipped, held, far):
            expect(fact.status == "created", "a fact in a new context is created")
            say("learn", "[%d] %s" % (fact.memory_id, fact.status))
        expect(again.status == "duplicate" and again.existing_id == held.memory_id, "the same in the same context is a duplicate")
        say("learn", "[%d] %s of it, by %s" % (again.existing_id, again.status, again.method))

        # Sense. The payload streams to the node and comes back byte for byte.
        trace = slip_trace()
        sensed = episode.save(
            io.BytesIO(trace), "finger force while the wet glass slipped", perception_type="tactile", media_type="application/octet-stream",
            metadata={"dtype": "<f4", "shape": [200, 1], "rate_hz": 1000, "channels": ["Fz"]}, context=attempt(8, [0.42, 0.10, 0.05], False),
        )
        expect(sensed.bytes == len(trace) and sensed.sha256 == hashlib.sha256(trace).hexdigest(), "the payload is kept byte for byte")
        with memory.open_data(sensed.memory_id) as data:
            data.seek(-4, io.SEEK_END)
            expect(data.read() == trace[-4:], "its last sample is there alone")
            data.seek(0)
            expect(data.read() == trace, "and all of it")
        say("perception", "[%d] %d bytes, sha256 %s..." % (sensed.memory_id, sensed.bytes, sensed.sha256[:12]))

        # Recall by words, outcome and place.
        found = episode.recall(
            "how hard to grip the wet glass", type="fact",
            context_filter={"task.success": True, "params.grip_force": {"$lt": 15}},
            spatial_sort={"field": "spatial.object_position", "target": [0.40, 0.10, 0.05], "max_distance": 0.5},
        )
        expect([m.memory_id for m in found.memories] == [held.memory_id], "only what worked, and worked here")
        best = found.memories[0]
        expect(abs(best.distance - 0.02) < 1e-9 and best.params["grip_force"] == 12.5, "with its distance and its parameters")
        say("recall", "[%d] %s, %.2f m away, %.1f ms" % (best.memory_id, best.content, best.distance, found.query_ms))

        # Correct, and take back.
        updated = memory.update(held.memory_id, "grip_force=12.5 N holds the wet glass for 30 s")
        expect(updated.memory_id == held.memory_id and updated.version == 2, "an update keeps the id and counts the version")
        say("update", "[%d] version %d, was: %s" % (updated.memory_id, updated.version, updated.old_content))
        forgotten = memory.forget(far.memory_id, "the glass there was dry")
        expect(forgotten.status == "forgotten", "forgotten")
        say("forget", "[%d] because %s" % (forgotten.memory_id, forgotten.reason))
        found = memory.recall("wet glass", collection="kitchen", context_filter={"task.success": True})
        expect([m.content for m in found.memories] == [updated.new_content], "recall knows the new text and not the forgotten one")
        expect(len(list(memory.list_all(collection="kitchen", limit=2))) == 3, "three memories are active, on two pages")
        episode.used.append(held.memory_id)
        episode.outcome = 1.0

    summary = episode.ended.summary
    expect(summary.perceptions == 1 and summary.failures == 2, "the summary counts what was lived")
    say("session", summary.text)

    # What is refused is refused with its reason.
    for kind, call in (
        ("conflict", lambda: memory.end_session(episode.id)),
        ("invalid", lambda: memory.recall("glass", diversity=2)),
        ("not_found", lambda: memory.forget(4711, "never was")),
    ):
        try:
            call()
        except RobotmemError as refused:
            expect(refused.kind == kind, "it is %s, not %s: %s" % (kind, refused.kind, refused))
            say("refused", "%s: %s" % (refused.kind, refused))
        else:
            raise Surprise("%s was not refused" % kind)
    return episode.id, held.memory_id


def relive(memory, lived, held):
    """What a second node on the same file knows: all of it."""
    with memory.episode(collection="kitchen", context={"task": {"name": "pick the wet glass"}}) as episode:
        expect("Last session:" in episode.briefing.text, "the briefing knows the last session")
        found = episode.recall("grip force wet glass", context_filter={"task.success": True})
        expect([m.memory_id for m in found.memories] == [held], "what worked is still known")
        say("restarted", "%s" % found.memories[0].content)


def main():
    with tempfile.TemporaryDirectory(prefix="robotmem-python-") as folder:
        file = os.path.join(folder, "memory.db")
        try:
            with Memory(file) as memory:
                lived, held = live(memory)
            with Memory(file) as memory:
                relive(memory, lived, held)
        except (Surprise, RobotmemError, OSError, KeyError, ValueError) as err:
            print("surprise: %s" % (str(err) or repr(err)), file=sys.stderr)
            return 1
    print("all as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
