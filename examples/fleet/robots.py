#!/usr/bin/env python3
"""Two robots that share what they learn: the lift finds a corridor blocked, and the cart asks before
it leaves its dock. Each has a memory of its own that has joined a site; run.sh starts everything.

    robots.py lab FOLDER     the lift drives and learns
    robots.py dock FOLDER    the cart asks, and chooses its way
"""

import os
import sys

from robotmem_node import Memory


def lab(folder):
    with Memory(os.path.join(folder, "lift.db")) as m:
        m.learn(
            "corridor B is blocked by a pallet at the fire door",
            collection="navigation",
            context={
                "map": "hall-2", "corridor": "B", "robot": "lift",
                "task": {"name": "drive", "success": False},
                "spatial": {"position": [12.4, 3.1], "frame_id": "map"},
            },
        )
    print("lift: learnt that corridor B is blocked")


def dock(folder):
    with Memory(os.path.join(folder, "cart.db")) as m:
        answer = m.recall(
            "corridor blocked",
            collection="navigation",
            context_filter={"map": "hall-2", "corridor": "B", "outcome": "failure"},
            scope="both",  # its own copy and the site, if that answers
            deadline_ms=1000,
        )
    away = any(note.startswith("fleet:") for note in answer.degraded)
    if not answer.memories:
        print("cart: nothing is known against corridor B: takes the short way")
        return
    known = answer.memories[0]
    asked = "its copy alone, the site is away" if away else "its copy and the site"
    print("cart: asked %s: %s (learnt by %s)" % (asked, known.content, known.provenance.robot))
    print("cart: takes the detour through corridor C")


if __name__ == "__main__":
    {"lab": lab, "dock": dock}[sys.argv[1]](sys.argv[2])
