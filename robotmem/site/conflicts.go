package site

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Conflict is a memory that a robot and the site have both changed. The state of the site stands until somebody
// settles it.
type Conflict struct {
	ID         int64     `json:"id"`
	UID        string    `json:"uid"`
	MemoryID   int64     `json:"memory_id"`
	Collection string    `json:"collection"`
	Robot      string    `json:"robot"`
	At         time.Time `json:"at"`
	Here       string    `json:"here"` // the text at the site
	Said       string    `json:"said"` // the text of the robot

	state archive.Memory // of the robot
}

// The ways to settle a conflict.
const (
	KeepSite  = "site"
	KeepRobot = "robot"
	KeepBoth  = "both"
)

// The rules of a tenant beside KeepSite and KeepBoth, see [Limits].
const (
	RuleAsk    = "ask"
	RuleNewest = "newest"
)

const mostConflicts = 1000

// Conflicts returns the open conflicts, oldest first: of a robot, or of all with an empty name.
func Conflicts(ctx context.Context, n *local.Node, robot string) (list []Conflict, err error) {
	list = []Conflict{}
	err = engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		return c.Query(store.ConflictsOpen, []any{robot, mostConflicts}, func(s store.Row) error {
			conflict, err := scanConflict(s)
			list = append(list, conflict)
			return err
		})
	})

	return list, err
}

func scanConflict(s store.Row) (c Conflict, err error) {
	c = Conflict{
		ID: s.ColumnInt64(0), UID: s.ColumnText(1), Collection: s.ColumnText(2), Robot: s.ColumnText(3),
		At: store.ParseTime(s.ColumnText(4)), MemoryID: s.ColumnInt64(6), Here: s.ColumnText(7),
	}
	err = json.Unmarshal([]byte(s.ColumnText(5)), &c.state)
	c.Said = c.state.Content

	return c, err
}

// Settle ends a conflict: the state of the site stays, that of the robot takes its place, or the state of the robot
// becomes a memory of its own. Robots hear of it as of any change. It fails with NotFound without an open conflict of
// that number.
func Settle(ctx context.Context, n *local.Node, id int64, keep string) error {
	if keep != KeepSite && keep != KeepRobot && keep != KeepBoth {
		return robotmem.Errorf(robotmem.Invalid, "keep", "must be site, robot or both, not %.40q", keep)
	}

	var c *Conflict
	err := engine.Of(n).Store.Read(ctx, func(conn *store.Conn) error {
		failed := error(nil)
		_, err := conn.One(store.ConflictByID, []any{id}, func(s store.Row) {
			found, err := scanConflict(s)
			c, failed = &found, err
		})
		return errors.Join(err, failed)
	})
	if err != nil {
		return err
	}
	if c == nil {
		return robotmem.Errorf(robotmem.NotFound, "id", "there is no open conflict %d; robotmem fleet conflicts lists them", id)
	}

	return settle(ctx, n, c, keep)
}

func settle(ctx context.Context, n *local.Node, c *Conflict, keep string) (err error) {
	switch keep {
	case KeepRobot:
		err = takeState(ctx, n, c)
	case KeepBoth:
		err = keepBeside(ctx, n, c)
	}
	if err != nil {
		return err
	}

	return engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error {
		return tx.Exec(store.SettleConflict, store.FormatTime(tx.Now), robotmem.CallerOf(ctx).Who, keep, c.ID)
	})
}

// takeState makes the state of the robot the present one. The state of the site becomes a past one.
func takeState(ctx context.Context, n *local.Node, c *Conflict) error {
	m := c.state
	m.Where = m.UID
	_, err := engine.Of(n).Receive(ctx, &fleet.Entries{List: []*archive.Entry{{Memories: []archive.Memory{m}}}},
		archive.ImportOptions{}, taking{})

	return err
}

// taking replaces what is known.
type taking struct{}

// Decide implements engine.Sync.
func (taking) Decide(_ *store.Tx, _ *store.ImportRecord, known *store.Archived, v store.Decision) (store.Decision, error) {
	if known != nil {
		return store.ImportReplace, nil
	}
	return v, nil
}

// Stored implements engine.Sync.
func (taking) Stored(*store.Tx, *store.ImportRecord, int64, store.Decision) error { return nil }

// keepBeside learns the text of the robot as a fact of its own, which names what it disagrees with.
func keepBeside(ctx context.Context, n *local.Node, c *Conflict) error {
	if c.state.Status != "active" || strings.TrimSpace(c.state.Content) == "" {
		return nil // there is nothing to keep: the robot has forgotten the memory
	}

	context := robotmem.ParseObject(string(c.state.Context))
	if record.RobotOf(context) == "" {
		if context == nil {
			context = robotmem.Object{}
		}
		context["robot"] = c.Robot
	}
	observed := store.ParseTime(c.state.ObservedAt)
	_, err := n.LearnBatch(ctx, &robotmem.LearnBatchRequest{
		KeepDuplicates: true,
		Items: []robotmem.LearnRequest{{
			Insight: c.state.Content, Collection: c.Collection, Context: context,
			ObservedAt: &observed, RequestID: "conflict " + c.UID + " " + c.state.UpdatedAt,
		}},
	})

	return err
}

// settleByRule settles the conflicts of a push by the rule of the tenant.
func settleByRule(ctx context.Context, n *local.Node, a *arrival) error {
	if len(a.conflicts) == 0 {
		return nil
	}

	rule, open := "", map[string]Conflict{}
	err := engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		_, err := c.One(store.ConflictRule, nil, func(s store.Row) { rule = s.ColumnText(0) })
		if err != nil {
			return err
		}

		return c.Query(store.ConflictsOpen, []any{a.push.Robot, mostConflicts}, func(s store.Row) error {
			found, err := scanConflict(s)
			open[found.UID] = found
			return err
		})
	})
	if err != nil || rule == "" || rule == RuleAsk {
		return err
	}

	for _, made := range a.conflicts {
		c, ok := open[made.uid]
		if !ok {
			continue
		}
		keep := rule
		if rule == RuleNewest {
			if keep = KeepSite; made.said > made.stored {
				keep = KeepRobot
			}
		}
		if err := settle(ctx, n, &c, keep); err != nil {
			return err
		}
	}

	return nil
}

// Robot is a memory that sends to the site.
type Robot struct {
	Robot     string    `json:"robot"`
	Replica   string    `json:"replica"`
	Version   string    `json:"version,omitempty"` // of its program
	Joined    time.Time `json:"joined"`
	Seen      time.Time `json:"seen"`
	Pushed    time.Time `json:"pushed,omitzero"`
	Pulled    time.Time `json:"pulled,omitzero"`
	Waiting   int64     `json:"waiting"` // changes that it had not sent when it pulled last
	Refused   int64     `json:"refused"`
	Conflicts int64     `json:"conflicts"`          // open ones
	ClockMS   *int64    `json:"clock_ms,omitempty"` // its clock minus the clock of the site, at its last hello
	Cloned    bool      `json:"cloned,omitempty"`   // another memory goes on from the same state
}

// Robots returns the robots of a tenant, by name.
func Robots(ctx context.Context, n *local.Node) (list []Robot, err error) {
	list = []Robot{}
	err = engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		return c.Query(store.RobotsOfSite, nil, func(s store.Row) error {
			r := Robot{
				Replica: s.ColumnText(0), Robot: s.ColumnText(1), Version: s.ColumnText(2), Joined: store.ParseTime(s.ColumnText(3)),
				Seen: store.ParseTime(s.ColumnText(4)), Pushed: store.ParseTime(s.ColumnText(5)), Pulled: store.ParseTime(s.ColumnText(6)),
				Waiting: s.ColumnInt64(7), Refused: s.ColumnInt64(8), Cloned: s.ColumnBool(10), Conflicts: s.ColumnInt64(11),
			}
			if s.ColumnType(9) != store.Null {
				ms := s.ColumnInt64(9)
				r.ClockMS = &ms
			}
			list = append(list, r)

			return nil
		})
	})

	return list, err
}

// Purge is a memory that was purged, with the robots that have not confirmed that they hold it no more.
type Purge struct {
	UID     string   `json:"uid"`
	At      string   `json:"at"`
	Waiting []string `json:"waiting"`
}

// UnconfirmedPurges returns the purges that some robots have not confirmed, newest first; with a uid only that of one
// memory.
func UnconfirmedPurges(ctx context.Context, n *local.Node, uid string) (list []Purge, err error) {
	list = []Purge{}
	err = engine.Of(n).Store.Read(ctx, func(c *store.Conn) error {
		return c.Query(store.UnconfirmedPurges, []any{uid, mostConflicts}, func(s store.Row) error {
			list = append(list, Purge{s.ColumnText(0), s.ColumnText(1), strings.Split(s.ColumnText(2), "\x1f")})
			return nil
		})
	})

	return list, err
}
