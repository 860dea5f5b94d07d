package store

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// cursor is the end of a page of a list, as in next of the response and cursor of the
// next request. A page starts after the last row of the page before, not at an offset,
// so that concurrent writes neither repeat nor skip rows.
type cursor struct {
	List uint32 `json:"l"`           // a hash of the operation and of the request without its paging
	ID   int64  `json:"i"`           // the last row of the page
	At   string `json:"t,omitempty"` // its observed_at, in a list by time
}

func (c cursor) String() string {
	data, err := json.Marshal(c)
	if err != nil {
		// Not possible for numbers and strings.
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// Paging holds the paging fields of a request.
type Paging struct {
	Page     int
	BeforeID int64
	Cursor   string
}

// Resume decodes the cursor of a request, nil if it has none.
func Resume(op string, p Paging, request any) (*cursor, error) {
	if p.Cursor == "" {
		return nil, nil
	}
	if p.Page > 1 {
		return nil, robotmem.Errorf(robotmem.Invalid, "page", "cannot be combined with cursor; pass one of the two")
	}
	if p.BeforeID > 0 {
		return nil, robotmem.Errorf(robotmem.Invalid, "before_id",
			"cannot be combined with cursor; pass one of the two")
	}

	var c cursor
	data, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	// A cursor that decodes but has another spelling was not made by this program.
	if err != nil || c.String() != p.Cursor || c.ID < 1 || c.List != hashOf(op, request) {
		return nil, robotmem.Errorf(robotmem.Invalid, "cursor",
			"is not next of a page of this list, or belongs to other filters; "+
				"pass next of the previous page and the same filters, or leave cursor out to start from the first page")
	}

	return &c, nil
}

// After returns the cursor of a page that ends with a row. at is its observed_at in a
// list by time, else "".
func After(op string, request any, id int64, at string) string {
	return cursor{List: hashOf(op, request), ID: id, At: at}.String()
}

// hashOf returns a hash of an operation and its request without the paging.
func hashOf(op string, request any) uint32 {
	data, err := json.Marshal(request)

	var filters map[string]any
	if err == nil {
		err = json.Unmarshal(data, &filters)
	}

	if err != nil {
		// Not possible for strings and finite numbers.
		panic(err)
	}

	for _, name := range []string{"page", "limit", "before_id", "cursor"} {
		delete(filters, name)
	}

	// The keys of a map are marshalled in order, so equal filters have equal hashes. Neither call can fail: the map
	// was decoded from JSON, and a hash accepts every write.
	data, _ = json.Marshal(filters)
	h := fnv.New32a()
	_, _ = h.Write(append(data, op...))

	return h.Sum32()
}

// Cut limits a page and reports whether there were more items.
func Cut[T any](items []T, limit int) ([]T, bool) {
	if len(items) <= limit {
		return items, false
	}
	return items[:limit], true
}

// inCollections returns two parameters: the set of collections as it was asked for, "*" for all, and its names as a
// JSON list.
func inCollections(set string) []any {
	return []any{set, listOf(strings.Split(set, ","))}
}

// timeOrEmpty returns the end of a period as a parameter, "" without one.
func timeOrEmpty(t *time.Time) string {
	if t == nil {
		return ""
	}
	return FormatTime(*t)
}

// EachRecallHour visits the recall totals of each hour since a time.
func (c *Conn) EachRecallHour(collection string, from time.Time, visit func(time.Time, RecallTotals)) error {
	return c.Query(RecallHours, append(inCollections(collection), FormatTime(from)), func(s Row) error {
		visit(ParseTime(s.ColumnText(0)), RecallTotals{s.ColumnInt64(1), s.ColumnInt64(2)})
		return nil
	})
}

// Newest loads the n most recent memories.
func (c *Conn) Newest(moments []TimedID, n int, now time.Time) ([]robotmem.Memory, []string, error) {
	slices.SortFunc(moments, func(a, b TimedID) int { return b.Compare(a) })

	ids := make([]int64, min(n, len(moments)))
	for i := range ids {
		ids[i] = moments[i].ID
	}

	return c.FindAll(ids, now)
}

// TimedID is a memory with its observed_at in nanoseconds since 1970.
type TimedID struct{ ID, NS int64 }

// Compare orders by time, then by id.
func (m TimedID) Compare(o TimedID) int {
	return cmp.Or(cmp.Compare(m.NS, o.NS), cmp.Compare(m.ID, o.ID))
}

// IDsOf returns the ids of rows, in their order.
func IDsOf(rows []TimedID) []int64 {
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	return ids
}
