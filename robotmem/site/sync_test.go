package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
	"github.com/robotmem/robotmem-go/web"
)

// testSite is a node that serves robots, and can be away.
type testSite struct {
	*local.Node
	url            string
	away, refusing atomic.Bool // refusing payloads
}

func newSite(t *testing.T) *testSite {
	t.Helper()
	s := &testSite{Node: openTest(t, postgrestest.NewURL(t), Options{})}
	handler := web.NewServer(s.Node, web.Options{Fleet: Handler(alone(s.Node))}).Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.away.Load() {
			panic(http.ErrAbortHandler) // the connection is cut
		}
		if s.refusing.Load() && strings.HasSuffix(r.URL.Path, "/payload") {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// testRobot is a robot with its memory and replicator.
type testRobot struct {
	*local.Node
	*fleet.Replicator
	path string
}

func newRobot(t *testing.T, s *testSite, name string, change func(*fleet.Peer), o local.Options) *testRobot {
	t.Helper()
	r := &testRobot{path: filepath.Join(t.TempDir(), name+".db")}
	o.Durability, o.Location = local.DurabilityNormal, time.UTC
	n, err := local.Open(t.Context(), r.path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	p := fleet.Peer{URL: s.url, Robot: name, Replica: uuid.NewString()}
	if change != nil {
		change(&p)
	}
	r.Node, r.Replicator = n, fleet.NewReplicator(n, p, nil, nil)
	return r
}

func (r *testRobot) sync(t *testing.T) {
	t.Helper()
	for _, f := range []func(context.Context) error{func(ctx context.Context) error { return r.Greet(ctx, false) }, r.Push, r.Pull, r.Payloads} {
		if err := f(t.Context()); err != nil {
			t.Fatal(err, causeOf(err))
		}
	}
}

func (r *testRobot) learns(t *testing.T, text string, context robotmem.Object) int64 {
	t.Helper()
	res, err := r.Learn(t.Context(), &robotmem.LearnRequest{Insight: text, Context: context})
	if err != nil {
		t.Fatal(err)
	}
	return res.MemoryID
}

// texts returns the texts of the active memories, with how often each is there.
func texts(t *testing.T, n *local.Node) map[string]int {
	t.Helper()
	out := map[string]int{}
	for page := 1; ; page++ {
		l, err := n.List(t.Context(), &robotmem.ListRequest{Page: page, Limit: 1000})
		if err != nil {
			t.Fatal(err, causeOf(err))
		}
		for _, m := range l.Memories {
			out[m.Content]++
		}
		if len(l.Memories) < 1000 {
			return out
		}
	}
}

// named returns the memory with a text.
func named(t *testing.T, n *local.Node, text string) *robotmem.Memory {
	t.Helper()
	l, err := n.List(t.Context(), &robotmem.ListRequest{Limit: 1000, Status: "all"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range l.Memories {
		if l.Memories[i].Content == text {
			m, err := n.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: l.Memories[i].MemoryID})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
	}
	return nil
}

// Twenty robots write a thousand facts each while the site is away; when it is back all are there,
// once each.
func TestRobotsWriteWhileTheSiteIsAway(t *testing.T) {
	skipShort(t)
	t.Parallel()
	postgrestest.Need(t)
	robots, writes := rounds.Of(4, 20), rounds.Of(100, 1000)
	s := newSite(t)
	s.away.Store(true)
	all := make([]*testRobot, robots)
	for i := range all {
		all[i] = newRobot(t, s, fmt.Sprint("arm-", i), nil, local.Options{})
		for k := 0; k < writes; k += 100 {
			req := &robotmem.LearnBatchRequest{KeepDuplicates: true}
			for j := range 100 {
				req.Items = append(req.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("robot %d found shelf %d blocked", i, k+j), Context: robotmem.Object{"robot": fmt.Sprint("arm-", i), "i": j}})
			}
			if _, err := all[i].LearnBatch(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running sync.WaitGroup
	for _, r := range all {
		running.Go(func() { r.Run(ctx) })
	}
	for _, r := range all { // each has tried
		for st, _ := r.Status(ctx); st.Error == ""; st, _ = r.Status(ctx) {
			time.Sleep(10 * time.Millisecond)
		}
	}
	s.away.Store(false)
	back := time.Now()
	for _, r := range all {
		for {
			st, err := r.Status(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if st.Waiting == 0 {
				break
			}
			if time.Since(back) > 5*time.Minute {
				t.Fatalf("%+v", st)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	t.Logf("%d robots with %d facts each: all there %v after the site was back", robots, writes, time.Since(back).Round(time.Millisecond))
	stop()
	running.Wait()
	got := texts(t, s.Node)
	if len(got) != robots*writes {
		t.Errorf("%d facts of %d", len(got), robots*writes)
	}
	for text, n := range got {
		if n != 1 {
			t.Errorf("%q is there %d times", text, n)
		}
	}
}

func TestAPushThatIsSentTwiceIsStoredOnce(t *testing.T) {
	s := newSite(t)
	r := newRobot(t, s, "arm", nil, local.Options{})
	id := r.learns(t, "corridor B is blocked", robotmem.Object{"map": "hall"})
	p, _, err := r.Replicator.Changes(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := AnswerPush(t.Context(), s.Node, p); err != nil {
			t.Fatal(err, causeOf(err))
		}
	}
	if _, err := r.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: id, NewContent: "corridor B is free"}); err != nil {
		t.Fatal(err)
	}
	r.sync(t)
	if _, err := AnswerPush(t.Context(), s.Node, p); err != nil { // the first push, delayed
		t.Fatal(err)
	}
	got := texts(t, s.Node)
	if len(got) != 1 || got["corridor B is free"] != 1 {
		t.Errorf("got %v", got)
	}
	m := named(t, s.Node, "corridor B is free")
	if m.Provenance == nil || m.Provenance.Robot != "arm" {
		t.Errorf("stored by %+v", m.Provenance)
	}
	if h, err := s.History(t.Context(), &robotmem.MemoryRequest{MemoryID: m.MemoryID}); err != nil || len(h.Versions) != 2 {
		t.Errorf("history %+v %v", h, err)
	}
}

// What was changed here and there is kept twice, and named; what was forgotten here stays forgotten.
func TestConflictsAreKeptAndNamed(t *testing.T) {
	s := newSite(t)
	// A clock two days behind decides nothing.
	r := newRobot(t, s, "arm", nil, local.Options{Clock: func() time.Time { return time.Now().AddDate(0, 0, -2) }})
	for _, text := range []string{"ramp one is wet", "ramp two is wet", "ramp three is wet"} {
		r.learns(t, text, nil)
	}
	r.sync(t)
	site := func(text string) int64 { return named(t, s.Node, text).MemoryID }
	if _, err := s.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: site("ramp one is wet"), Reason: "dried"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: site("ramp two is wet"), NewContent: "ramp two is closed"}); err != nil {
		t.Fatal(err)
	}
	for id, text := range map[int64]string{1: "ramp one is icy", 2: "ramp two is icy", 3: "ramp three is icy"} {
		if _, err := r.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: id, NewContent: text}); err != nil {
			t.Fatal(err)
		}
	}
	r.sync(t)
	st, err := r.Status(t.Context())
	if err != nil || len(st.Conflicts) != 2 || !strings.Contains(st.Conflicts[0].Reason, "arm") {
		t.Errorf("%+v %v, want two conflicts", st, err)
	}
	if got := texts(t, s.Node); len(got) != 2 || got["ramp two is closed"] != 1 || got["ramp three is icy"] != 1 {
		t.Errorf("active %v", got)
	}
	forgotten := named(t, s.Node, "ramp one is wet")
	if forgotten == nil || forgotten.Status != "invalidated" {
		t.Fatalf("%+v", forgotten)
	}
	h, err := s.History(t.Context(), &robotmem.MemoryRequest{MemoryID: forgotten.MemoryID})
	if err != nil || len(h.Versions) == 0 {
		t.Fatal(err)
	}
	kept := false
	for _, v := range h.Versions {
		kept = kept || v.Content == "ramp one is icy" && v.Change == "conflict"
	}
	if !kept {
		t.Errorf("the robot's text is not in the history: %+v", h.Versions)
	}
	r.sync(t)
	if again, _ := r.Status(t.Context()); len(again.Conflicts) != 2 {
		t.Errorf("named again: %+v", again.Conflicts)
	}
}

func TestTwoRobotsWithOneName(t *testing.T) {
	s := newSite(t)
	a, b := newRobot(t, s, "arm", nil, local.Options{}), newRobot(t, s, "arm", nil, local.Options{})
	a.learns(t, "seen by the first", nil)
	b.learns(t, "seen by the second", nil)
	a.sync(t)
	err := b.Greet(t.Context(), false)
	if !errors.Is(err, robotmem.Conflict) || !strings.Contains(err.Error(), "--replace") {
		t.Errorf("got %v, want a conflict", err)
	}
	if err := b.Push(t.Context()); !errors.Is(err, robotmem.Conflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	if got := texts(t, s.Node); len(got) != 1 {
		t.Errorf("got %v", got)
	}
	if err := b.Greet(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	b.sync(t)
	if got := texts(t, s.Node); len(got) != 2 {
		t.Errorf("got %v", got)
	}
}

// A memory that is restored from a backup numbers its changes anew. Nothing that it stores later is
// taken for something that has arrived.
func TestARestoredMemorySendsAllAgain(t *testing.T) {
	s := newSite(t)
	r := newRobot(t, s, "arm", nil, local.Options{})
	r.learns(t, "known before the backup", nil)
	r.sync(t)
	for i := range 5 {
		r.learns(t, fmt.Sprint("lost on the robot ", i), nil)
	}
	r.sync(t)
	// The memory of the backup: the first fact alone, with the counters of that time.
	old := newRobot(t, s, "arm", func(p *fleet.Peer) { *p = r.Peer }, local.Options{})
	old.learns(t, "after the restore", nil)
	old.sync(t)
	if got := texts(t, s.Node); len(got) != 7 || got["after the restore"] != 1 {
		t.Errorf("got %v", got)
	}
	if old.Peer.Replica == r.Peer.Replica {
		t.Error("it is the same replica")
	}
}

// A crash after the new id of a restored memory was saved, and before the site heard of it, neither stops the robot
// nor hides from the site what the counters of the backup call sent.
func TestARestoredMemoryGoesOnAfterACrash(t *testing.T) {
	s := newSite(t)
	r := newRobot(t, s, "arm", nil, local.Options{})
	r.learns(t, "known before the backup", nil)
	r.sync(t)
	crashed := newRobot(t, s, "arm", func(p *fleet.Peer) { p.Replica, p.Replacing = uuid.NewString(), true }, local.Options{})
	crashed.learns(t, "after the restore", nil)
	crashed.sync(t)
	if got := texts(t, s.Node); len(got) != 2 {
		t.Errorf("got %v", got)
	}
	kept, err := fleet.PeerOf(crashed.Node)
	if err != nil || kept == nil || kept.Replacing {
		t.Errorf("the name would be taken again at each start: %+v, %v", kept, err)
	}
	other := newRobot(t, s, "arm", nil, local.Options{})
	if err := other.Greet(t.Context(), false); !errors.Is(err, robotmem.Conflict) {
		t.Errorf("another memory of the name: %v", err)
	}
}

// Another robot gets the facts that it subscribed to, with the robot that learnt them and with less
// confidence; what was forgotten at the site is forgotten there, and nothing goes back.
func TestARobotKeepsACopyOfWhatOthersLearnt(t *testing.T) {
	s := newSite(t)
	a := newRobot(t, s, "lift", nil, local.Options{})
	a.learns(t, "corridor B is blocked by a pallet", robotmem.Object{"map": "hall", "robot": "lift"})
	a.learns(t, "the coffee machine is warm", robotmem.Object{"map": "kitchen", "robot": "lift"})
	a.learns(t, "corridor C is blocked in a test", robotmem.Object{"map": "hall", "env": map[string]any{"sim_or_real": "sim"}})
	a.sync(t)
	b := newRobot(t, s, "cart", func(p *fleet.Peer) {
		p.Subscribe = []fleet.Subscription{{Collection: "default", Where: robotmem.Object{"map": "hall"}}}
		p.Trust = map[string]float64{"other": 0.5, "simulation": 0.5}
	}, local.Options{})
	b.learns(t, "my wheel squeaks", nil)
	b.sync(t)
	got := texts(t, b.Node)
	if len(got) != 3 || got["corridor B is blocked by a pallet"] != 1 || got["corridor C is blocked in a test"] != 1 {
		t.Fatalf("got %v", got)
	}
	copied, original := named(t, b.Node, "corridor B is blocked by a pallet"), named(t, s.Node, "corridor B is blocked by a pallet")
	if copied.Provenance == nil || copied.Provenance.Robot != "lift" || copied.Provenance.Tool != fleet.Tool || copied.UID != original.UID {
		t.Errorf("stored by %+v", copied.Provenance)
	}
	if sim := named(t, b.Node, "corridor C is blocked in a test"); copied.Confidence > 0.51*original.Confidence || sim.Confidence > 0.51*copied.Confidence {
		t.Errorf("confidence %v and %v of %v", copied.Confidence, sim.Confidence, original.Confidence)
	}
	b.sync(t)
	if got := texts(t, s.Node); len(got) != 4 || got["my wheel squeaks"] != 1 || got["corridor B is blocked by a pallet"] != 1 {
		t.Errorf("the site has %v", got)
	}
	if _, err := s.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: original.MemoryID, Reason: "cleared"}); err != nil {
		t.Fatal(err)
	}
	b.sync(t)
	if got := texts(t, b.Node); got["corridor B is blocked by a pallet"] != 0 {
		t.Errorf("it still has %v", got)
	}
	b.Peer.Limit = 1
	a.learns(t, "corridor D is blocked", robotmem.Object{"map": "hall"})
	a.sync(t)
	b.sync(t)
	if got := texts(t, b.Node); len(got) != 2 || got["corridor D is blocked"] != 1 {
		t.Errorf("over the limit it has %v", got)
	}
}

func TestPayloadsFollowByPolicy(t *testing.T) {
	s := newSite(t)
	large := bytes.Repeat([]byte("0123456789abcdef"), 30_000)
	for policy, want := range map[string]int{fleet.PayloadsNone: 0, fleet.PayloadsFailures: 1, fleet.PayloadsAll: 3} {
		r := newRobot(t, s, policy, func(p *fleet.Peer) { p.Payloads = policy }, local.Options{})
		for i, success := range []bool{true, false, true} {
			_, err := r.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{
				Description: fmt.Sprintf("grasp %d of %s", i, policy), PerceptionType: "tactile", DataBase64: append(fmt.Appendf(nil, "%s %d ", policy, i), large[:[]int{100, len(large), len(large)}[i]]...),
				MediaType: "application/octet-stream", Context: robotmem.Object{"task": map[string]any{"success": success}},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		r.sync(t)
		got := 0
		for i := range 3 {
			m := named(t, s.Node, fmt.Sprintf("grasp %d of %s", i, policy))
			if m == nil {
				t.Fatalf("%s: perception %d is not there", policy, i)
			}
			d, err := s.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: m.MemoryID})
			if err == nil && bytes.HasPrefix(d.DataBase64, fmt.Appendf(nil, "%s %d ", policy, i)) {
				got++
			} else if policy == fleet.PayloadsAll {
				t.Error(err)
			}
		}
		if got != want {
			t.Errorf("%s: %d payloads, want %d", policy, got, want)
		}
	}
}

// On a metered link facts are sent and payloads wait; what the site refuses stops no other payload.
func TestPayloadsWaitOnAMeteredLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a script takes the place of busctl")
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	link := func(answer string) {
		t.Helper()
		script := "#!/bin/sh\n[ \"$*\" = 'get-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager Metered' ] && " + answer + "\n"
		if err := os.WriteFile(filepath.Join(bin, "busctl"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := newSite(t)
	r := newRobot(t, s, "arm", func(p *fleet.Peer) { p.Payloads = fleet.PayloadsAll }, local.Options{})
	save := func(name, data string) {
		t.Helper()
		_, err := r.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: name, PerceptionType: "tactile", DataBase64: []byte(data), MediaType: "application/octet-stream"})
		if err != nil {
			t.Fatal(err)
		}
	}
	has := func(name string) bool {
		t.Helper()
		m := named(t, s.Node, name)
		if m == nil {
			t.Fatalf("%s is not there", name)
		}
		d, err := s.Data(t.Context(), &robotmem.MemoryRequest{MemoryID: m.MemoryID})
		return err == nil && len(d.DataBase64) > 0
	}
	for _, at := range []struct {
		answer, policy string
		sent           bool
	}{{"echo u 1", "", false}, {"echo u 3", fleet.MeteredWait, false}, {"echo u 3", fleet.MeteredSend, true}, {"echo u 4", "", true}, {"exit 1", "", true}} {
		name := "touch, " + at.answer + at.policy
		link(at.answer)
		r.LookAtLinkAgain()
		r.Peer.Metered = at.policy
		save(name, name)
		r.sync(t)
		if has(name) != at.sent {
			t.Errorf("%s %s: sent is %v", at.answer, at.policy, !at.sent)
		}
		if status, err := r.Status(t.Context()); err != nil || status.Metered != (!at.sent) || status.Waiting != 0 {
			t.Errorf("%s %s: %+v %v", at.answer, at.policy, status, err)
		}
	}
	if !has("touch, echo u 1") {
		t.Error("what had waited was not sent later")
	}
	s.refusing.Store(true)
	save("refused", "one")
	r.sync(t)
	s.refusing.Store(false)
	save("taken", "another")
	r.sync(t)
	if has("refused") || !has("taken") {
		t.Error("a payload that was refused stops the next, or is not refused")
	}
	if status, err := r.Status(t.Context()); err != nil || len(status.Refused) != 1 {
		t.Errorf("%+v %v", status, err)
	}
	if err := r.ResendPayloads(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.sync(t); !has("refused") {
		t.Error("it was not sent again")
	}
}

func TestAPurgeFollows(t *testing.T) {
	s := newSite(t)
	r := newRobot(t, s, "arm", nil, local.Options{})
	id := r.learns(t, "the face of a visitor", nil)
	r.learns(t, "something else", nil)
	r.sync(t)
	if _, err := r.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Purge: true, Reason: "asked for"}); err != nil {
		t.Fatal(err)
	}
	r.sync(t)
	if named(t, s.Node, "the face of a visitor") != nil || len(texts(t, s.Node)) != 1 {
		t.Errorf("the site has %v", texts(t, s.Node))
	}
}

func TestEpisodesArrive(t *testing.T) {
	s := newSite(t)
	r := newRobot(t, s, "arm", nil, local.Options{})
	session, err := r.StartSession(t.Context(), &robotmem.StartSessionRequest{SessionID: "shift-1"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the drawer sticks when it is pulled fast", SessionID: session.SessionID, Context: robotmem.Object{"i": time.Now().UnixNano()}}); err != nil {
			t.Fatal(err)
		}
	}
	r.sync(t)
	score := 0.2
	if _, err := r.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: session.SessionID, OutcomeScore: &score}); err != nil {
		t.Fatal(err)
	}
	r.sync(t)
	got, err := s.Session(t.Context(), &robotmem.SessionRequest{SessionID: "shift-1"})
	if err != nil || got.Session.Status != "ended" || got.Session.OutcomeScore == nil || *got.Session.OutcomeScore != score {
		t.Fatalf("%+v %v", got, err)
	}
	want, err := r.List(t.Context(), &robotmem.ListRequest{Status: "superseded"})
	if err != nil {
		t.Fatal(err)
	}
	there, err := s.List(t.Context(), &robotmem.ListRequest{Status: "superseded"})
	if err != nil || len(there.Memories) != len(want.Memories) {
		t.Errorf("%d superseded, want %d, %v", len(there.Memories), len(want.Memories), err)
	}
}

// alone is the memory of every caller.
func alone(n *local.Node) Memories {
	return func(context.Context, int64, int64) (*local.Node, func(), error) { return n, func() {}, nil }
}
