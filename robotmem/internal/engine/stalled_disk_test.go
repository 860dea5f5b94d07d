package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A disk that does not respond delays neither callers with a deadline nor readers; all
// acknowledged writes are kept.
func TestADiskThatHangs(t *testing.T) {
	e, d := onFaultDisk(t, local.Options{})
	learn(t, e, "the bin is 3 m away", nil)
	for _, c := range []struct {
		name  string
		write func(context.Context) error
	}{
		{"learn", func(ctx context.Context) error {
			_, err := e.Learn(ctx, &robotmem.LearnRequest{Insight: "the shelf is 4 m away"})
			return err
		}},
		{"learn_batch", func(ctx context.Context) error {
			_, err := e.LearnBatch(ctx, &robotmem.LearnBatchRequest{Items: []robotmem.LearnRequest{{Insight: "the door is 5 m away"}, {Insight: "the belt is 6 m away"}}})
			return err
		}},
		{"save_perception", func(ctx context.Context) error {
			_, err := e.SavePerception(ctx, &robotmem.SavePerceptionRequest{Description: "the table", Data: "1,2,3"})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			release := d.Stall()
			defer release()
			// On a slow machine the deadline may pass before the write gets to the disk.
			for held, wait := d.Held(), 20*time.Millisecond; d.Held() == held; wait *= 2 {
				if wait > 10*time.Second {
					t.Fatal("the disk held nothing up: the test tests nothing")
				}
				ctx, cancel := context.WithTimeout(t.Context(), wait)
				err := c.write(ctx)
				cancel()
				if !errors.Is(err, robotmem.Unavailable) {
					t.Fatalf("got %v, want unavailable", err)
				}
			}
			if got := recall(t, e, &robotmem.RecallRequest{Query: "bin"}); got.Total == 0 {
				t.Error("recall finds nothing meanwhile")
			}
			release()
			if err := c.write(t.Context()); err != nil {
				t.Errorf("once it goes on: %v", err)
			}
		})
	}
	if got, err := e.Doctor(t.Context(), nil); err != nil || !got.Healthy {
		t.Errorf("doctor: %+v, %v", got, err)
	}
}
