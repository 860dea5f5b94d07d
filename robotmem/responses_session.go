package robotmem

import "time"

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
	Text         string         `json:"text"`
	SessionID    string         `json:"session_id"`
	Facts        int            `json:"facts"`
	Perceptions  int            `json:"perceptions"`
	Categories   map[string]int `json:"categories"`
	Successes    int            `json:"successes" doc:"Memories with task.success true."`
	Failures     int            `json:"failures" doc:"Memories with task.success false."`
	Recalled     int            `json:"recalled" doc:"Memories that were recalled for the session."`
	Used         int            `json:"used"`
	OutcomeScore *float64       `json:"outcome_score,omitempty"`
	DurationS    float64        `json:"duration_s"`
	EndedAt      *time.Time     `json:"ended_at,omitempty"`
	Streams      []StreamCount  `json:"streams,omitempty" doc:"What became of the samples of each recorder's source."`
}

// StreamCount is what became of a source's samples: received = stored + dropped.
type StreamCount struct {
	Source   string `json:"source"`
	Received int64  `json:"received"`
	Stored   int64  `json:"stored"`
	Dropped  int64  `json:"dropped" doc:"Refused because the recorder's queue was full, or lost with a write that failed."`
	Missed   int64  `json:"missed" doc:"Never offered: gaps in the sequence numbers."`
	Bytes    int64  `json:"bytes"`
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
	Summary  *SessionSummary  `json:"summary,omitempty" doc:"What it came to, or comes to so far; absent while nothing has happened."`
	Recalled []RecalledMemory `json:"recalled" doc:"What was recalled for it, the useful first; at most 1,000."`
	Streams  []StreamCount    `json:"streams,omitempty" doc:"What became of the samples of each recorder's source."`
}

// RecalledMemory is a memory that was recalled for an episode.
type RecalledMemory struct {
	BriefMemory
	Status string `json:"status"`
	Type   string `json:"type"`
	Used   bool   `json:"used" doc:"The episode said that it helped."`
}
