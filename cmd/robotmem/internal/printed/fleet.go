package printed

import (
	"cmp"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/robotmem/robotmem-go/robotmem/fleet"
	"github.com/robotmem/robotmem-go/robotmem/site"
)

// FleetStatus prints the site of a memory and what waits for it.
func FleetStatus(w *Lines, s *fleet.Status) {
	w.Line("%s, as %s", s.Site, s.Robot)
	w.Line("%s changes wait to be sent", humanize.Comma(s.Waiting))
	if !s.Last.IsZero() {
		w.Line("%s memories sent and %s received now", humanize.Comma(s.Sent), humanize.Comma(s.Received))
	}
	if s.Metered {
		w.Line("payloads wait: the link is metered; robotmem fleet join with --metered send sends them all the same")
	}

	for _, i := range s.Identity {
		w.Line("note: %s", OneLine(i.Reason))
	}

	for _, c := range s.Conflicts {
		w.Line("conflict: %s: %s", c.UID, OneLine(c.Reason))
	}

	for _, c := range s.Refused {
		w.Line("refused: %s: %s", c.UID, OneLine(c.Reason))
	}
}

// FleetLeft prints what a memory has left, and how to drop the copies that stay.
func FleetLeft(w *Lines, r *fleet.LeaveReport) {
	if r.Site != "" {
		w.Line("left %s; what was sent stays there", r.Site)
	}
	if r.Dropped > 0 {
		w.Line("%s facts of other robots were dropped", humanize.Comma(r.Dropped))
	}
	if r.Kept > 0 {
		w.Line("%s facts of other robots stay here; robotmem fleet leave --drop-copies forgets them", humanize.Comma(r.Kept))
	}
	if r.Forgotten > 0 {
		w.Line("%s forgotten facts of other robots are still in the file; robotmem fleet leave --drop-copies --purge deletes them",
			humanize.Comma(r.Forgotten))
	}
	if r.Dropped+r.Kept+r.Forgotten == 0 {
		w.Line("this memory holds no facts of other robots")
	}
}

// FleetRobots prints the robots of a site.
func FleetRobots(w *Lines, robots []site.Robot, now time.Time) {
	if len(robots) == 0 {
		w.Line("no robots")
		return
	}

	Table(w, "ROBOT\tVERSION\tSEEN\tPUSHED\tPULLED\tWAITING\tREFUSED\tCONFLICTS\tCLOCK", robots, func(r site.Robot) []any {
		clock := "-"
		if r.ClockMS != nil {
			clock = (time.Duration(*r.ClockMS) * time.Millisecond).String()
		}

		return []any{
			r.Robot, cmp.Or(r.Version, "-"), ago(r.Seen, now), ago(r.Pushed, now), ago(r.Pulled, now), r.Waiting, r.Refused,
			r.Conflicts, clock,
		}
	})

	for i := range robots {
		if robots[i].Cloned {
			w.Line("%s: two memories have gone on from one state, as after a card was copied", robots[i].Robot)
		}
	}
}

func ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return humanize.RelTime(t, now, "ago", "from now")
}

// FleetConflicts prints open conflicts, and how to settle them.
func FleetConflicts(w *Lines, list []site.Conflict) {
	if len(list) == 0 {
		w.Line("no conflict is open")
		return
	}

	for i := range list {
		c := &list[i]
		w.Line("%d  %s, %s, %s", c.ID, c.Robot, c.UID, c.At.Format(time.RFC3339))
		w.Line("    here:  %s", OneLine(c.Here))
		w.Line("    robot: %s", OneLine(c.Said))
	}
	w.Line("robotmem fleet settle %d --keep site, robot or both ends one", list[0].ID)
}

// FleetPurges prints purges with the robots that have not confirmed them.
func FleetPurges(w *Lines, list []site.Purge) {
	if len(list) == 0 {
		w.Line("every robot has confirmed every purge")
	}

	for _, p := range list {
		w.Line("%s, purged %s: %s", p.UID, p.At, strings.Join(p.Waiting, ", "))
	}
}
