// Package fleet is the robot's side of a site: it sends what the robot learns, fetches what others have learnt, and
// asks the site beside the robot's own memory.
package fleet

import (
	"crypto/sha256"
	"encoding/json"
	"io"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// MaxUnpacked bounds a decompressed request or answer, in bytes.
const MaxUnpacked = 64 << 20

// MaxPush bounds a compressed push, in bytes.
const MaxPush = 1 << 20

// The types of the protocol between a robot and its site. Each is sent as JSON.

// PushRequest sends changes of a robot's memory, in the order of their numbers.
type PushRequest struct {
	Replica  string            `json:"replica"` // of the robot's memory, made when it joined
	Robot    string            `json:"robot"`
	Upto     int64             `json:"upto"` // the number of the last change
	Sessions []archive.Session `json:"sessions,omitempty"`
	Memories []NumberedMemory  `json:"memories,omitempty"`
	Links    []archive.Link    `json:"links,omitempty"`
	Purged   []string          `json:"purged,omitempty"` // uids
}

// NumberedMemory is a memory with the number of its last change.
type NumberedMemory struct {
	Counter int64 `json:"counter"`
	archive.Memory
}

// PushResponse acknowledges a push. What it counts is durable.
type PushResponse struct {
	Upto      int64               `json:"upto"`
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

// empty reports whether a push says nothing.
func (p *PushRequest) empty() bool {
	return len(p.Sessions)+len(p.Memories)+len(p.Links)+len(p.Purged) == 0
}

// HelloRequest introduces a robot before it sends.
type HelloRequest struct {
	Replica string `json:"replica"`
	Robot   string `json:"robot"`
	Replace bool   `json:"replace,omitempty"` // this memory takes the place of another of that name
}

// HelloResponse holds the number of the last change that has arrived.
type HelloResponse struct {
	Upto int64 `json:"upto"` // the last change of the replica that has arrived, 0 of an unknown one
}

// PullRequest asks for what others have learnt.
type PullRequest struct {
	Replica   string         `json:"replica"`
	After     int64          `json:"after"` // Upto of the answer before
	Subscribe []Subscription `json:"subscribe"`
	Limit     int            `json:"limit,omitempty"` // memories that are looked at; 500 if zero
}

// Subscription chooses facts.
type Subscription struct {
	Collection string          `json:"collection"` // * for all
	Where      robotmem.Object `json:"where,omitempty"`
}

// PullResponse holds facts that other robots have learnt, and what became of those that were sent before.
type PullResponse struct {
	Upto     int64            `json:"upto"`
	More     bool             `json:"more"`
	Memories []archive.Memory `json:"memories"`
}

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
