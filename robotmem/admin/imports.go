package admin

import (
	"io"
	"time"
)

// ImportRequest says how a recording that is sent to a node is imported. The zero value imports all of it.
type ImportRequest struct {
	Collection string   // "" is the default of the node
	Robot      string   // the robot, for the context
	MapID      string   // the map that poses in the frame map are of
	Namespace  string   // one robot of several, such as /r1
	Topics     []string // globs; empty for all
	Exclude    []string // globs
	NoEvents   bool     // the messages alone, without facts, goals and outcomes
}

// Values of Import.State, in the order in which an import has them. The last three end it.
const (
	ImportReceiving = "receiving" // its files are on their way to the node
	ImportQueued    = "queued"    // another import runs
	ImportRunning   = "importing"
	ImportDone      = "done"
	ImportFailed    = "failed"
	ImportCancelled = "cancelled"
)

// Import is a recording that was sent to a node, and what became of it.
type Import struct {
	ID         string    `json:"import_id"`
	Name       string    `json:"name"` // of the file, or of the folder that its files are of
	State      string    `json:"state"`
	Who        string    `json:"who,omitempty"` // the name of the caller's token
	Robot      string    `json:"robot,omitempty"`
	MapID      string    `json:"map_id,omitempty"`
	Collection string    `json:"collection,omitempty"`
	ReceivedAt time.Time `json:"received_at"`
	EndedAt    time.Time `json:"ended_at,omitzero"`

	Bytes int64 `json:"bytes"`           // received
	Ahead int   `json:"ahead,omitempty"` // imports that run before a queued one
	// Done counts the messages that are imported, Total those of the recording; 0 if it is unknown.
	Done  int64 `json:"done,omitempty"`
	Total int64 `json:"total,omitempty"`

	Result *ImportResult `json:"result,omitempty"` // also of one that failed, if something is stored
	Error  *ImportError  `json:"error,omitempty"`
}

// Imports are the imports of a process, the newest first and without results.
type Imports struct {
	Imports    []Import `json:"imports"`
	LimitBytes int64    `json:"limit_bytes"`         // of the files of all recordings that wait
	HeldBytes  int64    `json:"held_bytes"`          // that they take now
	ReadOnly   string   `json:"read_only,omitempty"` // why the node takes no recordings
}

// ImportError is why an import failed, as a problem document says it.
type ImportError struct {
	Kind   string `json:"kind"`
	Field  string `json:"field,omitempty"`
	Detail string `json:"detail"`
}

// ImportResult says what was understood of a recording.
type ImportResult struct {
	Kind        string        `json:"kind"` // mcap, rosbag2, rosbag, ulog or map
	Known       bool          `json:"known,omitempty"`
	SessionID   string        `json:"session_id,omitempty"`
	StartedAt   time.Time     `json:"started_at,omitzero"` // of the episode
	EndedAt     time.Time     `json:"ended_at,omitzero"`
	Messages    uint64        `json:"messages"`
	Perceptions int           `json:"perceptions"`
	Stored      int           `json:"stored"` // perceptions that were new
	Topics      []ImportTopic `json:"topics,omitempty"`
	MoreTopics  int           `json:"more_topics,omitempty"` // beyond those listed
	Robots      []string      `json:"robots,omitempty"`      // namespaces in which the same action has goals
	// Episodes are the goals of the recording, with how they ended; FactCount and Facts what messages say.
	Episodes     []ImportEpisode `json:"episodes,omitempty"`
	EpisodeCount int             `json:"episode_count"`
	Facts        []ImportFact    `json:"facts,omitempty"`
	FactCount    int             `json:"fact_count"`
	ClockResets  int             `json:"clock_resets,omitempty"`
	Broken       string          `json:"broken,omitempty"` // the first place where the recording is damaged
	Lost         uint64          `json:"lost,omitempty"`   // messages
	Undecoded    uint64          `json:"undecoded,omitempty"`
	Mistimed     uint64          `json:"mistimed,omitempty"`
	Warnings     []string        `json:"warnings,omitempty"`
}

// ImportTopic counts the messages of a topic. Notes count those that were stored and not understood, by reason.
type ImportTopic struct {
	Topic       string            `json:"topic"`
	Type        string            `json:"type"`
	Read        uint64            `json:"read"`
	Kept        uint64            `json:"kept"`
	Perceptions int               `json:"perceptions"`
	Skipped     map[string]uint64 `json:"skipped,omitempty"`
	Notes       map[string]uint64 `json:"notes,omitempty"`
}

// ImportEpisode is an episode that a recording tells of.
type ImportEpisode struct {
	SessionID string    `json:"session_id"`
	Title     string    `json:"title"`
	Outcome   string    `json:"outcome,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"`
}

// ImportFact is something that happened in a recording.
type ImportFact struct {
	MemoryID   int64     `json:"memory_id"`
	Text       string    `json:"text"`
	Outcome    string    `json:"outcome,omitempty"`
	ObservedAt time.Time `json:"observed_at,omitzero"`
}

// ImportFiles are the files of a recording on their way to a node.
type ImportFiles struct {
	Name   string // of the file or folder
	Folder bool   // the files are those of a folder; else there is one
	Size   int64  // in bytes, if the sender says it; else -1
	// Next returns the name and the bytes of the next file, io.EOF after the last.
	Next func() (name string, r io.Reader, err error)
	// Allowed reports whether the sender may still write; nil is always.
	Allowed func() bool
}
