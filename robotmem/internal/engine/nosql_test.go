package engine_test

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Words, paths, values, tags and names of a request are bound as values and never
// executed as SQL.
func TestQuestionsAreNoSQL(t *testing.T) {
	t.Parallel()
	e := openNode(t, local.Options{})
	id := must(e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the gripper holds wet glass", Context: robotmem.Object{"a": "b"}}))(t).MemoryID
	for _, s := range []string{
		`'; DROP TABLE memories; --`, `" OR 1=1 --`, `x') UNION SELECT content FROM memories --`, `content:glass`, `glass*`, `NEAR(wet glass)`,
		`"wet`, `wet" OR "glass`, `^wet`, `- glass`, `{content} : glass`, `a') OR 1=1 OR ('`, "glass\x00'", `%`, `_`, `[a-z]*`, `$.a`, `a"."b`,
	} {
		// Some are refused as what they are; none breaks anything, or finds more.
		for _, r := range []*robotmem.RecallRequest{
			{Query: s},
			{ContextFilter: robotmem.Object{s: "b"}},
			{ContextFilter: robotmem.Object{"a": s}},
			{Tags: []string{s}, Query: "glass"},
			{Category: s, Query: "glass"},
			{Collection: s, Query: "glass"},
			{SpatialSort: &robotmem.SpatialSort{Field: s, Target: []float64{0, 0}}},
		} {
			res, err := e.Recall(t.Context(), r)
			switch kind := robotmem.KindOf(err); {
			case err != nil && kind != robotmem.Invalid:
				t.Errorf("%+v fails with %s: %v", r, kind, err)
			case err == nil && res.Total > 0 && r.Query != s:
				t.Errorf("%+v finds %d", r, res.Total)
			}
		}
		if _, err := e.Paths(t.Context(), &admin.PathsRequest{Prefix: s}); err != nil && robotmem.KindOf(err) != robotmem.Invalid {
			t.Errorf("paths of %q: %v", s, err)
		}
		if log, err := e.Audit(t.Context(), &admin.AuditRequest{Who: s}); err != nil && robotmem.KindOf(err) != robotmem.Invalid || err == nil && len(log.Entries) > 0 {
			t.Errorf("audit of %q: %+v, %v", s, log, err)
		}
	}
	if m := must(e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id}))(t); m.Content != "the gripper holds wet glass" {
		t.Errorf("the memory is %+v", m)
	}
}
