package robotmemtest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robotmem/robotmem-go/robotmem"
)

// ErrNotOffered is the cause of an error from a Service that does not implement the
// operation, or cannot transmit the request.
var ErrNotOffered = errors.New("not offered by this service")

// Run runs the suite. open returns a new Service, which must be empty, allow no
// folder for payload paths, and have no embedder. The test that open gets ends after
// the last use of the Service. open is called by several goroutines.
func Run(t *testing.T, open func(t *testing.T) robotmem.Service) {
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"Wire", wireCases},
		{"Forgiving", forgivingCases},
		{"Learn", learnCases},
		{"Batch", batchCases},
		{"Repeated", repeatedCases},
		{"Recall", recallCases},
		{"Advise", adviseCases},
		{"Attempt", attemptCases},
		{"About", aboutCases},
		{"Typing", typingCases},
		{"Filter", filterCases},
		{"Place", placeCases},
		{"Path", pathCases},
		{"Map", mapCases},
		{"Change", changeCases},
		{"Audit", auditCases},
		{"Session", sessionCases},
		{"Episode", episodeCases},
		{"Compact", compactCases},
		{"Pin", pinCases},
		{"Paging", pagingCases},
		{"Consolidation", consolidationCases},
		{"Document", documentCases},
		{"Perception", perceptionCases},
		{"Streams", streamCases},
		{"Preview", previewCases},
		{"Samples", samplesCases},
		{"Retention", retentionCases},
		{"Node", nodeCases},
		{"Activity", activityCases},
		{"Changes", waitCases},
		{"Progress", progressCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()

			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
			}
		})
	}
}

// testCase is one test of the suite. Each gets its own service.
type testCase struct {
	name string
	run  func(t *testing.T, s robotmem.Service)
}

// object is short for the type of a nested object in a context.
type object = map[string]any

// do runs an operation that must succeed. If the service does not offer it, do skips
// the rest of the test.
func do[In, Out any](t *testing.T, method func(context.Context, *In) (*Out, error), r *In) *Out {
	t.Helper()
	out, err := method(t.Context(), r)
	if errors.Is(err, ErrNotOffered) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("%T: %v", r, err)
	}

	return out
}

// try is do for an operation whose result the rest of the test does not need.
func try[In, Out any](t *testing.T, method func(context.Context, *In) (*Out, error), r *In) (*Out, bool) {
	t.Helper()
	out, err := method(t.Context(), r)
	if errors.Is(err, ErrNotOffered) {
		t.Log("left out:", err)
		return nil, false
	}
	if err != nil {
		t.Fatalf("%T: %v", r, err)
	}

	return out, true
}

// refused checks that an operation fails with kind and field, and that the error text
// contains all words.
func refused[In, Out any](
	t *testing.T, method func(context.Context, *In) (*Out, error), r *In, kind robotmem.Kind, field string,
	words ...string,
) {
	t.Helper()
	_, err := method(t.Context(), r)
	checkRefused(t, err, kind, field, words...)
}

func checkRefused(t *testing.T, err error, kind robotmem.Kind, field string, words ...string) {
	t.Helper()
	if errors.Is(err, ErrNotOffered) {
		t.Log("left out:", err)
		return
	}

	var e *robotmem.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Field != field {
		t.Errorf("got %#v (%v), want %s of field %q", err, err, kind, field)
		return
	}

	if e.Op == "" || e.Detail() == "" {
		t.Errorf("operation %q, detail %q: one is missing", e.Op, e.Detail())
	}

	for _, w := range words {
		if !strings.Contains(e.Error(), w) {
			t.Errorf("%q does not say %q", e.Error(), w)
		}
	}
}

// learn stores a fact, checks that it is new, and returns its id.
func learn(t *testing.T, s robotmem.Service, insight string, ctx object) int64 {
	t.Helper()
	return created(t, s, &robotmem.LearnRequest{Insight: insight, Context: ctx})
}

func created(t *testing.T, s robotmem.Service, r *robotmem.LearnRequest) int64 {
	t.Helper()
	res := do(t, s.Learn, r)
	if res.Status != "created" || res.MemoryID < 1 {
		t.Fatalf("learn %q: got %+v, want it created", r.Insight, res)
	}
	return res.MemoryID
}

func recall(t *testing.T, s robotmem.Service, r *robotmem.RecallRequest) *robotmem.RecallResponse {
	t.Helper()
	res := do(t, s.Recall, r)
	if res.Total != len(res.Memories) {
		t.Errorf("total %d of %d memories", res.Total, len(res.Memories))
	}

	for i, m := range res.Memories {
		if m.Score != nil && (*m.Score > 1 || *m.Score < 0) {
			t.Errorf("memory %d: score %v is outside 0..1", m.MemoryID, *m.Score)
		}
		if m.Relevance != nil && (*m.Relevance > 1 || *m.Relevance < 0) {
			t.Errorf("memory %d: relevance %v is outside 0..1", m.MemoryID, *m.Relevance)
		}
		if slices.ContainsFunc(res.Memories[:i], func(o robotmem.Memory) bool { return o.MemoryID == m.MemoryID }) {
			t.Errorf("memory %d is in the answer twice", m.MemoryID)
		}
	}

	return res
}

// recalled returns the ids of a recall in order.
func recalled(t *testing.T, s robotmem.Service, r *robotmem.RecallRequest) []int64 {
	t.Helper()
	return ids(recall(t, s, r).Memories)
}

func ids(memories []robotmem.Memory) []int64 {
	out := []int64{}
	for _, m := range memories {
		out = append(out, m.MemoryID)
	}
	return out
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func sortedIDs(in []int64) []int64 {
	out := slices.Clone(in)
	slices.Sort(out)
	return out
}

// day is a fixed instant, so that observed times are the same in every run.
var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) *time.Time { return new(day.Add(d)) }

// asJSON returns a context as the service returns it: numbers keep their spelling.
func asJSON(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()

	var out any
	if err := dec.Decode(&out); err != nil {
		t.Fatal(err)
	}

	return out
}
