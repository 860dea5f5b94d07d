package engine

import (
	"fmt"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

func TestRelevanceFloor(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i := range 300 {
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("aisle %d has a lamp", i)}); err != nil {
			t.Fatal(err)
		}
	}
	both, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "a very long remark, made in passing by the night shift, says that in some aisle or other a forklift had been parked once, which nobody could confirm afterwards"})
	if err != nil {
		t.Fatal(err)
	}
	for floor, want := range map[float64]int{0: 10, 0.05: 10, 0.5: 1, 0.9: 0} {
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "forklift aisle", N: 10, MinRelevance: floor})
		if err != nil || res.Total != want {
			t.Errorf("floor %v: %d memories, want %d (%v)", floor, res.Total, want, err)
		}
		if want == 1 && res.Memories[0].MemoryID != both.MemoryID {
			t.Errorf("floor %v: found %q", floor, res.Memories[0].Content)
		}
	}
}

func TestDiversity(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	for i := range 5 {
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "gripper slips on wet glass", Context: robotmem.Object{"trial": i}}); err != nil {
			t.Fatal(err)
		}
	}
	other, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "gripper pads for glass were changed on the second robot in the morning"})
	if err != nil {
		t.Fatal(err)
	}
	second := func(diversity float64) int64 {
		t.Helper()
		res, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "gripper wet glass", N: 2, Diversity: diversity})
		if err != nil || res.Total != 2 {
			t.Fatal(res, err)
		}
		return res.Memories[1].MemoryID
	}
	if got := second(0); got == other.MemoryID {
		t.Error("without diversity the second answer should repeat the first")
	}
	if got := second(0.7); got != other.MemoryID {
		t.Error("with diversity the second answer repeats the first")
	}
}
