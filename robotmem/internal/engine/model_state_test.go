package engine_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"pgregory.net/rapid"
)

// known is a memory in the model.
type known struct {
	now  belief   // the present state
	past []belief // oldest first

	id                int64
	uid               string
	kind, perception  string
	collection        string
	session, source   string
	created, observed time.Time
	updated           time.Time
	useful            *time.Time
	userTags          []string
	pinned            bool
	sightings, uses   int
	returned          int
	payload           []byte
	evicted           bool
	mediaType         string
}

// belief is one state of a memory.
type belief struct {
	content    string
	context    situation
	category   string
	confidence float64 // as stored
	tags       []string
	status     string
	by         int64 // superseded by
	version    int
	from, to   time.Time
	change     string // what ended it
	reason     string
}

// episode is a session in the model.
type episode struct {
	id, collection, origin string
	started                time.Time
	ended                  *time.Time
	score                  *float64
	recalled, used         map[int64]bool
}

// The categories whose memories do not decay, and those that are pinned.
var (
	lasting   = []string{"constraint", "preference", "worldview", "postmortem", "gotcha"}
	protected = []string{"constraint", "postmortem", "gotcha"}
)

func (k *known) rate() float64 {
	if k.pinned || slices.Contains(lasting, k.now.category) {
		return 0
	}
	return 0.01
}

// faded returns the confidence of a state at a time: it decays from the last use, or
// from the creation when the last use is later than the time.
func (k *known) faded(b *belief, at time.Time) float64 {
	useful := k.created
	if k.useful != nil && !k.useful.After(at) {
		useful = *k.useful
	}
	days := at.Sub(useful).Hours() / 24
	if days <= 0 || k.rate() == 0 {
		return b.confidence
	}
	return b.confidence * math.Pow(1-k.rate(), days)
}

// at returns the state at a time, nil if there was none.
func (k *known) at(t time.Time) *belief {
	if !k.now.from.After(t) {
		return &k.now
	}
	for i := range k.past {
		if b := &k.past[i]; !b.from.After(t) && b.to.After(t) {
			return b
		}
	}
	return nil
}

// archive stores a copy of the present state as a past one.
func (k *known) archive(now time.Time, change, reason string) {
	old := k.now
	old.to, old.change, old.reason = now, change, reason
	old.tags = slices.Clone(old.tags)
	k.past = append(k.past, old)
	k.now.from, k.updated = now, now
}

func (k *known) setStatus(now time.Time, status, change, reason string, by int64) {
	k.archive(now, change, reason)
	k.now.status, k.now.by = status, by
}

func (k *known) used(now time.Time) { k.uses++; k.useful = &now }

// answer returns the memory as get must return it.
func (k *known) answer(now time.Time) robotmem.Memory {
	m := robotmem.Memory{
		MemoryID: k.id, UID: k.uid, Type: k.kind, Content: k.now.content, Category: k.now.category,
		Tags: tagsOf(k.now.tags, k.userTags), UserTags: slices.Clone(k.userTags), Confidence: math.Round(k.faded(&k.now, now)*1e6) / 1e6,
		Context: k.now.context.object(), SessionID: k.session, Collection: k.collection, CreatedAt: k.created, ObservedAt: k.observed,
		PerceptionType: k.perception, Status: k.now.status, SupersededBy: k.now.by, Version: k.now.version, Pinned: k.pinned,
		Source: k.source, Sightings: k.sightings, AccessCount: k.uses, DecayRate: k.rate(), LastAccessed: k.useful, UpdatedAt: &k.updated,
		MediaType: k.mediaType,
	}
	m.Params, m.Spatial, m.Task, m.Env = m.Context["params"], m.Context["spatial"], m.Context["task"], m.Context["env"]
	return m
}

// withEpisode sets the outcome of the episode of a memory.
func (w *world) withEpisode(m robotmem.Memory) robotmem.Memory {
	if s := w.session(m.SessionID); s != nil && s.score != nil {
		m.EpisodeOutcome = map[bool]string{true: "success", false: "failure"}[*s.score > 0.5]
	}
	return m
}

// plain removes the fields of a memory that the model does not have.
func plain(m robotmem.Memory) robotmem.Memory {
	m.Summary, m.ReturnCount, m.ScopeFiles, m.ScopeEntity, m.DataURI, m.SHA256, m.Bytes, m.Conflicts, m.Provenance = "", 0, nil, nil, "", "", 0, nil, nil
	m.Outcome, m.OutcomeSource, m.Record, m.Reliability, m.Tier = "", "", "", nil, ""
	return m
}

func tagsOf(lists ...[]string) []string {
	out := append([]string{}, slices.Concat(lists...)...)
	slices.Sort(out)
	return slices.Compact(out)
}

// compare reads all stored data without filters and limits.
func (w *world) compare(t *rapid.T) {
	res, err := w.engine().List(context.Background(), &robotmem.ListRequest{Status: "all", Limit: 1000})
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	got, want := []robotmem.Memory{}, []robotmem.Memory{}
	for _, m := range res.Memories {
		got = append(got, plain(m))
	}
	for _, k := range slices.Backward(w.memories) {
		want = append(want, w.withEpisode(k.answer(w.time())))
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("what is stored (-want +got):\n%s", diff)
	}
	sessions, err := w.engine().Sessions(context.Background(), &robotmem.SessionsRequest{Limit: 1000})
	if err != nil {
		t.Fatalf("sessions: %v", err)
	}
	gotSessions, wantSessions := []robotmem.Session{}, []robotmem.Session{}
	for _, s := range sessions.Sessions {
		s.ClientType, s.Context = "", nil
		gotSessions = append(gotSessions, s)
	}
	for _, s := range slices.Backward(w.sessions) {
		wantSessions = append(wantSessions, w.sessionOf(s))
	}
	slices.SortStableFunc(wantSessions, func(a, b robotmem.Session) int { return b.CreatedAt.Compare(a.CreatedAt) })
	if diff := gocmp.Diff(wantSessions, gotSessions); diff != "" {
		t.Fatalf("sessions (-want +got):\n%s", diff)
	}
}

func (w *world) sessionOf(s *episode) robotmem.Session {
	out := robotmem.Session{SessionID: s.id, Collection: s.collection, Status: "active", CreatedAt: s.started, EndedAt: s.ended, OutcomeScore: s.score}
	if s.ended != nil {
		out.Status = "ended"
	}
	for _, k := range w.memories {
		if k.session == s.id {
			out.MemoryCount++
		}
	}
	return out
}

// credits compares the access counters once they are stored.
func (w *world) credits(t *rapid.T) {
	for _, k := range w.memories {
		m, err := w.engine().Get(context.Background(), &robotmem.MemoryRequest{MemoryID: k.id})
		if err != nil || m.ReturnCount != k.returned {
			t.Fatalf("memory %d was returned %d times (%v), want %d", k.id, m.ReturnCount, err, k.returned)
		}
	}
	for _, s := range w.sessions {
		res, err := w.engine().Session(context.Background(), &robotmem.SessionRequest{SessionID: s.id})
		if err != nil {
			t.Fatalf("session: %v", err)
		}
		got := map[int64]bool{}
		for _, r := range res.Recalled {
			got[r.MemoryID] = r.Used
		}
		want := map[int64]bool{}
		for id := range s.recalled {
			want[id] = s.used[id]
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("recalled for session %s, and whether it helped (-want +got):\n%s", s.id, diff)
		}
	}
}

// says is the meaning of a text: its words in order, its search terms without stop words,
// and whether it is negated.
type says struct {
	words   []string
	terms   []string
	negated bool
}

func meaningOf(content string) says {
	s := says{negated: strings.HasPrefix(content, negation)}
	for _, w := range strings.Fields(content) {
		s.words = append(s.words, strings.Trim(w, ":!"))
	}
	for _, term := range text.Terms(content) {
		if !text.Stop(term) {
			s.terms = append(s.terms, text.Stem(term))
		}
	}
	s.terms = tagsOf(s.terms)
	return s
}

// twins returns the active duplicates of a fact in a collection and context: the oldest
// with the same text, or else all with the same words in the same order.
func (w *world) twins(collection, content string, in situation) (ids []int64, method string) {
	mine := meaningOf(content)
	for _, k := range w.memories {
		if k.kind == "fact" && k.now.status == "active" && k.collection == collection && k.now.context == in && k.now.content == content {
			ids = append(ids, k.id) // of several, as after a restore, any may be named
		}
	}
	if len(ids) > 0 {
		return ids, "exact"
	}
	for _, k := range w.memories {
		if k.kind != "fact" || k.now.status != "active" || k.collection != collection || k.now.context != in {
			continue
		}
		if slices.Equal(meaningOf(k.now.content).words, mine.words) {
			ids = append(ids, k.id)
		}
	}
	return ids, "sequence"
}

// merge returns the memories that the end of a session supersedes: those that another one repeats.
func (w *world) merge(s *episode) (by map[int64]int64) {
	by = map[int64]int64{}
	var all []*known
	for _, k := range w.memories {
		if k.session == s.id && k.kind == "fact" && k.now.status == "active" && !k.pinned &&
			!slices.Contains(protected, k.now.category) && k.now.confidence < 0.95 {
			all = append(all, k)
		}
	}
	if len(all) < 3 {
		return by
	}
	slices.SortFunc(all, func(a, b *known) int {
		return cmp.Or(cmp.Compare(b.now.confidence, a.now.confidence), b.created.Compare(a.created), cmp.Compare(b.id, a.id))
	})
	var kept []*known
	for _, k := range all {
		if i := slices.IndexFunc(kept, func(o *known) bool { return repeats(o, k) }); i >= 0 {
			by[k.id] = kept[i].id
			continue
		}
		kept = append(kept, k)
	}
	return by
}

// repeats reports whether two facts have the same words in the same order, but for "again", in the same
// context.
func repeats(a, b *known) bool {
	core := func(k *known) []string {
		return slices.DeleteFunc(slices.Clone(meaningOf(k.now.content).words), func(w string) bool { return w == "again" })
	}
	return a.now.category == b.now.category && meaningOf(a.now.content).negated == meaningOf(b.now.content).negated &&
		a.now.context == b.now.context && slices.Equal(core(a), core(b))
}

func (w *world) memory(id int64) *known {
	for _, k := range w.memories {
		if k.id == id {
			return k
		}
	}
	return nil
}

func (w *world) session(id string) *episode {
	for _, s := range w.sessions {
		if s.id == id {
			return s
		}
	}
	return nil
}
