package robotmem

import (
	"time"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// Memory is one stored fact or perception. Recall also sets Score, Relevance,
// Distance and Found. In its compact form it has only MemoryID, Score and Line.
type Memory struct {
	admin.Interpretation

	MemoryID   int64    `json:"memory_id"`
	UID        string   `json:"uid"`
	Scope      string   `json:"scope,omitempty" doc:"fleet: it is at the site only. Its memory_id is 0 here."`
	Type       string   `json:"type"`
	Content    string   `json:"content"`
	Line       string   `json:"line,omitempty" doc:"In the compact form, beside memory_id and score: outcome, parameters, date, place and record, then after a colon the text, shortened."`
	Summary    string   `json:"summary"`
	Category   string   `json:"category"`
	Tags       []string `json:"tags"`
	UserTags   []string `json:"user_tags,omitempty" doc:"The tags that a caller gave."`
	Confidence float64  `json:"confidence" doc:"Current confidence after decay, 0 to 1."`

	Outcome       string `json:"outcome" doc:"success, failure, partial or unknown."`
	OutcomeSource string `json:"outcome_source,omitempty" doc:"Where the outcome comes from: caller, context or text."`
	// EpisodeOutcome is what end_session said of the whole episode. It says nothing about the memory.
	EpisodeOutcome string   `json:"episode_outcome,omitempty" doc:"How its whole episode ended: success, failure or partial. It says nothing about this memory."`
	Record         string   `json:"record,omitempty" doc:"How the episodes went that used it, such as: used 6 times, 5 succeeded."`
	Reliability    *float64 `json:"reliability,omitempty" doc:"Lower bound of the share of successes at 95 % confidence (Wilson), if it was used."`
	Tier           string   `json:"tier,omitempty" doc:"new, proven, mixed or suspect, by its record."`

	Score     *float64    `json:"score,omitempty" doc:"Score relative to the best result, which has 1.0."`
	Relevance *float64    `json:"relevance,omitempty" doc:"Estimated probability that the memory answers the query, 0 to 1."`
	Distance  *float64    `json:"distance,omitempty" doc:"Distance to the target, in the unit of the coordinates."`
	Found     []ListEntry `json:"found,omitempty" doc:"With explain: its rank in each list."`
	Before    []Neighbour `json:"before,omitempty" doc:"With context_window: what was stored just before in the same episode, oldest first."`
	After     []Neighbour `json:"after,omitempty" doc:"With context_window: what was stored just after, oldest first."`

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

	Conflicts    []ConflictWith `json:"conflicts,omitempty" doc:"With get: active facts of the same collection and context that contradict it, newest first, at most 5."`
	Version      int            `json:"version,omitempty"`
	Pinned       bool           `json:"pinned,omitempty"`
	Source       string         `json:"source,omitempty"`
	Provenance   *Provenance    `json:"provenance,omitempty" doc:"Who stored it. Absent for memories stored before schema version 5."`
	Sightings    int            `json:"sightings,omitempty"`
	AccessCount  int            `json:"access_count,omitempty"`
	ReturnCount  int            `json:"return_count,omitempty"`
	DecayRate    float64        `json:"decay_rate,omitempty" doc:"Decay of the confidence per day, as a fraction."`
	LastAccessed *time.Time     `json:"last_accessed,omitempty"`
	UpdatedAt    *time.Time     `json:"updated_at,omitempty"`
	ScopeFiles   []string       `json:"scope_files,omitempty"`
	ScopeEntity  []string       `json:"scope_entities,omitempty"`
}

// MarshalJSON implements json.Marshaler. The JSON of a compact memory has only the
// fields that are set.
func (m Memory) MarshalJSON() ([]byte, error) {
	if m.Type != "" || m.Content != "" {
		type whole Memory
		return EncodeJSON(whole(m))
	}
	line := MemoryLine{MemoryID: m.MemoryID, Score: m.Score, Line: m.Line, Before: m.Before, After: m.After}
	if m.MemoryID == 0 {
		line.UID = m.UID
	}

	return EncodeJSON(line)
}

// The outcomes of a memory.
const (
	OutcomeSuccess = "success"
	OutcomeFailure = "failure"
	OutcomePartial = "partial"
	OutcomeUnknown = "unknown"
)

// Provenance says which robot, program and user stored a memory.
type Provenance struct {
	Robot string `json:"robot,omitempty" doc:"The robot named in its context or session."`
	Tool  string `json:"tool,omitempty" doc:"The interface and the name that the client program reports: mcp claude-code/2.0.1, rest curl/8.5.0, cli, library, import, recorder."`
	Who   string `json:"who,omitempty" doc:"The name of the token, or the operating system user. Absent if unknown."`
}

// ListEntry is the rank of a memory in one ranked list.
type ListEntry struct {
	List  string  `json:"list" doc:"bm25, vector, text, place, likeness, time or rerank."`
	Rank  int     `json:"rank" doc:"Rank, from 0."`
	Value float64 `json:"value" doc:"The measure of the list: a BM25 score, a cosine, a distance or the score of the reranker."`
}

// Stage reports one stage of a recall: how many memories it kept and how long it took.
type Stage struct {
	Stage string  `json:"stage"`
	Kept  int     `json:"kept"`
	MS    float64 `json:"ms"`
}

// Inferred holds what the classification rules derived from a text and its context.
type Inferred struct {
	Category      string   `json:"category"`
	Outcome       string   `json:"outcome" doc:"success, failure, partial or unknown."`
	Confidence    float64  `json:"confidence"`
	Tags          []string `json:"tags"`
	ScopeFiles    []string `json:"scope_files"`
	ScopeEntities []string `json:"scope_entities"`
}

// ConflictWith names an active memory that contradicts another, and the reason.
type ConflictWith struct {
	MemoryID int64  `json:"memory_id"`
	Reason   string `json:"reason"`
	Newer    bool   `json:"newer,omitempty" doc:"It was observed later."`
}

// SimilarMemory names an active memory of the same context whose text is similar.
type SimilarMemory struct {
	MemoryID   int64   `json:"memory_id"`
	Similarity float64 `json:"similarity" doc:"Share of common words, 0.7 to 1."`
	Method     string  `json:"method" doc:"jaccard."`
}

// LearnResponse is the result of Learn: a new memory or a duplicate.
type LearnResponse struct {
	admin.Interpretation
	Status       string          `json:"status" doc:"created or duplicate."`
	MemoryID     int64           `json:"memory_id"`
	UID          string          `json:"uid"`
	Method       string          `json:"method,omitempty" doc:"For a duplicate: exact (the same text) or sequence (the same words, numbers and units in the same order)."`
	ExistingID   int64           `json:"existing_id,omitempty"`
	Similarity   float64         `json:"similarity,omitempty"`
	AutoInferred Inferred        `json:"auto_inferred"`
	Conflicts    []ConflictWith  `json:"conflicts"`
	Similar      []SimilarMemory `json:"similar,omitempty" doc:"At most 5 memories with similar words, best first. The new memory is stored beside them."`
	Superseded   int64           `json:"superseded,omitempty" doc:"The memory that this one has replaced, as supersedes asked for."`
}

// BatchResult is the result of one item: a learn response or an error.
type BatchResult struct {
	*LearnResponse
	Error *BatchError `json:"error,omitempty"`
}

// BatchError says why one item was refused.
type BatchError struct {
	Kind   Kind   `json:"kind"`
	Field  string `json:"field,omitempty"`
	Detail string `json:"detail"`
}

// LearnBatchResponse holds one result per item, in order.
type LearnBatchResponse struct {
	admin.Interpretation
	Results []BatchResult `json:"results"`
}

// RecallResponse holds the ranked results of a recall.
type RecallResponse struct {
	admin.Interpretation
	Memories []Memory `json:"memories" schema:"or line"`
	Total    int      `json:"total" doc:"Number of memories in this response."`
	// Matching and Counts answer "how often": see docs/reference/answers.md.
	Matching int            `json:"matching,omitempty" doc:"For a question how often, and without a query: how many memories match in all."`
	Counts   map[string]int `json:"counts,omitempty" doc:"How many of these ended as success, failure, partial or unknown."`
	Mode     string         `json:"mode" doc:"hybrid, bm25_only, vec_only or structured."`
	Degraded []string       `json:"degraded" doc:"What is broken: the signals that failed, and why."`
	Notes    []string       `json:"notes,omitempty" doc:"Remarks: words of the question that no memory has, a time that was not used, what an empty answer has to do with."`
	QueryMS  float64        `json:"query_ms"`
	More     int            `json:"more,omitempty" doc:"Number of memories that max_tokens left out."`
	Stages   []Stage        `json:"stages,omitempty"`
	// Surprising is never part of Memories.
	Surprising []Surprise   `json:"surprising,omitempty" doc:"With surprise: memories that share a rare word with an answer and few with the question, the best first."`
	Warnings   []string     `json:"warnings,omitempty" doc:"Attempts of one task with the same parameters that failed at least 3 times and never succeeded."`
	Times      []TimePhrase `json:"times,omitempty" doc:"The time words of the query that were read as bounds."`
}

// Surprise is a memory that is tied to an answer and is none itself.
type Surprise struct {
	MemoryID int64  `json:"memory_id"`
	Line     string `json:"line" doc:"As in the compact form."`
	Because  string `json:"because" doc:"What it shares with which answer."`
}

// TimelineResponse holds what happened around a memory.
type TimelineResponse struct {
	Of       string       `json:"of" doc:"What the memories have in common: session, robot or collection, and its name."`
	Memories []MemoryLine `json:"memories" doc:"In order of observed_at, with the memory itself."`
	Degraded []string     `json:"degraded,omitempty" doc:"Damaged memories that are left out, and why."`
}

// MemoryLine is a memory in compact form.
type MemoryLine struct {
	MemoryID int64       `json:"memory_id"`
	UID      string      `json:"uid,omitempty"` // of a memory of the site, which has no memory_id here
	Score    *float64    `json:"score,omitempty"`
	Line     string      `json:"line,omitempty"`
	Before   []Neighbour `json:"before,omitempty"`
	After    []Neighbour `json:"after,omitempty"`
}

// Neighbour is the text of a memory that was observed just before or after another one.
type Neighbour struct {
	MemoryID int64  `json:"memory_id"`
	Text     string `json:"text,omitempty" doc:"Left out if that memory is an answer itself."`
}

// TimePhrase is a time expression of a query and the interval that it denotes:
// After is inclusive, Before is exclusive. An absent bound means no limit.
type TimePhrase struct {
	Text   string     `json:"text"`
	After  *time.Time `json:"after,omitempty"`
	Before *time.Time `json:"before,omitempty"`
}

// ForgetResponse is the result of Forget.
type ForgetResponse struct {
	admin.Interpretation
	Status   string `json:"status"`
	MemoryID int64  `json:"memory_id"`
	Content  string `json:"content" doc:"The first 100 characters; empty when it was purged."`
	Reason   string `json:"reason"`

	Purged *Purged `json:"purged,omitempty" doc:"With purge: what was deleted, and what purge cannot delete."`
}

// Purged lists what a purge deleted.
type Purged struct {
	Versions   int      `json:"versions" doc:"Number of deleted versions of the memory."`
	Payload    string   `json:"payload,omitempty" doc:"The bytes of the perception: removed, kept (another memory has the same bytes, or the folder is of another file) or gone before."`
	Bytes      int64    `json:"bytes,omitempty" doc:"Size of the payload, if it was removed."`
	StoodFor   []int64  `json:"stood_for,omitempty" doc:"Memories that had been merged into this one. They still hold their own text; purge them too if it has the same content."`
	OldPages   string   `json:"old_pages" doc:"rewritten, or pending with the reason. If pending, this node or the next one that opens the file finishes it."`
	NotReached []string `json:"not_reached" doc:"Copies that purge cannot delete, such as backups."`
}

// RestoreResponse is the result of Restore.
type RestoreResponse struct {
	admin.Interpretation
	Status   string `json:"status"`
	MemoryID int64  `json:"memory_id"`
	Content  string `json:"content" doc:"The first 100 characters."`
}

// UpdateResponse is the result of Update: the old and the new text.
type UpdateResponse struct {
	admin.Interpretation
	Status       string   `json:"status"`
	MemoryID     int64    `json:"memory_id"`
	Version      int      `json:"version"`
	OldContent   string   `json:"old_content"`
	NewContent   string   `json:"new_content"`
	AutoInferred Inferred `json:"auto_inferred"`
	Notes        []string `json:"notes,omitempty" doc:"Values of the context that the old text stated and the new text states otherwise. The context is kept as it is unless the request gives one."`
}

// Version is one version of a memory and the time in which it was current.
type Version struct {
	Version      int        `json:"version"`
	Content      string     `json:"content"`
	Context      Object     `json:"context,omitempty"`
	Category     string     `json:"category"`
	Confidence   float64    `json:"confidence" doc:"Stored confidence, without decay."`
	Status       string     `json:"status"`
	SupersededBy int64      `json:"superseded_by,omitempty"`
	From         time.Time  `json:"from"`
	To           *time.Time `json:"to,omitempty" doc:"Absent for the current version."`
	Change       string     `json:"change,omitempty" doc:"The change that ended it: updated, forgotten, restored or superseded."`
	Reason       string     `json:"reason,omitempty"`
}

// HistoryResponse holds all versions of a memory, oldest first.
type HistoryResponse struct {
	admin.Interpretation
	MemoryID int64     `json:"memory_id"`
	UID      string    `json:"uid"`
	Versions []Version `json:"versions"`
}

// ListResponse is a page of memories.
type ListResponse struct {
	admin.Interpretation
	Memories []Memory `json:"memories"`
	Total    int64    `json:"total" doc:"Number of matching memories on all pages."`
	Page     int      `json:"page" doc:"0 if the request has a cursor."`
	Limit    int      `json:"limit"`
	Next     string   `json:"next,omitempty" doc:"The cursor of the next page. Absent on the last page."`
	Degraded []string `json:"degraded,omitempty" doc:"Damaged memories that the page omits, and why."`
	Notes    []string `json:"notes,omitempty" doc:"What no memory has of what the context_filter asks for."`
}

// StartSessionResponse is the result of StartSession: the session and its briefing.
type StartSessionResponse struct {
	admin.Interpretation
	Status              string   `json:"status" doc:"started, or continued if a session with this origin exists."`
	SessionID           string   `json:"session_id"`
	Collection          string   `json:"collection"`
	ActiveMemoriesCount int64    `json:"active_memories_count"`
	Briefing            Briefing `json:"briefing"`
}

// Briefing says what the memory knows for a new episode.
type Briefing struct {
	Text      string  `json:"text" doc:"Warnings, rules, what worked, what failed, current values: one line for each memory, the most relevant first. Text and ids take at most 400 tokens with the rest of the response."`
	MemoryIDs []int64 `json:"memory_ids" doc:"The memories of the text, in its order."`
}

// BriefMemory is the one-line form of a memory.
type BriefMemory struct {
	MemoryID   int64   `json:"memory_id"`
	Summary    string  `json:"summary"`
	Category   string  `json:"category"`
	Confidence float64 `json:"confidence"`
}

// SessionSummary counts the memories and outcomes of an episode.
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
	Streams      []admin.StreamCount `json:"streams,omitempty" doc:"Sample counts per source of the recorder."`
}

// Consolidated reports which facts EndSession merged.
type Consolidated struct {
	MergedGroups     int     `json:"merged_groups"`
	SupersededCount  int     `json:"superseded_count"`
	CompressionRatio float64 `json:"compression_ratio" doc:"Superseded memories divided by candidates, 0 to 1."`
	AvgSimilarity    float64 `json:"avg_similarity" doc:"Mean Jaccard similarity of the kept and the superseded memories, 0 to 1."`
}

// EndSessionResponse is the result of EndSession.
type EndSessionResponse struct {
	admin.Interpretation
	Status          string         `json:"status"`
	SessionID       string         `json:"session_id"`
	Summary         SessionSummary `json:"summary"`
	Consolidated    Consolidated   `json:"consolidated"`
	DecayedCount    int64          `json:"decayed_count" doc:"Memories of the collection whose confidence has decayed below 0.3."`
	SimilarGroups   [][]int64      `json:"similar_groups,omitempty" doc:"Ids of facts of the episode with similar words that were not merged, because none says all that another says. At most 20 groups of 20."`
	RelatedMemories []BriefMemory  `json:"related_memories" doc:"Memories of earlier episodes that are related to this one."`
}

// Session is one episode.
type Session struct {
	SessionID    string     `json:"session_id"`
	Collection   string     `json:"collection"`
	Status       string     `json:"status"`
	Context      Object     `json:"context,omitempty"`
	CreatedAt    time.Time  `json:"created_at" doc:"When it began: the started_at of start_session, if one was given."`
	EndedAt      *time.Time `json:"ended_at,omitempty"`
	MemoryCount  int64      `json:"memory_count"`
	OutcomeScore *float64   `json:"outcome_score,omitempty"`
	ClientType   string     `json:"client_type,omitempty"`
}

// SessionsResponse is a page of episodes.
type SessionsResponse struct {
	admin.Interpretation
	Sessions []Session `json:"sessions"`
	Total    int64     `json:"total"`
	Page     int       `json:"page" doc:"0 if the request has a cursor."`
	Limit    int       `json:"limit"`
	Next     string    `json:"next,omitempty" doc:"The cursor of the next page. Absent on the last page."`
	Degraded []string  `json:"degraded,omitempty" doc:"Damaged episodes whose context is omitted, and why."`
}

// SessionResponse is one episode with its summary and the memories recalled for it.
type SessionResponse struct {
	admin.Interpretation
	Session
	Summary  *SessionSummary     `json:"summary,omitempty" doc:"Summary of the episode, so far if it is active. Absent for an empty episode."`
	Recalled []RecalledMemory    `json:"recalled" doc:"Memories that were recalled for the episode, the helpful ones first; at most 1,000."`
	Streams  []admin.StreamCount `json:"streams,omitempty" doc:"Sample counts per source of the recorder."`
	Attempt  *Attempt            `json:"attempt,omitempty" doc:"If the episode is an attempt at a goal: what was tried."`
}

// RecalledMemory is a memory that was recalled for an episode.
type RecalledMemory struct {
	BriefMemory
	Collection string `json:"-"`
	Status     string `json:"status"`
	Type       string `json:"type"`
	Used       bool   `json:"used" doc:"end_session listed it in used_memory_ids."`
}

// SavePerceptionResponse describes the stored perception.
type SavePerceptionResponse struct {
	admin.Interpretation
	Status         string `json:"status" doc:"created, or duplicate if a perception with this origin exists."`
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
	admin.Interpretation
	MemoryID   int64  `json:"memory_id"`
	UID        string `json:"uid,omitempty"` // of a memory of the site, which has no memory_id here
	MediaType  string `json:"media_type"`
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`
	DataBase64 []byte `json:"data_base64"`
}

// SamplesResponse holds the numbers of a perception.
type SamplesResponse struct {
	admin.Interpretation
	MemoryID int64  `json:"memory_id"`
	UID      string `json:"uid,omitempty"` // of a memory of the site, which has no memory_id here
	perception.Samples
}
