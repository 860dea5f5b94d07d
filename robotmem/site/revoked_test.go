package site

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

// A token that is revoked in the middle of a sync ends it after what was acknowledged. With another
// token the rest follows, and nothing is there twice.
func TestATokenIsRevokedInTheMiddleOfASync(t *testing.T) {
	t.Parallel()
	site, err := Connect(t.Context(), postgrestest.NewURL(t), Options{Options: local.Options{Location: time.UTC}, Payloads: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Close)
	if err := site.CreateTenant(t.Context(), "plant"); err != nil {
		t.Fatal(err)
	}
	guard := site.Guard()
	t.Cleanup(func() { _ = guard.Close() })
	token := func(name string) string {
		t.Helper()
		secret, err := site.CreateToken(t.Context(), "plant", TokenSpec{Name: name, Role: robotmem.RoleRobot, Robot: "arm", Collections: []string{"default"}})
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	first := token("first")
	handler := web.NewServer(guard, web.Options{Lookup: site.Caller, Fleet: Handler(guard.Robots)}).Handler
	var pushes atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		if strings.HasSuffix(r.URL.Path, "/push") && pushes.Add(1) == 1 {
			if err := site.RevokeToken(r.Context(), "plant", "first"); err != nil {
				t.Error(err)
			}
			for known := true; known; time.Sleep(10 * time.Millisecond) { // until the node knows
				_, ok, err := site.Caller(r.Context(), sha256.Sum256([]byte(first)))
				known = ok && err == nil
			}
		}
	}))
	t.Cleanup(server.Close)
	r := newRobot(t, &testSite{url: server.URL}, "arm", func(p *fleet.Peer) { p.Token = first }, local.Options{})
	const facts = 3 * 500
	req := &robotmem.LearnBatchRequest{KeepDuplicates: true}
	for i := range facts {
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: fmt.Sprintf("fact %d of the arm", i)})
	}
	if _, err := r.LearnBatch(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := r.Once(t.Context()); !errors.Is(err, robotmem.Forbidden) {
		t.Fatalf("got %v, want Forbidden", err)
	}
	s, err := r.Status(t.Context())
	if err != nil || s.Waiting == 0 || s.Waiting >= facts || s.Error == "" {
		t.Errorf("after the revocation: %+v %v", s, err)
	}
	r.Peer.Token = token("second")
	if err := r.Once(t.Context()); err != nil {
		t.Fatal(err, causeOf(err))
	}
	open, leave, err := guard.nodes.take(t.Context(), "plant")
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	got := texts(t, open.node)
	for i := range facts {
		if c := got[fmt.Sprintf("fact %d of the arm", i)]; c != 1 {
			t.Fatalf("fact %d is there %d times", i, c)
		}
	}
	mine := r.Peer.Replica
	// Another robot's token does not speak for this one.
	other, err := site.CreateToken(t.Context(), "plant", TokenSpec{Name: "cart", Role: robotmem.RoleRobot, Robot: "cart", Collections: []string{"default"}})
	if err != nil {
		t.Fatal(err)
	}
	r.Peer.Token = other
	if err := r.Greet(t.Context(), false); !errors.Is(err, robotmem.Forbidden) || !strings.Contains(err.Error(), "cart") {
		t.Errorf("got %v, want Forbidden", err)
	}
	// Neither does it for its replica, or for a memory of it.
	r.Peer.Robot = "cart"
	if err := r.Greet(t.Context(), false); !errors.Is(err, robotmem.Forbidden) || !strings.Contains(err.Error(), "another robot") {
		t.Errorf("got %v, want Forbidden", err)
	}
	r.Peer.Replica = "0190a000-0000-7000-8000-00000000cafe"
	if _, err := r.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 1, NewContent: "forged by the cart"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err := r.Status(t.Context()); err != nil || len(s.Refused) == 0 || len(s.Conflicts) != 0 {
		t.Errorf("memories of another robot: %d refused, %d conflicts, %v", len(s.Refused), len(s.Conflicts), err)
	}
	h, err := open.node.History(t.Context(), &robotmem.MemoryRequest{MemoryID: 1})
	if err != nil || len(h.Versions) != 1 || mine == r.Peer.Replica {
		t.Errorf("%+v %v", h, err)
	}
}
