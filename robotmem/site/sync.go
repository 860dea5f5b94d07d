package site

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/filter"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A robot numbers its changes. For each memory and robot the site stores the last state that the robot sent, and its
// own state at that time; together they act as a version vector. A change of the robot replaces the state of the site
// if the site has not changed it since, and is a conflict otherwise. No clock is compared.

// AnswerPush stores the changes of a robot. A push that is sent twice is stored once. It fails with
// Conflict if another memory has the name of the robot.
func AnswerPush(ctx context.Context, n *local.Node, p *fleet.PushRequest) (*fleet.PushResponse, error) {
	if p.Replica == "" || p.Robot == "" {
		return nil, robotmem.Errorf(robotmem.Invalid, "replica", "and robot are required")
	}
	if err := requireRobot(ctx, p.Robot); err != nil {
		return nil, err
	}

	// The replica is registered before anything is stored, so that two memories with one robot name cannot mix their
	// numbers.
	if err := engine.Of(n).Store.Write(ctx,
		func(tx *store.Tx) error { return registerReplica(tx, robotmem.CallerOf(ctx), p) }); err != nil {
		return nil, err
	}

	ack := &fleet.PushResponse{Upto: p.Upto}
	sessions, err := ownSessions(ctx, n, p, ack)
	if err != nil {
		return nil, err
	}

	entries := []*archive.Entry{{Sessions: sessions}}
	a := &arrival{caller: robotmem.CallerOf(ctx), push: p, counters: map[string]int64{}, ack: ack}

	memories := make([]archive.Memory, 0, len(p.Memories))
	for i := range p.Memories {
		m := &p.Memories[i]
		if err := a.admit(ctx, m); err != nil {
			ack.Refused = append(ack.Refused, fleet.SyncNote{UID: m.UID, Reason: robotmem.Explain(err).Detail()})
			continue
		}
		memories = append(memories, m.Memory)
	}

	// Each part is one transaction, so that a large push does not hold up other writers for long.
	for part := range slices.Chunk(memories, 500) {
		entries = append(entries, &archive.Entry{Memories: part})
	}

	options := archive.ImportOptions{Refused: func(uid string, err error) {
		ack.Refused = append(ack.Refused, fleet.SyncNote{UID: uid, Reason: err.Error()})
	}}
	report, err := engine.Of(n).Receive(ctx, &fleet.Entries{List: entries}, options, a)
	if err != nil {
		return nil, err
	}

	// Links are of memories that this push may have stored, so their owners are looked up afterwards.
	links, err := ownLinks(ctx, n, p)
	if err != nil {
		return nil, err
	}
	if _, err := engine.Of(n).Receive(ctx, &fleet.Entries{List: []*archive.Entry{{Links: links}}}, options, a); err != nil {
		return nil, err
	}

	for _, uid := range p.Purged {
		if err := a.purge(ctx, n, uid); err != nil {
			return nil, err
		}
	}

	// The number of the push is stored last. If the site fails before, the robot sends the push again and nothing is
	// stored twice.
	ack.Memories = report.Memories

	return ack, engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
		return tx.Exec(store.AdvanceReplica, p.Upto, store.FormatTime(tx.Now), p.Replica)
	})
}

// requireRobot fails if the token of the caller is of another robot.
func requireRobot(ctx context.Context, robot string) error {
	if c := robotmem.CallerOf(ctx); c.Role == robotmem.RoleRobot && c.Robot != robot {
		return robotmem.Errorf(robotmem.Forbidden, "robot",
			"is %q, and the token is of the robot %s; join with --robot %[2]s, or with a token of %[1]q", robot,
			c.Robot)
	}
	return nil
}

// requireCollection fails if the caller has no right to the collection.
func requireCollection(ctx context.Context, collection string) error {
	if set := robotmem.CallerOf(ctx).Collections; set != "" && !robotmem.InCollections(set, collection) {
		return robotmem.Errorf(robotmem.Forbidden, "collection", "is %q, and the token is for %s", collection, set)
	}
	return nil
}

// ownSessions returns the sessions that the caller may store. They are in its collections and not another robot's.
func ownSessions(
	ctx context.Context, n *local.Node, p *fleet.PushRequest, ack *fleet.PushResponse,
) (own []archive.Session, err error) {
	err = engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		for _, s := range p.Sessions {
			err := requireCollection(ctx, s.Collection)

			// The push of a robot may name any episode. One of another robot, or of a collection without a right, is
			// refused, and the rest of the push is stored.
			if err == nil {
				err = requireSession(ctx, c, p.Robot, s.SessionID)
			}
			if err != nil && !errors.Is(err, robotmem.Forbidden) {
				return err
			}
			if err != nil {
				ack.Refused = append(ack.Refused,
					fleet.SyncNote{UID: s.SessionID, Reason: robotmem.Explain(err).Detail()})
				continue
			}
			own = append(own, s)
		}

		return nil
	})

	return own, err
}

// requireSession fails with Forbidden if an episode is known as one of another robot, or is in a collection
// that the caller has not.
func requireSession(ctx context.Context, c *store.Conn, robot, id string) error {
	known, err := c.Session(id)
	if errors.Is(err, robotmem.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if by := record.RobotOf(known.Context); by != "" && by != robot &&
		robotmem.CallerOf(ctx).Role == robotmem.RoleRobot {
		return robotmem.Errorf(robotmem.Forbidden, "session_id",
			"%q is an episode of the robot %s, and the token is of the robot %s", id, by, robot)
	}

	return requireCollection(ctx, known.Collection)
}

// requireMemory fails with Forbidden if a stored memory is not the caller's: of another robot than that
// of its token, or in a collection that it has not. The stored row decides, not what a push says.
func requireMemory(caller robotmem.Caller, robot, collection string) error {
	if caller.Role == robotmem.RoleRobot && robot != caller.Robot {
		return robotmem.Errorf(robotmem.Forbidden, "uid", "is not a memory of the robot %s", caller.Robot)
	}
	if set := caller.Collections; set != "" && !robotmem.InCollections(set, collection) {
		return robotmem.Errorf(robotmem.Forbidden, "uid",
			"is not a memory of the robot %s: it is in another collection than the token has", caller.Robot)
	}

	return nil
}

// ownLinks returns the links between memories and sessions that the caller may change.
func ownLinks(ctx context.Context, n *local.Node, p *fleet.PushRequest) (own []archive.Link, err error) {
	caller := robotmem.CallerOf(ctx)
	if caller.Role != robotmem.RoleRobot {
		return p.Links, nil
	}

	err = engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		for _, l := range p.Links {
			err := error(nil)
			if l.Memory != "" {
				_, err = ownerOf(c, caller, l.Memory)
			}
			if err == nil && l.SessionID != "" {
				err = requireSession(ctx, c, p.Robot, l.SessionID)
			}
			if err == nil && l.Collection != "" {
				err = requireCollection(ctx, l.Collection)
			}

			switch {
			case err == nil:
				own = append(own, l)
			case !errors.Is(err, robotmem.Forbidden):
				return err
			}
		}

		return nil
	})

	return own, err
}

// ownerOf returns the id of a memory, 0 without one, and fails if it is not the caller's.
func ownerOf(c *store.Conn, caller robotmem.Caller, uid string) (id int64, err error) {
	robot, collection := "", ""
	_, err = c.One(store.OriginOfMemory, []any{uid}, func(r store.Row) {
		id, robot, collection = r.ColumnInt64(0), r.ColumnText(1), r.ColumnText(2)
	})
	if err != nil || id == 0 {
		return 0, err
	}

	return id, requireMemory(caller, robot, collection)
}

// registerReplica registers the memory of a robot. A token of a robot does not speak for the memory of another.
func registerReplica(tx *store.Tx, c robotmem.Caller, p *fleet.PushRequest) error {
	before := p.Robot
	_, err := tx.One(store.RobotOfReplica, []any{p.Replica}, func(r store.Row) { before = r.ColumnText(0) })
	if err != nil {
		return err
	}

	// Without this check a robot that learns the id of another replica could move its progress.
	if c.Role == robotmem.RoleRobot && before != p.Robot {
		return robotmem.Errorf(robotmem.Forbidden, "replica",
			"is the memory of another robot; run robotmem fleet leave, then join again")
	}

	other := ""
	_, err = tx.One(store.ReplicaOfRobot, []any{p.Robot}, func(r store.Row) { other = r.ColumnText(0) })
	if err != nil || other == p.Replica {
		return err
	}
	if other != "" {
		return robotmem.Errorf(robotmem.Conflict, "robot",
			"another memory sends as %q to this site; give this robot another name with --robot, or, if this memory takes the place of that one, join with --replace",
			p.Robot)
	}

	now := store.FormatTime(tx.Now)

	return tx.Exec(store.PutReplica, p.Replica, p.Robot, now, now)
}

// AnswerHello returns how much of a robot's memory has arrived.
func AnswerHello(ctx context.Context, n *local.Node, h *fleet.HelloRequest) (w *fleet.HelloResponse, err error) {
	if err := requireRobot(ctx, h.Robot); err != nil {
		return nil, err
	}

	w = &fleet.HelloResponse{}
	err = engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
		// The old entry goes before the registration, which would find the name taken.
		if h.Replace {
			if err := tx.Exec(store.DeleteOtherReplicas, h.Robot, h.Replica); err != nil {
				return err
			}
		}
		if err := registerReplica(tx, robotmem.CallerOf(ctx),
			&fleet.PushRequest{Replica: h.Replica, Robot: h.Robot}); err != nil {
			return err
		}
		w.Upto, err = tx.Number(store.UptoOfReplica, h.Replica)

		return err
	})

	return w, err
}

// mostClaimed is the highest confidence that the rules of classification give.
const mostClaimed = 0.95

// admit checks a memory of a push by itself, and removes from it what only an operator or this node
// may say: its source, if that is reserved, who stored it, and that it is pinned.
func (a *arrival) admit(ctx context.Context, m *fleet.NumberedMemory) error {
	if err := requireCollection(ctx, m.Collection); err != nil {
		return err
	}

	// A token of a robot speaks for that robot only. Other tokens may forward memories of several robots.
	if m.Extra.Robot == "" || a.caller.Role == robotmem.RoleRobot {
		m.Extra.Robot = a.push.Robot
	}
	if robotmem.ReservedSource(m.Source) {
		m.Source = ""
	}
	m.Pinned, m.Extra.Who = false, a.caller.Who

	// A robot is never surer than the rules that classify what it says, and the short form of a fact is made of its text.
	if a.caller.Role == robotmem.RoleRobot {
		m.Confidence = min(m.Confidence, mostClaimed)
	}
	if m.Type == "fact" {
		m.Summary = record.Summarize(m.Content)
	}
	m.Where = m.UID
	a.counters[m.UID] = m.Counter

	return nil
}

// purge purges a memory that a robot has purged, if it came from there and is the caller's.
func (a *arrival) purge(ctx context.Context, n *local.Node, uid string) error {
	id := int64(0)
	err := engine.Of(n).Store.Read(ctx, func(c *store.Conn) (err error) {
		if id, err = ownerOf(c, a.caller, uid); err != nil || id == 0 {
			return err
		}

		// A memory that this replica has never sent is not its to purge, even if it knows the uid.
		sent, err := c.Number(store.CountArrivals, uid, a.push.Replica)
		if sent == 0 {
			id = 0
		}

		return err
	})
	if errors.Is(err, robotmem.Forbidden) {
		a.refuse(uid, err)
		return nil
	}

	if err != nil || id == 0 {
		return err
	}

	_, err = n.Forget(ctx,
		&robotmem.ForgetRequest{MemoryID: id, Purge: true, Reason: "purged on robot " + a.push.Robot})

	// A push that is repeated finds the memory purged already.
	if errors.Is(err, robotmem.NotFound) {
		return nil
	}

	return err
}

func (a *arrival) refuse(uid string, why error) {
	a.ack.Refused = append(a.ack.Refused, fleet.SyncNote{UID: uid, Reason: robotmem.Explain(why).Detail()})
	if a.refused == nil {
		a.refused = map[string]bool{}
	}
	a.refused[uid] = true
}

// arrival compares the memories of a push.
type arrival struct {
	caller   robotmem.Caller
	push     *fleet.PushRequest
	counters map[string]int64
	ack      *fleet.PushResponse
	refused  map[string]bool // uids of which nothing is stored
}

type lastArrival struct {
	counter      int64
	theirs, ours []byte
}

// Decide implements engine.Sync.
func (a *arrival) Decide(
	tx *store.Tx, r *store.ImportRecord, known *store.Archived, v store.Decision,
) (store.Decision, error) {
	if v == store.ImportPurged {
		return v, nil // purged here
	}

	if known != nil {
		// Before anything is compared: who may not change the memory learns nothing of it and leaves nothing.
		if err := requireMemory(a.caller, known.Extra.Robot, known.Collection); err != nil {
			a.refuse(r.UID, err)
			return store.ImportKeep, nil
		}
	}

	if r.Session != "" {
		err := requireSession(robotmem.WithCaller(context.Background(), a.caller), tx.Conn, a.push.Robot, r.Session)
		if errors.Is(err, robotmem.Forbidden) {
			a.refuse(r.UID, err)
			return store.ImportKeep, nil
		}
		if err != nil {
			return v, err
		}
	}

	if known == nil {
		return v, nil
	}

	var last lastArrival
	found, err := tx.One(store.LastArrival, []any{r.UID, a.push.Replica}, func(s store.Row) {
		last = lastArrival{s.ColumnInt64(0), s.ColumnBlob(1, nil), s.ColumnBlob(2, nil)}
	})
	if err != nil {
		return v, err
	}

	said, here := fleet.StateOf(r.Memory), fleet.StateOf(&known.Memory)

	// The order matters: equal states come first, so that a push that is sent twice is never a conflict.
	switch {
	case bytes.Equal(said, here) || found && bytes.Equal(said, last.theirs):
		return store.ImportSame, nil
	case found && a.counters[r.UID] < last.counter:
		// An older push that was delayed.
		return store.ImportKeep, nil
	case found && bytes.Equal(here, last.ours):
		return store.ImportReplace, nil
	}

	// Both sides changed the memory since the last push. No clock decides: the state here stays, and the state of the
	// robot goes to the history.
	reason := fmt.Sprintf("robot %s changed it while it was changed here; the state here stays, the robot's is in its history", a.push.Robot)
	a.ack.Conflicts = append(a.ack.Conflicts, fleet.SyncNote{UID: r.UID, Reason: reason})
	err = errors.Join(
		tx.KeepVersion(known.ID, &archive.Version{
			Version: r.Version, ValidFrom: r.ValidFrom, ValidTo: store.FormatTime(tx.Now), Content: r.Content, Summary: r.Summary, Context: r.Context,
			Category: r.Category, Confidence: r.Confidence, Status: r.Status, Change: "conflict", Reason: reason,
		}),
		tx.Audit(admin.AuditEntry{Action: store.ActionImported, MemoryID: known.ID, UID: r.UID, Collection: known.Collection, Reason: "conflict: " + reason}))

	return store.ImportKeep, err
}

// Stored implements engine.Sync.
func (a *arrival) Stored(tx *store.Tx, r *store.ImportRecord, id int64, v store.Decision) error {
	if a.refused[r.UID] {
		return nil
	}

	said := fleet.StateOf(r.Memory)
	ours := said
	if v == store.ImportKeep || v == store.ImportSame {
		// The site keeps its own state, so the next change of the robot is compared with that state and not with the
		// one that it has sent now.
		_, err := tx.One(store.LastArrival, []any{r.UID, a.push.Replica},
			func(s store.Row) { ours = s.ColumnBlob(2, nil) })
		if err != nil {
			return err
		}
	}

	if id == 0 {
		return nil
	}

	// The payload is asked for in the answer. The robot then sends it on its own, within its policy.
	if r.Payload != nil && !r.Payload.Lost {
		p, err := tx.Payload(r.Payload.SHA256)
		if err != nil {
			return err
		}
		if p == nil && !slices.Contains(a.ack.Wanted, r.Payload.SHA256) {
			a.ack.Wanted = append(a.ack.Wanted, r.Payload.SHA256)
		}
	}

	return tx.Exec(store.PutArrival,
		r.UID, a.push.Replica, a.counters[r.UID], said, ours)
}

const (
	pullDefault = 500
	pullLimit   = 5000
)

// AnswerPull answers a Pull.
func AnswerPull(ctx context.Context, n *local.Node, p *fleet.PullRequest) (*fleet.PullResponse, error) {
	if p.Limit == 0 {
		p.Limit = pullDefault
	}
	if p.Limit < 1 || p.Limit > pullLimit {
		return nil, robotmem.Errorf(robotmem.Invalid, "limit", "must be 1 to %d, not %d", pullLimit, p.Limit)
	}

	wheres := make([]*filter.Condition, len(p.Subscribe))
	for i, s := range p.Subscribe {
		var err error
		if wheres[i], err = filter.Parse(s.Where); err != nil {
			return nil, err
		}
	}

	out := &fleet.PullResponse{Upto: p.After, Memories: []archive.Memory{}}
	err := engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		rows := 0
		err := c.EachArchivedSince(p.After, int64(p.Limit), func(a *store.Archived, revision int64) error {
			rows++
			out.Upto = revision

			// A row that is left out still advances Upto, otherwise a robot would ask for it forever.
			if a.Type != "fact" || a.Damaged || requireCollection(ctx, a.Collection) != nil {
				return nil
			}

			wanted := false
			for i, s := range p.Subscribe {
				wanted = wanted ||
					(s.Collection == "*" || s.Collection == a.Collection) &&
						(wheres[i] == nil || a.Status != "active" || wheres[i].Match(viewOf(&a.Memory)))
			}

			if !wanted {
				return nil
			}

			// A robot gets nothing back that it has sent itself.
			own, err := c.Number(store.CountArrivals, a.UID, p.Replica)
			if err != nil || own > 0 {
				return err
			}

			// The history, the episode and the successor exist at the site only.
			m := a.Memory
			m.Versions, m.Evictions, m.Session, m.SupersededBy = nil, nil, "", ""
			out.Memories = append(out.Memories, m)

			return nil
		})

		// A page with fewer rows than the limit is the last one.
		out.More = rows == p.Limit

		return err
	})
	if err != nil {
		return nil, err
	}

	return out, nil
}

// viewOf returns the fields of a memory that filters read.
func viewOf(m *archive.Memory) *filter.View {
	return &filter.View{Memory: &robotmem.Memory{
		Context: robotmem.ParseObject(string(m.Context)), Category: m.Category, PerceptionType: m.PerceptionType, SessionID: m.Session,
		Confidence: m.Confidence, ObservedAt: store.ParseTime(m.ObservedAt), Outcome: cmp.Or(m.Extra.Outcome,
			robotmem.OutcomeUnknown),
	}}
}
