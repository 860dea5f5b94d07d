"""Record a six-axis wrench at 1 kHz: record.py SECONDS. Prints the counts, the time of a push, and the
share of a core that the process takes beyond the same loop without a recorder."""

import json
import math
import os
import sys
import tempfile
import time

from robotmem_node import Memory


def loop(seconds, push):
    """Call push at 1 kHz; return the CPU seconds of the process and the times of the pushes in us."""
    took, began, wall = [], time.process_time(), time.time()
    start = time.perf_counter()
    for i in range(int(seconds * 1000)):
        values = [math.sin(i / 100 + axis) for axis in range(6)]
        before = time.perf_counter()
        push(wall + i / 1000, values)
        took.append((time.perf_counter() - before) * 1e6)
        time.sleep(max(0, start + (i + 1) / 1000 - time.perf_counter()))
    return time.process_time() - began, sorted(took)


seconds = float(sys.argv[1])
with tempfile.TemporaryDirectory() as d, Memory(os.path.join(d, "m.db"), options=["--embedder", "none"]) as m:
    alone, _ = loop(seconds, lambda t, values: None)
    with m.episode(task="hold") as ep:
        wrist = ep.recorder("wrist/wrench", rate=1000, channels=["fx", "fy", "fz", "tx", "ty", "tz"], kind="wrench")
        cpu, took = loop(seconds, wrist.push)
    stored = sum(p.metadata["shape"][0] for p in m.list_all(type="perception"))
    print(json.dumps({
        **wrist.counts._asdict(), "read_back": stored, "push_us": {"p50": took[len(took) // 2], "p99": took[len(took) * 99 // 100], "max": took[-1]},
        "percent_of_a_core": 100 * (cpu - alone) / seconds, "percent_of_the_loop": 100 * alone / seconds,
    }))
assert wrist.counts.dropped == 0 and stored == wrist.counts.pushed == int(seconds * 1000)
