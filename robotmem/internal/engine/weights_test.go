package engine

import (
	"slices"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

func TestWeightZeroHidesNothing(t *testing.T) {
	t.Parallel()
	t.Run("strict place", func(t *testing.T) {
		e := openTest(t, Options{Weights: map[string]float64{"place": 0}})
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the gripper holds wet glass", Context: robotmem.Object{"spatial": map[string]any{"position": []any{1, 2}}}}); err != nil {
			t.Fatal(err)
		}
		_, ids := recalled(t, e, &robotmem.RecallRequest{Query: "glass", SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{0, 0}}})
		if !slices.Equal(ids, []int64{1}) {
			t.Errorf("ids %v, want 1: strict place answers whatever the lists weigh", ids)
		}
	})
	t.Run("only list", func(t *testing.T) {
		e := openTest(t, Options{Weights: map[string]float64{"bm25": 0}})
		learnAll(t, e, "glass in a long text about many other things than what is asked", "wet glass", "wet glass slips")
		_, ids := recalled(t, e, &robotmem.RecallRequest{Query: "wet glass slips", N: 1})
		if !slices.Equal(ids, []int64{3}) {
			t.Errorf("ids %v, want 3: the only list keeps its order", ids)
		}
	})
	t.Run("other list empty", func(t *testing.T) {
		e := openTest(t, Options{Weights: map[string]float64{"bm25": 0}})
		learnAll(t, e, "wet glass", "wet glass slips")
		_, ids := recalled(t, e, &robotmem.RecallRequest{Query: "wet glass slips", SpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{0, 0}, Mode: "fused"}})
		if !slices.Equal(ids, []int64{2, 1}) {
			t.Errorf("ids %v, want 2 and 1: no other list has found anything", ids)
		}
	})
}
