package engine

import (
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// A misspelt quantity hides neither the others nor itself.
func TestAdviceOfMixedValues(t *testing.T) {
	e := openTest(t, Options{})
	for _, force := range []string{"11,5 N", "5 kilos", "11.5 N", "500 mN"} {
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{
			Insight: "hold with " + force, Outcome: robotmem.OutcomeSuccess,
			Context: robotmem.Object{"task": map[string]any{"name": "hold"}, "params": map[string]any{"grip_force": force}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	res, err := e.Advise(t.Context(), &robotmem.AdviseRequest{Task: "hold"})
	if err != nil || len(res.Parameters) != 1 || len(res.Parameters[0].Values) != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	want := `params.grip_force: 2 attempts with a value that is no quantity are left out, such as "`
	if !strings.Contains(strings.Join(res.Notes, "; "), want) {
		t.Errorf("notes %q", res.Notes)
	}
}

// A parameter with a decimal comma is stored as it is written, and the answer says that it is no quantity.
func TestADecimalCommaIsNamed(t *testing.T) {
	e := openTest(t, Options{})
	res, err := e.Learn(t.Context(), &robotmem.LearnRequest{
		Insight: "it holds", Context: robotmem.Object{"params": map[string]any{"grip_force": "12,5 N", "mode": "a, b", "size": "1,500 N"}},
	})
	if err != nil || len(res.Interpreted) != 1 || !strings.Contains(res.Interpreted[0], `params.grip_force: "12,5 N" is a text and no quantity (did you mean "12.5 N"?)`) {
		t.Errorf("%q, %v", res.Interpreted, err)
	}
}
