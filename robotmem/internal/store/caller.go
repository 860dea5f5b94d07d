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

// caller returns the caller in ctx. Without one it is the user of this process, through
// the library.
func (s *Store) caller(ctx context.Context) robotmem.Caller {
	c := robotmem.CallerOf(ctx)
	if c == (robotmem.Caller{}) {
		c = robotmem.Caller{Who: s.User, Tool: robotmem.ToolLibrary}
	}

	return robotmem.Caller{
		Who:    record.CleanName(c.Who, record.MaxWho),
		Tool:   record.CleanName(c.Tool, record.MaxWho),
		Client: record.CleanName(c.Client, record.MaxClient),
	}
}

// As returns ctx with another tool as the caller's.
func (s *Store) As(ctx context.Context, tool string) context.Context {
	c := robotmem.CallerOf(ctx)
	if c == (robotmem.Caller{}) {
		c.Who = s.User
	}
	c.Tool = tool
	return robotmem.WithCaller(ctx, c)
}

// throughTool returns the interface and the client program as they are stored.
func throughTool(c robotmem.Caller) string {
	return strings.TrimSpace(c.Tool + " " + c.Client)
}

// OSUser returns the name of the user that runs this program, or the user id if the
// system has no name for it.
func OSUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Getuid())
}
