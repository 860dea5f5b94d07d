package workers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/agent/workers"
)

// Tries with different parameters are no contradiction, and no model is asked about them: a robot has thousands. The same
// value with two outcomes is.
func TestTriesDoNotDisagree(t *testing.T) {
	node, m := memory(t), &scripted{}
	for i, try := range []struct {
		force float64
		how   string
	}{{12.5, "held"}, {18, "held"}, {9.5, "slipped"}, {18, "slipped"}} {
		_, err := node.Learn(t.Context(), &robotmem.LearnRequest{
			Insight: fmt.Sprintf("gripping the wet glass of the kitchen with %g N %s", try.force, try.how),
			Context: robotmem.Object{
				"params": map[string]any{"grip_force": map[string]any{"value": try.force, "unit": "N"}},
				"robot":  map[string]any{"id": fmt.Sprint("robot-", i)},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	m.add(workers.TaskContradiction, "", `{"contradicts":true,"reason":"they differ"}`)
	dream(t, node, m, nil)

	found := made(t, node, workers.TaskContradiction)
	if len(found) != 1 || strings.Count(found[0].Content, "18 N") != 2 {
		t.Errorf("%d: %v", len(found), found)
	}
}
