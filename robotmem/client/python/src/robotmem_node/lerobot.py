"""LeRobot: episodes of a dataset become episodes of the memory, and a callback for recording loops."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping

from ._errors import RobotmemError
from ._memory import Episode, Memory
from ._operations import Object
from ._values import untensored

__all__ = ["EpisodeCallback", "remember"]


class EpisodeCallback:
    """Remembers episodes that are recorded with LeRobot, frame by frame.

        callback = EpisodeCallback(memory, fps=30, task="put the cube into the box", robot="so101")
        for each episode:
            for each frame: callback.frame(frame); dataset.add_frame(frame)
            dataset.save_episode(); callback.episode_end(success=True)

    Each low-dimensional feature of an episode (observation.state, action, …) is stored as a trace. A fact
    has the length, the task and the outcome of the episode. Images stay in the dataset. The task of a
    frame is used if it has one; add_frame takes it out of the frame.
    """

    def __init__(self, memory: Memory, *, fps: float, task: str | None = None, robot: str | None = None, dataset: str | None = None, names: Mapping[str, Any] | None = None, collection: str | None = None):
        """names are the channels of a feature, as in a dataset's features: {"action": ["x", "y", "z"]};
        dataset is its name. With it an episode that was remembered before is not stored again."""
        if not fps > 0:
            raise ValueError("fps is the frames a second of the dataset, not %r" % fps)
        self.memory, self.fps, self.task, self.robot = memory, fps, task, robot
        self._dataset, self._names, self._collection = dataset, dict(names or {}), collection
        self._frames: dict[str, list[list[float]]] = {}
        self._index = 0

    def frame(self, frame: Mapping[str, Any]) -> None:
        """Add a frame: a dict of features, of which those of one dimension are kept."""
        for name, value in frame.items():
            value = untensored(value)
            if getattr(value, "ndim", None) == 1 and getattr(value, "dtype", None) is not None and value.dtype.kind in "fiub":
                self._frames.setdefault(name, []).append(value.tolist())
        if isinstance(frame.get("task"), str):
            self.task = frame["task"]

    def episode_end(self, success: bool | None = None, *, outcome: float | None = None, params: Mapping[str, Any] | None = None, index: int | None = None) -> str | None:
        """Store the episode. Returns its session_id, None if the dataset's episode was known already.
        outcome is 0 to 1; by default that of success."""
        frames, self._frames = self._frames, {}
        index = self._index if index is None else index
        self._index = index + 1
        origin = "%s/%d" % (self._dataset, index) if self._dataset else None
        if outcome is None and success is not None:
            outcome = float(success)
        context: Object = {"dataset": {"name": self._dataset, "episode": index}} if self._dataset else {}
        episode = self.memory.episode(task=self.task, robot=self.robot, context=context, collection=self._collection, outcome=outcome, origin=origin)
        try:
            episode.__enter__()  # one that was broken off continues
        except RobotmemError as err:
            if origin is not None and err.kind == "conflict":  # it has ended
                return None
            raise
        raised: BaseException | None = None
        try:
            steps = max(map(len, frames.values()), default=0)
            task: Object = {"steps": steps, "duration_s": steps / self.fps}
            if outcome is not None:
                task["success"] = outcome >= 0.5
            told: Object = {"task": task, **({"params": dict(params)} if params else {})}
            for name, rows in frames.items():
                self._save(episode, name, rows, origin and "%s/%s" % (origin, name))
            episode.learn("episode %d%s: %d frames in %.1f s" % (index, " of " + self._dataset if self._dataset else "", steps, steps / self.fps), context=told)
        except BaseException as err:
            raised, episode.outcome = err, None  # it is the storing that failed
            raise
        finally:
            episode.__exit__(type(raised) if raised else None, raised, None)
        return episode.id

    def _save(self, episode: Episode, name: str, rows: list[list[float]], origin: str | None) -> None:
        import numpy

        data = numpy.asarray(rows, dtype="<f8")
        channels = self._names.get(name)
        if isinstance(channels, Mapping):  # {"motors": [...]} of older datasets
            channels = next(iter(channels.values()), None)
        if not channels or len(channels) != data.shape[1]:
            channels = ["%s_%d" % (name.rpartition(".")[2], i) for i in range(data.shape[1])]
        episode.save(data, "%s of the episode" % name, rate=self.fps, channels=list(channels), perception_type="proprioceptive", source=name[:64], origin=origin)


def remember(
    memory: Memory,
    dataset: Any,
    *,
    episodes: Iterable[int] | None = None,
    success: Callable[[int, Mapping[str, Any]], bool | None] | None = None,
    robot: str | None = None,
    collection: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Store the episodes of a LeRobotDataset; return how many are new. A second run stores the others.

    success says how an episode went, from its index and its last frame; by default that is next.success
    of the last frame, if the dataset has it. progress is called with the number of episodes done and of
    all. Images are not read.
    """
    meta = dataset.meta
    names = {name: feature.get("names") for name, feature in meta.features.items()}
    callback = EpisodeCallback(memory, fps=meta.fps, robot=robot or meta.robot_type, dataset=dataset.repo_id, names=names, collection=collection)
    rows = dataset.hf_dataset.remove_columns([c for c in dataset.hf_dataset.column_names if c in meta.camera_keys])
    wanted = list(range(meta.total_episodes)) if episodes is None else list(episodes)
    spans: dict[int, list[int]] = {}
    for row, index in enumerate(rows["episode_index"]):
        spans.setdefault(int(index), []).append(row)
    stored = 0
    for done, index in enumerate(wanted):
        if index not in spans:
            raise ValueError("the dataset has no episode %d; it has %d" % (index, meta.total_episodes))
        last: Mapping[str, Any] = {}
        for row in spans[index]:
            last = rows[row]
            callback.frame({name: value for name, value in last.items() if not name.startswith("next.")})
        task_index = last.get("task_index")
        if task_index is not None:
            callback.task = str(meta.tasks.iloc[int(task_index)].name) if hasattr(meta.tasks, "iloc") else str(meta.tasks[int(task_index)])
        went = success(index, last) if success else bool(last["next.success"]) if "next.success" in last else None
        stored += callback.episode_end(went, index=index) is not None
        if progress:
            progress(done + 1, len(wanted))
    return stored
