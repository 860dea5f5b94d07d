package store

import (
	"maps"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// RecallCounts are the counts of recalls that are not stored yet.
type RecallCounts struct {
	Recalls  int64
	ZeroHits int64
	returned map[int64]int64
	Credit   map[Credited]bool // always true
	Hours    map[CollectionHour]RecallTotals
}

// Credited is a memory that was recalled for a session.
type Credited struct {
	Session  string
	MemoryID int64
}

// CollectionHour is an hour and a collection, "*" for a recall in all collections. Collections
// without memories are counted under "", because a caller may invent any number of names.
type CollectionHour struct {
	Hour       time.Time // start of the hour, in UTC
	Collection string
}

// RecallTotals counts the recalls of an hour and those without a result.
type RecallTotals struct{ Recalls, ZeroHits int64 }

// OneRecall returns the counts of one recall in a collection that found n memories.
func OneRecall(collection string, n int, now time.Time) RecallCounts {
	one := RecallCounts{Recalls: 1}
	if n == 0 {
		one.ZeroHits = 1
	}
	one.Hours = map[CollectionHour]RecallTotals{{now.UTC().Truncate(time.Hour), collection}: {1, one.ZeroHits}}
	return one
}

// Give counts the memories that a recall returned, also for a session if it is set.
func (c *RecallCounts) Give(found []robotmem.Memory, session string) {
	c.returned, c.Credit = map[int64]int64{}, map[Credited]bool{}
	for i := range found {
		c.returned[found[i].MemoryID]++
		if session != "" {
			c.Credit[Credited{session, found[i].MemoryID}] = true
		}
	}
}

// Add adds other counts.
func (c *RecallCounts) Add(o RecallCounts) {
	if c.Recalls == 0 {
		*c = RecallCounts{
			returned: map[int64]int64{},
			Credit:   map[Credited]bool{},
			Hours:    map[CollectionHour]RecallTotals{},
		}
	}

	c.Recalls += o.Recalls
	c.ZeroHits += o.ZeroHits

	for id, n := range o.returned {
		c.returned[id] += n
	}
	maps.Copy(c.Credit, o.Credit)

	for at, n := range o.Hours {
		sum := c.Hours[at]
		c.Hours[at] = RecallTotals{sum.Recalls + n.Recalls, sum.ZeroHits + n.ZeroHits}
	}
}

// CreditOf lists the memories that were recalled for a session.
func (c *RecallCounts) CreditOf(session string) (ids []int64) {
	for to := range c.Credit {
		if to.Session == session {
			ids = append(ids, to.MemoryID)
		}
	}
	return ids
}
