package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"pgregory.net/rapid"
)

// home returns the collection of a write with this session and collection, or the
// expected kind of error.
func (w *world) home(session, collection string) (string, robotmem.Kind) {
	if session == "" {
		return cmp.Or(collection, "default"), ""
	}
	s := w.session(session)
	switch {
	case s == nil:
		return "", robotmem.NotFound
	case s.ended != nil:
		return "", robotmem.Conflict
	case collection != "" && collection != s.collection:
		return "", robotmem.Invalid
	}
	return s.collection, ""
}

func (w *world) learn(t *rapid.T) { w.learnOne(t, w.drawLearn(t)) }

// learnAgain stores a known fact again in the same collection and context.
func (w *world) learnAgain(t *rapid.T) {
	k := w.memory(w.drawID(t))
	if k == nil || k.kind != "fact" {
		t.Skip("no fact")
	}
	w.learnOne(t, &robotmem.LearnRequest{Insight: k.now.content + rapid.SampledFrom([]string{"", "!"}).Draw(t, "ends"), Context: k.now.context.object(), Collection: k.collection,
		Tags: rapid.SliceOfNDistinct(rapid.SampledFrom(modelTags), 0, 1, rapid.ID).Draw(t, "tags"), Pinned: rapid.SampledFrom([]*bool{nil, new(true)}).Draw(t, "pinned")})
}

// learnNear stores a known fact with one word more or less.
func (w *world) learnNear(t *rapid.T) {
	k := w.memory(w.drawID(t))
	if k == nil || k.kind != "fact" {
		t.Skip("no fact")
	}
	words := strings.Fields(k.now.content)
	more := rapid.SampledFrom(append([]string{""}, modelWords...)).Draw(t, "word")
	switch i := slices.Index(words, more); {
	case i >= 0 && len(words) > 1:
		words = slices.Delete(words, i, i+1)
	case more != "":
		words = append(words, more)
	}
	w.learnOne(t, &robotmem.LearnRequest{Insight: strings.Join(words, " "), Context: k.now.context.object(), Collection: k.collection})
}

// episode stores similar facts in a session and ends it.
func (w *world) episode(t *rapid.T) {
	n := len(w.sessions)
	if w.startSession(t); len(w.sessions) == n {
		return
	}
	id := w.sessions[n].id
	words := rapid.SliceOfNDistinct(rapid.SampledFrom(modelWords), 5, 6, rapid.ID).Draw(t, "words")
	for range rapid.IntRange(3, 5).Draw(t, "facts") {
		some := slices.Clone(words)
		for range max(0, rapid.IntRange(-3, 2).Draw(t, "left out")) {
			left := rapid.IntRange(0, len(some)-1).Draw(t, "which")
			some = slices.Delete(some, left, left+1)
		}
		for range rapid.IntRange(0, 2).Draw(t, "seen before") {
			some = append(some, "again")
		}
		in := situation{task: rapid.SampledFrom([]string{"", "", `"pour"`}).Draw(t, "task"), success: rapid.SampledFrom([]string{"true", "true", "false"}).Draw(t, "success")}
		w.learnOne(t, &robotmem.LearnRequest{Insight: strings.Join(some, " "), Context: in.object(), SessionID: id})
	}
	w.endOne(t, &robotmem.EndSessionRequest{SessionID: id})
}

func (w *world) learnOne(t *rapid.T, r *robotmem.LearnRequest) {
	collection, refused := w.home(r.SessionID, r.Collection)
	var res *robotmem.LearnResponse
	err, cancelled := w.call(t, func(ctx context.Context, e *local.Node) (err error) {
		res, err = e.Learn(ctx, r)
		return err
	})
	if !cancelled && expect(t, "learn", err, refused) {
		w.learnt(t, r, collection, res, false)
	}
}

// learnt applies one response of learn to the model.
func (w *world) learnt(t *rapid.T, r *robotmem.LearnRequest, collection string, res *robotmem.LearnResponse, keepDuplicates bool) {
	in := situationOf(r.Context)
	twins, method := w.twins(collection, r.Insight, in)
	if len(twins) == 0 || keepDuplicates {
		if res.Status != "created" {
			t.Fatalf("learn %q %+v: %+v, want it created", r.Insight, in, res)
		}
		w.created(t, r, collection, in, res)
		return
	}
	if res.Status != "duplicate" || !slices.Contains(twins, res.MemoryID) || res.Method != method || res.ExistingID != res.MemoryID {
		t.Fatalf("learn %q %+v: %+v, want a duplicate of one of %v by %s", r.Insight, in, res, twins, method)
	}
	w.happened["duplicate by "+method]++
	k := w.memory(res.MemoryID)
	if res.UID != k.uid {
		t.Fatalf("uid %s of memory %d, want %s", res.UID, k.id, k.uid)
	}
	k.userTags = tagsOf(k.userTags, r.Tags)
	if asked := r.Pinned != nil; asked && *r.Pinned || !asked && slices.Contains(protected, res.AutoInferred.Category) && res.AutoInferred.Category != k.now.category {
		k.pinned = true
	}
	k.sightings++
	k.used(w.time())
}

func (w *world) created(t *rapid.T, r *robotmem.LearnRequest, collection string, in situation, res *robotmem.LearnResponse) {
	for _, c := range res.Conflicts {
		o := w.memory(c.MemoryID)
		if o == nil || o.now.status != "active" || o.collection != collection || o.now.context != in || o.kind != "fact" {
			t.Fatalf("learn %q contradicts memory %d, which is no active fact of the same place", r.Insight, c.MemoryID)
		}
	}
	now := w.time()
	k := &known{
		id: res.MemoryID, uid: res.UID, kind: "fact", collection: collection, session: r.SessionID, source: r.Source,
		created: now, updated: now, observed: now, userTags: tagsOf(r.Tags), sightings: 1, pinned: slices.Contains(protected, res.AutoInferred.Category),
		now: belief{content: r.Insight, context: in, status: "active", version: 1, from: now, category: res.AutoInferred.Category, confidence: res.AutoInferred.Confidence, tags: res.AutoInferred.Tags},
	}
	if len(k.userTags) == 0 {
		k.userTags = nil
	}
	if r.Pinned != nil {
		k.pinned = *r.Pinned
	}
	if r.ObservedAt != nil {
		k.observed = r.ObservedAt.UTC()
	}
	w.add(t, k)
}

func (w *world) add(t *rapid.T, k *known) {
	if n := len(w.memories); n > 0 && w.memories[n-1].id >= k.id {
		t.Fatalf("memory %d came after %d", k.id, w.memories[n-1].id)
	}
	w.memories = append(w.memories, k)
}

// learnAtOnce makes the same call twice concurrently, on one node or both; the order is
// undefined.
func (w *world) learnAtOnce(t *rapid.T) {
	r := w.drawLearn(t)
	collection, refused := w.home(r.SessionID, r.Collection)
	res, errs := [2]*robotmem.LearnResponse{}, [2]error{}
	atOnce(rapid.Bool().Draw(t, "both"), w.engines, func(i int, e *local.Node) { res[i], errs[i] = e.Learn(context.Background(), r) })
	ok := expect(t, "learn", errs[0], refused)
	if ok = expect(t, "learn", errs[1], refused) && ok; !ok {
		return
	}
	first := 0
	if res[1].Status == "created" {
		first = 1
	}
	w.learnt(t, r, collection, res[first], false)
	w.learnt(t, r, collection, res[1-first], false)
}

func atOnce(both bool, engines [2]*local.Node, call func(i int, e *local.Node)) {
	if !both {
		engines[1] = engines[0]
	}
	var wg sync.WaitGroup
	for i, e := range engines {
		wg.Go(func() { call(i, e) })
	}
	wg.Wait()
}

func (w *world) learnBatch(t *rapid.T) {
	r := &robotmem.LearnBatchRequest{KeepDuplicates: rapid.Bool().Draw(t, "keep duplicates")}
	for range rapid.IntRange(1, 5).Draw(t, "items") {
		item := w.drawLearn(t)
		if rapid.IntRange(0, 5).Draw(t, "bad") == 0 {
			item.Insight = "  "
		}
		at := w.time().Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "observed")) * 24 * time.Hour)
		item.ObservedAt = rapid.SampledFrom([]*time.Time{nil, &at}).Draw(t, "observed at")
		r.Items = append(r.Items, *item)
	}
	var res *robotmem.LearnBatchResponse
	err, cancelled := w.call(t, func(ctx context.Context, e *local.Node) (err error) {
		res, err = e.LearnBatch(ctx, r)
		return err
	})
	if cancelled || !expect(t, "learn_batch", err, "") {
		return
	}
	if res.Results[0].Error != nil && res.Results[0].Error.Kind == robotmem.Unavailable {
		for i := range res.Results { // one transaction: none of it was stored
			if res.Results[i].Error == nil {
				t.Fatalf("learn_batch: item %d of a batch that was cancelled is acknowledged", i)
			}
		}
		return
	}
	for i := range res.Results {
		item := &r.Items[i]
		collection, refused := w.home(item.SessionID, item.Collection)
		if item.Insight == "  " {
			refused = robotmem.Invalid
		}
		switch got := res.Results[i]; {
		case (got.Error == nil) != (refused == "") || got.Error != nil && got.Error.Kind != refused:
			t.Fatalf("learn_batch: item %d: %+v, want %q", i, got.Error, refused)
		case refused == "":
			w.learnt(t, item, collection, got.LearnResponse, r.KeepDuplicates)
		}
	}
}

func (w *world) update(t *rapid.T) {
	r := &robotmem.UpdateRequest{MemoryID: w.drawID(t), NewContent: drawText(t)}
	in := situation{}
	if rapid.Bool().Draw(t, "new context") {
		if in = drawSituation(t); in != (situation{}) {
			r.Context = in.object()
		}
	}
	k, refused := w.changeable(r.MemoryID, func(k *known) bool { return k.now.status == "active" })
	var res *robotmem.UpdateResponse
	err, cancelled := w.call(t, func(ctx context.Context, e *local.Node) (err error) {
		res, err = e.Update(ctx, r)
		return err
	})
	if cancelled || !expect(t, "update", err, refused) {
		return
	}
	now := w.time()
	if res.OldContent != k.now.content || res.Version != k.now.version+1 {
		t.Fatalf("update: %+v, want version %d of %q", res, k.now.version+1, k.now.content)
	}
	k.archive(now, "updated", "")
	was := k.now.category
	k.now.content, k.now.version, k.now.category, k.now.confidence = r.NewContent, res.Version, res.AutoInferred.Category, res.AutoInferred.Confidence
	k.now.tags = res.AutoInferred.Tags
	if r.Context != nil {
		k.now.context = in
	}
	k.pinned = k.pinned || slices.Contains(protected, k.now.category) && k.now.category != was
	k.useful = &now
}

// changeable returns the memory of an id, and the expected kind of error of a change.
func (w *world) changeable(id int64, may func(*known) bool) (*known, robotmem.Kind) {
	k := w.memory(id)
	switch {
	case k == nil:
		return nil, robotmem.NotFound
	case !may(k):
		return k, robotmem.Conflict
	}
	return k, ""
}

func (w *world) forget(t *rapid.T) {
	r := &robotmem.ForgetRequest{MemoryID: w.drawID(t), Reason: "test"}
	k, refused := w.changeable(r.MemoryID, func(k *known) bool { return k.now.status != "invalidated" })
	err, cancelled := w.call(t, func(ctx context.Context, e *local.Node) error {
		_, err := e.Forget(ctx, r)
		return err
	})
	if !cancelled && expect(t, "forget", err, refused) {
		k.setStatus(w.time(), "invalidated", "forgotten", r.Reason, 0)
	}
}

// forgetAtOnce forgets one memory twice concurrently: one call succeeds, the other fails
// with Conflict.
func (w *world) forgetAtOnce(t *rapid.T) {
	id := w.drawID(t)
	k, refused := w.changeable(id, func(k *known) bool { return k.now.status != "invalidated" })
	errs := [2]error{}
	atOnce(rapid.Bool().Draw(t, "both"), w.engines, func(i int, e *local.Node) {
		_, errs[i] = e.Forget(context.Background(), &robotmem.ForgetRequest{MemoryID: id, Reason: "test"})
	})
	second := 1
	if errs[0] != nil && refused == "" {
		second = 0
	}
	if expect(t, "forget", errs[1-second], refused) {
		expect(t, "forget again", errs[second], robotmem.Conflict)
		k.setStatus(w.time(), "invalidated", "forgotten", "test", 0)
	} else {
		expect(t, "forget again", errs[second], refused)
	}
}

func (w *world) restore(t *rapid.T) {
	id := w.drawID(t)
	k, refused := w.changeable(id, func(k *known) bool { return k.now.status != "active" })
	err, cancelled := w.call(t, func(ctx context.Context, e *local.Node) error {
		_, err := e.Restore(ctx, &robotmem.MemoryRequest{MemoryID: id})
		return err
	})
	if cancelled || !expect(t, "restore", err, refused) {
		return
	}
	by := int64(0)
	if k.now.status == "invalidated" {
		for _, b := range k.past { // what it was when it was forgotten last
			if b.change == "forgotten" {
				by = b.by
			}
		}
	}
	if by != 0 {
		k.setStatus(w.time(), "superseded", "restored", "", by)
	} else {
		k.setStatus(w.time(), "active", "restored", "", 0)
	}
}

func (w *world) pin(t *rapid.T) {
	r := &admin.PinRequest{MemoryID: w.drawID(t), Pinned: new(rapid.Bool().Draw(t, "pinned"))}
	k, refused := w.changeable(r.MemoryID, func(*known) bool { return true })
	err, cancelled := w.call(t, func(ctx context.Context, e *local.Node) error {
		_, err := e.Pin(ctx, r)
		return err
	})
	if cancelled || !expect(t, "pin", err, refused) || k.pinned == *r.Pinned {
		return
	}
	now := w.time()
	k.pinned, k.updated = *r.Pinned, now
	if !k.pinned {
		k.useful = &now
	}
}

func (w *world) perceive(t *rapid.T) {
	payloads := [][]byte{nil, []byte("t,fz\n0,1.5\n0.01,9.8\n"), bytes.Repeat([]byte("wave"), 600), {0, 1, 2, 0xff}}
	r := &robotmem.SavePerceptionRequest{
		Description: drawText(t), PerceptionType: rapid.SampledFrom([]string{"visual", "tactile"}).Draw(t, "type"),
		DataBase64: rapid.SampledFrom(payloads).Draw(t, "data"), Context: drawSituation(t).object(), SessionID: w.drawSession(t),
		Collection: rapid.SampledFrom(append([]string{""}, modelCollections...)).Draw(t, "collection"), Origin: rapid.SampledFrom([]string{"", "", "frame 1", "frame 2"}).Draw(t, "origin"),
	}
	if len(r.Description) < 5 {
		t.Skip("too short")
	}
	collection, refused := w.home(r.SessionID, r.Collection)
	var res *robotmem.SavePerceptionResponse
	err, cancelled := w.call(t, func(ctx context.Context, e *local.Node) (err error) {
		res, err = e.SavePerception(ctx, r)
		return err
	})
	if cancelled || !expect(t, "save_perception", err, refused) {
		return
	}
	key := collection + "\n" + r.Origin
	if known := w.origins[key]; r.Origin != "" && known != nil {
		if res.Status != "duplicate" || res.MemoryID != known.id {
			t.Fatalf("save_perception of a known origin: %+v, want memory %d", res, known.id)
		}
		return
	}
	m, err := w.engine().Get(context.Background(), &robotmem.MemoryRequest{MemoryID: res.MemoryID})
	if err != nil || res.Status != "created" || res.Collection != collection || res.Bytes != int64(len(r.DataBase64)) {
		t.Fatalf("save_perception: %+v, %v", res, err)
	}
	now := w.time()
	k := &known{
		id: res.MemoryID, uid: res.UID, kind: "perception", perception: r.PerceptionType, collection: collection, session: r.SessionID,
		created: now, updated: now, observed: now, sightings: 1, pinned: slices.Contains(protected, m.Category), payload: r.DataBase64, mediaType: res.MediaType,
		now: belief{content: r.Description, context: situationOf(r.Context), status: "active", version: 1, from: now, category: m.Category, confidence: m.Confidence, tags: m.Tags},
	}
	w.add(t, k)
	if r.Origin != "" {
		w.origins[key] = k
	}
}

func (w *world) startSession(t *rapid.T) {
	r := &robotmem.StartSessionRequest{Collection: rapid.SampledFrom(modelCollections).Draw(t, "collection"),
		Context: drawSituation(t).object(), Origin: rapid.SampledFrom([]string{"", "", "bag 1"}).Draw(t, "origin")}
	var known *episode
	refused := robotmem.Kind("")
	for _, s := range w.sessions {
		if s.origin != "" && s.origin == r.Origin && s.collection == r.Collection {
			if known = s; s.ended != nil {
				refused = robotmem.Conflict
			}
		}
	}
	var res *robotmem.StartSessionResponse
	err, cancelled := w.call(t, func(ctx context.Context, e *local.Node) (err error) {
		res, err = e.StartSession(ctx, r)
		return err
	})
	switch {
	case cancelled || !expect(t, "start_session", err, refused):
	case known != nil:
		if res.Status != "continued" || res.SessionID != known.id {
			t.Fatalf("start_session of a known origin: %+v, want %s", res, known.id)
		}
	default:
		if res.Status != "started" {
			t.Fatalf("start_session: %+v", res)
		}
		w.sessions = append(w.sessions, &episode{id: res.SessionID, collection: r.Collection, origin: r.Origin, started: w.time(), recalled: map[int64]bool{}, used: map[int64]bool{}})
	}
}

func (w *world) endSession(t *rapid.T) {
	id := w.drawSession(t)
	if id == "" {
		t.Skip("no session")
	}
	r := &robotmem.EndSessionRequest{SessionID: id, OutcomeScore: rapid.SampledFrom([]*float64{nil, new(0.0), new(0.75)}).Draw(t, "score")}
	for range rapid.IntRange(0, 2).Draw(t, "used") {
		r.UsedMemoryIDs = append(r.UsedMemoryIDs, w.drawID(t))
	}
	w.endOne(t, r)
}

func (w *world) endOne(t *rapid.T, r *robotmem.EndSessionRequest) {
	s, refused := w.session(r.SessionID), robotmem.Kind("")
	switch {
	case s == nil:
		refused = robotmem.NotFound
	case s.ended != nil:
		refused = robotmem.Conflict
	case slices.ContainsFunc(r.UsedMemoryIDs, func(id int64) bool { return w.memory(id) == nil }):
		refused = robotmem.NotFound
	}
	var res *robotmem.EndSessionResponse
	err, cancelled := w.call(t, func(ctx context.Context, e *local.Node) (err error) {
		res, err = e.EndSession(ctx, r)
		return err
	})
	if !cancelled && expect(t, "end_session", err, refused) {
		w.ended(t, s, r, res)
	}
}

// ended applies the end of a session to the model: credit, consolidation, outcome.
func (w *world) ended(t *rapid.T, s *episode, r *robotmem.EndSessionRequest, res *robotmem.EndSessionResponse) {
	now := w.time()
	used := slices.Clone(r.UsedMemoryIDs)
	slices.Sort(used)
	for _, id := range slices.Compact(used) {
		w.memory(id).used(now)
		s.recalled[id], s.used[id] = true, true
	}
	by := w.merge(s)
	w.happened["superseded"] += len(by)
	for id, keep := range by {
		w.memory(id).setStatus(now, "superseded", "superseded", "", keep)
	}
	if res.Consolidated.SupersededCount != len(by) {
		t.Fatalf("end_session: %+v, want %d superseded: %v", res.Consolidated, len(by), by)
	}
	s.ended, s.score = &now, r.OutcomeScore

	// An episode of which all memories are older than it was stored later: it has their times.
	var own []time.Time
	for _, k := range w.memories {
		if k.session == s.id {
			own = append(own, k.observed)
		}
	}
	slices.SortFunc(own, time.Time.Compare)
	if len(own) > 0 && own[len(own)-1].Before(s.started) {
		s.started, s.ended = own[0], &own[len(own)-1]
	}
	facts, perceptions := 0, 0
	for _, k := range w.memories {
		switch {
		case k.session != s.id || k.now.status == "invalidated":
		case k.kind == "fact":
			facts++
		default:
			perceptions++
		}
	}
	if sum := res.Summary; sum.Facts != facts || sum.Perceptions != perceptions || sum.Used != len(s.used) {
		t.Fatalf("end_session: %d facts, %d perceptions, %d useful; want %d, %d, %d", sum.Facts, sum.Perceptions, sum.Used, facts, perceptions, len(s.used))
	}
}

// retain applies a budget, first as a dry run.
func (w *world) retain(t *rapid.T) {
	budget := int64(rapid.SampledFrom([]int{1, 30, 200, 100_000}).Draw(t, "bytes"))
	r := &admin.RetainRequest{Budgets: []admin.Budget{{MaxBytes: budget}}}
	plan, err := w.engine().Retain(context.Background(), r)
	if err != nil {
		t.Fatalf("retain: %v", err)
	}
	r.Apply = true
	var res *admin.RetainResponse
	err, cancelled := w.call(t, func(ctx context.Context, e *local.Node) (err error) {
		res, err = e.Retain(ctx, r)
		return err
	})
	if cancelled || !expect(t, "retain", err, "") {
		return
	}
	if res.Count != plan.Count || fmt.Sprint(res.Evictions) != fmt.Sprint(plan.Evictions) {
		t.Fatalf("retain did %+v, and had said %+v", res.Evictions, plan.Evictions)
	}
	for _, gone := range res.Evictions {
		k := w.memory(gone.MemoryID)
		if k == nil || k.payload == nil || k.evicted {
			t.Fatalf("retain took away %+v, which has no payload", gone)
		}
		k.evicted = true
		w.evicted++
		w.happened["evicted"]++
		if k.now.status == "active" {
			k.setStatus(w.time(), "invalidated", "evicted", gone.Reason, 0)
		}
	}
	stats, err := w.engine().Stats(context.Background(), &admin.StatsRequest{})
	if err != nil || stats.StoredBytes > budget {
		t.Fatalf("after retain %d bytes are held, the budget is %d (%v)", stats.StoredBytes, budget, err)
	}
}
