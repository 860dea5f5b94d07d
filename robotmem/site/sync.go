package site

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
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
	a := newArrival(ctx, p, ack)
	// A robot need not be told what it says itself, unless two memories send under its name.
	if !known.shared {
		a.pusher = p.Robot
	}

	sessions, err := a.ownSessions(ctx, n)
	if err != nil {
		return err
	}
	err = inParts(a, sessions, func(part []archive.Session) error { return a.receive(ctx, n, &archive.Entry{Sessions: part}) },
		func(s *archive.Session) string { return s.SessionID })
	if err != nil {
		return err
	}

	memories := make([]archive.Memory, 0, len(p.Memories))
	for i := range p.Memories {
		m := &p.Memories[i]
		if err := a.admit(ctx, n, m); err != nil {
			if !refusable(err) {
				return err
			}
			a.note(m.UID, err)
			continue
		}
		memories = append(memories, m.Memory)
	}
	err = inParts(a, memories, func(part []archive.Memory) error { return a.receive(ctx, n, &archive.Entry{Memories: part}) },
		func(m *archive.Memory) string { return m.UID })
	if err != nil {
		return err
	}
	if err := a.storePast(ctx, n); err != nil {
		return err
	}

	// Links are of memories that this push may have stored, so their owners are looked up afterwards.
	links, err := a.ownLinks(ctx, n)
	if err != nil {
		return err
	}
	err = inParts(a, links, func(part []archive.Link) error { return a.receive(ctx, n, &archive.Entry{Links: part}) },
		func(l *archive.Link) string { return cmp.Or(l.Memory, l.SessionID) })
	if err != nil {
		return err
	}

	if err := a.purge(ctx, n); err != nil {
		return err
	}
	if err := a.credit(ctx, n); err != nil {
		return err
	}

	return settleByRule(ctx, n, a)
}

// answerWanted names the payloads of memories of the robot that the site does not have. It stores nothing.
func answerWanted(ctx context.Context, n *local.Node, p *fleet.PushRequest) (*fleet.PushResponse, error) {
	ack := &fleet.PushResponse{Protocol: fleet.Protocol, Upto: p.Upto}
	a := newArrival(ctx, p, ack)
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
			if err := a.wantsOf(c, m, known); err != nil {
				return err
			}
		}

		return nil
	})

	return ack, err
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
	refused   map[string]bool                             // uids of which nothing is stored
	noted     map[string]bool                             // uids that the answer names as refused
	halved    int                                         // records that were found by halves
	proven    bool                                        // the payload that came is of the memory now
	unproven  map[string]*archive.Payload                 // by uid: named by no memory that the caller may read
	documents map[struct{ collection, name string }]error // whether the caller may add to them
	conflicts []conflictOf
}

func newArrival(ctx context.Context, p *fleet.PushRequest, ack *fleet.PushResponse) *arrival {
	return &arrival{
		caller: robotmem.CallerOf(ctx), push: p, ack: ack,
		adopted: map[string]bool{}, counters: map[string]int64{}, ours: map[string][]byte{}, refused: map[string]bool{},
		noted: map[string]bool{}, unproven: map[string]*archive.Payload{}, documents: map[struct{ collection, name string }]error{},
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

	// Before anything is compared: who may not change the memory learns nothing of it and leaves nothing.
	err := a.mayStore(tx.Conn, r.Memory, known)
	if refusable(err) {
		a.refuse(r.UID, err)
		return store.ImportRefused, nil
	}
	if err == nil {
		err = a.provePayload(tx.Conn, r, known)
	}
	if err != nil {
		return v, err
	}

	a.ours[r.UID] = fleet.StateOf(r.Memory)
	if known == nil {
		return v, nil
	}

	// A robot says how often a memory was used only of one that is new here. From then on the site counts.
	if a.caller.Role == robotmem.RoleRobot {
		r.Extra.Uses, r.Extra.Successes = known.Extra.Uses, known.Extra.Successes
	}
	v, err = a.compare(tx, r, known)
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
	if p := a.unproven[r.UID]; p != nil && !p.Lost && !slices.Contains(a.ack.Wanted, p.SHA256) {
		a.ack.Wanted = append(a.ack.Wanted, p.SHA256)
	}
	if r.Payload != nil && !r.Payload.Lost && !r.Proven {
		if err := wants(tx.Conn, r.Payload.SHA256, a.ack); err != nil {
			return err
		}
	}
	a.proven = r.Proven

	return tx.Exec(store.PutArrival,
		r.UID, a.push.Replica, a.counters[r.UID], fleet.StateOf(r.Memory), a.ours[r.UID])
}
