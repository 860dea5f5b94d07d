package site

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/eval"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

var (
	equalWords = strings.Fields("gripper glass wet tray shelf pallet dock corridor blocked charger battery force slip torque camera lens dirty ramp door open closed left right lift bin label barcode scanner wheel stuck floor light dark cable hose valve pump pressure leak weld seam bolt screw 夹爪 玻璃 湿滑 托盘")
	equalPlace = []string{"position", "object_position"}
)

func equalText(rng *rand.Rand, n int) string {
	words := make([]string, n)
	for i := range words {
		// A few words are in many texts, most in few.
		words[i] = equalWords[int(float64(len(equalWords))*rng.Float64()*rng.Float64())]
	}
	return strings.Join(words, " ")
}

// equalFact is one of the memories: texts repeat, so that scores tie.
func equalFact(rng *rand.Rand) robotmem.LearnRequest {
	context := robotmem.Object{"i": rng.IntN(300), "force": []any{rng.IntN(40), float64(rng.IntN(400)) / 10, fmt.Sprintf("%d N", rng.IntN(40)), map[string]any{"value": rng.IntN(40), "unit": "N"}}[rng.IntN(4)]}
	if rng.IntN(2) == 0 {
		context["task"] = map[string]any{"success": rng.IntN(3) > 0, "name": equalWords[rng.IntN(5)]}
	}
	if rng.IntN(2) == 0 {
		at := []any{rng.IntN(20), rng.IntN(20)}
		if rng.IntN(3) == 0 {
			at = append(at, rng.IntN(3))
		}
		context["spatial"] = map[string]any{equalPlace[rng.IntN(2)]: at, "frame_id": []string{"map", "odom"}[rng.IntN(8)/7]}
	}
	if rng.IntN(3) == 0 {
		context["env"] = map[string]any{"sim_or_real": []string{"sim", "real"}[rng.IntN(2)]}
	}
	at := time.Date(2026, 1, 1, 0, 0, 60*rng.IntN(40_000), 0, time.UTC)
	return robotmem.LearnRequest{Insight: equalText(rng, 3+rng.IntN(8)), Context: context, Collection: []string{"a", "a", "a", "b"}[rng.IntN(4)], Tags: []string{"red", "green", "blue"}[:rng.IntN(4)], ObservedAt: &at}
}

func equalQuestion(rng *rand.Rand) *robotmem.RecallRequest {
	req := &robotmem.RecallRequest{Query: equalText(rng, 1+rng.IntN(4)), Collection: []string{"a", "b", "*"}[rng.IntN(3)], N: []int{1, 5, 10, 100}[rng.IntN(4)], ParseTime: new(false)}
	if rng.IntN(2) == 0 {
		req.ContextFilter = []robotmem.Object{
			{"i": rng.IntN(300)}, {"i": map[string]any{"$lt": rng.IntN(60)}}, {"task.success": rng.IntN(2) == 0}, {"outcome": "failure"},
			{"force": map[string]any{"$gte": fmt.Sprintf("%d N", rng.IntN(40))}}, {"force": rng.IntN(40)}, {"$not": robotmem.Object{"task.success": true}},
			{"force": map[string]any{"$lt": 0.02, "$exists": true}}, {"$or": []any{robotmem.Object{"i": 3}, robotmem.Object{"force": map[string]any{"$lt": 1}}}},
			{"task.name": map[string]any{"$in": []any{equalWords[0], equalWords[2]}}}, {"spatial": map[string]any{"$exists": false}},
		}[rng.IntN(11)]
	}
	if rng.IntN(4) == 0 {
		after := time.Date(2026, 1, 1, 0, 0, 60*rng.IntN(40_000), 0, time.UTC)
		before := after.Add(time.Duration(rng.IntN(200)) * time.Hour)
		req.After, req.Before = &after, &before
	}
	if rng.IntN(5) == 0 {
		req.Tags = []string{"red", "green", "blue"}[:1+rng.IntN(3)]
	}
	if rng.IntN(3) == 0 {
		reach := float64(1 + rng.IntN(20))
		req.SpatialSort = &robotmem.SpatialSort{Field: "spatial." + equalPlace[rng.IntN(2)], Target: []float64{float64(rng.IntN(20)), float64(rng.IntN(20))}, MaxDistance: &reach, Mode: []string{"strict", "fused"}[rng.IntN(2)]}
	}
	if rng.IntN(6) == 0 {
		req.Diversity = 0.5
	}
	if rng.IntN(12) == 0 {
		req.Query, req.Collection, req.MinConfidence = "", "a", new(0.1)
	}
	return req
}

// A file and the fleet give the same ids in the same order, with the same scores, for 500 questions
// about the same memories, with filters, places, times, tags and outcomes. With vectors, whose search is
// approximate among many, 0.99 of the first ten are the same.
func TestFleetAnswersAsAFile(t *testing.T) {
	skipShort(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 19))
	many := rounds.Of(1_000, 5_000)
	clock := func() time.Time { return time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC) }
	path, url := filepath.Join(t.TempDir(), "m.db"), postgrestest.NewURL(t)
	file, err := local.Open(t.Context(), path, local.Options{Location: time.UTC, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	site := openTest(t, url, Options{Options: local.Options{Clock: clock}})
	session := ""
	for i := 0; i < many; i += 500 {
		items := make([]robotmem.LearnRequest, 500)
		for k := range items {
			items[k] = equalFact(rng)
		}
		name := fmt.Sprint("episode-", i)
		for _, n := range []*local.Node{file, site} {
			s, err := n.StartSession(t.Context(), &robotmem.StartSessionRequest{Collection: "a", SessionID: name})
			if err != nil {
				t.Fatal(err)
			}
			for k := range items {
				if items[k].Collection == "a" && k%5 == 0 {
					items[k].SessionID = s.SessionID
				}
			}
			if session != "" {
				score := float64(i/500%5) / 4
				if _, err := n.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: session, OutcomeScore: &score, UsedMemoryIDs: []int64{int64(1 + i/4)}}); err != nil {
					t.Fatal(err)
				}
			}
			res, err := n.LearnBatch(t.Context(), &robotmem.LearnBatchRequest{Items: slices.Clone(items), KeepDuplicates: i%1000 == 0})
			if err != nil {
				t.Fatal(err, causeOf(err))
			}
			for _, r := range res.Results {
				if r.Error != nil {
					t.Fatal(r.Error)
				}
			}
		}
		session = name
	}
	for id := int64(3); id < int64(many); id += 41 {
		for _, n := range []*local.Node{file, site} {
			_, err := n.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "test"})
			if robotmem.KindOf(err) == robotmem.NotFound || robotmem.KindOf(err) == robotmem.Conflict {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, n := range []*local.Node{file, site} {
		if err := n.Warm(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	answered := 0
	for i := range rounds.Of(100, 500) {
		req := equalQuestion(rng)
		want, err := file.Recall(t.Context(), req)
		if err != nil {
			t.Fatalf("%+v: %v", req, err)
		}
		got, err := site.Recall(t.Context(), req)
		if err != nil {
			t.Fatalf("%+v: %v", req, err)
		}
		if a, b := said(t, want.Memories), said(t, got.Memories); a != b || !slices.Equal(want.Degraded, got.Degraded) || want.Mode != got.Mode {
			at := 0
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
			t.Fatalf("question %d %+v, mode %s, %d and %d memories:\nfile %v …%.300s\nsite %v …%.300s", i, req, want.Mode, len(want.Memories), len(got.Memories), want.Degraded, a[max(0, at-200):], got.Degraded, b[max(0, at-200):])
		}
		if len(want.Memories) > 0 {
			answered++
		}
	}
	if answered < rounds.Of(60, 300) {
		t.Errorf("only %d questions had an answer", answered)
	}
	for _, by := range []string{"task.name", "outcome", "collection"} {
		req := &robotmem.AggregateRequest{GroupBy: []string{by}, Collection: "*"}
		a, err1 := file.Aggregate(t.Context(), req)
		b, err2 := site.Aggregate(t.Context(), req)
		if err1 != nil || err2 != nil || said(t, a) != said(t, b) {
			t.Errorf("by %s: %v %v\n%s\n%s", by, err1, err2, said(t, a), said(t, b))
		}
	}
	withVectors := local.Options{Location: time.UTC, Clock: clock, Embedder: &eval.WordVectors{}}
	if file, err = local.Open(t.Context(), path, withVectors); err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	site = openTest(t, url, Options{Options: withVectors})
	for _, n := range []*local.Node{file, site} {
		if err := n.Reembed(t.Context(), func(_, _ int64) {}); err != nil {
			t.Fatal(err, causeOf(err))
		}
		if err := n.Warm(t.Context()); err != nil { // the vectors are read
			t.Fatal(err)
		}
	}
	wanted, found := 0, 0
	for range rounds.Of(50, 200) {
		req := equalQuestion(rng)
		want, err1 := file.Recall(t.Context(), req)
		got, err2 := site.Recall(t.Context(), req)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2, causeOf(err2))
		}
		if want.Mode != got.Mode {
			t.Fatalf("%+v: mode %s %v and %s %v", req, want.Mode, want.Degraded, got.Mode, got.Degraded)
		}
		for _, m := range want.Memories[:min(10, len(want.Memories))] {
			wanted++
			if slices.ContainsFunc(got.Memories, func(o robotmem.Memory) bool { return o.MemoryID == m.MemoryID }) {
				found++
			}
		}
	}
	if wanted < 100 || float64(found) < 0.99*float64(wanted) {
		t.Errorf("with vectors %d of %d are the same", found, wanted)
	}
}

// said is an answer as JSON, without the uid and without the relevance, which depends on the mean of
// the vectors when it was last measured.
func said(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var any any
	if err := json.Unmarshal(data, &any); err != nil {
		t.Fatal(err)
	}
	strip(any)
	data, _ = json.Marshal(any)
	return string(data)
}

func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"uid", "relevance"} {
			delete(v, name)
		}
		for _, inner := range v {
			strip(inner)
		}
	case []any:
		for _, inner := range v {
			strip(inner)
		}
	}
}
