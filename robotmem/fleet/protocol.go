// Package fleet is the robot's side of a site: it sends what the robot learns, fetches what others have learnt, and
// asks the site beside the robot's own memory.
package fleet

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// Protocol is the version of what a robot and its site say to each other. A site refuses another one, and fields that
// it does not know, so that nothing is dropped unseen: sites are upgraded before their robots.
const Protocol = 2

// The bounds of what is sent. A robot divides its pushes within those of a request.
const (
	MaxAnswer  = 64 << 20 // bytes of a decompressed answer
	MaxRequest = 16 << 20 // bytes of a decompressed request
	MaxPush    = 1 << 20  // bytes of a compressed request

	MaxItems  = 5_000  // of all lists of a request together
	MaxPast   = 20_000 // past states in a push
	MaxPurges = 500    // uids in a push: each is a transaction of the site
)

// Link names a push. Each push names the one before it, so that a site and a robot notice when they do not continue
// from the same state: one of them was restored from a backup, or the robot's memory was copied.
type Link []byte

// newLink returns a random link.
func newLink() Link {
	l := make(Link, 16)
	_, _ = rand.Read(l) // never fails
	return l
}

// The states of an answer in which nothing was stored.
const (
	StateDiverged = "diverged" // the push does not follow the last one that is known
	StateCloned   = "cloned"   // another memory has gone on from the state of this one
)

// HelloRequest introduces a robot before it sends.
type HelloRequest struct {
	Protocol int       `json:"protocol"`
	Version  string    `json:"version,omitempty"` // of the program
	Replica  string    `json:"replica"`           // of the robot's memory, made when it joined
	Robot    string    `json:"robot"`
	FileID   string    `json:"file_id,omitempty"`
	Before   []string  `json:"before,omitempty"`  // the replicas that the memory was before, newest first
	Replace  bool      `json:"replace,omitempty"` // this memory takes the place of another of that name
	Clock    time.Time `json:"clock,omitzero"`
}

// HelloResponse says how much of a robot's memory has arrived.
type HelloResponse struct {
	Protocol int    `json:"protocol"`
	State    string `json:"state,omitempty"` // empty, or cloned
	Upto     int64  `json:"upto"`            // the last change of the replica that has arrived, 0 of an unknown one
	Link     Link   `json:"link,omitempty"`  // of the last push
	Claim    Link   `json:"claim,omitempty"` // of a push after it, of which a part may be stored
	Cloned   bool   `json:"cloned,omitempty"`
}

// PushRequest sends changes of a robot's memory, in the order of their numbers.
type PushRequest struct {
	Protocol int               `json:"protocol"`
	Replica  string            `json:"replica"`
	Robot    string            `json:"robot"`
	Prev     Link              `json:"prev,omitempty"` // the push before
	Link     Link              `json:"link,omitempty"` // this one; without it no order is checked
	Upto     int64             `json:"upto"`           // the number of the last change; 0 if it is in a later push
	Sessions []archive.Session `json:"sessions,omitempty"`
	Memories []NumberedMemory  `json:"memories,omitempty"`
	Past     []PastStates      `json:"past,omitempty"`
	Links    []archive.Link    `json:"links,omitempty"`
	Purged   []string          `json:"purged,omitempty"` // uids
	Credits  []Credit          `json:"credits,omitempty"`
	// Asks stores nothing: the answer names the payloads of these memories that the site does not have.
	Asks bool `json:"asks,omitempty"`
}

// NumberedMemory is a memory with the number of its last change. Its versions are those that the site has not
// acknowledged.
type NumberedMemory struct {
	Counter int64 `json:"counter"`
	// Adopted says that this state was read from the site, and is no change of the robot's.
	Adopted bool `json:"adopted,omitempty"`
	archive.Memory
}

// PastStates are past states of a memory that do not fit into the push of the memory.
type PastStates struct {
	UID      string            `json:"uid"`
	Versions []archive.Version `json:"versions"`
}

// Credit says that a memory of another robot was used in an episode of this one, and whether it helped.
type Credit struct {
	UID       string  `json:"uid"`
	SessionID string  `json:"session_id"`
	Helped    float64 `json:"helped"` // 0 to 1, the outcome of the episode
}

// PushResponse acknowledges a push. What it counts is durable.
type PushResponse struct {
	Protocol  int                 `json:"protocol"`
	State     string              `json:"state,omitempty"` // empty, diverged or cloned; only if it is empty anything was stored
	Upto      int64               `json:"upto"`
	Link      Link                `json:"link,omitempty"` // of the last push that is stored
	Memories  archive.ImportCount `json:"memories"`
	Conflicts []SyncNote          `json:"conflicts,omitempty"` // changed here and there; both are kept
	Refused   []SyncNote          `json:"refused,omitempty"`   // what the site cannot store
	Wanted    []string            `json:"wanted,omitempty"`    // SHA-256 of payloads that it does not have
}

// SyncNote is a remark about one memory.
type SyncNote struct {
	UID    string `json:"uid"`
	Reason string `json:"reason"`
}

// Subscription chooses facts.
type Subscription struct {
	Collection string          `json:"collection"` // * for all
	Where      robotmem.Object `json:"where,omitempty"`
}

// PullRequest asks what is new in feeds: in that of each collection, and in OwnFeed of the robot. It confirms what the
// robot has applied.
type PullRequest struct {
	Protocol  int               `json:"protocol"`
	Replica   string            `json:"replica"`
	Robot     string            `json:"robot"`
	Subscribe []string          `json:"subscribe,omitempty"` // collections, * for all
	Cursors   map[string]Cursor `json:"cursors,omitempty"`   // by feed
	Newest    int64             `json:"newest,omitempty"`    // how many facts are wanted of a feed without a cursor; 0 for all
	Waiting   int64             `json:"waiting,omitempty"`   // changes that the robot has not sent
	Refused   int64             `json:"refused,omitempty"`   // changes that the site has refused
}

// Cursor is a place in a feed: a number, and the mark that the site gave it.
type Cursor struct {
	Number int64  `json:"n"`
	Mark   string `json:"m,omitempty"`
}

// PullResponse says what is new. A feed without anything new is left out.
type PullResponse struct {
	Protocol  int      `json:"protocol"`
	Feeds     []News   `json:"feeds,omitempty"`
	More      bool     `json:"more,omitempty"`      // there are further chunks: ask again after these
	Conflicts []string `json:"conflicts,omitempty"` // uids of the robot's memories that are in conflict
	Cloned    bool     `json:"cloned,omitempty"`
}

// News is what a feed has after a cursor.
type News struct {
	Feed       string  `json:"feed"`
	Restart    bool    `json:"restart,omitempty"` // the cursor is not of this feed: all copies of it are read anew
	After      int64   `json:"after"`
	Generation int64   `json:"generation"`
	Chunks     []Chunk `json:"chunks,omitempty"`
	End        bool    `json:"end,omitempty"`     // the chunks reach to the end of the feed
	Refused    string  `json:"refused,omitempty"` // why the feed is not the caller's to read
}

// Chunk is a part of a feed, at most 100 numbers. All robots read the same chunks, so a cache can serve them.
type Chunk struct {
	First int64  `json:"first"`
	Last  int64  `json:"last"`
	Mark  string `json:"mark"` // of the last number, which nobody can guess
}

const chunkPath = "/api/fleet/chunk"

// Path returns the address of a chunk at a site.
func (c Chunk) Path(feed string, generation int64) string {
	return chunkPath + "?" + url.Values{
		"feed": {feed}, "generation": {strconv.FormatInt(generation, 10)},
		"first": {strconv.FormatInt(c.First, 10)}, "last": {strconv.FormatInt(c.Last, 10)}, "mark": {c.Mark},
	}.Encode()
}

// The kinds of changes in a feed.
const (
	Changed = "changed"
	Left    = "left"   // it is in another collection now
	Purged  = "purged" // its text must not be kept anywhere
)

// Entry is a change in a chunk, a line of JSON. A memory that has changed again is not in it: it comes later.
type Entry struct {
	Number int64           `json:"n"`
	UID    string          `json:"uid"`
	Change string          `json:"change"`
	Memory *archive.Memory `json:"memory,omitempty"`
}

// EndOfChunk stands for the uid in the last line of a chunk, whose number is the last one of the chunk.
const EndOfChunk = "end"

// OwnFeed is the feed of what others than the robot did to its memories.
func OwnFeed(robot string) string { return "@" + robot }

// Entries is an archive.Source of a list.
type Entries struct{ List []*archive.Entry }

// Next implements archive.Source.
func (l *Entries) Next() (*archive.Entry, error) {
	if len(l.List) == 0 {
		return nil, io.EOF
	}
	e := l.List[0]
	l.List = l.List[1:]
	return e, nil
}

// StateOf is a hash of what makes two states of a memory different.
func StateOf(m *archive.Memory) []byte {
	data, _ := json.Marshal([]any{m.Content, m.Context, m.Collection, m.Status, m.Pinned, m.Extra.Outcome, m.UserTags}) // texts and JSON
	sum := sha256.Sum256(data)
	return sum[:16]
}

// MarkText is a mark as the protocol writes it.
func MarkText(mark []byte) string { return hex.EncodeToString(mark) }

// empty reports whether a push says nothing.
func (p *PushRequest) empty() bool { return p.size() == 0 }

// Speaks returns the version of the protocol of a request.
func (h *HelloRequest) Speaks() int { return h.Protocol }

// Speaks returns the version of the protocol of a request.
func (p *PushRequest) Speaks() int { return p.Protocol }

// Speaks returns the version of the protocol of a request.
func (p *PullRequest) Speaks() int { return p.Protocol }
