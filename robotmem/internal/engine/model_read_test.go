package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"pgregory.net/rapid"
)

// list reads all pages of a filtered list by cursor.
func (w *world) list(t *rapid.T) {
	r := &robotmem.ListRequest{
		Limit: rapid.SampledFrom([]int{1, 3, 50}).Draw(t, "limit"), Status: rapid.SampledFrom([]string{"active", "superseded", "invalidated", "all"}).Draw(t, "status"),
		Collection: rapid.SampledFrom(append([]string{"*", "*"}, modelCollections...)).Draw(t, "collection"), Type: rapid.SampledFrom([]string{"", "", "fact", "perception"}).Draw(t, "type"),
		ConfidenceMin: rapid.SampledFrom([]*float64{nil, new(0.85)}).Draw(t, "confidence"), Days: rapid.SampledFrom([]int{0, 0, 1, 30}).Draw(t, "days"),
		Tags: rapid.SliceOfN(rapid.SampledFrom(modelTags), 0, 1).Draw(t, "tags"), PerceptionType: rapid.SampledFrom([]string{"", "", "visual"}).Draw(t, "perception"),
	}
	want := []int64{}
	for _, k := range slices.Backward(w.memories) {
		if (r.Status == "all" || r.Status == k.now.status) && (r.Collection == "*" || r.Collection == k.collection) && (r.Type == "" || r.Type == k.kind) &&
			(r.ConfidenceMin == nil || k.now.confidence >= *r.ConfidenceMin) && (r.Days == 0 || !k.created.Before(w.time().AddDate(0, 0, -r.Days))) &&
			(r.PerceptionType == "" || r.PerceptionType == k.perception) && (len(r.Tags) == 0 || slices.Contains(tagsOf(k.now.tags, k.userTags), r.Tags[0])) {
			want = append(want, k.id)
		}
	}
	got := []int64{}
	for {
		res, err := w.engine().List(context.Background(), r)
		if err != nil || res.Total != int64(len(want)) {
			t.Fatalf("list %+v: %d in all, %v; want %d", r, res.Total, err, len(want))
		}
		for _, m := range res.Memories {
			got = append(got, m.MemoryID)
		}
		if r.Cursor = res.Next; r.Cursor == "" {
			break
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("list %+v (-want +got):\n%s", r, diff)
	}
}

// look reads one memory, its payload and its history.
func (w *world) look(t *rapid.T) {
	id := w.drawID(t)
	k, missing := w.changeable(id, func(*known) bool { return true })
	m, err := w.engine().Get(context.Background(), &robotmem.MemoryRequest{MemoryID: id})
	if !expect(t, "get", err, missing) {
		return
	}
	if diff := gocmp.Diff(w.withEpisode(k.answer(w.time())), plain(*m), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("get (-want +got):\n%s", diff)
	}
	none := robotmem.Kind("")
	if k.payload == nil || k.evicted {
		none = robotmem.NotFound
	}
	d, err := w.engine().Data(context.Background(), &robotmem.MemoryRequest{MemoryID: id})
	// Another perception may have the same payload.
	if k.evicted && err == nil && bytes.Equal(d.DataBase64, k.payload) {
		none = ""
	}
	if expect(t, "data", err, none) && !bytes.Equal(d.DataBase64, k.payload) {
		t.Fatalf("memory %d: %d bytes of data, want %d", id, len(d.DataBase64), len(k.payload))
	}
	w.remembers(t, k)
}

func (w *world) remembers(t *rapid.T, k *known) {
	res, err := w.engine().History(context.Background(), &robotmem.MemoryRequest{MemoryID: k.id})
	if err != nil {
		t.Fatalf("history: %v", err)
	}
	var want []robotmem.Version
	for _, b := range append(slices.Clone(k.past), k.now) {
		v := robotmem.Version{Version: b.version, Content: b.content, Context: b.context.object(), Category: b.category, Confidence: b.confidence,
			Status: b.status, SupersededBy: b.by, From: b.from, Change: b.change, Reason: b.reason}
		if !b.to.IsZero() {
			v.To = &b.to
		}
		want = append(want, v)
	}
	if diff := gocmp.Diff(want, res.Versions, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("history of memory %d (-want +got):\n%s", k.id, diff)
	}
}

// count compares all counts.
func (w *world) count(t *rapid.T) {
	status := map[string]int64{}
	kinds, categories, collections := map[string]int64{}, map[string]int64{}, map[string]*admin.CollectionCount{}
	at := func(name string) *admin.CollectionCount {
		if collections[name] == nil {
			collections[name] = &admin.CollectionCount{Collection: name}
		}
		return collections[name]
	}
	for _, k := range w.memories {
		status[k.now.status]++
		at(k.collection).Total++
		if k.now.status == "active" {
			kinds[k.kind]++
			categories[k.now.category]++
			at(k.collection).Active++
		}
	}
	filled := int64(len(collections)) // stats counts those that hold a memory
	for _, s := range w.sessions {
		at(s.collection).Sessions++
	}
	stats, err := w.engine().Stats(context.Background(), &admin.StatsRequest{})
	if err != nil {
		t.Fatalf("stats: %v", err)
	}
	type counts struct {
		Total, Sessions, Evicted     int64
		ByStatus, ByType, ByCategory map[string]int64
		Collections                  int64
	}
	got := counts{stats.Total, stats.Sessions, stats.Evicted, stats.ByStatus, stats.ByType, stats.ByCategory, stats.Collections}
	want := counts{status["active"], int64(len(w.sessions)), w.evicted, status, kinds, categories, filled}
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreMapEntries(func(_ string, n int64) bool { return n == 0 })); diff != "" {
		t.Fatalf("stats (-want +got):\n%s", diff)
	}
	res, err := w.engine().Collections(context.Background(), &admin.CollectionsRequest{})
	if err != nil {
		t.Fatalf("collections: %v", err)
	}
	var named []admin.CollectionCount
	for _, c := range collections {
		named = append(named, *c)
	}
	slices.SortFunc(named, func(a, b admin.CollectionCount) int { return cmp.Compare(a.Collection, b.Collection) })
	if diff := gocmp.Diff(named, res.Collections, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("collections (-want +got):\n%s", diff)
	}
}

// failures returns lessons and memories without success, newest first.
func (w *world) failures(t *rapid.T) {
	r := &admin.RecentFailuresRequest{Limit: rapid.SampledFrom([]int{1, 50}).Draw(t, "limit"), Days: rapid.SampledFrom([]int{0, 1, 365}).Draw(t, "days")}
	var all []seen
	for _, k := range w.memories {
		if k.now.status == "active" && (k.now.context.success == "false" || k.now.category == "postmortem" || k.now.category == "gotcha") &&
			(r.Days == 0 || !k.observed.Before(w.time().AddDate(0, 0, -r.Days))) {
			all = append(all, seen{known: k})
		}
	}
	slices.SortFunc(all, func(a, b seen) int { return cmp.Or(b.observed.Compare(a.observed), cmp.Compare(b.id, a.id)) })
	res, err := w.engine().RecentFailures(context.Background(), r)
	if err != nil || res.Total != int64(len(all)) {
		t.Fatalf("recent_failures: %+v, %v; want %d", res, err, len(all))
	}
	got := []int64{}
	for _, m := range res.Memories {
		got = append(got, m.MemoryID)
	}
	if diff := gocmp.Diff(idsOf(all, r.Limit), got); diff != "" {
		t.Fatalf("recent_failures (-want +got):\n%s", diff)
	}
}
