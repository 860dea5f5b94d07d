"""The one exception of the package, and what goes with it."""

from __future__ import annotations

from typing import Any


class RobotmemError(Exception):
    """What a node refused or could not do.

    kind is invalid, not_found, conflict, too_large, forbidden, unavailable, corrupt or internal; field
    the argument at fault, if one is; detail says what is allowed and what to do next; status is that
    of HTTP, 0 if there was no answer; op the operation; retry_after how many seconds the node asks to
    wait before the call is repeated, None if it does not say.
    """

    def __init__(self, kind: str, field: str, detail: str, status: int = 0, op: str = "", retry_after: float | None = None):
        super().__init__(": ".join(part for part in (op, field, detail) if part))
        self.kind, self.field, self.detail, self.status, self.op = kind, field, detail, status, op
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:  # so that it crosses processes
        return type(self), (self.kind, self.field, self.detail, self.status, self.op, self.retry_after)
