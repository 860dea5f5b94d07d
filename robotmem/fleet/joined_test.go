package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// awaySite is a site that answers, fails or does not answer at all.
type awaySite struct {
	robotmem.Service
	fails, hangs bool
	asked        int
}

func (s *awaySite) Recall(ctx context.Context, r *robotmem.RecallRequest) (*robotmem.RecallResponse, error) {
	s.asked++
	if s.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if s.fails {
		return nil, robotmem.Errorf(robotmem.Unavailable, "", "connection refused")
	}
	return s.Service.Recall(ctx, r)
}

func openFile(t *testing.T, name string) *local.Node {
	t.Helper()
	n, err := local.Open(t.Context(), filepath.Join(t.TempDir(), name), local.Options{Durability: local.DurabilityNormal, Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

func TestRecallOfBoth(t *testing.T) {
	t.Parallel()
	far, near := openFile(t, "site.db"), openFile(t, "arm.db")
	learnt := func(n *local.Node, text string) {
		t.Helper()
		if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: text}); err != nil {
			t.Fatal(err)
		}
	}
	learnt(near, "corridor B was free in the morning")
	learnt(far, "corridor B is blocked by a pallet, said another robot")
	learnt(far, "corridor D is blocked")
	site := &awaySite{Service: far}
	j := &Joined{Node: near, Site: site}
	ask := func(scope string, deadline int) (*robotmem.RecallResponse, error) {
		return j.Recall(t.Context(), &robotmem.RecallRequest{Query: "corridor B", Scope: scope, N: 3, DeadlineMS: deadline})
	}
	contents := func(res *robotmem.RecallResponse, err error) (out []string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range res.Memories {
			out = append(out, m.Content)
			if atSite := !strings.Contains(m.Content, "morning"); atSite != (m.Scope == robotmem.ScopeFleet) || atSite != (m.MemoryID == 0) {
				t.Errorf("%q has the scope %q and the id %d", m.Content, m.Scope, m.MemoryID)
			}
		}
		return out
	}
	if got := contents(ask("", 0)); !slices.Equal(got, []string{"corridor B was free in the morning"}) || site.asked != 0 {
		t.Errorf("local: %q, the site was asked %d times", got, site.asked)
	}
	if got := contents(ask("fleet", 0)); len(got) != 2 {
		t.Errorf("fleet: %q", got)
	}
	if got := contents(ask("both", 0)); len(got) != 3 || got[0] != "corridor B was free in the morning" || got[1] != "corridor B is blocked by a pallet, said another robot" {
		t.Errorf("both: %q", got)
	}
	// The short forms are made once, of the memories of both.
	for _, detail := range []string{robotmem.DetailCompact, robotmem.DetailIDs, robotmem.DetailFull} {
		res, err := j.Recall(t.Context(), &robotmem.RecallRequest{Query: "corridor B", Scope: robotmem.ScopeBoth, N: 3, Detail: detail})
		if err != nil || len(res.Memories) != 3 || res.Total != 3 {
			t.Fatalf("%s: %+v %v", detail, res, err)
		}
		for i, m := range res.Memories {
			if (detail == robotmem.DetailCompact) != (m.Line != "") || (detail == robotmem.DetailFull || m.MemoryID == 0) != (m.UID != "") {
				t.Errorf("%s: memory %d is %+v", detail, i, m)
			}
		}
	}
	res, err := j.Recall(t.Context(), &robotmem.RecallRequest{Query: "corridor B", Scope: robotmem.ScopeBoth, N: 3, Detail: robotmem.DetailCompact, MaxTokens: 100})
	if err != nil || len(res.Memories) == 0 || len(res.Memories)+res.More != 3 {
		t.Errorf("max_tokens: %+v %v", res, err)
	}
	// A hanging site takes its share of the deadline and no more.
	site.hangs = true
	begun := time.Now()
	res, err = ask("both", 300)
	if err != nil || len(res.Memories) != 1 || !slices.ContainsFunc(res.Degraded, func(d string) bool { return strings.Contains(d, "did not answer in 210ms") }) {
		t.Errorf("%+v %v", res, err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	// After failures in a row it is left alone.
	site.hangs, site.fails = false, true
	for range maxFailures {
		if res, err := ask("both", 0); err != nil || len(res.Degraded) == 0 {
			t.Errorf("%+v %v", res, err)
		}
	}
	before := site.asked
	res, err = ask("both", 0)
	if err != nil || site.asked != before || len(res.Memories) != 1 || !strings.Contains(strings.Join(res.Degraded, " "), "asked again in") {
		t.Errorf("asked %d times more: %+v %v", site.asked-before, res, err)
	}
	if _, err := ask("fleet", 0); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("got %v", err)
	}
	j.until = time.Time{}
	site.fails = false
	if got := contents(ask("both", 0)); len(got) != 3 {
		t.Errorf("back again: %q", got)
	}
	if _, err := near.Recall(t.Context(), &robotmem.RecallRequest{Query: "x", Scope: "both"}); !errors.Is(err, robotmem.Invalid) {
		t.Errorf("a memory without a site: %v", err)
	}
}

// An id of the site names another memory here, so no answer has one: neither in a field nor in a line.
func TestNoIDOfTheSiteIsShown(t *testing.T) {
	t.Parallel()
	far, near := openFile(t, "site.db"), openFile(t, "arm.db")

	// The ids of the site are far from those here.
	for i := range 700 {
		if _, err := far.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("part %d lies in tray %d", i, i%9), Collection: "other"}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := far.StartSession(t.Context(), &robotmem.StartSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[int64]bool{}
	for _, f := range []struct {
		text    string
		force   float64
		success bool
	}{
		{"vise jaw gap is 61.5 mm", 9, false}, {"vise jaw gap is 63.5 mm", 12, true}, {"vise jaw gap is 64 mm", 12, true},
		{"the same words twice", 9, false}, {"the same words twice", 12, true}, {"the vise is oiled", 12, true},
	} {
		res, err := far.Learn(t.Context(), &robotmem.LearnRequest{Insight: f.text, SessionID: s.SessionID, Context: robotmem.Object{
			"params": map[string]any{"force": fmt.Sprintf("%v N", f.force)}, "task": map[string]any{"name": "clamp", "success": f.success}}})
		if err != nil {
			t.Fatal(err)
		}
		ids[res.MemoryID] = true
	}
	p, err := far.SavePerception(t.Context(), &robotmem.SavePerceptionRequest{Description: "a trace of the vise", Data: "t,fx\n1,2\n2,3\n", PerceptionType: "tactile", SessionID: s.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	ids[p.MemoryID] = true
	if _, err := near.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the vise is here"}); err != nil {
		t.Fatal(err)
	}
	j := &Joined{Node: near, Site: far}

	shows := func(what string, answer any) {
		t.Helper()
		data, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		for id := range ids {
			if found := regexp.MustCompile(fmt.Sprintf(`(^|[^0-9.a-f-])%d([^0-9.a-f-]|$)`, id)).FindIndex(data); found != nil {
				t.Errorf("%s shows the id %d: …%s…", what, id, data[max(0, found[0]-60):min(len(data), found[1]+60)])
			}
		}
	}
	for _, scope := range []string{robotmem.ScopeFleet, robotmem.ScopeBoth} {
		for _, detail := range []string{robotmem.DetailFull, robotmem.DetailCompact, robotmem.DetailIDs} {
			res, err := j.Recall(t.Context(), &robotmem.RecallRequest{Query: "vise jaw gap, the same words twice", Scope: scope, N: 20, Detail: detail, ContextWindow: 2})
			if err != nil || len(res.Memories) < 6 {
				t.Fatal(scope, detail, res, err)
			}
			for i := range res.Memories {
				m := &res.Memories[i]
				if m.MemoryID == 0 && m.UID == "" {
					t.Errorf("%s, %s: %+v cannot be named", scope, detail, m)
				}
				m.Score, m.Relevance = nil, nil
			}
			res.QueryMS = 0
			shows(scope+" "+detail, res.Memories)

			// What the site keeps alone is read by its uid.
			for i := range res.Memories {
				if res.Memories[i].MemoryID != 0 {
					continue
				}
				m, err := j.Get(t.Context(), &robotmem.MemoryRequest{UID: res.Memories[i].UID})
				if err != nil || m.Content == "" {
					t.Errorf("%+v %v", m, err)
				}
				shows("get", m)
				h, err := j.History(t.Context(), &robotmem.MemoryRequest{UID: res.Memories[i].UID})
				if err != nil || len(h.Versions) == 0 {
					t.Errorf("%+v %v", h, err)
				}
				shows("history", h)
			}
		}
		adv, err := j.Advise(t.Context(), &robotmem.AdviseRequest{Scope: scope, Query: "clamp"})
		if err != nil || adv.Attempts == 0 {
			t.Fatal(adv, err)
		}
		shows("advise "+scope, adv)
	}

	d, err := j.Data(t.Context(), &robotmem.MemoryRequest{UID: p.UID})
	if err != nil || len(d.DataBase64) == 0 || d.MemoryID != 0 {
		t.Errorf("%+v %v", d, err)
	}
	samples, err := j.Samples(t.Context(), &robotmem.SamplesRequest{UID: p.UID})
	if err != nil || samples.MemoryID != 0 {
		t.Errorf("%+v %v", samples, err)
	}
	// What the site says of another field is told; that it has no data does not deny the memory.
	_, err = j.Samples(t.Context(), &robotmem.SamplesRequest{UID: p.UID, From: new(2.0), To: new(1.0)})
	if e := (*robotmem.Error)(nil); !errors.As(err, &e) || e.Kind != robotmem.Invalid || e.Field != "to" {
		t.Errorf("got %v", err)
	}
	bare, err := far.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the lathe has a new belt"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = j.Data(t.Context(), &robotmem.MemoryRequest{UID: bare.UID})
	if !errors.Is(err, robotmem.NotFound) || !strings.Contains(err.Error(), "the site has no data of it") {
		t.Errorf("got %v", err)
	}
	if _, err := j.Get(t.Context(), &robotmem.MemoryRequest{UID: "01890a5d-ac96-774b-bcce-b302099a8057"}); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("got %v", err)
	}
	stream, err := j.OpenData(t.Context(), &robotmem.MemoryRequest{UID: p.UID})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(stream); err != nil || string(data) != "t,fx\n1,2\n2,3\n" {
		t.Errorf("%q %v", data, err)
	}
	if err := stream.Close(); err != nil {
		t.Error(err)
	}

	// No error of the site has a number of the site, and a memory that is here is not asked for there.
	if _, err := far.Forget(t.Context(), &robotmem.ForgetRequest{UID: p.UID, Reason: "a test", Purge: true}); err != nil {
		t.Fatal(err)
	}
	_, err = j.Data(t.Context(), &robotmem.MemoryRequest{UID: p.UID})
	if !errors.Is(err, robotmem.NotFound) {
		t.Errorf("got %v", err)
	}
	shows("a refusal", fmt.Sprint(err))
	one, err := near.Learn(t.Context(), &robotmem.LearnRequest{Insight: "a fact without bytes"})
	if err != nil {
		t.Fatal(err)
	}
	j.Site = hanging{far}
	if _, err = j.Data(t.Context(), &robotmem.MemoryRequest{UID: one.UID}); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("got %v", err)
	}
}

// hanging is a site whose payloads never come.
type hanging struct{ robotmem.Service }

func (hanging) Data(ctx context.Context, _ *robotmem.MemoryRequest) (*robotmem.DataResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
