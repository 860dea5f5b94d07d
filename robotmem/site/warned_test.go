package site

import (
	"context"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem/archive/sensors"
	"github.com/robotmem/robotmem-go/robotmem/attach"
	"github.com/robotmem/robotmem-go/robotmem/attach/attachtest"
	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// A robot that joins a site later is warned of what another one met, also while the site is away.
func TestARobotThatJoinsLaterIsWarned(t *testing.T) {
	t.Parallel()
	postgrestest.Need(t)
	s := newSite(t)
	follow := func(r *testRobot, day int) (warnings []attach.Warning) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		source := &attachtest.Robot{
			Start: time.Date(2026, 3, day, 8, 0, 0, 0, time.UTC), Speed: 60, End: cancel,
			Connections: [][]attachtest.Sent{attachtest.Day(func(d *attachtest.Drive) { d.MaxSpeed(0.8); d.To(5, 7) })},
		}
		report, err := attach.Run(ctx, source, attach.Options{
			Node: r.Node, Sink: &sensors.Sink{Node: r.Node}, Robot: r.Peer.Robot, MapID: "hall",
			OnWarning: func(w attach.Warning) { warnings = append(warnings, w) },
		})
		if err != nil || report.Incidents != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
		return warnings
	}

	first := newRobot(t, s, "cart-1", nil, local.Options{})
	if w := follow(first, 1); len(w) != 0 {
		t.Errorf("the first robot is warned: %+v", w)
	}
	first.sync(t)

	later := newRobot(t, s, "cart-2", func(p *fleet.Peer) { p.Subscribe = []fleet.Subscription{{Collection: "default"}} }, local.Options{})
	later.sync(t)
	s.away.Store(true)
	warnings := follow(later, 2)
	if len(warnings) != 2 {
		t.Fatalf("%d warnings, want that of the goal and that of the place: %+v", len(warnings), warnings)
	}
	for _, w := range warnings {
		if w.Failures != 1 || len(w.Robots) != 1 || w.Robots[0] != "cart-1" {
			t.Errorf("warning %+v", w)
		}
	}
}
