package local

import (
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A memory that is learnt does not make the next question look at every row.
func TestLearnKeepsAdmissions(t *testing.T) {
	e := openTest(t, Options{})
	learnAll(t, e, "the gripper holds wet glass")
	recalled(t, e, &robotmem.RecallRequest{Query: "glass"})
	e.index.roster.mu.Lock()
	before := e.index.roster.kept[0]
	e.index.roster.mu.Unlock()
	time.Sleep(5 * time.Millisecond)
	learnAll(t, e, "battery low in aisle four")
	recalled(t, e, &robotmem.RecallRequest{Query: "glass"})
	e.index.roster.mu.Lock()
	defer e.index.roster.mu.Unlock()
	if e.index.roster.kept[0] != before {
		t.Error("the admission was worked out anew from every row")
	}
}
