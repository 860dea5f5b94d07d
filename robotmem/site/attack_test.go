package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/mcp"
	"github.com/robotmem/robotmem-go/web"
)

// underAttack is a site with a crowd, over HTTP, and somebody who sends it what the program would not.
type underAttack struct {
	*crowd
	url      string
	replicas map[string]string // by robot, of the attacker
	counter  int64
}

func newAttack(t *testing.T) *underAttack {
	t.Helper()
	c := newCrowd(t)
	srv := httptest.NewServer(web.NewServer(c.guard, web.Options{
		Lookup: c.site.Caller, TenantRate: c.site.Rate, MCP: mcp.NewServer(c.guard, mcp.Options{}).Handler(),
		Fleet: Handler(c.guard.Robots),
	}).Handler)
	t.Cleanup(srv.Close)

	return &underAttack{crowd: c, url: srv.URL, replicas: map[string]string{}}
}

// token makes a token and returns its secret.
func (u *underAttack) token(t *testing.T, tenant string, spec TokenSpec) string {
	t.Helper()
	secret, err := u.site.CreateToken(t.Context(), tenant, spec)
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	return secret
}

// replica returns the id of the memory with which a robot sends.
func (u *underAttack) replica(robot string) string {
	if u.replicas[robot] == "" {
		u.replicas[robot] = uuid.NewString()
	}
	return u.replicas[robot]
}

// told returns a fact that a robot may send.
func (u *underAttack) told(collection, text string) fleet.NumberedMemory {
	u.counter++
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z")
	return fleet.NumberedMemory{Counter: u.counter, Memory: archive.Memory{
		UID: uuid.Must(uuid.NewV7()).String(), Type: "fact", Collection: collection, Content: text, Summary: text,
		Category: "observation", Confidence: 0.8, DecayRate: 0.01, Status: "active", Sightings: 1, Version: 1,
		ValidFrom: now, ObservedAt: now, CreatedAt: now, UpdatedAt: now,
	}}
}

// trace returns a perception that a robot may send, whose bytes have that SHA-256.
func (u *underAttack) sensed(collection, text, sum string, size int) fleet.NumberedMemory {
	m := u.told(collection, text)
	m.Type, m.PerceptionType, m.MediaType = "perception", "tactile", "text/csv"
	m.Payload = &archive.Payload{SHA256: sum, Bytes: int64(size)}
	return m
}

func sumOf(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

// push returns a push of a robot.
func (u *underAttack) push(robot string, memories ...fleet.NumberedMemory) *fleet.PushRequest {
	u.counter++
	return &fleet.PushRequest{
		Protocol: fleet.Protocol, Replica: u.replica(robot), Robot: robot, Upto: u.counter, Memories: memories,
	}
}

// post sends a request of the protocol.
func (u *underAttack) post(t *testing.T, secret, call string, body any) (status int, answer string) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return u.postBytes(t, secret, call, data, "")
}

func (u *underAttack) postBytes(t *testing.T, secret, call string, data []byte, encoding string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", u.url+"/api/fleet/"+call, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if encoding != "" {
		r.Header.Set("Content-Encoding", encoding)
	}
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// payload sends the bytes of the memory of a push.
func (u *underAttack) payload(t *testing.T, secret string, p *fleet.PushRequest, data string) (status int, answer string) {
	t.Helper()
	head, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return u.postBytes(t, secret, "payload", slices.Concat(head, []byte("\n"), []byte(data)), "")
}

// bytesOf returns the payload of a memory over REST.
func (u *underAttack) bytesOf(t *testing.T, secret, id string) (status int, data string) {
	t.Helper()
	return u.read(t, secret, "/api/memory/"+id+"/data")
}

func (u *underAttack) read(t *testing.T, secret, path string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", u.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rows are the rows of all tables of a site, by table, as JSON.
type rows map[string]map[string]int

// rows reads all rows, but those that say that a token was used or that the attacker has called: of tokens, of commits,
// of its replicas, and their cursors.
func (u *underAttack) rows(t *testing.T) rows {
	t.Helper()
	conn, err := u.site.server.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// It must not go back: it has the rights of the test.
	own := conn.Hijack()
	defer func() { _ = own.Close(context.WithoutCancel(t.Context())) }()
	if _, err := own.Exec(t.Context(), "RESET ROLE"); err != nil {
		t.Fatal(err)
	}

	tables := collect(t, own, `SELECT relname FROM pg_class c WHERE relnamespace = 'robotmem'::regnamespace
		AND relkind IN ('r', 'p') AND NOT relispartition AND relname NOT IN ('tokens', 'commits')`)
	out := rows{}
	for _, table := range tables {
		out[table] = map[string]int{}
		for _, row := range collect(t, own, "SELECT to_jsonb(r)::text FROM robotmem."+pgx.Identifier{table}.Sanitize()+" r") {
			if !u.mine(table, row) {
				out[table][row]++
			}
		}
	}

	return out
}

// mine reports whether a row only says that the attacker has called.
func (u *underAttack) mine(table, row string) bool {
	if table != "replicas" && table != "feed_cursors" {
		return false
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(u.replicas)), func(r string) bool { return strings.Contains(row, r) })
}

func collect(t *testing.T, c *pgx.Conn, query string) []string {
	t.Helper()
	found, err := c.Query(t.Context(), query)
	if err != nil {
		t.Fatal(query, err)
	}
	list, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		t.Fatal(query, err)
	}
	return list
}

// settled reads all rows once the work in the background has ended.
func (u *underAttack) settled(t *testing.T) rows {
	t.Helper()
	last := u.rows(t)
	for range 300 {
		time.Sleep(30 * time.Millisecond)
		next := u.rows(t)
		// The recall of the crowd is counted later than it is answered.
		if len(next["recall_hours"]) > 0 && len(next.differs(last)) == 0 {
			return next
		}
		last = next
	}
	t.Fatal("the site does not come to rest")

	return nil
}

// differs returns the rows that were added and taken away, shortened.
func (r rows) differs(before rows) (list []string) {
	for _, table := range slices.Sorted(maps.Keys(r)) {
		for row, n := range r[table] {
			if before[table][row] != n {
				list = append(list, fmt.Sprintf("+ %s %.400s", table, row))
			}
		}
		for row, n := range before[table] {
			if r[table][row] != n {
				list = append(list, fmt.Sprintf("- %s %.400s", table, row))
			}
		}
	}
	return list
}

// unchanged fails if rows differ from those before.
func (u *underAttack) unchanged(t *testing.T, before rows) rows {
	t.Helper()
	now := u.rows(t)
	if diff := now.differs(before); len(diff) > 0 {
		t.Errorf("it had an effect:\n%s", strings.Join(diff, "\n"))
	}
	return now
}
