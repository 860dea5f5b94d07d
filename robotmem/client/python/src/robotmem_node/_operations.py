"""Made from the operations of a node: go test ./robotmem/client/python -run Made -update"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Iterator, Literal, Protocol, Sequence, TypedDict

from ._answer import Answer

Object = dict[str, Any]  # a JSON object, such as a context
Time = datetime.datetime | str  # text is RFC 3339; a datetime without a zone is local
Bytes = bytes | bytearray | memoryview | str  # text is base64
class Array(Protocol):
    """What NumPy's arrays and their like are to this package."""

    def tolist(self) -> Any: ...


Data = Any  # text, bytes, a file's path, an array of NumPy, a tensor, an image of Pillow, a frame of pandas


class Budget(TypedDict, total=False):
    collection: str
    max_age_days: float
    max_bytes: int
    perception_type: Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"]


class _DocumentPassage(TypedDict):
    text: str


class DocumentPassage(_DocumentPassage, total=False):
    last_page: int
    page: int
    section: Sequence[str]


class _LearnRequest(TypedDict):
    insight: str


class LearnRequest(_LearnRequest, total=False):
    collection: str
    context: Object
    observed_at: Time
    outcome: Literal["success", "failure", "partial", "unknown"]
    pinned: bool
    request_id: str
    session_id: str
    source: str
    supersedes: int
    tags: Sequence[str]


class Like(TypedDict, total=False):
    data: Data
    data_base64: Bytes
    media_type: str
    memory_id: int
    metadata: Object


class _SpatialSort(TypedDict):
    field: str
    target: Sequence[float] | Array


class SpatialSort(_SpatialSort, total=False):
    angular: bool
    frame_id: str
    heading: float
    map_id: str
    max_angle: float
    max_distance: float
    mode: Literal["strict", "fused"]
    orientation: Sequence[float] | Array


class LearnFields(TypedDict, total=False):
    collection: str | None
    observed_at: Time | None
    outcome: Literal["success", "failure", "partial", "unknown"] | None
    pinned: bool | None
    request_id: str | None
    source: str | None
    supersedes: int | None
    tags: Sequence[str] | None


class RecallFields(TypedDict, total=False):
    after: Time | None
    as_of: Time | None
    as_you_type: bool | None
    before: Time | None
    category: str | None
    collection: str | None
    context_filter: Object | str | Sequence[str] | None
    where: str | Sequence[str] | None
    context_window: int | None
    deadline_ms: int | None
    detail: Literal["ids", "compact", "full"] | None
    diversity: float | None
    entity: str | None
    explain: bool | None
    like: Like | None
    max_tokens: int | None
    min_confidence: float | None
    min_relevance: float | None
    n: int | None
    parse_time: bool | None
    perception_type: Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"] | None
    scope: Literal["local", "fleet", "both"] | None
    session_id: str | None
    spatial_sort: SpatialSort | None
    surprise: int | None
    tags: Sequence[str] | None
    type: Literal["fact", "perception", "document"] | None


class AdviseFields(TypedDict, total=False):
    after: Time | None
    before: Time | None
    collection: str | None
    context_filter: Object | str | Sequence[str] | None
    where: str | Sequence[str] | None
    explore: bool | None
    given: Object | None
    goal: str | None
    n_min: int | None
    parameters: Sequence[str] | None
    scope: Literal["local", "fleet", "both"] | None
    seed: int | None
    spatial_sort: SpatialSort | None
    task: str | None


class SaveFields(TypedDict, total=False):
    collection: str | None
    media_type: str | None
    metadata: Object | None
    observed_at: Time | None
    origin: str | None
    perception_type: Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"] | None
    request_id: str | None
    source: str | None


class AboutLine(Answer):
    alike: int | None
    line: str
    memory_id: int
    memory_ids: list[int]


class AboutResponse(Answer):
    aliases: list[str]
    counts: dict[str, int]
    current: list[AboutLine]
    failed: list[AboutLine]
    first: datetime.datetime | None
    interpreted: list[str]
    kind: str | None
    last: datetime.datetime | None
    last_seen: LastSeen | None
    memories: int
    notes: list[str]
    related: list[SubjectCount]
    rules: list[AboutLine]
    subject: str | None
    subjects: list[SubjectCount]
    worked: list[AboutLine]

    _nested: ClassVar[dict[str, str]] = {"current": "[AboutLine", "failed": "[AboutLine", "last_seen":
        "LastSeen", "related": "[SubjectCount", "rules": "[AboutLine", "subjects": "[SubjectCount", "worked":
        "[AboutLine"}

    _times: ClassVar[frozenset[str]] = frozenset(["first", "last"])


class ActivityBucket(Answer):
    facts: int
    failures: int
    from_: datetime.datetime
    perceptions: int
    recalls: int
    zero_hits: int

    _times: ClassVar[frozenset[str]] = frozenset(["from"])


class ActivityResponse(Answer):
    bucket: str
    buckets: list[ActivityBucket]
    from_: datetime.datetime
    interpreted: list[str]
    to: datetime.datetime

    _nested: ClassVar[dict[str, str]] = {"buckets": "[ActivityBucket"}

    _times: ClassVar[frozenset[str]] = frozenset(["from", "to"])

    _items: ClassVar[str] = "buckets"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[ActivityBucket]: ...


class AdviseResponse(Answer):
    attempts: int
    best_combination: Combination | None
    differs: list[Difference]
    evidence: str
    from_episodes: int | None
    notes: list[str]
    overall: Estimate | None
    parameters: list[ParameterAdvice]
    query_ms: float
    suggestion: Suggestion
    unknown: int | None

    _nested: ClassVar[dict[str, str]] = {"best_combination": "Combination", "differs": "[Difference",
        "overall": "Estimate", "parameters": "[ParameterAdvice", "suggestion": "Suggestion"}


class AggregateResponse(Answer):
    groups: list[OutcomeGroup]
    memories: int
    more: int | None
    notes: list[str]

    _nested: ClassVar[dict[str, str]] = {"groups": "[OutcomeGroup"}

    _items: ClassVar[str] = "groups"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[OutcomeGroup]: ...


class Attempt(Answer):
    advice: str | None
    criteria: list[str]
    goal: str
    more: int | None
    tries: list[Try]
    verdict: str | None
    without_progress: int

    _nested: ClassVar[dict[str, str]] = {"tries": "[Try"}


class AttemptResponse(Answer):
    advice: str | None
    briefing: Briefing | None
    collection: str
    criteria: list[str]
    goal: str
    interpreted: list[str]
    memory_id: int | None
    more: int | None
    number: int | None
    robot: str | None
    session_id: str | None
    status: str
    tries: list[Try]
    verdict: str | None
    without_progress: int

    _nested: ClassVar[dict[str, str]] = {"briefing": "Briefing", "tries": "[Try"}


class AuditEntry(Answer):
    action: str
    after: str | None
    at: datetime.datetime
    before: str | None
    collection: str | None
    id: int
    memory_id: int | None
    reason: str | None
    session_id: str | None
    tool: str | None
    uid: str | None
    who: str | None

    _times: ClassVar[frozenset[str]] = frozenset(["at"])


class AuditResponse(Answer):
    entries: list[AuditEntry]
    interpreted: list[str]
    limit: int
    next: str | None

    _nested: ClassVar[dict[str, str]] = {"entries": "[AuditEntry"}

    _items: ClassVar[str] = "entries"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[AuditEntry]: ...


class BackupState(Answer):
    every_seconds: int
    failure: str | None
    failures: int
    file_id: str | None
    last_failure: datetime.datetime | None
    last_success: datetime.datetime | None
    own_disk: bool | None
    seconds: float
    to: str

    _times: ClassVar[frozenset[str]] = frozenset(["last_failure", "last_success"])


class BatchError(Answer):
    detail: str
    field: str | None
    kind: str


class BatchResult(Answer):
    auto_inferred: Inferred | None
    conflicts: list[ConflictWith]
    error: BatchError | None
    existing_id: int | None
    interpreted: list[str]
    memory_id: int | None
    method: str | None
    similar: list[SimilarMemory]
    similarity: float | None
    status: str | None
    superseded: int | None
    uid: str | None

    _nested: ClassVar[dict[str, str]] = {"auto_inferred": "Inferred", "conflicts": "[ConflictWith", "error":
        "BatchError", "similar": "[SimilarMemory"}


class BriefMemory(Answer):
    category: str
    confidence: float
    memory_id: int
    summary: str


class Briefing(Answer):
    memory_ids: list[int]
    text: str


class CategoriesResponse(Answer):
    categories: list[CategoryCount]
    interpreted: list[str]

    _nested: ClassVar[dict[str, str]] = {"categories": "[CategoryCount"}

    _items: ClassVar[str] = "categories"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[CategoryCount]: ...


class CategoryCount(Answer):
    category: str
    count: int


class ChangesResponse(Answer):
    change: int
    changed: bool
    interpreted: list[str]
    time: datetime.datetime

    _times: ClassVar[frozenset[str]] = frozenset(["time"])


class Channel(Answer):
    max: list[Any]
    min: list[Any]
    name: str
    unit: str | None
    values: list[Any]


class Check(Answer):
    code: str | None
    detail: str
    name: str
    remedy: str | None
    status: str
    values: list[str]


class CollectionCount(Answer):
    active: int
    collection: str
    sessions: int
    total: int


class CollectionsResponse(Answer):
    collections: list[CollectionCount]
    interpreted: list[str]

    _nested: ClassVar[dict[str, str]] = {"collections": "[CollectionCount"}

    _items: ClassVar[str] = "collections"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[CollectionCount]: ...


class Combination(Answer):
    attempts: float
    high: float
    low: float
    memory_ids: list[int]
    parameters: Object
    rate: float
    successes: float | None


class ConflictWith(Answer):
    memory_id: int
    newer: bool | None
    reason: str


class Consolidated(Answer):
    avg_similarity: float
    compression_ratio: float
    merged_groups: int
    superseded_count: int


class ContextPath(Answer):
    kinds: list[str]
    max: float | None
    memories: int
    min: float | None
    path: str
    unit: str | None
    values: list[PathValue]

    _nested: ClassVar[dict[str, str]] = {"values": "[PathValue"}


class DataResponse(Answer):
    bytes: int
    data_base64: str
    interpreted: list[str]
    media_type: str
    memory_id: int
    sha256: str
    uid: str | None


class Difference(Answer):
    bits: float
    p: float
    path: str
    text: str


class DoctorResponse(Answer):
    checks: list[Check]
    healthy: bool
    interpreted: list[str]
    lost: list[LostPayload]
    status: str

    _nested: ClassVar[dict[str, str]] = {"checks": "[Check", "lost": "[LostPayload"}

    _items: ClassVar[str] = "checks"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[Check]: ...


class Document(Answer):
    added_at: datetime.datetime
    collection: str
    context: Object
    media_type: str | None
    name: str
    pages: int | None
    passages: int
    sha256: str | None
    title: str | None
    updated_at: datetime.datetime

    _times: ClassVar[frozenset[str]] = frozenset(["added_at", "updated_at"])


class DocumentsResponse(Answer):
    documents: list[Document]

    _nested: ClassVar[dict[str, str]] = {"documents": "[Document"}


class EndSessionResponse(Answer):
    consolidated: Consolidated
    decayed_count: int
    interpreted: list[str]
    related_memories: list[BriefMemory]
    session_id: str
    similar_groups: list[list[int]]
    status: str
    summary: SessionSummary

    _nested: ClassVar[dict[str, str]] = {"consolidated": "Consolidated", "related_memories": "[BriefMemory",
        "summary": "SessionSummary"}


class Estimate(Answer):
    attempts: float
    high: float
    low: float
    rate: float
    successes: float | None


class Eviction(Answer):
    bytes: int
    collection: str
    memory_id: int
    perception_type: str
    reason: str
    value: str


class ForgetResponse(Answer):
    content: str
    interpreted: list[str]
    memory_id: int
    purged: Purged | None
    reason: str
    status: str

    _nested: ClassVar[dict[str, str]] = {"purged": "Purged"}


class HistoryResponse(Answer):
    interpreted: list[str]
    memory_id: int
    uid: str
    versions: list[Version]

    _nested: ClassVar[dict[str, str]] = {"versions": "[Version"}

    _items: ClassVar[str] = "versions"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[Version]: ...


class Incident(Answer):
    at: datetime.datetime
    collection: str
    evidence: str | None
    first_at: datetime.datetime
    group: str
    kind: str
    media_type: str | None
    memory_id: int | None
    object: str | None
    perception_id: int | None
    perception_type: str | None
    place: Any
    repeats: int
    resolved: Resolved | None
    robot: str | None
    said: str | None
    session_id: str | None
    summary: str | None
    task: str | None

    _nested: ClassVar[dict[str, str]] = {"resolved": "Resolved"}

    _times: ClassVar[frozenset[str]] = frozenset(["at", "first_at"])


class IncidentGroup(Answer):
    collection: str
    count: int
    first_at: datetime.datetime
    group: str
    last_at: datetime.datetime
    open: int
    said: str
    task: str | None

    _times: ClassVar[frozenset[str]] = frozenset(["first_at", "last_at"])


class IncidentLine(Answer):
    collection: str
    episodes: int
    facts: int
    last: Incident
    open: int
    robot: str | None
    task: str | None

    _nested: ClassVar[dict[str, str]] = {"last": "Incident"}


class IncidentsResponse(Answer):
    degraded: list[str]
    groups: list[IncidentGroup]
    incidents: list[Incident]
    interpreted: list[str]
    limit: int
    lines: list[IncidentLine]
    page: int
    robots: list[str]
    tasks: list[str]
    total: int

    _nested: ClassVar[dict[str, str]] = {"groups": "[IncidentGroup", "incidents": "[Incident", "lines":
        "[IncidentLine"}

    _items: ClassVar[str] = "incidents"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[Incident]: ...


class Inferred(Answer):
    category: str
    confidence: float
    outcome: str
    scope_entities: list[str]
    scope_files: list[str]
    tags: list[str]


class LanguageModelCount(Answer):
    calls: int
    completion_tokens: int
    failed: int
    prompt_tokens: int
    seconds: float


class LanguageModelTask(Answer):
    calls: int
    completion_tokens: int
    failed: int
    model: str
    prompt_tokens: int
    seconds: float
    task: str


class LanguageModelUse(Answer):
    cap_calls: int
    cap_seconds: int
    cap_tokens: int
    paused: datetime.datetime | None
    running: int
    tasks: list[LanguageModelTask]
    today: LanguageModelCount
    total: LanguageModelCount

    _nested: ClassVar[dict[str, str]] = {"tasks": "[LanguageModelTask", "today": "LanguageModelCount",
        "total": "LanguageModelCount"}

    _times: ClassVar[frozenset[str]] = frozenset(["paused"])


class LastSeen(Answer):
    field: str | None
    map_id: str | None
    memory_id: int
    observed_at: datetime.datetime
    place: str | None
    position: list[float]

    _times: ClassVar[frozenset[str]] = frozenset(["observed_at"])


class LearnBatchResponse(Answer):
    interpreted: list[str]
    results: list[BatchResult]

    _nested: ClassVar[dict[str, str]] = {"results": "[BatchResult"}

    _items: ClassVar[str] = "results"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[BatchResult]: ...


class LearnResponse(Answer):
    auto_inferred: Inferred
    conflicts: list[ConflictWith]
    existing_id: int | None
    interpreted: list[str]
    memory_id: int
    method: str | None
    similar: list[SimilarMemory]
    similarity: float | None
    status: str
    superseded: int | None
    uid: str

    _nested: ClassVar[dict[str, str]] = {"auto_inferred": "Inferred", "conflicts": "[ConflictWith", "similar":
        "[SimilarMemory"}


class ListEntry(Answer):
    list: str
    rank: int
    value: float


class ListResponse(Answer):
    degraded: list[str]
    interpreted: list[str]
    limit: int
    memories: list[StoredMemory]
    next: str | None
    notes: list[str]
    page: int
    total: int

    _nested: ClassVar[dict[str, str]] = {"memories": "[StoredMemory"}

    _items: ClassVar[str] = "memories"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[StoredMemory]: ...


class LostPayload(Answer):
    memory_id: int
    reason: str
    sha256: str


class StoredMemory(Answer):
    access_count: int | None
    after: list[Neighbour]
    before: list[Neighbour]
    bytes: int | None
    category: str
    collection: str
    confidence: float
    conflicts: list[ConflictWith]
    content: str
    context: Object
    created_at: datetime.datetime
    data_uri: str | None
    decay_rate: float | None
    distance: float | None
    env: Any
    episode_outcome: str | None
    found: list[ListEntry]
    interpreted: list[str]
    last_accessed: datetime.datetime | None
    line: str | None
    media_type: str | None
    memory_id: int
    metadata: Object
    observed_at: datetime.datetime
    outcome: str
    outcome_source: str | None
    params: Any
    perception_type: str | None
    pinned: bool | None
    provenance: Provenance | None
    record: str | None
    relevance: float | None
    reliability: float | None
    return_count: int | None
    robot: Any
    scope: str | None
    scope_entities: list[str]
    scope_files: list[str]
    score: float | None
    session_id: str | None
    sha256: str | None
    sightings: int | None
    source: str | None
    spatial: Any
    status: str | None
    summary: str
    superseded_by: int | None
    tags: list[str]
    task: Any
    tier: str | None
    type: str
    uid: str
    updated_at: datetime.datetime | None
    user_tags: list[str]
    version: int | None

    _nested: ClassVar[dict[str, str]] = {"after": "[Neighbour", "before": "[Neighbour", "conflicts":
        "[ConflictWith", "found": "[ListEntry", "provenance": "Provenance"}

    _times: ClassVar[frozenset[str]] = frozenset(["created_at", "last_accessed", "observed_at", "updated_at"])


class MemoryLine(Answer):
    after: list[Neighbour]
    before: list[Neighbour]
    line: str | None
    memory_id: int
    score: float | None
    uid: str | None

    _nested: ClassVar[dict[str, str]] = {"after": "[Neighbour", "before": "[Neighbour"}


class Neighbour(Answer):
    memory_id: int
    text: str | None


class OutcomeGroup(Answer):
    failures: int
    from_episodes: int | None
    group: Object
    last: datetime.datetime
    memories: int
    partial: int
    successes: int
    unknown: int

    _times: ClassVar[frozenset[str]] = frozenset(["last"])


class ParameterAdvice(Answer):
    bandwidth: float | None
    best: ValueRecord | None
    kernel: str | None
    path: str
    unit: str | None
    values: list[ValueRecord]

    _nested: ClassVar[dict[str, str]] = {"best": "ValueRecord", "values": "[ValueRecord"}


class PathValue(Answer):
    memories: int
    value: Any


class PathsResponse(Answer):
    interpreted: list[str]
    paths: list[ContextPath]
    total: int

    _nested: ClassVar[dict[str, str]] = {"paths": "[ContextPath"}

    _items: ClassVar[str] = "paths"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[ContextPath]: ...


class PinResponse(Answer):
    interpreted: list[str]
    memory_id: int
    pinned: bool
    status: str


class PlaceCell(Answer):
    failures: int
    memories: int
    successes: int
    x: float
    y: float


class PlaceField(Answer):
    dims: int
    field: str
    frame_id: str | None
    map_id: str | None
    max: list[float]
    memories: int
    min: list[float]


class PlacePoint(Answer):
    category: str
    memory_id: int
    observed_at: datetime.datetime
    success: bool | None
    summary: str
    type: str
    x: float
    y: float
    z: float | None

    _times: ClassVar[frozenset[str]] = frozenset(["observed_at"])


class PlacesResponse(Answer):
    cell: float | None
    cells: list[PlaceCell]
    fields: list[PlaceField]
    interpreted: list[str]
    points: list[PlacePoint]
    sampled: bool
    total: int

    _nested: ClassVar[dict[str, str]] = {"cells": "[PlaceCell", "fields": "[PlaceField", "points":
        "[PlacePoint"}

    _items: ClassVar[str] = "points"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[PlacePoint]: ...


class PreviewResponse(Answer):
    data_base64: str
    height: int
    interpreted: list[str]
    media_type: str
    memory_id: int
    sha256: str
    summary: str
    uid: str | None
    width: int


class Provenance(Answer):
    robot: str | None
    tool: str | None
    who: str | None


class Purged(Answer):
    bytes: int | None
    not_reached: list[str]
    old_pages: str
    payload: str | None
    stood_for: list[int]
    versions: int


class RecallResponse(Answer):
    counts: dict[str, int]
    degraded: list[str]
    interpreted: list[str]
    matching: int | None
    memories: list[StoredMemory]
    mode: str
    more: int | None
    notes: list[str]
    query_ms: float
    stages: list[Stage]
    surprising: list[Surprise]
    times: list[TimePhrase]
    total: int
    warnings: list[str]

    _nested: ClassVar[dict[str, str]] = {"memories": "[StoredMemory", "stages": "[Stage", "surprising":
        "[Surprise", "times": "[TimePhrase"}

    _items: ClassVar[str] = "memories"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[StoredMemory]: ...


class RecalledMemory(Answer):
    category: str
    confidence: float
    memory_id: int
    status: str
    summary: str
    type: str
    used: bool


class RemoveDocumentResponse(Answer):
    collection: str
    name: str
    passages: int
    status: str


class RepairResponse(Answer):
    doctor: DoctorResponse
    interpreted: list[str]
    repaired: list[str]

    _nested: ClassVar[dict[str, str]] = {"doctor": "DoctorResponse"}


class Resolved(Answer):
    at: datetime.datetime
    lesson: str
    memory_id: int

    _times: ClassVar[frozenset[str]] = frozenset(["at"])


class RestoreResponse(Answer):
    content: str
    interpreted: list[str]
    memory_id: int
    status: str


class RetainResponse(Answer):
    count: int
    dry_run: bool
    evictions: list[Eviction]
    freed_bytes: int
    held_bytes: int
    interpreted: list[str]

    _nested: ClassVar[dict[str, str]] = {"evictions": "[Eviction"}

    _items: ClassVar[str] = "evictions"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[Eviction]: ...


class SamplesResponse(Answer):
    channels: list[Channel]
    duration_s: float | None
    frame_id: str | None
    intensity: list[Any]
    interpreted: list[str]
    kind: str
    memory_id: int
    missing: int | None
    qw: list[Any]
    qx: list[Any]
    qy: list[Any]
    qz: list[Any]
    rate_hz: float | None
    reduced: bool
    rgb: list[int]
    time: list[Any]
    time_unit: str | None
    total: int
    uid: str | None
    unit: str | None
    x: list[Any]
    y: list[Any]
    z: list[Any]

    _nested: ClassVar[dict[str, str]] = {"channels": "[Channel"}


class SaveDocumentResponse(Answer):
    added: int
    collection: str
    interpreted: list[str]
    kept: int
    moved: int
    name: str
    passages: int
    removed: int
    status: str


class SavePerceptionResponse(Answer):
    bytes: int
    collection: str
    has_embedding: bool
    interpreted: list[str]
    media_type: str
    memory_id: int
    perception_type: str
    sha256: str
    status: str
    summary: str
    uid: str


class Session(Answer):
    client_type: str | None
    collection: str
    context: Object
    created_at: datetime.datetime
    ended_at: datetime.datetime | None
    memory_count: int
    outcome_score: float | None
    session_id: str
    status: str

    _times: ClassVar[frozenset[str]] = frozenset(["created_at", "ended_at"])


class SessionResponse(Answer):
    attempt: Attempt | None
    client_type: str | None
    collection: str
    context: Object
    created_at: datetime.datetime
    ended_at: datetime.datetime | None
    interpreted: list[str]
    memory_count: int
    outcome_score: float | None
    recalled: list[RecalledMemory]
    session_id: str
    status: str
    streams: list[StreamCount]
    summary: SessionSummary | None

    _nested: ClassVar[dict[str, str]] = {"attempt": "Attempt", "recalled": "[RecalledMemory", "streams":
        "[StreamCount", "summary": "SessionSummary"}

    _times: ClassVar[frozenset[str]] = frozenset(["created_at", "ended_at"])


class SessionSummary(Answer):
    categories: dict[str, int]
    duration_s: float
    ended_at: datetime.datetime | None
    facts: int
    failures: int
    outcome_score: float | None
    perceptions: int
    recalled: int
    session_id: str
    streams: list[StreamCount]
    successes: int
    text: str
    used: int

    _nested: ClassVar[dict[str, str]] = {"streams": "[StreamCount"}

    _times: ClassVar[frozenset[str]] = frozenset(["ended_at"])


class SessionsResponse(Answer):
    degraded: list[str]
    interpreted: list[str]
    limit: int
    next: str | None
    page: int
    sessions: list[Session]
    total: int

    _nested: ClassVar[dict[str, str]] = {"sessions": "[Session"}

    _items: ClassVar[str] = "sessions"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[Session]: ...


class SimilarMemory(Answer):
    memory_id: int
    method: str
    similarity: float


class Stage(Answer):
    kept: int
    ms: float
    stage: str


class StartSessionResponse(Answer):
    active_memories_count: int
    briefing: Briefing
    collection: str
    interpreted: list[str]
    session_id: str
    status: str

    _nested: ClassVar[dict[str, str]] = {"briefing": "Briefing"}


class StatsResponse(Answer):
    backlog: int
    backup: BackupState | None
    by_category: dict[str, int]
    by_status: dict[str, int]
    by_type: dict[str, int]
    collections: int
    commits: int
    db_bytes: int
    disk_free_bytes: int
    embedder: str
    evicted: int
    evicted_bytes: int
    interpreted: list[str]
    language_model: LanguageModelUse | None
    last_day: int
    log_bytes: int
    payload_bytes: int
    recalls: int
    schema_version: int
    sessions: int
    stored_bytes: int
    streams: list[StreamCount]
    to_compare: int
    total: int
    workers: list[Worker]
    written_bytes: int | None
    zero_hits: int

    _nested: ClassVar[dict[str, str]] = {"backup": "BackupState", "language_model": "LanguageModelUse",
        "streams": "[StreamCount", "workers": "[Worker"}


class StreamCount(Answer):
    bytes: int
    dropped: int
    missed: int
    received: int
    source: str
    stored: int


class SubjectCount(Answer):
    kind: str | None
    memories: int
    name: str


class Suggestion(Answer):
    attempts: float
    high: float
    low: float
    memory_ids: list[int]
    parameters: Object
    rate: float
    successes: float | None
    text: str
    tried: bool


class Surprise(Answer):
    because: str
    line: str
    memory_id: int


class TimePhrase(Answer):
    after: datetime.datetime | None
    before: datetime.datetime | None
    text: str

    _times: ClassVar[frozenset[str]] = frozenset(["after", "before"])


class TimelineResponse(Answer):
    degraded: list[str]
    memories: list[MemoryLine]
    of: str

    _nested: ClassVar[dict[str, str]] = {"memories": "[MemoryLine"}

    _items: ClassVar[str] = "memories"

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[MemoryLine]: ...


class Try(Answer):
    at: datetime.datetime
    changed: str
    memory_id: int
    number: int
    outcome: str
    progress: float | None
    result: str | None

    _times: ClassVar[frozenset[str]] = frozenset(["at"])


class UpdateResponse(Answer):
    auto_inferred: Inferred
    interpreted: list[str]
    memory_id: int
    new_content: str
    notes: list[str]
    old_content: str
    status: str
    version: int

    _nested: ClassVar[dict[str, str]] = {"auto_inferred": "Inferred"}


class ValueRecord(Answer):
    attempts: float
    from_: float | None
    high: float
    last_tried: datetime.datetime | None
    low: float
    memory_ids: list[int]
    rate: float
    successes: float | None
    to: float | None
    value: Any

    _times: ClassVar[frozenset[str]] = frozenset(["last_tried"])


class Version(Answer):
    category: str
    change: str | None
    confidence: float
    content: str
    context: Object
    from_: datetime.datetime
    reason: str | None
    status: str
    superseded_by: int | None
    to: datetime.datetime | None
    version: int

    _times: ClassVar[frozenset[str]] = frozenset(["from", "to"])


class Worker(Answer):
    code: str | None
    detail: str
    name: str
    status: str
    values: list[str]


# Method, path, and whether it only reads.
ROUTES: dict[str, tuple[str, str, bool]] = {
    "learn": ("POST", "/api/learn", False),
    "learn_batch": ("POST", "/api/learn/batch", False),
    "recall": ("POST", "/api/recall", True),
    "search": ("GET", "/api/search", True),
    "advise": ("POST", "/api/advise", True),
    "aggregate": ("GET", "/api/aggregate", True),
    "about": ("GET", "/api/about", True),
    "attempt": ("POST", "/api/attempts", False),
    "save_perception": ("POST", "/api/perceptions", False),
    "save_document": ("POST", "/api/documents", False),
    "documents": ("GET", "/api/documents", True),
    "remove_document": ("DELETE", "/api/documents", False),
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
    "incidents": ("GET", "/api/incidents", True),
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
        context: Object | None = None,
        collection: str | None = None,
        session_id: str | None = None,
        tags: Sequence[str] | None = None,
        observed_at: Time | None = None,
        pinned: bool | None = None,
        outcome: Literal["success", "failure", "partial", "unknown"] | None = None,
        source: str | None = None,
        supersedes: int | None = None,
        request_id: str | None = None,
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
            supersedes: The memory_id of an active memory of the same collection that this fact replaces: it
                is no longer recalled, the history keeps it, and restore brings it back.
            request_id: A name of this call, up to 128 characters, such as a UUID. A call that is repeated
                with it, because its answer was lost, gets the same answer and stores nothing again. The last
                100,000 of the last 7 days are known.
        """
        return LearnResponse(self._call("learn", {"insight": insight, "context": context, "collection":
            collection, "session_id": session_id, "tags": tags, "observed_at": observed_at, "pinned": pinned,
            "outcome": outcome, "source": source, "supersedes": supersedes, "request_id": request_id}))

    def learn_batch(
        self,
        items: Sequence[LearnRequest],
        *,
        keep_duplicates: bool | None = None,
    ) -> LearnBatchResponse:
        """Store up to 10,000 facts in one call. Results are in the order of the items. An invalid item does
        not stop the others.

        Args:
            items: 1 to 10,000 learn requests.
            keep_duplicates: Store every item, including duplicates of known facts.
        """
        return LearnBatchResponse(self._call("learn_batch", {"items": items, "keep_duplicates":
            keep_duplicates}))

    def recall(
        self,
        query: str | None = None,
        *,
        collection: str | None = None,
        n: int | None = None,
        min_confidence: float | None = None,
        session_id: str | None = None,
        for_session: str | None = None,
        context_filter: Object | str | Sequence[str] | None = None,
        where: str | Sequence[str] | None = None,
        spatial_sort: SpatialSort | None = None,
        after: Time | None = None,
        before: Time | None = None,
        as_of: Time | None = None,
        parse_time: bool | None = None,
        type: Literal["fact", "perception", "document"] | None = None,
        perception_type: Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"] | None = None,
        category: str | None = None,
        tags: Sequence[str] | None = None,
        entity: str | None = None,
        like: Like | None = None,
        diversity: float | None = None,
        surprise: int | None = None,
        min_relevance: float | None = None,
        deadline_ms: int | None = None,
        scope: Literal["local", "fleet", "both"] | None = None,
        explain: bool | None = None,
        context_window: int | None = None,
        detail: Literal["ids", "compact", "full"] | None = None,
        max_tokens: int | None = None,
        as_you_type: bool | None = None,
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
            where: context_filter in short: "params.grip_force<15N", or a list of such conditions that must
                all hold.
            spatial_sort: Nearest first: {"field":"spatial.position","target":[x,y,z],"max_distance":1.5}.
                "mode":"fused" ranks by words too; frame_id, map_id.
            after: Only memories observed at or after this time (RFC 3339).
            before: Only memories observed before this time (RFC 3339).
            as_of: Search the state of the memory at this past time (RFC 3339).
            parse_time: Read time words in the query (yesterday, last week, before the crash at 14:05, 昨天)
                as after and before; times in the response shows how. false: they are words.
            type: Only facts, perceptions or documents.
            perception_type: Only perceptions of this type.
            category: Only this category.
            tags: Only memories with all of these tags.
            entity: Only memories that name this robot, object, place, part or person, in any spelling or by
                another of its names (see about).
            like: Find perceptions similar to this one, or facts that mean the same: {"memory_id":7} or
                {"data_base64":"…","media_type":"text/csv"}.
            diversity: 0 ranks by score only; larger values avoid similar results; at most 1.
            surprise: Also return up to so many memories in surprising that are tied to the answers and not to
                the words of the question, 0 to 10.
            min_relevance: Lowest relevance on the absolute scale, 0 to 1.
            deadline_ms: Return the results that are ready after this many milliseconds. 0 means no limit.
            scope: Where to look: local (this memory; the default), fleet (the site that this memory has
                joined) or both.
            explain: Report how many memories each stage kept and how each memory was found.
            context_window: Add the texts of so many memories before and after in the same episode, 0 to 3.
            detail: ids, compact (one line for each memory) or full. Default: full; over MCP compact.
            max_tokens: Largest size of the answer in tokens, at least 100; more counts the memories that do
                not fit.
            as_you_type: Treat the last word of the query as a prefix, unless a space follows it. Words with
                this prefix match with a lower weight than the word itself. The statistics do not count such a
                recall.
        """
        return RecallResponse(self._call("recall", {"query": query, "collection": collection, "n": n,
            "min_confidence": min_confidence, "session_id": session_id, "for_session": for_session,
            "context_filter": context_filter, "where": where, "spatial_sort": spatial_sort, "after": after,
            "before": before, "as_of": as_of, "parse_time": parse_time, "type": type, "perception_type":
            perception_type, "category": category, "tags": tags, "entity": entity, "like": like, "diversity":
            diversity, "surprise": surprise, "min_relevance": min_relevance, "deadline_ms": deadline_ms,
            "scope": scope, "explain": explain, "context_window": context_window, "detail": detail,
            "max_tokens": max_tokens, "as_you_type": as_you_type}))

    def search(
        self,
        q: str,
        *,
        collection: str | None = None,
        top_k: int | None = None,
        parse_time: bool | None = None,
        explain: bool | None = None,
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
        return RecallResponse(self._call("search", {"q": q, "collection": collection, "top_k": top_k,
            "parse_time": parse_time, "explain": explain}))

    def advise(
        self,
        query: str | None = None,
        *,
        task: str | None = None,
        collection: str | None = None,
        context_filter: Object | str | Sequence[str] | None = None,
        where: str | Sequence[str] | None = None,
        given: Object | None = None,
        after: Time | None = None,
        before: Time | None = None,
        spatial_sort: SpatialSort | None = None,
        parameters: Sequence[str] | None = None,
        goal: str | None = None,
        n_min: int | None = None,
        explore: bool | None = None,
        scope: Literal["local", "fleet", "both"] | None = None,
        seed: int | None = None,
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
            where: context_filter in short: "params.grip_force<15N", or a list of such conditions that must
                all hold.
            given: States that you cannot choose, by context path: {"tool.edges":450}. Attempts weigh by how
                near their numbers are; texts and truth values must be equal. Such paths are not advised.
            after: Only attempts observed at or after this time (RFC 3339).
            before: Only attempts observed before this time (RFC 3339).
            spatial_sort: Attempts near this place weigh more; those beyond max_distance do not count.
            parameters: Context paths to advise on, such as params.grip_force, in any spelling (gripForce).
                Default: those below params.
            goal: success, near (how near spatial_sort an attempt ended, whatever its outcome), or a context
                path with a number: task.score to maximise it, -task.duration_s to minimise it.
            n_min: Fewest attempts for a suggestion.
            explore: Suggest a Thompson sample: mostly what worked, sometimes what has been tried little. For
                repeated attempts that may fail.
            scope: Whose attempts count: local (this memory; the default), fleet (the site that this memory
                has joined) or both (the site's if it answers, else this memory's).
            seed: Makes explore repeatable. 0: a new sample each time.
        """
        return AdviseResponse(self._call("advise", {"query": query, "task": task, "collection": collection,
            "context_filter": context_filter, "where": where, "given": given, "after": after, "before":
            before, "spatial_sort": spatial_sort, "parameters": parameters, "goal": goal, "n_min": n_min,
            "explore": explore, "scope": scope, "seed": seed}))

    def aggregate(
        self,
        *,
        collection: str | None = None,
        context_filter: Object | str | Sequence[str] | None = None,
        where: str | Sequence[str] | None = None,
        group_by: Sequence[str] | None = None,
        after: Time | None = None,
        before: Time | None = None,
        limit: int | None = None,
    ) -> AggregateResponse:
        """Count memories exactly by group and outcome: how often did corridor B fail.

        Args:
            collection: Namespace; * for all.
            context_filter: Only memories that match, as in recall.
            where: context_filter in short: "params.grip_force<15N", or a list of such conditions that must
                all hold.
            group_by: Up to 4 context paths, or of collection, category, type, perception_type, session_id,
                outcome, day. Without it there is one group.
            after: Only memories observed at or after this time (RFC 3339).
            before: Only memories observed before this time (RFC 3339).
            limit: Largest number of groups, 1 to 1,000.
        """
        return AggregateResponse(self._call("aggregate", {"collection": collection, "context_filter":
            context_filter, "where": where, "group_by": group_by, "after": after, "before": before, "limit":
            limit}))

    def about(
        self,
        subject: str | None = None,
        *,
        collection: str | None = None,
        n: int | None = None,
    ) -> AboutResponse:
        """Return what is known of a robot, object, place, part or person by its name: current values, rules,
        what worked and failed in counts, where it was seen last, with the memory ids as evidence. Example:
        {"subject":"gripper 3"}.

        Args:
            subject: Its name in any spelling (gripper 3, Gripper-3), or one of its other names. Without it
                the answer lists the subjects.
            collection: Namespace. Default: all.
            n: Lines of each part, 1 to 50.
        """
        return AboutResponse(self._call("about", {"subject": subject, "collection": collection, "n": n}))

    def attempt(
        self,
        goal: str,
        *,
        collection: str | None = None,
        criteria: Sequence[str] | None = None,
        changed: str | None = None,
        result: str | None = None,
        exit_status: int | None = None,
        checks: Object | None = None,
        outcome: Literal["success", "failure", "partial", "unknown"] | None = None,
        progress: float | None = None,
        context: Object | None = None,
        verdict: Literal["success", "failure", "partial", "unknown"] | None = None,
    ) -> AttemptResponse:
        """Record a try at a goal that may take several. Ask with changed alone before a try: the answer says
        whether it was tried, and after three tries without progress what all were. It continues the open
        attempt at the goal, also in a later session. Example: {"goal":"the arm picks the wet
        glass","changed":"grip_force 12.5 N","result":"slipped at 5 cm","outcome":"failure"}.

        Args:
            goal: What is to be reached, up to 1,024 bytes. The open attempt at this goal is continued, else
                one begins.
            collection: Namespace of the attempt and of its tries.
            criteria: When the goal is reached, each in words or as a command that you run. They are set when
                the attempt begins.
            changed: What this try changes. Alone it stores nothing and begins nothing: the answer says
                whether it was tried before.
            result: What came out of the try.
            exit_status: Exit status of the command that checks the goal: 0 is a success. The node runs no
                commands.
            checks: Instead of exit_status, for several criteria: the exit status of each, or true or false,
                by its text or its number from 1: {"1":0,"2":1}.
            outcome: How the try went. Default: by exit_status, checks or the context (task.success), else
                unknown. It is not read from result.
            progress: How much of the goal the try reached, 0 to 1. Default: the share of checks that are met.
            context: Parameters, place and robot of the try, as in learn.
            verdict: Ends the attempt with this outcome. A try that is stated to succeed ends it by itself.
        """
        return AttemptResponse(self._call("attempt", {"goal": goal, "collection": collection, "criteria":
            criteria, "changed": changed, "result": result, "exit_status": exit_status, "checks": checks,
            "outcome": outcome, "progress": progress, "context": context, "verdict": verdict}))

    def save_perception(
        self,
        description: str,
        *,
        perception_type: Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"] | None = None,
        data: Data = None,
        data_base64: Bytes | None = None,
        path: str | None = None,
        media_type: str | None = None,
        metadata: Object | None = None,
        context: Object | None = None,
        collection: str | None = None,
        session_id: str | None = None,
        observed_at: Time | None = None,
        source: str | None = None,
        origin: str | None = None,
        request_id: str | None = None,
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
            request_id: A name of this call, up to 128 characters, such as a UUID. A call that is repeated
                with it, because its answer was lost, gets the same answer and stores nothing again. The last
                100,000 of the last 7 days are known.
        """
        return SavePerceptionResponse(self._call("save_perception", {"description": description,
            "perception_type": perception_type, "data": data, "data_base64": data_base64, "path": path,
            "media_type": media_type, "metadata": metadata, "context": context, "collection": collection,
            "session_id": session_id, "observed_at": observed_at, "source": source, "origin": origin,
            "request_id": request_id}))

    def save_perception_from(
        self,
        payload: BinaryIO,
        description: str,
        *,
        perception_type: Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"] | None = None,
        data: Data = None,
        data_base64: Bytes | None = None,
        path: str | None = None,
        media_type: str | None = None,
        metadata: Object | None = None,
        context: Object | None = None,
        collection: str | None = None,
        session_id: str | None = None,
        observed_at: Time | None = None,
        source: str | None = None,
        origin: str | None = None,
        request_id: str | None = None,
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
            request_id: A name of this call, up to 128 characters, such as a UUID. A call that is repeated
                with it, because its answer was lost, gets the same answer and stores nothing again. The last
                100,000 of the last 7 days are known.
        """
        return SavePerceptionResponse(self._upload("save_perception", payload, {"description": description,
            "perception_type": perception_type, "data": data, "data_base64": data_base64, "path": path,
            "media_type": media_type, "metadata": metadata, "context": context, "collection": collection,
            "session_id": session_id, "observed_at": observed_at, "source": source, "origin": origin,
            "request_id": request_id}))

    def save_document(
        self,
        name: str,
        sha256: str,
        passages: Sequence[DocumentPassage],
        *,
        media_type: str | None = None,
        title: str | None = None,
        pages: int | None = None,
        context: Object | None = None,
        collection: str | None = None,
    ) -> SaveDocumentResponse:
        """Store the text of a manual or another document as passages with page and section. The same name
        with the same sha256 stores nothing. With another sha256, passages that did not change keep their
        memory_id, new ones are added, and those that are gone are forgotten. All of it is stored or nothing.
        recall finds the passages with type document.

        Args:
            name: The name of the document in its collection, such as manual.pdf; up to 512 characters. Saving
                another text under it replaces the document.
            sha256: SHA-256 of the file, in hexadecimal digits. If the document was made of the same file,
                nothing is stored.
            media_type: Its media type.
            title: Its title, up to 256 characters.
            pages: How many pages it has; 0 if it has none.
            passages: 1 to 20,000 passages, in their order.
            context: JSON object for every passage, such as {"robot":{"model":"X7"}}. The section document is
                written by the node.
            collection: Namespace.
        """
        return SaveDocumentResponse(self._call("save_document", {"name": name, "sha256": sha256, "media_type":
            media_type, "title": title, "pages": pages, "passages": passages, "context": context,
            "collection": collection}))

    def documents(self, *, collection: str | None = None) -> DocumentsResponse:
        """List the documents with their title, hash, pages and passages.

        Args:
            collection: Namespace. Default: all.
        """
        return DocumentsResponse(self._call("documents", {"collection": collection}))

    def remove_document(
        self,
        name: str,
        *,
        reason: str | None = None,
        collection: str | None = None,
    ) -> RemoveDocumentResponse:
        """Forget all passages of a document. The history keeps them.

        Args:
            name: The name of the document.
            reason: Why, up to 1,000 characters. The audit log keeps the reason.
            collection: Namespace.
        """
        return RemoveDocumentResponse(self._call("remove_document", {"name": name, "reason": reason,
            "collection": collection}))

    def forget(self, memory_id: int | str, reason: str, *, purge: bool | None = None) -> ForgetResponse:
        """Remove a misleading memory from recall when update cannot correct it. The history keeps it, and
        restore undoes it. Example: {"memory_id":7,"reason":"the force sensor was not calibrated"}.

        Args:
            memory_id: The memory, by its memory_id or uid.
            reason: Why it is wrong, up to 1,000 characters. The audit log keeps the reason.
            purge: Delete the memory permanently: text, context, all versions, indexes, vectors, payload and
                the old pages of the file. This cannot be undone. The audit log keeps the reason, so the
                reason must not repeat the text.
        """
        return ForgetResponse(self._call("forget", {"memory_id": memory_id, "reason": reason, "purge":
            purge}))

    def restore(self, memory_id: int | str) -> RestoreResponse:
        """Make a forgotten or superseded memory active again.

        Args:
            memory_id: The memory, by its memory_id or uid.
        """
        return RestoreResponse(self._call("restore", {"memory_id": memory_id}))

    def update(
        self,
        memory_id: int | str,
        new_content: str,
        *,
        context: Object | None = None,
    ) -> UpdateResponse:
        """Replace the text of a wrong or incomplete memory and keep its id; use learn for an additional fact.
        The history keeps the old text, which is no longer recalled. Example:
        {"memory_id":7,"new_content":"grip_force=13 N holds wet glass"}.

        Args:
            memory_id: The memory, by its memory_id or uid; its id does not change.
            new_content: The new text, 1 byte to 16 KiB, stored unchanged.
            context: A new context. Default: keep the old one.
        """
        return UpdateResponse(self._call("update", {"memory_id": memory_id, "new_content": new_content,
            "context": context}))

    def pin(self, memory_id: int | str, *, pinned: bool | None = None) -> PinResponse:
        """Protect a memory from decay and from merging. With pinned false, remove the protection: the
        confidence then decays from now on at the rate of the category.

        Args:
            memory_id: The memory, by its memory_id or uid.
            pinned: true to pin, false to unpin.
        """
        return PinResponse(self._call("pin", {"memory_id": memory_id, "pinned": pinned}))

    def start_session(
        self,
        *,
        collection: str | None = None,
        context: Object | None = None,
        session_id: str | None = None,
        goal: str | None = None,
        origin: str | None = None,
        started_at: Time | None = None,
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
            goal: A goal to reach in several tries: the open attempt at it is continued, else one begins (see
                attempt).
            origin: Identifier of the episode in its source, up to 256 characters. It is unique in a
                collection: starting the same origin again returns the existing session.
            started_at: When it began, for an episode that is stored later. Default: now; if all of its
                memories were observed earlier, end_session takes the time of the first.
        """
        return StartSessionResponse(self._call("start_session", {"collection": collection, "context": context,
            "session_id": session_id, "goal": goal, "origin": origin, "started_at": started_at}))

    def end_session(
        self,
        session_id: str,
        *,
        outcome_score: float | None = None,
        outcome: Literal["success", "failure", "partial", "unknown"] | None = None,
        used_memory_ids: Sequence[int] | None = None,
        memory_scores: Object | None = None,
        ended_at: Time | None = None,
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
            ended_at: When it ended, for an episode that is stored later; not before it began. Default: now;
                if all of its memories were observed before it was started, the time of the last.
        """
        return EndSessionResponse(self._call("end_session", {"session_id": session_id, "outcome_score":
            outcome_score, "outcome": outcome, "used_memory_ids": used_memory_ids, "memory_scores":
            memory_scores, "ended_at": ended_at}))

    def get(self, memory_id: int | str) -> StoredMemory:
        """Return one complete memory of any status: text, context, tags, confidence, provenance. Example:
        {"memory_id":7}.

        Args:
            memory_id: The memory, by its memory_id or uid.
        """
        return StoredMemory(self._call("get", {"memory_id": memory_id}))

    def timeline(
        self,
        memory_id: int | str,
        *,
        before: int | None = None,
        after: int | None = None,
    ) -> TimelineResponse:
        """Return the memories before and after a memory, in order of time: of its episode, else of its robot
        or collection. Example: {"memory_id":7,"before":3,"after":3}.

        Args:
            memory_id: The memory, by its memory_id or uid.
            before: Memories before it, 0 to 50.
            after: Memories after it, 0 to 50.
        """
        return TimelineResponse(self._call("timeline", {"memory_id": memory_id, "before": before, "after":
            after}))

    def data(self, memory_id: int | str) -> DataResponse:
        """Return the bytes of a perception as they were saved.

        Args:
            memory_id: The memory, by its memory_id or uid.
        """
        return DataResponse(self._call("data", {"memory_id": memory_id}))

    def preview(
        self,
        memory_id: int | str,
        *,
        width: int | None = None,
        height: int | None = None,
    ) -> PreviewResponse:
        """Return a picture of a perception: an image, a plot of a trace, a spectrogram, or a top view of
        points or a trajectory. Example: {"memory_id":7,"width":640}.

        Args:
            memory_id: The perception, by its memory_id or uid.
            width: Largest width in pixels, 16 to 4,096.
            height: Largest height in pixels, 16 to 4,096.
        """
        return PreviewResponse(self._call("preview", {"memory_id": memory_id, "width": width, "height":
            height}))

    def samples(
        self,
        memory_id: int | str,
        *,
        from_: float | None = None,
        to: float | None = None,
        points: int | None = None,
        trace: bool | None = None,
    ) -> SamplesResponse:
        """Return the numbers of a force trace, joint states, a sound, a point cloud, a trajectory or a laser
        scan, for a plot. Returns all samples between from and to if there are at most points of them.
        Otherwise it returns the minimum and maximum of equal buckets, so that peaks are kept, and an even
        sample of the points of a cloud.

        Args:
            memory_id: The perception, by its memory_id or uid.
            from_: First sample: in seconds since the first sample of the perception, or as a sample number
                from 0 if the rate is unknown. For a recording of scans it selects the first sweep at or after
                this time. A point cloud or a single scan has no time.
            to: Last sample, in the same unit as from.
            points: Largest number of entries, 16 to 200,000. Default: 2,000 for traces and sounds, 50,000 for
                points. More than ten channels share about 2,000,000 readings.
            trace: Return the numbers of recorded messages as a trace, also of messages with a pose or a scan.
        """
        return SamplesResponse(self._call("samples", {"memory_id": memory_id, "from": from_, "to": to,
            "points": points, "trace": trace}))

    def history(self, memory_id: int | str) -> HistoryResponse:
        """Return all versions of a memory, oldest first.

        Args:
            memory_id: The memory, by its memory_id or uid.
        """
        return HistoryResponse(self._call("history", {"memory_id": memory_id}))

    def list(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        before_id: int | None = None,
        collection: str | None = None,
        type: Literal["fact", "perception", "document"] | None = None,
        category: str | None = None,
        status: Literal["active", "superseded", "invalidated", "all"] | None = None,
        confidence_min: float | None = None,
        confidence_max: float | None = None,
        days: int | None = None,
        perception_type: Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"] | None = None,
        session_id: str | None = None,
        tags: Sequence[str] | None = None,
        context_filter: Object | str | Sequence[str] | None = None,
        where: str | Sequence[str] | None = None,
        cursor: str | None = None,
    ) -> ListResponse:
        """Page through memories, newest first.

        Args:
            page: Page number, from 1.
            limit: Memories per page, 1 to 1,000.
            before_id: Only memories with a smaller id. Pass the last id of a page to get the next one; new
                memories do not shift the pages.
            collection: Namespace. Default: all.
            type: Only facts, perceptions or documents.
            category: Only this category.
            status: active, superseded, invalidated or all.
            confidence_min: Lowest stored confidence.
            confidence_max: Highest stored confidence.
            days: Only memories created within this number of days; 0 for all.
            perception_type: Only perceptions of this type.
            session_id: Only memories of this episode.
            tags: Only memories with all of these tags.
            context_filter: Filter over context paths, as in recall.
            where: context_filter in short: "params.grip_force<15N", or a list of such conditions that must
                all hold.
            cursor: The value of next from the previous page. New entries do not shift the pages.
        """
        return ListResponse(self._call("list", {"page": page, "limit": limit, "before_id": before_id,
            "collection": collection, "type": type, "category": category, "status": status, "confidence_min":
            confidence_min, "confidence_max": confidence_max, "days": days, "perception_type":
            perception_type, "session_id": session_id, "tags": tags, "context_filter": context_filter,
            "where": where, "cursor": cursor}))

    def sessions(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        collection: str | None = None,
        status: Literal["active", "ended"] | None = None,
        outcome: Literal["success", "failure", "partial", "unknown"] | None = None,
        robot: str | None = None,
        task: str | None = None,
        words: str | None = None,
        after: Time | None = None,
        before: Time | None = None,
        sort: Literal["time", "outcome", "robot", "task", "place"] | None = None,
        cursor: str | None = None,
    ) -> SessionsResponse:
        """Page through episodes, newest first.

        Args:
            page: Page number, from 1.
            limit: Episodes per page, 1 to 1,000.
            collection: Namespace. Default: all.
            status: active or ended. Default: both.
            outcome: Only episodes with this last outcome; unknown for those without one.
            robot: Only of this robot: robot.id, robot.name or robot of the context.
            task: Only of this task: task.name, task.type, task.goal or task of the context of the episode or
                of one of its facts.
            words: Only those whose context, or the text of one of whose facts, contains this text, such as a
                place; A to Z in any case.
            after: Only episodes that began at this time or later, RFC 3339.
            before: Only episodes that began before this time, RFC 3339.
            sort: time (newest first), outcome (worst first), robot, task or place, which is the value of
                spatial. Other orders than time have pages but no next.
            cursor: The value of next from the previous page. New entries do not shift the pages.
        """
        return SessionsResponse(self._call("sessions", {"page": page, "limit": limit, "collection":
            collection, "status": status, "outcome": outcome, "robot": robot, "task": task, "words": words,
            "after": after, "before": before, "sort": sort, "cursor": cursor}))

    def session(self, session_id: str) -> SessionResponse:
        """Return one episode: its context, outcome and summary, the memories that were recalled for it and
        which of them helped, and the sample counts of its streams.

        Args:
            session_id: The episode.
        """
        return SessionResponse(self._call("session", {"session_id": session_id}))

    def session_memories(
        self,
        session_id: str,
        *,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ListResponse:
        """Return the memories of an episode in time order.

        Args:
            session_id: The episode.
            page: Page number, from 1.
            limit: Memories per page, 1 to 1,000.
            cursor: The value of next from the previous page. New entries do not shift the pages.
        """
        return ListResponse(self._call("session_memories", {"session_id": session_id, "page": page, "limit":
            limit, "cursor": cursor}))

    def collections(self) -> CollectionsResponse:
        """Count the memories of every collection."""
        return CollectionsResponse(self._call("collections", {}))

    def categories(self, *, collection: str | None = None) -> CategoriesResponse:
        """Count the active memories of every category.

        Args:
            collection: Namespace. Default: all.
        """
        return CategoriesResponse(self._call("categories", {"collection": collection}))

    def paths(
        self,
        *,
        collection: str | None = None,
        path: str | None = None,
        prefix: str | None = None,
    ) -> PathsResponse:
        """List the context paths of the active memories, with types, ranges and units; for a single path also
        its values. Use it to build a context_filter.

        Args:
            collection: Namespace. Default: all.
            path: Only this path, with its most frequent values.
            prefix: Only paths that begin with this text, such as params.
        """
        return PathsResponse(self._call("paths", {"collection": collection, "path": path, "prefix": prefix}))

    def places(
        self,
        *,
        collection: str | None = None,
        field: str | None = None,
        frame_id: str | None = None,
        map_id: str | None = None,
        type: Literal["fact", "perception", "document"] | None = None,
        category: str | None = None,
        session_id: str | None = None,
        after: Time | None = None,
        before: Time | None = None,
        context_filter: Object | str | Sequence[str] | None = None,
        where: str | Sequence[str] | None = None,
        min: Sequence[float] | None = None,
        max: Sequence[float] | None = None,
        limit: int | None = None,
        grid: int | None = None,
    ) -> PlacesResponse:
        """List the context paths that hold coordinates and, for one of them, its points and a grid of counts
        and outcomes, for a map of the active memories. Takes the filters of recall.

        Args:
            collection: Namespace. Default: all.
            field: Context path of the coordinates, such as spatial.object_position. Without it the response
                contains only fields.
            frame_id: Only coordinates of this frame.
            map_id: Only coordinates of this map.
            type: Only facts, perceptions or documents.
            category: Only this category.
            session_id: Only memories of this episode.
            after: Only memories observed at or after this time (RFC 3339).
            before: Only memories observed before this time (RFC 3339).
            context_filter: Filter over context paths, as in recall.
            where: context_filter in short: "params.grip_force<15N", or a list of such conditions that must
                all hold.
            min: [x, y]: lower bounds, in the unit of the coordinates.
            max: [x, y]: upper bounds, in the unit of the coordinates.
            limit: Largest number of points, 1 to 20,000. If there are more, the response has an even sample.
            grid: Also count memories in square cells. This is the number of cells along the longer side, up
                to 256; 0 for none.
        """
        return PlacesResponse(self._call("places", {"collection": collection, "field": field, "frame_id":
            frame_id, "map_id": map_id, "type": type, "category": category, "session_id": session_id, "after":
            after, "before": before, "context_filter": context_filter, "where": where, "min": min, "max": max,
            "limit": limit, "grid": grid}))

    def recent_failures(
        self,
        *,
        collection: str | None = None,
        limit: int | None = None,
        days: int | None = None,
    ) -> ListResponse:
        """Return recent failures: postmortems, gotchas and facts with task.success false, newest first.

        Args:
            collection: Namespace. Default: all.
            limit: Largest number, 1 to 1,000.
            days: Only failures within this number of days; 0 for all.
        """
        return ListResponse(self._call("recent_failures", {"collection": collection, "limit": limit, "days":
            days}))

    def incidents(
        self,
        *,
        collection: str | None = None,
        robot: str | None = None,
        task: str | None = None,
        words: str | None = None,
        session_id: str | None = None,
        memory_id: int | None = None,
        group: str | None = None,
        resolved: bool | None = None,
        after: Time | None = None,
        before: Time | None = None,
        sort: Literal["time", "episodes", "repeats", "robot", "task", "place"] | None = None,
        page: int | None = None,
        limit: int | None = None,
    ) -> IncidentsResponse:
        """Return the episodes that failed, and failed memories outside of them: robot, task, place, what was
        said, the perception that shows it, how often it happened before, and the fact that resolves it. To
        resolve one, learn the lesson with {"resolves":{"session_id":"…"}} (or memory_id, or group) in its
        context.

        Args:
            collection: Namespace. Default: all.
            robot: Only of this robot.
            task: Only of this task.
            words: Only those whose text, robot, task or place contains this text, in any case.
            session_id: Only the incident of this episode.
            memory_id: Only the incident that this memory tells of.
            group: Only the incidents of this group.
            resolved: Only resolved or only open ones. Default: both.
            after: Only those at this time or later, RFC 3339.
            before: Only those before this time, RFC 3339.
            sort: time (newest first), episodes (failed episodes first, newest first), repeats (most first),
                robot, task or place.
            page: Page number, from 1.
            limit: Incidents per page, 1 to 200.
        """
        return IncidentsResponse(self._call("incidents", {"collection": collection, "robot": robot, "task":
            task, "words": words, "session_id": session_id, "memory_id": memory_id, "group": group,
            "resolved": resolved, "after": after, "before": before, "sort": sort, "page": page, "limit":
            limit}))

    def stats(self) -> StatsResponse:
        """Count the stored memories, sessions and bytes, and the recalls."""
        return StatsResponse(self._call("stats", {}))

    def activity(
        self,
        *,
        collection: str | None = None,
        days: int | None = None,
        bucket: Literal["hour", "day"] | None = None,
    ) -> ActivityResponse:
        """Count stored memories, failures and recalls per hour or day.

        Args:
            collection: Namespace. Default: all. Recalls over all collections are counted only for *.
            days: Number of days, including today, 1 to 3,650.
            bucket: hour or day, in UTC. Default: hour for up to 7 days, else day. hour allows at most 92
                days.
        """
        return ActivityResponse(self._call("activity", {"collection": collection, "days": days, "bucket":
            bucket}))

    def changes(self, *, since: int | None = None, wait_ms: int | None = None) -> ChangesResponse:
        """Wait for a change by any process. It returns immediately if the change counter differs from since;
        otherwise it returns at the next change or after wait_ms.

        Args:
            since: The change of an earlier response. Without it the current value is returned immediately.
            wait_ms: Longest wait for a change in milliseconds, 0 to 60,000.
        """
        return ChangesResponse(self._call("changes", {"since": since, "wait_ms": wait_ms}))

    def doctor(self, *, deep: bool | None = None) -> DoctorResponse:
        """Check the node: file, index sync, zero-hit rate, sizes, embedder and backlog. Each finding names
        its remedy.

        Args:
            deep: Read all payloads and verify their checksums. Without it each check-up reads up to 256 MiB,
                and the next one continues with other payloads.
        """
        return DoctorResponse(self._call("doctor", {"deep": deep}))

    def retain(
        self,
        *,
        budgets: Sequence[Budget] | None = None,
        min_free_bytes: int | None = None,
        apply: bool | None = None,
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
        return RetainResponse(self._call("retain", {"budgets": budgets, "min_free_bytes": min_free_bytes,
            "apply": apply}))

    def audit(
        self,
        *,
        memory_id: int | None = None,
        collection: str | None = None,
        who: str | None = None,
        action: Literal["created", "updated", "forgotten", "restored", "pinned", "unpinned", "superseded", "evicted", "purged", "ended", "repaired", "imported", "promoted", "demoted", "granted", "revoked"] | None = None,
        after: Time | None = None,
        before: Time | None = None,
        limit: int | None = None,
        cursor: str | None = None,
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
        return AuditResponse(self._call("audit", {"memory_id": memory_id, "collection": collection, "who":
            who, "action": action, "after": after, "before": before, "limit": limit, "cursor": cursor}))

    def repair(self) -> RepairResponse:
        """Rebuild every index from the tables."""
        return RepairResponse(self._call("repair", {}))


class AsyncOperations:
    """A method for each operation of a node, for asyncio."""

    async def _call(self, op: str, fields: Object) -> Any:
        raise NotImplementedError

    async def _upload(self, op: str, payload: BinaryIO, fields: Object) -> Any:
        raise NotImplementedError

    async def learn(
        self,
        insight: str,
        *,
        context: Object | None = None,
        collection: str | None = None,
        session_id: str | None = None,
        tags: Sequence[str] | None = None,
        observed_at: Time | None = None,
        pinned: bool | None = None,
        outcome: Literal["success", "failure", "partial", "unknown"] | None = None,
        source: str | None = None,
        supersedes: int | None = None,
        request_id: str | None = None,
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
            supersedes: The memory_id of an active memory of the same collection that this fact replaces: it
                is no longer recalled, the history keeps it, and restore brings it back.
            request_id: A name of this call, up to 128 characters, such as a UUID. A call that is repeated
                with it, because its answer was lost, gets the same answer and stores nothing again. The last
                100,000 of the last 7 days are known.
        """
        return LearnResponse(await self._call("learn", {"insight": insight, "context": context, "collection":
            collection, "session_id": session_id, "tags": tags, "observed_at": observed_at, "pinned": pinned,
            "outcome": outcome, "source": source, "supersedes": supersedes, "request_id": request_id}))

    async def learn_batch(
        self,
        items: Sequence[LearnRequest],
        *,
        keep_duplicates: bool | None = None,
    ) -> LearnBatchResponse:
        """Store up to 10,000 facts in one call. Results are in the order of the items. An invalid item does
        not stop the others.

        Args:
            items: 1 to 10,000 learn requests.
            keep_duplicates: Store every item, including duplicates of known facts.
        """
        return LearnBatchResponse(await self._call("learn_batch", {"items": items, "keep_duplicates":
            keep_duplicates}))

    async def recall(
        self,
        query: str | None = None,
        *,
        collection: str | None = None,
        n: int | None = None,
        min_confidence: float | None = None,
        session_id: str | None = None,
        for_session: str | None = None,
        context_filter: Object | str | Sequence[str] | None = None,
        where: str | Sequence[str] | None = None,
        spatial_sort: SpatialSort | None = None,
        after: Time | None = None,
        before: Time | None = None,
        as_of: Time | None = None,
        parse_time: bool | None = None,
        type: Literal["fact", "perception", "document"] | None = None,
        perception_type: Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"] | None = None,
        category: str | None = None,
        tags: Sequence[str] | None = None,
        entity: str | None = None,
        like: Like | None = None,
        diversity: float | None = None,
        surprise: int | None = None,
        min_relevance: float | None = None,
        deadline_ms: int | None = None,
        scope: Literal["local", "fleet", "both"] | None = None,
        explain: bool | None = None,
        context_window: int | None = None,
        detail: Literal["ids", "compact", "full"] | None = None,
        max_tokens: int | None = None,
        as_you_type: bool | None = None,
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
            where: context_filter in short: "params.grip_force<15N", or a list of such conditions that must
                all hold.
            spatial_sort: Nearest first: {"field":"spatial.position","target":[x,y,z],"max_distance":1.5}.
                "mode":"fused" ranks by words too; frame_id, map_id.
            after: Only memories observed at or after this time (RFC 3339).
            before: Only memories observed before this time (RFC 3339).
            as_of: Search the state of the memory at this past time (RFC 3339).
            parse_time: Read time words in the query (yesterday, last week, before the crash at 14:05, 昨天)
                as after and before; times in the response shows how. false: they are words.
            type: Only facts, perceptions or documents.
            perception_type: Only perceptions of this type.
            category: Only this category.
            tags: Only memories with all of these tags.
            entity: Only memories that name this robot, object, place, part or person, in any spelling or by
                another of its names (see about).
            like: Find perceptions similar to this one, or facts that mean the same: {"memory_id":7} or
                {"data_base64":"…","media_type":"text/csv"}.
            diversity: 0 ranks by score only; larger values avoid similar results; at most 1.
            surprise: Also return up to so many memories in surprising that are tied to the answers and not to
                the words of the question, 0 to 10.
            min_relevance: Lowest relevance on the absolute scale, 0 to 1.
            deadline_ms: Return the results that are ready after this many milliseconds. 0 means no limit.
            scope: Where to look: local (this memory; the default), fleet (the site that this memory has
                joined) or both.
            explain: Report how many memories each stage kept and how each memory was found.
            context_window: Add the texts of so many memories before and after in the same episode, 0 to 3.
            detail: ids, compact (one line for each memory) or full. Default: full; over MCP compact.
            max_tokens: Largest size of the answer in tokens, at least 100; more counts the memories that do
                not fit.
            as_you_type: Treat the last word of the query as a prefix, unless a space follows it. Words with
                this prefix match with a lower weight than the word itself. The statistics do not count such a
                recall.
        """
        return RecallResponse(await self._call("recall", {"query": query, "collection": collection, "n": n,
            "min_confidence": min_confidence, "session_id": session_id, "for_session": for_session,
            "context_filter": context_filter, "where": where, "spatial_sort": spatial_sort, "after": after,
            "before": before, "as_of": as_of, "parse_time": parse_time, "type": type, "perception_type":
            perception_type, "category": category, "tags": tags, "entity": entity, "like": like, "diversity":
            diversity, "surprise": surprise, "min_relevance": min_relevance, "deadline_ms": deadline_ms,
            "scope": scope, "explain": explain, "context_window": context_window, "detail": detail,
            "max_tokens": max_tokens, "as_you_type": as_you_type}))

    async def search(
        self,
        q: str,
        *,
        collection: str | None = None,
        top_k: int | None = None,
        parse_time: bool | None = None,
        explain: bool | None = None,
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
        return RecallResponse(await self._call("search", {"q": q, "collection": collection, "top_k": top_k,
            "parse_time": parse_time, "explain": explain}))

    async def advise(
        self,
        query: str | None = None,
        *,
        task: str | None = None,
        collection: str | None = None,
        context_filter: Object | str | Sequence[str] | None = None,
        where: str | Sequence[str] | None = None,
        given: Object | None = None,
        after: Time | None = None,
        before: Time | None = None,
        spatial_sort: SpatialSort | None = None,
        parameters: Sequence[str] | None = None,
        goal: str | None = None,
        n_min: int | None = None,
        explore: bool | None = None,
        scope: Literal["local", "fleet", "both"] | None = None,
        seed: int | None = None,
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
            where: context_filter in short: "params.grip_force<15N", or a list of such conditions that must
                all hold.
            given: States that you cannot choose, by context path: {"tool.edges":450}. Attempts weigh by how
                near their numbers are; texts and truth values must be equal. Such paths are not advised.
            after: Only attempts observed at or after this time (RFC 3339).
            before: Only attempts observed before this time (RFC 3339).
            spatial_sort: Attempts near this place weigh more; those beyond max_distance do not count.
            parameters: Context paths to advise on, such as params.grip_force, in any spelling (gripForce).
                Default: those below params.
            goal: success, near (how near spatial_sort an attempt ended, whatever its outcome), or a context
                path with a number: task.score to maximise it, -task.duration_s to minimise it.
            n_min: Fewest attempts for a suggestion.
            explore: Suggest a Thompson sample: mostly what worked, sometimes what has been tried little. For
                repeated attempts that may fail.
            scope: Whose attempts count: local (this memory; the default), fleet (the site that this memory
                has joined) or both (the site's if it answers, else this memory's).
            seed: Makes explore repeatable. 0: a new sample each time.
        """
        return AdviseResponse(await self._call("advise", {"query": query, "task": task, "collection":
            collection, "context_filter": context_filter, "where": where, "given": given, "after": after,
            "before": before, "spatial_sort": spatial_sort, "parameters": parameters, "goal": goal, "n_min":
            n_min, "explore": explore, "scope": scope, "seed": seed}))

    async def aggregate(
        self,
        *,
        collection: str | None = None,
        context_filter: Object | str | Sequence[str] | None = None,
        where: str | Sequence[str] | None = None,
        group_by: Sequence[str] | None = None,
        after: Time | None = None,
        before: Time | None = None,
        limit: int | None = None,
    ) -> AggregateResponse:
        """Count memories exactly by group and outcome: how often did corridor B fail.

        Args:
            collection: Namespace; * for all.
            context_filter: Only memories that match, as in recall.
            where: context_filter in short: "params.grip_force<15N", or a list of such conditions that must
                all hold.
            group_by: Up to 4 context paths, or of collection, category, type, perception_type, session_id,
                outcome, day. Without it there is one group.
            after: Only memories observed at or after this time (RFC 3339).
            before: Only memories observed before this time (RFC 3339).
            limit: Largest number of groups, 1 to 1,000.
        """
        return AggregateResponse(await self._call("aggregate", {"collection": collection, "context_filter":
            context_filter, "where": where, "group_by": group_by, "after": after, "before": before, "limit":
            limit}))

    async def about(
        self,
        subject: str | None = None,
        *,
        collection: str | None = None,
        n: int | None = None,
    ) -> AboutResponse:
        """Return what is known of a robot, object, place, part or person by its name: current values, rules,
        what worked and failed in counts, where it was seen last, with the memory ids as evidence. Example:
        {"subject":"gripper 3"}.

        Args:
            subject: Its name in any spelling (gripper 3, Gripper-3), or one of its other names. Without it
                the answer lists the subjects.
            collection: Namespace. Default: all.
            n: Lines of each part, 1 to 50.
        """
        return AboutResponse(await self._call("about", {"subject": subject, "collection": collection, "n":
            n}))

    async def attempt(
        self,
        goal: str,
        *,
        collection: str | None = None,
        criteria: Sequence[str] | None = None,
        changed: str | None = None,
        result: str | None = None,
        exit_status: int | None = None,
        checks: Object | None = None,
        outcome: Literal["success", "failure", "partial", "unknown"] | None = None,
        progress: float | None = None,
        context: Object | None = None,
        verdict: Literal["success", "failure", "partial", "unknown"] | None = None,
    ) -> AttemptResponse:
        """Record a try at a goal that may take several. Ask with changed alone before a try: the answer says
        whether it was tried, and after three tries without progress what all were. It continues the open
        attempt at the goal, also in a later session. Example: {"goal":"the arm picks the wet
        glass","changed":"grip_force 12.5 N","result":"slipped at 5 cm","outcome":"failure"}.

        Args:
            goal: What is to be reached, up to 1,024 bytes. The open attempt at this goal is continued, else
                one begins.
            collection: Namespace of the attempt and of its tries.
            criteria: When the goal is reached, each in words or as a command that you run. They are set when
                the attempt begins.
            changed: What this try changes. Alone it stores nothing and begins nothing: the answer says
                whether it was tried before.
            result: What came out of the try.
            exit_status: Exit status of the command that checks the goal: 0 is a success. The node runs no
                commands.
            checks: Instead of exit_status, for several criteria: the exit status of each, or true or false,
                by its text or its number from 1: {"1":0,"2":1}.
            outcome: How the try went. Default: by exit_status, checks or the context (task.success), else
                unknown. It is not read from result.
            progress: How much of the goal the try reached, 0 to 1. Default: the share of checks that are met.
            context: Parameters, place and robot of the try, as in learn.
            verdict: Ends the attempt with this outcome. A try that is stated to succeed ends it by itself.
        """
        return AttemptResponse(await self._call("attempt", {"goal": goal, "collection": collection,
            "criteria": criteria, "changed": changed, "result": result, "exit_status": exit_status, "checks":
            checks, "outcome": outcome, "progress": progress, "context": context, "verdict": verdict}))

    async def save_perception(
        self,
        description: str,
        *,
        perception_type: Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"] | None = None,
        data: Data = None,
        data_base64: Bytes | None = None,
        path: str | None = None,
        media_type: str | None = None,
        metadata: Object | None = None,
        context: Object | None = None,
        collection: str | None = None,
        session_id: str | None = None,
        observed_at: Time | None = None,
        source: str | None = None,
        origin: str | None = None,
        request_id: str | None = None,
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
            request_id: A name of this call, up to 128 characters, such as a UUID. A call that is repeated
                with it, because its answer was lost, gets the same answer and stores nothing again. The last
                100,000 of the last 7 days are known.
        """
        return SavePerceptionResponse(await self._call("save_perception", {"description": description,
            "perception_type": perception_type, "data": data, "data_base64": data_base64, "path": path,
            "media_type": media_type, "metadata": metadata, "context": context, "collection": collection,
            "session_id": session_id, "observed_at": observed_at, "source": source, "origin": origin,
            "request_id": request_id}))

    async def save_perception_from(
        self,
        payload: BinaryIO,
        description: str,
        *,
        perception_type: Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"] | None = None,
        data: Data = None,
        data_base64: Bytes | None = None,
        path: str | None = None,
        media_type: str | None = None,
        metadata: Object | None = None,
        context: Object | None = None,
        collection: str | None = None,
        session_id: str | None = None,
        observed_at: Time | None = None,
        source: str | None = None,
        origin: str | None = None,
        request_id: str | None = None,
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
            request_id: A name of this call, up to 128 characters, such as a UUID. A call that is repeated
                with it, because its answer was lost, gets the same answer and stores nothing again. The last
                100,000 of the last 7 days are known.
        """
        return SavePerceptionResponse(await self._upload("save_perception", payload, {"description":
            description, "perception_type": perception_type, "data": data, "data_base64": data_base64, "path":
            path, "media_type": media_type, "metadata": metadata, "context": context, "collection":
            collection, "session_id": session_id, "observed_at": observed_at, "source": source, "origin":
            origin, "request_id": request_id}))

    async def save_document(
        self,
        name: str,
        sha256: str,
        passages: Sequence[DocumentPassage],
        *,
        media_type: str | None = None,
        title: str | None = None,
        pages: int | None = None,
        context: Object | None = None,
        collection: str | None = None,
    ) -> SaveDocumentResponse:
        """Store the text of a manual or another document as passages with page and section. The same name
        with the same sha256 stores nothing. With another sha256, passages that did not change keep their
        memory_id, new ones are added, and those that are gone are forgotten. All of it is stored or nothing.
        recall finds the passages with type document.

        Args:
            name: The name of the document in its collection, such as manual.pdf; up to 512 characters. Saving
                another text under it replaces the document.
            sha256: SHA-256 of the file, in hexadecimal digits. If the document was made of the same file,
                nothing is stored.
            media_type: Its media type.
            title: Its title, up to 256 characters.
            pages: How many pages it has; 0 if it has none.
            passages: 1 to 20,000 passages, in their order.
            context: JSON object for every passage, such as {"robot":{"model":"X7"}}. The section document is
                written by the node.
            collection: Namespace.
        """
        return SaveDocumentResponse(await self._call("save_document", {"name": name, "sha256": sha256,
            "media_type": media_type, "title": title, "pages": pages, "passages": passages, "context":
            context, "collection": collection}))

    async def documents(self, *, collection: str | None = None) -> DocumentsResponse:
        """List the documents with their title, hash, pages and passages.

        Args:
            collection: Namespace. Default: all.
        """
        return DocumentsResponse(await self._call("documents", {"collection": collection}))

    async def remove_document(
        self,
        name: str,
        *,
        reason: str | None = None,
        collection: str | None = None,
    ) -> RemoveDocumentResponse:
        """Forget all passages of a document. The history keeps them.

        Args:
            name: The name of the document.
            reason: Why, up to 1,000 characters. The audit log keeps the reason.
            collection: Namespace.
        """
        return RemoveDocumentResponse(await self._call("remove_document", {"name": name, "reason": reason,
            "collection": collection}))

    async def forget(self, memory_id: int | str, reason: str, *, purge: bool | None = None) -> ForgetResponse:
        """Remove a misleading memory from recall when update cannot correct it. The history keeps it, and
        restore undoes it. Example: {"memory_id":7,"reason":"the force sensor was not calibrated"}.

        Args:
            memory_id: The memory, by its memory_id or uid.
            reason: Why it is wrong, up to 1,000 characters. The audit log keeps the reason.
            purge: Delete the memory permanently: text, context, all versions, indexes, vectors, payload and
                the old pages of the file. This cannot be undone. The audit log keeps the reason, so the
                reason must not repeat the text.
        """
        return ForgetResponse(await self._call("forget", {"memory_id": memory_id, "reason": reason, "purge":
            purge}))

    async def restore(self, memory_id: int | str) -> RestoreResponse:
        """Make a forgotten or superseded memory active again.

        Args:
            memory_id: The memory, by its memory_id or uid.
        """
        return RestoreResponse(await self._call("restore", {"memory_id": memory_id}))

    async def update(
        self,
        memory_id: int | str,
        new_content: str,
        *,
        context: Object | None = None,
    ) -> UpdateResponse:
        """Replace the text of a wrong or incomplete memory and keep its id; use learn for an additional fact.
        The history keeps the old text, which is no longer recalled. Example:
        {"memory_id":7,"new_content":"grip_force=13 N holds wet glass"}.

        Args:
            memory_id: The memory, by its memory_id or uid; its id does not change.
            new_content: The new text, 1 byte to 16 KiB, stored unchanged.
            context: A new context. Default: keep the old one.
        """
        return UpdateResponse(await self._call("update", {"memory_id": memory_id, "new_content": new_content,
            "context": context}))

    async def pin(self, memory_id: int | str, *, pinned: bool | None = None) -> PinResponse:
        """Protect a memory from decay and from merging. With pinned false, remove the protection: the
        confidence then decays from now on at the rate of the category.

        Args:
            memory_id: The memory, by its memory_id or uid.
            pinned: true to pin, false to unpin.
        """
        return PinResponse(await self._call("pin", {"memory_id": memory_id, "pinned": pinned}))

    async def start_session(
        self,
        *,
        collection: str | None = None,
        context: Object | None = None,
        session_id: str | None = None,
        goal: str | None = None,
        origin: str | None = None,
        started_at: Time | None = None,
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
            goal: A goal to reach in several tries: the open attempt at it is continued, else one begins (see
                attempt).
            origin: Identifier of the episode in its source, up to 256 characters. It is unique in a
                collection: starting the same origin again returns the existing session.
            started_at: When it began, for an episode that is stored later. Default: now; if all of its
                memories were observed earlier, end_session takes the time of the first.
        """
        return StartSessionResponse(await self._call("start_session", {"collection": collection, "context":
            context, "session_id": session_id, "goal": goal, "origin": origin, "started_at": started_at}))

    async def end_session(
        self,
        session_id: str,
        *,
        outcome_score: float | None = None,
        outcome: Literal["success", "failure", "partial", "unknown"] | None = None,
        used_memory_ids: Sequence[int] | None = None,
        memory_scores: Object | None = None,
        ended_at: Time | None = None,
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
            ended_at: When it ended, for an episode that is stored later; not before it began. Default: now;
                if all of its memories were observed before it was started, the time of the last.
        """
        return EndSessionResponse(await self._call("end_session", {"session_id": session_id, "outcome_score":
            outcome_score, "outcome": outcome, "used_memory_ids": used_memory_ids, "memory_scores":
            memory_scores, "ended_at": ended_at}))

    async def get(self, memory_id: int | str) -> StoredMemory:
        """Return one complete memory of any status: text, context, tags, confidence, provenance. Example:
        {"memory_id":7}.

        Args:
            memory_id: The memory, by its memory_id or uid.
        """
        return StoredMemory(await self._call("get", {"memory_id": memory_id}))

    async def timeline(
        self,
        memory_id: int | str,
        *,
        before: int | None = None,
        after: int | None = None,
    ) -> TimelineResponse:
        """Return the memories before and after a memory, in order of time: of its episode, else of its robot
        or collection. Example: {"memory_id":7,"before":3,"after":3}.

        Args:
            memory_id: The memory, by its memory_id or uid.
            before: Memories before it, 0 to 50.
            after: Memories after it, 0 to 50.
        """
        return TimelineResponse(await self._call("timeline", {"memory_id": memory_id, "before": before,
            "after": after}))

    async def data(self, memory_id: int | str) -> DataResponse:
        """Return the bytes of a perception as they were saved.

        Args:
            memory_id: The memory, by its memory_id or uid.
        """
        return DataResponse(await self._call("data", {"memory_id": memory_id}))

    async def preview(
        self,
        memory_id: int | str,
        *,
        width: int | None = None,
        height: int | None = None,
    ) -> PreviewResponse:
        """Return a picture of a perception: an image, a plot of a trace, a spectrogram, or a top view of
        points or a trajectory. Example: {"memory_id":7,"width":640}.

        Args:
            memory_id: The perception, by its memory_id or uid.
            width: Largest width in pixels, 16 to 4,096.
            height: Largest height in pixels, 16 to 4,096.
        """
        return PreviewResponse(await self._call("preview", {"memory_id": memory_id, "width": width, "height":
            height}))

    async def samples(
        self,
        memory_id: int | str,
        *,
        from_: float | None = None,
        to: float | None = None,
        points: int | None = None,
        trace: bool | None = None,
    ) -> SamplesResponse:
        """Return the numbers of a force trace, joint states, a sound, a point cloud, a trajectory or a laser
        scan, for a plot. Returns all samples between from and to if there are at most points of them.
        Otherwise it returns the minimum and maximum of equal buckets, so that peaks are kept, and an even
        sample of the points of a cloud.

        Args:
            memory_id: The perception, by its memory_id or uid.
            from_: First sample: in seconds since the first sample of the perception, or as a sample number
                from 0 if the rate is unknown. For a recording of scans it selects the first sweep at or after
                this time. A point cloud or a single scan has no time.
            to: Last sample, in the same unit as from.
            points: Largest number of entries, 16 to 200,000. Default: 2,000 for traces and sounds, 50,000 for
                points. More than ten channels share about 2,000,000 readings.
            trace: Return the numbers of recorded messages as a trace, also of messages with a pose or a scan.
        """
        return SamplesResponse(await self._call("samples", {"memory_id": memory_id, "from": from_, "to": to,
            "points": points, "trace": trace}))

    async def history(self, memory_id: int | str) -> HistoryResponse:
        """Return all versions of a memory, oldest first.

        Args:
            memory_id: The memory, by its memory_id or uid.
        """
        return HistoryResponse(await self._call("history", {"memory_id": memory_id}))

    async def list(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        before_id: int | None = None,
        collection: str | None = None,
        type: Literal["fact", "perception", "document"] | None = None,
        category: str | None = None,
        status: Literal["active", "superseded", "invalidated", "all"] | None = None,
        confidence_min: float | None = None,
        confidence_max: float | None = None,
        days: int | None = None,
        perception_type: Literal["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"] | None = None,
        session_id: str | None = None,
        tags: Sequence[str] | None = None,
        context_filter: Object | str | Sequence[str] | None = None,
        where: str | Sequence[str] | None = None,
        cursor: str | None = None,
    ) -> ListResponse:
        """Page through memories, newest first.

        Args:
            page: Page number, from 1.
            limit: Memories per page, 1 to 1,000.
            before_id: Only memories with a smaller id. Pass the last id of a page to get the next one; new
                memories do not shift the pages.
            collection: Namespace. Default: all.
            type: Only facts, perceptions or documents.
            category: Only this category.
            status: active, superseded, invalidated or all.
            confidence_min: Lowest stored confidence.
            confidence_max: Highest stored confidence.
            days: Only memories created within this number of days; 0 for all.
            perception_type: Only perceptions of this type.
            session_id: Only memories of this episode.
            tags: Only memories with all of these tags.
            context_filter: Filter over context paths, as in recall.
            where: context_filter in short: "params.grip_force<15N", or a list of such conditions that must
                all hold.
            cursor: The value of next from the previous page. New entries do not shift the pages.
        """
        return ListResponse(await self._call("list", {"page": page, "limit": limit, "before_id": before_id,
            "collection": collection, "type": type, "category": category, "status": status, "confidence_min":
            confidence_min, "confidence_max": confidence_max, "days": days, "perception_type":
            perception_type, "session_id": session_id, "tags": tags, "context_filter": context_filter,
            "where": where, "cursor": cursor}))

    async def sessions(
        self,
        *,
        page: int | None = None,
        limit: int | None = None,
        collection: str | None = None,
        status: Literal["active", "ended"] | None = None,
        outcome: Literal["success", "failure", "partial", "unknown"] | None = None,
        robot: str | None = None,
        task: str | None = None,
        words: str | None = None,
        after: Time | None = None,
        before: Time | None = None,
        sort: Literal["time", "outcome", "robot", "task", "place"] | None = None,
        cursor: str | None = None,
    ) -> SessionsResponse:
        """Page through episodes, newest first.

        Args:
            page: Page number, from 1.
            limit: Episodes per page, 1 to 1,000.
            collection: Namespace. Default: all.
            status: active or ended. Default: both.
            outcome: Only episodes with this last outcome; unknown for those without one.
            robot: Only of this robot: robot.id, robot.name or robot of the context.
            task: Only of this task: task.name, task.type, task.goal or task of the context of the episode or
                of one of its facts.
            words: Only those whose context, or the text of one of whose facts, contains this text, such as a
                place; A to Z in any case.
            after: Only episodes that began at this time or later, RFC 3339.
            before: Only episodes that began before this time, RFC 3339.
            sort: time (newest first), outcome (worst first), robot, task or place, which is the value of
                spatial. Other orders than time have pages but no next.
            cursor: The value of next from the previous page. New entries do not shift the pages.
        """
        return SessionsResponse(await self._call("sessions", {"page": page, "limit": limit, "collection":
            collection, "status": status, "outcome": outcome, "robot": robot, "task": task, "words": words,
            "after": after, "before": before, "sort": sort, "cursor": cursor}))

    async def session(self, session_id: str) -> SessionResponse:
        """Return one episode: its context, outcome and summary, the memories that were recalled for it and
        which of them helped, and the sample counts of its streams.

        Args:
            session_id: The episode.
        """
        return SessionResponse(await self._call("session", {"session_id": session_id}))

    async def session_memories(
        self,
        session_id: str,
        *,
        page: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ListResponse:
        """Return the memories of an episode in time order.

        Args:
            session_id: The episode.
            page: Page number, from 1.
            limit: Memories per page, 1 to 1,000.
            cursor: The value of next from the previous page. New entries do not shift the pages.
        """
        return ListResponse(await self._call("session_memories", {"session_id": session_id, "page": page,
            "limit": limit, "cursor": cursor}))

    async def collections(self) -> CollectionsResponse:
        """Count the memories of every collection."""
        return CollectionsResponse(await self._call("collections", {}))

    async def categories(self, *, collection: str | None = None) -> CategoriesResponse:
        """Count the active memories of every category.

        Args:
            collection: Namespace. Default: all.
        """
        return CategoriesResponse(await self._call("categories", {"collection": collection}))

    async def paths(
        self,
        *,
        collection: str | None = None,
        path: str | None = None,
        prefix: str | None = None,
    ) -> PathsResponse:
        """List the context paths of the active memories, with types, ranges and units; for a single path also
        its values. Use it to build a context_filter.

        Args:
            collection: Namespace. Default: all.
            path: Only this path, with its most frequent values.
            prefix: Only paths that begin with this text, such as params.
        """
        return PathsResponse(await self._call("paths", {"collection": collection, "path": path, "prefix":
            prefix}))

    async def places(
        self,
        *,
        collection: str | None = None,
        field: str | None = None,
        frame_id: str | None = None,
        map_id: str | None = None,
        type: Literal["fact", "perception", "document"] | None = None,
        category: str | None = None,
        session_id: str | None = None,
        after: Time | None = None,
        before: Time | None = None,
        context_filter: Object | str | Sequence[str] | None = None,
        where: str | Sequence[str] | None = None,
        min: Sequence[float] | None = None,
        max: Sequence[float] | None = None,
        limit: int | None = None,
        grid: int | None = None,
    ) -> PlacesResponse:
        """List the context paths that hold coordinates and, for one of them, its points and a grid of counts
        and outcomes, for a map of the active memories. Takes the filters of recall.

        Args:
            collection: Namespace. Default: all.
            field: Context path of the coordinates, such as spatial.object_position. Without it the response
                contains only fields.
            frame_id: Only coordinates of this frame.
            map_id: Only coordinates of this map.
            type: Only facts, perceptions or documents.
            category: Only this category.
            session_id: Only memories of this episode.
            after: Only memories observed at or after this time (RFC 3339).
            before: Only memories observed before this time (RFC 3339).
            context_filter: Filter over context paths, as in recall.
            where: context_filter in short: "params.grip_force<15N", or a list of such conditions that must
                all hold.
            min: [x, y]: lower bounds, in the unit of the coordinates.
            max: [x, y]: upper bounds, in the unit of the coordinates.
            limit: Largest number of points, 1 to 20,000. If there are more, the response has an even sample.
            grid: Also count memories in square cells. This is the number of cells along the longer side, up
                to 256; 0 for none.
        """
        return PlacesResponse(await self._call("places", {"collection": collection, "field": field,
            "frame_id": frame_id, "map_id": map_id, "type": type, "category": category, "session_id":
            session_id, "after": after, "before": before, "context_filter": context_filter, "where": where,
            "min": min, "max": max, "limit": limit, "grid": grid}))

    async def recent_failures(
        self,
        *,
        collection: str | None = None,
        limit: int | None = None,
        days: int | None = None,
    ) -> ListResponse:
        """Return recent failures: postmortems, gotchas and facts with task.success false, newest first.

        Args:
            collection: Namespace. Default: all.
            limit: Largest number, 1 to 1,000.
            days: Only failures within this number of days; 0 for all.
        """
        return ListResponse(await self._call("recent_failures", {"collection": collection, "limit": limit,
            "days": days}))

    async def incidents(
        self,
        *,
        collection: str | None = None,
        robot: str | None = None,
        task: str | None = None,
        words: str | None = None,
        session_id: str | None = None,
        memory_id: int | None = None,
        group: str | None = None,
        resolved: bool | None = None,
        after: Time | None = None,
        before: Time | None = None,
        sort: Literal["time", "episodes", "repeats", "robot", "task", "place"] | None = None,
        page: int | None = None,
        limit: int | None = None,
    ) -> IncidentsResponse:
        """Return the episodes that failed, and failed memories outside of them: robot, task, place, what was
        said, the perception that shows it, how often it happened before, and the fact that resolves it. To
        resolve one, learn the lesson with {"resolves":{"session_id":"…"}} (or memory_id, or group) in its
        context.

        Args:
            collection: Namespace. Default: all.
            robot: Only of this robot.
            task: Only of this task.
            words: Only those whose text, robot, task or place contains this text, in any case.
            session_id: Only the incident of this episode.
            memory_id: Only the incident that this memory tells of.
            group: Only the incidents of this group.
            resolved: Only resolved or only open ones. Default: both.
            after: Only those at this time or later, RFC 3339.
            before: Only those before this time, RFC 3339.
            sort: time (newest first), episodes (failed episodes first, newest first), repeats (most first),
                robot, task or place.
            page: Page number, from 1.
            limit: Incidents per page, 1 to 200.
        """
        return IncidentsResponse(await self._call("incidents", {"collection": collection, "robot": robot,
            "task": task, "words": words, "session_id": session_id, "memory_id": memory_id, "group": group,
            "resolved": resolved, "after": after, "before": before, "sort": sort, "page": page, "limit":
            limit}))

    async def stats(self) -> StatsResponse:
        """Count the stored memories, sessions and bytes, and the recalls."""
        return StatsResponse(await self._call("stats", {}))

    async def activity(
        self,
        *,
        collection: str | None = None,
        days: int | None = None,
        bucket: Literal["hour", "day"] | None = None,
    ) -> ActivityResponse:
        """Count stored memories, failures and recalls per hour or day.

        Args:
            collection: Namespace. Default: all. Recalls over all collections are counted only for *.
            days: Number of days, including today, 1 to 3,650.
            bucket: hour or day, in UTC. Default: hour for up to 7 days, else day. hour allows at most 92
                days.
        """
        return ActivityResponse(await self._call("activity", {"collection": collection, "days": days,
            "bucket": bucket}))

    async def changes(self, *, since: int | None = None, wait_ms: int | None = None) -> ChangesResponse:
        """Wait for a change by any process. It returns immediately if the change counter differs from since;
        otherwise it returns at the next change or after wait_ms.

        Args:
            since: The change of an earlier response. Without it the current value is returned immediately.
            wait_ms: Longest wait for a change in milliseconds, 0 to 60,000.
        """
        return ChangesResponse(await self._call("changes", {"since": since, "wait_ms": wait_ms}))

    async def doctor(self, *, deep: bool | None = None) -> DoctorResponse:
        """Check the node: file, index sync, zero-hit rate, sizes, embedder and backlog. Each finding names
        its remedy.

        Args:
            deep: Read all payloads and verify their checksums. Without it each check-up reads up to 256 MiB,
                and the next one continues with other payloads.
        """
        return DoctorResponse(await self._call("doctor", {"deep": deep}))

    async def retain(
        self,
        *,
        budgets: Sequence[Budget] | None = None,
        min_free_bytes: int | None = None,
        apply: bool | None = None,
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
        return RetainResponse(await self._call("retain", {"budgets": budgets, "min_free_bytes":
            min_free_bytes, "apply": apply}))

    async def audit(
        self,
        *,
        memory_id: int | None = None,
        collection: str | None = None,
        who: str | None = None,
        action: Literal["created", "updated", "forgotten", "restored", "pinned", "unpinned", "superseded", "evicted", "purged", "ended", "repaired", "imported", "promoted", "demoted", "granted", "revoked"] | None = None,
        after: Time | None = None,
        before: Time | None = None,
        limit: int | None = None,
        cursor: str | None = None,
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
        return AuditResponse(await self._call("audit", {"memory_id": memory_id, "collection": collection,
            "who": who, "action": action, "after": after, "before": before, "limit": limit, "cursor":
            cursor}))

    async def repair(self) -> RepairResponse:
        """Rebuild every index from the tables."""
        return RepairResponse(await self._call("repair", {}))
