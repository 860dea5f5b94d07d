package web_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/web"
)

// scrape returns the samples of /metrics by their series.
func scrape(t *testing.T, s robotmem.Node) (samples map[string]string, text string) {
	t.Helper()
	res := do(web.NewServer(s, web.Options{}).Handler, "GET", "/metrics", "")
	text = bodyOf(t, res)
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain; version=") {
		t.Fatalf("%s, %s: %s", res.Status, res.Header.Get("Content-Type"), text)
	}
	samples = map[string]string{}
	for line := range strings.Lines(text) {
		if at := strings.LastIndex(line, " "); !strings.HasPrefix(line, "#") && at > 0 {
			samples[line[:at]] = strings.TrimSpace(line[at:])
		}
	}
	return samples, text
}

func TestMetricsAreTheStatistics(t *testing.T) {
	s := &stub{stats: &admin.StatsResponse{
		ByStatus: map[string]int64{"active": 7, "invalidated": 2}, Recalls: 31, ZeroHits: 4, PayloadBytes: 1 << 40, StoredBytes: 900, DBBytes: 4096,
		Backlog: 5, ToCompare: 6, Evicted: 8, EvictedBytes: 12345, Commits: 9, LogBytes: 37080, WrittenBytes: 40960,
		Backup: &admin.BackupState{LastSuccess: time.Unix(1_800_000_000, 0), Seconds: 1.5, Failures: 3},
		Streams: []admin.StreamCount{
			{Source: "a\xff", Stored: 2, Dropped: 3, Missed: 4},
			{Source: "a\xfe", Stored: 10, Dropped: 20, Missed: 30},
			{Source: `wrist "left"` + "\n", Received: 110, Stored: 100, Dropped: 10, Missed: 1},
		},
	}}
	got, text := scrape(t, s)
	want := map[string]string{
		`robotmem_memories{status="active"}`: "7", `robotmem_memories{status="superseded"}`: "0", `robotmem_memories{status="invalidated"}`: "2",
		`robotmem_recalls_total`: "31", `robotmem_zero_hits_total`: "4", `robotmem_payload_bytes`: "1.099511627776e+12", `robotmem_stored_bytes`: "900",
		`robotmem_db_bytes`: "4096", `robotmem_embedding_backlog`: "5", `robotmem_likeness_backlog`: "6", `robotmem_evictions_total`: "8", `robotmem_evicted_bytes_total`: "12345",
		`robotmem_commits_total`: "9", `robotmem_log_bytes_total`: "37080", `robotmem_written_bytes_total`: "40960",
		`robotmem_backup_last_success_timestamp_seconds`: "1.8e+09", `robotmem_backup_duration_seconds`: "1.5", `robotmem_backup_failures_total`: "3",
		`robotmem_stream_samples_total{result="stored",source="wrist \"left\"\n"}`:  "100",
		`robotmem_stream_samples_total{result="dropped",source="wrist \"left\"\n"}`: "10",
		`robotmem_stream_missed_total{source="wrist \"left\"\n"}`:                   "1",
		`robotmem_stream_samples_total{result="stored",source="a�"}`:                "12",
		`robotmem_stream_samples_total{result="dropped",source="a�"}`:               "23",
		`robotmem_stream_missed_total{source="a�"}`:                                 "34",
	}
	ours := map[string]string{}
	for series, value := range got {
		if strings.HasPrefix(series, "robotmem_") {
			ours[series] = value
		}
	}
	if diff := cmp.Diff(want, ours); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if got["go_goroutines"] == "" || got["process_start_time_seconds"] == "" && strings.Contains(text, "process_") {
		t.Error("the figures of the process are missing")
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
}

func TestMetricsBoundTheirSources(t *testing.T) {
	s := &stub{stats: &admin.StatsResponse{}}
	for i := range 1000 {
		s.stats.Streams = append(s.stats.Streams, admin.StreamCount{Source: fmt.Sprintf("camera %04d", i), Stored: 1, Missed: 2})
	}
	s.stats.Streams = append(s.stats.Streams, admin.StreamCount{Source: "other", Stored: 5})
	got, _ := scrape(t, s)
	series := 0
	for name := range got {
		if strings.HasPrefix(name, "robotmem_stream_missed_total") {
			series++
		}
	}
	if series != 201 {
		t.Errorf("%d series, want 200 and the others'", series)
	}
	for name, want := range map[string]string{
		`robotmem_stream_samples_total{result="stored",source="camera 0199"}`: "1",
		`robotmem_stream_samples_total{result="stored",source="other"}`:       "805",
		`robotmem_stream_missed_total{source="other"}`:                        "1600",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %s", name, got[name], want)
		}
	}
}

func TestMetricsOfAMemoryThatDoesNotAnswer(t *testing.T) {
	s := &stub{err: &robotmem.Error{Op: "stats", Kind: robotmem.Unavailable, Err: errors.New("locked")}}
	if p := problemOf(t, do(web.NewServer(s, web.Options{}).Handler, "GET", "/metrics", "")); p.Status != 503 || p.Detail != "locked" {
		t.Errorf("got %+v", p)
	}
	s.err = io.ErrClosedPipe
	if p := problemOf(t, do(web.NewServer(s, web.Options{}).Handler, "GET", "/metrics", "")); p.Status != 500 || strings.Contains(p.Detail, "pipe") {
		t.Errorf("got %+v", p)
	}
}
