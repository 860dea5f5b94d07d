"""A callback for Stable-Baselines3: a training run becomes an episode, its rollouts facts with outcomes."""

from __future__ import annotations

import warnings
from typing import Any, Mapping

from stable_baselines3.common.callbacks import BaseCallback

from ._errors import RobotmemError
from ._memory import Episode, Memory
from .gym import no_outcome

__all__ = ["MemoryCallback"]


class MemoryCallback(BaseCallback):
    """Remembers the episodes that a training run finishes.

        model.learn(100_000, callback=MemoryCallback(memory, params={"learning_rate": 3e-4}))

    The environment needs Stable-Baselines3's Monitor, as make_vec_env and the models add it. Of each
    finished episode the return, the length, the success (info["is_success"], if the environment says
    so) and the parameters are learnt; with every=n only each n-th episode is. At the end the run's
    outcome is its rate of successes over the last 100 episodes. The node is asked from the training
    loop, a millisecond for each remembered episode; if it is away, training goes on,
    and the attribute lost counts the calls that failed.
    """

    def __init__(self, memory: Memory, *, task: str | None = None, params: Mapping[str, Any] | None = None, context: Mapping[str, Any] | None = None, collection: str | None = None, every: int = 1, verbose: int = 0):
        super().__init__(verbose)
        self.memory, self.lost, self.episodes = memory, 0, 0
        self._task, self._params, self._context, self._collection, self._every = task, dict(params or {}), dict(context or {}), collection, max(1, every)
        self._episode: Episode | None = None
        self._told = False  # that the environment gives no outcome
        self._successes: list[bool] = []

    def _on_training_start(self) -> None:
        spec = self.training_env.get_attr("spec")[0]
        task = self._task or (spec.id if spec is not None else type(self.model).__name__)
        policy = {"algorithm": type(self.model).__name__, **self._params}
        context = {**self._context, "params": policy}
        try:
            self._episode = self.memory.episode(task=task, context=context, collection=self._collection).__enter__()
        except RobotmemError as err:
            self._warn(err)

    def _on_step(self) -> bool:
        for info in self.locals.get("infos", ()):
            done = info.get("episode")  # which Monitor adds
            if done is None:
                continue
            self.episodes += 1
            success = info.get("is_success")
            if success is None and not self._told:
                self._told = True
                warnings.warn(no_outcome(self._task or "the environment"), stacklevel=2)
            if success is not None:
                self._successes = [*self._successes[-99:], bool(success)]
            if self._episode is None or (self.episodes - 1) % self._every:
                continue
            task = {"return": float(done["r"]), "steps": int(done["l"]), "timesteps": self.num_timesteps}
            said = "ended"
            if success is not None:
                task["success"], said = bool(success), "succeeded" if success else "failed"
            try:
                self._episode.learn("training episode %d %s: return %.4g in %d steps" % (self.episodes, said, task["return"], task["steps"]), context={"task": task})
            except RobotmemError as err:
                self._warn(err)
        return True

    def _on_training_end(self) -> None:
        if self._episode is None:
            return
        if self._successes:
            self._episode.outcome = sum(self._successes) / len(self._successes)
        try:
            self._episode.__exit__(None, None, None)
        except RobotmemError as err:
            self._warn(err)

    def _warn(self, err: RobotmemError) -> None:
        self.lost += 1
        if self.verbose:
            print("robotmem: %s" % err)
