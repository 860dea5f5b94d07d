package engine_test

import (
	"io"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// once is an archive of one entry.
type once struct{ entries []*archive.Entry }

func (o *once) Next() (*archive.Entry, error) {
	if len(o.entries) == 0 {
		return nil, io.EOF
	}
	e := o.entries[0]
	o.entries = o.entries[1:]
	return e, nil
}

// An archive may be written by anybody: a reserved source in it stays a claim of the archive, and a payload
// that it names and does not have is named by the import.
func TestAnArchiveClaimsNoReservedSource(t *testing.T) {
	n, err := local.Open(t.Context(), t.TempDir()+"/m.db", local.Options{Durability: local.DurabilityNormal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	const at = "2026-01-02T03:04:05.000000000Z"
	sum := strings.Repeat("ab", 32)
	m := archive.Memory{
		UID: "01a2288b-72c0-7779-892c-3e33d184a75f", Type: "perception", PerceptionType: "visual", MediaType: "image/png", Collection: "default", Content: "the gate is open, said the operator",
		Summary: "the gate is open", Category: "observation", Confidence: 0.9, Source: " Operator ", Status: "active", Version: 1,
		ValidFrom: at, ObservedAt: at, CreatedAt: at, UpdatedAt: at, Payload: &archive.Payload{SHA256: sum, Bytes: 7},
	}
	var named []string
	report, err := n.Import(t.Context(), &once{[]*archive.Entry{{Memories: []archive.Memory{m}}}}, archive.ImportOptions{Missing: func(uid, sha256 string) {
		named = append(named, uid+": "+sha256)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if report.Payloads.Missing != 1 || len(named) != 1 || !strings.Contains(named[0], sum) || !strings.Contains(named[0], m.UID) {
		t.Errorf("missing %d, named %q", report.Payloads.Missing, named)
	}
	got, err := n.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: 1})
	if err != nil || robotmem.ReservedSource(got.Source) || got.Source != "imported/operator" {
		t.Errorf("source %q, %v", got.Source, err)
	}
}
