package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// holding returns a memory with a fact of its own and some copies, which has joined a site.
func holding(t *testing.T, copied int) *local.Node {
	t.Helper()
	n := openFile(t, "arm.db")
	if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the gripper of this arm slips below 8 N"}); err != nil {
		t.Fatal(err)
	}
	if err := (&Peer{URL: "https://site.example", Robot: "arm", Replica: "r"}).Save(n); err != nil {
		t.Fatal(err)
	}
	take(t, n, copied)

	return n
}

// take stores facts of another robot, as Pull does.
func take(t *testing.T, n *local.Node, copied int) {
	t.Helper()
	list := make([]archive.Memory, copied)
	for i := range list {
		id := fmt.Sprintf("018f0000-0000-7000-8000-%012d", i)
		list[i] = archive.Memory{
			UID: id, Where: id, Collection: "default", Type: "fact", Content: fmt.Sprintf("zanzibar shelf %d is empty", i),
			Summary: "shelf", Context: json.RawMessage("{}"), Category: "observation", Confidence: 0.8, Status: "active",
			CreatedAt: "2026-01-02T03:04:05.000000Z", ObservedAt: "2026-01-02T03:04:05.000000Z",
			UpdatedAt: "2026-01-02T03:04:05.000000Z", Version: 1, ValidFrom: "2026-01-02T03:04:05.000000Z",
			Extra: archive.Extra{Robot: "cart", Tool: Tool},
		}
	}
	_, err := engine.Of(n).Receive(t.Context(), &Entries{[]*archive.Entry{{Memories: list}}}, archive.ImportOptions{
		Refused: func(uid string, err error) { t.Errorf("%s: %v", uid, err) },
	}, &decisions{feed: "default"})
	if err != nil {
		t.Fatal(err)
	}
}

func found(t *testing.T, n *local.Node, query string) int {
	t.Helper()
	res, err := n.Recall(t.Context(), &robotmem.RecallRequest{Query: query, N: 100})
	if err != nil {
		t.Fatal(err)
	}
	hits := 0
	for _, m := range res.Memories {
		if strings.Contains(m.Content, query) {
			hits++
		}
	}
	return hits
}

func TestLeavingKeepsTheCopiesUnlessAsked(t *testing.T) {
	t.Parallel()
	n := holding(t, 7)
	if r, err := LeaveSite(t.Context(), n, LeaveOptions{}); err != nil || *r != (LeaveReport{Site: "https://site.example", Kept: 7}) {
		t.Errorf("got %+v %v", r, err)
	}
	if p, err := PeerOf(n); p != nil || err != nil {
		t.Errorf("the memory has still joined %+v %v", p, err)
	}
	if got := found(t, n, "zanzibar"); got != 7 {
		t.Errorf("%d copies are found", got)
	}
	if _, err := LeaveSite(t.Context(), n, LeaveOptions{}); !errors.Is(err, robotmem.NotFound) {
		t.Errorf("a second time: %v", err)
	}

	// They can be dropped later.
	if r, err := LeaveSite(t.Context(), n, LeaveOptions{DropCopies: true}); err != nil || *r != (LeaveReport{Dropped: 7, Forgotten: 7}) {
		t.Errorf("got %+v %v", r, err)
	}
	if got := found(t, n, "zanzibar"); got != 0 {
		t.Errorf("%d copies are found", got)
	}
	if got := found(t, n, "gripper"); got != 1 {
		t.Errorf("its own fact is found %d times", got)
	}
	log, err := n.Audit(t.Context(), &admin.AuditRequest{Action: "forgotten"})
	if err != nil || len(log.Entries) != 1 || !strings.HasPrefix(log.Entries[0].Reason, "7 facts of other robots") {
		t.Errorf("the audit log has %+v %v", log, err)
	}

	// Once the memory joins again, the site's facts come back.
	take(t, n, 7)
	if got := found(t, n, "zanzibar"); got != 7 {
		t.Errorf("%d copies are found after it has joined again", got)
	}
}

// More than one transaction of each kind.
func TestLeavingDropsEveryCopy(t *testing.T) {
	t.Parallel()
	n := holding(t, dropBatch+3)
	want := LeaveReport{Site: "https://site.example", Dropped: dropBatch + 3, Forgotten: dropBatch + 3}
	if r, err := LeaveSite(t.Context(), n, LeaveOptions{DropCopies: true}); err != nil || *r != want {
		t.Errorf("got %+v %v", r, err)
	}

	if r, err := LeaveSite(t.Context(), n, LeaveOptions{DropCopies: true, Purge: true}); err != nil || *r != (LeaveReport{Dropped: dropBatch + 3}) {
		t.Errorf("got %+v %v", r, err)
	}
	if got := found(t, n, "gripper"); got != 1 {
		t.Errorf("its own fact is found %d times", got)
	}
	path := n.Files().DB()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "zanzibar") {
			t.Errorf("%s still has the text of a copy", filepath.Base(name))
		}
	}
}

// While another process syncs, it could store copies behind those that are dropped.
func TestLeavingWaitsForASync(t *testing.T) {
	t.Parallel()
	n := holding(t, 1)
	unlock, err := sqlite.LockFile(engine.Of(n).Store.Files().SiteLock())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if r, err := LeaveSite(t.Context(), n, LeaveOptions{DropCopies: true}); !errors.Is(err, robotmem.Unavailable) {
		t.Errorf("got %+v %v", r, err)
	}
	if p, err := PeerOf(n); p == nil || err != nil {
		t.Errorf("nothing should have changed: %+v %v", p, err)
	}
	if got := found(t, n, "zanzibar"); got != 1 {
		t.Errorf("%d copies are found", got)
	}
	if r, err := LeaveSite(t.Context(), n, LeaveOptions{}); err != nil || r.Kept != 1 {
		t.Errorf("without the copies it waits for nothing: %+v %v", r, err)
	}
}

// A file that was copied together with the file of its site can leave it.
func TestACopyOfAMemoryLeaves(t *testing.T) {
	t.Parallel()
	n := openFile(t, "arm.db")
	path := engine.Of(n).Store.Files().Site()
	if err := os.WriteFile(path, []byte(`{"file_id":"`+uuid.NewString()+`","url":"https://site.example"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := PeerOf(n); !errors.Is(err, robotmem.Conflict) {
		t.Fatal(err)
	}
	if r, err := LeaveSite(t.Context(), n, LeaveOptions{}); err != nil || r.Site != "https://site.example" {
		t.Errorf("got %+v %v", r, err)
	}
	if p, err := PeerOf(n); p != nil || err != nil {
		t.Errorf("got %+v %v", p, err)
	}
}
