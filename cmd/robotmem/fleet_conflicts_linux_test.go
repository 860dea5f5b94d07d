package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/site"
	"github.com/robotmem/robotmem-go/web"
)

// The commands with which an operator ends conflicts, and forgets a robot.
func TestFleetConflictCommands(t *testing.T) {
	t.Setenv("ROBOTMEM_DURABILITY", "")
	t.Setenv("ROBOTMEM_HOME", t.TempDir())
	t.Setenv("ROBOTMEM_EMBEDDER", "none")
	url := startPostgres(t)
	run := func(code int, part string, args ...string) string {
		t.Helper()
		got, out, errs := runArgs(t, args...)
		if got != code || !strings.Contains(out+errs, part) {
			t.Errorf("%q: exit code %d, %s%s, want %d and %q", args, got, out, errs, code, part)
		}
		return out
	}
	fleet := func(code int, part string, args ...string) string {
		t.Helper()
		return run(code, part, append([]string{"fleet", "--db", url}, args...)...)
	}
	atPlant := func(code int, part string, args ...string) string {
		t.Helper()
		return fleet(code, part, append(args, "--tenant", "plant-2")...)
	}

	fleet(0, "", "tenant", "create", "plant-2")
	fleet(0, `"conflict_rule":"newest"`, "tenant", "limit", "plant-2", "--conflicts", "newest", "--json")
	fleet(2, "ask, site, newest or both", "tenant", "limit", "plant-2", "--conflicts", "robot")
	fleet(0, `"conflict_rule":"newest"`, "tenant", "limit", "plant-2", "--memories", "1000", "--json")
	fleet(0, `"conflict_rule":"ask"`, "tenant", "limit", "plant-2", "--conflicts", "ask", "--json")
	fleet(0, "ask", "tenant", "list")

	// Before there is anything.
	atPlant(0, "no conflict is open", "conflicts")
	atPlant(0, `{"conflicts":[]}`, "conflicts", "--json")
	atPlant(0, "every robot has confirmed", "purges")
	atPlant(0, `{"purges":[]}`, "purges", "--json")
	atPlant(3, "fleet conflicts", "settle", "7", "--keep", "site")
	atPlant(2, "--keep", "settle", "7")
	atPlant(2, "--keep", "settle", "7", "--keep", "newest")
	atPlant(3, "fleet robots", "forget-robot", "arm-7")
	for _, args := range [][]string{{"conflicts"}, {"purges"}, {"settle", "7", "--keep", "site"}, {"forget-robot", "arm-7"}} {
		fleet(3, "no tenant", append(args, "--tenant", "plant-3")...)
		run(2, "postgres://", append([]string{"fleet", "--db", "memory.db"}, args...)...)
	}

	s, err := site.Connect(t.Context(), url, site.Options{Payloads: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	guard := s.Guard()
	defer func() { _ = guard.Close() }()
	options := web.Options{Fleet: site.Handler(guard.Robots)}
	admit(&options, s)
	node := httptest.NewServer(web.NewServer(guard, options).Handler)
	defer node.Close()

	// Three memories that the robot and the site both change.
	secret := strings.TrimSpace(atPlant(0, "rmt_", "token", "create", "arm-7", "--collections", "default"))
	arm := filepath.Join(t.TempDir(), "arm.db")
	robot := func(part string, args ...string) string {
		t.Helper()
		return run(0, part, append([]string{"--db", arm}, args...)...)
	}
	for i := range 3 {
		robot("", "learn", fmt.Sprintf("gate %d is open", i))
	}
	robot("", "fleet", "join", node.URL, "--token", secret, "--robot", "arm-7", "--subscribe", "*")
	robot("", "fleet", "sync")
	here, err := s.Node(t.Context(), "plant-2")
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	change(t, here, "shut")
	robot("", "update", "1", "gate 0 is stuck")
	robot("", "update", "2", "gate 1 is stuck")
	robot("", "update", "3", "gate 2 is stuck")
	robot("", "fleet", "sync")

	var open struct{ Conflicts []site.Conflict }
	if err := json.Unmarshal([]byte(atPlant(0, `"robot":"arm-7"`, "conflicts", "--robot", "arm-7", "--json")), &open); err != nil || len(open.Conflicts) != 3 {
		t.Fatalf("%+v %v", open, err)
	}
	atPlant(0, `{"conflicts":[]}`, "conflicts", "--robot", "arm-8", "--json")
	first := open.Conflicts[0]
	shown := atPlant(0, "arm-7", "conflicts")
	for _, want := range []string{
		first.UID, first.At.UTC().Format("2006-01-02T15:04:05Z"), "here:  gate 0 is shut", "robot: gate 0 is stuck",
		fmt.Sprintf("robotmem fleet settle %d --keep", first.ID),
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
	for i, keep := range []string{"site", "robot", "both"} {
		id := fmt.Sprint(open.Conflicts[i].ID)
		atPlant(0, fmt.Sprintf(`{"id":%s,"kept":%q}`, id, keep), "settle", id, "--keep", keep, "--json")
		atPlant(3, "no open conflict "+id, "settle", id, "--keep", keep)
	}
	atPlant(0, "no conflict is open", "conflicts")
	robot("", "fleet", "sync")
	list := robot("", "list", "--json")
	for text, want := range map[string]bool{
		"gate 0 is shut": true, "gate 0 is stuck": false, "gate 1 is shut": false, "gate 1 is stuck": true,
		"gate 2 is shut": true, "gate 2 is stuck": true,
	} {
		if strings.Contains(list, text) != want {
			t.Errorf("%q: want %v in %s", text, want, list)
		}
	}

	// A purge waits for the robot until it is forgotten.
	if _, err := here.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 1, Reason: "secret", Purge: true}); err != nil {
		t.Fatal(err)
	}
	atPlant(0, first.UID+", purged ", "purges")
	atPlant(0, `"waiting":["arm-7"]`, "purges", "--uid", first.UID, "--json")
	atPlant(0, `{"purges":[]}`, "purges", "--uid", open.Conflicts[1].UID, "--json")
	atPlant(1, "--yes", "forget-robot", "arm-7")
	atPlant(0, "arm-7", "robots")
	atPlant(0, "robotmem fleet token revoke arm-7 --tenant plant-2", "forget-robot", "arm-7", "--yes")
	atPlant(0, "no robots", "robots")
	atPlant(0, "every robot has confirmed", "purges")

	// A robot that still runs comes back.
	robot("", "fleet", "sync")
	atPlant(0, `{"forgotten":"arm-7","tokens":["arm-7"]}`, "forget-robot", "arm-7", "--yes", "--json")
	atPlant(0, "", "token", "revoke", "arm-7")
	atPlant(3, "fleet robots", "forget-robot", "arm-7", "--yes", "--json")
}

// change updates the three memories of the site.
func change(t *testing.T, n *local.Node, state string) {
	t.Helper()
	l, err := n.List(t.Context(), &robotmem.ListRequest{})
	if err != nil || len(l.Memories) != 3 {
		t.Fatal(l, err)
	}
	for _, m := range l.Memories {
		text := strings.Replace(m.Content, "open", state, 1)
		if _, err := n.Update(context.Background(), &robotmem.UpdateRequest{MemoryID: m.MemoryID, NewContent: text}); err != nil {
			t.Fatal(err)
		}
	}
}
