package site

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
)

// openSite connects to a new database with the tenants north and south.
func openSite(t testing.TB, url string) (*Site, *Guard) {
	t.Helper()
	o := Options{Payloads: t.TempDir()}
	o.Location = time.UTC
	o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := Connect(t.Context(), url, o)
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	g := s.Guard()
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return s, g
}

func makeTenants(t testing.TB, s *Site, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := s.CreateTenant(t.Context(), name); err != nil {
			t.Fatal(err, causeOf(err))
		}
	}
}

// asToken returns a context of the holder of a new token.
func asToken(t testing.TB, s *Site, tenant string, spec TokenSpec) context.Context {
	t.Helper()
	secret, err := s.CreateToken(t.Context(), tenant, spec)
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	return asSecret(t, s, secret)
}

func asSecret(t testing.TB, s *Site, secret string) context.Context {
	t.Helper()
	c, ok, err := s.Caller(t.Context(), sha256.Sum256([]byte(secret)))
	if err != nil || !ok {
		t.Fatal("the token is not known", err, causeOf(err))
	}
	c.Tool = robotmem.ToolREST
	return robotmem.WithCaller(t.Context(), c)
}

func robotOf(name string, collections ...string) TokenSpec {
	return TokenSpec{Name: name, Role: robotmem.RoleRobot, Robot: name, Collections: collections}
}

// ask calls an operation as web does and returns its answer as JSON, or its error.
func ask(ctx context.Context, s robotmem.Service, op, request string) (string, error) {
	res, err := robotmem.OpByName(op).Call(ctx, s, json.RawMessage(request))
	if err != nil {
		return "", err
	}
	data, err := robotmem.EncodeJSON(res)
	return string(data), err
}

func mustAsk(t testing.TB, ctx context.Context, s robotmem.Service, op, request string) string {
	t.Helper()
	res, err := ask(ctx, s, op, request)
	if err != nil {
		t.Fatalf("%s %s: %v (%v)", op, request, err, causeOf(err))
	}
	return res
}

func idOf(t testing.TB, answer string) int64 {
	t.Helper()
	var res struct {
		MemoryID int64 `json:"memory_id"`
	}
	if err := json.Unmarshal([]byte(answer), &res); err != nil || res.MemoryID == 0 {
		t.Fatal(answer, err)
	}
	return res.MemoryID
}

func wantKind(t testing.TB, err error, kind robotmem.Kind, field string, texts ...string) {
	t.Helper()
	e := (*robotmem.Error)(nil)
	if !errors.As(err, &e) || e.Kind != kind || e.Field != field || e.Op == "" && field != "name" && field != "tenant" && field != "role" && field != "robot" && field != "collections" {
		t.Errorf("got %#v (%v), want %s of %q", e, err, kind, field)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q does not say %q", err, text)
		}
	}
}

func TestTokens(t *testing.T) {
	s, g := openSite(t, postgrestest.NewURL(t))
	makeTenants(t, s, "north", "south")
	ctx := t.Context()
	secret, err := s.CreateToken(ctx, "north", robotOf("arm-7", "b", "a", "b"))
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	for name, c := range map[string]struct {
		tenant string
		TokenSpec
		kind  robotmem.Kind
		field string
	}{
		"the same name":              {"north", robotOf("arm-7", "a"), robotmem.Conflict, "name"},
		"no tenant":                  {"east", robotOf("arm-8", "a"), robotmem.NotFound, "tenant"},
		"no role":                    {"north", TokenSpec{Name: "x"}, robotmem.Invalid, "role"},
		"a robot without a name":     {"north", TokenSpec{Name: "x", Role: "robot", Collections: []string{"a"}}, robotmem.Invalid, "robot"},
		"a robot of two lines":       {"north", TokenSpec{Name: "x", Role: "robot", Robot: "a\nb", Collections: []string{"a"}}, robotmem.Invalid, "robot"},
		"an operator with a robot":   {"north", TokenSpec{Name: "x", Role: "operator", Robot: "a"}, robotmem.Invalid, "robot"},
		"a robot without collection": {"north", TokenSpec{Name: "x", Role: "robot", Robot: "a"}, robotmem.Invalid, "collections"},
		"an admin of collections":    {"north", TokenSpec{Name: "x", Role: "admin", Collections: []string{"a"}}, robotmem.Invalid, "collections"},
		"a collection with a comma":  {"north", robotOf("x", "a,"), robotmem.Invalid, "collections"},
		"all and one":                {"north", robotOf("x", "a", "*"), robotmem.Invalid, "collections"},
		"a name with a space":        {"north", TokenSpec{Name: "a b", Role: "admin"}, robotmem.Invalid, "name"},
	} {
		if _, err := s.CreateToken(ctx, c.tenant, c.TokenSpec); err == nil {
			t.Errorf("%s: made", name)
		} else {
			wantKind(t, err, c.kind, c.field)
		}
	}
	if _, err := s.CreateToken(ctx, "south", robotOf("arm-7", "a")); err != nil {
		t.Error("the name in another tenant:", err)
	}
	c, ok, err := s.Caller(ctx, sha256.Sum256([]byte(secret)))
	if want := (robotmem.Caller{Who: "arm-7", Tenant: "north", Role: "robot", Robot: "arm-7", Collections: "a,b"}); err != nil || !ok || c != want {
		t.Errorf("got %+v %v %v, want %+v", c, ok, err, want)
	}
	list, err := s.Tokens(ctx, "north")
	if err != nil || len(list) != 1 || list[0].Name != "arm-7" || list[0].LastUsed.IsZero() || fmt.Sprint(list[0].Collections) != "[a b]" {
		t.Errorf("got %+v %v", list, err)
	}
	if strings.Contains(fmt.Sprintf("%+v", list), secret[4:]) {
		t.Error("the list has the secret")
	}
	if err := s.RevokeToken(ctx, "south", "none"); !errors.Is(err, robotmem.NotFound) {
		t.Error(err)
	}
	if err := s.RevokeToken(ctx, "north", "arm-7"); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Caller(ctx, sha256.Sum256([]byte(secret))); ok || err != nil {
		t.Error("the node that revoked it takes it still", err)
	}
	if again, err := s.CreateToken(ctx, "north", robotOf("arm-7", "a")); err != nil || again == secret {
		t.Error("the name of a revoked one:", err)
	}
	if _, err := g.List(ctx, &robotmem.ListRequest{}); err == nil {
		t.Error("a call without a caller was answered")
	} else {
		wantKind(t, err, robotmem.Forbidden, "")
	}
}

// TestRevokedElsewhere revokes a token on one node in the middle of a robot's requests to another.
func TestRevokedElsewhere(t *testing.T) {
	url := postgrestest.NewURL(t)
	here, g := openSite(t, url)
	makeTenants(t, here, "north")
	there, _ := openSite(t, url)
	secret, err := here.CreateToken(t.Context(), "north", robotOf("arm-7", "a"))
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte(secret))
	stored, until, revoked := 0, time.Now().Add(time.Minute), time.Time{}
	for n := 0; ; n++ {
		c, ok, err := here.Caller(t.Context(), hash)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		mustAsk(t, robotmem.WithCaller(t.Context(), c), g, "learn", fmt.Sprintf(`{"insight":"sample %d of the sync","collection":"a"}`, n))
		if stored++; n == 20 {
			revoked = time.Now()
			if err := there.RevokeToken(t.Context(), "north", "arm-7"); err != nil {
				t.Fatal(err)
			}
		}
		if time.Now().After(until) {
			t.Fatal("the token is taken still")
		}
	}
	if took := time.Since(revoked); stored < 21 || took > 2*time.Second {
		t.Errorf("refused after %d requests, %v after it was revoked", stored, took)
	} else {
		t.Logf("refused %v after it was revoked on another node, after %d more requests", took.Round(time.Millisecond), stored-21)
	}
}

// TestTokensBehindTheViews: a statement of a tenant does not see tokens and quotas.
func TestTokensBehindTheViews(t *testing.T) {
	s, _ := openSite(t, postgrestest.NewURL(t))
	makeTenants(t, s, "north")
	_, err := s.server.Pool.Exec(t.Context(), "SELECT sha256 FROM tokens")
	if err == nil || !strings.Contains(err.Error(), "42P01") {
		t.Errorf("got %v, want an unknown table", err)
	}
	var n int
	err = s.server.Pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class v ON v.oid = r.ev_class
		WHERE v.relnamespace = 'robotmem_tenant'::regnamespace AND d.refobjid IN ('robotmem.tokens'::regclass, 'robotmem.tenants'::regclass)`).Scan(&n)
	if err != nil || n != 0 {
		t.Errorf("%d views of a tenant read the tokens or tenants (%v)", n, err)
	}
}

const (
	marker = "xylophonium" // in everything of collection b
	secret = "quillwort"   // in every text of it, and in no request
	// robot and collection of the caller; the other's are b-robot and b
	ownRobot = "a-robot"
)

// crowd is a tenant with a robot of collection a and one of collection b, and the ids of both.
type crowd struct {
	site                 *Site
	guard                *Guard
	a, b, operator       context.Context
	fact, trace          [2]int64 // of a and b
	gone                 [2]int64 // forgotten facts
	session, openSession [2]string
}

func newCrowd(t *testing.T) *crowd {
	s, g := openSite(t, postgrestest.NewURL(t))
	makeTenants(t, s, "north", "south")
	c := &crowd{site: s, guard: g,
		a:        asToken(t, s, "north", robotOf(ownRobot, "a", "a2")),
		b:        asToken(t, s, "north", robotOf("b-robot", "b")),
		operator: asToken(t, s, "north", TokenSpec{Name: "op", Role: robotmem.RoleOperator}),
	}
	for i, at := range []struct {
		ctx               context.Context
		collection, words string
	}{{c.a, "a", "plain"}, {c.b, "b", marker + " " + secret}} {
		start := func(more string) string {
			var res struct {
				SessionID string `json:"session_id"`
			}
			answer := mustAsk(t, at.ctx, g, "start_session", fmt.Sprintf(`{"collection":%q,"context":{"task":{"name":"%s task"}}%s}`, at.collection, strings.Fields(at.words)[0], more))
			if err := json.Unmarshal([]byte(answer), &res); err != nil {
				t.Fatal(err)
			}
			return res.SessionID
		}
		c.session[i], c.openSession[i] = start(""), start(fmt.Sprintf(`,"session_id":"%s-open"`, strings.Fields(at.words)[0]))
		learn := func(text, more string) int64 {
			return idOf(t, mustAsk(t, at.ctx, g, "learn", fmt.Sprintf(`{"insight":"%s %s holds the glass","session_id":%q,"tags":[%q],
				"context":{"task":{"name":"%[4]s task","success":false},"params":{"grip_%[4]s":"%[4]s"},"spatial":{"position":[1,2]}}%[5]s}`, at.words, text, c.session[i], strings.Fields(at.words)[0], more)))
		}
		c.fact[i], c.gone[i] = learn("grip_force 12 N", ""), learn("an old grip of 9 N", "")
		learn("the grip of 4 N failed and never", `,"outcome":"failure"`)
		mustAsk(t, at.ctx, g, "forget", fmt.Sprintf(`{"memory_id":%d,"reason":"%s"}`, c.gone[i], at.words))
		c.trace[i] = idOf(t, mustAsk(t, at.ctx, g, "save_perception", fmt.Sprintf(`{"description":"%[1]s force of the wrist","perception_type":"tactile","media_type":"text/csv",
			"data":"t,%[1]s\n0,1.5\n0.1,9.8\n0.2,3","session_id":%[2]q,"source":%[1]q}`, strings.ReplaceAll(at.words, " ", "-"), c.session[i])))
		mustAsk(t, at.ctx, g, "update", fmt.Sprintf(`{"memory_id":%d,"new_content":"%s grip_force 12.5 N holds the glass"}`, c.fact[i], at.words))
		mustAsk(t, at.ctx, g, "end_session", fmt.Sprintf(`{"session_id":%q,"outcome":"failure","used_memory_ids":[%d]}`, c.session[i], c.fact[i]))
	}
	// An operator's recall for the open episode of a found the memory of b.
	mustAsk(t, c.operator, g, "recall", fmt.Sprintf(`{"query":"%s grip force","collection":"*","for_session":%q}`, marker, c.openSession[0]))
	return c
}

// reach are requests of each operation, with which the robot of collection a tries to reach what is
// in b. %[1]d is the fact of b, %[2]d its perception, %[3]q its episode, %[4]d its forgotten fact,
// %[5]q its open episode, %[6]q the open episode of a, %[7]d the fact of a. A request that begins
// with = is the robot's right and is answered; + says that an operator's answer has the marker, which
// proves that the search for it finds something. All others are refused.
var reach = map[string][]string{
	"learn":       {`={"insight":"a new fact of the glass","collection":"a"}`, `{"insight":"x y z","collection":"a","supersedes":%[1]d}`, `{"insight":"x y z","collection":"b"}`, `{"insight":"x y z"}`, `{"insight":"x y z","session_id":%[5]q}`, `{"insight":"x y z","session_id":%[5]q,"collection":"a"}`, `{"insight":"x y z","collection":"a","context":{"robot":"b-robot"}}`, `{"insight":"x y z","collection":"a","context":{"robot":{"id":"b-robot"}}}`, `{"insight":"x y z","collection":"a","context":{"robot":["b-robot"]}}`},
	"learn_batch": {`={"items":[{"insight":"one more of the glass","collection":"a"},{"insight":"","collection":"a"}]}`, `{"items":[{"insight":"x y z","collection":"a"},{"insight":"x y z","collection":"b"}]}`, `{"items":[{"insight":"x y z","session_id":%[5]q}]}`, `{"items":[{"insight":"x y z","collection":"a","context":{"robot":{"name":"b-robot"}}}]}`},
	"recall": {`=+{"query":"xylophonium grip force","collection":"*"}`, `={"query":"xylophonium","collection":"a"}`, `={"query":"xylophonium","collection":"a,a2"}`, `{"query":"xylophonium","collection":"a,b"}`, `{"query":"xylophonium","collection":"b"}`, `{"query":"xylophonium"}`, `+{"session_id":%[3]q,"n":50}`,
		`=+{"context_filter":{"params.grip_xylophonium":{"$exists":true}},"collection":"*"}`, `=+{"query":"grip","collection":"*","spatial_sort":{"field":"spatial.position","target":[1,2]}}`, `=+{"query":"glass","collection":"*","explain":true,"n":100,"context_window":3}`,
		`{"like":{"memory_id":%[2]d},"collection":"a"}`, `{"query":"glass","collection":"a","for_session":%[5]q}`, `=+{"query":"xylophonium failed","as_of":"2200-01-01T00:00:00Z","collection":"*"}`, `=+{"tags":["xylophonium"],"collection":"*"}`, `=+{"query":"xylo","as_you_type":true,"collection":"*"}`,
		`={"query":"nothing","context_filter":{"params.grip_xylophonium":1},"category":"none","collection":"a2"}`},
	"search":           {`=+{"q":"xylophonium"}`, `=+{"q":"xylophonium","collection":"*"}`, `{"q":"xylophonium","collection":"b"}`, `{"q":"x","collection":"a2,b"}`},
	"advise":           {`=+{"query":"xylophonium glass","collection":"*"}`, `{"query":"glass","collection":"b"}`, `{"query":"glass"}`},
	"aggregate":        {`=+{"group_by":["task.name"],"collection":"*"}`, `{"group_by":["task.name"],"collection":"b"}`, `{"group_by":["task.name"]}`},
	"about":            {`=+{"subject":"xylophonium"}`, `=+{}`, `{"subject":"xylophonium","collection":"b"}`},
	"attempt":          {`={"goal":"lift the cup","changed":"9 N","outcome":"failure","collection":"a"}`, `{"goal":"lift the cup","collection":"b"}`, `{"goal":"lift the cup"}`, `{"goal":"lift the cup","collection":"a","context":{"robot":{"id":"b-robot"}}}`},
	"save_document":    {`={"name":"m.pdf","sha256":"%064[1]d","passages":[{"text":"the arm of a"}],"collection":"a"}`, `{"name":"m.pdf","sha256":"%064[1]d","passages":[{"text":"x"}],"collection":"b"}`, `{"name":"m.pdf","sha256":"%064[1]d","passages":[{"text":"x"}]}`, `{"name":"n.pdf","sha256":"%064[1]d","passages":[{"text":"x"}],"collection":"a","context":{"robot":"b-robot"}}`},
	"documents":        {`={}`, `{"collection":"b"}`},
	"remove_document":  {`{"name":"m.pdf","collection":"b"}`, `{"name":"m.pdf"}`},
	"save_perception":  {`={"description":"a force of a","data":"t,f\n0,1","collection":"a"}`, `{"description":"a force of a","data":"t,f\n0,1","collection":"b"}`, `{"description":"a force of a","data":"t,f\n0,1"}`, `{"description":"a force of a","data":"t,f\n0,1","session_id":%[5]q}`, `{"description":"a force of a","data":"t","collection":"a","context":{"robot":"b-robot"}}`, `{"description":"a file","path":"/etc/passwd","collection":"a"}`},
	"forget":           {`{"memory_id":%[1]d,"reason":"x"}`, `{"memory_id":%[1]d,"reason":"x","purge":true}`},
	"restore":          {`{"memory_id":%[4]d}`},
	"update":           {`{"memory_id":%[1]d,"new_content":"mine"}`, `{"memory_id":%[7]d,"new_content":"mine","context":{"robot":"b-robot"}}`},
	"pin":              {`{"memory_id":%[1]d}`},
	"start_session":    {`={"collection":"a","context":{"task":{"name":"plain task"}}}`, `{"collection":"b"}`, `{}`, `{"session_id":%[5]q,"collection":"a"}`, `{"session_id":%[5]q}`, `{"collection":"a","context":{"robot":{"id":"b-robot"}}}`},
	"end_session":      {`{"session_id":%[5]q}`, `{"session_id":%[6]q,"used_memory_ids":[%[1]d]}`, `{"session_id":%[6]q,"memory_scores":{"%[1]d":"misled"}}`, `={"session_id":%[6]q,"outcome":"success"}`},
	"get":              {`+{"memory_id":%[1]d}`},
	"timeline":         {`+{"memory_id":%[1]d}`},
	"data":             {`{"memory_id":%[2]d}`},
	"preview":          {`{"memory_id":%[2]d}`},
	"samples":          {`+{"memory_id":%[2]d}`},
	"history":          {`+{"memory_id":%[1]d}`},
	"list":             {`=+{}`, `=+{"collection":"*","status":"all"}`, `{"collection":"b"}`, `+{"session_id":%[3]q}`, `=+{"tags":["xylophonium"]}`},
	"sessions":         {`=+{}`, `=+{"words":"xylophonium"}`, `=+{"task":"xylophonium task"}`, `=+{"robot":"b-robot"}`, `=+{"sort":"task","outcome":"failure"}`, `{"collection":"b"}`},
	"session":          {`+{"session_id":%[3]q}`, `=+{"session_id":%[6]q}`},
	"session_memories": {`+{"session_id":%[3]q}`},
	"collections":      {`={}`},
	"categories":       {`={}`, `{"collection":"b"}`},
	"paths":            {`=+{}`, `={"path":"params.grip_xylophonium"}`, `{"collection":"b"}`},
	"places":           {`=+{"field":"spatial.position"}`, `{"collection":"b"}`, `+{"field":"spatial.position","session_id":%[3]q}`},
	"recent_failures":  {`=+{}`, `{"collection":"b"}`},
	"incidents":        {`=+{}`, `{"collection":"b"}`, `+{"session_id":%[3]q}`, `=+{"robot":"b-robot"}`},
	"stats":            {`={}`},
	"activity":         {`={}`, `{"collection":"b"}`},
	"changes":          {`={}`},
	"doctor":           {`{}`, `{"deep":true}`},
	"retain":           {`{}`, `{"budgets":[{"collection":"b","max_bytes":1}],"apply":true}`},
	"audit":            {`=+{}`, `{"collection":"b"}`, `={"memory_id":%[1]d}`, `=+{"who":"b-robot"}`},
	"repair":           {`{}`},
}

// TestRobotSeesItsCollectionsAlone goes over all operations.
func TestRobotSeesItsCollectionsAlone(t *testing.T) {
	c := newCrowd(t)
	for _, op := range robotmem.Ops() {
		if len(reach[op.Name]) == 0 {
			t.Errorf("%s: no request of it is in the table", op.Name)
		}
	}
	secrets := []string{secret, marker, "b-robot", fmt.Sprintf(`"memory_id":%d,`, c.fact[1]), fmt.Sprintf(`"memory_id":%d,`, c.trace[1]), `"collection":"b"`, c.session[1]}
	for name := range reach {
		if robotmem.OpByName(name) == nil {
			t.Errorf("there is no operation %s", name)
		}
	}
	for _, op := range robotmem.Ops() {
		name := op.Name
		for _, request := range reach[name] {
			right, found := strings.HasPrefix(request, "="), strings.Contains(request[:2], "+")
			request = fmt.Sprintf(strings.TrimLeft(request, "=+")+"%[8]s", c.fact[1], c.trace[1], c.session[1], c.gone[1], c.openSession[1], c.openSession[0], c.fact[0], "")
			if found {
				if answer, err := ask(c.operator, c.guard, name, request); err != nil || !strings.Contains(answer, marker) && !strings.Contains(answer, "b-robot") {
					t.Errorf("%s %s: the operator's answer has no marker: %s %v", name, request, answer, err)
				}
			}
			answer, err := ask(c.a, c.guard, name, request)
			switch {
			case right && err != nil:
				t.Errorf("%s %s: %v (%v)", name, request, err, causeOf(err))
			case !right && err == nil:
				t.Errorf("%s %s: answered %s", name, request, answer)
			case !right && !errors.Is(err, robotmem.Forbidden) && !errors.Is(err, robotmem.NotFound):
				t.Errorf("%s %s: %v", name, request, err)
			}
			if err != nil {
				answer += err.Error()
			}
			for _, secret := range secrets {
				if !strings.Contains(request, secret) && strings.Contains(answer, secret) {
					t.Errorf("%s %s: the answer holds %s of the other collection: %s", name, request, secret, answer)
				}
			}
		}
	}
	// The robot of b finds everything of its own unchanged.
	for _, id := range []int64{c.fact[1], c.trace[1], c.gone[1]} {
		m, err := c.guard.Get(c.b, &robotmem.MemoryRequest{MemoryID: id})
		if err != nil || id == c.fact[1] && (m.Version != 2 || m.Pinned || m.Status != "active") || id == c.gone[1] && m.Status != "invalidated" {
			t.Errorf("memory %d: %+v %v", id, m, err)
		}
	}
	if s, err := c.guard.Session(c.b, &robotmem.SessionRequest{SessionID: c.openSession[1]}); err != nil || s.Status != "active" || s.MemoryCount != 0 {
		t.Errorf("%+v %v", s, err)
	}
}

// TestStreamsRespectCollections: the operations over streams, which are not in the table.
func TestStreamsRespectCollections(t *testing.T) {
	c := newCrowd(t)
	_, err := c.guard.OpenData(c.a, &robotmem.MemoryRequest{MemoryID: c.trace[1]})
	wantKind(t, err, robotmem.NotFound, "memory_id")
	_, err = c.guard.SavePerceptionFrom(c.a, &robotmem.SavePerceptionRequest{Description: "a force of a", Collection: "b"}, strings.NewReader("x"))
	wantKind(t, err, robotmem.Forbidden, "collection", "a, a2", ownRobot)
	d, err := c.guard.OpenData(c.a, &robotmem.MemoryRequest{MemoryID: c.trace[0]})
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(d)
	if err != nil || !strings.HasPrefix(string(data), "t,plain\n") {
		t.Errorf("got %q %v", data, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestTenantsApart: no role of one tenant reaches another.
func TestTenantsApart(t *testing.T) {
	c := newCrowd(t)
	for _, spec := range []TokenSpec{{Name: "root", Role: robotmem.RoleAdmin}, robotOf("b-robot", "*")} {
		ctx := asToken(t, c.site, "south", spec)
		for _, op := range robotmem.Ops() {
			name := op.Name
			for _, request := range reach[name] {
				request = fmt.Sprintf(strings.TrimLeft(request, "=+")+"%[8]s", c.fact[1], c.trace[1], c.session[1], c.gone[1], c.openSession[1], c.openSession[0], c.fact[0], "")
				answer, err := ask(ctx, c.guard, name, request)
				if err != nil {
					answer = err.Error()
				}
				if strings.Contains(answer, secret) || strings.Contains(answer, ownRobot) || strings.Contains(answer, marker+" task") && !strings.Contains(request, marker) {
					t.Errorf("%s %s: %s", name, request, answer)
				}
			}
		}
	}
	_, err := c.guard.List(robotmem.WithCaller(t.Context(), robotmem.Caller{Tenant: "none", Role: robotmem.RoleAdmin}), &robotmem.ListRequest{})
	wantKind(t, err, robotmem.Forbidden, "tenant")
	if list, err := c.site.Tenants(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("a call for a tenant made it: %+v %v", list, err)
	}
}

func TestRobotWritesAsItself(t *testing.T) {
	c := newCrowd(t)
	twin := asToken(t, c.site, "north", robotOf("twin", "a"))
	for name, context := range map[string]string{"none": `{}`, "without robot": `{"env":{"x":1}}`, "own id": `{"robot":{"id":"twin","model":"ur5"}}`, "model alone": `{"robot":{"model":"ur5"}}`, "own name": `{"robot":"twin"}`} {
		id := idOf(t, mustAsk(t, twin, c.guard, "learn", fmt.Sprintf(`{"insight":"fact of %s","collection":"a","context":%s}`, name, context)))
		m, err := c.guard.Get(c.a, &robotmem.MemoryRequest{MemoryID: id})
		if err != nil || m.Provenance == nil || m.Provenance.Robot != "twin" || m.Provenance.Who != "twin" {
			t.Errorf("%s: %+v %v", name, m.Provenance, err)
		}
		// Another robot of the collection reads it, and changes nothing of it.
		for _, request := range [][2]string{{"forget", `{"memory_id":%d,"reason":"x"}`}, {"update", `{"memory_id":%d,"new_content":"x y z"}`}, {"pin", `{"memory_id":%d}`}, {"restore", `{"memory_id":%d}`}} {
			_, err := ask(c.a, c.guard, request[0], fmt.Sprintf(request[1], id))
			wantKind(t, err, robotmem.Forbidden, "memory_id", "of the robot "+ownRobot)
		}
		if name == "none" {
			mustAsk(t, twin, c.guard, "forget", fmt.Sprintf(`{"memory_id":%d,"reason":"x"}`, id))
		}
	}
	_, err := ask(twin, c.guard, "learn", fmt.Sprintf(`{"insight":"x y z","session_id":%q}`, c.openSession[0]))
	wantKind(t, err, robotmem.Forbidden, "session_id")
	mustAsk(t, c.a, c.guard, "start_session", `{"collection":"a","origin":"run-1"}`)
	if again := mustAsk(t, c.a, c.guard, "start_session", `{"collection":"a","origin":"run-1"}`); !strings.Contains(again, "continued") {
		t.Error(again)
	}
	_, err = ask(twin, c.guard, "start_session", `{"collection":"a","origin":"run-1"}`)
	wantKind(t, err, robotmem.Forbidden, "origin")
	_, err = ask(twin, c.guard, "recall", `{"query":"glass"}`)
	wantKind(t, err, robotmem.Forbidden, "collection", `"default"`, "in a")
}

// TestIdleTenants closes the memory of a tenant while it is asked.
func TestIdleTenants(t *testing.T) {
	s, g := openSite(t, postgrestest.NewURL(t))
	makeTenants(t, s, "north")
	g.nodes.idle = time.Microsecond
	ctx := asToken(t, s, "north", robotOf("arm-7", "a"))
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for n := range 5 {
				if _, err := ask(ctx, g, "learn", fmt.Sprintf(`{"insight":"fact %d of writer %d","collection":"a"}`, n, w)); err != nil {
					t.Error(err, causeOf(err))
				}
				if w == 0 { // so that there is a time without a call
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	group.Wait()
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		g.nodes.mu.Lock()
		open := len(g.nodes.open)
		g.nodes.mu.Unlock()
		if open == 0 {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the memory stays open")
		}
	}
	if list, err := g.List(ctx, &robotmem.ListRequest{}); err != nil || list.Total != 20 {
		t.Errorf("got %+v %v", list, err)
	}
}

func TestReaderAndOperator(t *testing.T) {
	c := newCrowd(t)
	reader := asToken(t, c.site, "north", TokenSpec{Name: "r", Role: robotmem.RoleReader, Collections: []string{"a"}})
	_, err := ask(reader, c.guard, "learn", `{"insight":"x y z","collection":"a"}`)
	wantKind(t, err, robotmem.Forbidden, "")
	if _, err := c.guard.Learn(reader, &robotmem.LearnRequest{Insight: "x y z", Collection: "a"}); !errors.Is(err, robotmem.Forbidden) {
		t.Error(err)
	}
	if got := mustAsk(t, reader, c.guard, "search", `{"q":"xylophonium grip"}`); strings.Contains(got, secret) || !strings.Contains(got, "plain grip") {
		t.Error(got)
	}
	for _, request := range [][2]string{{"learn", `{"insight":"an operator's fact"}`}, {"doctor", `{}`}, {"repair", `{}`}, {"forget", fmt.Sprintf(`{"memory_id":%d,"reason":"x"}`, c.fact[1])}, {"recall", `{"query":"grip"}`}} {
		mustAsk(t, c.operator, c.guard, request[0], request[1])
	}
	stats, err := c.guard.Stats(c.a, &admin.StatsRequest{})
	if err != nil || stats.Total != 3 || stats.Collections != 1 || stats.Sessions != 2 || stats.ByStatus["invalidated"] != 1 || stats.ByType["perception"] != 1 || stats.LastDay != 4 {
		t.Errorf("got %+v %v", stats, err)
	}
	// Counts have no texts: the robot of a has 3 active memories and 4 in all.
	sum := int64(0)
	categories, err := c.guard.Categories(c.a, &admin.CategoriesRequest{})
	for _, category := range categories.Categories {
		sum += category.Count
	}
	if err != nil || sum != 3 {
		t.Errorf("got %+v %v", categories, err)
	}
	facts, recalls := int64(0), int64(0)
	activity, err := c.guard.Activity(c.a, &admin.ActivityRequest{})
	for _, day := range activity.Buckets {
		facts, recalls = facts+day.Facts, recalls+day.Recalls
	}
	if err != nil || facts != 3 || recalls != 1 { // the recall of the reader
		t.Errorf("got %d facts and %d recalls of %+v %v", facts, recalls, activity, err)
	}
	if got := mustAsk(t, c.a, c.guard, "aggregate", `{"group_by":["collection"],"collection":"*"}`); strings.Contains(got, `"b"`) {
		t.Error(got)
	}
}

// A document belongs to the robot that saved it: another one of the collection reads it, and neither replaces nor removes it.
func TestDocumentsOfRobots(t *testing.T) {
	t.Parallel()
	s, g := openSite(t, postgrestest.NewURL(t))
	makeTenants(t, s, "north")
	owner, other := asToken(t, s, "north", robotOf("arm-1", "cells")), asToken(t, s, "north", robotOf("arm-2", "cells"))
	operator := asToken(t, s, "north", TokenSpec{Name: "op", Role: robotmem.RoleOperator})
	save := func(name string, n int) string {
		return fmt.Sprintf(`{"name":%q,"sha256":"%064d","passages":[{"text":"the arm lifts %d kg"}],"collection":"cells"}`, name, n, n)
	}
	mustAsk(t, owner, g, "save_document", save("arm.pdf", 1))
	mustAsk(t, operator, g, "save_document", save("hall.pdf", 2))
	for _, request := range [][2]string{
		{"save_document", save("arm.pdf", 3)}, {"remove_document", `{"name":"arm.pdf","collection":"cells"}`},
		{"save_document", save("hall.pdf", 3)}, {"remove_document", `{"name":"hall.pdf","collection":"cells"}`},
	} {
		_, err := ask(other, g, request[0], request[1])
		wantKind(t, err, robotmem.Forbidden, "name", "is not of this robot")
	}
	if got := mustAsk(t, other, g, "recall", `{"query":"what does the arm lift","collection":"cells"}`); !strings.Contains(got, "lifts 1 kg") {
		t.Error(got)
	}
	mustAsk(t, owner, g, "save_document", save("arm.pdf", 4))
	mustAsk(t, owner, g, "remove_document", `{"name":"arm.pdf","collection":"cells"}`)
	mustAsk(t, operator, g, "save_document", save("hall.pdf", 5))
}

func TestQuotas(t *testing.T) {
	s, g := openSite(t, postgrestest.NewURL(t))
	makeTenants(t, s, "north", "south")
	ctx, other := asToken(t, s, "north", robotOf("arm-7", "a")), asToken(t, s, "south", robotOf("arm-7", "a"))
	three, hundred, many := int64(3), int64(100), 7.5
	limited, err := s.Limit(t.Context(), "north", Limits{Memories: &three, PayloadBytes: &hundred, RequestsPerSecond: &many})
	if err != nil || *limited.Memories != 3 {
		t.Fatal(err, causeOf(err))
	}
	save := func(n int, data string) error {
		_, err := ask(ctx, g, "save_perception", fmt.Sprintf(`{"description":"payload %d","collection":"a","data":%q}`, n, data))
		return err
	}
	if err := save(0, strings.Repeat("x", 60)); err != nil {
		t.Fatal(err, causeOf(err))
	}
	wantKind(t, save(1, strings.Repeat("y", 41)), robotmem.TooLarge, "", "max_payload_bytes", "north")
	_, err = g.SavePerceptionFrom(ctx, &robotmem.SavePerceptionRequest{Description: "a stream", Collection: "a"}, strings.NewReader(strings.Repeat("z", 41)))
	wantKind(t, err, robotmem.TooLarge, "", "max_payload_bytes", "100")
	_, err = ask(ctx, g, "learn_batch", `{"items":[{"insight":"one a","collection":"a"},{"insight":"two b","collection":"a"},{"insight":"three c","collection":"a"}]}`)
	wantKind(t, err, robotmem.TooLarge, "", "max_memories", "3")
	_, err = ask(ctx, g, "save_document", fmt.Sprintf(`{"name":"m.pdf","sha256":"%064d","passages":[{"text":"one a"},{"text":"two b"},{"text":"three c"}],"collection":"a"}`, 1))
	wantKind(t, err, robotmem.TooLarge, "", "max_memories", "3")
	// Writers at the same time do not exceed it together.
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() { _, _ = ask(ctx, g, "learn", fmt.Sprintf(`{"insight":"fact number %d","collection":"a"}`, n)) })
	}
	group.Wait()
	for err = nil; err == nil; {
		_, err = ask(ctx, g, "learn", fmt.Sprintf(`{"insight":"to the end %s","collection":"a"}`, time.Now()))
	}
	all, err := g.List(ctx, &robotmem.ListRequest{Status: "all"})
	if err != nil || all.Total > 3 {
		t.Errorf("%d memories with a quota of 3 (%v)", all.Total, err)
	}
	// A robot that syncs sends nothing more, but is answered what others have learnt.
	room := func(memories, bytes int64) error {
		_, leave, err := g.Robots(ctx, memories, bytes)
		if err == nil {
			leave()
		}
		return err
	}
	if err := room(1, 0); !errors.Is(err, robotmem.TooLarge) || !strings.Contains(err.Error(), "max_memories") {
		t.Error(err)
	}
	if err := room(0, 41); !errors.Is(err, robotmem.TooLarge) || !strings.Contains(err.Error(), "max_payload_bytes") {
		t.Error(err)
	}
	two := int64(2)
	if _, err := s.Limit(t.Context(), "north", Limits{Memories: &two}); err != nil {
		t.Fatal(err)
	}
	if err := room(0, 0); err != nil { // it has more than it may have by now
		t.Error(err)
	}
	for range 5 {
		mustAsk(t, other, g, "learn", fmt.Sprintf(`{"insight":"of the other tenant %s","collection":"a"}`, time.Now()))
	}
	if rate, err := s.Rate(t.Context(), "north"); err != nil || rate != 7.5 {
		t.Error(rate, err)
	}
	// Without the limit, which another node takes away, there is room again within two seconds.
	more := int64(-1)
	if _, err := s.Limit(t.Context(), "north", Limits{Memories: &more}); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, ctx, g, "learn", `{"insight":"room again","collection":"a"}`)
	list, err := s.Tenants(t.Context())
	if err != nil || len(list) != 2 || list[0].Memories != nil || *list[0].PayloadBytes != 100 || list[1].PayloadBytes != nil {
		t.Errorf("got %+v %v", list, err)
	}
	if _, err := s.Limit(t.Context(), "none", Limits{}); !errors.Is(err, robotmem.NotFound) {
		t.Error(err)
	}
	none := 0.0
	if _, err := s.Limit(t.Context(), "north", Limits{RequestsPerSecond: &none}); !errors.Is(err, robotmem.Invalid) {
		t.Error(err)
	}
}
