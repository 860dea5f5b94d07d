package site

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/postgres/postgrestest"
)

// A tenant that is dropped leaves nothing, and takes nothing of another.
func TestDropTenant(t *testing.T) {
	url := postgrestest.NewURL(t)
	s, err := Connect(t.Context(), url, Options{Payloads: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"one", "other"} {
		n, err := s.Node(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the gripper slips on wet glass", Tags: []string{"wet"}}); err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DropTenant(t.Context(), "one"); err != nil {
		t.Fatal(err, causeOf(err))
	}
	if err := s.DropTenant(t.Context(), "one"); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("a tenant that is gone: %v, want NotFound", err)
	}
	// As the owner, who sees all tenants.
	server, _, _ := strings.Cut(url, "?")
	c, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	for _, table := range []string{"memories", "memory_tags", "signatures", "counters"} {
		others, gone := 0, 0
		const known = "tenant IN (SELECT id FROM robotmem.tenants)"
		err := c.QueryRow(t.Context(), "SELECT count(*) FILTER (WHERE "+known+"), count(*) FILTER (WHERE NOT "+known+") FROM robotmem."+table).Scan(&others, &gone)
		if err != nil {
			t.Fatal(err)
		}
		if others == 0 || gone > 0 {
			t.Errorf("%s: %d rows of the other tenant, %d of the dropped one; want some and none", table, others, gone)
		}
	}
	n, err := s.Node(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	res, err := n.List(t.Context(), &robotmem.ListRequest{Collection: "*"})
	if err != nil || len(res.Memories) != 1 {
		t.Errorf("the other tenant has %d memories, %v; want 1", len(res.Memories), err)
	}
}

// An error of a statement that waits is not lost: nothing of the job is acknowledged, and the next
// one is not harmed.
func TestWaitingStatementFails(t *testing.T) {
	n := openTest(t, postgrestest.NewURL(t), Options{})
	learnt := make(chan error, 1)
	go func() {
		_, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the door of bay 4 sticks"})
		learnt <- err
	}()
	err := engine.Of(n).Store.Database.Write(t.Context(), func(c store.SQL) error {
		add := func() error { return c.Exec(store.InsertOrigin, "default", "bay 4", int64(7)) }
		return errors.Join(add(), add())
	})
	if err == nil {
		t.Error("a job whose last statement fails was acknowledged")
	}
	if err := <-learnt; err != nil {
		t.Error(err)
	}
	res, err := n.List(t.Context(), &robotmem.ListRequest{Collection: "*"})
	if err != nil || len(res.Memories) != 1 {
		t.Errorf("%d memories, %v; want 1", len(res.Memories), err)
	}
}
