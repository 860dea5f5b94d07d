// Package admin has the requests and responses of the operations for operators and the
// dashboard: statistics, check-ups, repair, retention, the audit log, maps and incidents.
package admin

import (
	"time"
)

// Interpretation is the part of a response that says how the request was read.
type Interpretation struct {
	Interpreted []string `json:"interpreted,omitempty" doc:"What was taken otherwise than given."`
}

// HowRead returns the place of the notes.
func (i *Interpretation) HowRead() *[]string { return &i.Interpreted }

// StatsRequest has no fields.
type StatsRequest struct{}

// StatsResponse counts memories, sessions, bytes and recalls.
type StatsResponse struct {
	Interpretation
	Total         int64            `json:"total" doc:"Active memories of all collections."`
	ByStatus      map[string]int64 `json:"by_status"`
	ByType        map[string]int64 `json:"by_type" doc:"Active memories."`
	ByCategory    map[string]int64 `json:"by_category" doc:"Active memories."`
	Collections   int64            `json:"collections"`
	Sessions      int64            `json:"sessions"`
	LastDay       int64            `json:"last_day" doc:"Memories created in the last 24 hours."`
	Recalls       int64            `json:"recalls"`
	ZeroHits      int64            `json:"zero_hits" doc:"Recalls without a result."`
	DBBytes       int64            `json:"db_bytes"`
	PayloadBytes  int64            `json:"payload_bytes" doc:"Original size of all payloads; a shared payload counts once."`
	StoredBytes   int64            `json:"stored_bytes" doc:"Size of all payloads as stored."`
	Streams       []StreamCount    `json:"streams,omitempty" doc:"Sample counts per source of the recorder, over all sessions."`
	Evicted       int64            `json:"evicted" doc:"Perceptions whose payload was removed for a budget."`
	EvictedBytes  int64            `json:"evicted_bytes"`
	ToCompare     int64            `json:"to_compare" doc:"Perceptions for which this node has yet to compute similarity features."`
	Embedder      string           `json:"embedder"`
	Backlog       int64            `json:"backlog" doc:"Memories without a vector yet; 0 without an embedder."`
	SchemaVersion int              `json:"schema_version"`
	DiskFreeBytes int64            `json:"disk_free_bytes" doc:"Free bytes on the disk of the file that are available to unprivileged programs; 0 if unknown."`
	Commits       int64            `json:"commits" doc:"Transactions that this node has written and synced since its start. Concurrent calls share one."`
	LogBytes      int64            `json:"log_bytes" doc:"Bytes that these commits have written to the log of the file."`
	WrittenBytes  int64            `json:"written_bytes,omitempty" doc:"Bytes that this process has written to disks since its start, also for checkpoints, payloads and snapshots; absent where the system does not count them (only Linux does)."`
	Workers       []Worker         `json:"workers" doc:"Background work of the node."`
	Backup        *BackupState     `json:"backup,omitempty" doc:"The schedule of backups; absent if no node on the file ever had one."`

	LanguageModel *LanguageModelUse `json:"language_model,omitempty" doc:"What language models have taken on the machine of the node; absent if none was ever asked."`
}

// LanguageModelUse is the ledger of language models.
type LanguageModelUse struct {
	Paused     *time.Time          `json:"paused,omitempty" doc:"Since when no model is asked; absent if they may be."`
	Running    int                 `json:"running" doc:"Calls that are being made. They count with the most that they can take."`
	CapCalls   int64               `json:"cap_calls" doc:"Most calls of a day, 0 for no limit."`
	CapTokens  int64               `json:"cap_tokens" doc:"Most tokens of a day, 0 for no limit."`
	CapSeconds int64               `json:"cap_seconds" doc:"Most seconds of a day, 0 for no limit."`
	Today      LanguageModelCount  `json:"today"`
	Total      LanguageModelCount  `json:"total" doc:"Of the last 90 days."`
	Tasks      []LanguageModelTask `json:"tasks" doc:"The total by model and task."`
}

// LanguageModelCount counts calls of language models.
type LanguageModelCount struct {
	Calls            int64   `json:"calls"`
	Failed           int64   `json:"failed" doc:"Calls without an answer that could be used."`
	PromptTokens     int64   `json:"prompt_tokens"`
	CompletionTokens int64   `json:"completion_tokens"`
	Seconds          float64 `json:"seconds"`
}

// LanguageModelTask counts the calls of one task.
type LanguageModelTask struct {
	Model string `json:"model"`
	Task  string `json:"task" doc:"extract, reconcile, summary, episode, pattern, rule, compress, caption or contradiction."`

	LanguageModelCount
}

// BackupState is the result of the last backup that a node made on schedule.
type BackupState struct {
	FileID       string    `json:"file_id,omitempty" doc:"Id of the file whose backups these are."`
	To           string    `json:"to" doc:"Folder of the backups."`
	EverySeconds int64     `json:"every_seconds" doc:"Time between two backups."`
	LastSuccess  time.Time `json:"last_success,omitzero" doc:"Time of the newest backup; absent if there is none."`
	Seconds      float64   `json:"seconds" doc:"Duration of the newest backup, with its verification."`
	LastFailure  time.Time `json:"last_failure,omitzero"`
	Failure      string    `json:"failure,omitempty" doc:"Why the last attempt failed; absent if it succeeded."`
	Failures     int64     `json:"failures" doc:"Number of failed attempts."`
	OwnDisk      bool      `json:"own_disk,omitempty" doc:"The folder is on the disk of the memory, and not beside it."`
}

// StreamCount counts the samples of one source. Received is stored plus dropped.
type StreamCount struct {
	Source   string `json:"source"`
	Received int64  `json:"received"`
	Stored   int64  `json:"stored"`
	Dropped  int64  `json:"dropped" doc:"Samples that were refused because the recorder's queue was full, or lost in a failed write."`
	Missed   int64  `json:"missed" doc:"Gaps in the sequence numbers of the source."`
	Bytes    int64  `json:"bytes"`
}

// Worker is the state of one background worker.
type Worker struct {
	Name   string `json:"name"`
	Status string `json:"status" doc:"idle, working, waiting (for an external service), paused or off."`
	Detail string `json:"detail"`

	Code   string   `json:"code,omitempty" doc:"Stable name of what detail says, such as vectors_complete. Rare texts have none."`
	Values []string `json:"values,omitempty" doc:"The numbers and sizes in detail, in their order. Only with a code."`
}

// ActivityRequest selects the period and collection of an activity report.
type ActivityRequest struct {
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace. Default: all. Recalls over all collections are counted only for *."`
	Days       int    `json:"days,omitempty" validate:"min=1,max=3650" default:"30" doc:"Number of days, including today, 1 to 3,650."`
	Bucket     string `json:"bucket,omitempty" validate:"omitempty,oneof=hour day" doc:"hour or day, in UTC. Default: hour for up to 7 days, else day. hour allows at most 92 days."`
}

// ActivityResponse counts stored memories and recalls over time, oldest first
// and without gaps. The last bucket is still incomplete.
type ActivityResponse struct {
	Interpretation
	From    time.Time        `json:"from" doc:"Start of the first bucket."`
	To      time.Time        `json:"to" doc:"End of the last bucket."`
	Bucket  string           `json:"bucket" doc:"hour or day, in UTC."`
	Buckets []ActivityBucket `json:"buckets"`
}

// ActivityBucket holds the counts of one hour or day.
type ActivityBucket struct {
	From        time.Time `json:"from"`
	Facts       int64     `json:"facts" doc:"Facts that were stored, of any current status."`
	Perceptions int64     `json:"perceptions" doc:"Perceptions that were stored, of any current status."`
	Failures    int64     `json:"failures" doc:"Active failures among them, as defined by recent_failures."`
	Recalls     int64     `json:"recalls" doc:"Recalls, counted since schema version 4."`
	ZeroHits    int64     `json:"zero_hits" doc:"Recalls without a result."`
}

// ChangesRequest waits for a change of the memory.
type ChangesRequest struct {
	Since  *int64 `json:"since,omitempty" validate:"omitempty,min=0" doc:"The change of an earlier response. Without it the current value is returned immediately."`
	WaitMS int    `json:"wait_ms,omitempty" validate:"min=0,max=60000" doc:"Longest wait for a change in milliseconds, 0 to 60,000."`
}

// ChangesResponse holds the change counter. It grows with every change of a
// memory, and when an episode begins or ends.
type ChangesResponse struct {
	Interpretation
	Time    time.Time `json:"time" doc:"The time of the node, in its zone."`
	Change  int64     `json:"change" doc:"The change counter. Pass it as since in the next request."`
	Changed bool      `json:"changed" doc:"The counter differs from since."`
}

// DoctorRequest selects the depth of a check-up.
type DoctorRequest struct {
	Deep bool `json:"deep,omitempty" doc:"Read all payloads and verify their checksums. Without it each check-up reads up to 256 MiB, and the next one continues with other payloads."`
}

// DoctorResponse is the result of a check-up.
type DoctorResponse struct {
	Interpretation
	Healthy bool    `json:"healthy" doc:"false if data is lost or corrupt, or if an index differs from its table. Warnings are healthy."`
	Status  string  `json:"status" doc:"The worst status of the checks: ok, skipped, warn or fail."`
	Checks  []Check `json:"checks"`

	Lost []LostPayload `json:"lost,omitempty" doc:"At most 20 active memories whose payload is missing or damaged."`
}

// Check is the result of one check, with a remedy if it is not ok.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status" doc:"ok, warn, fail, or skipped: the check could not be made, and the remedy says how."`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`

	Code   string   `json:"code,omitempty" doc:"Stable name of what detail and remedy say, such as index_in_step. Rare findings have none."`
	Values []string `json:"values,omitempty" doc:"The numbers and sizes in detail, in their order. Only with a code."`
}

// LostPayload is a memory whose payload is missing or damaged.
type LostPayload struct {
	MemoryID int64  `json:"memory_id"`
	SHA256   string `json:"sha256"`
	Reason   string `json:"reason"`
}

// RepairRequest has no fields.
type RepairRequest struct{}

// RepairResponse lists the rebuilt indexes and the check-up after the repair.
type RepairResponse struct {
	Interpretation
	Repaired []string       `json:"repaired"`
	Doctor   DoctorResponse `json:"doctor"`
}

// RetainRequest lists the payloads that exceed a budget, or removes them.
type RetainRequest struct {
	Budgets      []Budget `json:"budgets,omitempty" validate:"max=64,dive" doc:"Budgets: {\"perception_type\":\"visual\",\"max_bytes\":1000000000,\"max_age_days\":30,\"collection\":\"arm7\"}. Default: the budgets of the node."`
	MinFreeBytes int64    `json:"min_free_bytes,omitempty" validate:"min=0" doc:"Bytes that must stay free on the disk."`
	Apply        bool     `json:"apply,omitempty" doc:"Remove the payloads. Without it they are only listed."`
}

// RetainResponse lists the payloads that were removed, or would be.
type RetainResponse struct {
	Interpretation
	DryRun     bool       `json:"dry_run"`
	HeldBytes  int64      `json:"held_bytes" doc:"Stored bytes before the removal. A shared payload counts once per perception."`
	Count      int        `json:"count" doc:"Number of perceptions whose payload is removed."`
	FreedBytes int64      `json:"freed_bytes"`
	Evictions  []Eviction `json:"evictions" doc:"The first 1,000 of them, in the order of removal."`
}

// Eviction is one perception whose payload is removed.
type Eviction struct {
	MemoryID       int64  `json:"memory_id"`
	Collection     string `json:"collection"`
	PerceptionType string `json:"perception_type"`
	Bytes          int64  `json:"bytes"`
	Value          string `json:"value" doc:"Class that determines the order: forgotten, thinned, never recalled, recalled, useful, of a failed episode or pinned."`
	Reason         string `json:"reason"`
}

// Budget limits the payloads of a set of perceptions. A zero field is no limit.
// Retention removes payloads in this order and never touches facts:
//
//  1. perceptions that are forgotten or superseded, oldest first;
//  2. every second perception of a long recording (16 perceptions of one source in
//     one episode or more), oldest first;
//  3. all others in the order never recalled, recalled, useful to an episode, of
//     a failed episode, pinned; oldest first within each class.
//
// A perception without its payload is no longer recalled. Its description, summary
// and history are kept, and the audit log records the eviction.
type Budget struct {
	Collection     string  `json:"collection,omitempty" validate:"omitempty,collections" doc:"Limit for this collection. Default: one limit for all collections together."`
	PerceptionType string  `json:"perception_type,omitempty" validate:"omitempty,oneof=visual tactile auditory proprioceptive procedural spatial" doc:"Limit for this type. Default: one limit for all types together."`
	MaxBytes       int64   `json:"max_bytes,omitempty" validate:"min=0" doc:"Largest stored size in bytes; 0 for no limit."`
	MaxAgeDays     float64 `json:"max_age_days,omitempty" validate:"finite,min=0" doc:"Largest age in days; 0 for no limit. Perceptions that are useful, pinned or of failed episodes are kept."`
}

// Retention limits the space of payloads.
type Retention struct {
	Budgets []Budget
	// MinFreeBytes is how much of the disk stays free. Only evicting payloads of the
	// folder frees space: the file itself never shrinks.
	MinFreeBytes int64
}

// None reports whether there are no limits.
func (r Retention) None() bool { return len(r.Budgets) == 0 && r.MinFreeBytes == 0 }

// AuditRequest selects entries of the audit log.
type AuditRequest struct {
	MemoryID   int64      `json:"memory_id,omitempty" validate:"min=0" doc:"Only changes of this memory."`
	Collection string     `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace. Default: all."`
	Who        string     `json:"who,omitempty" validate:"utf8,max=64" doc:"Only changes by this token or user."`
	Action     string     `json:"action,omitempty" validate:"omitempty,oneof=created updated forgotten restored pinned unpinned superseded evicted purged ended repaired imported promoted demoted granted revoked" doc:"Only this action."`
	After      *time.Time `json:"after,omitempty" validate:"omitempty,instant" doc:"Only changes at or after this time (RFC 3339)."`
	Before     *time.Time `json:"before,omitempty" validate:"omitempty,instant" doc:"Only changes before this time (RFC 3339)."`
	Limit      int        `json:"limit,omitempty" validate:"min=1,max=1000" default:"50" doc:"Entries per page, 1 to 1,000."`
	Cursor     string     `json:"cursor,omitempty" validate:"max=512" doc:"The value of next from the previous page. New entries do not shift the pages."`
}

// AuditResponse is a page of the audit log, newest first.
type AuditResponse struct {
	Interpretation
	Entries []AuditEntry `json:"entries"`
	Limit   int          `json:"limit"`
	Next    string       `json:"next,omitempty" doc:"The cursor of the next page. Absent on the last page."`
}

// AuditEntry is one change.
type AuditEntry struct {
	ID         int64     `json:"id"`
	At         time.Time `json:"at"`
	Action     string    `json:"action" doc:"updated, forgotten, restored, pinned, unpinned, superseded, evicted, purged, ended (an episode), promoted or demoted (to another tier, by the record of its uses), repaired, imported (one entry per import), granted or revoked (what a person allowed to a program that logged in with OAuth). created occurs only for purged memories; a memory itself holds who stored it."`
	MemoryID   int64     `json:"memory_id,omitempty"`
	UID        string    `json:"uid,omitempty"`
	SessionID  string    `json:"session_id,omitempty" doc:"The episode that ended."`
	Collection string    `json:"collection,omitempty"`
	Who        string    `json:"who,omitempty" doc:"The name of the token, or the operating system user. Absent if unknown."`
	Tool       string    `json:"tool,omitempty" doc:"The interface and the name that the client program reports: mcp claude-code/2.0.1, rest curl/8.5.0, cli, library, import, recorder, node."`
	Reason     string    `json:"reason,omitempty"`
	Before     string    `json:"before,omitempty" doc:"SHA-256 of the old text, hex."`
	After      string    `json:"after,omitempty" doc:"SHA-256 of the new text, hex."`
}

// CollectionsRequest has no fields.
type CollectionsRequest struct{}

// CollectionsResponse holds the counts of all collections.
type CollectionsResponse struct {
	Interpretation
	Collections []CollectionCount `json:"collections"`
}

// CollectionCount counts the memories and sessions of one collection.
type CollectionCount struct {
	Collection string `json:"collection"`
	Active     int64  `json:"active"`
	Total      int64  `json:"total"`
	Sessions   int64  `json:"sessions"`
}

// CategoriesRequest selects the collection whose categories to count.
type CategoriesRequest struct {
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace. Default: all."`
}

// CategoriesResponse holds the counts of all categories in use.
type CategoriesResponse struct {
	Interpretation
	Categories []CategoryCount `json:"categories"`
}

// CategoryCount counts the active memories of one category.
type CategoryCount struct {
	Category string `json:"category"`
	Count    int64  `json:"count"`
}

// RecoverReport counts what a recovery copied from a damaged file, and names what is lost.
type RecoverReport struct {
	Whole         bool           `json:"whole" doc:"Nothing is lost, as far as can be known."`
	File          string         `json:"file" doc:"The new file."`
	Damaged       string         `json:"damaged,omitempty" doc:"What the damaged file is called now; empty when it was left in its place."`
	Memories      int64          `json:"memories" doc:"In the new file."`
	Missing       int64          `json:"missing" doc:"Ids that were given to a memory, are not there, and were not purged."`
	MissingIDs    []int64        `json:"missing_ids,omitempty" doc:"The first 100 of them."`
	Doubtful      []int64        `json:"doubtful" doc:"The first 100 memories whose text does not match its checksum. They are kept as invalidated; restore makes one active again."`
	DoubtfulCount int64          `json:"doubtful_count"`
	Reactivated   int64          `json:"reactivated" doc:"Memories that are active again, because what superseded them is lost."`
	LostPayloads  int64          `json:"lost_payloads" doc:"Payloads whose bytes are lost; their memories stay."`
	Unreadable    int64          `json:"unreadable" doc:"Rows that were read but hold impossible values."`
	Torn          []string       `json:"torn" doc:"Tables of which a part cannot be read; how many rows it held is not known."`
	Notes         []string       `json:"notes" doc:"Further remarks."`
	Doctor        DoctorResponse `json:"doctor" doc:"The deep check-up of the new file."`
}

// Metric is a figure for Prometheus, beside those of Stats. Metrics of one name have the same help and kind.
type Metric struct {
	Name, Help string // the name without robotmem_
	Value      float64
	Counter    bool // it only grows
	Labels     map[string]string
}
