package engine

import (
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// Storing a memory does not make the next recall scan every row.
func TestLearnKeepsAdmissions(t *testing.T) {
	e := openTest(t, Options{})
	learnAll(t, e, "the gripper holds wet glass")
	recalled(t, e, &robotmem.RecallRequest{Query: "glass"})
	e.index.Columns.Mu.Lock()
	before := e.index.Columns.ScopeCache[0]
	e.index.Columns.Mu.Unlock()
	time.Sleep(5 * time.Millisecond)
	learnAll(t, e, "battery low in aisle four")
	recalled(t, e, &robotmem.RecallRequest{Query: "glass"})
	e.index.Columns.Mu.Lock()
	defer e.index.Columns.Mu.Unlock()
	if e.index.Columns.ScopeCache[0] != before {
		t.Error("the admission was worked out anew from every row")
	}
}
