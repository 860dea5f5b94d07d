package eval_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// What no change may go below, without an embedder. No rule is chosen by the held half.
const leastFirst, leastFive = 0.80, 0.95

func TestAnswersToRobots(t *testing.T) {
	for _, half := range []string{"dev", "held"} {
		got, err := eval.AskRobots(t.Context(), half, func(now func() time.Time) (robotmem.Service, func() error, error) {
			m, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{Clock: now, Location: time.UTC, Durability: local.DurabilityNormal})
			if err != nil {
				return nil, nil, err
			}
			return m, m.Close, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got.Questions < 60 || got.Hit1 < leastFirst || got.Hit5 < leastFive || len(got.Refused) > 0 {
			t.Errorf("%s: %d questions, hit@1 %.3f of at least %.2f, hit@5 %.3f of at least %.2f, refused %v", half, got.Questions, got.Hit1, leastFirst, got.Hit5, leastFive, got.Refused)
		}
	}
}
