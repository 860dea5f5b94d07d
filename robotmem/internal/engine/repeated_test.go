package engine_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func answersKept(t *testing.T, n *local.Node) (count int64) {
	t.Helper()
	err := engine.Of(n).Store.Read(t.Context(), func(c *store.Conn) (err error) {
		count, err = sqlite.FileOf(c).Number("SELECT count(*) FROM requests")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// The answer of a call is known after a restart, for seven days.
func TestAnswersAreKeptForAWeek(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "m.db"), time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	open := func() *local.Node {
		return must(local.Open(t.Context(), path, local.Options{Clock: func() time.Time { return now }}))(t)
	}
	call := func(n *local.Node, text, id string) *robotmem.LearnResponse {
		return must(n.Learn(t.Context(), &robotmem.LearnRequest{Insight: text, RequestID: id}))(t)
	}

	n := open()
	first := call(n, "the door opens inwards", "one")
	for i := range 4 {
		call(n, []string{"north", "east", "south", "west"}[i]+" is blocked", "day one "+string('a'+rune(i)))
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}

	n = open()
	now = now.Add(6 * 24 * time.Hour)
	if again := call(n, "the door opens inwards", "one"); again.MemoryID != first.MemoryID || again.Status != "created" {
		t.Errorf("after a restart: %+v, want %+v", again, first)
	}

	// Each new call drops two old ones.
	now = now.Add(2 * 24 * time.Hour)
	for i := range 3 {
		call(n, []string{"red", "green", "blue"}[i]+" light", "later "+string('a'+rune(i)))
	}
	if kept := answersKept(t, n); kept != 3 {
		t.Errorf("%d answers are kept, want those of the last three calls", kept)
	}
	if again := call(n, "the door opens inwards", "one"); again.Status != "duplicate" {
		t.Errorf("after eight days: %+v, want a duplicate", again)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

// A purge leaves no answer that quotes the purged text: neither its own nor one that names it in a conflict.
func TestPurgeForgetsAnswers(t *testing.T) {
	t.Parallel()
	n := must(local.Open(t.Context(), filepath.Join(t.TempDir(), "m.db"), local.Options{}))(t)
	defer n.Close()
	learnNamed := func(text string) *robotmem.LearnResponse {
		return must(n.Learn(t.Context(), &robotmem.LearnRequest{Insight: text, RequestID: text}))(t)
	}
	id := learnNamed("the arm holds 3 kg").MemoryID
	if other := learnNamed("the arm holds 4 kg"); len(other.Conflicts) != 1 {
		t.Fatalf("got %+v, want a conflict", other)
	}
	learnNamed("the door opens inwards")
	must(n.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: id, Reason: "asked for", Purge: true}))(t)
	var answers []string
	err := engine.Of(n).Store.Read(t.Context(), func(c *store.Conn) (err error) {
		answers, err = sqlite.FileOf(c).Texts("SELECT answer FROM requests ORDER BY id")
		return err
	})
	if err != nil || len(answers) != 2 || answers[0] != "" || !strings.Contains(answers[1], `"memory_id":3,`) {
		t.Errorf("answers %q, %v, want an empty one and that about the door", answers, err)
	}

	// A late repetition of the call does not bring the memory back.
	_, err = n.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the arm holds 3 kg", RequestID: "the arm holds 3 kg"})
	if !errors.Is(err, robotmem.Conflict) || !strings.Contains(err.Error(), "purged") {
		t.Errorf("repeated after the purge: %v", err)
	}
}
