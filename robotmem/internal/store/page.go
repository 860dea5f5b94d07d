package store

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
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

// Paging is how a request asks for a page.
type Paging struct {
	Page     int
	BeforeID int64
	Cursor   string
}

// Resume reads the cursor of a request, nil if it has none. filters is the
// request without its paging.
func Resume(op string, p Paging, filters any) (*cursor, error) {
	if p.Cursor == "" {
		return nil, nil
	}
	if p.Page > 1 {
		return nil, robotmem.Errorf(robotmem.Invalid, "page", "takes no cursor beside it; give one of the two")
	}
	if p.BeforeID > 0 {
		return nil, robotmem.Errorf(robotmem.Invalid, "before_id", "takes no cursor beside it; give one of the two")
	}
	var c cursor
	data, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		err = dec.Decode(&c)
	}
	// Spelt in another way it is not one that was given out.
	if err != nil || c.String() != p.Cursor || c.ID < 1 {
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

// After is the cursor of a page that ends with a row; at is when that was observed,
// in a list by time, else "".
func After(op string, filters any, id int64, at string) string {
	return cursor{Op: op, Filters: hashOf(filters), ID: id, At: at}.String()
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

// ListFilters, and those below, are requests without their paging.
func ListFilters(r robotmem.ListRequest) any {
	r.Page, r.Limit, r.BeforeID, r.Cursor = 0, 0, 0, ""
	return r
}

func SessionsFilters(r robotmem.SessionsRequest) any {
	r.Page, r.Limit, r.Cursor = 0, 0, ""
	return r
}

func SessionMemoriesFilters(r robotmem.SessionMemoriesRequest) any {
	r.Page, r.Limit, r.Cursor = 0, 0, ""
	return r
}

// Cut ends a page at its limit and reports whether there was more.
func Cut[T any](items []T, limit int) ([]T, bool) {
	if len(items) <= limit {
		return items, false
	}
	return items[:limit], true
}

// conditions are what rows must meet, all of them, with the values to bind.
type conditions struct {
	where []string
	args  []any
}

func (cs *conditions) add(condition string, value any) {
	cs.where = append(cs.where, condition)
	cs.args = append(cs.args, value)
}

// String is the WHERE clause, with a space before it; "" without conditions.
func (cs *conditions) String() string {
	if len(cs.where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(cs.where, " AND ")
}

// EachRecallHour visits what was asked in each hour from a time on.
func (c *Conn) EachRecallHour(collection string, from time.Time, visit func(time.Time, RecallTotals)) error {
	return c.Query(`SELECT hour, sum(recalls), sum(zero_hits) FROM recall_hours
		WHERE hour >= ?1 AND (?2 = '*' OR collection = ?2) GROUP BY hour`, []any{FormatTime(from), collection}, func(s *sqlite.Stmt) error {
		visit(ParseTime(s.ColumnText(0)), RecallTotals{s.ColumnInt64(1), s.ColumnInt64(2)})
		return nil
	})
}

// Newest loads the latest n.
func (c *Conn) Newest(moments []TimedID, n int, now time.Time) ([]robotmem.Memory, []string, error) {
	slices.SortFunc(moments, func(a, b TimedID) int { return b.Compare(a) })
	ids := make([]int64, min(n, len(moments)))
	for i := range ids {
		ids[i] = moments[i].ID
	}
	return c.FindAll(ids, now)
}

// TimedID is when a memory was observed, in nanoseconds since 1970.
type TimedID struct{ ID, NS int64 }

// Compare orders by time, ties by id.
func (m TimedID) Compare(o TimedID) int {
	return cmp.Or(cmp.Compare(m.NS, o.NS), cmp.Compare(m.ID, o.ID))
}
