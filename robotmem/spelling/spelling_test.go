package spelling_test

import (
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem/spelling"
)

func TestNearestNames(t *testing.T) {
	names := []string{"kitchen", "kitten", "garage", "arm-7", "arm-17"}
	for asked, want := range map[string]string{
		"kitchne": "kitchen", "Kitchen": "kitchen kitten", "arm7": "arm-7", "garaeg": "garage", "ship": "", "厨房": "",
	} {
		if got := strings.Join(spelling.Nearest(asked, names), " "); got != want {
			t.Errorf("%s: got %q, want %q", asked, got, want)
		}
	}
}

func TestNearestPaths(t *testing.T) {
	paths := []string{"params.grip_force", "params.grip_width", "params.x", "task.name", "Robot.id", "wet"}
	for asked, want := range map[string]string{
		"params.gripforce": "params.grip_force", "grip_force": "params.grip_force", "Params.Grip-Force": "params.grip_force",
		"parms.grip_forse": "params.grip_force", "context.task.name": "task.name", "robot.id": "Robot.id",
		"params.y": "", "params.speed": "", "weather": "", "wte": "wet", "": "",
	} {
		if got := spelling.NearestPath(asked, paths); got != want {
			t.Errorf("%s: got %q, want %q", asked, got, want)
		}
	}
}
