package site

import (
	"cmp"
	"context"
	"errors"
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

const (
	partItems   = 500 // of a list of a push, in one transaction: a large push does not hold up other writers for long
	mostHalving = 20  // records of a push that are found by halves and refused alone
)

// inParts stores the items of a push, a part in one transaction. If the database cannot store a part, the item that is
// the reason is found by halves, and refused alone.
func inParts[T any](a *arrival, items []T, store func([]T) error, name func(*T) string) error {
	for part := range slices.Chunk(items, partItems) {
		if err := halve(a, part, store, name); err != nil {
			return err
		}
	}
	return nil
}

func halve[T any](a *arrival, part []T, store func([]T) error, name func(*T) string) error {
	err := store(part)
	switch {
	case !errors.Is(err, robotmem.Invalid) || a.halved >= mostHalving:
		return err
	case len(part) == 1:
		a.halved++
		a.refuse(name(&part[0]), err)
		return nil
	}

	half := len(part) / 2

	return cmp.Or(halve(a, part[:half], store, name), halve(a, part[half:], store, name))
}

// receive stores entries of an archive.
func (a *arrival) receive(ctx context.Context, n *local.Node, e *archive.Entry) error {
	options := archive.ImportOptions{Refused: func(uid string, err error) { a.note(uid, err) }}
	report, err := engine.Of(n).Receive(ctx, &fleet.Entries{List: []*archive.Entry{e}}, options, a)
	if err != nil {
		return err
	}

	to, from := &a.ack.Memories, &report.Memories
	to.Created += from.Created
	to.Updated += from.Updated
	to.Same += from.Same
	to.Kept += from.Kept
	to.Purged += from.Purged
	to.Refused += from.Refused

	return nil
}

// note names what is refused, once.
func (a *arrival) note(uid string, why error) {
	if !a.noted[uid] {
		a.ack.Refused = append(a.ack.Refused, fleet.SyncNote{UID: uid, Reason: robotmem.Explain(why).Detail()})
	}
	a.noted[uid] = true
}

// refuse notes what is refused, and that nothing of it is stored.
func (a *arrival) refuse(uid string, why error) {
	a.note(uid, why)
	a.refused[uid] = true
}

// storePast adds past states to memories of the robot.
func (a *arrival) storePast(ctx context.Context, n *local.Node) error {
	pieces := []fleet.PastStates{}

	for i := range a.push.Past {
		p := &a.push.Past[i]
		if err := a.checkPast(p); err != nil {
			a.refuse(p.UID, err)
			continue
		}

		for versions := range slices.Chunk(p.Versions, partItems) {
			pieces = append(pieces, fleet.PastStates{UID: p.UID, Versions: versions})
		}
	}

	store := func(part []fleet.PastStates) error {
		return engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
			for i := range part {
				if err := a.addPast(tx, &part[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}

	// A transaction has so many states, in however many pieces.
	for len(pieces) > 0 {
		end, states := 0, 0
		for end < len(pieces) && (end == 0 || states+len(pieces[end].Versions) <= partItems) {
			states += len(pieces[end].Versions)
			end++
		}
		if err := halve(a, pieces[:end], store, func(p *fleet.PastStates) string { return p.UID }); err != nil {
			return err
		}
		pieces = pieces[end:]
	}

	return nil
}

func (a *arrival) checkPast(p *fleet.PastStates) error {
	if err := checked.Storable(p); err != nil {
		return err
	}

	for i := range p.Versions {
		if err := checked.Version(&p.Versions[i]); err != nil {
			return err
		}
	}

	return a.requireUnsigned(p.Versions)
}

// addPast adds past states to a memory, unless it is not the caller's.
func (a *arrival) addPast(tx *store.Tx, p *fleet.PastStates) error {
	known, err := tx.ArchivedNamed(p.UID)
	if err != nil || known == nil {
		return err
	}

	err = requireMemory(a.caller, known.Extra.Robot, known.Collection)
	if err == nil {
		err = a.requireSuccessors(tx.Conn, "", p.Versions)
	}
	if errors.Is(err, robotmem.Forbidden) {
		a.refuse(p.UID, err)
		return nil
	}
	if err != nil {
		return err
	}

	return keepPast(tx, known, p.Versions)
}

// keepPast adds those past states to a memory that it does not have.
func keepPast(tx *store.Tx, known *store.Archived, past []archive.Version) error {
	// A history may be long, so the states are looked up by their numbers.
	have := map[int64][]*archive.Version{}

	for i := range known.Versions {
		v := &known.Versions[i]
		have[v.Version] = append(have[v.Version], v)
	}

	for i := range past {
		v := &past[i]
		if slices.ContainsFunc(have[v.Version], func(w *archive.Version) bool { return store.SameState(v, w) }) {
			continue
		}
		if err := tx.KeepVersion(known.ID, v); err != nil {
			return err
		}
		have[v.Version] = append(have[v.Version], v)
	}

	return nil
}

// purge purges the memories that a robot has purged, if they are of that robot and the caller's.
func (a *arrival) purge(ctx context.Context, n *local.Node) error {
	ids, unknown := []int64{}, []string{}
	err := engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		for _, uid := range a.push.Purged {
			named := struct {
				UID string `json:"purged" validate:"uid"`
			}{uid}
			if err := robotmem.Validate("", &named); err != nil {
				a.note(robotmem.Clip(uid, 40), err)
				continue
			}
			id, err := a.ownID(c, uid)
			if errors.Is(err, robotmem.Forbidden) {
				a.refuse(uid, err)
				continue
			}
			if err != nil {
				return err
			}
			if id != 0 {
				ids = append(ids, id)
			} else {
				unknown = append(unknown, uid)
			}
		}

		return nil
	})
	if err != nil {
		return err
	}

	if err := purgeUnknown(ctx, n, a.push.Robot, unknown); err != nil {
		return err
	}

	for _, id := range ids {
		_, err := n.Forget(ctx,
			&robotmem.ForgetRequest{MemoryID: id, Purge: true, Reason: "purged on robot " + a.push.Robot})

		// A uid may be there twice, and a push that is repeated finds the memory purged already.
		if err != nil && !errors.Is(err, robotmem.NotFound) {
			return err
		}
	}

	return nil
}

// ownID returns the id of a memory of the robot that pushes, 0 for an unknown one. It fails with Forbidden for one of
// others.
func (a *arrival) ownID(c *store.Conn, uid string) (id int64, err error) {
	robot, collection := "", ""
	_, err = c.One(store.OriginOfMemory, []any{uid}, func(r store.Row) {
		id, robot, collection = r.ColumnInt64(0), r.ColumnText(1), r.ColumnText(2)
	})
	if err != nil || id == 0 {
		return 0, err
	}
	if err := requireMemory(a.caller, robot, collection); err != nil {
		return 0, err
	}

	// The token of an operator speaks for any robot, and a memory of another one is still not this one's.
	if robot != a.push.Robot {
		return 0, robotmem.Errorf(robotmem.Forbidden, "uid", "is not a memory of the robot %s", a.push.Robot)
	}

	return id, nil
}

// credit counts that memories of other robots were used in episodes of this one, once for each episode.
func (a *arrival) credit(ctx context.Context, n *local.Node) error {
	good := make([]fleet.Credit, 0, len(a.push.Credits))
	for i := range a.push.Credits {
		c := &a.push.Credits[i]
		err := checked.Storable(c)
		if err == nil && !(c.Helped >= 0 && c.Helped <= 1) {
			err = robotmem.Errorf(robotmem.Invalid, "credits", "helped must be 0 to 1, not %v", c.Helped)
		}
		if err != nil {
			a.note(c.UID, err)
			continue
		}
		good = append(good, *c)
	}

	store := func(part []fleet.Credit) error {
		return engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
			for i := range part {
				if err := a.creditOne(ctx, tx, &part[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}

	return inParts(a, good, store, func(c *fleet.Credit) string { return c.UID })
}

func (a *arrival) creditOne(ctx context.Context, tx *store.Tx, c *fleet.Credit) error {
	id, collection := int64(0), ""
	_, err := tx.One(store.OriginOfMemory, []any{c.UID}, func(r store.Row) { id, collection = r.ColumnInt64(0), r.ColumnText(2) })
	if err != nil || id == 0 || requireCollection(ctx, collection) != nil {
		return err
	}

	session, err := tx.Session(c.SessionID)
	if errors.Is(err, robotmem.NotFound) || err == nil && record.RobotOf(session.Context) != a.push.Robot && a.caller.Role == robotmem.RoleRobot {
		return nil
	}
	if err != nil {
		return err
	}
	counted, err := tx.Number(store.CountCredit, c.SessionID, id)
	if err != nil || counted > 0 {
		return err
	}

	return tx.Credit(c.SessionID, &store.Credit{Scores: map[int64]float64{id: c.Helped}})
}
