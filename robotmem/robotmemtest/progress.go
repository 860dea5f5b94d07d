package robotmemtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/progress"
)

// reports collects the progress reports of an operation.
type reports struct {
	mu  sync.Mutex
	all []progress.Report
}

func (r *reports) add(p progress.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, p)
}

// check fails on an invalid report. A service may report nothing.
func (r *reports) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()

	for i, p := range r.all {
		if p.Stage == "" || p.Done < 0 || p.Total < 0 || p.Total > 0 && p.Done > p.Total {
			t.Errorf("report %+v", p)
		}
		if i > 0 && r.all[i-1].Stage == p.Stage && r.all[i-1].Done > p.Done {
			t.Errorf("%+v after %+v", p, r.all[i-1])
		}
	}
}

// watched is do with progress reports.
func watched[In, Out any](t *testing.T, method func(context.Context, *In) (*Out, error), req *In) *Out {
	t.Helper()

	var r reports
	out := do(t, func(ctx context.Context, req *In) (*Out, error) {
		return method(progress.With(ctx, r.add), req)
	}, req)
	r.check(t)

	return out
}

var progressCases = []testCase{
	{"ChangesNoAnswer", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")

		var items []robotmem.LearnRequest
		for i := range 600 {
			items = append(items, robotmem.LearnRequest{Insight: fmt.Sprint("fact number ", i), SessionID: session})
		}

		items[7].Insight = ""
		res := watched(t, s.LearnBatch, &robotmem.LearnBatchRequest{Items: items})
		if len(res.Results) != 600 || res.Results[7].Error == nil || res.Results[8].LearnResponse == nil {
			t.Errorf("%d results, the eighth %+v", len(res.Results), res.Results[7])
		}

		do(t, s.SavePerception,
			&robotmem.SavePerceptionRequest{Description: "a large view", DataBase64: everyByte(2048)})
		if d := watched(t, s.Doctor, &admin.DoctorRequest{Deep: true}); !d.Healthy {
			t.Errorf("got %+v", d)
		}
		if r := watched(t, s.Repair, &admin.RepairRequest{}); !r.Doctor.Healthy || len(r.Repaired) == 0 {
			t.Errorf("got %+v", r)
		}
		if r := watched(t, s.Retain, &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: 1}}, Apply: true}); r.Count != 1 ||
			r.DryRun {
			t.Errorf("got %+v", r)
		}
	}},
	{"RefusesAsEver", func(t *testing.T, s robotmem.Service) {
		session := start(t, s, "")
		created(t, s, &robotmem.LearnRequest{Insight: grip, SessionID: session})
		if res := watched(t, s.EndSession, &robotmem.EndSessionRequest{SessionID: session}); res.Summary.Facts != 1 {
			t.Errorf("got %+v", res)
		}
		silent := func(progress.Report) {}
		refused(t, func(ctx context.Context, r *robotmem.EndSessionRequest) (*robotmem.EndSessionResponse, error) {
			return s.EndSession(progress.With(ctx, silent), r)
		}, &robotmem.EndSessionRequest{SessionID: session}, robotmem.Conflict, "session_id", "ended")
		refused(t, func(ctx context.Context, r *admin.RetainRequest) (*admin.RetainResponse, error) {
			return s.Retain(progress.With(ctx, silent), r)
		}, &admin.RetainRequest{}, robotmem.Invalid, "budgets")
	}},
}
