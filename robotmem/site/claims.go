package site

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/checked"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// What a push claims is compared with the token of its sender and with the rows of the site. A refusal says nothing of
// what is in other collections.

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
func (a *arrival) ownSessions(ctx context.Context, n *local.Node) (own []archive.Session, err error) {
	err = engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		for _, s := range a.push.Sessions {
			err := cmp.Or(checked.Storable(&s), requireCollection(ctx, s.Collection))

			// The push of a robot may name any episode. One of another robot, or of a collection without a right, is
			// refused, and the rest of the push is stored.
			if err == nil {
				err = requireSession(ctx, c, a.push.Robot, s.SessionID)
			}
			if err == nil {
				err = a.signSession(&s)
			}
			if err != nil && !refusable(err) {
				return err
			}
			if err != nil {
				a.note(s.SessionID, err)
				continue
			}
			s.Where = s.SessionID
			own = append(own, s)
		}

		return nil
	})

	return own, err
}

// refusable reports whether an error concerns one record of a push, so that the rest can be stored.
func refusable(err error) bool {
	return errors.Is(err, robotmem.Forbidden) || errors.Is(err, robotmem.Invalid) || errors.Is(err, robotmem.TooLarge)
}

// signSession names the robot of the token in the context of an episode, which alone says whose it is.
func (a *arrival) signSession(s *archive.Session) error {
	if a.caller.Role != robotmem.RoleRobot {
		return nil
	}
	context, err := a.signed(s.Context)
	if err == nil {
		s.Context, err = json.Marshal(context)
	}

	return err
}

// signed returns a context with the name of the robot of the token. It fails if the context names another robot.
func (a *arrival) signed(archived json.RawMessage) (context robotmem.Object, err error) {
	if len(archived) > 0 {
		if err := context.UnmarshalJSON(archived); err != nil {
			return nil, robotmem.Errorf(robotmem.Invalid, "context", "%v", err)
		}
	}
	err = (&access{Caller: a.caller}).sign(&context)

	return context, err
}

// requireSession fails with Forbidden if an episode is known and not the caller's: of another robot, of none, or in a
// collection that the caller has not. The answer is the same for each of these.
func requireSession(ctx context.Context, c *store.Conn, robot, id string) error {
	known, err := c.Session(id)
	if errors.Is(err, robotmem.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}

	own := requireCollection(ctx, known.Collection) == nil
	if own && robotmem.CallerOf(ctx).Role == robotmem.RoleRobot {
		if own, err = sessionOf(c, known, robot); err != nil {
			return err
		}
	}
	if !own {
		return robotmem.Errorf(robotmem.Forbidden, "session_id",
			"%q is not an episode of the robot %s; start one under another id", id, robot)
	}

	return nil
}

// sessionOf reports whether an episode is of a robot.
func sessionOf(c *store.Conn, s *store.SessionRow, robot string) (bool, error) {
	if by := record.RobotOf(s.Context); by != "" {
		return by == robot, nil
	}

	// Earlier versions stored the episodes of a robot without its name. Their memories, all of this robot, tell.
	robots, err := c.Texts(store.RobotsOfSession, s.SessionID)

	return len(robots) == 1 && robots[0] == robot, err
}

// requireMemory fails with Forbidden if a stored memory is not the caller's: of another robot than that
// of its token, or in a collection that it has not. The stored row decides, not what a push says.
func requireMemory(caller robotmem.Caller, robot, collection string) error {
	foreign := caller.Role == robotmem.RoleRobot && robot != caller.Robot
	if set := caller.Collections; foreign || set != "" && !robotmem.InCollections(set, collection) {
		return robotmem.Errorf(robotmem.Forbidden, "uid", "is not a memory of the robot %s in the collections of its token", caller.Robot)
	}

	return nil
}

// requireSuccessors fails with Forbidden if a memory names a successor in a collection that the caller has not.
func (a *arrival) requireSuccessors(c *store.Conn, present string, past []archive.Version) error {
	uids := make([]string, 0, 1+len(past))
	if present != "" {
		uids = append(uids, present)
	}

	for i := range past {
		if by := past[i].SupersededBy; by != "" {
			uids = append(uids, by)
		}
	}
	slices.Sort(uids)

	for _, uid := range slices.Compact(uids) {
		collection, found := "", false
		_, err := c.One(store.OriginOfMemory, []any{uid}, func(r store.Row) { collection, found = r.ColumnText(2), true })
		if err != nil {
			return err
		}
		if set := a.caller.Collections; found && set != "" && !robotmem.InCollections(set, collection) {
			return robotmem.Errorf(robotmem.Forbidden, "superseded_by",
				"names a memory that is not in the collections of the token; leave it out")
		}
	}

	return nil
}

// ownLinks returns the links between memories and sessions that the caller may change.
func (a *arrival) ownLinks(ctx context.Context, n *local.Node) (own []archive.Link, err error) {
	if a.caller.Role != robotmem.RoleRobot {
		return a.push.Links, nil
	}

	err = engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		for i := range a.push.Links {
			l := &a.push.Links[i]
			err := checked.Storable(l)
			if err == nil && l.Memory != "" {
				err = ownerOf(c, a.caller, l.Memory)
			}
			if err == nil {
				err = a.requireSuccessors(c, l.SupersededBy, nil)
			}
			if err == nil && l.SessionID != "" {
				err = requireSession(ctx, c, a.push.Robot, l.SessionID)
			}
			if err == nil && l.Collection != "" {
				err = requireCollection(ctx, l.Collection)
			}

			switch {
			case err == nil:
				own = append(own, *l)
			case !refusable(err):
				return err
			}
		}

		return nil
	})

	return own, err
}

// ownerOf fails if a memory is known and not the caller's.
func ownerOf(c *store.Conn, caller robotmem.Caller, uid string) error {
	robot, collection, found := "", "", false
	_, err := c.One(store.OriginOfMemory, []any{uid}, func(r store.Row) {
		robot, collection, found = r.ColumnText(1), r.ColumnText(2), true
	})
	if err != nil || !found {
		return err
	}

	return requireMemory(caller, robot, collection)
}

const (
	mostClaimed = 0.95 // the highest confidence that the rules of classification give
	mostUses    = 1e6  // that a robot claims of a memory
)

// admit checks a memory of a push by itself, and removes from it what only an operator or this node
// may say: its source, if that is reserved, who stored it, and that it is pinned.
func (a *arrival) admit(ctx context.Context, n *local.Node, m *fleet.NumberedMemory) error {
	if err := checked.Storable(&m.Memory); err != nil {
		return err
	}
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

	if x := &m.Extra; !(x.Successes >= 0 && x.Successes <= x.Uses && x.Uses <= math.MaxFloat64) {
		return robotmem.Errorf(robotmem.Invalid, "uses", "are %v with %v successes; successes are from 0 to uses", x.Uses, x.Successes)
	}
	if a.caller.Role == robotmem.RoleRobot {
		if err := a.admitOfRobot(ctx, n, m); err != nil {
			return err
		}
	}
	if m.Type == "fact" {
		m.Summary = record.Summarize(m.Content)
	}
	m.Where = m.UID
	a.counters[m.UID], a.adopted[m.UID] = m.Counter, m.Adopted

	return nil
}

// admitOfRobot checks what the token of a robot may not say.
func (a *arrival) admitOfRobot(ctx context.Context, n *local.Node, m *fleet.NumberedMemory) error {
	// The row says who has sent a memory. Its context, and those of its past, may not say that it was another robot.
	if _, err := a.signed(m.Context); err != nil {
		return err
	}
	if err := a.requireUnsigned(m.Versions); err != nil {
		return err
	}

	// A robot is never surer than the rules that classify what it says.
	m.Confidence = min(m.Confidence, mostClaimed)
	if x := &m.Extra; x.Uses > mostUses {
		x.Successes, x.Uses = x.Successes/x.Uses*mostUses, mostUses
	}
	if m.Type != robotmem.TypeDocument {
		return nil
	}

	context, document := robotmem.ParseObject(string(m.Context)), struct{ collection, name string }{collection: m.Collection}
	if fields, ok := context["document"].(map[string]any); ok {
		document.name, _ = fields["name"].(string)
	}
	err, known := a.documents[document]
	if !known {
		err = (&access{Caller: a.caller, node: n}).checkDocument(ctx, document.collection, document.name)
		a.documents[document] = err
	}

	return err
}

// requireUnsigned fails if a past state names another robot than that of the token.
func (a *arrival) requireUnsigned(past []archive.Version) error {
	if a.caller.Role != robotmem.RoleRobot {
		return nil
	}

	for i := range past {
		if _, err := a.signed(past[i].Context); err != nil {
			return err
		}
	}

	return nil
}
