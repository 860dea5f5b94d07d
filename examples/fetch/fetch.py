#!/usr/bin/env python3
"""Does memory help a robot? FetchPush-v4 and FetchSlide-v4, with a robotmem node as the memory.

Each seed has three phases of 100 episodes. A: the heuristic without memory. B: the episodes that are
remembered, with random parameters, and the heuristic's own for the way recall. C: the scenes of phase A
again, lived in each of these ways; nothing is written any more:

  control   what the memory changes, without memory: by hand and the same everywhere
  constant  the parameters that were best in phase B, the same everywhere
  recall    as the Python robotmem does it: 0.3 of what successes nearby did is mixed into each push
  advise    the parameters that `advise` suggests for this place

Results are appended to a file after every 100 episodes; started again, the program goes on there.

  python3 fetch.py                                # both tasks, 10 seeds: about 13 minutes on one core
  python3 fetch.py --task slide --seeds 2 --episodes 20 --results short.jsonl
  python3 fetch.py --report figures               # only the tables, plots and CSV of results.jsonl

The program robotmem is that of the package robotmem-node, of ROBOTMEM_BINARY, or of PATH.
"""

import argparse
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "robotmem", "client", "python", "src"))  # if the package is not installed
try:
    import numpy as np
    from robotmem_node import Memory, RobotmemError
    from world import Blend, Follow, Strike, World
except ImportError as missing:
    sys.exit("%s: run pip install -r %s" % (missing, os.path.join(HERE, "requirements.txt")))

from report import Results, report

WAYS = ("control", "constant", "recall", "advise")


class Push:
    """Push a box on the table to a place within reach."""

    field, goal, near = "spatial.wanted", "success", 0.6
    names = ("radius", "speed")

    def heuristic(self, obs):
        return Follow()

    def control(self, obs):
        return Follow(speed=0.7)

    def draw(self, r, obs):
        return {"radius": r.uniform(0.005, 0.04), "speed": r.uniform(0.2, 1)}

    def policy(self, obs, p):
        return Follow(0.05, p["radius"], speed=p["speed"])

    def worth(self, block):
        """How often the parameters of each episode succeed elsewhere, as far as they show it: 1 or 0."""
        return np.array([float(e["success"]) for e in block])

    def blend(self, obs, action):
        return Blend(action)


class Slide:
    """Hit a puck so that it slides to a place out of reach."""

    field, goal, near = "spatial.moved", "near", 0.2
    names = ("speed", "heading")
    base = {"standoff": 0.06, "radius": 0.02, "level": 0.015, "near": 0.08, "lift": 0}

    def heuristic(self, obs):
        return Follow(**self.base)

    def control(self, obs):
        return Strike(obs, bearing(obs), 0.6)

    def draw(self, r, obs):
        aside = r.uniform(-0.4, 0.4)
        return {"speed": r.uniform(0.2, 1), "heading": bearing(obs) + aside, "aside": aside}

    def worth(self, block):
        """The share of the goals of all episodes that the puck would have hit with the parameters of each."""
        moved, wanted = (np.array([e[k] for e in block]) for k in ("moved", "wanted"))
        far = np.linalg.norm(wanted, axis=1)
        way = wanted[:, :2] / far[:, None]
        along = np.sum(moved[:, :2] * way, axis=1)
        across = moved[:, 1] * way[:, 0] - moved[:, 0] * way[:, 1]
        hits = np.hypot(along[:, None] - far, across[:, None]) < 0.05
        return np.mean(hits & (moved[:, 2:] > -0.02), axis=1)  # not if it fell from the table

    def policy(self, obs, p):
        return Strike(obs, p["heading"] if "heading" in p else bearing(obs) + p["aside"], p["speed"])

    def blend(self, obs, action):
        return Blend(action, **self.base)


def bearing(obs):
    x, y, _ = obs["desired_goal"] - obs["achieved_goal"]
    return float(np.arctan2(y, x))


def remember(memory, collection, e):
    """Store an episode: its parameters, where the object was, where it should go, and where it went."""
    text = "%s %d: moved %.3f m of %.3f m with %s" % (
        e["task"], e["episode"], np.linalg.norm(e["moved"]), np.linalg.norm(e["wanted"]), e["parameters"])
    memory.learn(text, collection=collection, context={
        "params": e["parameters"],
        "spatial": {"object_position": e["end"], "wanted": e["wanted"], "moved": e["moved"]},
        "task": {"name": e["task"], "success": e["success"]},
    })


def advised(memory, collection, task, wanted):
    """The parameters that memory suggests for moving the object by a vector, in metres."""
    suggestion = memory.advise(
        collection=collection, goal=task.goal, parameters=task.names,
        spatial_sort={"field": task.field, "target": wanted, "max_distance": task.near},
    ).suggestion
    return {path.removeprefix("params."): value for path, value in suggestion.parameters.items()} if suggestion else None


def constant(task, block):
    """The best parameters of phase B for every place: the highest lower bound (Wilson) of their worth, which is
    smoothed by a Gaussian kernel with the width of Scott's rule. Of a slide only what does not depend on the place."""
    names = ["aside" if name == "heading" else name for name in task.names]
    tried, worth = np.array([[e["parameters"][name] for name in names] for e in block]), task.worth(block)
    scaled = tried / (tried.std(axis=0) * len(tried) ** (-1 / (len(names) + 4)))
    near = np.exp(-np.sum((scaled[:, None] - scaled) ** 2, axis=2) / 2)
    n, z2 = near.sum(axis=1), 1.96**2
    rate = near @ worth / n
    low = (rate + z2 / 2 / n - np.sqrt(z2 * (rate * (1 - rate) / n + z2 / 4 / n / n))) / (1 + z2 / n)
    return dict(zip(names, tried[np.argmax(low)].tolist()))


def recalled(memory, collection, obs):
    """The mean last action of the five successes whose object ended nearest; the Python robotmem asks so."""
    at, to = obs["achieved_goal"].tolist(), obs["desired_goal"].tolist()
    found = memory.recall(
        "push from [%.2f, %.2f] to [%.2f, %.2f]" % (*at[:2], *to[:2]), collection=collection, n=5,
        context_filter={"task.success": True}, spatial_sort={"field": "spatial.object_position", "target": at},
    )
    actions = [[*m.params["approach_velocity"], m.params["grip_force"]] for m in found.memories]
    return np.mean(actions, axis=0) if actions else None


class Run:
    """The three phases of one seed. blocks yields them in their order: (phase, way)."""

    def __init__(self, task, name, seed, episodes, memory, results):
        self.task, self.name, self.seed, self.episodes, self.memory, self.results = task, name, seed, episodes, memory, results
        self.world = World(name)

    def scene(self, phase, i):
        """Phases A and C share their scenes."""
        return self.seed * 10_000 + (5_000 if phase == "B" else 0) + i

    def collection(self, way):
        return "%s-%d-%s" % (self.name, self.seed, "recall" if way == "recall" else "random")

    def block(self, phase, way):
        return self.results.block(self.name, self.seed, phase, way, self.episodes)

    def live(self, phase, way):
        """Live the episodes of one phase in one way, or take them from the results."""
        block = self.block(phase, way)
        if block is None:
            block = [self.episode(phase, way, i) for i in range(self.episodes)]
            self.results.append(block)
        if phase == "B":
            for e in block:
                remember(self.memory, self.collection(way), e)
            held = self.memory.aggregate(collection=self.collection(way)).memories
            if held != len(block):
                sys.exit("%s holds %d memories after %d episodes" % (self.collection(way), held, len(block)))
        return block

    def episode(self, phase, way, i):
        parameters = {}

        def policy_for(obs):
            if phase == "B" and way == "random":
                parameters.update(self.task.draw(np.random.default_rng([self.seed, i]), obs))
                return self.task.policy(obs, parameters)
            if phase == "C" and way == "control":
                return self.task.control(obs)
            if phase == "C" and way == "constant":
                parameters.update(constant(self.task, self.block("B", "random")))
            if phase == "C" and way == "advise":
                wanted = (obs["desired_goal"] - obs["achieved_goal"]).tolist()
                parameters.update(advised(self.memory, self.collection(way), self.task, wanted) or {})
            if phase == "C" and way == "recall":
                action = recalled(self.memory, self.collection(way), obs)
                if action is not None:
                    parameters["action"] = action.tolist()
                    return self.task.blend(obs, action)
            return self.task.policy(obs, parameters) if parameters else self.task.heuristic(obs)

        e = self.world.run(self.scene(phase, i), policy_for)
        if phase == "B" and way == "recall":
            last = np.mean(e.actions[-10:], axis=0).tolist()
            parameters = {"approach_velocity": last[:3], "grip_force": last[3]}
        return {
            "task": self.name, "seed": self.seed, "phase": phase, "way": way, "episode": i, "success": e.success,
            "error": e.error, "parameters": parameters, "wanted": (e.goal - e.start).tolist(),
            "moved": (e.end - e.start).tolist(), "end": e.end.tolist(),
        }


def run(args):
    results, tasks = Results(args.results), {"push": Push(), "slide": Slide()}
    with tempfile.TemporaryDirectory(prefix="robotmem-fetch-") as folder, Memory(os.path.join(folder, "memory.db"), options=["--embedder", "none"]) as memory:
        for name in args.task or tasks:
            for seed in range(args.first_seed, args.first_seed + args.seeds):
                r = Run(tasks[name], name, seed, args.episodes, memory, results)
                for phase, way in [("A", "none"), ("B", "random"), ("B", "recall"), *(("C", way) for way in args.ways)]:
                    start = time.monotonic()
                    block = r.live(phase, way)
                    print("%-5s seed %3d  phase %s  %-8s  %3d of %d succeeded  %5.1f s" % (
                        name, seed, phase, way, sum(e["success"] for e in block), len(block), time.monotonic() - start), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", action="append", choices=("push", "slide"), help="push or slide (default: both)")
    parser.add_argument("--seeds", type=int, default=10, help="how many (10)")
    parser.add_argument("--first-seed", type=int, default=0, help="the figures in docs/explanation/robots.md are of 20 to 29 (push) and 30 to 39 (slide), the settings were chosen on 100 to 111 (0)")
    parser.add_argument("--episodes", type=int, default=100, help="in each phase (100)")
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS, help="ways of phase C (all)")
    parser.add_argument("--results", default="results.jsonl", help="one line for each episode (results.jsonl)")
    parser.add_argument("--report", metavar="FOLDER", help="only print the tables of the results, and write plots and CSV to this folder")
    args = parser.parse_args()
    if args.seeds < 1 or args.episodes < 10:
        parser.error("at least 1 seed and 10 episodes are needed")
    if args.report and not os.path.exists(args.results):
        parser.error("%s does not exist; run without --report first" % args.results)
    try:
        if not args.report:
            run(args)
    except RobotmemError as err:
        sys.exit("the memory: %s" % err)
    print(report(Results(args.results), args.report))


if __name__ == "__main__":
    main()
