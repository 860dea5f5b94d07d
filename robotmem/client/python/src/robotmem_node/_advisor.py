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

    ranges are the bounds of each parameter, a tuple (low, high) of numbers between which it is drawn as a
    float, or a list of choices. A fraction explore of the
    attempts, and those for which the memory has no suggestion yet, are drawn from the ranges; the others
    are what `advise` suggests, within the ranges. answer is the last answer of advise, None if the
    parameters were drawn.
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
        """place_field is the context path of the places, and max_distance, in metres, how far away an
        attempt still counts; choose it so that it holds some ten attempts. Other fields are those of
        advise, such as n_min and goal. With goal="near" and the place that each attempt reached in
        place_field, attempts that missed teach as much as those that hit."""
        if not 0 <= explore <= 1:
            raise ValueError("explore is a fraction of the attempts, 0 to 1, not %r" % explore)
        for name, bounds in ranges.items():
            if not isinstance(bounds, (list, tuple)) or not bounds or (isinstance(bounds, tuple) and (len(bounds) != 2 or not all(map(_is_number, bounds)) or not bounds[0] <= bounds[1])):
                raise ValueError("the range of %s is (low, high) or a list of choices, not %r" % (name, bounds))
        self.memory, self.task, self.ranges = memory, task, dict(ranges)
        self.explore, self.place_field, self.max_distance = explore, place_field, max_distance
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
        near = {"field": self.place_field, "target": place, "max_distance": self.max_distance} if place is not None else None
        if near is not None and self.max_distance is None:
            del near["max_distance"]
        self.answer = self.memory.advise(
            task=self.task, spatial_sort=near, context_filter=dict(context_filter) if context_filter else None, **self._fields,  # type: ignore[arg-type]
        )
        found = self.answer.suggestion
        if found is None:
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


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
