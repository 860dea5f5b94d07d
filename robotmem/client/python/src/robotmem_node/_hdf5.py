"""Demonstrations in HDF5 files, as robomimic and as ALOHA write them.

robomimic (and LIBERO, MimicGen, robocasa, which write the same):

    data                        attr env_args: JSON with env_name, type, env_kwargs
    data/demo_N                 attr num_samples
    data/demo_N/actions         (T, A); also rewards (T,), dones (T,), states (T, S)
    data/demo_N/obs/NAME        (T, ...), data/demo_N/next_obs/NAME likewise, one step later
    mask/KEY                    the names of demos: train, valid

ALOHA and ACT, one file an episode:

    /                           attr sim, attr compress
    /action                     (T, 14); also base_action (T, 2)
    /observations/qpos          (T, 14); also qvel, effort
    /observations/images/CAM    (T, H, W, 3) uint8, or (T, N) JPEG padded with zeros
    /compress_len               (cameras, T), the bytes of each JPEG

A Demo is one episode of either. Demo.check reads it whole, so that a damaged one is refused before a part
of it is stored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from typing import Any, Iterator, NamedTuple

from ._operations import Object

TRACE, IMAGES, DEPTH, ARRAY = "trace", "images", "depth", "array"

_MOST_CHANNELS = 256  # of a trace: the values of a larger step are an array
_DEEPEST = 16  # groups within each other
_SLAB = 16 << 20  # bytes that are read of images at a time
_MOST_PARAMS = 16 << 10  # bytes of env_kwargs as JSON; a context takes 64 KiB
_ARM = ("waist", "shoulder", "elbow", "forearm_roll", "wrist_angle", "wrist_rotate", "gripper")
_ALOHA = [side + joint for side in ("left_", "right_") for joint in _ARM]
_SIMULATED = (1, 2, 3)  # env_args.type: robosuite, Gym, iGibson


class DatasetError(ValueError):
    """A file, or a demo in it, that cannot be stored; path, group and detail say where and why."""

    def __init__(self, path: str, group: str, detail: str):
        super().__init__(": ".join(part for part in (path, group, detail) if part))
        self.path, self.group, self.detail = path, group, detail

    def __reduce__(self) -> tuple[Any, ...]:  # so that it crosses processes
        return type(self), (self.path, self.group, self.detail)


class Stream(NamedTuple):
    """A dataset of a demo. name is its path below the demo, such as obs/robot0_eef_pos; its first
    dimension is the steps."""

    name: str
    kind: str  # TRACE, IMAGES, DEPTH or ARRAY
    data: Any  # of h5py

    @property
    def leaf(self) -> str:
        return self.name.rpartition("/")[2]

    def channels(self) -> list[str]:
        """The names of the values of a step: those of the arms for 14 values of ALOHA, else numbered."""
        values = self.data.size // max(1, self.data.shape[0])
        if values == len(_ALOHA) and self.name in ("action", "observations/qpos", "observations/qvel", "observations/effort"):
            return _ALOHA
        return [self.leaf] if self.data.ndim == 1 else ["%s_%d" % (self.leaf, i) for i in range(values)]

    def slabs(self) -> Iterator[tuple[int, Any]]:
        """The steps in pieces of at most 16 MiB, each with the number of its first step."""
        steps = self.data.shape[0]
        size = max(1, self.data.dtype.itemsize * self.data.size // max(1, steps))
        step = max(1, _SLAB // size)
        for at in range(0, steps, step):
            yield at, self.data[at : at + step]


class Demo:
    """One episode of a file.

    name is demo_3, or the name of an ALOHA file without its ending; group its path in the file, "" for
    ALOHA; filters the keys of mask that list it; left_out what of it is no stream, with the reason.
    """

    def __init__(self, file: DemoFile, name: str, group: Any, filters: list[str]):
        self.file, self.name, self.filters = file, name, filters
        self.group = group.name.strip("/")
        self._root = group
        self.left_out: dict[str, str] = {}
        self.streams: list[Stream] = []
        actions = _member(file.path, group, "actions" if file.layout == "robomimic" else "action")
        if getattr(actions, "shape", None) is None:
            raise DatasetError(file.path, self.group, "has no actions")
        if actions.ndim == 0 or actions.shape[0] == 0:
            raise DatasetError(file.path, self.group, "actions are empty")
        self.steps = int(actions.shape[0])
        self._list(group, "")

    def _list(self, group: Any, below: str) -> None:
        if below.count("/") > _DEEPEST:
            raise DatasetError(self.file.path, self._path(below), "has groups within itself, or more than %d within each other" % _DEEPEST)
        for key in sorted(group):
            found = _member(self.file.path, group, key)
            name = below + key
            if found is None:
                raise DatasetError(self.file.path, self._path(name), "is a link that leads nowhere, or damaged")
            if hasattr(found, "keys"):
                self._list(found, name + "/")
            elif getattr(found, "shape", None) is None:
                self.left_out[name] = "an empty dataset or a type is no stream"
            elif name == "compress_len":
                self.left_out[name] = "the bytes of the images, which say themselves where they end"
            else:
                self._add(name, found)

    def _add(self, name: str, data: Any) -> None:
        kind = _kind(name, data)
        if kind is None:
            self.left_out[name] = "%s of shape %s is no stream" % (data.dtype, list(data.shape))
        elif data.shape[0] == self.steps:
            self.streams.append(Stream(name, kind, data))
        elif re.match(r"(obs|next_obs|observations)/|(rewards|dones|states|base_action)$", name):
            raise DatasetError(self.file.path, self._path(name), "has %d steps, and the actions have %d" % (data.shape[0], self.steps))
        else:
            self.left_out[name] = "has %d steps, and the actions have %d" % (data.shape[0], self.steps)

    def _path(self, name: str) -> str:
        return self.group + "/" + name if self.group else name

    def stream(self, name: str) -> Stream | None:
        return next((s for s in self.streams if s.name == name), None)

    def last(self, name: str) -> float | None:
        """The last value of rewards or dones; None if the demo has none."""
        found = self.stream(name)
        if found is None or found.kind != TRACE or found.data.size != self.steps:
            return None
        return float(found.data[self.steps - 1 :].reshape(-1)[0])

    def check(self) -> None:
        """Read the demo whole. Raises DatasetError for another number of steps than num_samples says, for
        values that are not finite, for damaged data and for images that are no JPEG or PNG."""
        told = self._root.attrs.get("num_samples")
        if told is not None and int(told) != self.steps:
            raise DatasetError(self.file.path, self.group, "num_samples is %d, and the actions have %d steps" % (told, self.steps))
        for stream in self.streams:
            try:
                for at, slab in stream.slabs():
                    self._check_slab(stream, at, slab)
            except (OSError, RuntimeError) as err:  # of h5py: a chunk that cannot be read or unpacked
                raise DatasetError(self.file.path, self._path(stream.name), "is damaged: %s" % err) from err

    def _check_slab(self, stream: Stream, at: int, slab: Any) -> None:
        import numpy

        where = self._path(stream.name)
        if stream.kind == IMAGES and not raw(stream.data):
            for i, image in enumerate(slab):
                if not encoded(image):
                    raise DatasetError(self.file.path, where, "the image of step %d is no whole JPEG or PNG" % (at + i))
        elif stream.kind in (TRACE, ARRAY) and slab.dtype.kind == "f":
            bad = ~numpy.isfinite(slab.reshape(len(slab), -1)).all(axis=1)
            if bad.any():
                raise DatasetError(self.file.path, where, "has a value that is not finite (NaN or infinite) in step %d" % (at + int(bad.argmax())))

    def identity(self) -> str:
        """What the demo is called in the memory: a hash of its actions and of the names, shapes and types of
        its streams, with its name. A file that was moved or copied has the same demos."""
        hashed = hashlib.sha256()
        for stream in self.streams:
            hashed.update(json.dumps([stream.name, list(stream.data.shape), str(stream.data.dtype)]).encode())
        for name in ("actions", "action", "states", "observations/qpos"):
            found = self.stream(name)
            if found is not None:
                hashed.update(found.data[()].tobytes())
        return "hdf5/%s/%s" % (hashed.hexdigest()[:32], self.name[:64])

    def task(self) -> str | None:
        """The task that the demo or its file names; for ALOHA the name of the folder."""
        attrs = self._root.attrs
        for meta in (attrs.get("ep_meta"), self.file.attrs.get("problem_info")):  # of robocasa, of LIBERO
            said = _json(meta)
            words = said.get("lang") or said.get("language_instruction")
            if words:
                return words if isinstance(words, str) else "".join(map(str, words))
        for name in ("task", "language_instruction", "lang"):
            if attrs.get(name):
                return _text(attrs[name])
        return self.file.env_name or (self.file.folder if self.file.layout == "aloha" else None)

    def told(self) -> tuple[bool | None, str]:
        """Whether the demo succeeded, as the file says, and by which rule; None if it does not say.

        An attribute success of the demo counts first. Then a last reward above 0 is a success, another one a
        failure, unless the rewards are shaped or no demo of the file has one above 0. Without rewards the
        last of dones counts, unless it is the same in all demos: then it may mark the end alone.
        """
        said = self._root.attrs.get("success")
        if said is not None:
            return (_text(said).lower() in ("true", "yes", "success", "1") if isinstance(said, (str, bytes)) else bool(said)), "attribute success"
        if self.file.shaped:
            return None, "rewards are shaped"
        rewards, dones = self.file.endings
        reward, done = self.last("rewards"), self.last("dones")
        if reward is not None and any(r > 0 for r in rewards):
            return reward > 0, "last reward %g" % reward
        if done is not None and len(set(dones)) > 1:
            return bool(done), "last of dones %g" % done
        return None, "the file does not say"


class DemoFile:
    """An open file. Use it in a with statement."""

    def __init__(self, path: str):
        self.path = path
        self._open = contextlib.ExitStack()
        file = self._open.enter_context(_opened(path))
        try:
            self._file = file
            data, action = _member(path, file, "data"), _member(path, file, "action")
            if data is not None and hasattr(data, "keys"):
                self.layout, self.attrs = "robomimic", data.attrs
                self._groups = [key for key in data if hasattr(_member(path, data, key), "keys")]
                if not self._groups:
                    raise DatasetError(path, "data", "has no demo")
            elif action is not None and hasattr(file.get("observations"), "keys"):
                self.layout, self.attrs = "aloha", file.attrs
                self._groups = []
            else:
                raise DatasetError(path, "", "has neither data/demo_N, as robomimic writes, nor action and observations, as ALOHA does; it has %s" % (", ".join(sorted(file)[:8]) or "nothing"))
            self._env = _json(self.attrs.get("env_args"))
        except BaseException:
            self._open.close()
            raise
        self._endings: tuple[list[float], list[float]] | None = None

    def __enter__(self) -> DemoFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def folder(self) -> str:
        return os.path.basename(os.path.dirname(os.path.abspath(self.path)))

    @property
    def env_name(self) -> str | None:
        name = self._env.get("env_name")
        return str(name) if name else None

    @property
    def kwargs(self) -> Object:
        """env_kwargs of env_args; of a very long one only the plain values."""
        found = self._env.get("env_kwargs")
        kwargs: Object = found if isinstance(found, dict) else {}
        if len(json.dumps(kwargs)) > _MOST_PARAMS:
            kwargs = {k: v for k, v in kwargs.items() if isinstance(v, (int, float, bool)) or (isinstance(v, str) and len(v) < 200)}
        return kwargs

    @property
    def shaped(self) -> bool:
        return bool(self.kwargs.get("reward_shaping"))

    @property
    def fps(self) -> float | None:
        """Steps a second: control_freq of env_kwargs, 50 for ALOHA, whose files do not say; else None."""
        told = self.kwargs.get("control_freq")
        if isinstance(told, (int, float)) and told > 0:
            return float(told)
        return 50.0 if self.layout == "aloha" else None

    @property
    def robot(self) -> str | None:
        robots = self.kwargs.get("robots")
        name = robots[0] if isinstance(robots, list) and robots else robots
        return name if isinstance(name, str) else "aloha" if self.layout == "aloha" else None

    @property
    def env(self) -> Object:
        """The section env of the context: name, version, and sim_or_real where the file says."""
        out: Object = {}
        for name, key in (("name", "env_name"), ("version", "env_version")):
            if self._env.get(key):
                out[name] = self._env[key]
        simulated = self.attrs.get("sim") if self.layout == "aloha" else self._env.get("type") in _SIMULATED or None
        if simulated is not None:
            out["sim_or_real"] = "sim" if simulated else "real"
        if self.attrs.get("date"):  # robosuite: in the time of the computer that recorded it
            out["recorded"] = " ".join(_text(self.attrs[k]) for k in ("date", "time") if self.attrs.get(k))
        return out

    @property
    def endings(self) -> tuple[list[float], list[float]]:
        """The last rewards, and the last dones, of all demos of the file that have them."""
        if self._endings is None:
            self._endings = ([], [])
            for group in self._each():
                for name, into in zip(("rewards", "dones"), self._endings):
                    data = _member(self.path, group, name)
                    if getattr(data, "size", 0) and data.dtype.kind in "fiub":
                        into.append(float(data[-1:].reshape(-1)[0]))
        return self._endings

    def _each(self) -> list[Any]:
        return [self._file["data"][key] for key in self._groups] if self.layout == "robomimic" else [self._file]

    def masks(self) -> dict[str, list[str]]:
        """The filter keys, with the names of their demos."""
        mask: Any = _member(self.path, self._file, "mask") if self.layout == "robomimic" else None
        keys = [key for key in mask if getattr(_member(self.path, mask, key), "shape", None) is not None] if hasattr(mask, "keys") else []
        return {key: [_text(name) for name in mask[key][()].reshape(-1)] for key in keys}

    def names(self, key: str | None = None) -> list[str]:
        """The names of the demos in the order of their numbers; with a filter key those that it lists.
        Raises DatasetError if there is no such key."""
        if self.layout == "aloha":
            if key is not None:
                raise DatasetError(self.path, "mask", "files of ALOHA have no filter keys")
            return [os.path.splitext(os.path.basename(self.path))[0]]
        if key is None:
            return sorted(self._groups, key=numbered)
        masks = self.masks()
        if key not in masks:
            raise DatasetError(self.path, "mask", "has no key %s; it has %s" % (key, ", ".join(sorted(masks)) or "none"))
        return sorted(masks[key], key=numbered)

    def demo(self, name: str) -> Demo:
        """Open a demo by its name. Raises DatasetError if it cannot be stored."""
        if self.layout == "aloha":
            return Demo(self, name, self._file, [])
        if name not in self._groups:
            raise DatasetError(self.path, "data/" + name, "is in a filter key, and the file does not have it")
        return Demo(self, name, self._file["data"][name], sorted(key for key, names in self.masks().items() if name in names))


def require() -> None:
    """Raise ImportError, with what to install, unless the libraries of the extra robomimic are there."""
    try:
        import h5py
        import numpy
        import PIL.Image
    except ImportError as err:
        raise ImportError("HDF5 files are read with h5py, numpy and pillow: pip install 'robotmem-node[robomimic]', or these three (%s)" % err) from err
    del h5py, numpy, PIL


def numbered(name: str) -> list[Any]:
    """A key that sorts demo_2 before demo_10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def raw(data: Any) -> bool:
    """Whether a dataset of images has pixels, not files."""
    return bool(data.ndim >= 3)


def encoded(image: Any) -> bytes | None:
    """A JPEG or PNG without the zeros that pad it; None if it is neither, or has no end."""
    found = bytes(image.tobytes() if hasattr(image, "tobytes") else image).rstrip(b"\0")
    whole = (found.startswith(b"\xff\xd8\xff") and found.endswith(b"\xff\xd9")) or (found.startswith(b"\x89PNG\r\n\x1a\n") and found.endswith(b"\xaeB`\x82"))
    return found if whole else None


def _kind(name: str, data: Any) -> str | None:
    """What a dataset is as a stream; None if it is none."""
    if data.ndim == 0 or data.shape[0] == 0:
        return None
    code, image = data.dtype.kind, "images/" in name or name.endswith(("_image", "_rgb"))
    if image and data.ndim <= 2 and (code in "OS" or (code == "u" and data.dtype.itemsize == 1 and data.ndim == 2)):
        return IMAGES
    if code not in "fiub":
        return None
    planes = data.ndim == 3 or (data.ndim == 4 and data.shape[3] == 1)
    if planes and "depth" in name:
        return DEPTH
    if data.dtype == "uint8" and ((data.ndim == 4 and data.shape[3] in (1, 3, 4)) or (data.ndim == 3 and image)):
        return IMAGES
    return TRACE if data.size // data.shape[0] <= _MOST_CHANNELS or data.ndim <= 2 else ARRAY


def _opened(path: str) -> Any:
    require()
    import h5py

    if os.path.isdir(path) or not os.path.exists(path):
        raise DatasetError(path, "", "is a folder" if os.path.isdir(path) else "there is no such file")
    try:
        return h5py.File(path, "r")
    except OSError as err:
        raise DatasetError(path, "", "is no HDF5 file, or was cut or damaged: %s" % err) from err


def _member(path: str, group: Any, name: str) -> Any:
    """A member of a group; None if there is none, or a link that leads nowhere."""
    try:
        return group[name]
    except KeyError:
        return None
    except (OSError, RuntimeError) as err:
        raise DatasetError(path, (group.name.rstrip("/") + "/" + name).lstrip("/"), "cannot be read: %s" % err) from err


def _json(value: Any) -> Object:
    """The object in a text of JSON; {} if it is none. NaN becomes text, which a context can hold."""
    try:
        found = json.loads(_text(value), parse_constant=str)
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
