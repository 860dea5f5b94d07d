"""Results, their tables and their plots. Standard library only."""

import collections
import csv
import json
import math
import os
import statistics

LINES = (  # phase, way, name
    ("A", "none", "no memory"),
    ("B", "random", "random parameters"),
    ("C", "control", "control, by hand"),
    ("C", "constant", "best constant"),
    ("C", "recall", "recall"),
    ("C", "advise", "advise"),
)
# The 97.5 % points of Student's t with 1, 2, … degrees of freedom.
T975 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09)


class Results:
    """A file with one line of JSON for each episode. A line that was cut off is removed."""

    def __init__(self, path):
        self.path, self.episodes = path, collections.defaultdict(dict)
        if not os.path.exists(path):
            return
        with open(path, "rb+") as file:
            data = file.read()
            file.truncate(data.rfind(b"\n") + 1)
        for line in data.decode().split("\n")[:-1]:
            self.add(json.loads(line))

    def add(self, e):
        self.episodes[e["task"], e["seed"], e["phase"], e["way"]][e["episode"]] = e

    def block(self, task, seed, phase, way, episodes):
        """The episodes of one phase of one seed, lived in one way; None unless all are there."""
        found = self.episodes.get((task, seed, phase, way), {})
        return [found[i] for i in range(episodes)] if all(i in found for i in range(episodes)) else None

    def append(self, block):
        with open(self.path, "a", encoding="utf-8") as out:
            out.write("".join(json.dumps(e) + "\n" for e in block))
        for e in block:
            self.add(e)

    def rates(self, task, phase, way):
        """Percent of successes by seed."""
        return {seed: 100 * statistics.mean(e["success"] for e in block.values())
                for (t, seed, p, w), block in sorted(self.episodes.items()) if (t, p, w) == (task, phase, way)}


def paired(a, b):
    """The differences a - b of the seeds that both have: mean, standard deviation, Student's t, number."""
    d = [a[seed] - b[seed] for seed in a if seed in b]
    if len(d) < 2:
        return None
    mean, sd = statistics.mean(d), statistics.stdev(d)
    return mean, sd, mean / (sd / math.sqrt(len(d))) if sd else math.copysign(math.inf, mean), len(d)


def difference(a, b):
    found = paired(a, b)
    return "%+.1f ± %.1f, t = %.1f" % found[:3] if found and a != b else ""


def report(results, folder=None):
    """The tables as Markdown. Plots and a table for programs are written to the folder."""
    out, rows = [], []
    for task, name in (("push", "FetchPush-v4"), ("slide", "FetchSlide-v4")):
        found = [(phase, way, title, rates) for phase, way, title in LINES if (rates := results.rates(task, phase, way))]
        if not found:
            continue
        none, constant = results.rates(task, "A", "none"), results.rates(task, "C", "constant")
        episodes = {len(block) for (t, *_), block in results.episodes.items() if t == task}
        out += ["", "%s, %d seeds, phases of %s episodes" % (name, len(none), " or ".join(map(str, sorted(episodes)))), "",
            "| way | succeeded, % | − no memory | − best constant |", "|---|---|---|---|"]
        for phase, way, title, rates in found:
            values = list(rates.values())
            sd = statistics.stdev(values) if len(values) > 1 else 0
            other = phase == "B"  # other scenes: no pairs
            out.append("| %s | %.1f ± %.1f | %s | %s |" % (title, statistics.mean(values), sd,
                "" if other else difference(rates, none), "" if other else difference(rates, constant)))
            rows += [(task, phase, way, seed, "%g" % rate) for seed, rate in rates.items()]
        n = len(none)
        if 2 <= n <= len(T975) + 1:
            out += ["", "± is the standard deviation over the seeds. A difference of pairs has p < 0.05 if |t| > %.2f (%d degrees of freedom)." % (T975[n - 2], n - 1)]
        if folder:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "fetch-%s.svg" % task), "w", encoding="utf-8") as file:
                file.write(plot(name, found))
    if folder:
        with open(os.path.join(folder, "rates.csv"), "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("task", "phase", "way", "seed", "succeeded_percent"), *rows])
    return "\n".join(out).strip()


def plot(name, found):
    """A bar for the mean of each way, and a dot for each seed."""
    left, width, row, top = 150, 460, 36, 44
    height = top + row * len(found) + 44
    x = lambda percent: left + width * percent / 100  # noqa: E731
    svg = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 %d" font-family="sans-serif" font-size="13">' % height,
        '<rect width="700" height="%d" fill="#fff"/>' % height,
        '<text x="%d" y="22" font-size="15" font-weight="bold">%s: episodes that succeeded</text>' % (left, name)]
    for percent in range(0, 101, 20):
        svg.append('<path d="M%.0f %dV%d" stroke="#ddd"/><text x="%.0f" y="%d" text-anchor="middle" fill="#555">%d %%</text>' % (
            x(percent), top - 8, height - 38, x(percent), height - 20, percent))
    for i, (_, way, title, rates) in enumerate(found):
        y, mean = top + row * i, statistics.mean(rates.values())
        svg.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (left - 10, y + 17, title))
        svg.append('<rect x="%d" y="%d" width="%.1f" height="24" fill="%s"/>' % (left, y, width * mean / 100, "#2b8a3e" if way == "advise" else "#9db4c0"))
        svg += ['<circle cx="%.1f" cy="%d" r="2.5" fill="#222" fill-opacity="0.55"/>' % (x(rate), y + 5 + 14 * k // max(1, len(rates) - 1))
            for k, rate in enumerate(rates.values())]
        svg.append('<text x="%.0f" y="%d" fill="#222">%.1f %%</text>' % (x(max(rates.values())) + 8, y + 17, mean))
    svg.append('<text x="%d" y="%d" fill="#555" font-size="11">bar: mean; dots: seeds</text>' % (left, height - 4))
    return "\n".join(svg) + "\n</svg>\n"
