package site

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest/rounds"
)

// cluster is a primary and two standbys, of which one must have a commit before it is acknowledged.
type cluster struct {
	members []member
	primary member
	rebuilt int
}

const quorum = "ANY 1 (a, b, c)"

// newCluster starts a cluster of three.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	postgrestest.Need(t)
	c := &cluster{}
	t.Cleanup(func() {
		for _, p := range c.members {
			p.Kill(syscall.SIGQUIT)
		}
	})
	dir := readable(t)
	for _, name := range []string{"a", "b", "c"} {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if name != "a" {
			server, err := postgrestest.New(folder, postgrestest.Programs())
			if err != nil {
				t.Fatal(err)
			}
			p := member{server}
			c.rebuild(t, p)
			c.members = append(c.members, p)
			continue
		}
		server, err := postgrestest.Start(folder, postgrestest.Programs())
		if err != nil {
			t.Fatal(err)
		}
		p := member{server}
		c.members, c.primary = append(c.members, p), p
		for name, value := range map[string]string{
			"synchronous_standby_names": quorum, "synchronous_commit": "on", "wal_keep_size": "512MB", "wal_retrieve_retry_interval": "100ms", "wal_receiver_status_interval": "1s",
			"fsync": "off", // a process that is killed loses nothing that the kernel has
		} {
			p.set(t, name, value)
		}
	}
	c.whole(t)
	return c
}

// readable makes a folder that the user of the servers may enter.
func readable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "robotmem-cluster")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// member is a server of a cluster.
type member struct{ *postgrestest.Server }

// name is the name under which a standby is known.
func (p member) name() string { return filepath.Base(p.Dir) }

// set changes a setting, which standbys that are made later have too.
func (p member) set(t *testing.T, name, value string) {
	t.Helper()
	p.sql(t, "ALTER SYSTEM SET "+name+" = '"+value+"'")
	p.sql(t, "SELECT pg_reload_conf()")
}

// sql runs a statement and returns the first column of its first row as text.
func (p member) sql(t *testing.T, sql string) string {
	t.Helper()
	return query(t, p.URL("postgres"), sql)
}

// raw opens a connection without a pool.
func raw(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	url, _, _ = strings.Cut(url, "?")
	c, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func query(t *testing.T, url, sql string) string {
	t.Helper()
	c := raw(t, url)
	defer c.Close(context.Background())
	all, err := c.PgConn().Exec(context.Background(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if last := all[len(all)-1]; len(last.Rows) > 0 {
		return string(last.Rows[0][0])
	}
	return ""
}

// eventually waits until a statement returns what is wanted.
func (p member) eventually(t *testing.T, sql, want string) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		got := p.sql(t, sql)
		if got == want {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%s: %s is %q after a minute, want %q", p.name(), sql, got, want)
		}
	}
}

// from is the connection of a standby to the primary.
func (c *cluster) from(standby member) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=%s", c.primary.Port, standby.name())
}

// rebuild makes a member a standby, with a copy of the primary.
func (c *cluster) rebuild(t *testing.T, p member) {
	t.Helper()
	// The last processes of a killed member may still be writing to its folder.
	c.rebuilt++
	p.Data = filepath.Join(p.Dir, "data"+strconv.Itoa(c.rebuilt))
	if out, err := p.Command("pg_basebackup", "-d", c.from(p), "-D", p.Data, "-R", "-X", "stream", "-c", "fast", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("pg_basebackup: %v: %s", err, out)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
}

// whole waits until both standbys follow the primary.
func (c *cluster) whole(t *testing.T) {
	t.Helper()
	c.primary.eventually(t, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'quorum'", "2")
}

// failover kills the primary and promotes the standby that has the most of its log: of a quorum of
// one, only that one is sure to have all that was acknowledged.
func (c *cluster) failover(t *testing.T) (killed member) {
	t.Helper()
	killed = c.primary
	killed.Kill(syscall.SIGKILL)
	best, at := member{}, int64(-1)
	standbys := slices.DeleteFunc(slices.Clone(c.members), func(p member) bool { return p == killed })
	for _, p := range standbys {
		p.eventually(t, "SELECT count(*) FROM pg_stat_wal_receiver WHERE status = 'streaming'", "0")
		got := p.sql(t, "SELECT greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'::pg_lsn")
		if n, err := strconv.ParseInt(got, 10, 64); err != nil {
			t.Fatal(err)
		} else if n > at {
			best, at = p, n
		}
	}
	if got := best.sql(t, "SELECT pg_promote()"); got != "t" {
		t.Fatalf("%s was not promoted", best.name())
	}
	c.primary = best
	for _, p := range standbys {
		if p != best {
			p.set(t, "primary_conninfo", c.from(p))
		}
	}
	return killed
}

// url names all members.
func (c *cluster) url(database string) string {
	var hosts []string
	for _, p := range c.members {
		hosts = append(hosts, "127.0.0.1:"+strconv.Itoa(p.Port))
	}
	return "postgres://postgres@" + strings.Join(hosts, ",") + "/" + database + "?pool_max_conns=4"
}

// written is a memory that a robot wants stored.
type written struct {
	text   string
	tries  int
	acked  time.Time // zero if it was never acknowledged
	status string
}

// robot writes until stop, and asks again after an error.
func robot(ctx context.Context, n *local.Node, name string, stop *atomic.Bool, acked *atomic.Int64) (all []*written, errs map[string]int) {
	errs = map[string]int{}
	for i := 0; !stop.Load(); i++ {
		w := &written{text: fmt.Sprintf("%s found %s beside %s", name, rand.Text(), rand.Text())}
		all = append(all, w)
		for w.acked.IsZero() && !stop.Load() {
			w.tries++
			limited, cancel := context.WithTimeout(ctx, 5*time.Second)
			res, err := n.Learn(limited, &robotmem.LearnRequest{Insight: w.text, Context: robotmem.Object{"robot": map[string]any{"id": name}, "params": map[string]any{"try": i}}})
			cancel()
			if err != nil {
				errs[fmt.Sprint(err, " (", causeOf(err), ")")]++
				continue
			}
			w.acked, w.status = time.Now(), res.Status
			acked.Add(1)
		}
	}
	return all, errs
}

// Robots that write while primaries are killed and standbys promoted find every memory that was
// acknowledged exactly once.
func TestFailover(t *testing.T) {
	skipShort(t)
	c := newCluster(t)
	c.primary.sql(t, "CREATE DATABASE site")
	nodes := []*local.Node{openTest(t, c.url("site"), Options{}), openTest(t, c.url("site"), Options{})}
	var stop atomic.Bool
	var robots sync.WaitGroup
	acked := make([]atomic.Int64, 8)
	all, errs := make([][]*written, len(acked)), make([]map[string]int, len(acked))
	for i := range acked {
		robots.Go(func() {
			all[i], errs[i] = robot(context.Background(), nodes[i%len(nodes)], fmt.Sprint("robot", i), &stop, &acked[i])
		})
	}
	defer robots.Wait()
	defer stop.Store(true)
	// progress waits until every robot has written more.
	progress := func() {
		t.Helper()
		until := time.Now().Add(time.Minute)
		for i := range acked {
			for want := acked[i].Load() + 10; acked[i].Load() < want; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("robot %d has written nothing for a minute", i)
				}
			}
		}
	}
	for range rounds.Of(2, 10) {
		progress()
		killed := c.failover(t)
		progress()
		c.rebuild(t, killed)
		c.whole(t)
	}
	progress()
	stop.Store(true)
	robots.Wait()

	stored := c.stored(t)
	var times []time.Time
	count, again := 0, 0
	for _, w := range slices.Concat(all...) {
		switch got := stored[w.text]; {
		case got.rows > 1:
			t.Errorf("%q was stored %d times", w.text, got.rows)
		case !w.acked.IsZero() && got.rows != 1:
			t.Errorf("%q was acknowledged as %s at try %d and is lost", w.text, w.status, w.tries)
		case w.tries == 1 && w.status != "" && w.status != "created":
			t.Errorf("%q was asked for once and is a %s: it was written twice", w.text, w.status)
		case got.sightings > w.tries:
			t.Errorf("%q was asked for %d times and counted %d times", w.text, w.tries, got.sightings)
		}
		delete(stored, w.text)
		if !w.acked.IsZero() {
			times = append(times, w.acked)
			count++
			again += min(1, w.tries-1)
		}
	}
	for text := range stored {
		t.Errorf("%q was not asked for", text)
	}
	slices.SortFunc(times, time.Time.Compare)
	gap := time.Duration(0)
	for i := 1; i < len(times); i++ {
		gap = max(gap, times[i].Sub(times[i-1]))
	}
	failed := map[string]int{}
	for _, e := range errs {
		for text, n := range e {
			failed[text] += n
		}
	}
	for text := range failed {
		if strings.Contains(text, "internal error") {
			t.Errorf("a robot was told: %s", text)
		}
	}
	t.Logf("%d memories acknowledged, %d of them after an error; the longest time without an acknowledged write: %v; errors: %v", count, again, gap.Round(time.Millisecond), failed)
	for _, n := range nodes {
		for _, writes := range all {
			found(t, n, lastAcked(writes))
		}
	}
	for _, n := range nodes {
		_ = n.Close()
	}
	t.Run("a commit that did not arrive", func(t *testing.T) { commitThatDidNotArrive(t, c) })
	t.Run("a commit that was cut short", func(t *testing.T) { commitThatWasCutShort(t, c) })
}

// lastAcked is the last text that was acknowledged.
func lastAcked(writes []*written) string {
	for _, w := range slices.Backward(writes) {
		if !w.acked.IsZero() {
			return w.text
		}
	}
	return ""
}

// found fails the test unless a node recalls a text first.
func found(t *testing.T, n *local.Node, text string) {
	t.Helper()
	res, err := n.Recall(t.Context(), &robotmem.RecallRequest{Query: text, N: 1})
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	if len(res.Memories) == 0 || res.Memories[0].Content != text {
		t.Errorf("recall of %q: %+v", text, res.Memories)
	}
}

type storedText struct{ rows, sightings int }

// stored returns the texts of the primary, of all tenants.
func (c *cluster) stored(t *testing.T) map[string]storedText {
	return storedAt(t, c.primary.URL("site"))
}

func storedAt(t *testing.T, url string) map[string]storedText {
	t.Helper()
	conn := raw(t, url)
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), "SELECT content, sightings FROM robotmem.memories")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]storedText{}
	var text string
	var sightings int
	_, err = pgx.ForEachRow(rows, []any{&text, &sightings}, func() error {
		all[text] = storedText{all[text].rows + 1, all[text].sightings + sightings}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The number of a transaction whose commit the primary had not received is given again by the
// server that takes its place: the memory is not there just because that one was committed.
func commitThatDidNotArrive(t *testing.T, c *cluster) {
	p := newProxy(t, c.primary.Port)
	url := strings.Replace(c.url("site"), ":"+strconv.Itoa(c.primary.Port), ":"+strconv.Itoa(p.port), 1)
	n := openTest(t, url, Options{})
	p.holdAt("COMMIT")
	const text = "the ramp of dock 4 is icy"
	done := make(chan error, 1)
	go func() {
		_, err := n.Learn(context.Background(), &robotmem.LearnRequest{Insight: text})
		done <- err
	}()
	p.waitHeld(t)
	c.failover(t)
	conn := raw(t, c.primary.URL("site"))
	defer conn.Close(context.Background())
	for range 200 {
		if _, err := conn.Exec(t.Context(), "SELECT pg_current_xact_id()"); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err, causeOf(err))
	}
	if got := c.stored(t)[text]; got.rows != 1 || got.sightings != 1 {
		t.Errorf("the memory was acknowledged and is stored %d times, seen %d times", got.rows, got.sightings)
	}
}

// A commit whose wait for a standby is cancelled is on the primary alone: it is not acknowledged before
// a standby has it.
func commitThatWasCutShort(t *testing.T, c *cluster) {
	n := openTest(t, c.url("site"), Options{})
	c.primary.set(t, "synchronous_standby_names", "nobody")
	const waiting = "SELECT coalesce((SELECT pid::text FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%s'), '')"
	for _, cut := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
		text := "the load cell drifts after " + cut
		done := make(chan error, 1)
		go func() {
			_, err := n.Learn(context.Background(), &robotmem.LearnRequest{Insight: text})
			done <- err
		}()
		// The commit waits, and after it that of the question what became of it.
		for _, query := range []string{"%INSERT INTO robotmem.commits%", "COMMIT"} {
			pid := ""
			for until := time.Now().Add(time.Minute); pid == ""; time.Sleep(5 * time.Millisecond) {
				select {
				case err := <-done:
					t.Fatalf("%s: the write returned %v, and no standby is sure to have it", cut, err)
				default:
				}
				if pid = c.primary.sql(t, fmt.Sprintf(waiting, query)); time.Now().After(until) {
					t.Fatalf("%s: no %s waits for a standby", cut, query)
				}
			}
			if query != "COMMIT" {
				c.primary.sql(t, "SELECT "+cut+"("+pid+")")
			}
		}
		c.primary.set(t, "synchronous_standby_names", quorum)
		if err := <-done; err != nil {
			t.Error(err, causeOf(err))
		}
		if got := c.stored(t)[text]; got.rows != 1 || got.sightings != 1 {
			t.Errorf("%q is stored %d times and was counted %d times", text, got.rows, got.sightings)
		}
		c.primary.set(t, "synchronous_standby_names", "nobody")
	}
	c.primary.set(t, "synchronous_standby_names", quorum)
}
