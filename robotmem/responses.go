package robotmem

import "time"

// Memory is one stored item, as Get answers it. In a recall the fields of the
// second group say how it was found.
type Memory struct {
	MemoryID   int64    `json:"memory_id"`
	UID        string   `json:"uid"`
	Type       string   `json:"type"`
	Content    string   `json:"content"`
	Summary    string   `json:"summary"`
	Category   string   `json:"category"`
	Tags       []string `json:"tags"`
	UserTags   []string `json:"user_tags,omitempty" doc:"Those of the tags that a caller gave."`
	Confidence float64  `json:"confidence" doc:"0 to 1, as it stands now."`

	Score     *float64    `json:"score,omitempty" doc:"Best = 1.0."`
	Relevance *float64    `json:"relevance,omitempty" doc:"Absolute, 0 to 1: how likely it answers the question."`
	Distance  *float64    `json:"distance,omitempty" doc:"To the target, in the unit of the coordinates."`
	Found     []ListEntry `json:"found,omitempty" doc:"With explain: its place in every ranked list."`

	Context Object `json:"context,omitempty"`
	Params  any    `json:"params,omitempty"`
	Spatial any    `json:"spatial,omitempty"`
	Robot   any    `json:"robot,omitempty"`
	Task    any    `json:"task,omitempty"`
	Env     any    `json:"env,omitempty"`

	SessionID  string    `json:"session_id,omitempty"`
	Collection string    `json:"collection"`
	CreatedAt  time.Time `json:"created_at"`
	ObservedAt time.Time `json:"observed_at"`

	PerceptionType string `json:"perception_type,omitempty"`
	MediaType      string `json:"media_type,omitempty"`
	DataURI        string `json:"data_uri,omitempty"`
	Metadata       Object `json:"metadata,omitempty"`
	Bytes          int64  `json:"bytes,omitempty"`
	SHA256         string `json:"sha256,omitempty"`

	Status       string `json:"status,omitempty"`
	SupersededBy int64  `json:"superseded_by,omitempty"`
	// Conflicts is answered by Get alone.
	Conflicts    []ConflictWith `json:"conflicts,omitempty" doc:"With get: active facts of the same collection and context that say otherwise, newest first, at most 5."`
	Version      int            `json:"version,omitempty"`
	Pinned       bool           `json:"pinned,omitempty"`
	Source       string         `json:"source,omitempty"`
	Provenance   *Provenance    `json:"provenance,omitempty" doc:"Who stored it, beside its source and session_id. Absent of what was stored before schema version 5."`
	Sightings    int            `json:"sightings,omitempty"`
	AccessCount  int            `json:"access_count,omitempty"`
	ReturnCount  int            `json:"return_count,omitempty"`
	DecayRate    float64        `json:"decay_rate,omitempty" doc:"A day."`
	LastAccessed *time.Time     `json:"last_accessed,omitempty"`
	UpdatedAt    *time.Time     `json:"updated_at,omitempty"`
	ScopeFiles   []string       `json:"scope_files,omitempty"`
	ScopeEntity  []string       `json:"scope_entities,omitempty"`
}

// Provenance is where a memory comes from.
type Provenance struct {
	Robot string `json:"robot,omitempty" doc:"The robot that its context or its session names."`
	Tool  string `json:"tool,omitempty" doc:"The face it came through and the program behind it as it calls itself: mcp claude-code/2.0.1, rest curl/8.5.0, cli, library, import, recorder."`
	Who   string `json:"who,omitempty" doc:"The name of the token, or the user of the machine; absent where nobody was asked for a name."`
}

// ListEntry is a memory's place in one ranked list.
type ListEntry struct {
	List  string  `json:"list" doc:"bm25, vector, place, likeness or time."`
	Rank  int     `json:"rank" doc:"From 0."`
	Value float64 `json:"value" doc:"The list's own measure: a BM25 score, a cosine, a distance."`
}

// Stage says what one stage of a recall kept.
type Stage struct {
	Stage string  `json:"stage"`
	Kept  int     `json:"kept"`
	MS    float64 `json:"ms"`
}

// Inferred is what the rules made of a text.
type Inferred struct {
	Category      string   `json:"category"`
	Confidence    float64  `json:"confidence"`
	Tags          []string `json:"tags"`
	ScopeFiles    []string `json:"scope_files"`
	ScopeEntities []string `json:"scope_entities"`
}

// ConflictWith names an active memory that says otherwise.
type ConflictWith struct {
	MemoryID int64  `json:"memory_id"`
	Reason   string `json:"reason"`
}

// LearnResponse says what became of a fact.
type LearnResponse struct {
	Status       string         `json:"status" doc:"created or duplicate."`
	MemoryID     int64          `json:"memory_id"`
	UID          string         `json:"uid"`
	Method       string         `json:"method,omitempty" doc:"On a duplicate: exact, jaccard or cosine."`
	ExistingID   int64          `json:"existing_id,omitempty"`
	Similarity   float64        `json:"similarity,omitempty"`
	AutoInferred Inferred       `json:"auto_inferred"`
	Conflicts    []ConflictWith `json:"conflicts"`
}

// BatchResult is one item's outcome: a learn response or an error.
type BatchResult struct {
	*LearnResponse
	Error *BatchError `json:"error,omitempty"`
}

// BatchError is why one item was refused.
type BatchError struct {
	Kind   Kind   `json:"kind"`
	Field  string `json:"field,omitempty"`
	Detail string `json:"detail"`
}

// LearnBatchResponse holds one result per item, in order.
type LearnBatchResponse struct {
	Results []BatchResult `json:"results"`
}

// RecallResponse is the ranked answer.
type RecallResponse struct {
	Memories []Memory     `json:"memories"`
	Total    int          `json:"total" doc:"How many are in this answer."`
	Mode     string       `json:"mode" doc:"hybrid, bm25_only, vec_only or structured."`
	Degraded []string     `json:"degraded" doc:"What could not answer, and why."`
	QueryMS  float64      `json:"query_ms"`
	Stages   []Stage      `json:"stages,omitempty"`
	Times    []TimePhrase `json:"times,omitempty" doc:"With parse_time, how the time words of the query were read."`
}

// TimePhrase is some words of a query that were read as a time: after is the
// first moment, before the first that no longer counts; absent is no bound.
type TimePhrase struct {
	Text   string     `json:"text"`
	After  *time.Time `json:"after,omitempty"`
	Before *time.Time `json:"before,omitempty"`
}

// ForgetResponse confirms a forget.
type ForgetResponse struct {
	Status   string `json:"status"`
	MemoryID int64  `json:"memory_id"`
	Content  string `json:"content" doc:"The first 100 characters; empty when it was purged."`
	Reason   string `json:"reason"`
	// Purged is what was removed, when that was asked for.
	Purged *Purged `json:"purged,omitempty" doc:"With purge: what was removed, and what it could not reach."`
}

// Purged says what a purge removed.
type Purged struct {
	Versions   int      `json:"versions" doc:"Past states of the memory."`
	Payload    string   `json:"payload,omitempty" doc:"What became of a perception's bytes: removed, kept (another memory has the same bytes) or gone before."`
	Bytes      int64    `json:"bytes,omitempty" doc:"Of the payload, when it was removed."`
	StoodFor   []int64  `json:"stood_for,omitempty" doc:"Memories that had been merged into this one, which hold their own text still; purge them too if they say the same."`
	OldPages   string   `json:"old_pages" doc:"rewritten, or pending with the reason: this node, or the next that opens the file, finishes it."`
	NotReached []string `json:"not_reached" doc:"What no program can take back."`
}

// RestoreResponse confirms a restore.
type RestoreResponse struct {
	Status   string `json:"status"`
	MemoryID int64  `json:"memory_id"`
	Content  string `json:"content" doc:"The first 100 characters."`
}

// UpdateResponse confirms an update.
type UpdateResponse struct {
	Status       string   `json:"status"`
	MemoryID     int64    `json:"memory_id"`
	Version      int      `json:"version"`
	OldContent   string   `json:"old_content"`
	NewContent   string   `json:"new_content"`
	AutoInferred Inferred `json:"auto_inferred"`
}

// PinResponse confirms a pin.
type PinResponse struct {
	Status   string `json:"status" doc:"pinned or unpinned."`
	MemoryID int64  `json:"memory_id"`
	Pinned   bool   `json:"pinned"`
}

// Version is one state of a memory.
type Version struct {
	Version      int        `json:"version"`
	Content      string     `json:"content"`
	Context      Object     `json:"context,omitempty"`
	Category     string     `json:"category"`
	Confidence   float64    `json:"confidence" doc:"As stored."`
	Status       string     `json:"status"`
	SupersededBy int64      `json:"superseded_by,omitempty"`
	From         time.Time  `json:"from"`
	To           *time.Time `json:"to,omitempty" doc:"Absent for the present state."`
	Change       string     `json:"change,omitempty" doc:"What ended it: updated, forgotten, restored or superseded."`
	Reason       string     `json:"reason,omitempty"`
}

// HistoryResponse holds every state of a memory, oldest first.
type HistoryResponse struct {
	MemoryID int64     `json:"memory_id"`
	UID      string    `json:"uid"`
	Versions []Version `json:"versions"`
}

// ListResponse is a page of memories.
type ListResponse struct {
	Memories []Memory `json:"memories"`
	Total    int64    `json:"total" doc:"How many match, on all pages."`
	Page     int      `json:"page" doc:"0 when a cursor was given."`
	Limit    int      `json:"limit"`
	Next     string   `json:"next,omitempty" doc:"The cursor of the next page; absent on the last."`
	Degraded []string `json:"degraded,omitempty" doc:"Damaged memories that were left out, and why."`
}
