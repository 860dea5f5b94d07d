"""What a node answers: objects with an attribute for each field, made from the JSON as it came."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar, Iterator


class Answer:
    """An answer of a node, or a part of one: answer.memories[0].content. answer["memories"] is the same.

    A field that the node left out is None as an attribute, or an empty list or dict if it holds one, and
    a KeyError as an item. to_dict() is the
    JSON as it came. Fields that a newer node has added are there as well.
    """

    # The classes of fields that hold answers: "C" one, "[C" a list, "{C" a dict of them.
    _nested: ClassVar[dict[str, str]] = {}

    def __init__(self, json: dict[str, Any]):
        self._json = json

    def to_dict(self) -> dict[str, Any]:
        """The answer as the dictionary that JSON is: to store, to print or to send on."""
        return self._json

    def get(self, name: str, default: Any = None) -> Any:
        """A field, or the default if the node left it out."""
        return self[name] if name in self._json else default

    def keys(self) -> list[str]:
        """The names of the fields that the node answered."""
        return list(self._json)

    def __getitem__(self, name: str) -> Any:
        value, kind = self._json[name], self._nested.get(name)
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
                value = [] if declared.startswith("list[") else {} if declared.startswith(("dict[", "Object")) else None
            else:
                raise AttributeError("%s has no field %s; it has %s" % (type(self).__name__, name, ", ".join(sorted(n for n in type(self).__annotations__ if n != "_nested"))))
            self.__dict__[name] = value
            return value

    def __contains__(self, name: object) -> bool:
        return name in self._json

    def __iter__(self) -> Iterator[str]:
        return iter(self._json)

    def __len__(self) -> int:
        return len(self._json)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *type(self).__annotations__]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Answer):
            return self._json == other._json
        return self._json == other if isinstance(other, dict) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it holds dictionaries

    def __repr__(self) -> str:
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % (name, self._json[name]) for name in self._json))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._json,)
