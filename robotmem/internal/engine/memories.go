package engine

import (
	"context"
	"slices"
	"sort"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/index"
	"github.com/robotmem/robotmem-go/robotmem/internal/recall"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

func (n *Engine) History(ctx context.Context, req *robotmem.MemoryRequest) (*robotmem.HistoryResponse, error) {
	return read(ctx, n, "history", req, func(c *store.Conn, r *robotmem.MemoryRequest, res *robotmem.HistoryResponse) (err error) {
		res.MemoryID = r.MemoryID
		res.UID, res.Versions, err = c.Versions(r.MemoryID)
		return err
	})
}

func (n *Engine) Get(ctx context.Context, req *robotmem.MemoryRequest) (*robotmem.Memory, error) {
	return read(ctx, n, "get", req, func(c *store.Conn, r *robotmem.MemoryRequest, res *robotmem.Memory) error {
		m, err := c.Memory(r.MemoryID, n.Now())
		if err != nil {
			return err
		}
		if m.SHA256 != "" {
			m.Bytes, err = c.PayloadSize(m.SHA256)

			// Conflicts are not stored. They are found again from the present text.
		} else if m.Type == "fact" && m.Status == "active" {
			var rec *record.Record
			if rec, err = n.records.RecordOf(m); err == nil {
				m.Conflicts, err = c.Conflicts(rec)
			}
		}
		*res = *m

		return err
	})
}

func (n *Engine) Timeline(ctx context.Context, req *robotmem.TimelineRequest) (*robotmem.TimelineResponse, error) {
	return read(ctx, n, "timeline", req, func(c *store.Conn, r *robotmem.TimelineRequest, res *robotmem.TimelineResponse) error {
		m, err := c.Memory(r.MemoryID, n.Now())
		if err != nil {
			return err
		}

		var same robotmem.Object

		switch robot := record.RobotOf(m.Context); {
		case m.SessionID != "":
			res.Of, same = "session "+m.SessionID, robotmem.Object{"session_id": m.SessionID}
		case robot != "":
			res.Of = "robot " + robot
			same = robotmem.Object{"$or": []any{map[string]any{"robot": robot}, map[string]any{"robot.id": robot}, map[string]any{"robot.name": robot}}}
		default:
			res.Of = "collection " + m.Collection
		}

		set, err := n.matching(c, index.Selection{Scope: index.Scope{Collection: m.Collection}}, same)
		if err != nil {
			return err
		}

		set = set.Clone().Set(uint(m.MemoryID)) // whatever its status
		moments := n.index.Columns.ObservedTimes(set)
		slices.SortFunc(moments, store.TimedID.Compare)
		at := slices.IndexFunc(moments, func(t store.TimedID) bool { return t.ID == m.MemoryID })
		around := moments[max(0, at-*r.Before):min(len(moments), at+*r.After+1)]
		found, degraded, err := c.FindAll(store.IDsOf(around), n.Now())
		res.Memories, res.Degraded = recall.Lines(found, n.Now()), degraded

		return err
	})
}

func (n *Engine) List(ctx context.Context, req *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	return read(ctx, n, "list", req, func(c *store.Conn, r *robotmem.ListRequest, res *robotmem.ListResponse) error {
		from, err := store.Resume("list", store.Paging{Page: r.Page, BeforeID: r.BeforeID, Cursor: r.Cursor}, r)
		if err != nil {
			return err
		}

		if r.SessionID != "" {
			if _, err := c.Session(r.SessionID); err != nil {
				return err
			}
		}

		l := index.Listing{
			Scope: index.Scope{
				Collection: r.Collection, Session: r.SessionID, Category: r.Category, Kind: r.Type,
				Perception: r.PerceptionType,
			},
			Status: r.Status, Tags: r.Tags, MinConfidence: r.ConfidenceMin, MaxConfidence: r.ConfidenceMax, Now: n.Now(),
		}
		if l.Filter, err = filter.Parse(r.ContextFilter); err != nil {
			return err
		}
		if r.Days > 0 {
			l.Created = n.Now().AddDate(0, 0, -r.Days)
		}

		set, err := n.index.List(c, l)
		if err != nil {
			return err
		}

		if set.None() {
			if res.Notes, err = n.filterHints(ctx, c, l.Filter, true); err != nil {
				return err
			}
		}

		ids := newestFirst(set, r.BeforeID)
		p := page{ids, r.Page, r.Limit, (r.Page - 1) * r.Limit}

		// A cursor holds the last id of the page before, so memories that were stored or forgotten since do not shift
		// the page.
		if from != nil {
			p.number, p.from = 0, sort.Search(len(ids), func(i int) bool { return ids[i] < from.ID })
		}

		return n.fill(c, res, p, func(last store.TimedID) string {
			return store.After("list", r, last.ID, "")
		})
	})
}

// newestFirst lists the ids of a set in descending order, only those below a bound if it
// is above 0.
func newestFirst(set *bitset.BitSet, before int64) []int64 {
	ids := make([]int64, 0, set.Count())
	for id, ok := set.NextSet(0); ok && (before == 0 || int64(id) < before); id, ok = set.NextSet(id + 1) {
		ids = append(ids, int64(id))
	}
	slices.Reverse(ids)
	return ids
}

// page is one page of a list.
type page struct {
	ids           []int64 // the whole list, in order
	number, limit int     // the requested page; number is 0 if it follows a cursor
	from          int     // index in ids of the first item
}

// fill loads the memories of a page. next returns the cursor of the page that follows a memory.
func (n *Engine) fill(c *store.Conn, res *robotmem.ListResponse, p page, next func(store.TimedID) string) (err error) {
	res.Page, res.Limit, res.Total = p.number, p.limit, int64(len(p.ids))
	rest := p.ids[min(len(p.ids), p.from):]
	ids := rest[:min(len(rest), p.limit)]
	if res.Memories, res.Degraded, err = c.FindAll(ids, n.Now()); err != nil {
		return err
	}
	if unread := n.index.Columns.Unread(); unread != "" {
		res.Degraded = append(res.Degraded, unread)
	}
	if len(ids) == len(rest) {
		return nil
	}

	last := store.TimedID{ID: ids[len(ids)-1]}
	if row, ok := n.index.Columns.Row(last.ID); ok {
		last.NS = row.Observed
	}

	res.Next = next(last)

	return nil
}

func (n *Engine) Sessions(ctx context.Context, req *robotmem.SessionsRequest) (*robotmem.SessionsResponse, error) {
	return read(ctx, n, "sessions", req, func(c *store.Conn, r *robotmem.SessionsRequest, res *robotmem.SessionsResponse) error {
		from, err := store.Resume("sessions", store.Paging{Page: r.Page, Cursor: r.Cursor}, r)
		if err != nil {
			return err
		}
		if res.Limit = r.Limit; from == nil {
			res.Page = r.Page
		}

		return c.Sessions(r, from, res)
	})
}

func (n *Engine) SessionMemories(
	ctx context.Context, req *admin.SessionMemoriesRequest,
) (*robotmem.ListResponse, error) {
	return read(ctx, n, "session_memories", req, func(c *store.Conn, r *admin.SessionMemoriesRequest, res *robotmem.ListResponse) error {
		from, err := store.Resume("session_memories", store.Paging{Page: r.Page, Cursor: r.Cursor}, r)
		if err != nil {
			return err
		}
		if _, err := c.Session(r.SessionID); err != nil {
			return err
		}

		set, err := n.index.List(c,
			index.Listing{Scope: index.Scope{Collection: "*", Session: r.SessionID}, Status: "all"})
		if err != nil {
			return err
		}

		moments := n.index.Columns.ObservedTimes(set)
		slices.SortFunc(moments, store.TimedID.Compare)
		p := page{store.IDsOf(moments), r.Page, r.Limit, (r.Page - 1) * r.Limit}
		if from != nil {
			last := store.TimedID{ID: from.ID, NS: store.ParseTime(from.At).UnixNano()}
			p.number, p.from = 0, sort.Search(len(moments), func(i int) bool { return moments[i].Compare(last) > 0 })
		}

		return n.fill(c, res, p, func(last store.TimedID) string {
			return store.After("session_memories", r, last.ID, store.FormatTime(time.Unix(0, last.NS)))
		})
	})
}

func (n *Engine) Collections(ctx context.Context, req *admin.CollectionsRequest) (*admin.CollectionsResponse, error) {
	return read(ctx, n, "collections", req, func(c *store.Conn, _ *admin.CollectionsRequest, res *admin.CollectionsResponse) (err error) {
		if err := n.index.Columns.Sync(c); err != nil {
			return err
		}
		res.Collections, err = index.Collections(c, &n.index.Columns)
		return err
	})
}

func (n *Engine) Categories(ctx context.Context, req *admin.CategoriesRequest) (*admin.CategoriesResponse, error) {
	return read(ctx, n, "categories", req, func(c *store.Conn, r *admin.CategoriesRequest, res *admin.CategoriesResponse) error {
		if err := n.index.Columns.Sync(c); err != nil {
			return err
		}
		res.Categories = n.index.Columns.Categories(r.Collection)
		return nil
	})
}

func (n *Engine) RecentFailures(ctx context.Context, req *admin.RecentFailuresRequest) (*robotmem.ListResponse, error) {
	return read(ctx, n, "recent_failures", req, n.recentFailures)
}

func (n *Engine) recentFailures(c *store.Conn, r *admin.RecentFailuresRequest, res *robotmem.ListResponse) error {
	from := index.Selection{Scope: index.Scope{Collection: r.Collection}}
	if r.Days > 0 {
		from.After = new(n.Now().AddDate(0, 0, -r.Days))
	}
	set, err := n.matching(c, from, failed)
	if err != nil {
		return err
	}
	res.Page, res.Limit, res.Total = 1, r.Limit, int64(set.Count())
	res.Memories, res.Degraded, err = c.Newest(n.index.Columns.ObservedTimes(set), r.Limit, n.Now())

	return err
}

// failed matches failures: lessons, and memories of a task without success.
var failed = robotmem.Object{"$or": []any{
	map[string]any{"category": map[string]any{"$in": []any{"postmortem", "gotcha"}}},
	map[string]any{"outcome": robotmem.OutcomeFailure},
}}
