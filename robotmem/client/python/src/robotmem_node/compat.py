"""The seven functions of the Python robotmem, on a node, and the import of its memory.db.

    from robotmem_node import compat as robotmem

    robotmem.connect("arm7.db")                      # or ROBOTMEM_URL, or ROBOTMEM_DB
    robotmem.import_memory("~/.robotmem/memory.db")  # once
    robotmem.learn("grip_force=12.5N holds the cup", context={"params": {"grip_force": 12.5}})
    for m in robotmem.recall("how to hold a cup")["memories"]:
        print(m["content"], m["_rrf_score"])

Arguments and keys of the answers are those of the Python robotmem, and answers are dictionaries. What
differs is what robotmem promises: numbers and places make facts different, filters are exact, and an
update keeps the id.
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any

from . import _node
from ._memory import Memory

__all__ = ["connect", "end_session", "forget", "import_memory", "learn", "recall", "save_perception", "start_session", "update"]

_lock = threading.RLock()
_memory: Memory | None = None


def connect(where: str | os.PathLike[str] | None = None, **settings: Any) -> Memory:
    """Choose the memory of the functions below; the arguments are those of Memory. Without a call the
    first function chooses ROBOTMEM_URL, ROBOTMEM_DB or robotmem.db in this folder."""
    global _memory
    where = where or os.environ.get("ROBOTMEM_URL") or os.environ.get("ROBOTMEM_DB") or "robotmem.db"
    made = Memory(where, **settings)
    with _lock:
        before, _memory = _memory, made
    if before is not None:
        before.close()
    return made


def _m() -> Memory:
    with _lock:
        return _memory or connect()


def import_memory(file: str | os.PathLike[str], time_zone: str = "UTC") -> dict[str, Any]:
    """Import a memory.db of the Python robotmem, whole; a later state of the same file brings what has
    changed. The file is opened read-only. Returns the counts. time_zone is that of times without one."""
    m = _m()
    if m._path is None:
        raise ValueError("connect to a file first: an import works on the memory's file, not on %s" % m.url)
    file = os.path.expanduser(os.fspath(file))
    found: dict[str, Any] = json.loads(_node.run(["import", file, "--db", m._path, "--time-zone", time_zone, "--json"]))
    return found


def _context(context: str | dict[str, Any] | None) -> dict[str, Any] | None:
    if not context:
        return None
    if isinstance(context, str):
        try:
            found = json.loads(context)
        except ValueError:
            found = None
        return found if isinstance(found, dict) else {"note": context}
    return context


def learn(insight: str, context: str | dict[str, Any] = "", collection: str | None = None, session_id: str | None = None) -> dict[str, Any]:
    """Learn a fact. A context that is text and no JSON object is kept as its key note."""
    return _m().learn(insight, context=_context(context), collection=collection, session_id=session_id).to_dict()


def recall(
    query: str, collection: str | None = None, n: int = 5, min_confidence: float = 0.3, session_id: str | None = None,
    context_filter: dict[str, Any] | str | None = None, spatial_sort: dict[str, Any] | str | None = None,
) -> dict[str, Any]:
    """Recall. Each memory also has the keys id and _rrf_score of the Python robotmem."""
    filters: Any = context_filter or None  # a node reads JSON in a string as well
    sort: Any = spatial_sort or None
    found = _m().recall(query, collection=collection, n=n, min_confidence=min_confidence, session_id=session_id, context_filter=filters, spatial_sort=sort).to_dict()
    for m in found["memories"]:
        m["id"], m["_rrf_score"] = m["memory_id"], m.get("score")
    return found


def save_perception(
    description: str, perception_type: str = "visual", data: Any = None, metadata: str | dict[str, Any] | None = None, collection: str | None = None, session_id: str | None = None,
) -> dict[str, Any]:
    """Save a perception; data is text, as with the Python robotmem, or whatever Memory.save takes."""
    fields: dict[str, Any] = {"perception_type": perception_type, "metadata": metadata or None, "collection": collection, "session_id": session_id}
    if data is None:
        return _m().save_perception(description, **fields).to_dict()
    return _m().save(data, description, **fields).to_dict()


def forget(memory_id: int, reason: str) -> dict[str, Any]:
    """Forget a memory, with the reason."""
    return _m().forget(memory_id, reason).to_dict()


def update(memory_id: int, new_content: str, context: str | dict[str, Any] = "") -> dict[str, Any]:
    """Change the text of a memory, which keeps its id."""
    return _m().update(memory_id, new_content, context=_context(context)).to_dict()


def start_session(collection: str | None = None, context: str | dict[str, Any] | None = None) -> dict[str, Any]:
    """Begin an episode."""
    return _m().start_session(context=_context(context), collection=collection).to_dict()


def end_session(session_id: str, outcome_score: float | None = None) -> dict[str, Any]:
    """End an episode, with an outcome of 0 to 1."""
    return _m().end_session(session_id, outcome_score=outcome_score).to_dict()
