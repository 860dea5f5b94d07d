package robotmem

import (
	"time"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

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

// StartSessionResponse opens an episode.
type StartSessionResponse struct {
	Status              string   `json:"status" doc:"started, or continued when its origin was known."`
	SessionID           string   `json:"session_id"`
	Collection          string   `json:"collection"`
	ActiveMemoriesCount int64    `json:"active_memories_count"`
	Briefing            Briefing `json:"briefing"`
}

// Briefing is what to know before an episode begins.
type Briefing struct {
	Text        string          `json:"text" doc:"The briefing in a few lines."`
	Rules       []BriefMemory   `json:"rules" doc:"Constraints and pinned memories."`
	Failures    []BriefMemory   `json:"failures" doc:"What went wrong lately."`
	Relevant    []BriefMemory   `json:"relevant" doc:"What fits the session's context."`
	LastSession *SessionSummary `json:"last_session,omitempty"`
}

// BriefMemory is a memory in one line.
type BriefMemory struct {
	MemoryID   int64   `json:"memory_id"`
	Summary    string  `json:"summary"`
	Category   string  `json:"category"`
	Confidence float64 `json:"confidence"`
}

// SessionSummary is what an episode came to.
type SessionSummary struct {
	Text         string              `json:"text"`
	SessionID    string              `json:"session_id"`
	Facts        int                 `json:"facts"`
	Perceptions  int                 `json:"perceptions"`
	Categories   map[string]int      `json:"categories"`
	Successes    int                 `json:"successes" doc:"Memories with task.success true."`
	Failures     int                 `json:"failures" doc:"Memories with task.success false."`
	Recalled     int                 `json:"recalled" doc:"Memories that were recalled for the session."`
	Used         int                 `json:"used"`
	OutcomeScore *float64            `json:"outcome_score,omitempty"`
	DurationS    float64             `json:"duration_s"`
	EndedAt      *time.Time          `json:"ended_at,omitempty"`
	Streams      []admin.StreamCount `json:"streams,omitempty" doc:"What became of the samples of each recorder's source."`
}

// Consolidated says what an episode's consolidation merged.
type Consolidated struct {
	MergedGroups     int     `json:"merged_groups"`
	SupersededCount  int     `json:"superseded_count"`
	CompressionRatio float64 `json:"compression_ratio" doc:"Superseded over candidates, 0 to 1."`
	AvgSimilarity    float64 `json:"avg_similarity" doc:"Mean Jaccard of the merged pairs, 0 to 1."`
}

// EndSessionResponse closes an episode.
type EndSessionResponse struct {
	Status          string         `json:"status"`
	SessionID       string         `json:"session_id"`
	Summary         SessionSummary `json:"summary"`
	Consolidated    Consolidated   `json:"consolidated"`
	DecayedCount    int64          `json:"decayed_count" doc:"Memories of the collection that have faded below 0.3."`
	RelatedMemories []BriefMemory  `json:"related_memories" doc:"From earlier episodes, for what this one was about."`
}

// Session is one episode.
type Session struct {
	SessionID    string     `json:"session_id"`
	Collection   string     `json:"collection"`
	Status       string     `json:"status"`
	Context      Object     `json:"context,omitempty"`
	CreatedAt    time.Time  `json:"created_at"`
	EndedAt      *time.Time `json:"ended_at,omitempty"`
	MemoryCount  int64      `json:"memory_count"`
	OutcomeScore *float64   `json:"outcome_score,omitempty"`
	ClientType   string     `json:"client_type,omitempty"`
}

// SessionsResponse is a page of episodes.
type SessionsResponse struct {
	Sessions []Session `json:"sessions"`
	Total    int64     `json:"total"`
	Page     int       `json:"page" doc:"0 when a cursor was given."`
	Limit    int       `json:"limit"`
	Next     string    `json:"next,omitempty" doc:"The cursor of the next page; absent on the last."`
	Degraded []string  `json:"degraded,omitempty" doc:"Damaged episodes whose context was left out, and why."`
}

// SessionResponse is one episode whole.
type SessionResponse struct {
	Session
	Summary  *SessionSummary     `json:"summary,omitempty" doc:"What it came to, or comes to so far; absent while nothing has happened."`
	Recalled []RecalledMemory    `json:"recalled" doc:"What was recalled for it, the useful first; at most 1,000."`
	Streams  []admin.StreamCount `json:"streams,omitempty" doc:"What became of the samples of each recorder's source."`
}

// RecalledMemory is a memory that was recalled for an episode.
type RecalledMemory struct {
	BriefMemory
	Status string `json:"status"`
	Type   string `json:"type"`
	Used   bool   `json:"used" doc:"The episode said that it helped."`
}

// SavePerceptionResponse says what was stored.
type SavePerceptionResponse struct {
	Status         string `json:"status" doc:"created, or duplicate when its origin was known."`
	MemoryID       int64  `json:"memory_id"`
	UID            string `json:"uid"`
	PerceptionType string `json:"perception_type"`
	Collection     string `json:"collection"`
	MediaType      string `json:"media_type"`
	Bytes          int64  `json:"bytes"`
	SHA256         string `json:"sha256"`
	Summary        string `json:"summary"`
	HasEmbedding   bool   `json:"has_embedding"`
}

// DataResponse holds the bytes of a perception.
type DataResponse struct {
	MemoryID   int64  `json:"memory_id"`
	MediaType  string `json:"media_type"`
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`
	DataBase64 []byte `json:"data_base64"`
}

// PreviewResponse is a picture of a perception.
type PreviewResponse struct {
	MemoryID   int64  `json:"memory_id"`
	MediaType  string `json:"media_type" doc:"image/png, image/jpeg or image/svg+xml."`
	Width      int    `json:"width"`
	Height     int    `json:"height"`
	Summary    string `json:"summary"`
	SHA256     string `json:"sha256" doc:"Of the perception, not of the picture."`
	DataBase64 []byte `json:"data_base64"`
}

// SamplesResponse holds the numbers of a perception.
type SamplesResponse struct {
	MemoryID int64 `json:"memory_id"`
	perception.Samples
}

// PathsResponse lists context paths.
type PathsResponse struct {
	Paths []ContextPath `json:"paths" doc:"In order of the path, 10,000 at most: name a prefix when there are more."`
	Total int           `json:"total" doc:"How many there are."`
}

// ContextPath is one path of contexts, as a filter may name it.
type ContextPath struct {
	Path     string      `json:"path"`
	Memories int64       `json:"memories" doc:"Active ones with a value there."`
	Kinds    []string    `json:"kinds" doc:"What the values are: number, text, bool, null, list or an empty object."`
	Min      *float64    `json:"min,omitempty" doc:"The smallest number, in unit if there is one."`
	Max      *float64    `json:"max,omitempty"`
	Unit     string      `json:"unit,omitempty" doc:"The canonical unit when most of the numbers are quantities, such as 12.5 N."`
	Values   []PathValue `json:"values,omitempty" doc:"When one path was asked for: at most 50, most frequent first. Without lists and long texts."`
}

// PathValue is a value at a path.
type PathValue struct {
	Value    any   `json:"value"`
	Memories int64 `json:"memories"`
}

// PlacesResponse is a map of memories.
type PlacesResponse struct {
	Fields  []PlaceField `json:"fields" doc:"Every context path that holds coordinates, by frame and map, most memories first; 1,000 at most."`
	Points  []PlacePoint `json:"points" doc:"In order of memory_id."`
	Total   int          `json:"total" doc:"Points within the bounds, of which points may be a sample."`
	Sampled bool         `json:"sampled" doc:"There are more than points holds."`
	Cell    float64      `json:"cell,omitempty" doc:"Side of a cell, in the unit of the coordinates."`
	Cells   []PlaceCell  `json:"cells" doc:"The cells that hold any point, counting all of them."`
}

// PlaceField is a path of coordinates in one frame and map.
type PlaceField struct {
	Field    string    `json:"field"`
	FrameID  string    `json:"frame_id,omitempty"`
	MapID    string    `json:"map_id,omitempty"`
	Dims     int       `json:"dims" doc:"2 or 3."`
	Memories int64     `json:"memories"`
	Min      []float64 `json:"min" doc:"The smallest of each coordinate."`
	Max      []float64 `json:"max" doc:"The largest of each coordinate."`
}

// PlacePoint is one memory on the map.
type PlacePoint struct {
	MemoryID   int64     `json:"memory_id"`
	X          float64   `json:"x"`
	Y          float64   `json:"y"`
	Z          *float64  `json:"z,omitempty"`
	Type       string    `json:"type"`
	Category   string    `json:"category"`
	Success    *bool     `json:"success,omitempty" doc:"task.success, where it is true or false."`
	ObservedAt time.Time `json:"observed_at"`
	Summary    string    `json:"summary"`
}

// PlaceCell counts the points of one cell: from x to x + cell, likewise y.
type PlaceCell struct {
	X         float64 `json:"x"`
	Y         float64 `json:"y"`
	Memories  int64   `json:"memories"`
	Successes int64   `json:"successes" doc:"With task.success true."`
	Failures  int64   `json:"failures" doc:"With task.success false."`
}
