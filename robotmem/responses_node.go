package robotmem

import (
	"time"
)

// CollectionCount counts one collection.
type CollectionCount struct {
	Collection string `json:"collection"`
	Active     int64  `json:"active"`
	Total      int64  `json:"total"`
	Sessions   int64  `json:"sessions"`
}

// CollectionsResponse counts all collections.
type CollectionsResponse struct {
	Collections []CollectionCount `json:"collections"`
}

// CategoryCount counts one category.
type CategoryCount struct {
	Category string `json:"category"`
	Count    int64  `json:"count"`
}

// CategoriesResponse counts the categories in use.
type CategoriesResponse struct {
	Categories []CategoryCount `json:"categories"`
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

// Worker is one kind of work in the background.
type Worker struct {
	Name   string `json:"name"`
	Status string `json:"status" doc:"idle, working, waiting (for something outside) or off."`
	Detail string `json:"detail"`
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

// ChangesResponse says where the change counter stands: it grows with every
// change of a memory, and when an episode begins or ends.
type ChangesResponse struct {
	Change  int64 `json:"change" doc:"Pass it as since."`
	Changed bool  `json:"changed" doc:"It is not what since said."`
}

// Check is one finding of the doctor.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status" doc:"ok, warn or fail."`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

// DoctorResponse is a check-up.
type DoctorResponse struct {
	Healthy bool    `json:"healthy" doc:"False when data is lost, corrupt or diverging. A warning is healthy."`
	Status  string  `json:"status" doc:"The worst of the checks: ok, warn or fail."`
	Checks  []Check `json:"checks"`
	// Lost are at most 20 active memories whose payload is gone or damaged.
	Lost []LostPayload `json:"lost,omitempty" doc:"At most 20 active memories whose payload is gone or damaged."`
}

// LostPayload is a memory whose payload is not what was saved.
type LostPayload struct {
	MemoryID int64  `json:"memory_id"`
	SHA256   string `json:"sha256"`
	Reason   string `json:"reason"`
}

// RepairResponse says what was rebuilt.
type RepairResponse struct {
	Repaired []string       `json:"repaired"`
	Doctor   DoctorResponse `json:"doctor"`
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
