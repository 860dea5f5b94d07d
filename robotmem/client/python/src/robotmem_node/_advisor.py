"""Parameters for a policy, out of what worked before."""

from __future__ import annotations

import random
from typing import Any, Mapping, Sequence

from ._memory import PLACE, Memory
from ._operations import AdviseResponse, Object


class Advisor:
    """Chooses the parameters of a policy for the next attempt.

        advisor = Advisor(m, "push the puck", {"speed": (0.2, 1.0), "standoff": (0.02, 0.08)})
        params = advisor.choose(place=goal)              # {"speed": 0.61, "standoff": 0.05}
        ...
        ep.learn("pushed", context={"params": params, "task": {"success": True}})

    ranges gives each parameter either a tuple (low, high), between which a float is drawn, or a list of
    choices. Parameters are drawn from the ranges for a fraction explore of the attempts, and for those for
    which the memory has no suggestion yet. For the others they are what `advise` suggests, within the
    ranges. answer is the last answer of advise, None if it was not asked.
    """

    answer: AdviseResponse | None = None

    def __init__(
        self,
        memory: Memory,
        task: str,
        ranges: Mapping[str, Sequence[Any]],
        *,
        collection: str | None = None,
        explore: float = 0.0,
        place_field: str = PLACE,
        max_distance: float | None = None,
        seed: int | None = None,
        **fields: Any,
    ):
        """place_field is the context path of the places. max_distance is how far away an attempt still
        counts, in metres; choose it so that some ten attempts lie within it. Other fields are those of
        advise, such as n_min and goal; goal="return" is task.return, which the wrappers store. With goal="near", and the place that each attempt reached in
        place_field, attempts that missed teach as much as those that hit."""
        if not 0 <= explore <= 1:
            raise ValueError("explore is a fraction of the attempts, 0 to 1, not %r" % explore)
        for name, bounds in ranges.items():
            if not _is_range(bounds):
                raise ValueError("the range of %s is (low, high) or a list of choices, not %r" % (name, bounds))
        self.memory, self.task, self.ranges = memory, task, dict(ranges)
        self.explore, self.place_field, self.max_distance = explore, place_field, max_distance
        if fields.get("goal") == "return":
            fields["goal"] = "task.return"
        self._fields = {"collection": collection, "parameters": ["params." + name for name in ranges], **fields}
        self._random = random.Random(seed)

    def draw(self) -> Object:
        """Parameters drawn evenly from the ranges."""
        return {name: self._random.uniform(*r) if isinstance(r, tuple) else self._random.choice(r) for name, r in self.ranges.items()}

    def choose(self, place: Sequence[float] | None = None, context_filter: Mapping[str, Any] | None = None) -> Object:
        """Parameters for an attempt at a place, in metres, among attempts that match the filter."""
        drawn = self.draw()
        self.answer = None
        if self._random.random() < self.explore:
            return drawn
        near: Object | None = None
        if place is not None:
            near = {"field": self.place_field, "target": place}
            if self.max_distance is not None:
                near["max_distance"] = self.max_distance
        self.answer = self.memory.advise(
            task=self.task, spatial_sort=near, context_filter=dict(context_filter) if context_filter else None, **self._fields,  # type: ignore[arg-type]
        )
        found = self.answer.suggestion
        if not found:
            return drawn
        for name, r in self.ranges.items():
            value = found.parameters.get("params." + name)
            if isinstance(r, tuple):
                if _is_number(value):
                    drawn[name] = min(max(value, r[0]), r[1])
            elif value in r:
                drawn[name] = value
            elif _is_number(value) and all(map(_is_number, r)):
                drawn[name] = min(r, key=lambda choice: abs(choice - value))
        return drawn


def _is_range(bounds: Any) -> bool:
    """Whether bounds are (low, high) or a list of choices."""
    if isinstance(bounds, tuple):
        return len(bounds) == 2 and all(map(_is_number, bounds)) and bounds[0] <= bounds[1]
    return isinstance(bounds, list) and bool(bounds)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
