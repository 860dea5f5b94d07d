package local

import (
	"context"
	"os"
	"os/user"
	"strconv"
	"strings"
	"unicode"

	"github.com/robotmem/robotmem-go/robotmem"
)

const (
	maxWho    = 64 // characters
	maxClient = 96
	maxRobot  = 64
)

// caller is who a call is answered for: whom its face named, else whoever uses
// the engine as a library.
func (s *store) caller(ctx context.Context) robotmem.Caller {
	c := robotmem.CallerOf(ctx)
	if c == (robotmem.Caller{}) {
		c = robotmem.Caller{Who: s.user, Tool: robotmem.ToolLibrary}
	}
	return robotmem.Caller{Who: cleanName(c.Who, maxWho), Tool: cleanName(c.Tool, maxWho), Client: cleanName(c.Client, maxClient)}
}

// as is ctx for work that is done in a name of its own.
func (s *store) as(ctx context.Context, tool string) context.Context {
	c := robotmem.CallerOf(ctx)
	if c == (robotmem.Caller{}) {
		c.Who = s.user
	}
	c.Tool = tool
	return robotmem.WithCaller(ctx, c)
}

// throughTool is the face and the program, as they are stored.
func throughTool(c robotmem.Caller) string {
	return strings.TrimSpace(c.Tool + " " + c.Client)
}

// OSUser is the name of the user that runs this program, by number where the
// system knows no name.
func OSUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Getuid())
}

// cleanName makes a text that a stranger chose fit to be shown beside others:
// on one line, without what is invisible or turns the writing around, and not
// long.
func cleanName(s string, limit int) string {
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

// robotOf is the robot that a context names: robot.id, robot.name, or robot
// where that is a text.
func robotOf(context robotmem.Object) string {
	switch robot := context["robot"].(type) {
	case string:
		return cleanName(robot, maxRobot)
	case map[string]any:
		for _, key := range []string{"id", "name"} {
			if name, ok := robot[key].(string); ok && name != "" {
				return cleanName(name, maxRobot)
			}
		}
	}
	return ""
}
