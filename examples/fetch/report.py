"""Results, their tables and their plots. Standard library only."""

import collections
import json
import math
import os
import statistics

class Results:
    """A file with one line of JSON for each episode."""

    def __init__(self, path):
        self.path, self.episodes = path, []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as lines:
                self.episodes = [json.loads(line) for line in lines if line.endswith("\n")]
        self.blocks = collections.defaultdict(list)
        for e in self.episodes:
            self.blocks[e["task"], e["seed"], e["phase"], e["way"]].append(e)

    def block(self, task, seed, phase, way, episodes):
        """The episodes of one phase of one seed, lived in one way; None unless all are there."""
        block = self.blocks.get((task, seed, phase, way), [])
        return block[:episodes] if len(block) >= episodes else None

    def append(self, block):
        with open(self.path, "a", encoding="utf-8") as out:
            out.writelines(json.dumps(e) + "\n" for e in block)
        for e in block:
            self.blocks[e["task"], e["seed"], e["phase"], e["way"]].append(e)

    def rates(self, task, phase, way):
        """Percent of successes by seed."""
        return {seed: 100 * statistics.mean(e["success"] for e in block)
                for (t, seed, p, w), block in sorted(self.blocks.items()) if (t, p, w) == (task, phase, way)}


def paired(a, b):
    """Mean and standard deviation of a - b over the seeds of both, Student's t, and their number."""
    d = [a[seed] - b[seed] for seed in a if seed in b]
    if len(d) < 2:
        return None
    sd = statistics.stdev(d)
    return statistics.mean(d), sd, statistics.mean(d) / (sd / math.sqrt(len(d))) if sd else math.inf, len(d)


def report(results, folder=None):
    for task in ("push", "slide"):
        for phase, way in (("A", "none"), ("B", "random"), ("B", "recall"), ("C", "control"), ("C", "constant"), ("C", "recall"), ("C", "advise")):
            rates = results.rates(task, phase, way)
            if not rates:
                continue
            print(task, phase, way, "%.1f" % statistics.mean(rates.values()), list(rates.values()),
                paired(rates, results.rates(task, "A", "none")), paired(rates, results.rates(task, "C", "constant")))
