package printed

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/cmd/robotmem/internal/screen"
	"github.com/robotmem/robotmem-go/robotmem/site"
)

func TestFleetRobots(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ahead := int64(1500)
	out := &bytes.Buffer{}
	FleetRobots(To(out, screen.Screen{Width: 200}), []site.Robot{
		{Robot: "cart", Version: "1.2.3", Seen: now.Add(-2 * time.Hour), Waiting: 12, Refused: 3, Conflicts: 1, ClockMS: &ahead},
		{Robot: "lift", Seen: now, Pushed: now, Pulled: now, Cloned: true},
	}, now)
	got := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"cart 1.2.3 2 hours ago never never 12 3 1 1.5s", "lift - now now now 0 0 0 -", "lift: two memories have gone on",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in %s", want, got)
		}
	}
}
