"""The time of a call at a node, in microseconds: bench.py URL CALLS. The Go benchmark Calls runs it beside the Go client."""

import json
import statistics
import sys
import time

from robotmem_node import Memory

url, calls = sys.argv[1], int(sys.argv[2])


def p50(call):
    took = []
    for i in range(calls + 20):
        start = time.perf_counter()
        call(i)
        took.append(time.perf_counter() - start)
    return statistics.median(took[20:]) * 1e6


with Memory(url) as m:
    print(json.dumps({
        "recall": p50(lambda i: m.recall("how hard to grip the glass", n=5).memories[0].content),
        "learn": p50(lambda i: m.learn("python %d: grip_force=%d.5 N holds the glass" % (i, i), context={"params": {"grip_force": i + 0.5}}).memory_id),
    }))
