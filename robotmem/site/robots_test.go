package site

import (
	"errors"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/web"
)

// The operator of a site sees the state of each robot, in the list and in the metrics.
func TestTheStateOfRobots(t *testing.T) {
	url := postgrestest.NewURL(t)
	s, g := openSite(t, url)
	makeTenants(t, s, "plant")
	server := httptest.NewServer(web.NewServer(g, web.Options{Lookup: s.Caller, Fleet: Handler(g.Robots), Metrics: g.Metrics}).Handler)
	t.Cleanup(server.Close)
	token := func(spec TokenSpec) string {
		t.Helper()
		secret, err := s.CreateToken(t.Context(), "plant", spec)
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}

	at := &testSite{url: server.URL}
	secrets := map[string]string{}
	for _, name := range []string{"cart", "lift"} {
		secrets[name] = token(TokenSpec{Name: name, Role: robotmem.RoleRobot, Robot: name, Collections: []string{"default"}})
		r := newRobot(t, at, name, func(p *fleet.Peer) { p.Token, p.Replica = secrets[name], uuid.NewString() }, local.Options{})
		r.Version = "1.2.3"
		r.learns(t, name+" was here", nil)
		if name == "cart" {
			r.sync(t)
			continue
		}

		// What it learns between a push and a pull waits.
		if err := errors.Join(r.Greet(t.Context(), false), r.Push(t.Context())); err != nil {
			t.Fatal(err)
		}
		r.learns(t, "what waits", nil)
		r.learns(t, "what waits too", nil)
		if err := r.Pull(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	query(t, url, "UPDATE robotmem.replicas SET seen_at = '2020-01-01T00:00:00.000000Z' WHERE robot = 'cart'")

	all, err := s.Robots(t.Context(), "plant", 0)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	cart, lift := all[0], all[1]
	if cart.Robot != "cart" || cart.Version != "1.2.3" || cart.Waiting != 0 || cart.Pushed.IsZero() || cart.Seen.Year() != 2020 {
		t.Errorf("got %+v", cart)
	}
	if lift.Robot != "lift" || lift.Waiting != 2 || time.Since(lift.Seen) > time.Minute || lift.ClockMS == nil || lift.Conflicts != 0 {
		t.Errorf("got %+v", lift)
	}
	if stale, err := s.Robots(t.Context(), "plant", time.Hour); err != nil || len(stale) != 1 || stale[0].Robot != "cart" {
		t.Errorf("stale: %+v %v", stale, err)
	}
	if _, err := s.Robots(t.Context(), "moon", 0); robotmem.KindOf(err) != robotmem.NotFound {
		t.Errorf("of no tenant: %v", err)
	}

	reader := token(TokenSpec{Name: "prometheus", Role: robotmem.RoleReader, Collections: []string{"*"}})
	code, text := send(t, reader, "GET", server.URL+"/metrics", "")
	for _, want := range []string{
		"robotmem_fleet_robots 2", "robotmem_fleet_robots_unseen 1", "robotmem_fleet_waiting_changes 2", "robotmem_fleet_conflicts 0",
		`robotmem_fleet_robot_waiting_changes{robot="lift"} 2`, `robotmem_fleet_robot_info{robot="cart",version="1.2.3"} 1`,
		`robotmem_fleet_robot_seen_timestamp_seconds{robot="cart"} 1.5778368e+09`,
	} {
		if code != 200 || !strings.Contains(text, want+"\n") {
			t.Errorf("%d: the metrics have no %q", code, want)
		}
	}
	// A robot is told nothing of others.
	if _, text := send(t, secrets["cart"], "GET", server.URL+"/metrics", ""); strings.Contains(text, "lift") || !strings.Contains(text, "robotmem_memories") {
		t.Error(text)
	}

	// The board and the alerts ask for figures that there are.
	named := regexp.MustCompile(`\b(robotmem|process)_[a-z_]+`)
	there := map[string]bool{}
	for _, name := range named.FindAllString(text, -1) {
		there[name] = true
	}
	for _, file := range []string{"alerts.yaml", "grafana.json"} {
		data, err := os.ReadFile(filepath.Join("../../examples/fleet/monitoring", file))
		if err != nil {
			t.Fatal(err)
		}
		asked := named.FindAllString(string(data), -1)
		if len(asked) < 3 {
			t.Errorf("%s asks for %q", file, asked)
		}
		for _, name := range asked {
			if !there[name] {
				t.Errorf("%s asks for %s, and there is none of %q", file, name, slices.Sorted(maps.Keys(there)))
			}
		}
	}
}

// A server of Prometheus stores each series, so there is a bound. The sums are of all robots.
func TestMetricsOfManyRobots(t *testing.T) {
	t.Parallel()
	now := time.Now()
	robots := make([]Robot, mostSeries+10)
	for i := range robots {
		robots[i] = Robot{Robot: uuid.NewString(), Seen: now, Waiting: 1}
	}
	robots[1].Robot = robots[0].Robot // a copied card

	series, sums := map[string]int{}, map[string]float64{}
	seen := map[string]bool{}
	for _, m := range metricsOf(robots, now) {
		series[m.Name]++
		sums[m.Name] += m.Value
		key := m.Name + m.Labels["robot"] + m.Labels["version"]
		if seen[key] {
			t.Fatalf("twice: %+v", m)
		}
		seen[key] = true
	}
	if series["fleet_robot_waiting_changes"] != mostSeries-1 || sums["fleet_waiting_changes"] != mostSeries+10 || sums["fleet_robots"] != mostSeries+10 {
		t.Errorf("%d series, %v changes of %v robots", series["fleet_robot_waiting_changes"], sums["fleet_waiting_changes"], sums["fleet_robots"])
	}
}
