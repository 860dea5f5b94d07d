package python_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/client"
)

// BenchmarkCalls compares the median call of the package with that of the Go client, at one
// node with 1,000 facts:
//
//	go test ./robotmem/client/python -run - -bench Calls -benchtime 1x
func BenchmarkCalls(b *testing.B) {
	const facts, calls = 1000, 1000
	url := serve(b)
	m := client.New(url, client.Options{})
	fact := func(who string, i int) *robotmem.LearnRequest {
		return &robotmem.LearnRequest{Insight: fmt.Sprintf("%s %d: grip_force=%d.5 N holds the glass", who, i, i), Context: robotmem.Object{"params": map[string]any{"grip_force": float64(i) + 0.5}}}
	}
	for i := range facts {
		if _, err := m.Learn(b.Context(), fact("before", i)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		inGo := map[string]float64{
			"recall": median(b, calls, func(int) error {
				_, err := m.Recall(b.Context(), &robotmem.RecallRequest{Query: "how hard to grip the glass", N: 5})
				return err
			}),
			"learn": median(b, calls, func(i int) error {
				_, err := m.Learn(b.Context(), fact("go", i))
				return err
			}),
		}
		cmd := exec.CommandContext(b.Context(), cmp.Or(os.Getenv("PYTHON"), "python3"), "-B", "tests/bench.py", url, strconv.Itoa(calls))
		cmd.Env = append(os.Environ(), "PYTHONPATH=src")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err)
		}
		inPython := map[string]float64{}
		if err := json.Unmarshal(out, &inPython); err != nil {
			b.Fatal(err)
		}
		for _, op := range []string{"recall", "learn"} {
			b.ReportMetric(inGo[op], "us/"+op+"-go")
			b.ReportMetric(inPython[op], "us/"+op+"-python")
			b.ReportMetric(inPython[op]/inGo[op], op+"-ratio")
		}
	}
}

// median returns the median time of a call in microseconds.
func median(b *testing.B, calls int, call func(int) error) float64 {
	took := make([]time.Duration, calls+20)
	for i := range took {
		start := time.Now()
		if err := call(i); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(start)
	}
	took = took[20:]
	slices.Sort(took)
	return float64(took[calls/2].Microseconds())
}
