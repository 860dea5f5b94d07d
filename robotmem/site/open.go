package site

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
)

// RequireToken fails with Forbidden if a tenant has no token, or with an empty name no tenant has one. A node that asks
// for tokens would then answer nobody.
func (s *Site) RequireToken(ctx context.Context, tenant string) error {
	found, err := s.HasTokens(ctx, tenant)
	switch {
	case err != nil || found:
		return err
	case tenant == "":
		return robotmem.Errorf(robotmem.Forbidden, "open",
			"no tenant of this site has a token; make one with `robotmem fleet token create NAME --role operator` for the tenant %s, "+
				"or give --open, which serves this tenant to every program of this machine", DefaultTenant)
	}

	return robotmem.Errorf(robotmem.Forbidden, "open",
		"the tenant %.100q has no token; make one with `robotmem fleet token create NAME --role operator --tenant %[1]s`, "+
			"or give --open, which serves this tenant to every program of this machine", tenant)
}

// askTime limits the wait for the server at a request without a token.
const askTime = 5 * time.Second

// OpenUntilToken returns a function that reports whether requests to a tenant need no token. They need none until the
// tenant has one, which any node or command may make. While the database cannot be asked, they need one. Revoking the
// last token does not open the node again.
func (s *Site) OpenUntilToken(ctx context.Context, tenant string, log *slog.Logger) func() bool {
	var closed atomic.Bool

	return func() bool {
		if closed.Load() {
			return false
		}

		limited, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()

		found, err := s.HasTokens(limited, tenant)
		if err != nil {
			// That the database is away was logged when it went.
			if !errors.Is(err, robotmem.Unavailable) {
				log.Error("whether the tenant has tokens is not known; requests without one are refused", "err", err)
			}
			return false
		}
		if found {
			closed.Store(true)
			log.Info("the tenant has a token: every request needs one now")
		}

		return !found
	}
}
