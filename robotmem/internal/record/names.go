package record

import (
	"strings"
	"unicode"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	MaxWho    = 64 // characters
	MaxClient = 96
	MaxRobot  = 64
)

// CleanName makes a text that a stranger chose fit to be shown beside others:
// on one line, without what is invisible or turns the writing around, and not
// long.
func CleanName(s string, limit int) string {
	if len(s) > 8*limit { // nobody reads further
		s = s[:8*limit]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	runes := []rune(strings.Join(strings.Fields(s), " "))
	return string(runes[:min(limit, len(runes))])
}

// RobotOf is the robot that a context names: robot.id, robot.name, or robot
// where that is a text.
func RobotOf(context robotmem.Object) string {
	switch robot := context["robot"].(type) {
	case string:
		return CleanName(robot, MaxRobot)
	case map[string]any:
		for _, key := range []string{"id", "name"} {
			if name, ok := robot[key].(string); ok && name != "" {
				return CleanName(name, MaxRobot)
			}
		}
	}
	return ""
}
