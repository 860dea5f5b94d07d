package robotmem

import (
	"context"
	"os"
	"os/user"
	"strconv"
	"strings"
	"unicode"
)

// Caller is who asks, and through what. It is stored with what the caller
// writes and with every change that it makes. A face sets it from what it has
// itself checked or been told by the transport; no request can.
type Caller struct {
	// Who is the name of the caller's token, or the user of this machine that
	// runs the program. Empty where nobody was asked for a name.
	Who string
	// Tool is the face: mcp, rest, cli, library, import, recorder or node.
	Tool string
	// Client is the program behind it as it calls itself, such as
	// claude-code/2.0.1: a claim, and no more than that.
	Client string
}

// The faces that callers come through.
const (
	ToolMCP      = "mcp"
	ToolREST     = "rest"
	ToolCLI      = "cli"
	ToolLibrary  = "library"
	ToolImport   = "import"
	ToolRecorder = "recorder"
	toolNode     = "node" // its own work in the background
)

const (
	maxWho    = 64 // characters
	maxClient = 96
	maxRobot  = 64
)

type callerKey struct{}

// WithCaller marks the calls of a caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller that WithCaller has set, the zero Caller if none.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// caller is who a call is answered for: whom its face named, else whoever uses
// the engine as a library.
func (e *Engine) caller(ctx context.Context) Caller {
	c := CallerOf(ctx)
	if c == (Caller{}) {
		c = Caller{Who: e.user, Tool: ToolLibrary}
	}
	return Caller{Who: cleanName(c.Who, maxWho), Tool: cleanName(c.Tool, maxWho), Client: cleanName(c.Client, maxClient)}
}

// as is ctx for work that is done in a name of its own.
func (e *Engine) as(ctx context.Context, tool string) context.Context {
	c := CallerOf(ctx)
	if c == (Caller{}) {
		c.Who = e.user
	}
	c.Tool = tool
	return WithCaller(ctx, c)
}

// through is the face and the program, as they are stored.
func (c Caller) through() string {
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
func robotOf(context Object) string {
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
