package site

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
	"github.com/robotmem/robotmem-go/robotmem/local"
	"github.com/robotmem/robotmem-go/robotmem/robotmemtest"
)

// openTest opens a node on a new database.
func openTest(t testing.TB, url string, o Options) *local.Node {
	t.Helper()
	o.Payloads, o.Location = t.TempDir(), time.UTC
	o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	n, err := Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err, causeOf(err))
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

func TestContract(t *testing.T) {
	skipShort(t)
	url := postgrestest.NewURL(t)
	robotmemtest.Run(t, func(t *testing.T) robotmem.Service {
		return openTest(t, url, Options{Tenant: t.Name()})
	})
}

// The guard of a site keeps the contract for a caller who may do everything.
func TestContractOverTheGuard(t *testing.T) {
	skipShort(t)
	s, err := Connect(t.Context(), postgrestest.NewURL(t), Options{Payloads: t.TempDir(), Options: local.Options{Location: time.UTC}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	g := s.Guard()
	t.Cleanup(func() { _ = g.Close() })

	var tenants atomic.Int64
	robotmemtest.Run(t, func(t *testing.T) robotmem.Service {
		tenant := fmt.Sprint("tenant-", tenants.Add(1))
		if err := s.CreateTenant(t.Context(), tenant); err != nil {
			t.Fatal(err)
		}
		return robotmemtest.As(g, robotmem.Caller{Who: "admin", Tool: "test", Tenant: tenant, Role: robotmem.RoleAdmin})
	})
}

// The options of a node are checked as those of a file are.
func TestOptionsAreChecked(t *testing.T) {
	o := Options{Options: local.Options{Durability: "nonsense"}}
	if _, err := Connect(t.Context(), "postgres://127.0.0.1:1/robotmem", o); robotmem.KindOf(err) != robotmem.Invalid {
		t.Errorf("got %v", err)
	}
}

// causeOf is what callers are not told of an error.
func causeOf(err error) error {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err
}
