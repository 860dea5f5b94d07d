"""What a node answers: objects with an attribute for each field, made from the JSON as it came."""

from __future__ import annotations

import datetime
import re
import sys
from typing import TYPE_CHECKING, Any, ClassVar, Iterator


class Time(datetime.datetime):
    """A time of an answer, in UTC. text is as the node wrote it, with digits that a datetime does not hold."""

    _text: str | None = None

    @property
    def text(self) -> str:
        """The time in RFC 3339, as the node wrote it."""
        return self._text or self.isoformat()

    @classmethod
    def parse(cls, text: str) -> Time:
        """A time in RFC 3339. Raises ValueError for another text."""
        found = _RFC3339.fullmatch(text)
        if found is None:
            raise ValueError("%r is no time" % text)
        micros = ((found[2] or "") + "000000")[:6]
        read = datetime.datetime.fromisoformat("%s.%s%s" % (found[1], micros, found[3].replace("Z", "+00:00")))
        utc = read.astimezone(datetime.timezone.utc)
        made = cls(utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond, datetime.timezone.utc)
        made._text = text
        return made

    def __reduce_ex__(self, _: Any) -> tuple[Any, ...]:
        return Time.parse, (self.text,)


_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)")


class Answer:
    """An answer of a node, or a part of one: answer.memories[0].content. answer["memories"] is the same.

    An answer with a list, such as that of recall, is iterated over that list; len counts it, answer[0] is
    its first, and an answer with an empty list is false. A field that the node left out is None as an
    attribute, or an empty list or dict if it holds one, and a KeyError as an item. Times are
    datetime.datetime in UTC. to_dict() is the JSON as it came, to_frame() a table. Fields that a newer
    node has added are there as well.
    """

    # The classes of fields that hold answers: "C" one, "[C" a list, "{C" a dict of them.
    _nested: ClassVar[dict[str, str]] = {}
    _times: ClassVar[frozenset[str]] = frozenset()
    _items: ClassVar[str] = ""  # the field that is iterated over

    def __init__(self, json: dict[str, Any]):
        self._json = json

    def to_dict(self) -> dict[str, Any]:
        """The answer as the dictionary that JSON is: to store, to print or to send on."""
        return self._json

    def to_frame(self) -> Any:
        """A frame of pandas with a row for each item; see to_rows. Raises ImportError without pandas."""
        import pandas

        return pandas.DataFrame(self.to_rows())

    def to_polars(self) -> Any:
        """A frame of polars with a row for each item; see to_rows. Raises ImportError without polars."""
        import polars

        return polars.DataFrame(self.to_rows(), strict=False, infer_schema_length=None)

    def to_rows(self) -> list[dict[str, Any]]:
        """A dict for each item of the answer, or one for an answer without a list. Sections of a context
        are spread out: {"context.params.grip_force": 12.5}. Lists stay lists; times are datetime."""
        return [flattened(item) for item in (self if self._items else [self])]

    def get(self, name: str, default: Any = None) -> Any:
        """A field, or the default if the node left it out."""
        return self[name] if name in self._json else default

    def keys(self) -> list[str]:
        """The names of the fields that the node answered."""
        return list(self._json)

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, (int, slice)):
            return self._list()[name]
        value, kind = self._json[name], self._nested.get(name)
        if value is not None and name in self._times:
            return Time.parse(value)
        if kind is None or value is None:
            return value
        module = vars(sys.modules[type(self).__module__])
        if kind[0] == "[":
            return [module[kind[1:]](v) for v in value]
        if kind[0] == "{":
            return {key: module[kind[1:]](v) for key, v in value.items()}
        return module[kind](value)

    if not TYPE_CHECKING:  # the fields are declared; a type checker refuses others

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            key = name[:-1] if name.endswith("_") else name  # from_ is the field from
            if key in self._json:
                value = self[key]
            elif (declared := type(self).__annotations__.get(name)) is not None:
                if declared == "Suggestion":
                    value = self._without_suggestion()
                else:
                    value = [] if declared.startswith("list[") else {} if declared.startswith(("dict[", "Object")) else None
            else:
                raise AttributeError("%s has no field %s; it has %s" % (type(self).__name__, name, ", ".join(sorted(n for n in type(self).__annotations__ if not n.startswith("_")))))
            self.__dict__[name] = value
            return value

    def _without_suggestion(self) -> Any:
        """What stands for the suggestion of an answer that has none: it is false, and its text says why."""
        why = " ".join(self._json.get("notes") or []) or "no attempt with parameters and an outcome was found"
        made = vars(sys.modules[type(self).__module__])["Suggestion"]({"text": "no suggestion: " + why, "attempts": 0, "parameters": {}, "memory_ids": [], "tried": False})
        made._empty = True
        return made

    def _list(self) -> list[Any]:
        if not self._items:
            raise TypeError("%s has no list; its fields are %s" % (type(self).__name__, ", ".join(self._json)))
        found = getattr(self, self._items)
        assert isinstance(found, list)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._json if isinstance(name, str) or not self._items else name in self._list()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._list() if self._items else self._json)

    def __len__(self) -> int:
        return len(self._list() if self._items else self._json)

    def __bool__(self) -> bool:
        return bool(self._list()) if self._items else not self.__dict__.get("_empty")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *type(self).__annotations__]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Answer):
            return self._json == other._json
        return self._json == other if isinstance(other, dict) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it holds dictionaries

    def __repr__(self) -> str:
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % (name, self._json[name]) for name in self._json))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from ._html import page  # notebooks alone need it

        return page(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._json,)


def flattened(answer: Answer) -> dict[str, Any]:
    """The fields of an answer with the sections of its contexts spread out."""
    out: dict[str, Any] = {}

    def spread(path: str, value: Any) -> None:
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                spread(path + "." + key, inner)
        elif isinstance(value, Answer):
            for key in value.keys():
                spread(path + "." + key, value[key])
        else:
            out[path] = [v.to_dict() if isinstance(v, Answer) else v for v in value] if isinstance(value, list) else value

    for name in answer.keys():
        spread(name, answer[name])
    return out
