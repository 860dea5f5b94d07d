package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
)

// Memory is one memory with its versions. Times are RFC 3339 in UTC. An import checks
// the rules in the tags, which are those of robotmem.Validate.
type Memory struct {
	UID        string          `json:"uid" validate:"uid"`
	Type       string          `json:"type" validate:"oneof=fact perception document"` // fact, perception or document
	Collection string          `json:"collection" validate:"required,collection"`
	Session    string          `json:"session_id,omitempty" validate:"omitempty,session"`
	Content    string          `json:"content" validate:"utf8,maxbytes=16384"`
	Summary    string          `json:"summary" validate:"utf8,maxbytes=16384"`
	Context    json.RawMessage `json:"context,omitempty"` // an object; absent when it is empty

	PerceptionType string          `json:"perception_type,omitempty" validate:"utf8,maxbytes=1024"`
	MediaType      string          `json:"media_type,omitempty" validate:"utf8,maxbytes=1024"`
	Metadata       json.RawMessage `json:"metadata,omitempty"`
	Payload        *Payload        `json:"payload,omitempty"`

	Category      string   `json:"category" validate:"utf8,maxbytes=1024"`
	Confidence    float64  `json:"confidence" validate:"finite,min=0,max=1"` // as stored, before any fading
	DecayRate     float64  `json:"decay_rate" validate:"finite,min=0,max=1"` // a day
	Pinned        bool     `json:"pinned,omitempty"`
	Source        string   `json:"source,omitempty" validate:"utf8,maxbytes=1024"`
	Tags          []string `json:"tags,omitempty" validate:"dive,tag"`      // those that the rules gave, sorted
	UserTags      []string `json:"user_tags,omitempty" validate:"dive,tag"` // those that a caller gave, sorted
	ScopeFiles    []string `json:"scope_files,omitempty" validate:"dive,utf8,maxbytes=1024"`
	ScopeEntities []string `json:"scope_entities,omitempty" validate:"dive,utf8,maxbytes=1024"`

	Status       string `json:"status" validate:"oneof=active superseded invalidated"` // active, superseded or invalidated
	SupersededBy string `json:"superseded_by,omitempty"`

	Sightings    int64  `json:"sightings" validate:"min=0"`
	AccessCount  int64  `json:"access_count,omitempty" validate:"min=0"`
	ReturnCount  int64  `json:"return_count,omitempty" validate:"min=0"`
	LastAccessed string `json:"last_accessed,omitempty"`

	Version    int64      `json:"version" validate:"min=1"`
	ValidFrom  string     `json:"valid_from"` // when the present state began
	ObservedAt string     `json:"observed_at"`
	CreatedAt  string     `json:"created_at"`
	UpdatedAt  string     `json:"updated_at"`
	Versions   []Version  `json:"versions,omitempty" validate:"dive"` // past states, oldest first
	Evictions  []Eviction `json:"evictions,omitempty"`

	Extra Extra `json:"extra,omitzero"`

	// Where is the position in the source, for errors. It is no part of the record.
	Where string `json:"-"`
}

// Extra says who stored a memory, and what it was worth.
type Extra struct {
	Outcome       string  `json:"outcome,omitempty"`
	OutcomeSource string  `json:"outcome_source,omitempty"`
	Robot         string  `json:"robot,omitempty"`
	Successes     float64 `json:"successes,omitempty"`
	Tool          string  `json:"tool,omitempty"`
	Uses          float64 `json:"uses,omitempty"`
	Who           string  `json:"who,omitempty"`
}

// Payload names the bytes of a perception.
type Payload struct {
	SHA256 string `json:"sha256" validate:"len=64,hexadecimal"` // hex
	Bytes  int64  `json:"bytes,omitempty" validate:"min=0"`
	Lost   bool   `json:"lost,omitempty"` // the node has only its name: evicted, or damaged
}

// Version is a past state of a memory.
type Version struct {
	Version      int64           `json:"version"`
	ValidFrom    string          `json:"valid_from"`
	ValidTo      string          `json:"valid_to"`
	Content      string          `json:"content" validate:"maxbytes=16384"`
	Summary      string          `json:"summary" validate:"maxbytes=16384"`
	Context      json.RawMessage `json:"context,omitempty"`
	Category     string          `json:"category"`
	Confidence   float64         `json:"confidence" validate:"finite,min=0,max=1"`
	Status       string          `json:"status"`
	SupersededBy string          `json:"superseded_by,omitempty"`
	Change       string          `json:"change"` // what ended it
	Reason       string          `json:"reason,omitempty"`
}

// Eviction records that a budget removed a payload.
type Eviction struct {
	PerceptionType string `json:"perception_type"`
	Bytes          int64  `json:"bytes"`
	Reason         string `json:"reason"`
	EvictedAt      string `json:"evicted_at"`
}

// Session is one episode.
type Session struct {
	SessionID  string          `json:"session_id" validate:"required,session"`
	Collection string          `json:"collection" validate:"required,collection"`
	Context    json.RawMessage `json:"context,omitempty"`
	Status     string          `json:"status" validate:"oneof=active ended"` // active or ended
	ClientType string          `json:"client_type,omitempty"`
	Count      int64           `json:"session_count"`
	Summary    json.RawMessage `json:"summary,omitempty"`
	CreatedAt  string          `json:"created_at"`
	UpdatedAt  string          `json:"updated_at"`
	EndedAt    string          `json:"ended_at,omitempty"`
	Outcomes   []Outcome       `json:"outcomes,omitempty" validate:"dive"`
	Streams    []Stream        `json:"streams,omitempty" validate:"dive"`

	Where string `json:"-"`
}

// Outcome is the success of an episode, 0 to 1.
type Outcome struct {
	Score     float64 `json:"score" validate:"finite,min=0,max=1"`
	CreatedAt string  `json:"created_at"`
}

// Stream counts the samples of one source.
type Stream struct {
	Collection string `json:"collection"`
	Source     string `json:"source" validate:"utf8,maxbytes=1024"`
	Received   int64  `json:"received"`
	Stored     int64  `json:"stored"`
	Dropped    int64  `json:"dropped"`
	Missed     int64  `json:"missed"`
	Bytes      int64  `json:"bytes"`
	UpdatedAt  string `json:"updated_at"`
}

// Link is a reference between records, which either may come first. It is one of
//
//	memory, superseded_by                       the present state's successor
//	memory, superseded_by, version, valid_to    that of a past state
//	session_id, memory, used                    recalled for the session
//	memory, collection, origin                  what the source calls it
//	session_id, collection, origin
type Link struct {
	Memory       string `json:"memory,omitempty"`
	SupersededBy string `json:"superseded_by,omitempty"`
	Version      int64  `json:"version,omitempty"`
	ValidTo      string `json:"valid_to,omitempty"`
	SessionID    string `json:"session_id,omitempty"`
	Used         bool   `json:"used,omitempty"`
	Seen         string `json:"seen,omitempty"` // when the episode has seen the memory again
	Collection   string `json:"collection,omitempty"`
	Origin       string `json:"origin,omitempty" validate:"utf8,maxbytes=1024"`
}

// Manifest describes the contents of an archive.
type Manifest struct {
	Format    string `json:"format"`
	Version   int    `json:"version"`
	CreatedAt string `json:"created_at"`
	Schema    int    `json:"schema,omitempty"`    // of the node's file
	Narrowed  string `json:"narrowed,omitempty"`  // to which collection or session
	Generator string `json:"generator,omitempty"` // the program
	Counts
}

// Counts are the numbers of records that an archive holds at most.
type Counts struct {
	Sessions     int64 `json:"sessions"`
	Memories     int64 `json:"memories"`
	Payloads     int64 `json:"payloads"`
	PayloadBytes int64 `json:"payload_bytes"`
	Links        int64 `json:"links"`
}

// Format and Version are those of a [Manifest].
const (
	Format  = "robotmem-archive"
	version = 1
)

// Hash returns the content hash of the memory, over all its fields.
func (m *Memory) Hash() (string, error) { return contentHash(m) }

// Hash returns the content hash of the session.
func (s *Session) Hash() (string, error) { return contentHash(s) }

// contentHash hashes the JSON of v with its keys sorted at every depth.
func contentHash(v any) (string, error) {
	line, err := encode(v)
	if err != nil {
		return "", err
	}

	// Maps are encoded with sorted keys. Numbers keep their spelling.
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()

	var plain any
	if err = dec.Decode(&plain); err == nil {
		line, err = encode(plain)
	}
	sum := sha256.Sum256(line)

	return hex.EncodeToString(sum[:]), err
}

// encode returns the JSON of v in one line, without HTML escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}

	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Sink takes the records of a node in this order: Begin, sessions, memories, links, Close. One
// goroutine calls it.
type Sink interface {
	Begin(*Manifest) error
	Session(*Session) error
	// Memory takes a memory; bytes is nil without a payload, or if the node has lost it.
	Memory(m *Memory, bytes *Bytes) error
	Link(*Link) error
	// Close completes the archive: without it a reader sees that the file is cut off.
	Close() error
}

// Bytes gives access to the payload of a memory.
type Bytes struct {
	Open  func() (io.ReadCloser, error)
	First bool // no memory before this one names them
}

// Source returns records: the manifest first, and payloads right after the memories that name
// them. io.EOF follows the last.
type Source interface {
	Next() (*Entry, error)
}

// Entry is a part of an archive: one field is set.
type Entry struct {
	Manifest *Manifest
	Sessions []Session
	Memories []Memory
	Links    []Link
	Payload  *Data
}

// Data is a payload that is being read.
type Data struct {
	SHA256 string // hex
	Bytes  int64
	// Reader is valid until the next call of Next. It fails if the bytes have another hash.
	Reader io.Reader
}
