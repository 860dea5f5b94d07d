package torture

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

var (
	duration = flag.Duration("for", 0, "how long the fleet is disturbed; 10 s if zero")
	seed     = flag.Uint64("seed", 0, "of the first fleet; by the time if zero")
)

func TestMain(m *testing.M) {
	if text := os.Getenv(roleVariable); text != "" {
		if err := runRole(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(postgrestest.Run(m))
}

// Of all that was acknowledged nothing is lost or silently dropped, no purged text is anywhere, nothing comes back, and
// all memories are equal or in a named conflict.
func TestAFleetLosesAndKeepsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts and kills processes: nothing for -race")
	}
	long := *duration
	if long == 0 {
		long = 10 * time.Second
	}
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano() % 1_000_000)
	}

	// A fleet grows with each round, and rare states come from young ones: several fleets find more than one old one.
	for began := time.Now(); time.Since(began) < long; first++ {
		ok := t.Run(fmt.Sprint("seed ", first), func(t *testing.T) {
			w := newWorld(t, first)
			w.disturbFor(min(45*time.Second, long-time.Since(began)))
			w.heal()
			w.check()
			t.Logf("%d robots, %d texts at the site, %d purges; %v", len(w.robots), len(w.site.texts), len(w.site.purged), w.faults)
		})
		if !ok {
			return
		}
	}
}

// disturbFor runs rounds of the fleet with faults.
func (w *world) disturbFor(long time.Duration) {
	for began := time.Now(); time.Since(began) < long; {
		w.startNodes()
		ctx, stop := context.WithCancel(context.Background())
		operated := make(chan struct{})
		operator := w.rng.Uint64()
		go func() { defer close(operated); w.operate(ctx, operator) }()
		if w.rng.IntN(3) == 0 {
			w.faults["nodes killed"]++
			node := w.rng.IntN(len(w.nodes))
			cmd := w.nodes[node]
			w.nodes[node] = nil
			time.AfterFunc(time.Duration(w.rng.IntN(600))*time.Millisecond, func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		}
		w.live(700*time.Millisecond, true, false)
		stop()
		<-operated
		time.Sleep(50 * time.Millisecond)
		w.disturb()
	}
}

// heal gives the fleet a quiet time: all tokens, all nodes, no cuts, until nothing moves any more.
func (w *world) heal() {
	w.t.Helper()
	w.wire.whole.Store(true)
	w.startNodes()
	for _, r := range w.robots {
		w.token(r, "default", "extra")
	}

	for range 12 {
		for _, r := range w.robots {
			r.synced, r.moved = 0, 0
		}
		w.live(2*time.Second, false, true)
		quiet := true
		for _, r := range w.robots {
			quiet = quiet && r.synced > 1 && r.moved == 0 && len(r.refused) == 0
		}
		if quiet {
			return
		}
	}
	for _, r := range w.robots {
		w.t.Errorf("%s is not at rest: %d syncs, %d moved, %d refused", r.path, r.synced, r.moved, len(r.refused))
	}
}

// check compares all memories with each other and with what was acknowledged.
func (w *world) check() {
	w.t.Helper()
	texts := map[string]string{} // uid by text, everywhere at the site
	for _, row := range w.rows(`SELECT json_build_object('u', m.uid, 't', m.content) FROM robotmem.memories m
		UNION ALL SELECT json_build_object('u', m.uid, 't', v.content) FROM robotmem.versions v JOIN robotmem.memories m ON m.tenant = v.tenant AND m.id = v.memory_id`) {
		texts[row["t"]] = row["u"]
	}
	states := map[string]string{}
	for _, row := range w.rows(`SELECT json_build_object('u', uid, 's', status || ' ' || content) FROM robotmem.memories`) {
		states[row["u"]] = row["s"]
	}
	purged := map[string]bool{}
	for _, row := range w.rows(`SELECT json_build_object('u', uid) FROM robotmem.purged`) {
		purged[row["u"]] = true
	}
	conflicts := map[string]bool{}
	for _, row := range w.rows(`SELECT json_build_object('u', uid) FROM robotmem.conflicts WHERE settled_at IS NULL`) {
		conflicts[row["u"]] = true
	}

	must := w.site.clone()
	for _, r := range w.robots {
		for _, l := range r.told {
			if l.Op == "wrote" {
				must.texts[l.Text] = l.UID
			} else {
				must.purged[l.UID] = true
			}
		}
	}
	for uid := range must.purged {
		// A memory that was purged before the site heard of it is not there either.
		if states[uid] != "" {
			w.t.Errorf("the purge of %s was acknowledged, and the site has it: %s", uid, states[uid])
		}
		purged[uid] = true
	}
	// The site was restored to a time before a purge, and the robot whose memory it was has purged it meanwhile.
	forgotten := map[string]bool{}
	for _, r := range w.robots {
		maps.Copy(forgotten, purgedIn(w.t, r.path))
	}
	for text, uid := range must.texts {
		if texts[text] != uid && !purged[uid] && !forgotten[uid] {
			w.t.Errorf("lost: %q of %s was acknowledged, and is not at the site, which has %q; it was told %s", text, uid, states[uid], w.tellers(text))
		}
	}

	// Every text names the memory that it was of, so that a purged one is found in any file.
	gone := map[string]string{}
	for text, uid := range w.allTexts() {
		if purged[uid] {
			gone[text] = uid
		}
	}
	dump, err := w.server.Command("pg_dump", "-a", "-d", w.server.URL(database)).Output()
	if err != nil {
		w.t.Fatal(err)
	}
	for text, uid := range gone {
		if bytes.Contains(dump, []byte(text+"\t")) || bytes.Contains(dump, []byte(text+`"`)) {
			w.t.Errorf("the site has %q of %s, which was purged", text, uid)
		}
	}

	for _, r := range w.robots {
		w.checkRobot(r, states, purged, conflicts, gone)
	}
}

// purgedIn returns the uids of what a robot has purged.
func purgedIn(t *testing.T, path string) map[string]bool {
	t.Helper()
	c, err := sqlite.Open(t.Context(), path, sqlite.ConnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	uids, err := c.Texts("SELECT uid FROM purged")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, uid := range uids {
		found[uid] = true
	}

	return found
}

// atRobot describes what the tables of a robot say of a memory.
func (w *world) atRobot(path, uid string) string {
	w.t.Helper()
	c, err := sqlite.Open(w.t.Context(), path, sqlite.ConnOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	texts, err := c.Texts("SELECT 'revision ' || revision || ' tool ' || coalesce(tool, '') || ' version ' || version FROM memories WHERE uid = '" + uid + "'" +
		" UNION ALL SELECT 'sent ' || value FROM counters WHERE name = 'fleet_sent'" +
		" UNION ALL SELECT 'feed ' || feed || ' ' || number || ' ' || restarting FROM fleet_feeds" +
		" UNION ALL SELECT 'past ' || version || ' ' || change || ' ' || coalesce(reason, '') || ' ' || status || ' ' || content FROM versions WHERE memory_id = (SELECT id FROM memories WHERE uid = '" + uid + "')")
	if err != nil {
		w.t.Fatal(err)
	}

	return strings.Join(texts, ", ")
}

// atSite describes what the tables of the site say of a memory.
func (w *world) atSite(uid string) string {
	w.t.Helper()
	return strings.ReplaceAll(w.sql(database, "SELECT 'robot ' || robot || ' tool ' || coalesce(tool, '') || ' version ' || version FROM robotmem.memories WHERE uid = '"+uid+"'"+
		" UNION ALL SELECT 'feed ' || feed || ' ' || number || ' ' || change || ' ' || at FROM robotmem.feed WHERE uid = '"+uid+"'"+
		" UNION ALL SELECT 'head ' || feed || ' ' || last FROM robotmem.feed_heads"+
		" UNION ALL SELECT 'arrival ' || a.replica || ' ' || a.counter || ' ' || (a.theirs = a.ours) || ' ' || (r.forked_at IS NULL) || ' ' || r.robot FROM robotmem.arrivals a JOIN robotmem.replicas r USING (replica) WHERE a.uid = '"+uid+"'"+
		" UNION ALL SELECT 'past ' || version || ' ' || change || ' ' || coalesce(reason, '') || ' ' || status || ' ' || content FROM robotmem.versions WHERE memory_id = (SELECT id FROM robotmem.memories WHERE uid = '"+uid+"')"), "\n", ", ")
}

// tellers names those that hold a text, with what they told of its memory.
func (w *world) tellers(text string) string {
	var names []string
	if _, ok := w.site.texts[text]; ok {
		names = append(names, "to the site")
	}
	for _, r := range w.robots {
		at := slices.IndexFunc(r.told, func(l line) bool { return l.Text == text })
		if at < 0 {
			continue
		}
		said := ""
		for i, l := range r.told {
			if l.UID == r.told[at].UID {
				said += fmt.Sprintf(" %d:%s", i-at, cmp.Or(l.Text, l.Op))
			}
		}
		names = append(names, fmt.Sprintf("by %s, told%s", filepath.Base(filepath.Dir(r.path)), said))
	}

	return strings.Join(names, "; ")
}

// allTexts returns every text that anybody has been told of, with its uid.
func (w *world) allTexts() map[string]string {
	all := map[string]string{}
	for text, uid := range w.site.texts {
		all[text] = uid
	}
	for _, r := range w.robots {
		for _, l := range append(r.told, r.backedUp...) {
			if l.Op == "wrote" {
				all[l.Text] = l.UID
			}
		}
	}

	return all
}

// checkRobot compares the memory of a robot with the site.
func (w *world) checkRobot(r *robot, states map[string]string, purged, conflicts map[string]bool, gone map[string]string) {
	w.t.Helper()
	n, err := local.Open(w.t.Context(), r.path, local.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	mine := map[string]string{}
	for page := 1; ; page++ {
		l, err := n.List(w.t.Context(), &robotmem.ListRequest{Page: page, Limit: 1000, Status: "all"})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, m := range l.Memories {
			full, err := n.Get(w.t.Context(), &robotmem.MemoryRequest{MemoryID: m.MemoryID})
			if err != nil {
				w.t.Fatal(err)
			}
			mine[full.UID] = full.Status + " " + full.Content
		}
		if len(l.Memories) < 1000 {
			break
		}
	}
	if err := n.Close(); err != nil {
		w.t.Fatal(err)
	}

	name := filepath.Base(filepath.Dir(r.path))
	for uid, state := range mine {
		switch {
		case purged[uid]:
			w.t.Errorf("%s has %s, which was purged: %s", name, uid, state)
		case states[uid] == "" && !strings.HasPrefix(state, "invalidated"):
			w.t.Errorf("%s has %s, and the site does not: %s", name, uid, state)
		case states[uid] != "" && states[uid] != state && !conflicts[uid]:
			w.t.Errorf("%s of %s is %q, and at the site %q; the robot: %s; the site: %s", uid, name, state, states[uid], w.atRobot(r.path, uid), w.atSite(uid))
		}
	}
	// A robot that has purged a copy takes it no more, also from a site that was restored to a time before the purge.
	here := purgedIn(w.t, r.path)
	for uid, state := range states {
		if mine[uid] == "" && strings.HasPrefix(state, "active") && !here[uid] {
			w.t.Errorf("%s has no copy of %s: %s; the robot: %s; the site: %s", name, uid, state, w.atRobot(r.path, uid), w.atSite(uid))
		}
	}

	for _, file := range []string{r.path, r.path + "-wal"} {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for text, uid := range gone {
			// A number may be the beginning of a longer one.
			for at := bytes.Index(data, []byte(text)); at >= 0; at = -1 {
				if next := data[min(at+len(text), len(data)-1)]; next < '0' || next > '9' {
					w.t.Errorf("%s of %s has %q of %s, which was purged", filepath.Base(file), name, text, uid)
				}
			}
		}
	}
}

// rows runs a query at the site that returns objects of texts.
func (w *world) rows(query string) (list []map[string]string) {
	w.t.Helper()
	for text := range strings.SplitSeq(w.sql(database, query), "\n") {
		if text == "" {
			continue
		}
		row := map[string]string{}
		if err := json.Unmarshal([]byte(text), &row); err != nil {
			w.t.Fatal(err, text)
		}
		list = append(list, row)
	}

	return list
}
