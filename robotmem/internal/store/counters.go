package store

import (
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// RecallCounts is what has been counted since it was last stored.
type RecallCounts struct {
	Recalls  int64
	ZeroHits int64
	returned map[int64]int64
	Credit   map[string]map[int64]bool // session -> what was recalled for it
	Hours    map[CollectionHour]RecallTotals
}

// CollectionHour is a collection, * for all of them at once, in an hour. Names that no
// memory has are one, "": a caller may make up any number of them.
type CollectionHour struct {
	Hour       time.Time // its beginning, in UTC
	Collection string
}

// RecallTotals is how often it was.
type RecallTotals struct{ Recalls, ZeroHits int64 }

// OneRecall is a recall in a collection, at a time, that found n memories.
func OneRecall(collection string, n int, now time.Time) RecallCounts {
	one := RecallCounts{Recalls: 1}
	if n == 0 {
		one.ZeroHits = 1
	}
	one.Hours = map[CollectionHour]RecallTotals{{now.UTC().Truncate(time.Hour), collection}: {1, one.ZeroHits}}
	return one
}

// Give credits the memories that were found, for a session if one is asking.
func (c *RecallCounts) Give(found []robotmem.Memory, session string) {
	c.returned = map[int64]int64{}
	credit := map[int64]bool{}
	for i := range found {
		c.returned[found[i].MemoryID]++
		credit[found[i].MemoryID] = true
	}
	if session != "" {
		c.Credit = map[string]map[int64]bool{session: credit}
	}
}

// Add adds what was counted elsewhere.
func (c *RecallCounts) Add(o RecallCounts) {
	if c.Recalls == 0 {
		*c = RecallCounts{returned: map[int64]int64{}, Credit: map[string]map[int64]bool{}, Hours: map[CollectionHour]RecallTotals{}}
	}
	c.Recalls += o.Recalls
	c.ZeroHits += o.ZeroHits
	for id, n := range o.returned {
		c.returned[id] += n
	}
	for session, ids := range o.Credit {
		if c.Credit[session] == nil {
			c.Credit[session] = map[int64]bool{}
		}
		for id := range ids {
			c.Credit[session][id] = true
		}
	}
	for at, n := range o.Hours {
		sum := c.Hours[at]
		c.Hours[at] = RecallTotals{sum.Recalls + n.Recalls, sum.ZeroHits + n.ZeroHits}
	}
}
