package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

// What an operator changes at the site reaches the robot that learnt it, without a subscription, and keeps what only
// that robot says of it.
func TestAChangeAtTheSiteReachesItsRobot(t *testing.T) {
	s := newSite(t)
	r := newRobot(t, s, "arm", nil, local.Options{})
	id := r.learns(t, "the door opens inwards", nil)
	gone := r.learns(t, "the ramp is wet", nil)
	if _, err := r.Pin(t.Context(), &admin.PinRequest{MemoryID: id, Pinned: new(true)}); err != nil {
		t.Fatal(err)
	}
	r.sync(t)

	if _, err := s.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: named(t, s.Node, "the door opens inwards").MemoryID, NewContent: "the door opens outwards"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: named(t, s.Node, "the ramp is wet").MemoryID, Reason: "dry"}); err != nil {
		t.Fatal(err)
	}
	r.sync(t)

	m, err := r.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id})
	if err != nil || m.Content != "the door opens outwards" || !m.Pinned || m.Provenance.Tool == fleet.Tool {
		t.Errorf("%+v %v", m, err)
	}
	if m, err := r.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: gone}); err != nil || m.Status != "invalidated" {
		t.Errorf("%+v %v", m, err)
	}

	// It has not become the robot's own change, so nothing goes back and forth.
	r.sync(t)
	if h, err := s.History(t.Context(), &robotmem.MemoryRequest{MemoryID: named(t, s.Node, "the door opens outwards").MemoryID}); err != nil || len(h.Versions) != 2 {
		t.Errorf("%+v %v", h, err)
	}
	if st, err := r.Status(t.Context()); err != nil || len(st.Conflicts)+len(st.Refused)+len(st.Identity) > 0 || st.Waiting != 0 {
		t.Errorf("%+v %v", st, err)
	}
}

// A purge at the site deletes the text on the robot that learnt it and in every copy, and names who has not confirmed.
func TestAPurgeReachesEverybody(t *testing.T) {
	s := newSite(t)
	all := []fleet.Subscription{{Collection: "*"}}
	a := newRobot(t, s, "arm", nil, local.Options{})
	b := newRobot(t, s, "cart", func(p *fleet.Peer) { p.Subscribe = all }, local.Options{})
	a.learns(t, "the face of a visitor", nil)
	a.learns(t, "something else", nil)
	a.sync(t)
	b.sync(t)
	if texts(t, b.Node)["the face of a visitor"] != 1 {
		t.Fatal("there is no copy")
	}

	m := named(t, s.Node, "the face of a visitor")
	if _, err := s.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: m.MemoryID, Purge: true, Reason: "asked for"}); err != nil {
		t.Fatal(err)
	}
	waiting := func() []string {
		t.Helper()
		list, err := UnconfirmedPurges(t.Context(), s.Node, m.UID)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range list {
			names = append(names, p.Waiting...)
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	if got := waiting(); !slices.Equal(got, []string{"arm", "cart"}) {
		t.Errorf("%v have not confirmed", got)
	}
	for range 2 { // what a robot has applied it says with its next question
		a.sync(t)
		b.sync(t)
	}
	for _, n := range []*local.Node{a.Node, b.Node} {
		if named(t, n, "the face of a visitor") != nil || texts(t, n)["something else"] != 1 {
			t.Errorf("a robot has %v", texts(t, n))
		}
	}
	if got := waiting(); len(got) > 0 {
		t.Errorf("%v have not confirmed", got)
	}
}

// A copy leaves when it does not fit the condition any more, and comes back when it does.
func TestACopyLeavesWhatIsSubscribed(t *testing.T) {
	s := newSite(t)
	a := newRobot(t, s, "arm", nil, local.Options{})
	b := newRobot(t, s, "cart", func(p *fleet.Peer) {
		p.Subscribe = []fleet.Subscription{{Collection: "default", Where: robotmem.Object{"map": "hall"}}}
	}, local.Options{})
	id := a.learns(t, "the lift is slow", robotmem.Object{"map": "hall"})
	for _, at := range []string{"hall", "yard", "hall"} {
		if _, err := a.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: id, NewContent: "the lift is slow in the " + at, Context: robotmem.Object{"map": at}}); err != nil {
			t.Fatal(err)
		}
		a.sync(t)
		b.sync(t)
		if got := texts(t, b.Node); len(got) != map[string]int{"hall": 1, "yard": 0}[at] {
			t.Errorf("%s: %v", at, got)
		}
	}
}

// A conflict lasts until it is settled, in each of three ways, and both sides are equal then.
func TestConflictsAreSettled(t *testing.T) {
	for keep, want := range map[string][]string{
		KeepSite: {"the site says so"}, KeepRobot: {"the robot says so"}, KeepBoth: {"the robot says so", "the site says so"},
	} {
		t.Run(keep, func(t *testing.T) {
			s := newSite(t)
			r := newRobot(t, s, "arm", func(p *fleet.Peer) { p.Subscribe = []fleet.Subscription{{Collection: "*"}} }, local.Options{})
			id := r.learns(t, "as it was", nil)
			r.sync(t)
			if _, err := s.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: named(t, s.Node, "as it was").MemoryID, NewContent: "the site says so"}); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: id, NewContent: "the robot says so"}); err != nil {
				t.Fatal(err)
			}
			r.sync(t)
			if got := texts(t, r.Node); got["the site says so"] != 1 || len(got) != 1 {
				t.Errorf("before it is settled the robot has %v", got)
			}

			open, err := Conflicts(t.Context(), s.Node, "")
			if err != nil || len(open) != 1 || open[0].Robot != "arm" || open[0].Here != "the site says so" || open[0].Said != "the robot says so" {
				t.Fatalf("%+v %v", open, err)
			}
			if err := Settle(t.Context(), s.Node, open[0].ID, keep); err != nil {
				t.Fatal(err, causeOf(err))
			}
			if err := Settle(t.Context(), s.Node, open[0].ID, keep); !errors.Is(err, robotmem.NotFound) {
				t.Errorf("settled twice: %v", err)
			}
			r.sync(t)
			for _, n := range []*local.Node{r.Node, s.Node} {
				got := texts(t, n)
				for _, text := range want {
					if got[text] != 1 || len(got) != len(want) {
						t.Errorf("got %v, want %v", got, want)
					}
				}
			}
			if st, err := r.Status(t.Context()); err != nil || len(st.Conflicts) > 0 {
				t.Errorf("%+v %v", st, err)
			}
		})
	}
}

// What a token did not allow is named, waits, and arrives when the token allows it.
func TestRefusedChangesArriveLater(t *testing.T) {
	site, g := openSite(t, postgrestest.NewURL(t))
	makeTenants(t, site, "plant")
	s := &testSite{url: serveFleet(t, site, g)}
	secret := func(collections ...string) string {
		t.Helper()
		_ = site.RevokeToken(t.Context(), "plant", "arm")
		token, err := site.CreateToken(t.Context(), "plant", robotOf("arm", collections...))
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	r := newRobot(t, s, "arm", func(p *fleet.Peer) { p.Token = secret("default") }, local.Options{})
	learn := func(text, collection string) {
		t.Helper()
		if _, err := r.Learn(t.Context(), &robotmem.LearnRequest{Insight: text, Collection: collection}); err != nil {
			t.Fatal(err)
		}
	}
	learn("allowed", "default")
	learn("not yet allowed", "extra")
	r.sync(t)
	if st, err := r.Status(t.Context()); err != nil || len(st.Refused) != 1 || st.Waiting != 0 {
		t.Fatalf("%+v %v", st, err)
	}

	// A start tries again.
	p := r.Peer
	p.Token = secret("default", "extra")
	r.Replicator = fleet.NewReplicator(r.Node, p, nil, nil)
	r.sync(t)
	if st, err := r.Status(t.Context()); err != nil || len(st.Refused) > 0 {
		t.Errorf("%+v %v", st, err)
	}
	n, leave, err := g.Robots(asToken(t, site, "plant", TokenSpec{Name: "op", Role: robotmem.RoleOperator}), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	if l, err := n.List(t.Context(), &robotmem.ListRequest{Collection: "extra"}); err != nil || len(l.Memories) != 1 {
		t.Errorf("%+v %v", l, err)
	}
}

// serveFleet serves a site to robots.
func serveFleet(t *testing.T, s *Site, g *Guard) string {
	t.Helper()
	srv := httptest.NewServer(web.NewServer(g, web.Options{Lookup: s.Caller, TenantRate: s.Rate, Fleet: Handler(g.Robots)}).Handler)
	t.Cleanup(srv.Close)

	return srv.URL
}

// An episode that used a copy is counted at the site, once, and a copy is not changed by hand.
func TestCopiesAreCreditedAndReadOnly(t *testing.T) {
	s := newSite(t)
	a := newRobot(t, s, "arm", nil, local.Options{})
	b := newRobot(t, s, "cart", func(p *fleet.Peer) { p.Subscribe = []fleet.Subscription{{Collection: "*"}} }, local.Options{})
	if err := b.Peer.Save(b.Node); err != nil {
		t.Fatal(err)
	}
	a.learns(t, "push the drawer twice", nil)
	a.sync(t)
	b.sync(t)

	id := named(t, b.Node, "push the drawer twice").MemoryID
	_, err := b.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: id, NewContent: "push it once"})
	if !errors.Is(err, robotmem.Forbidden) || !strings.Contains(err.Error(), "arm") {
		t.Errorf("update of a copy: %v", err)
	}
	if _, err := b.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "wrong"}); !errors.Is(err, robotmem.Forbidden) {
		t.Errorf("forget of a copy: %v", err)
	}

	session, err := b.StartSession(t.Context(), &robotmem.StartSessionRequest{Context: robotmem.Object{"robot": "cart"}})
	if err != nil {
		t.Fatal(err)
	}
	score := 1.0
	if _, err := b.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: session.SessionID, OutcomeScore: &score, UsedMemoryIDs: []int64{id}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Reset(t.Context()); err != nil { // all is sent again
			t.Fatal(err)
		}
		b.sync(t)
	}
	var stored *store.Archived
	err = engine.Of(s.Node).Store.Read(t.Context(), func(c *store.Conn) (err error) {
		stored, err = c.ArchivedNamed(named(t, s.Node, "push the drawer twice").UID)
		return err
	})
	if err != nil || stored.Extra.Uses != 1 || stored.Extra.Successes != 1 {
		t.Errorf("used %+v, %v", stored, err)
	}
}

// The first pull with a limit reads the newest facts in the order of the site, whatever times they claim.
func TestTheFirstPullReadsTheNewest(t *testing.T) {
	s := newSite(t)
	a := newRobot(t, s, "arm", nil, local.Options{})
	for i := range 350 {
		at := time.Date(2099-i%2*80, 1, 1, 0, 0, i, 0, time.UTC)
		if _, err := a.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("lesson number %d", i), ObservedAt: &at}); err != nil {
			t.Fatal(err)
		}
	}
	a.sync(t)
	b := newRobot(t, s, "cart", func(p *fleet.Peer) {
		p.Limit, p.Subscribe = 5, []fleet.Subscription{{Collection: "default"}}
	}, local.Options{})
	b.sync(t)
	if st, err := b.Status(t.Context()); err != nil || st.Received > 110 {
		t.Errorf("received %d, %v", st.Received, err)
	}
	got := texts(t, b.Node)
	for i := 345; i < 350; i++ {
		if got[fmt.Sprintf("lesson number %d", i)] != 1 {
			t.Errorf("lesson %d is missing: %v", i, got)
		}
	}
	if len(got) != 5 {
		t.Errorf("%d copies", len(got))
	}
}

// A chunk is the same for all, is not sent again to who has it, and is given to nobody who guesses.
func TestChunksOfAFeed(t *testing.T) {
	s := newSite(t)
	r := newRobot(t, s, "arm", nil, local.Options{})
	for i := range 120 {
		r.learns(t, fmt.Sprintf("shelf %d is full", i), nil)
	}
	r.sync(t)
	w := &fleet.PullResponse{}
	post(t, s.url+"/api/fleet/pull", &fleet.PullRequest{Protocol: fleet.Protocol, Replica: r.Peer.Replica, Robot: "arm", Subscribe: []string{"default"}}, http.StatusOK, w)
	i := slices.IndexFunc(w.Feeds, func(n fleet.News) bool { return n.Feed == "default" })
	if i < 0 || len(w.Feeds[i].Chunks) != 2 || !w.Feeds[i].End {
		t.Fatalf("%+v", w)
	}
	news := w.Feeds[i]
	full := news.Chunks[0]

	get := func(path, etag string) (int, string, http.Header) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if etag != "" {
			req.Header.Set("If-None-Match", etag)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body), res.Header
	}
	status, body, header := get(full.Path("default", news.Generation), "")
	if status != http.StatusOK || strings.Count(body, "\n") != 101 || !strings.Contains(header.Get("Cache-Control"), "immutable") {
		t.Errorf("%d, %d lines, %v", status, strings.Count(body, "\n"), header)
	}
	if status, body, _ := get(full.Path("default", news.Generation), header.Get("ETag")); status != http.StatusNotModified || body != "" {
		t.Errorf("again: %d %q", status, body)
	}
	guess := full
	guess.Mark = strings.Repeat("0", 16)
	if status, _, _ := get(guess.Path("default", news.Generation), ""); status != http.StatusNotFound {
		t.Errorf("a guess: %d", status)
	}

	// After a purge the address that robots had is not served any more.
	if _, err := s.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: named(t, s.Node, "shelf 7 is full").MemoryID, Purge: true, Reason: "asked for"}); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := get(full.Path("default", news.Generation), ""); status != http.StatusNotFound {
		t.Errorf("after a purge: %d", status)
	}
}

// Another version of the protocol, and a field that the site does not know, are refused and not dropped.
func TestTheProtocolHasAVersion(t *testing.T) {
	s := newSite(t)
	for body, want := range map[string]int{
		`{"protocol":1,"replica":"r","robot":"arm"}`:                                           http.StatusConflict,
		`{"replica":"r","robot":"arm"}`:                                                        http.StatusConflict,
		fmt.Sprintf(`{"protocol":%d,"replica":"r","robot":"arm","soul":true}`, fleet.Protocol): http.StatusBadRequest,
		fmt.Sprintf(`{"protocol":%d,"replica":"r","robot":"arm"}`, fleet.Protocol):             http.StatusOK,
	} {
		post(t, s.url+"/api/fleet/hello", json.RawMessage(body), want, nil)
	}
}

// post sends JSON and decodes the answer.
func post(t *testing.T, url string, request any, want int, answer any) {
	t.Helper()
	data, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && answer != nil {
		err = json.Unmarshal(body, answer)
	}
	if err != nil || res.StatusCode != want {
		t.Errorf("%s: %d %s %v, want %d", data, res.StatusCode, body, err, want)
	}
}
