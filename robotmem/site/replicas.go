package site

import (
	"bytes"
	"context"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// replica is what the site knows of a memory that sends to it.
type replica struct {
	robot          string
	upto           int64
	link, claim    fleet.Link // of the last push that is stored, and of the one that was begun last
	forked, cloned bool       // another replica has taken its place; two have gone on from one state
	shared         bool       // several memories send under the name of the robot
}

// state compares a push with the last one of the replica.
func (r *replica) state(p *fleet.PushRequest) string {
	switch {
	case r.forked:
		return fleet.StateCloned
	case len(p.Link) == 0, bytes.Equal(p.Prev, r.link):
		return ""
	default:
		return fleet.StateDiverged
	}
}

// linkOrNil is the link as a value of a column, nil for none.
func linkOrNil(l fleet.Link) any {
	if len(l) == 0 {
		return nil
	}
	return []byte(l)
}

// readReplica returns what is known of a replica, nil without one.
func readReplica(c *store.Conn, name string) (r *replica, err error) {
	_, err = c.One(store.ReplicaOf, []any{name}, func(s store.Row) {
		r = &replica{
			robot: s.ColumnText(0), upto: s.ColumnInt64(1), link: s.ColumnBlob(2, nil), forked: s.ColumnBool(3),
			cloned: s.ColumnBool(4), claim: s.ColumnBlob(5, nil),
		}
	})

	return r, err
}

// registerReplica registers the memory of a robot. A token of a robot does not speak for the memory of another.
func registerReplica(tx *store.Tx, c robotmem.Caller, h *fleet.HelloRequest) (*replica, error) {
	known, err := readReplica(tx.Conn, h.Replica)
	if err != nil {
		return nil, err
	}
	if known == nil {
		if err := newReplica(tx, h); err != nil {
			return nil, err
		}
		known = &replica{robot: h.Robot}
	}

	// Without this check a robot that learns the id of another replica could move its progress.
	if known.robot != h.Robot && c.Role == robotmem.RoleRobot {
		return nil, robotmem.Errorf(robotmem.Forbidden, "replica",
			"is the memory of another robot; run robotmem fleet leave, then join again")
	}
	if known.robot != h.Robot {
		return nil, robotmem.Errorf(robotmem.Conflict, "robot",
			"this memory sends as %q to this site; run robotmem fleet leave, then join again to send under another name", known.robot)
	}

	live, err := tx.Number(store.CountReplicasOfRobot, h.Robot)
	known.shared = live > 1

	return known, err
}

// newReplica stores a replica that the site has not seen, unless another memory has the name of its robot. A memory
// that was restored or copied takes the name of the replica that it was.
func newReplica(tx *store.Tx, h *fleet.HelloRequest) error {
	other, file := "", ""
	_, err := tx.One(store.ReplicaOfRobot, []any{h.Robot}, func(r store.Row) { other, file = r.ColumnText(0), r.ColumnText(1) })
	if err != nil {
		return err
	}

	forkOf, err := knownBefore(tx.Conn, h)
	if err != nil {
		return err
	}
	if forkOf == "" && h.FileID != "" && h.FileID == file {
		forkOf = other
	}
	if other != "" && forkOf == "" {
		return robotmem.Errorf(robotmem.Conflict, "robot",
			"another memory sends as %q to this site; give this robot another name with --robot, or, if this memory takes the place of that one, join with --replace",
			h.Robot)
	}

	now := store.FormatTime(tx.Now)
	if forkOf != "" {
		if err := tx.Exec(store.ForkReplica, now, forkOf); err != nil {
			return err
		}
	}
	if err := tx.Exec(store.PutReplica, h.Replica, h.Robot, now, now, forkOf); err != nil {
		return err
	}
	if forkOf != "" {
		return tx.Exec(store.MarkClones, forkOf)
	}

	return nil
}

// knownBefore returns the newest replica that a memory was before and that the site knows as one of its robot.
func knownBefore(c *store.Conn, h *fleet.HelloRequest) (string, error) {
	for _, name := range h.Before[:min(len(h.Before), mostBefore)] {
		before, err := readReplica(c, name)
		if err != nil || before != nil && before.robot == h.Robot {
			return name, err
		}
	}

	return "", nil
}

// mostBefore bounds the replicas that a memory may name as those that it was.
const mostBefore = 100

// AnswerHello returns how much of a robot's memory has arrived.
func AnswerHello(ctx context.Context, n *local.Node, h *fleet.HelloRequest) (w *fleet.HelloResponse, err error) {
	if h.Replica == "" || h.Robot == "" {
		return nil, robotmem.Errorf(robotmem.Invalid, "replica", "and robot are required")
	}
	if err := requireRobot(ctx, h.Robot); err != nil {
		return nil, err
	}

	w = &fleet.HelloResponse{Protocol: fleet.Protocol}
	err = engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
		// The old entry goes before the registration, which would find the name taken.
		if h.Replace {
			if err := tx.Exec(store.DeleteOtherReplicas, h.Robot, h.Replica); err != nil {
				return err
			}
		}
		known, err := registerReplica(tx, robotmem.CallerOf(ctx), h)
		if err != nil {
			return err
		}

		w.Upto, w.Link, w.State, w.Cloned = known.upto, known.link, "", known.cloned
		if !bytes.Equal(known.claim, known.link) {
			w.Claim = known.claim
		}
		if known.forked {
			w.State = fleet.StateCloned
		}

		return tx.Exec(store.GreetReplica, store.FormatTime(tx.Now), clip(h.FileID), clip(h.Version), clockOf(h, tx.Now), h.Replica)
	})

	return w, err
}

// clip bounds a text that a robot says of itself.
func clip(text string) string { return robotmem.Clip(text, 100) }

// clockOf returns how far the clock of a robot is before that of the site, in milliseconds; nil if it says nothing.
func clockOf(h *fleet.HelloRequest, now time.Time) any {
	if h.Clock.IsZero() {
		return nil
	}

	const most = 100 * 365 * 24 * time.Hour

	return max(-most, min(most, h.Clock.Sub(now))).Milliseconds()
}

// purgeUnknown notes the purges of memories that the site does not have: a copy of the robot's memory may still hold
// them, and would bring them, and other robots may have them from before the site was restored. Nobody knows any more
// which collection they were in, so all feeds of the caller's collections say it.
func purgeUnknown(ctx context.Context, n *local.Node, robot string, uids []string) error {
	if len(uids) == 0 {
		return nil
	}

	return engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
		heads, err := tx.FeedHeads("[]", true)
		if err != nil {
			return err
		}
		feeds := []string{fleet.OwnFeed(robot)}

		for i := range heads {
			if requireCollection(ctx, heads[i].Feed) == nil {
				feeds = append(feeds, heads[i].Feed)
			}
		}

		for _, uid := range uids {
			purged, err := tx.Purged(uid)
			if err != nil {
				return err
			}
			if purged {
				continue
			}

			// No memory has a negative number.
			revision := tx.NextRevision()

			err = tx.Exec(store.InsertPurged, -revision, uid, revision)
			for _, feed := range feeds {
				if err == nil {
					err = tx.Exec(store.FeedAdd, feed, uid, fleet.Purged)
				}
			}
			if err != nil {
				return err
			}
		}

		return nil
	})
}
