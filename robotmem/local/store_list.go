package local

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
)

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

// list fills one page of memories, newest first, and how many match in all.
func (c *conn) list(r *robotmem.ListRequest, from *cursor, now time.Time, res *robotmem.ListResponse) error {
	var match conditions
	if r.BeforeID > 0 {
		match.add("m.id < ?", r.BeforeID)
	}
	if r.Collection != "*" {
		match.add("m.collection = ?", r.Collection)
	}
	if r.Status != "all" {
		match.add("m.status = ?", r.Status)
	}
	for _, is := range [...][2]string{{"m.type", r.Type}, {"m.category", r.Category}, {"m.perception_type", r.PerceptionType}, {"m.session_id", r.SessionID}} {
		if is[1] != "" {
			match.add(is[0]+" = ?", is[1])
		}
	}
	for _, tag := range r.Tags {
		match.add("m.id IN (SELECT memory_id FROM memory_tags WHERE tag = ?)", tag)
	}
	if r.ConfidenceMin != nil {
		match.add("m.confidence >= ?", *r.ConfidenceMin)
	}
	if r.ConfidenceMax != nil {
		match.add("m.confidence <= ?", *r.ConfidenceMax)
	}
	if r.Days > 0 {
		match.add("m.created_at >= ?", formatTime(now.AddDate(0, 0, -r.Days)))
	}
	const memories = " FROM memories m"
	var err error
	if res.Total, err = c.Number("SELECT count(*)"+memories+match.String(), match.args...); err != nil {
		return err
	}
	if from != nil {
		match.add("m.id < ?", from.ID)
	}
	page, err := c.page(memories+match.String()+" ORDER BY m.id DESC LIMIT ? OFFSET ?", append(match.args, r.Limit+1, (r.Page-1)*r.Limit), now)
	if err != nil {
		return err
	}
	var more bool
	if res.Memories, more = cut(page, r.Limit); more {
		res.Next = after("list", listFilters(*r), res.Memories[r.Limit-1].MemoryID).String()
	}
	return nil
}

// sessions fills one page of episodes, newest first.
func (c *conn) sessions(r *robotmem.SessionsRequest, from *cursor, res *robotmem.SessionsResponse) (err error) {
	match, args := " FROM sessions s WHERE (? = '*' OR s.collection = ?) AND (? = '' OR s.status = ?)", []any{r.Collection, r.Collection, r.Status, r.Status}
	if res.Total, err = c.Number("SELECT count(*)"+match, args...); err != nil {
		return err
	}
	if from != nil {
		match, args = match+" AND s.id < ?", append(args, from.ID)
	}
	page, ids := []robotmem.Session{}, []int64{}
	err = c.Query("SELECT "+sessionColumns+", s.id"+match+" ORDER BY s.id DESC LIMIT ? OFFSET ?", append(args, r.Limit+1, (r.Page-1)*r.Limit), func(s *sqlite3.Stmt) error {
		page, ids = append(page, scanSession(s)), append(ids, s.ColumnInt64(sessionID))
		return nil
	})
	var more bool
	if res.Sessions, more = cut(page, r.Limit); more {
		res.Next = after("sessions", sessionsFilters(*r), ids[r.Limit-1]).String()
	}
	return err
}

// sessionMemories fills one page of an episode's, whatever their status, as it
// was lived.
func (c *conn) sessionMemories(r *robotmem.SessionMemoriesRequest, from *cursor, now time.Time, res *robotmem.ListResponse) (err error) {
	if res.Total, err = c.Number("SELECT count(*) FROM memories WHERE session_id = ?", r.SessionID); err != nil {
		return err
	}
	match, args := " FROM memories m WHERE m.session_id = ?", []any{r.SessionID}
	if from != nil {
		match, args = match+" AND (m.observed_at, m.id) > (?, ?)", append(args, from.At, from.ID)
	}
	page, err := c.page(match+" ORDER BY m.observed_at, m.id LIMIT ? OFFSET ?", append(args, r.Limit+1, (r.Page-1)*r.Limit), now)
	if err != nil {
		return err
	}
	var more bool
	if res.Memories, more = cut(page, r.Limit); more {
		last := &res.Memories[r.Limit-1]
		next := after("session_memories", sessionMemoriesFilters(*r), last.MemoryID)
		next.At = formatTime(last.ObservedAt)
		res.Next = next.String()
	}
	return nil
}

func (c *conn) collections(r *roster) ([]robotmem.CollectionCount, error) {
	counts := map[string]*robotmem.CollectionCount{}
	at := func(name string) *robotmem.CollectionCount {
		if counts[name] == nil {
			counts[name] = &robotmem.CollectionCount{Collection: name}
		}
		return counts[name]
	}
	r.each(func(row *rosterRow, text func(uint32) string) {
		n := at(text(row.collection))
		n.Total++
		if row.status == statusActive {
			n.Active++
		}
	})
	err := c.Query("SELECT collection, count(*) FROM sessions GROUP BY collection", nil, func(s *sqlite3.Stmt) error {
		at(s.ColumnText(0)).Sessions = s.ColumnInt64(1)
		return nil
	})
	out := []robotmem.CollectionCount{}
	for _, n := range counts {
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b robotmem.CollectionCount) int { return cmp.Compare(a.Collection, b.Collection) })
	return out, err
}

// each visits every memory. text spells the roster's numbers.
func (r *roster) each(visit func(row *rosterRow, text func(uint32) string)) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	text := r.text // once: making it allocates
	for i := range r.rows {
		if r.rows[i].kind != 0 {
			visit(&r.rows[i], text)
		}
	}
}

func (r *roster) active(collection string) (n int64) {
	set, _ := r.admit(basic{audience: audience{collection: collection}})
	return int64(set.Count())
}

func (r *roster) categories(collection string) []robotmem.CategoryCount {
	counts := map[string]int64{}
	r.each(func(row *rosterRow, text func(uint32) string) {
		if row.status == statusActive && (collection == "*" || text(row.collection) == collection) {
			counts[text(row.category)]++
		}
	})
	out := []robotmem.CategoryCount{}
	for c, n := range counts {
		out = append(out, robotmem.CategoryCount{Category: c, Count: n})
	}
	slices.SortFunc(out, func(a, b robotmem.CategoryCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Category, b.Category))
	})
	return out
}

// failed is what counts as a failure: lessons, and a task that did not succeed.
var failed = filter.Condition{Op: "$or", Kids: []filter.Condition{
	{Op: "$in", Path: "category", Values: []any{"postmortem", "gotcha"}},
	{Op: "$eq", Path: "task.success", Values: []any{[]byte(filter.BlobFalse)}},
}}

// failures returns what went wrong since a time, newest first, n at most, and
// how many there are.
func (e *Engine) failures(c *conn, collection string, since time.Time, n int) ([]robotmem.Memory, int64, error) {
	set, err := e.failureSet(c, collection, since)
	if err != nil {
		return nil, 0, err
	}
	out, err := c.newest(e.index.roster.moments(set), n, e.now())
	return out, int64(set.Count()), err
}

// failureSet is what went wrong since a time, if one is given.
func (e *Engine) failureSet(c *conn, collection string, since time.Time) (*bitset.BitSet, error) {
	if err := e.index.roster.sync(c); err != nil {
		return nil, err
	}
	now := e.now()
	b := basic{audience: audience{collection: collection}, now: now}
	if !since.IsZero() {
		b.after = &since
	}
	base, _, err := e.index.admit(c, b)
	if err != nil {
		return nil, err
	}
	return e.index.narrow(c, &failed, base, now)
}

// eachRecallHour visits what was asked in each hour from a time on.
func (c *conn) eachRecallHour(collection string, from time.Time, visit func(time.Time, asked)) error {
	return c.Query(`SELECT hour, sum(recalls), sum(zero_hits) FROM recall_hours
		WHERE hour >= ?1 AND (?2 = '*' OR collection = ?2) GROUP BY hour`, []any{formatTime(from), collection}, func(s *sqlite3.Stmt) error {
		visit(parseTime(s.ColumnText(0)), asked{s.ColumnInt64(1), s.ColumnInt64(2)})
		return nil
	})
}

// newest loads the latest n.
func (c *conn) newest(moments []moment, n int, now time.Time) ([]robotmem.Memory, error) {
	slices.SortFunc(moments, func(a, b moment) int { return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(b.id, a.id)) })
	out := []robotmem.Memory{}
	for _, m := range moments[:min(n, len(moments))] {
		memory, err := c.memory(m.id, now)
		if err != nil {
			return nil, err
		}
		out = append(out, *memory)
	}
	return out, nil
}
