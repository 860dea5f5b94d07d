package sqlite

import (
	"errors"
	"os"
	"testing"
	"time"
)

// A group waits for as many callers as the last one had, up to its time limit.
func TestGatherWaitsForTheLastCallers(t *testing.T) {
	db, jobs := &DB{}, make(chan *job)
	never := make(chan time.Time)
	go func() {
		for range 7 {
			jobs <- &job{}
		}
	}()
	if got := len(db.gather(jobs, []*job{{}}, 8, never)); got != 8 {
		t.Errorf("a group of %d, want all 8 callers", got)
	}
	passed := make(chan time.Time, 1)
	passed <- time.Now()
	if got := len(db.gather(jobs, []*job{{}}, 8, passed)); got != 1 {
		t.Errorf("a group of %d after its time, want 1", got)
	}
	if got := len(db.gather(jobs, []*job{{}}, 1, never)); got != 1 {
		t.Errorf("a group of %d after a single caller, want 1 at once", got)
	}
	go func() { jobs <- &job{Alone: true} }()
	if got := len(db.gather(jobs, []*job{{}}, 8, never)); got != 1 || db.lone == nil {
		t.Errorf("a group of %d, want 1: the job that runs alone comes next", got)
	}
}

// SQLite rolls a transaction back at some errors of the disk. What a job writes after that is not
// committed alone.
func TestJobAfterRollback(t *testing.T) {
	path := t.TempDir() + "/memory.db"
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), path, ConnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec("CREATE TABLE t(x); BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	_, fatal := runJob(c, &job{Run: func(c *Conn) error {
		return errors.Join(c.Exec("ROLLBACK"), c.Exec("INSERT INTO t VALUES (1)"), c.Exec("INSERT INTO t VALUES (?)", 2))
	}})
	if !errors.Is(fatal, errRolledBack) {
		t.Errorf("the error %v, want %v", fatal, errRolledBack)
	}
	if n, err := c.Number("SELECT count(*) FROM t"); n != 0 || err != nil {
		t.Errorf("%d rows were stored (%v), want none", n, err)
	}
}
