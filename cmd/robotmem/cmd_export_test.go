package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// busyService changes the memory behind the back of who lists it: after the
// second page another fact comes and one of the first page goes.
type busyService struct {
	*local.Node
	pages int
	t     *testing.T
}

func (b *busyService) List(ctx context.Context, r *robotmem.ListRequest) (*robotmem.ListResponse, error) {
	res, err := b.Node.List(ctx, r)
	b.pages++
	switch b.pages {
	case 1:
		_, lerr := b.Learn(ctx, &robotmem.LearnRequest{Insight: "a new one"})
		must(b.t, lerr)
	case 2:
		for _, m := range res.Memories[:2] {
			_, ferr := b.Forget(ctx, &robotmem.ForgetRequest{MemoryID: m.MemoryID, Reason: "test"})
			must(b.t, ferr)
		}
	}
	return res, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestExportMissesNothingWhileTheMemoryChanges pages through 2.5 pages.
func TestExportMissesNothingWhileTheMemoryChanges(t *testing.T) {
	a := &app{}
	m, err := a.Open(t.Context(), filepath.Join(t.TempDir(), "memory.db"))
	must(t, err)
	defer m.Close()
	req := &robotmem.LearnBatchRequest{KeepDuplicates: true}
	var want []string
	for i := range listPage*2 + listPage/2 {
		text := fmt.Sprintf("fact %d", i)
		want = append(want, text)
		req.Items = append(req.Items, robotmem.LearnRequest{Insight: text})
	}
	_, err = m.LearnBatch(t.Context(), req)
	must(t, err)

	var out, spool bytes.Buffer
	c := &exportCmd{}
	ends, err := c.spool(t.Context(), a, &busyService{m, 0, t}, &spool, a.newProgress("export", 0))
	must(t, err)
	must(t, copyBackward(&out, bytes.NewReader(spool.Bytes()), ends))

	var got []string
	for line := range bytes.Lines(out.Bytes()) {
		var item robotmem.LearnRequest
		must(t, json.Unmarshal(line, &item))
		got = append(got, item.Insight)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("exported (-want +got):\n%s", diff)
	}
	if !slices.IsSorted(ends) {
		t.Errorf("pages end at %v", ends)
	}
}
