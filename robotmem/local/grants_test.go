package local_test

import (
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// What a person grants to a program, and its end, are in the audit log by the name of the person.
func TestGrantsAreInTheAuditLog(t *testing.T) {
	n, err := local.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close() }()
	ctx := robotmem.WithCaller(t.Context(), robotmem.Caller{Who: "ada", Tool: robotmem.ToolREST})
	for _, made := range []bool{true, false} {
		if err := n.NoteGrant(ctx, made, "grant K7Q2 of a program"); err != nil {
			t.Fatal(err)
		}
	}
	for _, action := range []string{"granted", "revoked"} {
		found, err := n.Audit(t.Context(), &admin.AuditRequest{Action: action})
		if err != nil || len(found.Entries) != 1 || found.Entries[0].Who != "ada" || found.Entries[0].Reason != "grant K7Q2 of a program" {
			t.Errorf("%s: %+v, %v", action, found, err)
		}
	}
}
