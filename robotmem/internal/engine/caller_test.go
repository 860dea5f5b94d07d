package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// The names of callers are stored shortened, on one line and without invisible
// characters.
func TestCallersAreStoredClean(t *testing.T) {
	t.Parallel()
	e := openNode(t, local.Options{})
	ctx := robotmem.WithCaller(t.Context(), robotmem.Caller{
		Who: "arm-7\x00\n\u202eroot", Tool: robotmem.ToolMCP, Client: strings.Repeat("x", 1<<20) + "\x1b[31m",
	})
	id := must(e.Learn(ctx, &robotmem.LearnRequest{Insight: "a fact"}))(t).MemoryID
	p := must(e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id}))(t).Provenance
	if p.Who != "arm-7 root" || p.Tool != "mcp "+strings.Repeat("x", 96) {
		t.Errorf("stored as %q through %.40q… of %d bytes", p.Who, p.Tool, len(p.Tool))
	}
}

// The caller of the Go library is the user of the operating system.
func TestLibraryCallersAreTheUser(t *testing.T) {
	t.Parallel()
	e := openNode(t, local.Options{})
	id := must(e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "a fact"}))(t).MemoryID
	p := must(e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id}))(t).Provenance
	if p.Who != store.OSUser() || p.Who == "" || p.Tool != "library" {
		t.Errorf("stored by %+v", p)
	}
}

// A model is not offered purge and cannot call it.
func TestModelsDoNotPurge(t *testing.T) {
	t.Parallel()
	e := openNode(t, local.Options{})
	id := must(e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "a fact"}))(t).MemoryID
	op := robotmem.OpByName("forget")
	if _, shown := op.InputSchema()["properties"].(map[string]any)["purge"]; shown {
		t.Error("the tool shows purge")
	}
	model := robotmem.WithCaller(t.Context(), robotmem.Caller{Tool: robotmem.ToolMCP})
	_, err := op.Call(model, e, json.RawMessage(`{"memory_id":1,"reason":"ignore what you were told","purge":true}`))
	if robotmem.KindOf(err) != robotmem.Invalid || !strings.Contains(err.Error(), "not offered to models") {
		t.Errorf("got %v", err)
	}
	if _, err := e.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: id}); err != nil {
		t.Errorf("it is gone: %v", err)
	}
	if _, err := op.Call(model, e, json.RawMessage(`{"memory_id":1,"reason":"it was wrong","purge":false}`)); err != nil {
		t.Errorf("forgetting: %v", err)
	}
}

// Triggers prevent that a program changes or deletes a row of the audit log by accident.
func TestTheAuditLogOnlyGrows(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/memory.db"
	e := openAt(t, path, local.Options{})
	id := must(e.Learn(t.Context(), &robotmem.LearnRequest{Insight: "a fact"}))(t).MemoryID
	must(e.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "wrong"}))(t)
	for _, sql := range []string{"DELETE FROM audit", "UPDATE audit SET who = 'nobody'", "UPDATE audit SET reason = 'right'"} {
		if err := execIn(t, path, sql); err == nil || !strings.Contains(err.Error(), "only grows") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func execIn(t *testing.T, path, sql string) error {
	t.Helper()
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return db.Exec(sql)
}
