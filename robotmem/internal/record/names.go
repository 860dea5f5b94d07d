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

// CleanName makes an untrusted text safe to display: it returns at most limit characters on one
// line, without invisible characters and marks that change the writing direction.
func CleanName(s string, limit int) string {
	// Cutting the text first bounds the work. A character has at most four bytes, so at least as many characters can be
	// left out as are returned.
	if len(s) > 8*limit {
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

// TaskPaths are the paths of a context that may hold the name of its task.
var TaskPaths = []string{"task.name", "task", "task.type", "task.goal"}

// TaskOf returns the name of the task in a context, "" without one.
func TaskOf(context robotmem.Object) string { return firstText(context, TaskPaths) }

// firstText returns the first text at one of the paths.
func firstText(context robotmem.Object, paths []string) string {
	for _, path := range paths {
		v, _ := context.At(path)
		if name, ok := v.(string); ok {
			return name
		}
	}

	return ""
}

// ObjectPaths are the paths of a context that may hold the name of what its task handles.
var ObjectPaths = []string{
	"object", "object.name", "object.type", "object.class", "task.object", "task.object.name", "task.object.type",
}

// ObjectOf returns the name of the object in a context, "" without one.
func ObjectOf(context robotmem.Object) string { return firstText(context, ObjectPaths) }

// RobotOf returns the robot that a context names: robot.id, robot.name, or robot if it is a text.
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
