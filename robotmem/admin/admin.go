// Package admin has the requests and answers of the operations for operators: counts,
// activity, changes, doctor, repair, retention and the audit log. The operations are
// methods of robotmem.Service.
package admin

import (
	"time"
)

// StatsRequest asks for counts.
type StatsRequest struct{}

// StatsResponse counts what the node holds and what it was asked.
type StatsResponse struct {
	Total         int64            `json:"total" doc:"Active memories of all collections."`
	ByStatus      map[string]int64 `json:"by_status"`
	ByType        map[string]int64 `json:"by_type" doc:"Active ones."`
	ByCategory    map[string]int64 `json:"by_category" doc:"Active ones."`
	Collections   int64            `json:"collections"`
	Sessions      int64            `json:"sessions"`
	LastDay       int64            `json:"last_day" doc:"Memories created in the last 24 hours."`
	Recalls       int64            `json:"recalls"`
	ZeroHits      int64            `json:"zero_hits" doc:"Recalls that found nothing."`
	DBBytes       int64            `json:"db_bytes"`
	PayloadBytes  int64            `json:"payload_bytes" doc:"Of all perceptions, each payload once."`
	StoredBytes   int64            `json:"stored_bytes" doc:"What they take as they are stored."`
	Streams       []StreamCount    `json:"streams,omitempty" doc:"What became of the samples of each recorder's source, of all sessions."`
	Evicted       int64            `json:"evicted" doc:"Perceptions whose payload a budget took away."`
	EvictedBytes  int64            `json:"evicted_bytes"`
	ToCompare     int64            `json:"to_compare" doc:"Perceptions that this node still makes comparable by likeness."`
	Embedder      string           `json:"embedder"`
	Backlog       int64            `json:"backlog" doc:"Memories that wait for a vector; 0 without an embedder."`
	SchemaVersion int              `json:"schema_version"`
	DiskFreeBytes int64            `json:"disk_free_bytes" doc:"Free on the disk of the file, for a program without privileges; 0 when it cannot be read."`
	Workers       []Worker         `json:"workers" doc:"What the node does in the background."`
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

// Worker is one kind of work in the background.
type Worker struct {
	Name   string `json:"name"`
	Status string `json:"status" doc:"idle, working, waiting (for something outside) or off."`
	Detail string `json:"detail"`
}

// ActivityRequest asks what was stored and asked over time.
type ActivityRequest struct {
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace; all if absent. Recalls that looked into all at once count for * alone."`
	Days       int    `json:"days,omitempty" validate:"min=1,max=3650" default:"30" doc:"How many days back, 1 to 3,650, today among them."`
	Bucket     string `json:"bucket,omitempty" validate:"omitempty,oneof=hour day" doc:"hour or day, of UTC; hour up to 7 days and day beyond, unless told. By the hour at most 92 days."`
}

// ActivityResponse counts what was stored and asked over time, oldest first and
// without gaps. The last bucket is not over yet.
type ActivityResponse struct {
	From    time.Time        `json:"from" doc:"Where the first bucket begins."`
	To      time.Time        `json:"to" doc:"Where the last one ends."`
	Bucket  string           `json:"bucket" doc:"hour or day, of UTC."`
	Buckets []ActivityBucket `json:"buckets"`
}

// ActivityBucket is one hour or day.
type ActivityBucket struct {
	From        time.Time `json:"from"`
	Facts       int64     `json:"facts" doc:"Facts that were stored, whatever became of them."`
	Perceptions int64     `json:"perceptions" doc:"Perceptions that were stored, whatever became of them."`
	Failures    int64     `json:"failures" doc:"Those of them that are active and count as failures, as recent_failures counts."`
	Recalls     int64     `json:"recalls" doc:"Counted since schema version 4."`
	ZeroHits    int64     `json:"zero_hits" doc:"Recalls that found nothing."`
}

// ChangesRequest asks whether the memory has changed, or waits until it has.
type ChangesRequest struct {
	Since  *int64 `json:"since,omitempty" validate:"omitempty,min=0" doc:"The change of an earlier answer. Without it the present one is answered at once."`
	WaitMS int    `json:"wait_ms,omitempty" validate:"min=0,max=60000" doc:"How many milliseconds to wait for a change, 0 to 60,000."`
}

// ChangesResponse says where the change counter stands: it grows with every
// change of a memory, and when an episode begins or ends.
type ChangesResponse struct {
	Change  int64 `json:"change" doc:"Pass it as since."`
	Changed bool  `json:"changed" doc:"It is not what since said."`
}

// DoctorRequest asks for a check-up.
type DoctorRequest struct {
	Deep bool `json:"deep,omitempty" doc:"Read every payload and compare its checksum; otherwise as many as 256 MiB hold, others at every check-up."`
}

// DoctorResponse is a check-up.
type DoctorResponse struct {
	Healthy bool    `json:"healthy" doc:"False when data is lost, corrupt or diverging. A warning is healthy."`
	Status  string  `json:"status" doc:"The worst of the checks: ok, warn or fail."`
	Checks  []Check `json:"checks"`
	// Lost are at most 20 active memories whose payload is gone or damaged.
	Lost []LostPayload `json:"lost,omitempty" doc:"At most 20 active memories whose payload is gone or damaged."`
}

// Check is one finding of the doctor.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status" doc:"ok, warn or fail."`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

// LostPayload is a memory whose payload is not what was saved.
type LostPayload struct {
	MemoryID int64  `json:"memory_id"`
	SHA256   string `json:"sha256"`
	Reason   string `json:"reason"`
}

// RepairRequest asks for all indexes to be rebuilt.
type RepairRequest struct{}

// RepairResponse says what was rebuilt.
type RepairResponse struct {
	Repaired []string       `json:"repaired"`
	Doctor   DoctorResponse `json:"doctor"`
}

// RetainRequest asks what a budget would take away, or takes it away.
type RetainRequest struct {
	Budgets      []Budget `json:"budgets,omitempty" validate:"max=64,dive" doc:"Budgets: {\"perception_type\":\"visual\",\"max_bytes\":1000000000,\"max_age_days\":30,\"collection\":\"arm7\"}. The node's own if absent."`
	MinFreeBytes int64    `json:"min_free_bytes,omitempty" validate:"min=0" doc:"Bytes of the disk that must stay free."`
	Apply        bool     `json:"apply,omitempty" doc:"Do it; otherwise what would go is listed and stays."`
}

// RetainResponse says what a budget took away, or would.
type RetainResponse struct {
	DryRun     bool       `json:"dry_run"`
	HeldBytes  int64      `json:"held_bytes" doc:"Stored bytes before, those of a payload once for each perception that has it."`
	Count      int        `json:"count" doc:"Perceptions that go."`
	FreedBytes int64      `json:"freed_bytes"`
	Evictions  []Eviction `json:"evictions" doc:"The first 1,000 of them, in the order in which they go."`
}

// Eviction is one perception whose payload goes.
type Eviction struct {
	MemoryID       int64  `json:"memory_id"`
	Collection     string `json:"collection"`
	PerceptionType string `json:"perception_type"`
	Bytes          int64  `json:"bytes"`
	Value          string `json:"value" doc:"Why it goes before others: forgotten, thinned, never recalled, recalled, useful, of a failed episode or pinned."`
	Reason         string `json:"reason"`
}

// Retention keeps the payloads of perceptions within budgets. Facts are never
// touched. What is worth least goes first, in this order:
//
//  1. what was forgotten or superseded, oldest first;
//  2. every second one of a long recording (many perceptions of one source in
//     one episode), and again every second one of what is left: a recording is
//     thinned before any other is lost;
//  3. the rest, oldest first, but those that were recalled after those that were
//     not, then those that an episode found useful, those of failed episodes, and
//     at the very end those that are pinned.
//
// A perception that goes is no longer recalled and its payload is removed; its
// description, summary and history stay, and the eviction is on record.

// Budget bounds the payloads of some perceptions. A field that is zero bounds nothing.
// Facts are never touched. Perceptions go in this order, so that what is worth least
// goes first:
//
//  1. what was forgotten or superseded, oldest first;
//  2. every second one of a long recording (many perceptions of one source in one
//     episode), and again every second one of the rest: a recording is thinned before
//     any other is lost;
//  3. the rest, oldest first, but those that were recalled after those that were not,
//     then those that an episode found useful, those of failed episodes, and last those
//     that are pinned.
//
// A perception that goes is no longer recalled and its payload is removed. Its
// description, summary and history stay, and the eviction is stored.
type Budget struct {
	Collection     string  `json:"collection,omitempty" validate:"omitempty,collections" doc:"Those of this collection; of all together if absent."`
	PerceptionType string  `json:"perception_type,omitempty" validate:"omitempty,oneof=visual tactile auditory proprioceptive procedural spatial" doc:"Those of this type; of every type together if absent."`
	MaxBytes       int64   `json:"max_bytes,omitempty" validate:"min=0" doc:"Bytes that they may take as they are stored; 0 for any number."`
	MaxAgeDays     float64 `json:"max_age_days,omitempty" validate:"finite,min=0" doc:"Those observed longer ago go; 0 for any age. Useful, failed and pinned ones stay."`
}

// AuditRequest pages through the audit log.
type AuditRequest struct {
	MemoryID   int64      `json:"memory_id,omitempty" validate:"min=0" doc:"Only changes of this memory."`
	Collection string     `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace; all if absent."`
	Who        string     `json:"who,omitempty" validate:"utf8,max=64" doc:"Only changes by this token or user."`
	Action     string     `json:"action,omitempty" validate:"omitempty,oneof=created updated forgotten restored pinned unpinned superseded evicted purged ended repaired imported" doc:"Only this action."`
	After      *time.Time `json:"after,omitempty" validate:"omitempty,instant" doc:"Only at or after this time (RFC 3339)."`
	Before     *time.Time `json:"before,omitempty" validate:"omitempty,instant" doc:"Only before this time (RFC 3339)."`
	Limit      int        `json:"limit,omitempty" validate:"min=1,max=1000" default:"50" doc:"Entries a page, 1 to 1,000."`
	Cursor     string     `json:"cursor,omitempty" validate:"max=512" doc:"next of the page before: goes on after it, whatever was changed meanwhile."`
}

// AuditResponse is a page of the audit log, newest first.
type AuditResponse struct {
	Entries []AuditEntry `json:"entries"`
	Limit   int          `json:"limit"`
	Next    string       `json:"next,omitempty" doc:"The cursor of the next page; absent on the last."`
}

// AuditEntry is one change.
type AuditEntry struct {
	ID         int64     `json:"id"`
	At         time.Time `json:"at"`
	Action     string    `json:"action" doc:"updated, forgotten, restored, pinned, unpinned, superseded, evicted, purged, ended (an episode), repaired or imported (one of a whole import); created only of what was purged, since a memory itself says who stored it."`
	MemoryID   int64     `json:"memory_id,omitempty"`
	UID        string    `json:"uid,omitempty"`
	SessionID  string    `json:"session_id,omitempty" doc:"Of an episode that ended."`
	Collection string    `json:"collection,omitempty"`
	Who        string    `json:"who,omitempty" doc:"The name of the token, or the user of the machine; absent where nobody was asked for a name."`
	Tool       string    `json:"tool,omitempty" doc:"The face and the program behind it as it calls itself: mcp claude-code/2.0.1, rest curl/8.5.0, cli, library, import, recorder, node."`
	Reason     string    `json:"reason,omitempty"`
	Before     string    `json:"before,omitempty" doc:"SHA-256 of the text before, hex."`
	After      string    `json:"after,omitempty" doc:"SHA-256 of the text after, hex."`
}

// CollectionsRequest asks for all collections.
type CollectionsRequest struct{}

// CollectionsResponse counts all collections.
type CollectionsResponse struct {
	Collections []CollectionCount `json:"collections"`
}

// CollectionCount counts one collection.
type CollectionCount struct {
	Collection string `json:"collection"`
	Active     int64  `json:"active"`
	Total      int64  `json:"total"`
	Sessions   int64  `json:"sessions"`
}

// CategoriesRequest asks for the categories in use.
type CategoriesRequest struct {
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace; all if absent."`
}

// CategoriesResponse counts the categories in use.
type CategoriesResponse struct {
	Categories []CategoryCount `json:"categories"`
}

// CategoryCount counts one category.
type CategoryCount struct {
	Category string `json:"category"`
	Count    int64  `json:"count"`
}
