package robotmem

import (
	"time"

	"github.com/robotmem/robotmem-go/robotmem/text"
)

// question is a parsed recall.
type question struct {
	RecallRequest
	filter        *condition
	content, stop []string // terms of the query
	now           time.Time
	degraded      []string
	// stopOnly are the memories that share nothing but stop words with the
	// question: no weight lifts them above one that shares more.
	stopOnly map[int64]bool
}

func (q *question) parse(now time.Time) error {
	named := q.Collection != "" && q.Collection != "*"
	if q.SessionID != "" && q.Collection == "" {
		q.Collection = "*" // an episode lies in one collection, whichever it is
	}
	if err := normalize("recall", &q.RecallRequest); err != nil {
		return err
	}
	var err error
	if q.filter, err = parseFilter(q.ContextFilter); err != nil {
		return err
	}
	if q.Like != nil {
		if err := q.Like.check(); err != nil {
			return fail(Invalid, "like", "%v", err)
		}
	}
	if q.AsOf != nil && q.AsOf.Before(now) {
		now = *q.AsOf
	} else {
		q.AsOf = nil // the future is believed as the present
	}
	q.now = now
	q.content, q.stop = text.Query(q.Query)
	if len(q.content) == 0 {
		q.content, q.stop = q.stop, nil
	}
	if len(q.content) > maxQueryTerms {
		q.content, q.stop = q.content[:maxQueryTerms], nil
		q.degraded = append(q.degraded, "query: only its first 256 different words were looked for")
	}
	if q.Query == "" && !named && !q.narrows() {
		return fail(Invalid, "query", "is required unless something else narrows the search, such as collection, session_id, context_filter, spatial_sort, after or tags")
	}
	return nil
}

func (q *question) narrows() bool {
	return q.SessionID != "" || q.filter != nil || q.SpatialSort != nil || q.After != nil || q.Before != nil || q.Like != nil ||
		q.Type != "" || q.PerceptionType != "" || q.Category != "" || len(q.Tags) > 0 || q.AsOf != nil
}

func (q *question) mode() string {
	if q.Query == "" {
		return "structured"
	}
	return "bm25_only"
}

// strict reports whether the answer is in the order of distance.
func (q *question) strict() bool {
	return q.SpatialSort != nil && (q.SpatialSort.Mode == "strict" || q.Query == "" && q.Like == nil)
}

// depth is how far down a single list can matter: with realWeight, the entry
// at rank r can still reach the first n while w/(k+r+1) > 1/(k+n).
func (q *question) depth() int {
	d := int(realWeight*float64(rrfK+q.N)) + 1
	if q.Diversity > 0 {
		d = max(d, diversePool)
	}
	return d
}

// timeOrder reports whether the answer stays in the order of time whatever
// the weights: a replay is a replay.
func (q *question) timeOrder() bool { return q.Query == "" && q.SpatialSort == nil && q.Like == nil }
