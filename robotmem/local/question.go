package local

import (
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/internal/timeparse"
)

// question is a parsed recall.
type question struct {
	robotmem.RecallRequest
	filter        *filter.Condition
	content, stop []string          // terms of the query
	equivalents   []text.Equivalent // further terms, of quantities in other units
	typing        *text.Unfinished  // its last word, while it is being typed
	now           time.Time
	times         []robotmem.TimePhrase
	degraded      []string
	realWeight    float64
	// unit is the question's vector once it was asked by, model whose it is, and
	// usual its cosine with an average memory.
	unit    []float32
	model   model
	usual   float64
	lookout *lookout // for the question's vector; nil without one
	mapID   string   // of the episode that is asking; "" if it names none
	// wordsErr is why the index of words is not in memory; nil when it is.
	wordsErr error
	// stopOnly are the memories that share nothing but stop words with the
	// question: no weight lifts them above one that shares more.
	stopOnly map[int64]bool
}

func (q *question) parse(now time.Time) error {
	location := now.Location()
	named := q.Collection != "" && q.Collection != "*"
	q.Collection = askedOf(&q.RecallRequest)
	if err := robotmem.Validate("recall", &q.RecallRequest); err != nil {
		return err
	}
	var err error
	if q.filter, err = filter.Parse(q.ContextFilter); err != nil {
		return err
	}
	if q.AsOf != nil && q.AsOf.Before(now) {
		now = *q.AsOf
	} else {
		q.AsOf = nil // the future is believed as the present
	}
	q.now = now.UTC()
	last := lastWord(q.Query)
	if q.ParseTime {
		q.readTimes(now.In(location))
	}
	if q.AsYouType && lastWord(q.Query) == last { // else it was a time
		q.typing = text.Typing(q.Query)
	}
	q.content, q.stop = text.Query(q.Query)
	q.equivalents = text.Equivalents(q.Query)
	if len(q.content) == 0 {
		q.content, q.stop = q.stop, nil
	}
	if len(q.content) > maxQueryTerms {
		q.content, q.stop, q.typing = q.content[:maxQueryTerms], nil, nil
		q.degraded = append(q.degraded, "query: only its first 256 different words were looked for")
	}
	if q.Query == "" && !named && !q.narrows() {
		return robotmem.Errorf(robotmem.Invalid, "query", "is required unless something else narrows the search, such as collection, session_id, context_filter, spatial_sort, after or tags")
	}
	return nil
}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// words are what the list of words is searched for.
func (q *question) words() wanted {
	terms := slices.Clone(q.content)
	for _, e := range q.equivalents {
		terms = append(terms, e.Term)
	}
	return wanted{terms, q.typing}
}

// readTimes makes bounds of the time words in the query, and takes them out of
// it. Bounds that the caller gave hold too.
func (q *question) readTimes(now time.Time) {
	reading := timeparse.Parse(q.Query, now)
	q.Query = reading.Rest
	for _, p := range reading.Phrases {
		q.times = append(q.times, robotmem.TimePhrase{Text: p.Text, After: p.After, Before: p.Before})
	}
	if reading.Note != "" {
		q.degraded = append(q.degraded, "parse_time: "+reading.Note)
	}
	if reading.After != nil && (q.After == nil || reading.After.After(*q.After)) {
		q.After = reading.After
	}
	if reading.Before != nil && (q.Before == nil || reading.Before.Before(*q.Before)) {
		q.Before = reading.Before
	}
}

func (q *question) narrows() bool {
	return q.SessionID != "" || q.filter != nil || q.SpatialSort != nil || q.After != nil || q.Before != nil || q.Like != nil ||
		q.Type != "" || q.PerceptionType != "" || q.Category != "" || len(q.Tags) > 0 || q.AsOf != nil
}

// mode says what an answer was found by.
func (q *question) mode(lists []rankedList) string {
	has := func(name string) bool {
		return slices.ContainsFunc(lists, func(l rankedList) bool { return l.name == name })
	}
	switch {
	case q.Query == "":
		return "structured"
	case has(listVector) && has(listWords):
		return "hybrid"
	case has(listVector):
		return "vec_only"
	}
	return "bm25_only"
}

// strict reports whether the answer is in the order of distance.
func (q *question) strict() bool {
	return q.SpatialSort != nil && (q.SpatialSort.Mode == "strict" || q.Query == "" && q.Like == nil)
}

// depth is how far down a single list can matter: with a weight of w for what
// is real, the entry at rank r can still reach the first n while
// w/(k+r+1) > 1/(k+n).
func (q *question) depth() int {
	d := int(max(1, q.realWeight)*float64(rrfK+q.N)) + 1
	if q.Diversity > 0 {
		d = max(d, diversePool)
	}
	return d
}

// fused reports whether several lists are merged.
func (q *question) fused() bool {
	n := 0
	for _, asked := range []bool{len(q.content) > 0, q.lookout != nil, q.SpatialSort != nil, q.Like != nil} {
		if asked {
			n++
		}
	}
	return n > 1 && !q.strict()
}

// listDepth is how many entries of each list are merged. What lies beyond adds
// less than two fifths of a first place, and to rank it would take longer than
// all the rest.
func (q *question) listDepth() int {
	d := max(fusedDepth, q.depth())
	if q.MinRelevance > 0 {
		d = max(d, relevantDepth)
	}
	return d
}

const (
	fusedDepth = 100
	// relevantDepth is for questions that drop what is not relevant enough.
	relevantDepth = 1000
)

// timeOrder reports whether the answer stays in the order of time whatever
// the weights: a replay is a replay.
func (q *question) timeOrder() bool { return q.Query == "" && q.SpatialSort == nil && q.Like == nil }
