package site

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A robot that names memories of others in a push changes, purges and marks none of them, whatever it
// has sent before. All tokens are of one collection.
func TestARobotChangesNoMemoryOfAnotherOverSync(t *testing.T) {
	t.Parallel()
	s, g := openSite(t, postgrestest.NewURL(t))
	makeTenants(t, s, "north")
	operator := asToken(t, s, "north", TokenSpec{Name: "op", Role: robotmem.RoleOperator})
	owner, thief := asToken(t, s, "north", robotOf("arm-1", "cells")), asToken(t, s, "north", robotOf("arm-2", "cells"))
	mustAsk(t, owner, g, "start_session", `{"collection":"cells","session_id":"run-of-arm-1"}`)
	id := idOf(t, mustAsk(t, owner, g, "learn", `{"insight":"the gripper holds 12 N","collection":"cells"}`))
	rule := idOf(t, mustAsk(t, operator, g, "learn", `{"insight":"never open gate four","collection":"cells","pinned":true}`))
	uids := map[int64]string{}
	for _, of := range []int64{id, rule} {
		m, err := g.Get(operator, &robotmem.MemoryRequest{MemoryID: of})
		if err != nil {
			t.Fatal(err)
		}
		uids[of] = m.UID
	}

	n, leave, err := g.Robots(thief, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	robot := newRobot(t, &testSite{}, "arm-2", nil, local.Options{})
	robot.learns(t, "a fact of the thief", nil)
	template, _, err := robot.Replicator.Changes(t.Context(), 100)
	if err != nil || len(template.Memories) != 1 {
		t.Fatal(err, template)
	}
	replica, counter := uuid.NewString(), int64(0)
	forge := func(uid string, change func(*fleet.PushRequest, *fleet.NumberedMemory)) *fleet.PushResponse {
		t.Helper()
		counter++
		m := template.Memories[0]
		m.UID, m.Collection, m.Counter = uid, "cells", counter
		p := &fleet.PushRequest{Replica: replica, Robot: "arm-2", Upto: counter, Memories: []fleet.NumberedMemory{m}}
		if change != nil {
			change(p, &p.Memories[0])
		}
		ack, err := AnswerPush(thief, n, p)
		if err != nil {
			t.Fatal(err, causeOf(err))
		}
		return ack
	}
	refused := func(ack *fleet.PushResponse, uid string) {
		t.Helper()
		if !slices.ContainsFunc(ack.Refused, func(n fleet.SyncNote) bool { return n.UID == uid && strings.Contains(n.Reason, "arm-2") }) {
			t.Errorf("%s is not refused: %+v", uid, ack)
		}
	}
	for _, uid := range uids {
		refused(forge(uid, nil), uid)
		// The refused push has left nothing that a second one could lean on.
		refused(forge(uid, func(_ *fleet.PushRequest, m *fleet.NumberedMemory) {
			m.Content, m.Summary = "it holds 99 N", "it holds 99 N"
		}), uid)
		ack := forge(uid, func(p *fleet.PushRequest, _ *fleet.NumberedMemory) { p.Memories, p.Purged = nil, []string{uid} })
		refused(ack, uid)
	}
	// Its own memory supersedes none of another, and marks no episode of another.
	own := uuid.NewString()
	forge(own, func(p *fleet.PushRequest, _ *fleet.NumberedMemory) {
		p.Links = []archive.Link{
			{Memory: uids[id], SessionID: "run-of-arm-1", Used: true}, {Memory: own, SessionID: "run-of-arm-1", Used: true},
			{Memory: uids[id], Origin: "stolen", Collection: "cells"},
		}
	})
	refused(forge(uuid.NewString(), func(_ *fleet.PushRequest, m *fleet.NumberedMemory) { m.Session, m.UID = "run-of-arm-1", own }), own)
	for of, text := range map[int64]string{id: "the gripper holds 12 N", rule: "never open gate four"} {
		m, err := g.Get(operator, &robotmem.MemoryRequest{MemoryID: of})
		if err != nil || m.Content != text || m.Status != "active" {
			t.Errorf("memory %d is %+v %v", of, m, err)
		}
		if h, err := g.History(operator, &robotmem.MemoryRequest{MemoryID: of}); err != nil || len(h.Versions) > 1 {
			t.Errorf("its history: %+v %v", h, err)
		}
	}
	if r, err := g.Session(operator, &robotmem.SessionRequest{SessionID: "run-of-arm-1"}); err != nil || len(r.Recalled) != 0 {
		t.Errorf("the episode of another: %+v %v", r, err)
	}

	// What only an operator or this node may say is not taken from a push.
	said := uuid.NewString()
	forge(said, func(_ *fleet.PushRequest, m *fleet.NumberedMemory) {
		m.Content, m.Summary, m.Source, m.Pinned = "the operator says go", "the operator says go", "operator", true
		m.Extra.Who, m.Extra.Robot = "ada", "arm-1"
		m.Confidence, m.Summary = 1, "a gate is open"
	})
	m := named(t, n, "the operator says go")
	if m == nil || m.Confidence > 0.95 || m.Summary != "the operator says go" || m.Source != "" || m.Pinned || m.Provenance == nil || m.Provenance.Who != "arm-2" || m.Provenance.Robot != "arm-2" {
		t.Errorf("stored as %+v by %+v", m, m.Provenance)
	}
	// Its own memory it may change and purge; the answer of a purge names the copies on robots.
	forge(said, func(_ *fleet.PushRequest, m *fleet.NumberedMemory) {
		m.Content, m.Summary = "the robot says stop", "the robot says stop"
	})
	if named(t, n, "the robot says stop") == nil {
		t.Error("its own change did not arrive")
	}
	forge(said, func(p *fleet.PushRequest, _ *fleet.NumberedMemory) { p.Memories, p.Purged = nil, []string{said} })
	if named(t, n, "the robot says stop") != nil {
		t.Error("its own purge did not arrive")
	}
	purged, err := g.Forget(operator, &robotmem.ForgetRequest{MemoryID: id, Purge: true, Reason: "asked for"})
	if err != nil || !strings.Contains(strings.Join(purged.Purged.NotReached, "; "), "robots") {
		t.Errorf("%+v %v", purged, err)
	}
}

// A push takes room for each memory that the site does not have. Over the quota what is known arrives nevertheless, nothing
// new does, and the robot sends the push again once there is room.
func TestAPushOverTheQuota(t *testing.T) {
	t.Parallel()
	s, g := openSite(t, postgrestest.NewURL(t))
	makeTenants(t, s, "north")
	quota := int64(20)
	if _, err := s.Limit(t.Context(), "north", Limits{Memories: &quota}); err != nil {
		t.Fatal(err)
	}
	ctx := asToken(t, s, "north", robotOf("arm-2", "cells"))
	n, leave, err := g.Robots(ctx, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	robot := newRobot(t, &testSite{}, "arm-2", nil, local.Options{})
	robot.learns(t, "a fact of the arm", nil)
	template, _, err := robot.Replicator.Changes(t.Context(), 100)
	if err != nil || len(template.Memories) != 1 {
		t.Fatal(err, template)
	}

	replica, counter := uuid.NewString(), int64(0)
	var first fleet.NumberedMemory
	push := func(memories int, more ...fleet.NumberedMemory) error {
		p := &fleet.PushRequest{Replica: replica, Robot: "arm-2"}
		for range memories {
			counter++
			m := template.Memories[0]
			m.UID, m.Collection, m.Counter, m.Content = uuid.NewString(), "cells", counter, "a fact "+uuid.NewString()
			p.Memories = append(p.Memories, m)
		}
		if first.UID == "" {
			first = p.Memories[0]
		}
		for _, m := range more {
			counter++
			m.Counter = counter
			p.Memories = append(p.Memories, m)
		}
		p.Upto = counter
		_, err := admitPush(ctx, g.Robots, n, p)
		return err
	}
	total := func() int64 {
		list, err := g.List(ctx, &robotmem.ListRequest{Status: "all", Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		return list.Total
	}

	if err := push(15); err != nil || total() != 15 {
		t.Fatalf("%d memories, %v", total(), err)
	}
	first.Content = "a fact that was corrected"
	if err := push(3000, first); !errors.Is(err, robotmem.TooLarge) || !strings.Contains(err.Error(), "max_memories is 20") {
		t.Error(err)
	}
	if total() != 15 || named(t, n, "a fact that was corrected") == nil {
		t.Errorf("%d memories; corrected: %v", total(), named(t, n, "a fact that was corrected"))
	}
	upto, err := AnswerHello(ctx, n, &fleet.HelloRequest{Replica: replica, Robot: "arm-2"})
	if err != nil || upto.Upto != 15 {
		t.Errorf("the site has acknowledged %+v, %v", upto, err)
	}
	if err := push(5); err != nil || total() != 20 {
		t.Errorf("%d memories, %v", total(), err)
	}
}
