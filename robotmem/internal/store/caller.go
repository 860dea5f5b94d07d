package store

import (
	"context"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// caller is who a call is answered for: whom its face named, else whoever uses
// the engine as a library.
func (s *Store) caller(ctx context.Context) robotmem.Caller {
	c := robotmem.CallerOf(ctx)
	if c == (robotmem.Caller{}) {
		c = robotmem.Caller{Who: s.User, Tool: robotmem.ToolLibrary}
	}
	return robotmem.Caller{Who: record.CleanName(c.Who, record.MaxWho), Tool: record.CleanName(c.Tool, record.MaxWho), Client: record.CleanName(c.Client, record.MaxClient)}
}

// As is ctx for work that is done in a name of its own.
func (s *Store) As(ctx context.Context, tool string) context.Context {
	c := robotmem.CallerOf(ctx)
	if c == (robotmem.Caller{}) {
		c.Who = s.User
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
