package site

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
)

// thief is the token of the robot that sends.
func thief() TokenSpec {
	return TokenSpec{Name: "thief", Role: robotmem.RoleRobot, Robot: ownRobot, Collections: []string{"a", "a2"}}
}

// answered pushes and decodes the answer.
func (u *underAttack) answered(t *testing.T, secret string, p *fleet.PushRequest) (ack fleet.PushResponse) {
	t.Helper()
	status, answer := u.post(t, secret, "push", p)
	if err := json.Unmarshal([]byte(answer), &ack); err != nil || status != http.StatusOK {
		t.Fatal(status, answer, err)
	}
	return ack
}

// refusedIn returns what an answer names as refused, sorted.
func refusedIn(ack *fleet.PushResponse) (uids []string) {
	for _, r := range ack.Refused {
		uids = append(uids, r.UID)
	}
	slices.Sort(uids)
	return uids
}

// What a site cannot store is refused alone, and the rest of the push arrives.
func TestOneBadRecordIsRefusedAlone(t *testing.T) {
	t.Parallel()
	u := newAttack(t)
	token := u.token(t, "north", thief())
	p, bad := u.push(ownRobot), []string{}
	for i := range 40 {
		p.Memories = append(p.Memories, u.told("a", fmt.Sprintf("a good fact %d", i)))
	}
	for name, change := range map[string]func(*archive.Memory){
		"text":   func(m *archive.Memory) { m.Content = "a\x00b" },
		"source": func(m *archive.Memory) { m.Source = "a\x00b" },
		"scope":  func(m *archive.Memory) { m.ScopeFiles = []string{"x", "a\x00b"} },
		"past": func(m *archive.Memory) {
			m.Version, m.Versions = 2, []archive.Version{{Version: 1, ValidFrom: m.ValidFrom, ValidTo: m.ValidFrom, Content: "a\x00b", Status: "active"}}
		},
		"uses": func(m *archive.Memory) { m.Extra.Uses = -1 },
	} {
		m := u.told("a", "a bad fact: "+name)
		change(&m.Memory)
		bad = append(bad, m.UID)
		p.Memories = slices.Insert(p.Memories, len(bad)*3, m)
	}
	good := p.Memories[0].UID
	p.Sessions = []archive.Session{u.episode("a good run", "a", "{}"), u.episode("a bad run", "a", "{}")}
	p.Sessions[1].ClientType = "a\x00b"
	p.Past = []fleet.PastStates{{UID: "no\x00uid", Versions: []archive.Version{{Version: 1}}}}
	p.Purged = []string{"no\x00uid either"}
	p.Credits = []fleet.Credit{{UID: "no credit", Helped: 2}}
	bad = append(bad, "a bad run", "no\x00uid", "no\x00uid either", "no credit")
	slices.Sort(bad)

	ack := u.answered(t, token, p)
	if got := refusedIn(&ack); !slices.Equal(got, bad) || ack.Memories.Created != 40 {
		t.Errorf("created %d, refused %q, want 40 and %q", ack.Memories.Created, got, bad)
	}
	if status, answer := send(t, token, "GET", u.url+"/api/memory/"+good, ""); status != 200 {
		t.Error(status, answer)
	}
	if status, answer := send(t, token, "GET", u.url+"/api/sessions/a%20good%20run", ""); status != 200 || !strings.Contains(answer, `"id":"a-robot"`) {
		t.Errorf("the episode does not name its robot: %d %s", status, answer)
	}
}

// A robot ends and extends the episodes that it has begun, also those that an earlier version stored without its name.
func TestARobotGoesOnWithItsEpisodes(t *testing.T) {
	t.Parallel()
	u := newAttack(t)
	own, mate := u.token(t, "north", thief()), u.token(t, "north", TokenSpec{Name: "mate", Role: robotmem.RoleRobot, Robot: "c-robot", Collections: []string{"a"}})
	operator := u.token(t, "north", TokenSpec{Name: "forwards", Role: robotmem.RoleOperator})

	begun := u.episode("run-1", "a", "{}")
	begun.Status, begun.EndedAt, begun.Outcomes = "active", "", nil
	first := u.push(ownRobot)
	first.Sessions = []archive.Session{begun}
	if ack := u.answered(t, own, first); len(ack.Refused) > 0 {
		t.Fatalf("%+v", ack)
	}

	// As it was stored before: the memory names the robot, and the episode does not.
	old := u.push(ownRobot, u.told("a", "what happened in an old run"))
	old.Memories[0].Session, old.Sessions = "run-0", []archive.Session{u.episode("run-0", "a", "{}")}
	if ack := u.answered(t, operator, old); len(ack.Refused) > 0 {
		t.Fatalf("%+v", ack)
	}

	for _, run := range []string{"run-0", "run-1"} {
		m := u.told("a", "what happened in "+run)
		m.Session = run
		more := u.push(ownRobot, m)
		more.Sessions = []archive.Session{u.episode(run, "a", "{}")}
		if ack := u.answered(t, own, more); len(ack.Refused) > 0 || ack.Memories.Created != 1 {
			t.Errorf("%s: %+v", run, ack)
		}
		theirs := u.push("c-robot", u.told("a", "what a mate says of "+run))
		theirs.Memories[0].Session, theirs.Sessions = run, []archive.Session{u.episode(run, "a", "{}")}
		if ack := u.answered(t, mate, theirs); len(ack.Refused) != 2 || ack.Memories.Created != 0 {
			t.Errorf("a mate in %s: %+v", run, ack)
		}
	}
}

// A robot says how often a memory was used when it sends it first, within bounds, and not again.
func TestUsesAreTakenOnce(t *testing.T) {
	t.Parallel()
	u := newAttack(t)
	token := u.token(t, "north", thief())
	uses := func(uid string) (uses, successes float64) {
		t.Helper()
		for row := range u.rows(t)["memories"] {
			var m struct {
				UID             string
				Uses, Successes float64
			}
			if err := json.Unmarshal([]byte(row), &m); err != nil {
				t.Fatal(err)
			}
			if m.UID == uid {
				return m.Uses, m.Successes
			}
		}
		t.Fatal("it is not stored")

		return 0, 0
	}

	m := u.underFact("a", "the gripper holds 2 kg")
	m.Extra.Uses, m.Extra.Successes = 4, 3
	u.answered(t, token, u.push(ownRobot, m))
	later := u.told("a", "the gripper holds 3 kg")
	later.UID, later.Version, later.Extra.Uses, later.Extra.Successes = m.UID, 2, 900, 900
	if ack := u.answered(t, token, u.push(ownRobot, later)); ack.Memories.Updated != 1 {
		t.Fatalf("%+v", ack)
	}
	if n, good := uses(m.UID); n != 4 || good != 3 {
		t.Errorf("%v uses with %v successes, want 4 with 3", n, good)
	}

	m = u.told("a", "the gripper is blue")
	m.Extra.Uses, m.Extra.Successes = 4e9, 1e9
	u.answered(t, token, u.push(ownRobot, m))
	if n, good := uses(m.UID); n != mostUses || good != mostUses/4 {
		t.Errorf("%v uses with %v successes", n, good)
	}
}

// A payload follows its memory once it is whole, and is asked for until then. It takes the room of its memory if that is
// new.
func TestAPayloadFollowsItsMemory(t *testing.T) {
	t.Parallel()
	u := newAttack(t)
	token := u.token(t, "north", thief())
	const data = "t,f\n0,1\n0.1,2\n"
	m := u.sensed("a", "a force at the gripper", sumOf(data), len(data))
	asks := func() []string {
		t.Helper()
		p := u.push(ownRobot, m)
		p.Asks = true
		ack := u.answered(t, token, p)
		return ack.Wanted
	}
	if ack := u.answered(t, token, u.push(ownRobot, m)); len(ack.Wanted) != 1 {
		t.Fatalf("%+v", ack)
	}

	before := u.settled(t)
	for name, wrong := range map[string]string{"no bytes": "", "fewer": data[:5], "others": strings.Repeat("x", len(data)), "more": data + "x"} {
		if status, answer := u.payload(t, token, u.push(ownRobot, m), wrong); status != 400 || !strings.Contains(answer, "bytes") {
			t.Errorf("%s: %d %s", name, status, answer)
		}
		u.unchanged(t, before)
	}
	other := u.push(ownRobot, m)
	other.Protocol = 0
	if status, answer := u.payload(t, token, other, data); status != 409 || !strings.Contains(answer, "protocol") {
		t.Errorf("another protocol: %d %s", status, answer)
	}
	if got := asks(); len(got) != 1 {
		t.Fatal("it is not asked for:", got)
	}

	for range 2 {
		if status, answer := u.payload(t, token, u.push(ownRobot, m), data); status != 200 {
			t.Fatal(status, answer)
		}
	}
	if got := asks(); len(got) > 0 {
		t.Error("it is asked for again:", got)
	}
	_, found := send(t, token, "GET", u.url+"/api/memory/"+m.UID, "")
	var got struct {
		MemoryID int64 `json:"memory_id"`
	}
	if err := json.Unmarshal([]byte(found), &got); err != nil {
		t.Fatal(found, err)
	}
	if status, have := u.bytesOf(t, token, fmt.Sprint(got.MemoryID)); status != 200 || have != data {
		t.Errorf("%d %q", status, have)
	}
	if history, answer := send(t, token, "GET", fmt.Sprintf("%s/api/memory/%d/history", u.url, got.MemoryID), ""); history != 200 || strings.Contains(answer, "newer state") {
		t.Errorf("the bytes made another state: %s", answer)
	}

	// Another memory of the collection that names the same bytes has them at once: the robot may read them.
	again := u.sensed("a2", "the same force", sumOf(data), len(data))
	if ack := u.answered(t, token, u.push(ownRobot, again)); len(ack.Wanted) > 0 {
		t.Errorf("%+v", ack)
	}

	none := int64(0)
	if _, err := u.site.Limit(t.Context(), "north", Limits{Memories: &none}); err != nil {
		t.Fatal(err)
	}
	const more = "t,f\n0,7\n"
	if status, answer := u.payload(t, token, u.push(ownRobot, u.sensed("a", "one too many", sumOf(more), len(more))), more); status != 413 {
		t.Errorf("over the quota: %d %s", status, answer)
	}
}
