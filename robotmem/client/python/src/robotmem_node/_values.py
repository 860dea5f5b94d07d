"""Values of Python and of NumPy, Pillow, pandas and PyTorch as a node takes and gives them.

None of these libraries is imported before a value of theirs is met or asked for.
"""

from __future__ import annotations

import base64
import datetime
import io
import json
import re
import warnings
from typing import Any, NamedTuple

from ._answer import Answer, Time


class Number(float):
    """A number that is sent as it is spelt: Number("12.50") is 12.50 and not 12.5.

    Numbers of answers that are no integers are of this type, so that a context read from a node can be
    given back unchanged.
    """

    text: str

    def __new__(cls, text: str | float) -> Number:
        made = super().__new__(cls, text)
        made.text = str(text)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Number, (self.text,)


_SPELT = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")  # a number in JSON


def encode(value: Any, path: str = "") -> str:
    """value as JSON: numbers as they are spelt, times in RFC 3339, bytes in base64.

    Scalars and arrays of NumPy and tensors of PyTorch are numbers and lists; a float32 is written with
    the digits that name it (0.1, not 0.10000000149011612). Raises ValueError with the path of the value
    that has no JSON form.
    """
    if isinstance(value, Number) and _SPELT.fullmatch(value.text):
        return value.text
    if isinstance(value, dict):
        parts = {_key(key, path): encode(v, "%s.%s" % (path, key)) for key, v in value.items()}
        if len(parts) < len(value):
            raise ValueError("%stwo keys are the same as text" % _at(path))
        return "{" + ",".join(key + ":" + v for key, v in parts.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(encode(v, "%s[%d]" % (path, i)) for i, v in enumerate(value)) + "]"
    if isinstance(value, Time):
        return json.dumps(value.text)
    if isinstance(value, datetime.datetime):
        if value != value:
            raise ValueError(_at(path) + "NaT is no time; leave the key out, or give None")
        value = value.to_pydatetime(warn=False) if hasattr(value, "to_pydatetime") else value
        value = (value if value.tzinfo else value.astimezone()).isoformat()
    elif isinstance(value, (bytes, bytearray, memoryview)):
        if path not in ("", ".data_base64"):
            raise ValueError(_at(path) + "bytes have no JSON form; save them as a perception")
        value = base64.b64encode(value).decode()
    elif isinstance(value, Answer):
        return encode(value.to_dict(), path)
    elif hasattr(value, "tolist"):
        return _encode_array(value, path)
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()  # an unpaired surrogate has no UTF-8
    except (TypeError, ValueError) as err:
        raise ValueError(_at(path) + _no_json(value, err)) from err
    return text


def _at(path: str) -> str:
    return path.lstrip(".") + ": " if path else ""


def _key(key: Any, path: str) -> str:
    if not isinstance(key, (str, int)) or isinstance(key, bool):
        raise ValueError("%sa key is text, not %r" % (_at(path), key))
    return json.dumps(str(key), ensure_ascii=False)


def _no_json(value: Any, err: Exception) -> str:
    if isinstance(value, float):
        return "%r is no number of JSON; leave the key out, or give None" % value
    if isinstance(value, str):
        return "the text has an unpaired surrogate, which UTF-8 cannot carry"
    return "%s has no JSON form; give numbers, text, lists and dicts" % type(value).__name__ if isinstance(err, TypeError) else str(err)


def _encode_array(value: Any, path: str) -> str:
    value = untensored(value)
    dtype = str(getattr(value, "dtype", ""))
    if dtype == "object":
        raise ValueError(_at(path) + "an array of objects has no JSON form; give an array of numbers, or a list")
    if dtype.startswith("datetime64"):
        return encode(_utc(value.astype("datetime64[us]").tolist(), path), path)
    if dtype in ("float16", "float32"):
        if getattr(value, "ndim", 0) == 0:
            return encode(Number(str(value)), path)
        return "[" + ",".join(encode(v, "%s[%d]" % (path, i)) for i, v in enumerate(value)) + "]"
    return encode(value.tolist(), path)


def _utc(value: Any, path: str) -> Any:
    """Times of NumPy, which have no zone and are UTC, in lists as they are."""
    if isinstance(value, list):
        return [_utc(v, "%s[%d]" % (path, i)) for i, v in enumerate(value)]
    if not isinstance(value, datetime.datetime):  # NaT, or before the year 1
        raise ValueError(_at(path) + "%s is no time; leave the key out, or give None" % ("NaT" if value is None else value))
    return value.replace(tzinfo=datetime.timezone.utc)


def untensored(value: Any) -> Any:
    """A tensor of PyTorch as an array of NumPy; other values as they are."""
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":  # which NumPy does not have
            value = value.float()
        value = value.numpy()
    return value


class Payload(NamedTuple):
    """What a value is as the payload of a perception."""

    data: bytes
    media_type: str | None  # None: the node tells by the bytes
    perception_type: str | None


def payload(value: Any) -> Payload | None:
    """An array, tensor, image or frame as bytes that a node understands; None for another value.

    Arrays become .npy files, which keep type and shape, images PNG, frames CSV. Raises ValueError for
    an array of objects.
    """
    kind = type(value).__module__.partition(".")[0]
    if kind == "pandas" and hasattr(value, "to_csv"):
        usual = type(value.index).__name__ == "RangeIndex" and (value.index.start, value.index.step) == (0, 1)
        return Payload(value.to_csv(index=not usual).encode(), "text/csv", None)
    if hasattr(value, "getexif") and hasattr(value, "save"):  # an image of Pillow
        if value.mode in ("F", "I"):  # which no PNG holds
            import numpy

            return Payload(npy(numpy.asarray(value)), None, "visual")
        out = io.BytesIO()
        (value if value.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16") else value.convert("RGB")).save(out, "PNG")
        return Payload(out.getvalue(), "image/png", "visual")
    if kind == "matplotlib" and hasattr(value, "savefig"):  # a figure
        out = io.BytesIO()
        value.savefig(out, format="png", bbox_inches="tight")
        return Payload(out.getvalue(), "image/png", "visual")
    value = untensored(value)
    if hasattr(value, "dtype") and hasattr(value, "tobytes"):
        return Payload(npy(value), None, None)
    return None


def npy(array: Any) -> bytes:
    """An array of NumPy as a .npy file, version 1.0, in C order. Raises ValueError for objects and fields."""
    if hasattr(array, "filled"):  # masked values are NaN
        if array.dtype.kind != "f" and array.mask.any():
            raise ValueError("a masked array of integers cannot be stored; fill it, or give floats")
        array = array.filled(float("nan")) if array.dtype.kind == "f" else array.data
    descr = array.dtype.str
    if "O" in descr or descr.startswith("|V"):
        raise ValueError("an array of %s cannot be stored; give an array of numbers" % ("objects" if "O" in descr else "records"))
    header = "{'descr': %r, 'fortran_order': False, 'shape': %r, }" % (descr, tuple(array.shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(array.tobytes())


def loaded(data: bytes, media_type: str, metadata: dict[str, Any]) -> Any:
    """The payload of a perception as a value: an array of NumPy for .npy and samples, an image of
    Pillow, a frame of pandas for CSV, text for other text, otherwise the bytes.

    Raises ImportError if the library is not installed.
    """
    kind = media_type.partition(";")[0].strip()
    if data.startswith(b"\x93NUMPY"):
        import numpy

        return numpy.load(io.BytesIO(data), allow_pickle=False)
    if kind == "application/x-samples" or (kind == "application/octet-stream" and {"dtype", "shape"} <= metadata.keys()):
        import numpy

        return numpy.frombuffer(data, metadata["dtype"]).reshape(metadata["shape"]).copy()
    if kind.startswith("image/"):
        import PIL.Image

        image = PIL.Image.open(io.BytesIO(data))
        image.load()
        return image
    if kind == "text/csv":
        import pandas

        if not data.strip():
            return pandas.DataFrame()
        with warnings.catch_warnings():  # new versions read exactly and warn of the argument that older ones need
            warnings.simplefilter("ignore")
            return pandas.read_csv(io.BytesIO(data), float_precision="round_trip")
    return data.decode() if kind.startswith("text/") or kind == "application/json" else data


def is_path(value: Any) -> bool:
    """Whether a value names a file: a path object. Text is a payload."""
    return hasattr(value, "__fspath__") and not isinstance(value, (str, bytes))
