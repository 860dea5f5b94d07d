package site

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/checked"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A robot numbers its changes. For each memory and robot the site stores the last state that the robot sent, and its
// own state at that time; together they act as a version vector. A change of the robot replaces the state of the site
// if the site has not changed it since, and is a conflict otherwise. No clock is compared.

// AnswerPush stores the changes of a robot. A push that is sent twice is stored once. One that does not follow the
// last push of the replica stores nothing, see [fleet.Link]. It fails with Conflict if another memory has the name of
// the robot.
func AnswerPush(ctx context.Context, n *local.Node, p *fleet.PushRequest) (*fleet.PushResponse, error) {
	if p.Replica == "" || p.Robot == "" {
		return nil, robotmem.Errorf(robotmem.Invalid, "replica", "and robot are required")
	}
	if err := requireRobot(ctx, p.Robot); err != nil {
		return nil, err
	}
	if p.Asks {
		return answerWanted(ctx, n, p)
	}

	// The replica is registered before anything is stored, so that two memories with one robot name cannot mix their
	// numbers.
	var known *replica
	err := engine.Of(n).Store.Write(ctx, func(tx *store.Tx) (err error) {
		known, err = registerReplica(tx, robotmem.CallerOf(ctx), &fleet.HelloRequest{Replica: p.Replica, Robot: p.Robot})
		if err != nil || known.state(p) != "" {
			return err
		}

		// From now on nothing of another push of this replica is stored, as one of a copy of the memory.
		return tx.Exec(store.ClaimReplica, linkOrNil(p.Link), p.Replica)
	})
	if err != nil {
		return nil, err
	}

	ack := &fleet.PushResponse{Protocol: fleet.Protocol, Upto: p.Upto, Link: p.Link}
	if ack.State = known.state(p); ack.State != "" {
		ack.Upto, ack.Link = known.upto, known.link
		return ack, nil
	}
	err = storePush(ctx, n, p, known, ack)
	if err != nil && !errors.Is(err, errOvertaken) {
		return nil, err
	}

	// The number and the link of the push are stored last. If the site fails before, the robot sends the push again and
	// nothing is stored twice.
	return ack, engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
		ack.State, ack.Upto, ack.Link = "", p.Upto, p.Link
		stored := int64(0)
		if err == nil {
			var failed error
			stored, failed = tx.Changed(store.AdvanceReplica, p.Upto, store.FormatTime(tx.Now), linkOrNil(p.Link), p.Replica)
			if failed != nil {
				return failed
			}
		}
		if stored > 0 {
			return nil
		}

		now, err := readReplica(tx.Conn, p.Replica)
		if err == nil && now != nil {
			ack.State, ack.Upto, ack.Link = fleet.StateDiverged, now.upto, now.link
		}

		return err
	})
}

// errOvertaken says that another push of the replica has begun, so that the rest of this one is not stored.
var errOvertaken = errors.New("another push of this memory has begun")

// claimed fails if another push of the replica has begun.
func (a *arrival) claimed(tx *store.Tx) error {
	if len(a.push.Link) == 0 || a.within == tx {
		return nil
	}
	claim := fleet.Link(nil)
	_, err := tx.One(store.ClaimOfReplica, []any{a.push.Replica}, func(s store.Row) { claim = s.ColumnBlob(0, nil) })
	if err == nil && !bytes.Equal(claim, a.push.Link) {
		err = errOvertaken
	}
	if err == nil {
		a.within = tx
	}

	return err
}

// storePush stores what a push says.
func storePush(ctx context.Context, n *local.Node, p *fleet.PushRequest, known *replica, ack *fleet.PushResponse) error {
	sessions, err := ownSessions(ctx, n, p, ack)
	if err != nil {
		return err
	}

	entries := []*archive.Entry{{Sessions: sessions}}
	a := newArrival(ctx, p, ack)
	// A robot need not be told what it says itself, unless two memories send under its name.
	if !known.shared {
		a.pusher = p.Robot
	}

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
		return err
	}
	ack.Memories = report.Memories

	for i := range p.Past {
		if err := a.storePast(ctx, n, &p.Past[i]); err != nil {
			return err
		}
	}

	// Links are of memories that this push may have stored, so their owners are looked up afterwards.
	links, err := ownLinks(ctx, n, p)
	if err != nil {
		return err
	}
	if _, err := engine.Of(n).Receive(ctx, &fleet.Entries{List: []*archive.Entry{{Links: links}}}, options, a); err != nil {
		return err
	}

	for _, uid := range p.Purged {
		if err := a.purge(ctx, n, uid); err != nil {
			return err
		}
	}

	for i := range p.Credits {
		if err := a.credit(ctx, n, &p.Credits[i]); err != nil {
			return err
		}
	}

	return settleByRule(ctx, n, a)
}

// answerWanted names the payloads of memories of the robot that the site does not have. It stores nothing.
func answerWanted(ctx context.Context, n *local.Node, p *fleet.PushRequest) (*fleet.PushResponse, error) {
	ack := &fleet.PushResponse{Protocol: fleet.Protocol, Upto: p.Upto}
	err := engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		for i := range p.Memories {
			m := &p.Memories[i]
			if m.Payload == nil || m.Payload.Lost || requireCollection(ctx, m.Collection) != nil {
				continue
			}
			known, err := c.ArchivedNamed(m.UID)
			if err != nil {
				return err
			}
			// Only that of a memory which the robot has sent: an answer about another one would say that it exists.
			if known == nil || known.Payload == nil || known.Payload.SHA256 != m.Payload.SHA256 ||
				requireMemory(robotmem.CallerOf(ctx), known.Extra.Robot, known.Collection) != nil {
				continue
			}
			if err := wants(c, known.Payload.SHA256, ack); err != nil {
				return err
			}
		}

		return nil
	})

	return ack, err
}

// wants adds a payload to those that the site asks for, if it does not have it.
func wants(c *store.Conn, sum string, ack *fleet.PushResponse) error {
	p, err := c.Payload(sum)
	if err == nil && p == nil && !slices.Contains(ack.Wanted, sum) {
		ack.Wanted = append(ack.Wanted, sum)
	}
	return err
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
	a.counters[m.UID], a.adopted[m.UID] = m.Counter, m.Adopted

	return nil
}

// purge purges a memory that a robot has purged, if it is of that robot and the caller's.
func (a *arrival) purge(ctx context.Context, n *local.Node, uid string) error {
	id, unknown := int64(0), false
	err := engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		known, err := c.ArchivedNamed(uid)
		if unknown = known == nil; err != nil || unknown {
			return err
		}
		if err := requireMemory(a.caller, known.Extra.Robot, known.Collection); err != nil {
			return err
		}

		// The token of an operator speaks for any robot, and a memory of another one is still not this one's.
		if known.Extra.Robot != a.push.Robot {
			return robotmem.Errorf(robotmem.Forbidden, "uid", "is not a memory of the robot %s", a.push.Robot)
		}
		id = known.ID

		return nil
	})
	if errors.Is(err, robotmem.Forbidden) {
		a.refuse(uid, err)
		return nil
	}

	if err == nil && unknown {
		if err = purgeUnknown(ctx, n, a.push.Robot, uid); errors.Is(err, robotmem.Invalid) {
			a.refuse(robotmem.Clip(uid, 40), err)
			return nil
		}
		return err
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
	a.refused[uid] = true
}

// arrival compares the memories of a push.
type arrival struct {
	caller    robotmem.Caller
	push      *fleet.PushRequest
	pusher    string    // the robot that need not be told of its changes
	within    *store.Tx // the transaction in which the claim was checked
	counters  map[string]int64
	adopted   map[string]bool   // what the robot has read here
	ours      map[string][]byte // the state here that the next push of a memory is compared with
	ack       *fleet.PushResponse
	refused   map[string]bool // uids of which nothing is stored
	conflicts []conflictOf
}

func newArrival(ctx context.Context, p *fleet.PushRequest, ack *fleet.PushResponse) *arrival {
	return &arrival{
		caller: robotmem.CallerOf(ctx), push: p, ack: ack,
		adopted: map[string]bool{}, counters: map[string]int64{}, ours: map[string][]byte{}, refused: map[string]bool{},
	}
}

// conflictOf is a conflict of this push.
type conflictOf struct {
	uid          string
	said, stored string // when the robot and the site changed the memory
}

// lastArrival is the state of the last push of a memory, and that of the site after it.
type lastArrival struct{ theirs, ours []byte }

// Decide implements engine.Sync.
func (a *arrival) Decide(
	tx *store.Tx, r *store.ImportRecord, known *store.Archived, v store.Decision,
) (store.Decision, error) {
	if err := a.claimed(tx); err != nil {
		return v, err
	}
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

	a.ours[r.UID] = fleet.StateOf(r.Memory)
	if known == nil {
		return v, nil
	}
	v, err := a.compare(tx, r, known)
	if err != nil || v == store.ImportReplace {
		return v, err
	}

	// The state here stays. What the robot's memory was in between has happened all the same.
	return v, keepPast(tx, known, r.Versions)
}

// compare compares the state of a robot with that of the site, and with both at the last push of the robot.
func (a *arrival) compare(tx *store.Tx, r *store.ImportRecord, known *store.Archived) (store.Decision, error) {
	var (
		last  lastArrival
		found bool
	)
	_, err := tx.One(store.LastArrival, []any{r.UID, a.push.Replica, a.pusher}, func(s store.Row) {
		if found = s.ColumnType(0) != store.Null; found {
			last = lastArrival{s.ColumnBlob(1, nil), s.ColumnBlob(2, nil)}
		}
	})
	if err != nil {
		return store.ImportKeep, err
	}

	// The order matters: equal states come first, so that a push that is sent twice is never a conflict.
	said, here := a.ours[r.UID], fleet.StateOf(&known.Memory)

	switch {
	case bytes.Equal(said, here):
		return store.ImportSame, nil
	case a.adopted[r.UID]:
		// It has read this here, and it has changed here again since: no change of the robot's stands against that.
		return store.ImportSame, a.tell(tx, r.UID)
	case found && bytes.Equal(said, last.theirs):
		// The robot has not got the state of the site yet.
		a.ours[r.UID] = last.ours
		return store.ImportSame, a.tell(tx, r.UID)
	case found && bytes.Equal(here, last.ours):
		return store.ImportReplace, nil
	case found:
		a.ours[r.UID] = last.ours
	case inPast(r.Versions, &known.Memory) && !inPast(known.Versions, r.Memory):
		// The first push of a replica: the state here is one that the robot has had before.
		return store.ImportReplace, nil
	case inPast(known.Versions, r.Memory) && !inPast(r.Versions, &known.Memory):
		return store.ImportKeep, a.tell(tx, r.UID)
	}

	return store.ImportKeep, a.conflict(tx, r, known)
}

// inPast reports whether a state is among past ones.
func inPast(past []archive.Version, m *archive.Memory) bool {
	return slices.ContainsFunc(past, func(v archive.Version) bool {
		return v.Content == m.Content && v.Status == m.Status && string(v.Context) == string(m.Context) && v.Change != conflicting
	})
}

// tell makes the robot read the state that the site has of its memory.
func (a *arrival) tell(tx *store.Tx, uid string) error {
	if a.push.Robot == "" {
		return nil
	}
	return tx.Exec(store.FeedAdd, fleet.OwnFeed(a.push.Robot), uid, fleet.Changed)
}

// conflicting is the change of a past state that did not become the present one.
const conflicting = "conflict"

// conflict keeps the state of the robot beside that of the site: both have changed the memory since the last push. No
// clock decides. The state here stays, that of the robot goes to the history, and somebody settles it.
func (a *arrival) conflict(tx *store.Tx, r *store.ImportRecord, known *store.Archived) error {
	reason := fmt.Sprintf("robot %s changed it while it was changed here; the state here stays, the robot's is in its history", a.push.Robot)
	// The transaction may run twice.
	if !slices.ContainsFunc(a.conflicts, func(c conflictOf) bool { return c.uid == r.UID }) {
		a.ack.Conflicts = append(a.ack.Conflicts, fleet.SyncNote{UID: r.UID, Reason: reason})
		a.conflicts = append(a.conflicts, conflictOf{r.UID, r.UpdatedAt, known.UpdatedAt})
	}

	said := *r.Memory
	said.Versions, said.Evictions = nil, nil
	text, err := json.Marshal(&said)
	if err != nil {
		return err
	}
	now := store.FormatTime(tx.Now)

	return errors.Join(
		tx.KeepVersion(known.ID, &archive.Version{
			Version: r.Version, ValidFrom: r.ValidFrom, ValidTo: now, Content: r.Content, Summary: r.Summary, Context: r.Context,
			Category: r.Category, Confidence: r.Confidence, Status: r.Status, Change: conflicting, Reason: reason,
		}),
		tx.Exec(store.PutConflict, r.UID, known.Collection, a.push.Robot, a.push.Replica, now, string(text)),
		tx.Audit(admin.AuditEntry{Action: store.ActionImported, MemoryID: known.ID, UID: r.UID, Collection: known.Collection, Reason: "conflict: " + reason}),
		a.tell(tx, r.UID))
}

// Stored implements engine.Sync.
func (a *arrival) Stored(tx *store.Tx, r *store.ImportRecord, id int64, v store.Decision) error {
	if a.refused[r.UID] || id == 0 {
		// Another change of the same commit is none of this robot.
		return tx.Exec(store.EndPush)
	}

	// The payload is asked for in the answer. The robot then sends it on its own, within its policy.
	if r.Payload != nil && !r.Payload.Lost {
		if err := wants(tx.Conn, r.Payload.SHA256, a.ack); err != nil {
			return err
		}
	}

	return tx.Exec(store.PutArrival,
		r.UID, a.push.Replica, a.counters[r.UID], fleet.StateOf(r.Memory), a.ours[r.UID])
}

// storePast adds past states to a memory of the robot.
func (a *arrival) storePast(ctx context.Context, n *local.Node, p *fleet.PastStates) error {
	for i := range p.Versions {
		if err := checked.Version(&p.Versions[i]); err != nil {
			a.refuse(p.UID, err)
			return nil
		}
	}

	err := engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
		known, err := tx.ArchivedNamed(p.UID)
		if err != nil || known == nil {
			return err
		}
		if err := requireMemory(a.caller, known.Extra.Robot, known.Collection); err != nil {
			return err
		}

		return keepPast(tx, known, p.Versions)
	})
	if errors.Is(err, robotmem.Forbidden) {
		a.refuse(p.UID, err)
		return nil
	}

	return err
}

// keepPast adds those past states to a memory that it does not have.
func keepPast(tx *store.Tx, known *store.Archived, past []archive.Version) error {
	for i := range past {
		v := &past[i]
		if slices.ContainsFunc(known.Versions, func(w archive.Version) bool { return store.SameState(v, &w) }) {
			continue
		}
		if err := tx.KeepVersion(known.ID, v); err != nil {
			return err
		}
	}

	return nil
}

// credit counts that a memory of another robot was used in an episode of this one, once for each episode.
func (a *arrival) credit(ctx context.Context, n *local.Node, c *fleet.Credit) error {
	if !(c.Helped >= 0 && c.Helped <= 1) {
		return robotmem.Errorf(robotmem.Invalid, "credits", "helped must be 0 to 1, not %v", c.Helped)
	}

	return engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
		known, err := tx.ArchivedNamed(c.UID)
		if err != nil || known == nil || requireCollection(ctx, known.Collection) != nil {
			return err
		}
		session, err := tx.Session(c.SessionID)
		if errors.Is(err, robotmem.NotFound) || err == nil && record.RobotOf(session.Context) != a.push.Robot && a.caller.Role == robotmem.RoleRobot {
			return nil
		}
		if err != nil {
			return err
		}
		counted, err := tx.Number(store.CountCredit, c.SessionID, known.ID)
		if err != nil || counted > 0 {
			return err
		}

		return tx.Credit(c.SessionID, &store.Credit{Scores: map[int64]float64{known.ID: c.Helped}})
	})
}
