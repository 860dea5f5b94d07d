package local

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// cursor is where a page of a list ends, as the answer's next names it and the
// next question gives it back. Pages are told apart by what they end with and
// not by how much was skipped, so that none repeats or leaves out a thing when
// others write in between.
type cursor struct {
	Op      string `json:"o"`
	Filters uint32 `json:"f"`           // a hash of the question without its paging
	ID      int64  `json:"i"`           // the row that the page ends with
	At      string `json:"t,omitempty"` // when that was observed, in a list by time
}

func (c cursor) String() string {
	data, err := json.Marshal(c)
	if err != nil {
		panic(err) // two numbers and two texts
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// paging is how a request asks for a page.
type paging struct {
	page     int
	beforeID int64
	cursor   string
}

// resume reads the cursor of a request, nil if it has none. filters is the
// request without its paging.
func resume(op string, p paging, filters any) (*cursor, error) {
	if p.cursor == "" {
		return nil, nil
	}
	if p.page > 1 {
		return nil, robotmem.Errorf(robotmem.Invalid, "page", "takes no cursor beside it; give one of the two")
	}
	if p.beforeID > 0 {
		return nil, robotmem.Errorf(robotmem.Invalid, "before_id", "takes no cursor beside it; give one of the two")
	}
	var c cursor
	data, err := base64.RawURLEncoding.DecodeString(p.cursor)
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		err = dec.Decode(&c)
	}
	// Spelt in another way it is not one that was given out.
	if err != nil || c.String() != p.cursor || c.ID < 1 {
		return nil, robotmem.Errorf(robotmem.Invalid, "cursor", "is not one that %s has given out; pass next of the page before as it is, or leave cursor out to begin anew", op)
	}
	if c.Op != op {
		return nil, robotmem.Errorf(robotmem.Invalid, "cursor", "belongs to %s, not to %s; leave it out to begin anew", text.Clip(c.Op, 40), op)
	}
	if c.Filters != hashOf(filters) {
		return nil, robotmem.Errorf(robotmem.Invalid, "cursor", "belongs to a list with other filters; ask as for the page before, or leave cursor out to begin anew")
	}
	if c.At != "" {
		if _, err := time.Parse(timeFormat, c.At); err != nil {
			return nil, robotmem.Errorf(robotmem.Invalid, "cursor", "is damaged; leave it out to begin anew")
		}
	}
	return &c, nil
}

// after is the cursor of a page that ends with a row.
func after(op string, filters any, id int64) cursor {
	return cursor{Op: op, Filters: hashOf(filters), ID: id}
}

func hashOf(filters any) uint32 {
	data, err := json.Marshal(filters)
	if err != nil {
		panic(err) // requests are made of texts and finite numbers
	}
	h := fnv.New32a()
	_, _ = h.Write(data) // never fails
	return h.Sum32()
}

// listFilters, and those below, are requests without their paging.
func listFilters(r robotmem.ListRequest) any {
	r.Page, r.Limit, r.BeforeID, r.Cursor = 0, 0, 0, ""
	return r
}

func sessionsFilters(r robotmem.SessionsRequest) any {
	r.Page, r.Limit, r.Cursor = 0, 0, ""
	return r
}

func sessionMemoriesFilters(r robotmem.SessionMemoriesRequest) any {
	r.Page, r.Limit, r.Cursor = 0, 0, ""
	return r
}

// cut ends a page at its limit and reports whether there was more.
func cut[T any](items []T, limit int) ([]T, bool) {
	if len(items) <= limit {
		return items, false
	}
	return items[:limit], true
}
