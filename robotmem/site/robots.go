package site

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// Robots returns the robots of a tenant, by name: those that were not seen for a time, or all with 0. It fails with
// NotFound without such a tenant.
func (s *Site) Robots(ctx context.Context, tenant string, stale time.Duration) (list []Robot, err error) {
	err = s.inTenant(ctx, tenant, func(n *local.Node) error {
		list, err = Robots(ctx, n)
		now := n.Now()
		list = slices.DeleteFunc(list, func(r Robot) bool { return now.Sub(r.Seen) < stale })

		return err
	})

	return list, err
}

// Conflicts returns the open conflicts of a tenant, see [Conflicts].
func (s *Site) Conflicts(ctx context.Context, tenant, robot string) (list []Conflict, err error) {
	err = s.inTenant(ctx, tenant, func(n *local.Node) error { list, err = Conflicts(ctx, n, robot); return err })
	return list, err
}

// Settle ends a conflict of a tenant, see [Settle].
func (s *Site) Settle(ctx context.Context, tenant string, id int64, keep string) error {
	return s.inTenant(ctx, tenant, func(n *local.Node) error { return Settle(ctx, n, id, keep) })
}

// UnconfirmedPurges returns the purges of a tenant that some robots have not confirmed, see [UnconfirmedPurges].
func (s *Site) UnconfirmedPurges(ctx context.Context, tenant, uid string) (list []Purge, err error) {
	err = s.inTenant(ctx, tenant, func(n *local.Node) error { list, err = UnconfirmedPurges(ctx, n, uid); return err })
	return list, err
}

// inTenant calls f with the memory of a tenant. It fails with NotFound without such a tenant.
func (s *Site) inTenant(ctx context.Context, tenant string, f func(*local.Node) error) error {
	if err := s.known(ctx, tenant); err != nil {
		return err
	}
	n, err := s.Node(ctx, tenant)
	if err != nil {
		return err
	}

	return errors.Join(f(n), n.Close())
}

// ForgetRobot removes what a tenant knows of the sync of a robot that is gone for good: it is not in [Site.Robots], the
// metrics and the unconfirmed purges any more. Its memories stay, and its open conflicts. It fails with NotFound
// without such a robot, and with Conflict for one that was seen within a time; 0 takes any.
func (s *Site) ForgetRobot(ctx context.Context, tenant, robot string, unseen time.Duration) error {
	return s.inTenant(ctx, tenant, func(n *local.Node) error {
		return engine.Of(n).Store.Write(ctx, func(tx *store.Tx) error { return forgetRobot(tx, robot, unseen) })
	})
}

func forgetRobot(tx *store.Tx, robot string, unseen time.Duration) error {
	seen := ""
	if _, err := tx.One(store.RobotSeen, []any{robot}, func(r store.Row) { seen = r.ColumnText(0) }); err != nil {
		return err
	}

	switch at := store.ParseTime(seen); {
	case seen == "":
		return robotmem.Errorf(robotmem.NotFound, "robot", "no robot %.100q sends to this tenant; robotmem fleet robots lists them", robot)
	case tx.Now.Sub(at) < unseen:
		return robotmem.Errorf(robotmem.Conflict, "robot",
			"%q was seen at %s, and one that still runs comes back by itself; stop it and revoke its token first, or forget it with --yes",
			robot, at.Format(time.RFC3339))
	}

	// What the site has had of the robot stays known in arrivals and feed_cursors: if it comes back all the same, nothing
	// is stored twice and no purge is missed.
	return tx.Exec(store.DeleteReplicasOf, robot)
}

const (
	// UnseenTime is how long a robot is not seen before it counts as unseen. A robot that runs asks every minute.
	UnseenTime = time.Hour
	// mostSeries is how many robots have series of their own: a server of Prometheus stores each.
	mostSeries = 2000
)

// Metrics returns the state of the robots of the caller's tenant, for Prometheus; nothing for a caller who has less
// than all rights to read in the tenant.
func (g *Guard) Metrics(ctx context.Context) ([]admin.Metric, error) {
	a, leave, err := g.enter(ctx, "stats")
	if err != nil {
		return nil, err
	}
	defer leave()
	if a.limited() {
		return nil, nil
	}

	robots, err := Robots(ctx, a.node)
	if err != nil {
		return nil, err
	}

	return metricsOf(robots, a.node.Now()), nil
}

// metricsOf returns the sums of all robots, and the state of each of the first mostSeries.
func metricsOf(robots []Robot, now time.Time) []admin.Metric {
	var unseen, waiting, refused, conflicts int64

	for i := range robots {
		r := &robots[i]
		waiting, refused, conflicts = waiting+r.Waiting, refused+r.Refused, conflicts+r.Conflicts
		if now.Sub(r.Seen) >= UnseenTime {
			unseen++
		}
	}

	out := []admin.Metric{
		{Name: "fleet_robots", Help: "Memories of robots that send to this site.", Value: float64(len(robots))},
		{Name: "fleet_robots_unseen", Help: "Robots that were not seen for an hour.", Value: float64(unseen)},
		{Name: "fleet_waiting_changes", Help: "Changes that robots had not sent when they asked last.", Value: float64(waiting)},
		{Name: "fleet_refused_changes", Help: "Changes of robots that this site does not take.", Value: float64(refused)},
		{Name: "fleet_conflicts", Help: "Open conflicts: memories that a robot and the site have both changed.", Value: float64(conflicts)},
	}

	names := map[string]bool{}

	for i := range robots[:min(len(robots), mostSeries)] {
		r := &robots[i]
		// After a card was copied, two memories send under one name. Series must differ.
		if names[r.Robot] {
			continue
		}
		names[r.Robot] = true

		of := map[string]string{"robot": r.Robot}
		add := func(name, help string, value float64) {
			out = append(out, admin.Metric{Name: "fleet_robot_" + name, Help: help, Value: value, Labels: of})
		}
		add("seen_timestamp_seconds", "When the robot was last seen.", seconds(r.Seen))
		add("pushed_timestamp_seconds", "When the robot last sent a change, 0 for never.", seconds(r.Pushed))
		add("pulled_timestamp_seconds", "When the robot last asked for what is new, 0 for never.", seconds(r.Pulled))
		add("waiting_changes", "Changes that the robot had not sent when it asked last.", float64(r.Waiting))
		add("refused_changes", "Changes of the robot that this site does not take.", float64(r.Refused))
		add("conflicts", "Open conflicts of the robot.", float64(r.Conflicts))
		if r.ClockMS != nil {
			add("clock_offset_seconds", "The clock of the robot minus that of the site, at its last greeting.", float64(*r.ClockMS)/1000)
		}
		out = append(out, admin.Metric{
			Name: "fleet_robot_info", Help: "The program of the robot.", Value: 1,
			Labels: map[string]string{"robot": r.Robot, "version": r.Version},
		})
	}

	return out
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
