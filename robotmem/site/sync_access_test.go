package site

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
)

// others is what a robot may not change: memories and episodes of its own collection and of others, by uid.
type others struct {
	mate     string // a fact of the robot c-robot, which has collection a too
	mateSent string // a fact that c-robot has sent
	far      string // a fact of b-robot in collection b
	farSent  string
	south    string // of another tenant
	own      string // a fact that the attacker has sent

	mateSession, freeSession, southSession string // freeSession is an operator's, in a
	farReplica                             string
	started                                string
}

// populate stores what others have.
func (u *underAttack) populate(t *testing.T) *others {
	t.Helper()
	o := &others{mateSession: "run-of-mate", freeSession: "run-of-nobody", southSession: "run-of-south"}
	o.started = time.Now().UTC().Add(-time.Hour).Format(time.RFC3339Nano)
	mate, southerner := robotOf("c-robot", "a"), robotOf("s-robot", "a")
	as, south := asToken(t, u.site, "north", mate), asToken(t, u.site, "south", southerner)

	uid := func(answer string) string {
		var res struct {
			UID string `json:"uid"`
		}
		if err := json.Unmarshal([]byte(answer), &res); err != nil || res.UID == "" {
			t.Fatal(answer, err)
		}
		return res.UID
	}
	o.mate = uid(mustAsk(t, as, u.guard, "learn", `{"insight":"the mate lifts 3 kg","collection":"a"}`))
	mustAsk(t, as, u.guard, "save_document", fmt.Sprintf(`{"name":"mate.pdf","sha256":"%064d","passages":[{"text":"the mate is painted red"}],"collection":"a"}`, 7))
	mustAsk(t, as, u.guard, "start_session", `{"collection":"a","session_id":"run-of-mate"}`)
	mustAsk(t, u.operator, u.guard, "start_session", `{"collection":"a","session_id":"run-of-nobody"}`)
	mustAsk(t, south, u.guard, "start_session", `{"collection":"a","session_id":"run-of-south"}`)
	o.south = uid(mustAsk(t, south, u.guard, "learn", `{"insight":"the south lifts 4 kg","collection":"a"}`))
	o.far = uid(mustAsk(t, u.b, u.guard, "get", fmt.Sprintf(`{"memory_id":%d}`, u.fact[1])))

	sent := func(name string, spec TokenSpec, collection string) string {
		m := u.underFact(collection, name+" has sent this "+secret)
		spec.Name += "-sync"
		if status, answer := u.post(t, u.token(t, "north", spec), "push", u.push(spec.Robot, m)); status != 200 || strings.Contains(answer, "refused\":[") {
			t.Fatal(status, answer)
		}
		return m.UID
	}
	o.mateSent, o.farSent, o.own = sent("the mate", mate, "a"), sent("the far robot", robotOf("b-robot", "b"), "b"), sent("the thief", robotOf(ownRobot, "a", "a2"), "a")
	o.farReplica = u.replicas["b-robot"]
	// The rows of their replicas must not change either.
	delete(u.replicas, "b-robot")
	delete(u.replicas, "c-robot")

	return o
}

// underFact is a fact whose times are in the past, so that a later state of it is newer.
func (u *underAttack) underFact(collection, text string) fleet.NumberedMemory {
	m := u.told(collection, text)
	at := time.Now().UTC().Add(-time.Hour).Format("2006-01-02T15:04:05.000000000Z")
	m.ValidFrom, m.ObservedAt, m.CreatedAt, m.UpdatedAt = at, at, at, at
	return m
}

// episode is one that a robot may send.
func (u *underAttack) episode(id, collection, context string) archive.Session {
	now := time.Now().UTC().Format(time.RFC3339Nano)
	return archive.Session{
		SessionID: id, Collection: collection, Context: json.RawMessage(context), Status: "ended", Count: 1,
		CreatedAt: now, UpdatedAt: now, EndedAt: now, Outcomes: []archive.Outcome{{Score: 1, CreatedAt: now}},
	}
}

// The answers to a cell.
const (
	isRefused = "refused"   // 200, and the answer names what is refused; without effect
	ignored   = "ignored"   // 200, without effect
	stored    = "stored"    // 200, with an effect in the tenant alone
	forbidden = "forbidden" // 403, without effect
	absent    = "not found" // 404, without effect
	invalid   = "invalid"   // 400, without effect
)

// syncCell is something that a request of the protocol can name. want is what a token of the robot a-robot is
// answered.
type syncCell struct {
	name, call string
	body       func() any
	data       string // behind the line of a payload
	want       string
}

// cells returns the table.
func (u *underAttack) cells(o *others) []syncCell {
	push := func(name, want string, change func(*fleet.PushRequest)) syncCell {
		return syncCell{name: name, call: "push", want: want, body: func() any {
			p := u.push(ownRobot)
			change(p)
			return p
		}}
	}
	memory := func(name, want string, change func(*fleet.NumberedMemory)) syncCell {
		return push(name, want, func(p *fleet.PushRequest) {
			p.Memories = []fleet.NumberedMemory{u.told("a", "what the thief says "+uuid.NewString())}
			change(&p.Memories[0])
		})
	}
	link := func(name, want string, l archive.Link) syncCell {
		return push(name, want, func(p *fleet.PushRequest) { p.Links = []archive.Link{l} })
	}
	session := func(name, want, id, collection, context string) syncCell {
		return push(name, want, func(p *fleet.PushRequest) { p.Sessions = []archive.Session{u.episode(id, collection, context)} })
	}
	past := []archive.Version{{
		Version: 1, ValidFrom: o.started, ValidTo: o.started, Content: "it was otherwise", Summary: "it was otherwise",
		Category: "observation", Confidence: 1, Status: "active", Change: "updated",
	}}
	credit := func(name, want, uid, session string) syncCell {
		return push(name, want, func(p *fleet.PushRequest) {
			p.Credits = []fleet.Credit{{UID: uid, SessionID: session, Helped: 0}}
		})
	}
	payload := func(name, want string, change func(*fleet.PushRequest)) syncCell {
		const data = "t,f\n0,1\n"
		return syncCell{name: name, call: "payload", want: want, data: data, body: func() any {
			p := u.push(ownRobot, u.sensed("a", "a force of the thief "+uuid.NewString(), sumOf(data), len(data)))
			change(p)
			return p
		}}
	}
	call := func(name, call, want string, body any) syncCell {
		return syncCell{name: name, call: call, want: want, body: func() any { return body }}
	}
	hello := func(change func(*fleet.HelloRequest)) *fleet.HelloRequest {
		h := &fleet.HelloRequest{Protocol: fleet.Protocol, Replica: u.replica(ownRobot), Robot: ownRobot}
		change(h)
		return h
	}

	return []syncCell{
		memory("a fact of its own", stored, func(*fleet.NumberedMemory) {}),
		memory("a memory of a mate", isRefused, func(m *fleet.NumberedMemory) { m.UID = o.mate }),
		memory("a memory that a mate has sent", isRefused, func(m *fleet.NumberedMemory) { m.UID = o.mateSent }),
		memory("a memory of a mate as forgotten", isRefused, func(m *fleet.NumberedMemory) { m.UID, m.Status = o.mate, "invalidated" }),
		memory("the past of a memory of a mate", isRefused, func(m *fleet.NumberedMemory) { m.UID, m.Versions, m.Version = o.mate, past, 2 }),
		memory("a memory of another collection", isRefused, func(m *fleet.NumberedMemory) { m.UID = o.far }),
		memory("a memory that was sent to another collection", isRefused, func(m *fleet.NumberedMemory) { m.UID = o.farSent }),
		memory("another collection", isRefused, func(m *fleet.NumberedMemory) { m.Collection = "b" }),
		memory("all collections", isRefused, func(m *fleet.NumberedMemory) { m.Collection = "*" }),
		memory("its own memory into another collection", isRefused, func(m *fleet.NumberedMemory) { m.UID, m.Collection = o.own, "b" }),
		memory("an episode of a mate", isRefused, func(m *fleet.NumberedMemory) { m.Session = o.mateSession }),
		memory("an episode of another collection", isRefused, func(m *fleet.NumberedMemory) { m.Session = u.openSession[1] }),
		memory("an episode of an operator", isRefused, func(m *fleet.NumberedMemory) { m.Session = o.freeSession }),
		memory("an episode of another tenant", stored, func(m *fleet.NumberedMemory) { m.Session = o.southSession }),
		memory("the name of a mate in the context", isRefused, func(m *fleet.NumberedMemory) { m.Context = json.RawMessage(`{"robot":{"id":"c-robot"}}`) }),
		memory("a successor in another collection", isRefused, func(m *fleet.NumberedMemory) { m.Status, m.SupersededBy = "superseded", o.far }),
		memory("a past successor in another collection", isRefused, func(m *fleet.NumberedMemory) {
			m.Version, m.Versions = 2, slices.Clone(past)
			m.Versions[0].SupersededBy = o.far
		}),
		memory("a passage of the document of a mate", isRefused, func(m *fleet.NumberedMemory) {
			m.Type, m.Context = "document", json.RawMessage(`{"document":{"name":"mate.pdf","sha256":"`+strings.Repeat("0", 63)+`7","passage":2}}`)
		}),
		memory("an unknown outcome", stored, func(m *fleet.NumberedMemory) { m.Extra.Outcome = "splendid" }),

		session("an episode of its own", stored, "a new run", "a", `{"robot":"a-robot"}`),
		session("the end of an episode of a mate", isRefused, o.mateSession, "a", `{}`),
		session("the end of an episode of an operator", isRefused, o.freeSession, "a", `{}`),
		session("an episode in another collection", isRefused, "a run in b", "b", `{}`),
		session("the end of an episode of another collection", isRefused, u.openSession[1], "a", `{}`),
		session("an episode in the name of a mate", isRefused, "a run of c", "a", `{"robot":"c-robot"}`),

		link("a successor of the memory of a mate", ignored, archive.Link{Memory: o.mate, SupersededBy: o.own}),
		link("a successor of a memory of another collection", ignored, archive.Link{Memory: o.far, SupersededBy: o.own}),
		link("its memory superseded by one of another collection", ignored, archive.Link{Memory: o.own, SupersededBy: o.far}),
		link("a past state of a memory of a mate", ignored, archive.Link{Memory: o.mate, SupersededBy: o.own, Version: 1, ValidTo: o.started}),
		link("its memory in the episode of a mate", ignored, archive.Link{Memory: o.own, SessionID: o.mateSession, Used: true}),
		link("its memory in the episode of an operator", ignored, archive.Link{Memory: o.own, SessionID: o.freeSession, Used: true}),
		link("its memory in an episode of another collection", ignored, archive.Link{Memory: o.own, SessionID: u.openSession[1], Used: true}),
		link("its memory in an episode of another tenant", ignored, archive.Link{Memory: o.own, SessionID: o.southSession, Used: true}),
		link("a sighting in the episode of a mate", ignored, archive.Link{Memory: o.own, SessionID: o.mateSession, Seen: o.started}),
		link("the memory of a mate in its episode", ignored, archive.Link{Memory: o.mate, SessionID: u.openSession[0], Used: true}),
		link("the name of a memory of a mate", ignored, archive.Link{Memory: o.mate, Collection: "a", Origin: "theirs"}),
		link("a name in another collection", ignored, archive.Link{Memory: o.own, Collection: "b", Origin: "mine"}),
		link("the name of an episode of a mate", ignored, archive.Link{SessionID: o.mateSession, Collection: "a", Origin: "theirs"}),

		push("a purge of a memory of a mate", isRefused, func(p *fleet.PushRequest) { p.Purged = []string{o.mate, o.mateSent} }),
		push("a purge in another collection", isRefused, func(p *fleet.PushRequest) { p.Purged = []string{o.far, o.farSent} }),
		push("past states of a memory of a mate", isRefused, func(p *fleet.PushRequest) { p.Past = []fleet.PastStates{{UID: o.mate, Versions: past}} }),
		push("past states in another collection", isRefused, func(p *fleet.PushRequest) { p.Past = []fleet.PastStates{{UID: o.far, Versions: past}} }),
		push("past states in another tenant", ignored, func(p *fleet.PushRequest) { p.Past = []fleet.PastStates{{UID: o.south, Versions: past}} }),
		credit("credit for a memory of another collection", ignored, o.far, u.openSession[0]),
		credit("credit for a memory of another tenant", ignored, o.south, u.openSession[0]),
		credit("credit in the episode of a mate", ignored, o.mate, o.mateSession),
		credit("credit in the episode of an operator", ignored, o.mate, o.freeSession),
		credit("credit in an episode of another tenant", ignored, o.mate, o.southSession),
		push("a question about payloads of others", ignored, func(p *fleet.PushRequest) {
			p.Asks = true
			for _, uid := range []string{o.mate, o.far, o.south} {
				m := u.sensed("a", "x y z", sumOf("nothing"), 7)
				m.UID = uid
				p.Memories = append(p.Memories, m)
			}
		}),
		push("the replica of another robot", forbidden, func(p *fleet.PushRequest) { p.Replica = o.farReplica }),
		push("the name of another robot", forbidden, func(p *fleet.PushRequest) { p.Robot = "b-robot" }),
		push("the name and the replica of another robot", forbidden, func(p *fleet.PushRequest) { p.Robot, p.Replica = "b-robot", o.farReplica }),

		payload("a payload of its own", stored, func(*fleet.PushRequest) {}),
		payload("a payload of the memory of a mate", forbidden, func(p *fleet.PushRequest) { p.Memories[0].UID = o.mate }),
		payload("a payload in another collection", forbidden, func(p *fleet.PushRequest) { p.Memories[0].Collection = "b" }),
		payload("a payload of a memory of another collection", forbidden, func(p *fleet.PushRequest) { p.Memories[0].UID = o.far }),
		payload("a payload in the episode of a mate", forbidden, func(p *fleet.PushRequest) { p.Memories[0].Session = o.mateSession }),
		payload("a payload of the replica of another robot", forbidden, func(p *fleet.PushRequest) { p.Replica = o.farReplica }),
		payload("a payload in the name of another robot", forbidden, func(p *fleet.PushRequest) { p.Robot = "b-robot" }),

		call("hello in the name of another robot", "hello", forbidden, hello(func(h *fleet.HelloRequest) { h.Robot = "b-robot" })),
		call("hello as the replica of another robot", "hello", forbidden, hello(func(h *fleet.HelloRequest) { h.Replica = o.farReplica })),
		call("hello in the place of another robot", "hello", forbidden, hello(func(h *fleet.HelloRequest) { h.Robot, h.Replace = "b-robot", true })),
		call("hello as what another robot was", "hello", ignored, hello(func(h *fleet.HelloRequest) { h.Before = []string{o.farReplica} })),
		call("a pull of another collection", "pull", ignored, u.pull(ownRobot, "b")),
		call("a pull of all collections", "pull", ignored, u.pull(ownRobot, "*")),
		call("a pull of the feed of another robot", "pull", ignored, u.pull(ownRobot, fleet.OwnFeed("b-robot"))),
		call("a pull in the name of another robot", "pull", forbidden, u.pull("b-robot", "a")),
		call("a conflict", "settle", forbidden, map[string]any{"id": 1, "keep": "robot"}),
		call("an unknown call", "drop", absent, map[string]any{}),
		// These are the last ones, because the tenant has a memory of this uid then.
		memory("the uid of a memory of another tenant", stored, func(m *fleet.NumberedMemory) { m.UID = o.south }),
		push("a purge of what only another tenant has", stored, func(p *fleet.PushRequest) { p.Purged = []string{o.south} }),
		// Nobody else may bring what the robot has purged before it was sent.
		push("a purge of what never arrived", stored, func(p *fleet.PushRequest) { p.Purged = []string{uuid.NewString()} }),
		push("a purge of what is no uid", isRefused, func(p *fleet.PushRequest) { p.Purged = []string{"", "%"} }),
	}
}

// pull is a request for what is new in collections.
func (u *underAttack) pull(robot string, collections ...string) *fleet.PullRequest {
	return &fleet.PullRequest{Protocol: fleet.Protocol, Replica: u.replica(ownRobot), Robot: robot, Subscribe: collections}
}

// send sends a cell.
func (c *syncCell) send(t *testing.T, u *underAttack, token string) (status int, answer string) {
	t.Helper()
	if c.call == "payload" {
		return u.payload(t, token, c.body().(*fleet.PushRequest), c.data)
	}
	return u.post(t, token, c.call, c.body())
}

// inTenant matches the rows of the tenant north.
var inTenant = regexp.MustCompile(`"tenant": 1[,}]|tenants \{"id": 1,`)

// TestSyncHasThePermissionsOfREST goes over what each role may name in each call of the protocol.
func TestSyncHasThePermissionsOfREST(t *testing.T) {
	t.Parallel()
	u := newAttack(t)
	o := u.populate(t)
	gone := u.token(t, "north", TokenSpec{Name: "gone", Role: robotmem.RoleOperator})
	if err := u.site.RevokeToken(t.Context(), "north", "gone"); err != nil {
		t.Fatal(err)
	}
	roles := []struct {
		name, token string
		status      int // 0 for that of the cell
	}{
		{"none", "", http.StatusUnauthorized},
		{"revoked", gone, http.StatusUnauthorized},
		{"reader", u.token(t, "north", TokenSpec{Name: "r", Role: robotmem.RoleReader, Collections: []string{"a"}}), http.StatusForbidden},
		{"robot", u.token(t, "north", TokenSpec{Name: "thief", Role: robotmem.RoleRobot, Robot: ownRobot, Collections: []string{"a", "a2"}}), 0},
	}
	statuses := map[string]int{isRefused: 200, ignored: 200, stored: 200, forbidden: 403, absent: 404, invalid: 400}

	before := u.settled(t)
	for _, role := range roles {
		for _, c := range u.cells(o) {
			t.Run(role.name+"/"+c.name, func(t *testing.T) {
				status, answer := c.send(t, u, role.token)
				want := role.status
				if want == 0 {
					want = statuses[c.want]
				}
				// An address has few tries of wrong tokens.
				if tried := role.name == "revoked" && status == http.StatusTooManyRequests; status != want && !tried {
					t.Errorf("answered %d %s, want %d", status, answer, want)
				}
				if named := strings.Contains(answer, `"refused":[{`); role.status == 0 && c.want == isRefused && !named {
					t.Errorf("it does not say what it refuses: %s", answer)
				}
				said, err := json.Marshal(c.body())
				if err != nil {
					t.Fatal(err)
				}
				for _, word := range []string{secret, marker, "s-robot", "b-robot", `"b"`, u.session[1]} {
					if strings.Contains(strings.ReplaceAll(answer, `\`, ""), word) && !strings.Contains(string(said), word) {
						t.Errorf("the answer says %s: %s", word, answer)
					}
				}
				if role.status != 0 || c.want != stored {
					before = u.unchanged(t, before)
					return
				}

				now := u.settled(t)
				diff := now.differs(before)
				before = now
				if len(diff) == 0 {
					t.Errorf("nothing was stored: %s", answer)
				}
				for _, row := range diff {
					if !inTenant.MatchString(row) {
						t.Errorf("an effect beside the tenant: %s", row)
					}
				}
			})
		}
	}

	// Operators and admins may all that a push can name. Whatever it is, the site has an answer.
	for _, role := range []string{robotmem.RoleOperator, robotmem.RoleAdmin} {
		token := u.token(t, "north", TokenSpec{Name: "as-" + role, Role: role})
		for _, c := range u.cells(o) {
			if status, answer := c.send(t, u, token); status >= 500 || status == 401 {
				t.Errorf("%s: %s: %d %s", role, c.name, status, answer)
			}
		}
	}
}

// What a token reads over sync is what it reads over REST.
func TestFeedsRespectCollections(t *testing.T) {
	t.Parallel()
	u := newAttack(t)
	u.populate(t)
	thief := u.token(t, "north", TokenSpec{Name: "thief", Role: robotmem.RoleRobot, Robot: ownRobot, Collections: []string{"a", "a2"}})
	owner := u.token(t, "north", TokenSpec{Name: "owner", Role: robotmem.RoleRobot, Robot: "b-robot", Collections: []string{"b"}})
	reader := u.token(t, "north", TokenSpec{Name: "r", Role: robotmem.RoleReader, Collections: []string{"b"}})

	// The owner is told of chunks of b, whose addresses another token may have heard of.
	fetch := func(token, robot, replica string, collections ...string) (news fleet.PullResponse, paths []string) {
		t.Helper()
		p := u.pull(robot, collections...)
		p.Replica = replica
		if status, answer := u.post(t, token, "hello", &fleet.HelloRequest{Protocol: fleet.Protocol, Replica: replica, Robot: robot, Replace: true}); status != 200 {
			t.Fatal(status, answer)
		}
		status, answer := u.post(t, token, "pull", p)
		if err := json.Unmarshal([]byte(answer), &news); err != nil || status != 200 {
			t.Fatal(status, answer, err)
		}
		for _, f := range news.Feeds {
			for _, c := range f.Chunks {
				paths = append(paths, c.Path(f.Feed, f.Generation))
			}
		}
		return news, paths
	}
	_, paths := fetch(owner, "b-robot", uuid.NewString(), "b")
	found := false
	for _, path := range paths {
		if status, body := u.read(t, owner, path); status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		} else {
			found = found || strings.Contains(body, secret)
		}
		for name, token := range map[string]string{"a robot of another collection": thief, "a reader": reader} {
			if status, body := u.read(t, token, path); status != 403 || strings.Contains(body, secret) {
				t.Errorf("%s: %s: %d %s", name, path, status, body)
			}
		}
	}
	if !found {
		t.Error("the owner does not read its own facts")
	}

	_, paths = fetch(thief, ownRobot, u.replica(ownRobot), "*", "b", "a", fleet.OwnFeed("b-robot"))
	for _, path := range paths {
		if status, body := u.read(t, thief, path); status != 200 || strings.Contains(body, marker) {
			t.Errorf("%s: %d %s", path, status, body)
		}
		// Another mark, and more numbers than it was told of.
		address, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		for key, values := range map[string][]string{
			"mark": {"0000000000000000", "", "zz"}, "last": {"0", "-1", "9999999999999999999999", "100"}, "first": {"0", "-9223372036854775808", "1e3"},
			"generation": {"7", "-1", "x"}, "feed": {"b", "@b-robot", "*", "", "a,b", "a' OR '1'='1"},
		} {
			for _, value := range values {
				q := address.Query()
				q.Set(key, value)
				if status, body := u.read(t, thief, address.Path+"?"+q.Encode()); status < 400 || status >= 500 || strings.Contains(body, secret) {
					t.Errorf("%s=%s: %d %s", key, value, status, body)
				}
			}
		}
	}
	for _, path := range []string{"robots", "conflicts", "purges", "conflicts?robot=" + ownRobot, "nothing"} {
		for _, token := range []string{thief, reader} {
			if status, body := u.read(t, token, "/api/fleet/"+path); status != 403 && status != 404 {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	}
}

// What only an operator or the site may say is not taken from a robot, and its own memory says nothing of it.
func TestClaimsOfARobotAreNotTaken(t *testing.T) {
	t.Parallel()
	u := newAttack(t)
	thief := u.token(t, "north", TokenSpec{Name: "thief", Role: robotmem.RoleRobot, Robot: ownRobot, Collections: []string{"a", "a2"}})
	for name, claim := range map[string]func(*fleet.NumberedMemory){
		"a reserved source":    func(m *fleet.NumberedMemory) { m.Source = "Operator" },
		"a verified source":    func(m *fleet.NumberedMemory) { m.Source = "verified" },
		"a pin":                func(m *fleet.NumberedMemory) { m.Pinned = true },
		"certainty":            func(m *fleet.NumberedMemory) { m.Confidence = 1 },
		"an author":            func(m *fleet.NumberedMemory) { m.Extra.Who = "ada" },
		"another robot":        func(m *fleet.NumberedMemory) { m.Extra.Robot = "c-robot" },
		"another short form":   func(m *fleet.NumberedMemory) { m.Summary = "the gate is open" },
		"a cased source":       func(m *fleet.NumberedMemory) { m.Source = "o\u200bperator" },
		"an outcome of nobody": func(m *fleet.NumberedMemory) { m.Extra.Outcome, m.Extra.OutcomeSource = "splendid", "operator" },
	} {
		text := "a claim of " + name
		m := u.told("a", text)
		claim(&m)
		if status, answer := u.post(t, thief, "push", u.push(ownRobot, m)); status != 200 || strings.Contains(answer, "refused\":[") {
			t.Errorf("%s: %d %s", name, status, answer)
			continue
		}
		got, err := robotmem.OpByName("get").Call(u.a, u.guard, json.RawMessage(fmt.Sprintf(`{"memory_id":%q}`, m.UID)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		have := got.(*robotmem.Memory)
		p := have.Provenance
		if have.Pinned || have.Confidence > 0.95 || robotmem.ReservedSource(have.Source) || p == nil || p.Who != "thief" || p.Robot != ownRobot || have.Summary != text || have.Outcome == "splendid" {
			t.Errorf("%s: stored %+v by %+v", name, have, p)
		}
	}
}
