package fleet

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

func TestMetricsOfARobot(t *testing.T) {
	t.Parallel()
	n := openFile(t, "arm.db")
	for _, text := range []string{"the cup slips below 8 N", "the plate is hot"} {
		if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: text}); err != nil {
			t.Fatal(err)
		}
	}
	r := NewReplicator(n, Peer{URL: "https://site.example", Robot: "arm"}, nil, nil)
	notes := []SyncNote{{"a", "too large"}, {"b", "too large"}}
	if err := r.putNotes(t.Context(), kindRefused, notes); err != nil {
		t.Fatal(err)
	}
	if err := r.putNotes(t.Context(), kindConflict, notes[:1]); err != nil {
		t.Fatal(err)
	}

	all, err := r.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, m := range all {
		got[m.Name] = m.Value
	}
	if got["sync_waiting_changes"] != 2 || got["sync_refused_changes"] != 2 || got["sync_conflicts"] != 1 {
		t.Errorf("got %v", got)
	}
	if _, ok := got["sync_last_success_timestamp_seconds"]; ok {
		t.Error("it has never synced")
	}

	if err := r.alone(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	all, err = r.Metrics(t.Context())
	if last := all[len(all)-1]; err != nil || last.Name != "sync_last_success_timestamp_seconds" || last.Value < 1.7e9 {
		t.Errorf("after a sync: %+v %v", last, err)
	}
}
