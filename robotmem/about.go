package robotmem

import (
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// AboutRequest asks what is known of a subject: a robot, an object, a place, a part or a person.
type AboutRequest struct {
	Subject    string `json:"subject,omitempty" validate:"utf8,maxbytes=256" cli:"arg" doc:"Its name in any spelling (gripper 3, Gripper-3), or one of its other names. Without it the answer lists the subjects."`
	Collection string `json:"collection,omitempty" validate:"omitempty,collections" default:"*" doc:"Namespace. Default: all."`
	N          int    `json:"n,omitempty" validate:"min=1,max=50" default:"5" doc:"Lines of each part, 1 to 50."`
}

func (r *AboutRequest) trim() { r.Subject = strings.TrimSpace(r.Subject) }

// AboutResponse is the page of a subject, with the memories as evidence.
type AboutResponse struct {
	admin.Interpretation
	Subject  string         `json:"subject,omitempty"`
	Kind     string         `json:"kind,omitempty" doc:"robot, object, place, part or person, if a context or the file of entities says so."`
	Aliases  []string       `json:"aliases,omitempty" doc:"Its other names: from the file of entities, and names that stand beside its id in contexts."`
	Memories int            `json:"memories" doc:"Active memories that name it, in their text or context."`
	Counts   map[string]int `json:"counts,omitempty" doc:"How many of these ended as success, failure, partial or unknown."`
	First    *time.Time     `json:"first,omitempty" doc:"When the earliest was observed."`
	Last     *time.Time     `json:"last,omitempty" doc:"When the latest was observed."`
	LastSeen *LastSeen      `json:"last_seen,omitempty" doc:"The latest memory of it with a place."`
	Rules    []AboutLine    `json:"rules,omitempty" doc:"Constraints and pinned facts."`
	Worked   []AboutLine    `json:"worked,omitempty"`
	Failed   []AboutLine    `json:"failed,omitempty" doc:"Failures and partial successes."`
	Current  []AboutLine    `json:"current,omitempty" doc:"Other facts, the newest first; those that a later one has replaced come last."`
	Related  []SubjectCount `json:"related,omitempty" doc:"Subjects that the contexts of these memories name beside it, the most frequent first."`
	Subjects []SubjectCount `json:"subjects,omitempty" doc:"Without a subject in the request: those that contexts or the file of entities name, the most frequent first, at most 200."`
	Notes    []string       `json:"notes,omitempty"`
}

// AboutLine is one memory, or several that differ in their numbers alone.
type AboutLine struct {
	MemoryID int64  `json:"memory_id"`
	Line     string `json:"line" doc:"As in the compact form of recall."`
	Alike    int    `json:"alike,omitempty" doc:"How many memories it stands for, if more than one."`
	// MemoryIDs are those of the others.
	MemoryIDs []int64 `json:"memory_ids,omitempty" doc:"The others that it stands for, at most 20."`
}

// LastSeen is where a subject was observed last.
type LastSeen struct {
	MemoryID   int64     `json:"memory_id"`
	Field      string    `json:"field,omitempty" doc:"Context path of the position."`
	Position   []float64 `json:"position,omitempty"`
	MapID      string    `json:"map_id,omitempty"`
	Place      string    `json:"place,omitempty" doc:"The name of the place, if the context has one."`
	ObservedAt time.Time `json:"observed_at"`
}

// SubjectCount is a subject and the number of memories that name it.
type SubjectCount struct {
	Name     string `json:"name"`
	Kind     string `json:"kind,omitempty"`
	Memories int64  `json:"memories"`
}
