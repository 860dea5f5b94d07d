package site

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// learnt stores a text, which must be new.
func learnt(t *testing.T, n *local.Node, text string) {
	t.Helper()
	res, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: text})
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	if res.Status != "created" {
		t.Fatalf("%q is a %s", text, res.Status)
	}
}

// refused fails the test unless an error is Unavailable and says something.
func refused(t *testing.T, err error, says string) {
	t.Helper()
	if !errors.Is(err, robotmem.Unavailable) || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v (%v), want Unavailable with %q", err, causeOf(err), says)
	}
}

// once fails the test unless every text is stored once and was counted once.
func once(t *testing.T, url string, texts ...string) {
	t.Helper()
	stored := storedAt(t, url)
	for _, text := range texts {
		if got := stored[text]; got.rows != 1 || got.sightings != 1 {
			t.Errorf("%q is stored %d times and was counted %d times", text, got.rows, got.sightings)
		}
	}
}

// note is a text like no other.
func note() string { return rand.Text() + " lies beside " + rand.Text() }

func TestTablesAreOfANewerVersion(t *testing.T) {
	url := postgrestest.NewURL(t)
	n := openTest(t, url, Options{})
	learnt(t, n, "the gate sticks in the cold")
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	query(t, url, "INSERT INTO robotmem.schema_versions VALUES (999)")
	const all = `SELECT md5(string_agg(t, ';' ORDER BY t)) FROM (
		SELECT 'column ' || attrelid::regclass || attname || atttypid FROM pg_attribute WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace IN ('robotmem'::regnamespace, 'robotmem_tenant'::regnamespace))
		UNION ALL SELECT 'tenant ' || t FROM robotmem.tenants t UNION ALL SELECT 'counter ' || c FROM robotmem.counters c
		UNION ALL SELECT 'memory ' || m FROM robotmem.memories m UNION ALL SELECT 'version ' || v FROM robotmem.schema_versions v) AS x(t)`
	before := query(t, url, all)
	_, err := Open(t.Context(), url, Options{Tenant: "another", Options: local.Options{}, Payloads: t.TempDir()})
	if !errors.Is(err, robotmem.Conflict) || !strings.Contains(err.Error(), "999") {
		t.Errorf("got %v, want a Conflict that names version 999", err)
	}
	if query(t, url, all) != before {
		t.Error("something was changed in a database of a newer version")
	}
}

// A node needs a server that takes writes, also to read: a standby may not have yet what was
// acknowledged.
func TestServerIsAStandby(t *testing.T) {
	url := postgrestest.NewURL(t)
	n := openTest(t, url, Options{Patience: 500 * time.Millisecond})
	learnt(t, n, "the crane is slow")
	database := query(t, url, "SELECT current_database()")
	query(t, postgrestest.ServerURL, "ALTER DATABASE "+database+" SET default_transaction_read_only = on")
	query(t, postgrestest.ServerURL, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '"+database+"'")
	const says = "is a standby, which is read-only"
	start := time.Now()
	_, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the crane is fast"})
	refused(t, err, says)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the write failed after %v, with a patience of half a second", took)
	}
	_, err = n.Recall(t.Context(), &robotmem.RecallRequest{Query: "crane"})
	refused(t, err, says)
	_, err = Open(t.Context(), url, Options{Payloads: t.TempDir()})
	refused(t, err, says)

	query(t, postgrestest.ServerURL, "ALTER DATABASE "+database+" RESET default_transaction_read_only")
	learnt(t, n, "the crane is fast")
	found(t, n, "the crane is slow")
	once(t, url, "the crane is slow", "the crane is fast")
}

func TestServerRefusesTheDatabase(t *testing.T) {
	url := postgrestest.NewURL(t)
	_, err := Open(t.Context(), strings.Replace(url, "/test", "/absent", 1), Options{Payloads: t.TempDir()})
	refused(t, err, "does not exist")
}

func TestServerDiskIsFull(t *testing.T) {
	url := postgrestest.NewURL(t)
	dir := readable(t)
	if os.Getuid() != 0 || exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", dir).Run() != nil {
		t.Skip("a small disk cannot be mounted here; as root: mount -t tmpfs")
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	if p, err := postgrestest.New(dir, ""); err != nil { // gives the folder to the user of the servers
		t.Fatal(p, err)
	}
	// The log is elsewhere: a server whose log is on a full disk stops.
	query(t, url, "CREATE TABLESPACE small LOCATION '"+dir+"'")
	url = strings.Replace(url, "/"+query(t, url, "SELECT current_database()"), "/small", 1)
	query(t, postgrestest.ServerURL, "CREATE DATABASE small TABLESPACE small")
	t.Cleanup(func() {
		query(t, postgrestest.ServerURL, "DROP DATABASE small WITH (FORCE)")
		query(t, postgrestest.ServerURL, "DROP TABLESPACE small")
	})
	n := openTest(t, url, Options{})
	t.Cleanup(func() { _ = n.Close() }) // before its database is dropped
	texts := []string{note()}
	learnt(t, n, texts[0])

	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 64<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the small disk is not full: %v", err)
	}
	var err error
	for range 10_000 { // there is still room in the pages of the tables
		text := note()
		texts = append(texts, text)
		if _, err = n.Learn(t.Context(), &robotmem.LearnRequest{Insight: text}); err != nil {
			break
		}
	}
	refused(t, err, "the disk of the PostgreSQL server is full")
	found(t, n, texts[0])
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	learnt(t, n, texts[len(texts)-1])
	once(t, url, texts...)
}

// atProxy returns the URL of a database, and a proxy in front of it that the URL names.
func atProxy(t *testing.T) (direct, url string, x *proxy) {
	t.Helper()
	direct = postgrestest.NewURL(t)
	c := raw(t, direct)
	defer c.Close(context.Background())
	port := c.Config().Port
	x = newProxy(t, int(port))
	return direct, strings.Replace(direct, fmt.Sprintf(":%d/", port), fmt.Sprintf(":%d/", x.port), 1), x
}

// A caller with a deadline hears in time of a network that hangs, and the node goes on after it.
func TestNetworkHangs(t *testing.T) {
	direct, url, x := atProxy(t)
	n := openTest(t, url, Options{})
	learnt(t, n, "the belt is worn")
	x.hang()
	const text = "the belt is new"
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := n.Learn(ctx, &robotmem.LearnRequest{Insight: text})
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("a write with 300 ms came back after %v", took)
	}
	refused(t, err, "the PostgreSQL server did not answer in time")
	if !errors.Is(err, store.ErrUndecided) {
		t.Errorf("%v is not ErrUndecided", err)
	}
	late, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start = time.Now()
	_, err = n.Recall(late, &robotmem.RecallRequest{Query: "belt"})
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("a recall with 300 ms came back after %v", took)
	}
	refused(t, err, "")
	x.resume()
	if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: text}); err != nil {
		t.Fatal(err, causeOf(err))
	}
	learnt(t, n, "the belt is back")
	if got := storedAt(t, direct)[text]; got.rows != 1 || got.sightings > 2 {
		t.Errorf("a text that was written twice, once undecided, is stored %d times and was counted %d times", got.rows, got.sightings)
	}
	once(t, direct, "the belt is worn", "the belt is back")
}

// A server of several that does not answer is passed over.
func TestOneServerHangs(t *testing.T) {
	skipShort(t)
	_, url, x := atProxy(t)
	x.hang()
	at := fmt.Sprintf("127.0.0.1:%d", x.port)
	url = strings.Replace(url, at, at+",127.0.0.1:"+strings.TrimPrefix(x.target, "127.0.0.1:"), 1)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	n, err := Open(ctx, url, Options{Payloads: t.TempDir()})
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	defer n.Close()
	learnt(t, n, "the second server answers")
}

// A write is completed on another connection if its own hangs, at the begin, before or in the commit.
func TestConnectionHangs(t *testing.T) {
	for _, at := range []string{"BEGIN; SET LOCAL idle_in_transaction_session_timeout", "INSERT INTO memories", "COMMIT"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			direct, url, x := atProxy(t)
			n := openTest(t, url, Options{})
			x.holdAt(at)
			const text = "the lamp of aisle 7 flickers"
			start := time.Now()
			learnt(t, n, text)
			x.waitHeld(t)
			t.Logf("written after %v", time.Since(start).Round(time.Millisecond))
			x.resume()
			learnt(t, n, "the lamp of aisle 8 is out")
			once(t, direct, text, "the lamp of aisle 8 is out")
		})
	}
}

// A batch whose connections are ended by the server again and again is stored once.
func TestBatchIsCutOff(t *testing.T) {
	url := postgrestest.NewURL(t)
	n := openTest(t, url, Options{})
	req := &robotmem.LearnBatchRequest{KeepDuplicates: true} // so that an item that is written twice is there twice
	var texts []string
	for range 3000 {
		texts = append(texts, note())
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: texts[len(texts)-1]})
	}
	c := raw(t, url)
	defer c.Close(context.Background())
	done := make(chan struct{})
	var res *robotmem.LearnBatchResponse
	var err error
	go func() {
		defer close(done)
		res, err = n.LearnBatch(t.Context(), req)
	}()
	cut := 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(150 * time.Millisecond):
			if cut == 8 {
				<-done
				continue
			}
			var ended int
			if err := c.QueryRow(t.Context(), "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'robotmem' AND backend_xid IS NOT NULL").Scan(&ended); err != nil {
				t.Fatal(err)
			}
			cut += min(ended, 1)
		}
	}
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	if cut == 0 {
		t.Fatal("the batch was not cut off")
	}
	for i, r := range res.Results {
		if r.Error != nil || r.Status != "created" {
			t.Fatalf("item %d: %+v", i, r)
		}
	}
	once(t, url, texts...)
	t.Logf("cut off %d times", cut)
}

// Two nodes that write for one tenant give each id once and in order, and each finds at once what was
// acknowledged by the other.
func TestTwoNodesWriteForOneTenant(t *testing.T) {
	url := postgrestest.NewURL(t)
	nodes := []*local.Node{openTest(t, url, Options{}), openTest(t, url, Options{})}
	const writers, writes = 8, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range writes {
				text := note()
				res, err := nodes[w%2].Learn(t.Context(), &robotmem.LearnRequest{Insight: text, Context: robotmem.Object{"robot": map[string]any{"id": w}}})
				if err != nil || res.Status != "created" {
					t.Errorf("%+v, %v (%v)", res, err, causeOf(err))
					return
				}
				for _, n := range nodes {
					got, err := n.Recall(t.Context(), &robotmem.RecallRequest{Query: text, N: 1})
					if err != nil || len(got.Memories) == 0 || got.Memories[0].MemoryID != res.MemoryID {
						t.Errorf("recall of memory %d: %+v, %v", res.MemoryID, got, err)
					}
				}
			}
		})
	}
	wg.Wait()
	if got := query(t, url, "SELECT concat_ws(' ', count(*), count(DISTINCT id), min(id), max(id), count(DISTINCT revision)) FROM robotmem.memories"); got != "200 200 1 200 200" {
		t.Errorf("memories, ids, the first, the last, revisions: %s", got)
	}
	if got := query(t, url, "SELECT count(*) FROM (SELECT revision - lag(revision) OVER (ORDER BY id) AS step FROM robotmem.memories) AS s WHERE step <= 0"); got != "0" {
		t.Errorf("%s memories have a revision that is not above that of the memory before", got)
	}
}

// A node forgets the writers that ended long ago.
func TestWritersAreForgotten(t *testing.T) {
	url := postgrestest.NewURL(t)
	learnt(t, openTest(t, url, Options{}), "the first node was here")
	query(t, url, "INSERT INTO robotmem.commits VALUES ('long ago', 7, now() - interval '2 days')")
	learnt(t, openTest(t, url, Options{}), "the second node is here")
	if got := query(t, url, "SELECT concat_ws(' ', count(*), count(*) FILTER (WHERE writer = 'long ago')) FROM robotmem.commits"); got != "2 0" {
		t.Errorf("writers, those of long ago: %s, want 2 0", got)
	}
}

// Tenants see nothing of each other, through nodes and through SQL of the role of nodes.
func TestTenantsAreApart(t *testing.T) {
	url := postgrestest.NewURL(t)
	names := []string{"north", "south"}
	var nodes []*local.Node
	for _, name := range names {
		n := openTest(t, url, Options{Tenant: name})
		learnt(t, n, "the door of hall "+name+" is open")
		nodes = append(nodes, n)
	}
	for i, n := range nodes {
		res, err := n.Recall(t.Context(), &robotmem.RecallRequest{Query: "door of hall north south open", Collection: "*", N: 100})
		if err != nil {
			t.Fatal(err, causeOf(err))
		}
		if len(res.Memories) != 1 || !strings.Contains(res.Memories[0].Content, names[i]) {
			t.Errorf("%s recalls %+v", names[i], res.Memories)
		}
	}
	own, other := query(t, url, "SELECT id FROM robotmem.tenants WHERE name = 'north'"), query(t, url, "SELECT id FROM robotmem.tenants WHERE name = 'south'")
	count := func(table string) string { return "SELECT count(*) FROM " + table }
	for _, c := range []struct{ name, tenant, sql, want string }{
		{"as a superuser by the view", own, "RESET ROLE; " + count("robotmem_tenant.memories"), "1"},
		{"own", own, count("robotmem.memories"), "1"},
		{"own by the view", own, count("robotmem_tenant.memories"), "1"},
		{"read", own, count("robotmem.memories WHERE tenant = " + other), "0"},
		{"read of counters", own, count("robotmem.counters WHERE tenant = " + other), "0"},
		{"update", own, "WITH u AS (UPDATE robotmem.memories SET content = 'x' WHERE tenant = " + other + " RETURNING 1) " + count("u"), "0"},
		{"update by the view", own, "WITH u AS (UPDATE robotmem_tenant.memories SET content = 'x' WHERE tenant = " + other + " RETURNING 1) " + count("u"), "0"},
		{"delete", own, "WITH d AS (DELETE FROM robotmem.memories WHERE tenant = " + other + " RETURNING 1) " + count("d"), "0"},
		{"give away", own, "UPDATE robotmem.memories SET tenant = " + other, "42501"},
		{"insert", own, "INSERT INTO robotmem.counters(tenant, name, value) VALUES (" + other + ", 'x', 1)", "42501"},
		{"a partition", own, "SELECT (SELECT count(*) FROM robotmem.memories_0) + (SELECT count(*) FROM robotmem.memories_1) + (SELECT count(*) FROM robotmem.memories_2) + (SELECT count(*) FROM robotmem.memories_3)", "42501"},
		{"fence off", own, "ALTER TABLE robotmem.memories NO FORCE ROW LEVEL SECURITY", "42501"},
		{"no tenant", "", count("robotmem.memories"), "42704"},
		{"no tenant by the view", "", count("robotmem_tenant.memories"), "42704"},
	} {
		conn := raw(t, url)
		if _, err := conn.Exec(t.Context(), "SET ROLE robotmem_node"); err != nil {
			t.Fatal(err)
		}
		set := "BEGIN; "
		if c.tenant != "" {
			set += "SELECT set_config('robotmem.tenant', '" + c.tenant + "', true); "
		}
		all, err := conn.PgConn().Exec(t.Context(), set+c.sql).ReadAll()
		got := ""
		if told := (*pgconn.PgError)(nil); errors.As(err, &told) {
			got = told.Code
		} else if last := all[len(all)-1]; len(last.Rows) > 0 {
			got = string(last.Rows[0][0])
		}
		if got != c.want {
			t.Errorf("%s: got %q (%v), want %q", c.name, got, err, c.want)
		}
		// The tenant was that of the transaction: the connection has none after it.
		_, err = conn.PgConn().Exec(t.Context(), "ROLLBACK; "+count("robotmem.memories")).ReadAll()
		if told := (*pgconn.PgError)(nil); !errors.As(err, &told) {
			t.Errorf("%s: the memories are read without a tenant after the transaction", c.name)
		}
		_ = conn.Close(t.Context())
	}
	once(t, url, "the door of hall north is open", "the door of hall south is open")
}
