package recall

import (
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// Query is a validated and parsed request. Run does not modify it.
type Query struct {
	robotmem.RecallRequest
	Filter *filter.Condition // of context_filter; nil matches everything
	// Content and Stop are the terms of the query: content words and stop words. If
	// it has only stop words, they are in Content.
	Content, Stop []string
	// Typing is the unfinished last word of an as_you_type query, or nil.
	Typing *text.Unfinished
	// Now is the time at which the memory is read: as_of or the current time.
	Now time.Time
	// Times are the time expressions of the query that became bounds.
	Times []robotmem.TimePhrase
	// Narrowed means that times of the query became bounds of the request.
	Narrowed bool
	// Embedded means that the source has an embedding of the query or computes one.
	Embedded bool
	// MapID is the map of the calling episode; "" if it names none.
	MapID string

	asked       string            // the query as it was asked, with its times
	lifts       []span            // times of the query that do not narrow it
	equivalents []text.Equivalent // terms of the query's quantities in other units
	notes       []string          // remarks
	broken      []string          // reasons for degraded
}

// Words are the terms of a lexical search.
type Words struct {
	Terms  []string
	Typing *text.Unfinished // nil if the last word is finished
}

// maxTerms is the largest number of terms of one query.
const maxTerms = 256

// Parse validates a request. It interprets time expressions such as "yesterday"
// relative to now, in the time zone of now. It fails with Invalid.
func Parse(req *robotmem.RecallRequest, now time.Time) (*Query, error) {
	q := &Query{RecallRequest: *req, Now: now.UTC()}
	q.Collection = Collection(req)
	if err := robotmem.Validate("recall", &q.RecallRequest); err != nil {
		return nil, err
	}

	var err error
	if q.Filter, err = filter.Parse(q.ContextFilter); err != nil {
		return nil, err
	}

	// A future as_of means the current time.
	if q.AsOf != nil && q.AsOf.Before(now) {
		q.Now = q.AsOf.UTC()
	} else {
		q.AsOf = nil
	}

	q.asked = q.Query
	last := lastWord(q.Query)
	if *q.ParseTime {
		q.readTimes(q.Now.In(now.Location()))
	}
	// If the last word has changed, it was part of a time expression, and the word that is last now is finished.
	if q.AsYouType && lastWord(q.Query) == last {
		q.Typing = text.Typing(q.Query)
	}

	q.Content, q.Stop = text.Query(q.Query)
	q.equivalents = text.Equivalents(q.Query)
	if len(q.Content) == 0 {
		q.Content, q.Stop = q.Stop, nil
	}

	if len(q.Content) > maxTerms {
		q.Content, q.Stop, q.Typing = q.Content[:maxTerms], nil, nil
		q.Note("query: only its first 256 different words were looked for")
	}

	// Without any condition the answer would be the newest memories of everything, which is rarely meant.
	if named := req.Collection != "" && req.Collection != "*"; q.Query == "" && !named && !q.Narrows() {
		return nil, robotmem.Errorf(robotmem.Invalid, "query", "is required unless something else narrows the search, "+
			"such as collection, session_id, context_filter, spatial_sort, after or tags")
	}

	return q, nil
}

// Collection returns the collection that a recall searches, * for all.
func Collection(r *robotmem.RecallRequest) string {
	switch {
	case r.Collection != "":
		return r.Collection
	case r.SessionID != "":
		// The session id determines the collection.
		return "*"
	}

	return robotmem.DefaultCollection
}

// Degrade adds a reason to degraded. It must be called before Run.
func (q *Query) Degrade(reason string) { q.broken = append(q.broken, reason) }

// Note adds a remark. It must be called before Run.
func (q *Query) Note(remark string) { q.notes = append(q.notes, remark) }

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// Narrows reports whether the request has a condition other than the query and the collection.
func (q *Query) Narrows() bool {
	return q.SessionID != "" || q.Filter != nil || q.SpatialSort != nil || q.After != nil || q.Before != nil ||
		q.Like != nil || q.Entity != "" || q.Type != "" || q.PerceptionType != "" || q.Category != "" || len(q.Tags) > 0 || q.AsOf != nil
}

// filtered reports whether the request says which memories are meant: it has conditions, and no time in the query
// became one. They are then an answer even if none shares a word with the query.
func (q *Query) filtered() bool {
	return !q.Narrowed && (q.Filter != nil || q.SessionID != "" || q.Entity != "" || q.Type != "" || q.PerceptionType != "" ||
		q.Category != "" || len(q.Tags) > 0 || q.After != nil || q.Before != nil)
}

// words returns the content terms and the terms of equal quantities in other units.
func (q *Query) words() Words {
	terms := slices.Clone(q.Content)
	for _, e := range q.equivalents {
		terms = append(terms, e.Term)
	}
	return Words{terms, q.Typing}
}

// Strict reports whether the results are sorted by distance. The query is then not embedded.
func (q *Query) Strict() bool {
	return q.SpatialSort != nil && (q.SpatialSort.Mode == "strict" || q.Query == "" && q.Like == nil)
}

// byDistance reports whether the results are sorted by a single distance, to a place or to
// a perception: weights of memories do not change this order.
func (q *Query) byDistance() bool {
	return q.Strict() || q.Query == "" && q.SpatialSort == nil && q.Like != nil
}

// timeOrder reports whether the results are sorted by time, independent of scores.
func (q *Query) timeOrder() bool { return q.Query == "" && q.SpatialSort == nil && q.Like == nil }

// fused reports whether several lists are merged.
func (r *run) fused() bool {
	n := 0

	for _, asked := range []bool{len(r.Content) > 0, r.vectors, r.SpatialSort != nil, r.Like != nil} {
		if asked {
			n++
		}
	}

	return n > 1 && !r.Strict()
}

// depth is the number of entries of a single list that can reach the first n: with the factor w of memories from the
// real world (RealWeight), rank r can do so while w/(k+r+1) > 1/(k+n). It adds warnPool entries, because later stages
// compare more than n hits and some memories may be damaged.
func (r *run) depth() int {
	d := int(min(100, max(r.RealWeight, 1/r.RealWeight))*float64(RRFK+r.N)) - RRFK + warnPool
	if r.Diversity > 0 {
		d = max(d, diversePool)
	}
	return d
}

const (
	fusedDepth = 80
	// relevantDepth is the depth with min_relevance, which drops entries.
	relevantDepth = 1000
)

// listDepth is the number of entries of each list that are fused. Ranking all of them would take
// longer than the rest of the recall.
func (r *run) listDepth() int {
	d := max(fusedDepth, r.depth())
	if r.MinRelevance > 0 {
		d = max(d, relevantDepth)
	}
	return d
}
