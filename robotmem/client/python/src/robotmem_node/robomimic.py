"""Demonstrations of robomimic and of ALOHA, in HDF5, become episodes of the memory.

    from robotmem_node import Memory
    from robotmem_node.robomimic import remember

    with Memory("arm7.db") as m:
        print(remember(m, "lift/ph/image.hdf5", filter="valid"))

or as a command:

    python -m robotmem_node.robomimic lift/ph/image.hdf5 --filter valid --db arm7.db

Each demo becomes an episode: its numbers (actions, obs/*, states, rewards …) as traces in the type of the
file, its images as perceptions (JPEG and PNG byte for byte, pixels as PNG), depth as .npy, and a fact with
the task, the steps and the outcome. A demo is read whole before a part of it is stored. One that was stored
before is left as it is, also if its file was moved. It needs h5py: pip install 'robotmem-node[robomimic]'.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import datetime
import hashlib
import io
import json
import os
import sys
from typing import Any, Callable, Iterator, Sequence

from ._errors import RobotmemError
from ._hdf5 import ARRAY, DEPTH, IMAGES, TRACE, DatasetError, Demo, DemoFile, Stream, encoded, numbered, raw, require
from ._memory import Memory, merged
from ._operations import Object
from ._values import npy

__all__ = ["DatasetError", "Demo", "DemoFile", "Report", "main", "remember"]

_SAVERS = 4  # perceptions that are sent at a time
_MOST_NAMES = 1000  # channels whose names fit into the metadata
_INLINE = 8 << 20  # bytes; a larger payload is sent as a stream


@dataclasses.dataclass
class Report:
    """What an import stored and what it left out."""

    episodes: int = 0  # that are new
    known: int = 0  # that an earlier import stored
    steps: int = 0  # of the new episodes
    perceptions: int = 0  # of the new episodes
    outcomes: dict[str, int] = dataclasses.field(default_factory=dict)  # success, failure, unknown
    left_out: dict[str, int] = dataclasses.field(default_factory=dict)  # images and datasets, by reason
    broken: list[str] = dataclasses.field(default_factory=list)  # demos and files that were not stored, with file, group and reason

    def __str__(self) -> str:
        outcomes = ", ".join("%d %s" % (n, what) for what, n in self.outcomes.items())
        lines = ["%s%s, %s perceptions, %s steps" % (_episodes(self.episodes), " (%s)" % outcomes if outcomes else "", format(self.perceptions, ","), format(self.steps, ","))]
        if self.known:
            lines.append("known and unchanged: " + _episodes(self.known))
        lines += ["left out: %s %s" % (format(n, ","), what) for what, n in self.left_out.items()]
        lines += ["not stored: " + line for line in self.broken]
        return "\n".join(lines)

    def add(self, other: Report) -> None:
        """Add the counts of another import."""
        for name in ("episodes", "known", "steps", "perceptions"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for mine, theirs in ((self.outcomes, other.outcomes), (self.left_out, other.left_out)):
            for what, n in theirs.items():
                _count(mine, what, n)
        self.broken += other.broken


def _episodes(n: int) -> str:
    return "%d episode%s" % (n, "" if n == 1 else "s")


def _count(into: dict[str, int], what: str, n: int = 1) -> None:
    if n:
        into[what] = into.get(what, 0) + n


def remember(
    memory: Memory,
    path: str | os.PathLike[str],
    *,
    fps: float | None = None,
    task: str | None = None,
    robot: str | None = None,
    name: str | None = None,
    filter: str | None = None,
    collection: str | None = None,
    success: bool | Callable[[Demo], bool | None] | None = None,
    image_rate: float | None = None,
    next_obs: bool = False,
    started: datetime.datetime | None = None,
    progress: Callable[[int, int, Report], None] | None = None,
) -> Report:
    """Store the demos of a file, or of the .hdf5 and .h5 files in a folder.

    Args:
        path: The file or the folder.
        fps: Steps a second. Default: control_freq of env_args; for ALOHA 50, because its files do not say.
        task: Its name. Default: that in the file (of LIBERO and robocasa), else env_name of env_args; for
            ALOHA the name of the folder.
        robot: Its id. Default: the first of robots in env_args; for ALOHA "aloha".
        name: The name of the dataset, env.dataset of the context. Default: the name of the file; for ALOHA
            that of the folder.
        filter: A filter key below mask, such as train or valid. Default: all demos.
        collection: Namespace of the episodes.
        success: The outcome of all demos, or a function that gives it. Default: what the file says, see
            Demo.told; an outcome that it does not say is unknown.
        image_rate: The most images a second of each camera. The first and the last are always stored.
            Default: all.
        next_obs: Whether next_obs is stored. It repeats obs, one step later.
        started: When the first demo began; the others follow it without a pause. Default: a demo ends when
            it is imported, because the files have no clock.
        progress: Called with the demos done, the number of all, and the report so far.

    A demo that cannot be stored is named in broken, and the others are stored. Raises DatasetError if there
    is no file, if no file can be read, if a filter key is missing, and if the steps a second are not known;
    RobotmemError if the node refuses or goes away. Then an episode stays open, and the next import completes it.
    """
    if fps is not None and not 0 < fps < 1e6:
        raise ValueError("fps is the steps a second, not %r" % fps)
    if image_rate is not None and not image_rate > 0:
        raise ValueError("image_rate is images a second, not %r" % image_rate)
    report = Report()
    files = _files(os.fspath(path))
    wanted: list[tuple[str, list[str]]] = []
    for file in files:
        try:
            with DemoFile(file) as opened:
                if (fps or opened.fps) is None:
                    raise DatasetError(file, "data", "env_args has no control_freq; give fps, the steps a second")
                wanted.append((file, opened.names(filter)))
        except DatasetError as err:
            if len(files) == 1:
                raise
            report.broken.append(str(err))
    if not wanted:
        raise DatasetError(os.fspath(path), "", "no file could be read; the first: %s" % report.broken[0])
    total, done, begin = sum(len(names) for _, names in wanted), 0, started
    for file, names in wanted:
        with DemoFile(file) as opened:
            importer = _Importer(memory, opened, report, fps or opened.fps or 0, task, robot, name, collection, success, image_rate, next_obs)
            for demo_name in names:
                try:
                    demo = opened.demo(demo_name)
                    demo.check()
                    importer.store(demo, begin)
                    if begin is not None:
                        begin += datetime.timedelta(seconds=demo.steps / importer.fps)
                except DatasetError as err:
                    report.broken.append(str(err))
                done += 1
                if progress:
                    progress(done, total, report)
    return report


class _Importer:
    """Stores the demos of one file."""

    def __init__(
        self, memory: Memory, file: DemoFile, report: Report, fps: float, task: str | None, robot: str | None, name: str | None,
        collection: str | None, success: bool | Callable[[Demo], bool | None] | None, image_rate: float | None, next_obs: bool,
    ):
        self.memory, self.file, self.report, self.fps, self.collection = memory, file, report, fps, collection
        self._task, self._robot = task, robot or file.robot
        self._dataset = name or (file.folder if file.layout == "aloha" else os.path.basename(file.path))
        self._success, self._image_rate, self._next_obs = success, image_rate, next_obs

    def store(self, demo: Demo, begin: datetime.datetime | None) -> None:
        origin = demo.identity()
        length = datetime.timedelta(seconds=(demo.steps - 1) / self.fps)
        begin = begin or datetime.datetime.now(datetime.timezone.utc) - length
        context = self._context(demo)
        whole = merged(context, {"params": self.file.kwargs} if self.file.kwargs else {})
        try:
            session = self.memory.start_session(collection=self.collection, context=whole, origin=origin, started_at=begin)
        except RobotmemError as err:
            if err.kind != "conflict":
                raise
            self.report.known += 1  # it has ended
            return
        begin = self.memory.session(session.session_id).created_at  # of an import that was broken off, its own
        fields: Object = {"session_id": session.session_id, "context": context}
        saved, left_out = 0, dict(demo.left_out)
        for stream in demo.streams:
            if stream.name.startswith("next_obs/") and not self._next_obs:
                left_out[stream.name] = "next_obs repeats obs"
            elif stream.kind in (TRACE, ARRAY):
                self._save_numbers(demo, stream, origin, begin, fields)
                saved += 1
            else:
                saved += self._save_images(demo, stream, origin, begin, fields)
        success, why = self._outcome(demo)
        self.memory.learn(
            self._sentence(demo, success, why), context=merged(whole, {"task": self._ending(demo, success)}), session_id=session.session_id,
            observed_at=begin + length, request_id=_short(origin, "fact"), outcome="unknown" if success is None else None,
        )
        self.memory.end_session(
            session.session_id, outcome="unknown" if success is None else "success" if success else "failure", ended_at=begin + length,
        )
        self.report.episodes += 1
        self.report.steps += demo.steps
        self.report.perceptions += saved
        _count(self.report.outcomes, "unknown" if success is None else "success" if success else "failure")
        for reason in left_out.values():
            _count(self.report.left_out, "datasets: " + reason)

    def _context(self, demo: Demo) -> Object:
        """What all memories of the demo have: task, robot and env."""
        env: Object = {**self.file.env, "dataset": self._dataset, "episode": demo.name, "fps": self.fps}
        if numbered(demo.name)[-2:-1]:
            env["episode_index"] = numbered(demo.name)[-2]
        if demo.filters:
            env["filters"] = dict.fromkeys(demo.filters, True)  # so that a filter can name one: env.filters.valid
        context: Object = {"env": env}
        task = self._task or demo.task()
        if task:
            context["task"] = {"name": task}
        if self._robot:
            context["robot"] = {"id": self._robot}
        return context

    def _outcome(self, demo: Demo) -> tuple[bool | None, str]:
        if self._success is None:
            return demo.told()
        return (self._success(demo) if callable(self._success) else self._success), "the caller says so"

    def _ending(self, demo: Demo, success: bool | None) -> Object:
        task: Object = {"steps": demo.steps, "duration_s": demo.steps / self.fps}
        rewards = demo.stream("rewards")
        if rewards is not None and rewards.kind == TRACE:
            task["return"] = float(rewards.data[()].sum())
        if success is not None:
            task["success"] = success
        return task

    def _sentence(self, demo: Demo, success: bool | None, why: str) -> str:
        said = "with an unknown outcome" if success is None else "succeeded" if success else "failed"
        task = self._task or demo.task()
        return "%s of %s%s: %d steps in %.4g s, %s (%s)" % (demo.name, self._dataset, ", " + task if task and task != self._dataset else "", demo.steps, demo.steps / self.fps, said, why)

    def _describe(self, demo: Demo, what: str) -> str:
        return "%s, %s of %s" % (what, demo.name, self._dataset)

    def _save_numbers(self, demo: Demo, stream: Stream, origin: str, begin: datetime.datetime, fields: Object) -> None:
        values = stream.data[()]
        metadata: Object = {"dataset": _path(demo, stream), "rate_hz": self.fps}
        if stream.kind == ARRAY:
            data, media_type = npy(values), None
        else:
            rows = values.reshape(len(values), -1)
            channels = stream.channels()
            metadata.update(dtype=rows.dtype.str, shape=list(rows.shape), channels=channels)
            if len(channels) > _MOST_NAMES:
                del metadata["channels"]
            if values.ndim > 2:
                metadata["step_shape"] = list(values.shape[1:])
            if stream.leaf in ("qpos", "robot0_joint_pos", "joint_states"):
                metadata["kind"] = "joint_state"
            data, media_type = rows.tobytes(), "application/x-samples"
        self._send(
            data, self._describe(demo, "%s of the episode" % stream.name), perception_type="proprioceptive", media_type=media_type, metadata=metadata,
            observed_at=begin, source=stream.name[:64], origin=_short(origin, stream.name), **fields,
        )

    def _save_images(self, demo: Demo, stream: Stream, origin: str, begin: datetime.datetime, fields: Object) -> int:
        """Save the images of a camera, several at a time; return how many."""
        kept = set(_chosen(demo.steps, self.fps, self._image_rate))
        _count(self.report.left_out, "images: beyond image_rate", demo.steps - len(kept))

        def save(at: int, image: Any) -> None:
            data, media_type, kind = _image(stream, image)
            metadata: Object = {"dataset": _path(demo, stream), "step": at, "time_s": at / self.fps, **({"kind": kind} if kind else {})}
            self._send(
                data, self._describe(demo, "%s at %.4g s" % (stream.leaf, at / self.fps)), perception_type="visual", media_type=media_type, metadata=metadata,
                observed_at=begin + datetime.timedelta(seconds=at / self.fps), source=stream.name[:64], origin=_short(origin, "%s/%06d" % (stream.name, at)), **fields,
            )

        saved = 0
        with concurrent.futures.ThreadPoolExecutor(_SAVERS) as pool:
            for first, slab in stream.slabs():
                chosen = [i for i in range(len(slab)) if first + i in kept]
                saved += sum(1 for _ in pool.map(save, [first + i for i in chosen], [slab[i] for i in chosen]))  # raises what save raised
        return saved

    def _send(self, data: bytes, description: str, **fields: Any) -> None:
        if len(data) > _INLINE:
            self.memory.save_perception_from(io.BytesIO(data), description, **fields)
        else:
            self.memory.save_perception(description, data_base64=data, **fields)


def _chosen(steps: int, fps: float, rate: float | None) -> Iterator[int]:
    """The steps whose images are stored: at most rate a second, the first and the last."""
    if rate is None or rate >= fps:
        yield from range(steps)
        return
    taken = -1
    for at in range(steps):
        if int(at * rate / fps) > taken or at == steps - 1:
            taken = int(at * rate / fps)
            yield at


def _image(stream: Stream, image: Any) -> tuple[bytes, str | None, str | None]:
    """An image of a stream as payload, media type and kind. Pixels become PNG, depth a .npy of (H, W)."""
    if stream.kind == DEPTH:
        return npy(image.reshape(image.shape[:2])), None, "depth"
    if not raw(stream.data):
        data = encoded(image)
        assert data is not None  # check has seen it
        return data, "image/jpeg" if data.startswith(b"\xff\xd8") else "image/png", None
    import PIL.Image

    out = io.BytesIO()
    PIL.Image.fromarray(image.reshape(image.shape[:2]) if image.shape[-1] == 1 else image).save(out, "PNG", compress_level=1)
    return out.getvalue(), "image/png", None


def _path(demo: Demo, stream: Stream) -> str:
    return "/".join(part for part in (demo.group, stream.name) if part)


def _short(origin: str, part: str) -> str:
    """The origin of a part of a demo, at most 128 bytes, as a request_id allows."""
    whole = origin + "/" + part
    return whole if len(whole.encode()) <= 128 else "hdf5/" + hashlib.sha256(whole.encode()).hexdigest()


def _files(path: str) -> list[str]:
    """The files to read, in the order of their numbers. Raises DatasetError for a folder without one."""
    if not os.path.isdir(path):
        return [path]
    found = sorted((f for f in os.listdir(path) if f.endswith((".hdf5", ".h5")) and not f.startswith(".")), key=numbered)
    if not found:
        raise DatasetError(path, "", "has no file that ends in .hdf5 or .h5")
    return [os.path.join(path, f) for f in found]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit code: 0 done, 1 failed or not everything was stored, 2 bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m robotmem_node.robomimic", description="Store demonstrations of robomimic or ALOHA (HDF5) as episodes. A second run stores nothing twice.",
        epilog="Without --db and --url the memory is that of the command robotmem. Exit codes: 0 done, 1 failed or not everything was stored, 2 bad input.",
    )
    parser.add_argument("path", nargs="+", help="a file, or a folder of .hdf5 files")
    parser.add_argument("--fps", type=float, help="steps a second (default: control_freq of env_args; 50 for ALOHA)")
    parser.add_argument("--task", help="name of the task (default: that of the file; for ALOHA the folder)")
    parser.add_argument("--robot", help="id of the robot (default: that of env_args)")
    parser.add_argument("--name", help="name of the dataset in env.dataset (default: the file; for ALOHA the folder)")
    parser.add_argument("--filter", metavar="KEY", help="only the demos of mask/KEY, such as train or valid")
    parser.add_argument("--outcome", choices=["success", "failure", "unknown"], help="the outcome of all demos (default: what the rewards and dones of the file say)")
    parser.add_argument("--image-rate", type=float, metavar="HZ", help="at most so many images a second of each camera (default: all)")
    parser.add_argument("--next-obs", action="store_true", help="store next_obs too, which repeats obs one step later")
    parser.add_argument("--started", metavar="TIME", type=_time, help="when the first demo began, such as 2026-03-01T10:00:00Z; the others follow it")
    parser.add_argument("-c", "--collection", help="namespace of the episodes")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--db", metavar="PATH", help="the memory's file")
    where.add_argument("--url", help="the address of a node that runs; its token is read from ROBOTMEM_TOKEN")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    given = parser.parse_args(arguments)

    success: Any = {"success": True, "failure": False, "unknown": lambda _: None, None: None}[given.outcome]
    whole, failed, code = Report(), "", 0
    try:
        require()  # before a node is started
        with Memory(given.db or given.url or os.environ.get("ROBOTMEM_URL") or None) as memory:
            for path in given.path:
                report = remember(
                    memory, path, fps=given.fps, task=given.task, robot=given.robot, name=given.name, filter=given.filter, collection=given.collection, success=success,
                    image_rate=given.image_rate, next_obs=given.next_obs, started=given.started, progress=None if given.quiet else _Progress(path),
                )
                whole.add(report)
    except (ValueError, ImportError) as err:  # also a DatasetError
        failed, code = str(err), 2
    except RobotmemError as err:
        failed, code = "%s; run it again to store the rest" % err, 2 if err.kind == "invalid" else 1
    except KeyboardInterrupt:
        failed, code = "interrupted; run it again to store the rest", 130
    if not failed or whole.episodes or whole.known:
        print(json.dumps(dataclasses.asdict(whole), ensure_ascii=False) if given.json else whole)
    if failed:
        print("robotmem_node.robomimic: %s" % failed, file=sys.stderr)
    return code or int(bool(whole.broken))


class _Progress:
    """Shows on stderr how far an import is: in one line of a terminal, else about ten times."""

    def __init__(self, path: str):
        self._path, self._shown = path, 0

    def __call__(self, done: int, total: int, report: Report) -> None:
        line = "%s: %d of %d demos, %s perceptions" % (self._path, done, total, format(report.perceptions, ","))
        if sys.stderr.isatty():
            print("\r%s\x1b[K" % line, end="\n" if done == total else "", file=sys.stderr, flush=True)
        elif done == total or done * 10 // total > self._shown:
            self._shown = done * 10 // total
            print(line, file=sys.stderr, flush=True)


def _time(text: str) -> datetime.datetime:
    found = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found if found.tzinfo else found.astimezone()


if __name__ == "__main__":
    sys.exit(main())
