package site

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

// plant is a tenant of a site with robots that have tokens.
type plant struct {
	*Site
	url, node string // of the database, and of a node over HTTP
	memory    *local.Node
}

func newPlant(t *testing.T) *plant {
	t.Helper()
	url := postgrestest.NewURL(t)
	s, g := openSite(t, url)
	makeTenants(t, s, "plant")
	memory, err := s.Node(t.Context(), "plant")
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	t.Cleanup(func() { _ = memory.Close() })
	options := web.Options{Lookup: s.Caller, Fleet: Handler(g.Robots), Metrics: g.Metrics}
	server := httptest.NewServer(web.NewServer(g, options).Handler)
	t.Cleanup(server.Close)

	return &plant{Site: s, url: url, node: server.URL, memory: memory}
}

// robot returns a robot that reads what all learn.
func (p *plant) robot(t *testing.T, name string) *testRobot {
	t.Helper()
	secret, err := p.CreateToken(t.Context(), "plant", robotOf(name, "default"))
	if err != nil {
		t.Fatal(err)
	}

	return newRobot(t, &testSite{url: p.node}, name, func(peer *fleet.Peer) {
		peer.Token, peer.Subscribe = secret, []fleet.Subscription{{Collection: "default"}}
	}, local.Options{})
}

// The rule of a tenant settles the conflicts that come after it, and newest asks the clocks.
func TestTheRuleOfATenantSettlesConflicts(t *testing.T) {
	update := func(n *local.Node, id int64, text string) error {
		_, err := n.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: id, NewContent: text})
		return err
	}

	for name, c := range map[string]struct {
		rule      string
		siteFirst bool
		want      []string
	}{
		"ask":                {RuleAsk, true, []string{"of the site"}},
		"site":               {KeepSite, true, []string{"of the site"}},
		"both":               {KeepBoth, false, []string{"of the robot", "of the site"}},
		"newest, the robot":  {RuleNewest, true, []string{"of the robot"}},
		"newest, the site":   {RuleNewest, false, []string{"of the site"}},
		"an empty one stays": {"", true, []string{"of the site"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlant(t)
			r := p.robot(t, "arm")
			id := r.learns(t, "as it was", nil)
			r.sync(t)
			if tenant, err := p.Limit(t.Context(), "plant", Limits{ConflictRule: c.rule}); err != nil || c.rule != "" && tenant.ConflictRule != c.rule {
				t.Fatalf("%+v %v", tenant, err)
			}

			here := named(t, p.memory, "as it was").MemoryID
			changes := []func() error{
				func() error { return update(p.memory, here, "of the site") },
				func() error { return update(r.Node, id, "of the robot") },
			}
			if !c.siteFirst {
				changes[0], changes[1] = changes[1], changes[0]
			}
			if err := errors.Join(changes[0](), changes[1]()); err != nil {
				t.Fatal(err)
			}
			r.sync(t)
			r.sync(t)

			for _, n := range []*local.Node{r.Node, p.memory} {
				got := texts(t, n)
				for _, text := range c.want {
					if got[text] != 1 || len(got) != len(c.want) {
						t.Errorf("got %v, want %v", got, c.want)
					}
				}
			}
			want := 0
			if c.rule == RuleAsk || c.rule == "" {
				want = 1
			}
			if open, err := p.Conflicts(t.Context(), "plant", ""); err != nil || len(open) != want {
				t.Errorf("%d conflicts are open, want %d: %+v %v", len(open), want, open, err)
			}
		})
	}
}

func TestRulesForConflictsThatThereAreNot(t *testing.T) {
	s, _ := openSite(t, postgrestest.NewURL(t))
	makeTenants(t, s, "plant")
	for _, rule := range []string{"robot", "Ask", "oldest"} {
		_, err := s.Limit(t.Context(), "plant", Limits{ConflictRule: rule})
		if !errors.Is(err, robotmem.Invalid) || !strings.Contains(err.Error(), "ask, site, newest or both") {
			t.Errorf("%q: %v", rule, err)
		}
	}
	if _, err := s.Limit(t.Context(), "moon", Limits{ConflictRule: KeepSite}); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("of no tenant: %v", err)
	}
	list, err := s.Tenants(t.Context())
	if err != nil || len(list) != 1 || list[0].ConflictRule != RuleAsk {
		t.Errorf("%+v %v", list, err)
	}
}

// A robot that is gone is not waited for any more. What it learnt stays, and if it comes back it goes on.
func TestARobotIsForgotten(t *testing.T) {
	p := newPlant(t)
	cart, lift := p.robot(t, "cart"), p.robot(t, "lift")
	cart.learns(t, "the ramp is steep", nil)
	cart.sync(t)
	lift.learns(t, "the door sticks", nil)
	lift.sync(t)
	cart.sync(t)

	purged := named(t, p.memory, "the door sticks")
	if _, err := p.memory.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: purged.MemoryID, Reason: "secret", Purge: true}); err != nil {
		t.Fatal(err)
	}
	lift.sync(t) // takes it
	lift.sync(t) // says so
	waiting := func() string {
		t.Helper()
		list, err := p.UnconfirmedPurges(t.Context(), "plant", purged.UID)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for i := range list {
			names = append(names, list[i].Waiting...)
		}
		return strings.Join(names, " ")
	}
	if got := waiting(); got != "cart" {
		t.Fatalf("the purge waits for %q", got)
	}

	forget := func(robot string, unseen time.Duration) error {
		return p.ForgetRobot(t.Context(), "plant", robot, unseen)
	}
	if err := forget("cart", UnseenTime); !errors.Is(err, robotmem.Conflict) || !strings.Contains(err.Error(), "--yes") {
		t.Errorf("one that was seen just now: %v", err)
	}
	for _, robot := range []string{"carts", ""} {
		if err := forget(robot, 0); !errors.Is(err, robotmem.NotFound) {
			t.Errorf("%q: %v", robot, err)
		}
	}
	if err := p.ForgetRobot(t.Context(), "moon", "cart", 0); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("of no tenant: %v", err)
	}
	if got := waiting(); got != "cart" {
		t.Errorf("after refusals the purge waits for %q", got)
	}

	query(t, p.url, "UPDATE robotmem.replicas SET seen_at = '2020-01-01T00:00:00.000000Z' WHERE robot = 'cart'")
	if err := forget("cart", UnseenTime); err != nil {
		t.Fatal(err, causeOf(err))
	}
	if got := waiting(); got != "" {
		t.Errorf("forgotten, and the purge waits for %q", got)
	}
	if list, err := p.Robots(t.Context(), "plant", 0); err != nil || len(list) != 1 || list[0].Robot != "lift" {
		t.Errorf("%+v %v", list, err)
	}
	reader, err := p.CreateToken(t.Context(), "plant", TokenSpec{Name: "prometheus", Role: robotmem.RoleReader, Collections: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	if code, text := send(t, reader, "GET", p.node+"/metrics", ""); code != 200 || strings.Contains(text, "cart") || !strings.Contains(text, "robotmem_fleet_robots 1\n") {
		t.Errorf("%d %s", code, text)
	}
	if got := texts(t, p.memory); got["the ramp is steep"] != 1 || len(got) != 1 {
		t.Errorf("the site has %v", got)
	}

	// It comes back all the same: it sends what is new, drops what was purged, and nothing is there twice.
	cart.learns(t, "the ramp was mended", nil)
	cart.sync(t)
	cart.sync(t)
	for _, n := range []*local.Node{p.memory, cart.Node} {
		if got := texts(t, n); got["the ramp is steep"] != 1 || got["the ramp was mended"] != 1 || len(got) != 2 {
			t.Errorf("after its return: %v", got)
		}
	}
	if list, err := p.Conflicts(t.Context(), "plant", ""); err != nil || len(list) > 0 {
		t.Errorf("%+v %v", list, err)
	}
	if got := waiting(); got != "" {
		t.Errorf("after its return the purge waits for %q", got)
	}
}
