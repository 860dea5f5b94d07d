"""A client of a robotmem node: one file to copy, the standard library alone, Python 3.9 or later.

Start the node with `robotmem web`, then:

    from robotmem import Robotmem, RobotmemError

    memory = Robotmem("http://127.0.0.1:7878")
    with memory.episode(context={"task": {"name": "pick the wet glass"}}) as episode:
        found = episode.recall("how hard to grip", context_filter={"task.success": True})
        for m in found["memories"]:
            print(m["content"], m.get("params"))
        episode.learn("grip_force=12.5 N holds the wet glass", context={"task": {"success": True}})
        with open("force.csv", "rb") as trace:
            episode.save_perception_from(trace, "finger force", perception_type="tactile")
        episode.outcome = 1.0

There is one method for each operation of the node, with its fields as arguments. None leaves a
field out. What comes back are the dictionaries of the JSON answer; their types are below. A
failure is a RobotmemError with the kind and the field that the node named.

A read that finds the node busy (503, 429) is asked again; a write never is, because one whose
answer was lost may have been done. A connection is kept for the calls of the next 30 s, one for
each call at a time, so a Robotmem may be used from many threads and after a fork. Proxies of the
environment are not used.
"""

# mypy: disable-error-code=no-any-return

from __future__ import annotations

import base64
import datetime
import hashlib
import http.client
import io
import json
import os
import re
import selectors
import time
import urllib.parse
import uuid
from typing import Any, BinaryIO, Dict, Iterator, List, Literal, NamedTuple, Optional, Sequence, Tuple, TypedDict, Union

Object = Dict[str, Any]  # a JSON object, such as a context
Time = Union[datetime.datetime, str]  # text is RFC 3339; a datetime without a zone is local
Bytes = Union[bytes, bytearray, memoryview, str]  # text is base64
Data = Any  # text, bytes, lists of numbers, or an array of NumPy


class RobotmemError(Exception):
    """What a node refused or could not do.

    kind is invalid, not_found, conflict, too_large, forbidden, unavailable, corrupt or internal;
    field the argument at fault, if one is; detail says what is allowed and what to do next; status
    is that of HTTP, 0 if there was no answer; op the operation.
    """

    def __init__(self, kind: str, field: str, detail: str, status: int = 0, op: str = ""):
        super().__init__(": ".join(part for part in (op, field, detail) if part))
        self.kind, self.field, self.detail, self.status, self.op = kind, field, detail, status, op


class Number(float):
    """A number that is sent as it is spelt: Number("12.50") is 12.50 and not 12.5.

    Numbers of answers that are no integers are of this type, so that a context read from a node
    can be given back unchanged.
    """

    text: str

    def __new__(cls, text: Union[str, float]) -> Number:
        made = super().__new__(cls, text)
        made.text = str(text)
        return made


class Event(NamedTuple):
    """One event of the node: change, with data["change"], the number of the change."""

    event: str
    data: Any


# From here to END all is made from the node's operations: go test ./examples/python -run Made -update

class Budget(TypedDict, total=False):
    collection: str
    max_age_days: float
    max_bytes: int
    perception_type: Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"]


class _LearnRequestMust(TypedDict):
    insight: str


class _LearnRequestMay(TypedDict, total=False):
    collection: str
    context: Object
    observed_at: Time
    outcome: Literal["success", "failure", "partial", "unknown"]
    pinned: bool
    session_id: str
    source: str
    tags: Sequence[str]


class LearnRequest(_LearnRequestMust, _LearnRequestMay):
    pass


class Like(TypedDict, total=False):
    data: str
    data_base64: Bytes
    media_type: str
    memory_id: int
    metadata: Object


class _SpatialSortMust(TypedDict):
    field: str
    target: Sequence[float]


class _SpatialSortMay(TypedDict, total=False):
    frame_id: str
    map_id: str
    max_distance: float
    mode: Literal["strict", "fused"]


class SpatialSort(_SpatialSortMust, _SpatialSortMay):
    pass


ActivityBucket = TypedDict("ActivityBucket", {
    "facts": "int",
    "failures": "int",
    "from": "str",
    "perceptions": "int",
    "recalls": "int",
    "zero_hits": "int",
})


_ActivityResponseMust = TypedDict("_ActivityResponseMust", {
    "bucket": "str",
    "buckets": "List[ActivityBucket]",
    "from": "str",
    "to": "str",
})


class _ActivityResponseMay(TypedDict, total=False):
    interpreted: List[str]


class ActivityResponse(_ActivityResponseMust, _ActivityResponseMay):
    pass


class _AdviseResponseMust(TypedDict):
    attempts: int
    differs: List[Difference]
    evidence: str
    parameters: List[ParameterAdvice]
    query_ms: float


class _AdviseResponseMay(TypedDict, total=False):
    notes: List[str]
    overall: Estimate
    suggestion: Suggestion
    unknown: int


class AdviseResponse(_AdviseResponseMust, _AdviseResponseMay):
    pass


class _AggregateResponseMust(TypedDict):
    groups: List[OutcomeGroup]
    memories: int


class _AggregateResponseMay(TypedDict, total=False):
    more: int
    notes: List[str]


class AggregateResponse(_AggregateResponseMust, _AggregateResponseMay):
    pass


class _AuditEntryMust(TypedDict):
    action: str
    at: str
    id: int


class _AuditEntryMay(TypedDict, total=False):
    after: str
    before: str
    collection: str
    memory_id: int
    reason: str
    session_id: str
    tool: str
    uid: str
    who: str


class AuditEntry(_AuditEntryMust, _AuditEntryMay):
    pass


class _AuditResponseMust(TypedDict):
    entries: List[AuditEntry]
    limit: int


class _AuditResponseMay(TypedDict, total=False):
    interpreted: List[str]
    next: str


class AuditResponse(_AuditResponseMust, _AuditResponseMay):
    pass


class _BackupStateMust(TypedDict):
    every_seconds: int
    failures: int
    seconds: float
    to: str


class _BackupStateMay(TypedDict, total=False):
    failure: str
    last_failure: str
    last_success: str
    own_disk: bool


class BackupState(_BackupStateMust, _BackupStateMay):
    pass


class _BatchErrorMust(TypedDict):
    detail: str
    kind: str


class _BatchErrorMay(TypedDict, total=False):
    field: str


class BatchError(_BatchErrorMust, _BatchErrorMay):
    pass


class BatchResult(TypedDict, total=False):
    auto_inferred: Inferred
    conflicts: List[ConflictWith]
    error: BatchError
    existing_id: int
    interpreted: List[str]
    memory_id: int
    method: str
    similar: List[SimilarMemory]
    similarity: float
    status: str
    uid: str


class BriefMemory(TypedDict):
    category: str
    confidence: float
    memory_id: int
    summary: str


class Briefing(TypedDict):
    memory_ids: List[int]
    text: str


class _CategoriesResponseMust(TypedDict):
    categories: List[CategoryCount]


class _CategoriesResponseMay(TypedDict, total=False):
    interpreted: List[str]


class CategoriesResponse(_CategoriesResponseMust, _CategoriesResponseMay):
    pass


class CategoryCount(TypedDict):
    category: str
    count: int


class _ChangesResponseMust(TypedDict):
    change: int
    changed: bool
    time: str


class _ChangesResponseMay(TypedDict, total=False):
    interpreted: List[str]


class ChangesResponse(_ChangesResponseMust, _ChangesResponseMay):
    pass


class _ChannelMust(TypedDict):
    name: str


class _ChannelMay(TypedDict, total=False):
    max: List[Any]
    min: List[Any]
    unit: str
    values: List[Any]


class Channel(_ChannelMust, _ChannelMay):
    pass


class _CheckMust(TypedDict):
    detail: str
    name: str
    status: str


class _CheckMay(TypedDict, total=False):
    remedy: str


class Check(_CheckMust, _CheckMay):
    pass


class CollectionCount(TypedDict):
    active: int
    collection: str
    sessions: int
    total: int


class _CollectionsResponseMust(TypedDict):
    collections: List[CollectionCount]


class _CollectionsResponseMay(TypedDict, total=False):
    interpreted: List[str]


class CollectionsResponse(_CollectionsResponseMust, _CollectionsResponseMay):
    pass


class _ConflictWithMust(TypedDict):
    memory_id: int
    reason: str


class _ConflictWithMay(TypedDict, total=False):
    newer: bool


class ConflictWith(_ConflictWithMust, _ConflictWithMay):
    pass


class Consolidated(TypedDict):
    avg_similarity: float
    compression_ratio: float
    merged_groups: int
    superseded_count: int


class _ContextPathMust(TypedDict):
    kinds: List[str]
    memories: int
    path: str


class _ContextPathMay(TypedDict, total=False):
    max: float
    min: float
    unit: str
    values: List[PathValue]


class ContextPath(_ContextPathMust, _ContextPathMay):
    pass


class _DataResponseMust(TypedDict):
    bytes: int
    data_base64: str
    media_type: str
    memory_id: int
    sha256: str


class _DataResponseMay(TypedDict, total=False):
    interpreted: List[str]


class DataResponse(_DataResponseMust, _DataResponseMay):
    pass


class Difference(TypedDict):
    bits: float
    p: float
    path: str
    text: str


class _DoctorResponseMust(TypedDict):
    checks: List[Check]
    healthy: bool
    status: str


class _DoctorResponseMay(TypedDict, total=False):
    interpreted: List[str]
    lost: List[LostPayload]


class DoctorResponse(_DoctorResponseMust, _DoctorResponseMay):
    pass


class _EndSessionResponseMust(TypedDict):
    consolidated: Consolidated
    decayed_count: int
    related_memories: List[BriefMemory]
    session_id: str
    status: str
    summary: SessionSummary


class _EndSessionResponseMay(TypedDict, total=False):
    interpreted: List[str]
    similar_groups: List[List[int]]


class EndSessionResponse(_EndSessionResponseMust, _EndSessionResponseMay):
    pass


class _EstimateMust(TypedDict):
    attempts: float
    high: float
    low: float
    rate: float


class _EstimateMay(TypedDict, total=False):
    successes: float


class Estimate(_EstimateMust, _EstimateMay):
    pass


class Eviction(TypedDict):
    bytes: int
    collection: str
    memory_id: int
    perception_type: str
    reason: str
    value: str


class _ForgetResponseMust(TypedDict):
    content: str
    memory_id: int
    reason: str
    status: str


class _ForgetResponseMay(TypedDict, total=False):
    interpreted: List[str]
    purged: Purged


class ForgetResponse(_ForgetResponseMust, _ForgetResponseMay):
    pass


class _HistoryResponseMust(TypedDict):
    memory_id: int
    uid: str
    versions: List[Version]


class _HistoryResponseMay(TypedDict, total=False):
    interpreted: List[str]


class HistoryResponse(_HistoryResponseMust, _HistoryResponseMay):
    pass


class Inferred(TypedDict):
    category: str
    confidence: float
    outcome: str
    scope_entities: List[str]
    scope_files: List[str]
    tags: List[str]


class _LearnBatchResponseMust(TypedDict):
    results: List[BatchResult]


class _LearnBatchResponseMay(TypedDict, total=False):
    interpreted: List[str]


class LearnBatchResponse(_LearnBatchResponseMust, _LearnBatchResponseMay):
    pass


class _LearnResponseMust(TypedDict):
    auto_inferred: Inferred
    conflicts: List[ConflictWith]
    memory_id: int
    status: str
    uid: str


class _LearnResponseMay(TypedDict, total=False):
    existing_id: int
    interpreted: List[str]
    method: str
    similar: List[SimilarMemory]
    similarity: float


class LearnResponse(_LearnResponseMust, _LearnResponseMay):
    pass


class ListEntry(TypedDict):
    list: str
    rank: int
    value: float


class _ListResponseMust(TypedDict):
    limit: int
    memories: List[Memory]
    page: int
    total: int


class _ListResponseMay(TypedDict, total=False):
    degraded: List[str]
    interpreted: List[str]
    next: str


class ListResponse(_ListResponseMust, _ListResponseMay):
    pass


class LostPayload(TypedDict):
    memory_id: int
    reason: str
    sha256: str


class _MemoryMust(TypedDict):
    category: str
    collection: str
    confidence: float
    content: str
    created_at: str
    memory_id: int
    observed_at: str
    outcome: str
    summary: str
    tags: List[str]
    type: str
    uid: str


class _MemoryMay(TypedDict, total=False):
    access_count: int
    after: List[Neighbour]
    before: List[Neighbour]
    bytes: int
    conflicts: List[ConflictWith]
    context: Object
    data_uri: str
    decay_rate: float
    distance: float
    env: Any
    found: List[ListEntry]
    interpreted: List[str]
    last_accessed: str
    line: str
    media_type: str
    metadata: Object
    outcome_source: str
    params: Any
    perception_type: str
    pinned: bool
    provenance: Provenance
    record: str
    relevance: float
    reliability: float
    return_count: int
    robot: Any
    scope_entities: List[str]
    scope_files: List[str]
    score: float
    session_id: str
    sha256: str
    sightings: int
    source: str
    spatial: Any
    status: str
    superseded_by: int
    task: Any
    tier: str
    updated_at: str
    user_tags: List[str]
    version: int


class Memory(_MemoryMust, _MemoryMay):
    pass


class _MemoryLineMust(TypedDict):
    memory_id: int


class _MemoryLineMay(TypedDict, total=False):
    after: List[Neighbour]
    before: List[Neighbour]
    line: str
    score: float


class MemoryLine(_MemoryLineMust, _MemoryLineMay):
    pass


class _NeighbourMust(TypedDict):
    memory_id: int


class _NeighbourMay(TypedDict, total=False):
    text: str


class Neighbour(_NeighbourMust, _NeighbourMay):
    pass


class OutcomeGroup(TypedDict):
    failures: int
    group: Object
    last: str
    memories: int
    partial: int
    successes: int
    unknown: int


class _ParameterAdviceMust(TypedDict):
    path: str
    values: List[ValueRecord]


class _ParameterAdviceMay(TypedDict, total=False):
    bandwidth: float
    best: ValueRecord
    kernel: str
    unit: str


class ParameterAdvice(_ParameterAdviceMust, _ParameterAdviceMay):
    pass


class PathValue(TypedDict):
    memories: int
    value: Any


class _PathsResponseMust(TypedDict):
    paths: List[ContextPath]
    total: int


class _PathsResponseMay(TypedDict, total=False):
    interpreted: List[str]


class PathsResponse(_PathsResponseMust, _PathsResponseMay):
    pass


class _PinResponseMust(TypedDict):
    memory_id: int
    pinned: bool
    status: str


class _PinResponseMay(TypedDict, total=False):
    interpreted: List[str]


class PinResponse(_PinResponseMust, _PinResponseMay):
    pass


class PlaceCell(TypedDict):
    failures: int
    memories: int
    successes: int
    x: float
    y: float


class _PlaceFieldMust(TypedDict):
    dims: int
    field: str
    max: List[float]
    memories: int
    min: List[float]


class _PlaceFieldMay(TypedDict, total=False):
    frame_id: str
    map_id: str


class PlaceField(_PlaceFieldMust, _PlaceFieldMay):
    pass


class _PlacePointMust(TypedDict):
    category: str
    memory_id: int
    observed_at: str
    summary: str
    type: str
    x: float
    y: float


class _PlacePointMay(TypedDict, total=False):
    success: bool
    z: float


class PlacePoint(_PlacePointMust, _PlacePointMay):
    pass


class _PlacesResponseMust(TypedDict):
    cells: List[PlaceCell]
    fields: List[PlaceField]
    points: List[PlacePoint]
    sampled: bool
    total: int


class _PlacesResponseMay(TypedDict, total=False):
    cell: float
    interpreted: List[str]


class PlacesResponse(_PlacesResponseMust, _PlacesResponseMay):
    pass


class _PreviewResponseMust(TypedDict):
    data_base64: str
    height: int
    media_type: str
    memory_id: int
    sha256: str
    summary: str
    width: int


class _PreviewResponseMay(TypedDict, total=False):
    interpreted: List[str]


class PreviewResponse(_PreviewResponseMust, _PreviewResponseMay):
    pass


class Provenance(TypedDict, total=False):
    robot: str
    tool: str
    who: str


class _PurgedMust(TypedDict):
    not_reached: List[str]
    old_pages: str
    versions: int


class _PurgedMay(TypedDict, total=False):
    bytes: int
    payload: str
    stood_for: List[int]


class Purged(_PurgedMust, _PurgedMay):
    pass


class _RecallResponseMust(TypedDict):
    degraded: List[str]
    memories: List[Any]
    mode: str
    query_ms: float
    total: int


class _RecallResponseMay(TypedDict, total=False):
    interpreted: List[str]
    more: int
    stages: List[Stage]
    times: List[TimePhrase]
    warnings: List[str]


class RecallResponse(_RecallResponseMust, _RecallResponseMay):
    pass


class RecalledMemory(TypedDict):
    category: str
    confidence: float
    memory_id: int
    status: str
    summary: str
    type: str
    used: bool


class _RepairResponseMust(TypedDict):
    doctor: DoctorResponse
    repaired: List[str]


class _RepairResponseMay(TypedDict, total=False):
    interpreted: List[str]


class RepairResponse(_RepairResponseMust, _RepairResponseMay):
    pass


class _RestoreResponseMust(TypedDict):
    content: str
    memory_id: int
    status: str


class _RestoreResponseMay(TypedDict, total=False):
    interpreted: List[str]


class RestoreResponse(_RestoreResponseMust, _RestoreResponseMay):
    pass


class _RetainResponseMust(TypedDict):
    count: int
    dry_run: bool
    evictions: List[Eviction]
    freed_bytes: int
    held_bytes: int


class _RetainResponseMay(TypedDict, total=False):
    interpreted: List[str]


class RetainResponse(_RetainResponseMust, _RetainResponseMay):
    pass


class _SamplesResponseMust(TypedDict):
    kind: str
    memory_id: int
    reduced: bool
    total: int


class _SamplesResponseMay(TypedDict, total=False):
    channels: List[Channel]
    duration_s: float
    frame_id: str
    intensity: List[Any]
    interpreted: List[str]
    missing: int
    qw: List[Any]
    qx: List[Any]
    qy: List[Any]
    qz: List[Any]
    rate_hz: float
    rgb: List[int]
    time: List[Any]
    time_unit: str
    unit: str
    x: List[Any]
    y: List[Any]
    z: List[Any]


class SamplesResponse(_SamplesResponseMust, _SamplesResponseMay):
    pass


class _SavePerceptionResponseMust(TypedDict):
    bytes: int
    collection: str
    has_embedding: bool
    media_type: str
    memory_id: int
    perception_type: str
    sha256: str
    status: str
    summary: str
    uid: str


class _SavePerceptionResponseMay(TypedDict, total=False):
    interpreted: List[str]


class SavePerceptionResponse(_SavePerceptionResponseMust, _SavePerceptionResponseMay):
    pass


class _SessionMust(TypedDict):
    collection: str
    created_at: str
    memory_count: int
    session_id: str
    status: str


class _SessionMay(TypedDict, total=False):
    client_type: str
    context: Object
    ended_at: str
    outcome_score: float


class Session(_SessionMust, _SessionMay):
    pass


class _SessionResponseMust(TypedDict):
    collection: str
    created_at: str
    memory_count: int
    recalled: List[RecalledMemory]
    session_id: str
    status: str


class _SessionResponseMay(TypedDict, total=False):
    client_type: str
    context: Object
    ended_at: str
    interpreted: List[str]
    outcome_score: float
    streams: List[StreamCount]
    summary: SessionSummary


class SessionResponse(_SessionResponseMust, _SessionResponseMay):
    pass


class _SessionSummaryMust(TypedDict):
    categories: Dict[str, int]
    duration_s: float
    facts: int
    failures: int
    perceptions: int
    recalled: int
    session_id: str
    successes: int
    text: str
    used: int


class _SessionSummaryMay(TypedDict, total=False):
    ended_at: str
    outcome_score: float
    streams: List[StreamCount]


class SessionSummary(_SessionSummaryMust, _SessionSummaryMay):
    pass


class _SessionsResponseMust(TypedDict):
    limit: int
    page: int
    sessions: List[Session]
    total: int


class _SessionsResponseMay(TypedDict, total=False):
    degraded: List[str]
    interpreted: List[str]
    next: str


class SessionsResponse(_SessionsResponseMust, _SessionsResponseMay):
    pass


class SimilarMemory(TypedDict):
    memory_id: int
    method: str
    similarity: float


class Stage(TypedDict):
    kept: int
    ms: float
    stage: str


class _StartSessionResponseMust(TypedDict):
    active_memories_count: int
    briefing: Briefing
    collection: str
    session_id: str
    status: str


class _StartSessionResponseMay(TypedDict, total=False):
    interpreted: List[str]


class StartSessionResponse(_StartSessionResponseMust, _StartSessionResponseMay):
    pass


class _StatsResponseMust(TypedDict):
    backlog: int
    by_category: Dict[str, int]
    by_status: Dict[str, int]
    by_type: Dict[str, int]
    collections: int
    commits: int
    db_bytes: int
    disk_free_bytes: int
    embedder: str
    evicted: int
    evicted_bytes: int
    last_day: int
    log_bytes: int
    payload_bytes: int
    recalls: int
    schema_version: int
    sessions: int
    stored_bytes: int
    to_compare: int
    total: int
    workers: List[Worker]
    zero_hits: int


class _StatsResponseMay(TypedDict, total=False):
    backup: BackupState
    interpreted: List[str]
    streams: List[StreamCount]
    written_bytes: int


class StatsResponse(_StatsResponseMust, _StatsResponseMay):
    pass


class StreamCount(TypedDict):
    bytes: int
    dropped: int
    missed: int
    received: int
    source: str
    stored: int


class _SuggestionMust(TypedDict):
    attempts: float
    high: float
    low: float
    memory_ids: List[int]
    parameters: Object
    rate: float
    text: str
    tried: bool


class _SuggestionMay(TypedDict, total=False):
    successes: float


class Suggestion(_SuggestionMust, _SuggestionMay):
    pass


class _TimePhraseMust(TypedDict):
    text: str


class _TimePhraseMay(TypedDict, total=False):
    after: str
    before: str


class TimePhrase(_TimePhraseMust, _TimePhraseMay):
    pass


class _TimelineResponseMust(TypedDict):
    memories: List[MemoryLine]
    of: str


class _TimelineResponseMay(TypedDict, total=False):
    degraded: List[str]


class TimelineResponse(_TimelineResponseMust, _TimelineResponseMay):
    pass


class _UpdateResponseMust(TypedDict):
    auto_inferred: Inferred
    memory_id: int
    new_content: str
    old_content: str
    status: str
    version: int


class _UpdateResponseMay(TypedDict, total=False):
    interpreted: List[str]


class UpdateResponse(_UpdateResponseMust, _UpdateResponseMay):
    pass


class _ValueRecordMust(TypedDict):
    attempts: float
    high: float
    low: float
    rate: float


_ValueRecordMay = TypedDict("_ValueRecordMay", {
    "from": "float",
    "last_tried": "str",
    "memory_ids": "List[int]",
    "successes": "float",
    "to": "float",
    "value": "Any",
}, total=False)


class ValueRecord(_ValueRecordMust, _ValueRecordMay):
    pass


_VersionMust = TypedDict("_VersionMust", {
    "category": "str",
    "confidence": "float",
    "content": "str",
    "from": "str",
    "status": "str",
    "version": "int",
})


class _VersionMay(TypedDict, total=False):
    change: str
    context: Object
    reason: str
    superseded_by: int
    to: str


class Version(_VersionMust, _VersionMay):
    pass


class Worker(TypedDict):
    detail: str
    name: str
    status: str


# Method, path, and whether it only reads.
ROUTES: Dict[str, Tuple[str, str, bool]] = {
    "learn": ("POST", "/api/learn", False),
    "learn_batch": ("POST", "/api/learn/batch", False),
    "recall": ("POST", "/api/recall", True),
    "search": ("GET", "/api/search", True),
    "advise": ("POST", "/api/advise", True),
    "aggregate": ("GET", "/api/aggregate", True),
    "save_perception": ("POST", "/api/perceptions", False),
    "forget": ("DELETE", "/api/memory/{memory_id}", False),
    "restore": ("POST", "/api/memory/{memory_id}/restore", False),
    "update": ("PUT", "/api/memory/{memory_id}", False),
    "pin": ("POST", "/api/memory/{memory_id}/pin", False),
    "start_session": ("POST", "/api/sessions", False),
    "end_session": ("POST", "/api/sessions/{session_id}/end", False),
    "get": ("GET", "/api/memory/{memory_id}", True),
    "timeline": ("GET", "/api/memory/{memory_id}/timeline", True),
    "data": ("GET", "/api/memory/{memory_id}/data", True),
    "preview": ("GET", "/api/memory/{memory_id}/preview", True),
    "samples": ("GET", "/api/memory/{memory_id}/samples", True),
    "history": ("GET", "/api/memory/{memory_id}/history", True),
    "list": ("GET", "/api/memories", True),
    "sessions": ("GET", "/api/sessions", True),
    "session": ("GET", "/api/sessions/{session_id}", True),
    "session_memories": ("GET", "/api/sessions/{session_id}/memories", True),
    "collections": ("GET", "/api/collections", True),
    "categories": ("GET", "/api/categories", True),
    "paths": ("GET", "/api/paths", True),
    "places": ("GET", "/api/places", True),
    "recent_failures": ("GET", "/api/recent-failures", True),
    "stats": ("GET", "/api/stats", True),
    "activity": ("GET", "/api/activity", True),
    "changes": ("GET", "/api/changes", True),
    "doctor": ("GET", "/api/doctor", True),
    "retain": ("POST", "/api/retain", False),
    "audit": ("GET", "/api/audit", True),
    "repair": ("POST", "/api/repair", False),
}


class Operations:
    """A method for each operation of a node."""

    def _call(self, op: str, fields: Object) -> Any:
        raise NotImplementedError

    def _upload(self, op: str, payload: BinaryIO, fields: Object) -> Any:
        raise NotImplementedError

    def learn(
        self,
        insight: str,
        *,
        context: Optional[Object] = None,
        collection: Optional[str] = None,
        session_id: Optional[str] = None,
        tags: Optional[Sequence[str]] = None,
        observed_at: Optional[Time] = None,
        pinned: Optional[bool] = None,
        outcome: Optional[Literal["success", "failure", "partial", "unknown"]] = None,
        source: Optional[str] = None,
    ) -> LearnResponse:
        """Store one fact learnt from experience, with its numbers, place, parameters and outcome. Call it
        after every attempt that taught something, also a failed one. A fact that differs in a word, a number
        or its context is new, else a duplicate. Returns the memory_id, the category and tags inferred, in
        conflicts memories that contradict it, in similar those with similar words. Example:
        {"insight":"grip_force=12.5 N holds wet
        glass","context":{"params":{"grip_force":12.5},"task":{"success":true}}}.

        Args:
            insight: What was learnt, in one sentence with its numbers: "grip_force=12.5 N holds wet glass". 1
                byte to 16 KiB, stored unchanged.
            context: JSON object that describes the situation. Known sections: params, spatial, robot, task
                (task.success is the outcome), env. Other keys are stored too.
            collection: Namespace, [A-Za-z0-9._-]{1,64}. Default: the collection of the session, else default.
            session_id: The episode of the memory, from start_session.
            tags: Tags to add to the inferred ones; each 1 to 64 letters, digits, _ . or -.
            observed_at: Time of the observation (RFC 3339). Default: now.
            pinned: A pinned memory does not decay and is not merged. Default: depends on the category.
            outcome: How it went: success, failure, partial or unknown. Default: read from the context
                (task.success, result, status, …), else from the text.
            source: Who or what reported the fact, up to 64 characters. The names operator and verified are
                reserved.
        """
        return self._call("learn", {"insight": insight, "context": context, "collection": collection,
            "session_id": session_id, "tags": tags, "observed_at": observed_at, "pinned": pinned, "outcome":
            outcome, "source": source})

    def learn_batch(
        self,
        items: Sequence[LearnRequest],
        *,
        keep_duplicates: Optional[bool] = None,
    ) -> LearnBatchResponse:
        """Store up to 10,000 facts in one call. Results are in the order of the items. An invalid item does
        not stop the others.

        Args:
            items: 1 to 10,000 learn requests.
            keep_duplicates: Store every item, including duplicates of known facts.
        """
        return self._call("learn_batch", {"items": items, "keep_duplicates": keep_duplicates})

    def recall(
        self,
        query: Optional[str] = None,
        *,
        collection: Optional[str] = None,
        n: Optional[int] = None,
        min_confidence: Optional[float] = None,
        session_id: Optional[str] = None,
        for_session: Optional[str] = None,
        context_filter: Optional[Object] = None,
        spatial_sort: Optional[Union[SpatialSort, Sequence[SpatialSort]]] = None,
        after: Optional[Time] = None,
        before: Optional[Time] = None,
        as_of: Optional[Time] = None,
        parse_time: Optional[bool] = None,
        type: Optional[Literal["fact", "perception"]] = None,
        perception_type: Optional[Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"]] = None,
        category: Optional[str] = None,
        tags: Optional[Sequence[str]] = None,
        like: Optional[Like] = None,
        diversity: Optional[float] = None,
        min_relevance: Optional[float] = None,
        deadline_ms: Optional[int] = None,
        explain: Optional[bool] = None,
        context_window: Optional[int] = None,
        detail: Optional[Literal["ids", "compact", "full"]] = None,
        max_tokens: Optional[int] = None,
        as_you_type: Optional[bool] = None,
    ) -> RecallResponse:
        """Find relevant memories before acting: by words, place (spatial_sort), time, similarity to a
        perception (like), and any value of the context (context_filter), quantities in any unit. Filters are
        exact: they apply to all memories before ranking. Returns the best first; in compact form a line each,
        with outcome, parameters, date, place and text. get returns the rest. Example: {"query":"hold a wet
        glass","context_filter":{"task.success":true},"n":5}.

        Args:
            query: What to look for, in words; may be empty with a filter, a place or a session.
            collection: Namespace to search; * for all.
            n: Number of memories to return, 1 to 100.
            min_confidence: Lowest current confidence, 0 to 1.
            session_id: Only memories of this episode. With an empty query they are returned in time order.
            for_session: The episode that makes the recall; end_session uses it to credit memories.
            context_filter: Filter over context paths: {"task.success":true,"params.force":{"$lt":15}}.
                Operators $eq $ne $lt $lte $gt $gte $in $nin $exists $and $or $not.
            spatial_sort: Nearest first: {"field":"spatial.position","target":[x,y,z],"max_distance":1.5}.
                "mode":"fused" ranks by words too; frame_id, map_id. A list of up to 4 places is fused.
            after: Only memories observed at or after this time (RFC 3339).
            before: Only memories observed before this time (RFC 3339).
            as_of: Search the state of the memory at this past time (RFC 3339).
            parse_time: Read time words in the query (yesterday, last week, before the crash at 14:05, 昨天)
                as after and before; times in the response shows how. false: they are words.
            type: Only facts or only perceptions.
            perception_type: Only perceptions of this type.
            category: Only this category.
            tags: Only memories with all of these tags.
            like: Find perceptions similar to this one: {"memory_id":7} or
                {"data_base64":"…","media_type":"text/csv"}.
            diversity: 0 ranks by score only; larger values avoid similar results; at most 1.
            min_relevance: Lowest relevance on the absolute scale, 0 to 1.
            deadline_ms: Return the results that are ready after this many milliseconds. 0 means no limit.
            explain: Report how many memories each stage kept and how each memory was found.
            context_window: Add the texts of so many memories before and after in the same episode, 0 to 3.
            detail: ids, compact (one line for each memory) or full. Default: full; over MCP compact.
            max_tokens: Largest size of the answer in tokens, at least 100; more counts the memories that do
                not fit.
            as_you_type: Treat the last word of the query as a prefix, unless a space follows it. Words with
                this prefix match with a lower weight than the word itself. The statistics do not count such a
                recall.
        """
        return self._call("recall", {"query": query, "collection": collection, "n": n, "min_confidence":
            min_confidence, "session_id": session_id, "for_session": for_session, "context_filter":
            context_filter, "spatial_sort": spatial_sort, "after": after, "before": before, "as_of": as_of,
            "parse_time": parse_time, "type": type, "perception_type": perception_type, "category": category,
            "tags": tags, "like": like, "diversity": diversity, "min_relevance": min_relevance, "deadline_ms":
            deadline_ms, "explain": explain, "context_window": context_window, "detail": detail, "max_tokens":
            max_tokens, "as_you_type": as_you_type})

    def search(
        self,
        q: str,
        *,
        collection: Optional[str] = None,
        top_k: Optional[int] = None,
        parse_time: Optional[bool] = None,
        explain: Optional[bool] = None,
    ) -> RecallResponse:
        """Recall with simple parameters. It searches all collections unless you name one.

        Args:
            q: What to look for, in words.
            collection: Namespace to search. Default: all.
            top_k: Number of memories to return, 1 to 100.
            parse_time: Read time words in q as bounds; times in the response shows how. false: they are
                words.
            explain: Report how many memories each stage kept and how each memory was found.
        """
        return self._call("search", {"q": q, "collection": collection, "top_k": top_k, "parse_time":
            parse_time, "explain": explain})

    def advise(
        self,
        query: Optional[str] = None,
        *,
        task: Optional[str] = None,
        collection: Optional[str] = None,
        context_filter: Optional[Object] = None,
        spatial_sort: Optional[Union[SpatialSort, Sequence[SpatialSort]]] = None,
        parameters: Optional[Sequence[str]] = None,
        goal: Optional[str] = None,
        n_min: Optional[int] = None,
        explore: Optional[bool] = None,
        seed: Optional[int] = None,
    ) -> AdviseResponse:
        """Ask which parameters worked before you act. It counts all matching memories whose outcome is known,
        and returns per parameter the tried values with success rates and 95 % intervals, one suggestion with
        its support, and which context paths separate successes from failures. Example: {"query":"pick wet
        glass","context_filter":{"wet":true}}.

        Args:
            query: The task in words: "pick wet glass". Attempts weigh by the words that they share with it,
                in their text or context.
            task: Name of the task, as in task.name. If no attempt has this name, its words count like those
                of query.
            collection: Namespace; * for all.
            context_filter: Only attempts that match, as in recall: {"wet":true,"object":"glass"}.
            spatial_sort: Attempts near this place weigh more; those beyond max_distance do not count.
            parameters: Context paths to advise on, such as params.grip_force. Default: those below params.
            goal: success, or a context path with a number: task.score to maximise it, -task.duration_s to
                minimise it.
            n_min: Fewest attempts for a suggestion.
            explore: Suggest a Thompson sample: mostly what worked, sometimes what has been tried little. For
                repeated attempts that may fail.
            seed: Makes explore repeatable. 0: a new sample each time.
        """
        return self._call("advise", {"query": query, "task": task, "collection": collection, "context_filter":
            context_filter, "spatial_sort": spatial_sort, "parameters": parameters, "goal": goal, "n_min":
            n_min, "explore": explore, "seed": seed})

    def aggregate(
        self,
        *,
        collection: Optional[str] = None,
        context_filter: Optional[Object] = None,
        group_by: Optional[Sequence[str]] = None,
        after: Optional[Time] = None,
        before: Optional[Time] = None,
        limit: Optional[int] = None,
    ) -> AggregateResponse:
        """Count memories exactly by group and outcome: how often did corridor B fail.

        Args:
            collection: Namespace; * for all.
            context_filter: Only memories that match, as in recall.
            group_by: Up to 4 context paths, or of collection, category, type, perception_type, session_id,
                outcome, day. Without it there is one group.
            after: Only memories observed at or after this time (RFC 3339).
            before: Only memories observed before this time (RFC 3339).
            limit: Largest number of groups, 1 to 1,000.
        """
        return self._call("aggregate", {"collection": collection, "context_filter": context_filter,
            "group_by": group_by, "after": after, "before": before, "limit": limit})

    def save_perception(
        self,
        description: str,
        *,
        perception_type: Optional[Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"]] = None,
        data: Optional[Data] = None,
        data_base64: Optional[Bytes] = None,
        path: Optional[str] = None,
        media_type: Optional[str] = None,
        metadata: Optional[Object] = None,
        context: Optional[Object] = None,
        collection: Optional[str] = None,
        session_id: Optional[str] = None,
        observed_at: Optional[Time] = None,
        source: Optional[str] = None,
        origin: Optional[str] = None,
    ) -> SavePerceptionResponse:
        """Store sensor data (image, force trace, point cloud, sound) byte for byte, with a description in
        words. Call it when the data explains the result of an attempt. Returns the memory_id, media type,
        size, checksum and a summary. Example: {"description":"force while the glass
        slipped","perception_type":"tactile","data":"t,fz\\n0,1.5\\n0.01,9.8","media_type":"text/csv"}.

        Args:
            description: What it shows, in words; 5 characters to 16 KiB.
            perception_type: Kind of sensor data. Default: by the data, else visual.
            data: The payload as text, stored as UTF-8. At most one of data, data_base64 and path.
            data_base64: The payload as base64. At most 32 MiB of bytes.
            path: A file on the machine of the node, in one of the folders that its operator allows.
            media_type: Media type of the payload. Default: detected from the payload.
            metadata: How to read the payload: shape, rate_hz or duration_s, channels, units.
            context: JSON object that describes the situation, as in learn.
            collection: Namespace. Default: the collection of the session, else default.
            session_id: The episode of the memory, from start_session.
            observed_at: Time of the measurement, by the sensor's clock (RFC 3339). Default: now.
            source: The sensor or topic, up to 64 characters. The names operator and verified are reserved.
            origin: Identifier of the perception in its source, up to 256 characters. It is unique in a
                collection: saving the same origin again returns the existing memory.
        """
        return self._call("save_perception", {"description": description, "perception_type": perception_type,
            "data": data, "data_base64": data_base64, "path": path, "media_type": media_type, "metadata":
            metadata, "context": context, "collection": collection, "session_id": session_id, "observed_at":
            observed_at, "source": source, "origin": origin})

    def save_perception_from(
        self,
        payload: BinaryIO,
        description: str,
        *,
        perception_type: Optional[Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"]] = None,
        data: Optional[Data] = None,
        data_base64: Optional[Bytes] = None,
        path: Optional[str] = None,
        media_type: Optional[str] = None,
        metadata: Optional[Object] = None,
        context: Optional[Object] = None,
        collection: Optional[str] = None,
        session_id: Optional[str] = None,
        observed_at: Optional[Time] = None,
        source: Optional[str] = None,
        origin: Optional[str] = None,
    ) -> SavePerceptionResponse:
        """Store what a sensor gave, as a stream: it is never whole in memory, here or on the node.

        Args:
            payload: A file or another stream of bytes, read to its end, in place of data, data_base64 and
                path.
            description: What it shows, in words; 5 characters to 16 KiB.
            perception_type: Kind of sensor data. Default: by the data, else visual.
            data: The payload as text, stored as UTF-8. At most one of data, data_base64 and path.
            data_base64: The payload as base64. At most 32 MiB of bytes.
            path: A file on the machine of the node, in one of the folders that its operator allows.
            media_type: Media type of the payload. Default: detected from the payload.
            metadata: How to read the payload: shape, rate_hz or duration_s, channels, units.
            context: JSON object that describes the situation, as in learn.
            collection: Namespace. Default: the collection of the session, else default.
            session_id: The episode of the memory, from start_session.
            observed_at: Time of the measurement, by the sensor's clock (RFC 3339). Default: now.
            source: The sensor or topic, up to 64 characters. The names operator and verified are reserved.
            origin: Identifier of the perception in its source, up to 256 characters. It is unique in a
                collection: saving the same origin again returns the existing memory.
        """
        return self._upload("save_perception", payload, {"description": description, "perception_type":
            perception_type, "data": data, "data_base64": data_base64, "path": path, "media_type": media_type,
            "metadata": metadata, "context": context, "collection": collection, "session_id": session_id,
            "observed_at": observed_at, "source": source, "origin": origin})

    def forget(self, memory_id: int, reason: str, *, purge: Optional[bool] = None) -> ForgetResponse:
        """Remove a misleading memory from recall when update cannot correct it. The history keeps it, and
        restore undoes it. Example: {"memory_id":7,"reason":"the force sensor was not calibrated"}.

        Args:
            memory_id: The memory.
            reason: Why it is wrong, up to 1,000 characters. The audit log keeps the reason.
            purge: Delete the memory permanently: text, context, all versions, indexes, vectors, payload and
                the old pages of the file. This cannot be undone. The audit log keeps the reason, so the
                reason must not repeat the text.
        """
        return self._call("forget", {"memory_id": memory_id, "reason": reason, "purge": purge})

    def restore(self, memory_id: int) -> RestoreResponse:
        """Make a forgotten or superseded memory active again.

        Args:
            memory_id: The memory.
        """
        return self._call("restore", {"memory_id": memory_id})

    def update(self, memory_id: int, new_content: str, *, context: Optional[Object] = None) -> UpdateResponse:
        """Replace the text of a wrong or incomplete memory and keep its id; use learn for an additional fact.
        The history keeps the old text, which is no longer recalled. Example:
        {"memory_id":7,"new_content":"grip_force=13 N holds wet glass"}.

        Args:
            memory_id: The memory; its id does not change.
            new_content: The new text, 1 byte to 16 KiB, stored unchanged.
            context: A new context. Default: keep the old one.
        """
        return self._call("update", {"memory_id": memory_id, "new_content": new_content, "context": context})

    def pin(self, memory_id: int, *, pinned: Optional[bool] = None) -> PinResponse:
        """Protect a memory from decay and from merging. With pinned false, remove the protection: the
        confidence then decays from now on at the rate of the category.

        Args:
            memory_id: The memory.
            pinned: true to pin, false to unpin.
        """
        return self._call("pin", {"memory_id": memory_id, "pinned": pinned})

    def start_session(
        self,
        *,
        collection: Optional[str] = None,
        context: Optional[Object] = None,
        session_id: Optional[str] = None,
        origin: Optional[str] = None,
    ) -> StartSessionResponse:
        """Open an episode before a task. Returns the session_id for learn and save_perception, and a briefing
        for the context: warnings, rules, what worked, what failed, current values. Example:
        {"collection":"arm7","context":{"task":{"name":"hold a wet glass"}}}.

        Args:
            collection: Namespace of the episode and of its memories.
            context: Robot, task and environment of the episode; at most 64 KiB. The briefing is selected for
                this context.
            session_id: An id of your own, 1 to 128 characters. If an open episode has it, that one continues.
                Default: a new id.
            origin: Identifier of the episode in its source, up to 256 characters. It is unique in a
                collection: starting the same origin again returns the existing session.
        """
        return self._call("start_session", {"collection": collection, "context": context, "session_id":
            session_id, "origin": origin})

    def end_session(
        self,
        session_id: str,
        *,
        outcome_score: Optional[float] = None,
        outcome: Optional[Literal["success", "failure", "partial", "unknown"]] = None,
        used_memory_ids: Optional[Sequence[int]] = None,
        memory_scores: Optional[Object] = None,
    ) -> EndSessionResponse:
        """Close an episode with its outcome and the memories that helped. Call it once, when the task is
        over, also when it failed. A fact that a longer one of the episode says completely is superseded by
        it. Returns a summary and related memories of earlier episodes. Example:
        {"session_id":"0199d0b4-2f3a-7c1d-9e55-6b8f0a1c2d3e","outcome_score":0.9,"used_memory_ids":[7]}.

        Args:
            session_id: The episode, from start_session.
            outcome_score: Outcome, 0 (failed) to 1 (succeeded).
            outcome: How the episode went: success, failure, partial or unknown. Instead of outcome_score.
            used_memory_ids: Memories that were used. Their decay restarts from today, and the outcome counts
                in their record.
            memory_scores: What memories were worth, by memory_id: {"12":"helped","15":"misled"}. helped,
                partly, misled or unused.
        """
        return self._call("end_session", {"session_id": session_id, "outcome_score": outcome_score, "outcome":
            outcome, "used_memory_ids": used_memory_ids, "memory_scores": memory_scores})

    def get(self, memory_id: int) -> Memory:
        """Return one complete memory of any status: text, context, tags, confidence, provenance. Example:
        {"memory_id":7}.

        Args:
            memory_id: The memory.
        """
        return self._call("get", {"memory_id": memory_id})

    def timeline(
        self,
        memory_id: int,
        *,
        before: Optional[int] = None,
        after: Optional[int] = None,
    ) -> TimelineResponse:
        """Return the memories before and after a memory, in order of time: of its episode, else of its robot
        or collection. Example: {"memory_id":7,"before":3,"after":3}.

        Args:
            memory_id: The memory.
            before: Memories before it, 0 to 50.
            after: Memories after it, 0 to 50.
        """
        return self._call("timeline", {"memory_id": memory_id, "before": before, "after": after})

    def data(self, memory_id: int) -> DataResponse:
        """Return the bytes of a perception as they were saved.

        Args:
            memory_id: The memory.
        """
        return self._call("data", {"memory_id": memory_id})

    def preview(
        self,
        memory_id: int,
        *,
        width: Optional[int] = None,
        height: Optional[int] = None,
    ) -> PreviewResponse:
        """Return a picture of a perception: an image, a plot of a trace, a spectrogram, or a top view of
        points or a trajectory. Example: {"memory_id":7,"width":640}.

        Args:
            memory_id: The perception.
            width: Largest width in pixels, 16 to 4,096.
            height: Largest height in pixels, 16 to 4,096.
        """
        return self._call("preview", {"memory_id": memory_id, "width": width, "height": height})

    def samples(
        self,
        memory_id: int,
        *,
        from_: Optional[float] = None,
        to: Optional[float] = None,
        points: Optional[int] = None,
    ) -> SamplesResponse:
        """Return the numbers of a force trace, joint states, a sound, a point cloud, a trajectory or a laser
        scan, for a plot. Returns all samples between from and to if there are at most points of them.
        Otherwise it returns the minimum and maximum of equal buckets, so that peaks are kept, and an even
        sample of the points of a cloud.

        Args:
            memory_id: The perception.
            from_: First sample: in seconds since the first sample of the perception, or as a sample number
                from 0 if the rate is unknown. For a recording of scans it selects the first sweep at or after
                this time. A point cloud or a single scan has no time.
            to: Last sample, in the same unit as from.
            points: Largest number of entries, 16 to 200,000. Default: 2,000 for traces and sounds, 50,000 for
                points. More than ten channels share about 2,000,000 readings.
        """
        return self._call("samples", {"memory_id": memory_id, "from": from_, "to": to, "points": points})

    def history(self, memory_id: int) -> HistoryResponse:
        """Return all versions of a memory, oldest first.

        Args:
            memory_id: The memory.
        """
        return self._call("history", {"memory_id": memory_id})

    def list(
        self,
        *,
        page: Optional[int] = None,
        limit: Optional[int] = None,
        before_id: Optional[int] = None,
        collection: Optional[str] = None,
        type: Optional[Literal["fact", "perception"]] = None,
        category: Optional[str] = None,
        status: Optional[Literal["active", "superseded", "invalidated", "all"]] = None,
        confidence_min: Optional[float] = None,
        confidence_max: Optional[float] = None,
        days: Optional[int] = None,
        perception_type: Optional[Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"]] = None,
        session_id: Optional[str] = None,
        tags: Optional[Sequence[str]] = None,
        cursor: Optional[str] = None,
    ) -> ListResponse:
        """Page through memories, newest first.

        Args:
            page: Page number, from 1.
            limit: Memories per page, 1 to 1,000.
            before_id: Only memories with a smaller id. Pass the last id of a page to get the next one; new
                memories do not shift the pages.
            collection: Namespace. Default: all.
            type: Only facts or only perceptions.
            category: Only this category.
            status: active, superseded, invalidated or all.
            confidence_min: Lowest stored confidence.
            confidence_max: Highest stored confidence.
            days: Only memories created within this number of days; 0 for all.
            perception_type: Only perceptions of this type.
            session_id: Only memories of this episode.
            tags: Only memories with all of these tags.
            cursor: The value of next from the previous page. New entries do not shift the pages.
        """
        return self._call("list", {"page": page, "limit": limit, "before_id": before_id, "collection":
            collection, "type": type, "category": category, "status": status, "confidence_min":
            confidence_min, "confidence_max": confidence_max, "days": days, "perception_type":
            perception_type, "session_id": session_id, "tags": tags, "cursor": cursor})

    def sessions(
        self,
        *,
        page: Optional[int] = None,
        limit: Optional[int] = None,
        collection: Optional[str] = None,
        status: Optional[Literal["active", "ended"]] = None,
        cursor: Optional[str] = None,
    ) -> SessionsResponse:
        """Page through episodes, newest first.

        Args:
            page: Page number, from 1.
            limit: Episodes per page, 1 to 1,000.
            collection: Namespace. Default: all.
            status: active or ended. Default: both.
            cursor: The value of next from the previous page. New entries do not shift the pages.
        """
        return self._call("sessions", {"page": page, "limit": limit, "collection": collection, "status":
            status, "cursor": cursor})

    def session(self, session_id: str) -> SessionResponse:
        """Return one episode: its context, outcome and summary, the memories that were recalled for it and
        which of them helped, and the sample counts of its streams.

        Args:
            session_id: The episode.
        """
        return self._call("session", {"session_id": session_id})

    def session_memories(
        self,
        session_id: str,
        *,
        page: Optional[int] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> ListResponse:
        """Return the memories of an episode in time order.

        Args:
            session_id: The episode.
            page: Page number, from 1.
            limit: Memories per page, 1 to 1,000.
            cursor: The value of next from the previous page. New entries do not shift the pages.
        """
        return self._call("session_memories", {"session_id": session_id, "page": page, "limit": limit,
            "cursor": cursor})

    def collections(self) -> CollectionsResponse:
        """Count the memories of every collection."""
        return self._call("collections", {})

    def categories(self, *, collection: Optional[str] = None) -> CategoriesResponse:
        """Count the active memories of every category.

        Args:
            collection: Namespace. Default: all.
        """
        return self._call("categories", {"collection": collection})

    def paths(
        self,
        *,
        collection: Optional[str] = None,
        path: Optional[str] = None,
        prefix: Optional[str] = None,
    ) -> PathsResponse:
        """List the context paths of the active memories, with types, ranges and units; for a single path also
        its values. Use it to build a context_filter.

        Args:
            collection: Namespace. Default: all.
            path: Only this path, with its most frequent values.
            prefix: Only paths that begin with this text, such as params.
        """
        return self._call("paths", {"collection": collection, "path": path, "prefix": prefix})

    def places(
        self,
        *,
        collection: Optional[str] = None,
        field: Optional[str] = None,
        frame_id: Optional[str] = None,
        map_id: Optional[str] = None,
        type: Optional[Literal["fact", "perception"]] = None,
        category: Optional[str] = None,
        session_id: Optional[str] = None,
        after: Optional[Time] = None,
        before: Optional[Time] = None,
        context_filter: Optional[Object] = None,
        min: Optional[Sequence[float]] = None,
        max: Optional[Sequence[float]] = None,
        limit: Optional[int] = None,
        grid: Optional[int] = None,
    ) -> PlacesResponse:
        """List the context paths that hold coordinates and, for one of them, its points and a grid of counts
        and outcomes, for a map of the active memories. Takes the filters of recall.

        Args:
            collection: Namespace. Default: all.
            field: Context path of the coordinates, such as spatial.object_position. Without it the response
                contains only fields.
            frame_id: Only coordinates of this frame.
            map_id: Only coordinates of this map.
            type: Only facts or only perceptions.
            category: Only this category.
            session_id: Only memories of this episode.
            after: Only memories observed at or after this time (RFC 3339).
            before: Only memories observed before this time (RFC 3339).
            context_filter: Filter over context paths, as in recall.
            min: [x, y]: lower bounds, in the unit of the coordinates.
            max: [x, y]: upper bounds, in the unit of the coordinates.
            limit: Largest number of points, 1 to 20,000. If there are more, the response has an even sample.
            grid: Also count memories in square cells. This is the number of cells along the longer side, up
                to 256; 0 for none.
        """
        return self._call("places", {"collection": collection, "field": field, "frame_id": frame_id, "map_id":
            map_id, "type": type, "category": category, "session_id": session_id, "after": after, "before":
            before, "context_filter": context_filter, "min": min, "max": max, "limit": limit, "grid": grid})

    def recent_failures(
        self,
        *,
        collection: Optional[str] = None,
        limit: Optional[int] = None,
        days: Optional[int] = None,
    ) -> ListResponse:
        """Return recent failures: postmortems, gotchas and facts with task.success false, newest first.

        Args:
            collection: Namespace. Default: all.
            limit: Largest number, 1 to 1,000.
            days: Only failures within this number of days; 0 for all.
        """
        return self._call("recent_failures", {"collection": collection, "limit": limit, "days": days})

    def stats(self) -> StatsResponse:
        """Count the stored memories, sessions and bytes, and the recalls."""
        return self._call("stats", {})

    def activity(
        self,
        *,
        collection: Optional[str] = None,
        days: Optional[int] = None,
        bucket: Optional[Literal["hour", "day"]] = None,
    ) -> ActivityResponse:
        """Count stored memories, failures and recalls per hour or day.

        Args:
            collection: Namespace. Default: all. Recalls over all collections are counted only for *.
            days: Number of days, including today, 1 to 3,650.
            bucket: hour or day, in UTC. Default: hour for up to 7 days, else day. hour allows at most 92
                days.
        """
        return self._call("activity", {"collection": collection, "days": days, "bucket": bucket})

    def changes(self, *, since: Optional[int] = None, wait_ms: Optional[int] = None) -> ChangesResponse:
        """Wait for a change by any process. It returns immediately if the change counter differs from since;
        otherwise it returns at the next change or after wait_ms.

        Args:
            since: The change of an earlier response. Without it the current value is returned immediately.
            wait_ms: Longest wait for a change in milliseconds, 0 to 60,000.
        """
        return self._call("changes", {"since": since, "wait_ms": wait_ms})

    def doctor(self, *, deep: Optional[bool] = None) -> DoctorResponse:
        """Check the node: file, index sync, zero-hit rate, sizes, embedder and backlog. Each finding names
        its remedy.

        Args:
            deep: Read all payloads and verify their checksums. Without it each check-up reads up to 256 MiB,
                and the next one continues with other payloads.
        """
        return self._call("doctor", {"deep": deep})

    def retain(
        self,
        *,
        budgets: Optional[Sequence[Budget]] = None,
        min_free_bytes: Optional[int] = None,
        apply: Optional[bool] = None,
    ) -> RetainResponse:
        """Remove payloads of perceptions that exceed a budget of bytes, age or free disk space. It removes
        the least valuable first, thins long recordings before it removes others, and never removes facts.
        Without apply it only lists the payloads that it would remove.

        Args:
            budgets: Budgets:
                {"perception_type":"visual","max_bytes":1000000000,"max_age_days":30,"collection":"arm7"}.
                Default: the budgets of the node.
            min_free_bytes: Bytes that must stay free on the disk.
            apply: Remove the payloads. Without it they are only listed.
        """
        return self._call("retain", {"budgets": budgets, "min_free_bytes": min_free_bytes, "apply": apply})

    def audit(
        self,
        *,
        memory_id: Optional[int] = None,
        collection: Optional[str] = None,
        who: Optional[str] = None,
        action: Optional[Literal["created", "updated", "forgotten", "restored", "pinned", "unpinned", "superseded", "evicted", "purged", "ended", "repaired", "imported"]] = None,
        after: Optional[Time] = None,
        before: Optional[Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AuditResponse:
        """Page through the log of changes, newest first: who changed a memory, with which program, when and
        why, with hashes of the text before and after. The creator of a memory is stored in the memory itself.

        Args:
            memory_id: Only changes of this memory.
            collection: Namespace. Default: all.
            who: Only changes by this token or user.
            action: Only this action.
            after: Only changes at or after this time (RFC 3339).
            before: Only changes before this time (RFC 3339).
            limit: Entries per page, 1 to 1,000.
            cursor: The value of next from the previous page. New entries do not shift the pages.
        """
        return self._call("audit", {"memory_id": memory_id, "collection": collection, "who": who, "action":
            action, "after": after, "before": before, "limit": limit, "cursor": cursor})

    def repair(self) -> RepairResponse:
        """Rebuild every index from the tables."""
        return self._call("repair", {})


# END


class Robotmem(Operations):
    """A robotmem node over HTTP."""

    def __init__(self, url: str = "http://127.0.0.1:7878", *, token: Optional[str] = None, timeout: float = 30.0, retries: int = 2):
        """url is the node's address; token one that it knows; timeout, in seconds, is how long it
        may be silent; retries how often a read is asked again while the node is busy."""
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("the address of a node is like http://127.0.0.1:7878, not %r" % url)
        self.url = url.rstrip("/")
        self.timeout = timeout
        self.retries = retries
        self._address = parts
        self._token = token
        self._kept: List[Tuple[int, float, http.client.HTTPConnection]] = []  # process, since when, connection

    def close(self) -> None:
        """Close the connections that are kept. Later calls open new ones."""
        while self._kept:
            self._kept.pop()[2].close()

    def __del__(self) -> None:
        if hasattr(self, "_kept"):
            self.close()

    def episode(self, *, outcome: Optional[float] = None, **fields: Any) -> Episode:
        """Live an episode in a with statement: the fields are those of start_session. It ends with
        the outcome, or with 0 when the block raised and said nothing else."""
        return Episode(self, outcome, fields)

    def list_all(self, **fields: Any) -> Iterator[Memory]:
        """Iterate over all memories that list finds, page by page."""
        return self._pages("list", "memories", fields)

    def sessions_all(self, **fields: Any) -> Iterator[Any]:
        """Iterate over all episodes that sessions finds, page by page."""
        return self._pages("sessions", "sessions", fields)

    def session_memories_all(self, session_id: str, **fields: Any) -> Iterator[Memory]:
        """Iterate over an episode in the order it was lived, page by page."""
        return self._pages("session_memories", "memories", dict(fields, session_id=session_id))

    def read_data(self, memory_id: int) -> bytes:
        """Return the bytes of a perception as they were saved."""
        with self.open_data(memory_id) as data:
            return data.read()

    def open_data(self, memory_id: int) -> DataReader:
        """Open the bytes of a perception as a stream that can be read and sought. Reading fails at
        the end when they are not those that were saved."""
        return DataReader(self, memory_id)

    def events(self, timeout: float = 60.0) -> Iterator[Event]:
        """Iterate over what happens at the node, as it happens, until the node ends the stream. The
        node shows every 15 s that it is there; timeout, in seconds, is how long it may not."""
        response = self._request("events", "GET", "/api/events", {"Accept": "text/event-stream"}, None, timeout)
        return _events(response, self)

    def _pages(self, op: str, items: str, fields: Object) -> Iterator[Any]:
        while True:
            answer = self._call(op, fields)
            yield from answer[items]
            if not answer.get("next"):
                return
            fields = dict(fields, cursor=answer["next"])

    def _call(self, op: str, fields: Object) -> Any:
        method, path, reads = ROUTES[op]
        encoded = _encode_fields(op, fields)
        path = _fill(op, path, encoded)
        body, headers = None, {"Accept": "application/json"}
        if method in ("GET", "DELETE"):
            if encoded:
                path += "?" + urllib.parse.urlencode({name: _text(v) for name, v in sorted(encoded.items())})
        else:
            body = ("{" + ",".join(json.dumps(name) + ":" + v for name, v in encoded.items()) + "}").encode()
            headers["Content-Type"] = "application/json"
        patience = self.timeout + (fields.get("wait_ms") or 0) / 1000
        for attempt in range(self.retries + 1):
            try:
                return self._ask(op, method, path, headers, body, patience, reads)
            except RobotmemError as busy:
                if not reads or busy.status not in (429, 503) or attempt == self.retries:
                    raise
                time.sleep(min(getattr(busy, "retry_after", 0.1 * 2**attempt), 10))

    def _upload(self, op: str, payload: BinaryIO, fields: Object) -> Any:
        """Send the fields, then the payload, as a form whose length need not be known."""
        method, path, _ = ROUTES[op]
        boundary = uuid.uuid4().hex
        form = _form(boundary, _encode_fields(op, fields), payload)
        headers = {"Accept": "application/json", "Content-Type": "multipart/form-data; boundary=" + boundary}
        return self._answer(op, self._request(op, method, path, headers, form, self.timeout))

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
        return kind(self._address.hostname or "", self._address.port, timeout=timeout)

    def _reuse(self, timeout: float) -> http.client.HTTPConnection:
        """A kept connection, or a new one that is not open yet."""
        while True:
            try:
                process, since, connection = self._kept.pop()
            except IndexError:
                return self._connect(timeout)
            with selectors.DefaultSelector() as closed:  # the node says nothing else to a connection at rest
                closed.register(connection.sock, selectors.EVENT_READ)
                if process == os.getpid() and time.monotonic() - since < 30 and not closed.select(0):
                    connection.timeout = timeout
                    connection.sock.settimeout(timeout)
                    return connection
            connection.close()

    def _ask(self, op: str, method: str, path: str, headers: Dict[str, str], body: Any, timeout: float, reads: bool) -> Any:
        """Send a request over a kept connection and return the answer."""
        connection, whole = self._reuse(timeout), False
        try:
            kept = connection.sock is not None
            try:
                answer = self._answer(op, self._request(op, method, path, headers, body, timeout, connection))
            except RobotmemError as err:
                whole = err.status != 0
                if not (kept and reads and isinstance(err.__cause__, ConnectionError)):
                    raise
                connection.close()  # the node closed it just now
                answer = self._answer(op, self._request(op, method, path, headers, body, timeout, connection))
            whole = True
            return answer
        finally:
            if whole and connection.sock is not None:
                self._kept.append((os.getpid(), time.monotonic(), connection))
            else:
                connection.close()

    def _request(self, op: str, method: str, path: str, headers: Dict[str, str], body: Any, timeout: float, kept: Optional[http.client.HTTPConnection] = None) -> http.client.HTTPResponse:
        """Send a request and return the answer with its body unread. Only 2xx is returned."""
        connection = kept or self._connect(timeout)
        headers = dict(headers) if kept else dict(headers, Connection="close")
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        target = self._address.path.rstrip("/") + path
        try:
            if body is None or isinstance(body, bytes):
                connection.request(method, target, body, headers)
            else:
                _send_chunks(connection, method, target, headers, body)
            response = connection.getresponse()
            if 200 <= response.status <= 299:
                return response
            with response:
                raise self._failure(op, response, response.read())
        except (OSError, http.client.HTTPException) as err:
            raise self._unreachable(op, err) from err
        finally:
            if not kept and connection.sock is not None:
                connection.sock.close()  # an answer holds what it reads from until it is closed itself
                connection.sock = None

    def _answer(self, op: str, response: http.client.HTTPResponse) -> Any:
        with response:
            try:
                return json.loads(response.read(), parse_float=Number)
            except (OSError, http.client.HTTPException) as err:
                raise self._unreachable(op, err) from err
            except ValueError as err:
                raise RobotmemError("unavailable", "", "%s did not answer as a robotmem node; check the address" % self.url, response.status, op) from err

    def _unreachable(self, op: str, err: Exception) -> RobotmemError:
        why = str(err) or type(err).__name__
        return RobotmemError("unavailable", "", "no answer from %s: %s; is `robotmem web` running there?" % (self.url, why), 0, op)

    def _failure(self, op: str, response: http.client.HTTPResponse, body: bytes) -> RobotmemError:
        """The error that a problem document, or an answer of something else, stands for."""
        status, problem = response.status, None
        if response.headers.get_content_type() == "application/problem+json":
            try:
                problem = json.loads(body)
            except ValueError:
                pass
        if isinstance(problem, dict) and problem.get("kind"):
            err = RobotmemError(problem["kind"], problem.get("field", ""), problem.get("detail", ""), status, problem.get("op") or op)
        else:
            kind = {401: "forbidden", 403: "forbidden", 413: "too_large"}.get(status, "unavailable")
            err = RobotmemError(kind, "", "%s answered %d %s, and not as a robotmem node; check the address and what stands between" % (self.url, status, response.reason), status, op)
        try:
            err.retry_after = float(response.headers["Retry-After"])  # type: ignore[attr-defined]
        except (TypeError, ValueError):
            pass  # the header is absent, or a date
        return err


class Episode:
    """An episode that a with statement begins and ends. id is its session_id, briefing what to know
    before it; add the memories that helped to used, and set outcome, 0 (failed) to 1 (succeeded).
    After the block, ended is the answer of end_session."""

    id: str
    briefing: Any

    def __init__(self, memory: Robotmem, outcome: Optional[float], fields: Object):
        self.outcome = outcome
        self.used: List[int] = []
        self.ended: Any = None
        self._memory = memory
        self._fields = fields

    def __enter__(self) -> Episode:
        begun = self._memory.start_session(**self._fields)
        self.id, self.briefing = begun["session_id"], begun["briefing"]
        return self

    def __exit__(self, kind: Any, raised: Any, trace: Any) -> None:
        if raised is not None and self.outcome is None:
            self.outcome = 0.0
        try:
            self.ended = self._memory.end_session(self.id, outcome_score=self.outcome, used_memory_ids=self.used or None)
        except RobotmemError:
            if raised is None:  # what the block raised says more
                raise

    def learn(self, insight: str, **fields: Any) -> LearnResponse:
        """Learn a fact of this episode."""
        return self._memory.learn(insight, session_id=self.id, **fields)

    def recall(self, query: Optional[str] = None, **fields: Any) -> RecallResponse:
        """Recall for this episode, in its collection unless another is named."""
        fields.setdefault("collection", self._fields.get("collection"))
        return self._memory.recall(query=query, for_session=self.id, **fields)

    def save_perception(self, description: str, **fields: Any) -> SavePerceptionResponse:
        """Save a perception of this episode."""
        return self._memory.save_perception(description, session_id=self.id, **fields)

    def save_perception_from(self, payload: BinaryIO, description: str, **fields: Any) -> SavePerceptionResponse:
        """Save a perception of this episode from a file or another stream of bytes."""
        return self._memory.save_perception_from(payload, description, session_id=self.id, **fields)


class DataReader(io.RawIOBase):
    """The bytes of a perception as they come from the node. media_type, size and sha256 say what
    they are. Close it, or use it in a with statement."""

    def __init__(self, memory: Robotmem, memory_id: int):
        super().__init__()
        self._memory, self.memory_id = memory, memory_id
        self._position = self._hashed = 0
        self._hash = hashlib.sha256()
        self._response: Optional[http.client.HTTPResponse] = None
        self._response = self._get(0)
        headers = self._response.headers
        self.media_type = headers.get("Content-Type", "")
        self.sha256 = headers.get("ETag", "").strip('"')
        self.size = int(headers.get("Content-Length", -1))
        if len(self.sha256) != 64 or self.size < 0:
            self.close()
            raise self._fail("unavailable", "%s did not answer as a robotmem node: its answer has no checksum or no length" % memory.url)

    def _fail(self, kind: str, detail: str) -> RobotmemError:
        return RobotmemError(kind, "", detail, 0, "data")

    def _get(self, start: int) -> http.client.HTTPResponse:
        headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
        if start:
            headers["Range"] = "bytes=%d-" % start
        path = _fill("data", ROUTES["data"][1], _encode_fields("data", {"memory_id": self.memory_id}))
        return self._memory._request("data", "GET", path, headers, None, self._memory.timeout)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
            raise ValueError("there is no whence %r" % whence)
        offset += {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence]
        if offset < 0:
            raise ValueError("%d is before the first byte" % offset)
        if offset != self._position:
            self._position = offset
            self._drop()
        return offset

    def readinto(self, buffer: Any) -> int:
        if self._position >= self.size:
            return 0
        if self._response is None:
            self._response = self._get(self._position)
        room = memoryview(buffer).cast("B")[: self.size - self._position]
        try:
            n = self._response.readinto(room)
        except (OSError, http.client.HTTPException) as err:
            raise self._memory._unreachable("data", err) from err
        if room and not n:
            raise self._fail("unavailable", "the answer of %s ended after %d of %d bytes; run robotmem doctor on the node to check the payload" % (self._memory.url, self._position, self.size))
        self._check(room[:n])
        return n

    def _check(self, data: memoryview) -> None:
        if self._position == 0:
            self._hash, self._hashed = hashlib.sha256(), 0
        if self._position == self._hashed:
            self._hash.update(data)
            self._hashed += len(data)
        self._position += len(data)
        if self._position == self.size == self._hashed and self._hash.hexdigest() != self.sha256:
            raise self._fail("corrupt", "the bytes of memory %d are not those that were saved; run robotmem doctor on the node" % self.memory_id)

    def _drop(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None

    def close(self) -> None:
        self._drop()
        super().close()


_SPELT = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")  # a number in JSON


def _encode(value: Any) -> str:
    """value as JSON, with numbers as they are spelt, times in RFC 3339 and bytes in base64."""
    if isinstance(value, Number) and _SPELT.fullmatch(value.text):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(str(key), ensure_ascii=False) + ":" + _encode(v) for key, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_encode(v) for v in value) + "]"
    if isinstance(value, datetime.datetime):
        value = (value if value.tzinfo else value.astimezone()).isoformat()
    elif isinstance(value, (bytes, bytearray, memoryview)):
        value = base64.b64encode(value).decode()
    elif hasattr(value, "tolist"):  # scalars and arrays of NumPy and its like
        return _encode(value.tolist())
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    text.encode()  # a lone half of a character has no UTF-8
    return text


def _npy(array: Any) -> bytes:
    """An array of NumPy as a .npy file, which keeps its type and shape."""
    header = "{'descr': %r, 'fortran_order': False, 'shape': %r, }" % (array.dtype.str, tuple(array.shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(array.tobytes())


def _encode_fields(op: str, fields: Object) -> Dict[str, str]:
    """The fields that are given, each as JSON."""
    encoded = {}
    for name, value in fields.items():
        if value is None:
            continue
        if name == "data" and isinstance(value, (bytes, bytearray, memoryview)):
            name = "data_base64"
        elif name == "data" and hasattr(value, "dtype") and hasattr(value, "tobytes"):
            name, value = "data_base64", _npy(value)
        try:
            encoded[name] = _encode(value)
        except (TypeError, ValueError) as err:
            raise RobotmemError("invalid", name, "has no JSON form: %s" % err, 0, op) from err
    return encoded


def _text(encoded: str) -> str:
    """A JSON value as a path, a query or a form has it: text without its quotes."""
    return json.loads(encoded) if encoded.startswith('"') else encoded


def _fill(op: str, path: str, encoded: Dict[str, str]) -> str:
    """path with its wildcards filled from the fields, which are taken out."""
    for name in [n for n in encoded if "{%s}" % n in path]:
        value = _text(encoded.pop(name))
        if not value:
            raise RobotmemError("invalid", name, "is required", 0, op)
        path = path.replace("{%s}" % name, urllib.parse.quote(value, safe=""))
    return path


def _form(boundary: str, encoded: Dict[str, str], payload: BinaryIO) -> Iterator[bytes]:
    """A form: the fields, then the payload, so that the node can pass it on as it comes."""
    for name, value in sorted(encoded.items()):
        yield ('--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (boundary, name, _text(value))).encode()
    yield ('--%s\r\nContent-Disposition: form-data; name="data"; filename="data"\r\nContent-Type: application/octet-stream\r\n\r\n' % boundary).encode()
    while True:
        try:
            data = payload.read(1 << 16)
        except Exception as err:
            raise RobotmemError("invalid", "data", "could not be read to its end (%s); nothing was stored" % err, 0, "save_perception") from err
        if data:
            yield data
        elif data is not None:
            break
    yield ("\r\n--%s--\r\n" % boundary).encode()


def _send_chunks(connection: http.client.HTTPConnection, method: str, target: str, headers: Dict[str, str], chunks: Iterator[bytes]) -> None:
    """Send a body of unknown length, and stop when the node answers before its end."""
    connection.putrequest(method, target)
    for name, value in dict(headers, **{"Transfer-Encoding": "chunked"}).items():
        connection.putheader(name, value)
    connection.endheaders()
    with selectors.DefaultSelector() as answers:
        if type(connection) is http.client.HTTPConnection:  # TLS has messages of its own
            answers.register(connection.sock, selectors.EVENT_READ)
        try:
            for chunk in chunks:
                connection.send(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                if answers.select(0):
                    return
            connection.send(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # it answered and hung up: the answer says why


def _events(response: http.client.HTTPResponse, memory: Robotmem) -> Iterator[Event]:
    """Read server-sent events: lines of field: value, an empty line after each event."""
    with response:
        name, data = "message", []
        while True:
            try:
                line = response.readline()
            except (OSError, http.client.HTTPException) as err:
                raise memory._unreachable("events", err) from err
            if not line:
                return
            field, _, value = line.decode().rstrip("\r\n").partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "event":
                name = value
            elif field == "data":
                data.append(value)
            elif not line.strip():
                if data:
                    yield Event(name, json.loads("\n".join(data), parse_float=Number))
                name, data = "message", []
