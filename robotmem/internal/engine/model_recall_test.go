package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"pgregory.net/rapid"
)

// seen is a memory with the state that a recall uses.
type seen struct {
	*known
	*belief
	sure float64
}

// Condition is a filter with the memories it admits, and those its $not admits.
type Condition struct {
	filter          robotmem.Object
	admits, refuses func(seen) bool
}

func decided(filter robotmem.Object, admits func(seen) bool) Condition {
	return Condition{filter, admits, func(s seen) bool { return !admits(s) }}
}

// drawFilter returns a context_filter and the function that it stands for.
func (w *world) drawFilter(t *rapid.T, depth int) Condition {
	switch k := rapid.IntRange(0, 11).Draw(t, "filter"); {
	case k == 0 && depth > 0:
		a, b := w.drawFilter(t, depth-1), w.drawFilter(t, depth-1)
		return Condition{robotmem.Object{"$and": []any{a.filter, b.filter}}, func(s seen) bool { return a.admits(s) && b.admits(s) }, func(s seen) bool { return a.refuses(s) || b.refuses(s) }}
	case k == 1 && depth > 0:
		a, b := w.drawFilter(t, depth-1), w.drawFilter(t, depth-1)
		return Condition{robotmem.Object{"$or": []any{a.filter, b.filter}}, func(s seen) bool { return a.admits(s) || b.admits(s) }, func(s seen) bool { return a.refuses(s) && b.refuses(s) }}
	case k == 2 && depth > 0:
		a := w.drawFilter(t, depth-1)
		return Condition{robotmem.Object{"$not": a.filter}, a.refuses, a.admits}
	case k <= 3:
		want := rapid.Bool().Draw(t, "success")
		return decided(robotmem.Object{"task.success": want}, func(s seen) bool { return s.context.success == fmt.Sprint(want) })
	case k == 4:
		return decided(robotmem.Object{"task.name": map[string]any{"$nin": []any{"lift"}}}, func(s seen) bool { return s.context.task != `"lift"` })
	case k == 5:
		want := rapid.Bool().Draw(t, "exists")
		return decided(robotmem.Object{"spatial": map[string]any{"$exists": want}}, func(s seen) bool { return (s.context.place+s.context.frame != "") == want })
	case k == 6:
		want := rapid.SampledFrom([]string{"code", "constraint", "postmortem"}).Draw(t, "category")
		return decided(robotmem.Object{"category": map[string]any{"$ne": want}}, func(s seen) bool { return s.category != want })
	case k == 7:
		id := w.drawSession(t)
		return decided(robotmem.Object{"session_id": map[string]any{"$in": []any{id}}}, func(s seen) bool { return id != "" && s.session == id })
	case k == 8:
		at := w.time().Add(-time.Duration(rapid.IntRange(0, 200_000).Draw(t, "seconds ago")) * time.Second)
		return decided(robotmem.Object{"observed_at": map[string]any{"$lt": at.Format(time.RFC3339Nano)}}, func(s seen) bool { return s.observed.Before(at) })
	case k == 9:
		floor := rapid.SampledFrom([]float64{0.2, 0.5, 0.79}).Draw(t, "confidence")
		return decided(robotmem.Object{"confidence": map[string]any{"$gt": floor}}, func(s seen) bool { return s.sure > floor })
	}
	limit := rapid.SampledFrom([]float64{1, 12.5, 20}).Draw(t, "force")
	numbers := map[string]float64{"1": 1, "12.5": 12.5, "30": 30}
	return Condition{robotmem.Object{"params.force": map[string]any{"$lte": limit}}, func(s seen) bool {
		force, isNumber := numbers[s.context.force]
		return isNumber && force <= limit
	}, func(s seen) bool { // a text is neither
		force, isNumber := numbers[s.context.force]
		return s.context.force == "" || isNumber && force > limit
	}}
}

// drawRecall draws a recall with any filters, and returns it with the memories it
// admits.
func (w *world) drawRecall(t *rapid.T) (*robotmem.RecallRequest, []seen) {
	some := func(label string) bool { return rapid.IntRange(0, 3).Draw(t, label) == 0 }
	r := &robotmem.RecallRequest{Collection: rapid.SampledFrom(append([]string{"*", "*"}, modelCollections...)).Draw(t, "collection"),
		N: rapid.SampledFrom([]int{1, 3, 100}).Draw(t, "n"), MinConfidence: rapid.SampledFrom([]*float64{nil, new(0.0), new(0.6)}).Draw(t, "floor")}
	filter := Condition{admits: func(seen) bool { return true }}
	if some("filtered") {
		filter = w.drawFilter(t, 2)
		r.ContextFilter = filter.filter
	}
	if some("of a type") {
		r.Type = rapid.SampledFrom([]string{"fact", "perception"}).Draw(t, "type")
	}
	if some("tagged") {
		r.Tags = []string{rapid.SampledFrom(modelTags).Draw(t, "tag")}
	}
	if some("of a category") {
		r.Category = rapid.SampledFrom([]string{"code", "constraint", "postmortem"}).Draw(t, "category")
	}
	if some("after") {
		r.After = new(w.time().Add(-time.Duration(rapid.IntRange(0, 300_000).Draw(t, "seconds")) * time.Second))
	}
	if some("before") {
		r.Before = new(w.time().Add(time.Duration(rapid.IntRange(-200_000, 200_000).Draw(t, "seconds")) * time.Second))
	}
	if w.monotone && some("as of") {
		r.AsOf = new(w.drawPast(t))
		w.happened["asked of the past"]++
	}
	if some("for a session") && len(w.sessions) > 0 {
		r.ForSession = rapid.SampledFrom(w.sessions).Draw(t, "asking").id
	}
	return r, w.admitted(r, filter)
}

// drawPast returns the time of a change or a time between two.
func (w *world) drawPast(t *rapid.T) time.Time {
	times := []time.Time{w.time(), w.time().Add(time.Hour)}
	for _, k := range w.memories {
		times = append(times, k.created, k.now.from)
		if k.useful != nil {
			times = append(times, *k.useful)
		}
	}
	return rapid.SampledFrom(times).Draw(t, "time").Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "beside")) * time.Minute)
}

// admitted scans every memory.
func (w *world) admitted(r *robotmem.RecallRequest, filter Condition) (all []seen) {
	now, floor := w.time(), 0.3
	if r.MinConfidence != nil {
		floor = *r.MinConfidence
	}
	if r.AsOf != nil && r.AsOf.Before(now) {
		now = *r.AsOf
	}
	for _, k := range w.memories {
		b := &k.now
		if r.AsOf != nil && now.Equal(*r.AsOf) {
			b = k.at(now)
		}
		if b == nil || b.status != "active" {
			continue
		}
		s := seen{k, b, k.faded(b, now)}
		tags := tagsOf(b.tags, k.userTags)
		missing := slices.ContainsFunc(r.Tags, func(t string) bool { return !slices.Contains(tags, t) })
		if missing || s.sure < floor || r.Collection != "*" && r.Collection != k.collection || r.SessionID != "" && r.SessionID != k.session ||
			r.Type != "" && r.Type != k.kind || r.Category != "" && r.Category != b.category ||
			r.After != nil && k.observed.Before(*r.After) || r.Before != nil && !k.observed.Before(*r.Before) || !filter.admits(s) {
			continue
		}
		all = append(all, s)
	}
	return all
}

// ask makes a recall, sometimes with a short deadline, and counts it.
func (w *world) ask(t *rapid.T, r *robotmem.RecallRequest) (*robotmem.RecallResponse, bool) {
	var res *robotmem.RecallResponse
	err, cancelled := w.call(t, func(ctx context.Context, e *local.Node) (err error) {
		res, err = e.Recall(ctx, r)
		return err
	})
	if cancelled || !expect(t, "recall", err, "") {
		return nil, false
	}
	w.recalls++
	if len(res.Memories) == 0 {
		w.zeroHits++
	}
	for _, m := range res.Memories {
		w.memory(m.MemoryID).returned++
		if s := w.session(r.ForSession); s != nil {
			s.recalled[m.MemoryID] = true
		}
	}
	return res, len(res.Degraded) == 0 || r.SpatialSort != nil && r.SpatialSort.FrameID == ""
}

func sameIDs(t *rapid.T, what string, r *robotmem.RecallRequest, res *robotmem.RecallResponse, want []int64) {
	got := []int64{}
	for _, m := range res.Memories {
		got = append(got, m.MemoryID)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("%s %+v, %v (-want +got):\n%s", what, r, res.Degraded, diff)
	}
}

// recallWords expects exactly the admitted memories with a word of the query, best
// first.
func (w *world) recallWords(t *rapid.T) {
	r, admitted := w.drawRecall(t)
	words := rapid.SliceOfNDistinct(rapid.SampledFrom(append([]string{"nowhere"}, modelWords...)), 1, 3, rapid.ID).Draw(t, "query")
	for _, word := range words {
		r.Query += word + " "
	}
	res, ok := w.ask(t, r)
	if !ok {
		return
	}
	const compared = 10 // among so many first ones, what happened and more words decide between equal scores
	want := []int64{}
	texts := map[int64]string{}
	for _, s := range admitted {
		terms := meaningOf(s.content).terms
		if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(terms, text.Stem(word)) }) {
			want = append(want, s.id)
		}
		texts[s.id] = s.content
	}
	filtered := r.ContextFilter != nil || r.Type != "" || r.Category != "" || len(r.Tags) > 0 || r.After != nil || r.Before != nil
	if len(want) == 0 && filtered { // what passes the filters answers
		for _, s := range admitted {
			want = append(want, s.id)
		}
	}
	for i, m := range res.Memories {
		switch {
		case i == 0 && *m.Score != 1:
			t.Fatalf("the best scores %v", *m.Score)
		case i > 0 && *m.Score > *res.Memories[i-1].Score,
			i > compared && *m.Score == *res.Memories[i-1].Score && m.ObservedAt.After(res.Memories[i-1].ObservedAt):
			t.Fatalf("memory %d (%v) comes after %d (%v)", m.MemoryID, *m.Score, res.Memories[i-1].MemoryID, *res.Memories[i-1].Score)
		case !slices.Contains(want, m.MemoryID):
			t.Fatalf("recall %+v: memory %d is not among %v", r, m.MemoryID, want)
		case m.Content != texts[m.MemoryID]:
			t.Fatalf("recall %+v: memory %d says %q, want %q", r, m.MemoryID, m.Content, texts[m.MemoryID])
		}
	}
	if len(res.Memories) != min(r.N, len(want)) {
		t.Fatalf("recall %+v found %d of %v", r, len(res.Memories), want)
	}
}

// recallPlaces expects the nearest memories, ordered by distance.
func (w *world) recallPlaces(t *rapid.T) {
	r, admitted := w.drawRecall(t)
	s := &robotmem.SpatialSort{Field: "spatial.position", Target: rapid.SampledFrom([][]float64{{0, 0}, {2, 2}, {1, 1, 0}}).Draw(t, "target"),
		MaxDistance: rapid.SampledFrom([]*float64{nil, new(0.0), new(2.5)}).Draw(t, "reach"), FrameID: rapid.SampledFrom([]string{"", "map"}).Draw(t, "frame")}
	r.SpatialSort = s
	res, ok := w.ask(t, r)
	if !ok {
		return
	}
	type near struct {
		id       int64
		distance float64
	}
	var all []near
	for _, m := range admitted {
		xyz := m.context.position()
		if xyz == nil || s.FrameID != "" && m.context.frame != `"`+s.FrameID+`"` {
			continue
		}
		sum := 0.0
		for i := range min(len(xyz), len(s.Target)) { // in the plane if either of them is
			sum += (xyz[i] - s.Target[i]) * (xyz[i] - s.Target[i])
		}
		if d := math.Sqrt(sum); s.MaxDistance == nil || d <= *s.MaxDistance {
			all = append(all, near{m.id, d})
		}
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.id, b.id)) })
	want := []int64{}
	for _, n := range all[:min(r.N, len(all))] {
		want = append(want, n.id)
	}
	sameIDs(t, "places", r, res, want)
}

// recallTimes makes a recall without words and expects the newest memories first.
func (w *world) recallTimes(t *rapid.T) {
	r, admitted := w.drawRecall(t)
	if r.Collection == "*" {
		r.After = cmp.Or(r.After, new(time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC))) // something must narrow it
	}
	if rapid.IntRange(0, 3).Draw(t, "yesterday") == 0 {
		w.yesterday(t, r)
		return
	}
	if res, ok := w.ask(t, r); ok {
		slices.SortFunc(admitted, func(a, b seen) int { return cmp.Or(b.observed.Compare(a.observed), cmp.Compare(b.id, a.id)) })
		sameIDs(t, "times", r, res, idsOf(admitted, r.N))
	}
}

// yesterday returns the previous calendar day in the robot's time zone: it has 23 or 25
// hours when summer time starts or ends.
func (w *world) yesterday(t *rapid.T, r *robotmem.RecallRequest) {
	*r = robotmem.RecallRequest{Collection: "*", Query: "yesterday", ParseTime: new(true), N: 100, MinConfidence: new(0.0)}
	res, ok := w.ask(t, r)
	if !ok {
		return
	}
	if len(res.Times) != 1 || res.Times[0].After == nil || res.Times[0].Before == nil {
		t.Fatalf("yesterday, at %v: %+v", w.time().In(w.zone), res.Times)
	}
	after, before := res.Times[0].After.In(w.zone), res.Times[0].Before.In(w.zone)
	today := w.time().In(w.zone)
	// Apia skipped the 30th, so the day before the 31st has no hours there.
	midnight := time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, w.zone)
	if !before.Equal(midnight) || after.After(before) || before.Sub(after) > 26*time.Hour {
		t.Fatalf("yesterday, at %v, is from %v to %v", today, after, before)
	}
	all := w.admitted(&robotmem.RecallRequest{Collection: "*", MinConfidence: new(0.0), After: &after, Before: &before}, Condition{admits: func(seen) bool { return true }})
	slices.SortFunc(all, func(a, b seen) int { return cmp.Or(b.observed.Compare(a.observed), cmp.Compare(b.id, a.id)) })
	sameIDs(t, "yesterday", r, res, idsOf(all, r.N))
}

// replay reads a session from its start.
func (w *world) replay(t *rapid.T) {
	if len(w.sessions) == 0 {
		t.Skip("no session")
	}
	r := &robotmem.RecallRequest{SessionID: rapid.SampledFrom(w.sessions).Draw(t, "session").id, N: 100, MinConfidence: new(0.0)}
	all := w.admitted(&robotmem.RecallRequest{Collection: "*", SessionID: r.SessionID, MinConfidence: r.MinConfidence}, Condition{admits: func(seen) bool { return true }})
	slices.SortFunc(all, func(a, b seen) int { return cmp.Or(a.observed.Compare(b.observed), cmp.Compare(a.id, b.id)) })
	if res, ok := w.ask(t, r); ok {
		sameIDs(t, "replay", r, res, idsOf(all, r.N))
	}
	w.lived(t, r.SessionID)
}

// lived reads all memories of a session in any status, page by page.
func (w *world) lived(t *rapid.T, session string) {
	var all []seen
	for _, k := range w.memories {
		if k.session == session {
			all = append(all, seen{known: k})
		}
	}
	slices.SortFunc(all, func(a, b seen) int { return cmp.Or(a.observed.Compare(b.observed), cmp.Compare(a.id, b.id)) })
	got := []int64{}
	r := &admin.SessionMemoriesRequest{SessionID: session, Limit: rapid.SampledFrom([]int{1, 2, 100}).Draw(t, "limit")}
	for {
		res, err := w.engine().SessionMemories(context.Background(), r)
		if err != nil || res.Total != int64(len(all)) {
			t.Fatalf("session_memories: %+v, %v, want %d", res, err, len(all))
		}
		for _, m := range res.Memories {
			got = append(got, m.MemoryID)
		}
		if r.Cursor = res.Next; r.Cursor == "" {
			break
		}
	}
	if diff := gocmp.Diff(idsOf(all, len(all)), got); diff != "" {
		t.Fatalf("session_memories (-want +got):\n%s", diff)
	}
}

func idsOf(all []seen, n int) []int64 {
	out := []int64{}
	for _, s := range all[:min(n, len(all))] {
		out = append(out, s.id)
	}
	return out
}
