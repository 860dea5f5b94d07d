package recall

import (
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/internal/timeparse"
)

// Query is a request that was checked and read. It is not changed while it runs.
type Query struct {
	robotmem.RecallRequest
	Filter *filter.Condition // of context_filter; nil admits everything
	// Content and Stop are the terms of the query. Where it has nothing but stop
	// words, they are its content.
	Content, Stop []string
	// Typing is the last word while it is being typed; nil when it is finished.
	Typing *text.Unfinished
	// Now is the time that the answer is as of.
	Now   time.Time
	Times []robotmem.TimePhrase
	// Embedded says that the source has, or expects, an embedding of the query.
	Embedded bool
	// MapID is the map that the asking episode is on; "" if it names none.
	MapID string

	equivalents []text.Equivalent // further terms, of quantities in other units
	notes       []string          // for degraded
}

// Words are what a list of words is searched for.
type Words struct {
	Terms  []string
	Typing *text.Unfinished // nil when the last one is finished
}

// maxTerms bounds the work of one query.
const maxTerms = 256

// Parse checks a request and reads it as of now, in whose location "yesterday" is
// understood. It fails with Invalid.
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
	if q.AsOf != nil && q.AsOf.Before(now) {
		q.Now = q.AsOf.UTC()
	} else {
		q.AsOf = nil // the future is believed as the present
	}
	last := lastWord(q.Query)
	if q.ParseTime {
		q.readTimes(q.Now.In(now.Location()))
	}
	if q.AsYouType && lastWord(q.Query) == last { // else it was a time
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
	if named := req.Collection != "" && req.Collection != "*"; q.Query == "" && !named && !q.narrows() {
		return nil, robotmem.Errorf(robotmem.Invalid, "query", "is required unless something else narrows the search, such as collection, session_id, context_filter, spatial_sort, after or tags")
	}
	return q, nil
}

// Collection is the one that a recall looks in, * for all.
func Collection(r *robotmem.RecallRequest) string {
	switch {
	case r.Collection != "":
		return r.Collection
	case r.SessionID != "":
		return "*" // an episode lies in one collection, whichever it is
	}
	return robotmem.DefaultCollection
}

// Note adds a remark for degraded, before the query runs.
func (q *Query) Note(remark string) { q.notes = append(q.notes, remark) }

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// readTimes makes bounds of the time words in the query, and takes them out of
// it. Bounds that the caller gave hold too.
func (q *Query) readTimes(now time.Time) {
	reading := timeparse.Parse(q.Query, now)
	q.Query = reading.Rest
	for _, p := range reading.Phrases {
		q.Times = append(q.Times, robotmem.TimePhrase{Text: p.Text, After: p.After, Before: p.Before})
	}
	if reading.Note != "" {
		q.Note("parse_time: " + reading.Note)
	}
	if reading.After != nil && (q.After == nil || reading.After.After(*q.After)) {
		q.After = reading.After
	}
	if reading.Before != nil && (q.Before == nil || reading.Before.Before(*q.Before)) {
		q.Before = reading.Before
	}
}

// narrows reports whether anything but the query and the collection does.
func (q *Query) narrows() bool {
	return q.SessionID != "" || q.Filter != nil || q.SpatialSort != nil || q.After != nil || q.Before != nil || q.Like != nil ||
		q.Type != "" || q.PerceptionType != "" || q.Category != "" || len(q.Tags) > 0 || q.AsOf != nil
}

// words are the content terms, with those of equal quantities in other units.
func (q *Query) words() Words {
	terms := slices.Clone(q.Content)
	for _, e := range q.equivalents {
		terms = append(terms, e.Term)
	}
	return Words{terms, q.Typing}
}

// Strict reports whether the answer is in the order of distance. The query is then
// not embedded.
func (q *Query) Strict() bool {
	return q.SpatialSort != nil && (q.SpatialSort.Mode == "strict" || q.Query == "" && q.Like == nil)
}

// timeOrder reports whether the answer stays in the order of time whatever the
// weights: a replay is a replay.
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

// depth is how far down a single list can matter: with a weight of w for what is
// real, the entry at rank r can still reach the first n while
// w/(k+r+1) > 1/(k+n).
func (r *run) depth() int {
	d := int(max(1, r.RealWeight)*float64(rrfK+r.N)) + 1
	if r.Diversity > 0 {
		d = max(d, diversePool)
	}
	return d
}

const (
	fusedDepth = 100
	// relevantDepth is for queries that drop what is not relevant enough.
	relevantDepth = 1000
)

// listDepth is how many entries of each list are merged. What lies beyond adds
// less than two fifths of a first place, and to rank it would take longer than
// all the rest.
func (r *run) listDepth() int {
	d := max(fusedDepth, r.depth())
	if r.MinRelevance > 0 {
		d = max(d, relevantDepth)
	}
	return d
}
