"""A memory for Gymnasium: every episode of an environment becomes an episode of the memory."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Mapping, SupportsFloat

import gymnasium

from ._errors import RobotmemError
from ._memory import PLACE, Episode, Memory, coordinates, merged
from ._operations import Object

__all__ = ["MemoryWrapper"]


class MemoryWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Remembers the episodes of an environment: where, with which parameters, and how they ended.

        env = MemoryWrapper(gymnasium.make("FetchPush-v4"), memory, key=lambda obs: obs["desired_goal"])
        obs, info = env.reset()
        env.params = {"speed": 0.7}                     # what your policy uses, until you change it
        ...                                             # env.step(action) until the episode ends

    reset begins an episode of the memory; info["briefing"] of reset is what to know before it, and
    env.episode the Episode, to learn more in it. The step that ends the episode learns a fact with the
    parameters, the place, the return, the steps and the success, ends the episode with its outcome and
    puts the id of the fact into info["memory_id"]. From outside of further wrappers, set the parameters
    with env.set_wrapper_attr("params", {…}). If the node is away, the environment goes on, a warning
    says so, and lost counts the episodes.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        memory: Memory,
        key: Callable[[Any], Any] | None = None,
        *,
        end_key: Callable[[Any], Any] | None = None,
        success: Callable[[Mapping[str, Any], float, bool], bool | None] | None = None,
        task: str | None = None,
        context: Mapping[str, Any] | None = None,
        collection: str | None = None,
    ):
        """key gives the place of an episode from its first observation, end_key from its last one: two
        or three numbers (spatial.position, at the end spatial.reached), or a dict of names and places.
        success says how it went, from the last info, the return and whether it terminated (else it was
        cut off); None is not known. By default that is info["is_success"] or info["success"]."""
        super().__init__(env)
        self.memory, self.params = memory, {}
        self.episode: Episode | None = None
        self.lost = 0
        self._told = False  # that the environment gives no outcome
        self._key, self._end_key, self._success = key, end_key, success or _stated
        self._task = task or (env.spec.id if env.spec is not None else type(env.unwrapped).__name__)
        self._context, self._collection = dict(context or {}), collection
        self._return, self._steps = 0.0, 0

    params: Object

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self._end(None)
        obs, info = self.env.reset(**kwargs)
        self._return, self._steps = 0.0, 0
        begun = merged({"spatial": _places(self._key, obs, PLACE)} if self._key else {}, self._context)
        if kwargs.get("seed") is not None:
            begun = merged({"env": {"seed": kwargs["seed"]}}, begun)
        try:
            self.episode = self.memory.episode(task=self._task, context=begun, collection=self._collection).__enter__()
        except RobotmemError as err:
            self._lose(err)
            return obs, {**info, "briefing": ""}
        return obs, {**info, "briefing": self.episode.briefing.text}

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._return += float(reward)
        self._steps += 1
        if (terminated or truncated) and self.episode is not None:
            success = self._success(info, self._return, terminated)
            if success is None and self._success is _stated and not self._told:
                self._told = True
                warnings.warn(no_outcome(self._task), stacklevel=2)
            try:
                info = {**info, "memory_id": self._remember(obs, success)}
            except RobotmemError as err:
                self._lose(err)
                self.episode = None
            self._end(success)
        return obs, reward, terminated, truncated, info

    def close(self) -> None:
        self._end(None)
        self.env.close()

    def _remember(self, obs: Any, success: bool | None) -> int:
        assert self.episode is not None
        task: Object = {"return": self._return, "steps": self._steps}
        if success is not None:
            task["success"] = success
        context: Object = {"task": task, "params": dict(self.params)} if self.params else {"task": task}
        if self._end_key:
            context["spatial"] = _places(self._end_key, obs, "spatial.reached")
        said = "ended" if success is None else "succeeded" if success else "failed"
        with_ = ", ".join("%s=%s" % (name, "%.4g" % value if isinstance(value, float) else value) for name, value in self.params.items())
        text = "%s %s after %d steps%s, return %.4g" % (self._task, said, self._steps, " with " + with_ if with_ else "", self._return)
        learnt = self.episode.learn(text, context=context)
        return learnt.existing_id or learnt.memory_id or 0

    def _end(self, success: bool | None) -> None:
        if self.episode is not None:
            episode, self.episode = self.episode, None
            if success is not None:
                episode.outcome = float(success)
            try:
                episode.__exit__(None, None, None)
            except RobotmemError as err:
                self._lose(err)

    def _lose(self, err: RobotmemError) -> None:
        self.lost += 1
        warnings.warn("the episode is not remembered: %s" % err, stacklevel=3)


def no_outcome(task: str) -> str:
    """What a wrapper says of an environment whose episodes neither succeed nor fail."""
    return (
        "%s says nothing of success (info has no is_success and no success), so that its episodes are stored without an outcome; "
        "give success=, or let advise maximise the return: goal='task.return', for Advisor goal='return'" % task
    )


def _stated(info: Mapping[str, Any], _: float, terminated: bool) -> bool | None:
    for name in ("is_success", "success"):
        if name in info:
            return bool(info[name])
    return None


def _places(key: Callable[[Any], Any], obs: Any, path: str) -> Object:
    found = key(obs)
    named = found if isinstance(found, Mapping) else {path.removeprefix("spatial."): found}
    out = {}
    for name, place in named.items():
        numbers = coordinates(place)
        if numbers is None:
            raise ValueError("the place %s is two or three metres, not %r" % (name, place))
        out[name] = numbers
    return out
