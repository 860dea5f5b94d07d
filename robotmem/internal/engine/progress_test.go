package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// stages runs a call and returns the stages that it reports, each with its unit
// and total, in order.
func stages(t *testing.T, call func(context.Context) error) []string {
	t.Helper()
	var out []string
	err := call(progress.With(t.Context(), func(p progress.Report) {
		line := fmt.Sprintf("%s: %d %s", p.Stage, p.Total, p.Unit)
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
		if p.Total > 0 && p.Done > p.Total {
			t.Errorf("%+v is more than all", p)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLongWorkSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	e := openAt(t, t.TempDir()+"/m.db", local.Options{})
	s, err := e.StartSession(t.Context(), &robotmem.StartSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	sizes := int64(0)
	for i := range 3 {
		data := make([]byte, 300<<10*i+1000+i) // one in the file, two in the folder
		sizes += int64(len(data))
		if _, err := e.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a view of it", DataBase64: data}); err != nil {
			t.Fatal(err)
		}
	}
	items := make([]robotmem.LearnRequest, 600)
	for i := range items {
		items[i] = robotmem.LearnRequest{Insight: fmt.Sprint("fact number ", i), SessionID: s.SessionID}
	}
	checkup := []string{"reading the indexes: 0 ", "checking the file: 0 ", "comparing the indexes: 0 ", "comparing the contents of the indexes: 603 memories", fmt.Sprintf("reading payloads: %d bytes", sizes)}
	for _, tt := range []struct {
		name string
		call func(context.Context) error
		want []string
	}{
		{"learn_batch", func(ctx context.Context) error {
			_, err := e.LearnBatch(ctx, &robotmem.LearnBatchRequest{Items: items})
			return err
		}, []string{"learning: 600 items"}},
		{"doctor", func(ctx context.Context) error {
			_, err := e.Doctor(ctx, &admin.DoctorRequest{Deep: true})
			return err
		}, checkup},
		{"repair", func(ctx context.Context) error {
			_, err := e.Repair(ctx, &admin.RepairRequest{})
			return err
		}, append([]string{"rebuilding the indexes: 603 memories", "making perceptions comparable: 3 memories"}, checkup...)},
		{"retain without apply", func(ctx context.Context) error {
			_, err := e.Retain(ctx, &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1}}})
			return err
		}, nil},
		{"end_session", func(ctx context.Context) error {
			_, err := e.EndSession(ctx, &robotmem.EndSessionRequest{SessionID: s.SessionID})
			return err
		}, []string{"counting recalls: 4 stages", "merging what was said twice: 4 stages", "summing up: 4 stages", "looking for related memories: 4 stages"}},
		{"retain", func(ctx context.Context) error {
			_, err := e.Retain(ctx, &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1}}, Apply: true})
			return err
		}, []string{"removing payloads: 3 payloads"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, stages(t, tt.call)); diff != "" {
				t.Errorf("stages (-want +got):\n%s", diff)
			}
		})
	}
}

// Reports that are forwarded through a meter are throttled like its own, and may come
// from many goroutines.
func TestProgressIsThrottled(t *testing.T) {
	t.Parallel()
	if progress.Of(t.Context()) != nil {
		t.Error("nobody watches, and still there is somebody to tell")
	}
	var got []progress.Report // by one goroutine at a time: no lock
	tell := progress.Of(progress.With(t.Context(), func(p progress.Report) { got = append(got, p) })).Set
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 10000 {
				tell(progress.Report{Done: int64(i), Stage: "one"})
			}
		})
	}
	all.Wait()
	if len(got) == 0 || len(got) > 1000 {
		t.Errorf("%d reports of 40,000", len(got))
	}
	tell(progress.Report{Stage: "two"})
	if last := got[len(got)-1]; last.Stage != "two" {
		t.Errorf("the last is %+v, want the new stage at once", last)
	}
}
