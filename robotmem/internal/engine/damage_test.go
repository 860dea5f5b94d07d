package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
)

// damaged returns a node with four facts; a column of the second one is changed directly
// in the file, like a flipped bit.
func damaged(t *testing.T, column, value string) *Engine {
	t.Helper()
	n := openTest(t, Options{})
	for i, place := range []string{"north", "east", "south", "west"} {
		_, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the charger of the " + place + " dock needs " + fmt.Sprint(20+i) + " minutes", Context: robotmem.Object{"dock": place}})
		if err != nil {
			t.Fatal(err)
		}
	}
	change(t, n, "UPDATE memories SET "+column+" = ? WHERE id = 2", value)
	return n
}

func change(t *testing.T, n *Engine, sql string, args ...any) {
	t.Helper()
	if err := n.Store.Write(t.Context(), func(tx *store.Tx) error { return sqlite.FileOf(tx.Conn).Exec(sql, args...) }); err != nil {
		t.Fatal(err)
	}
}

// ids returns the memory ids of a response in order.
func idsOf(memories []robotmem.Memory) (ids []int64) {
	for i := range memories {
		ids = append(ids, memories[i].MemoryID)
	}
	slices.Sort(ids)
	return ids
}

func named(list []string, what string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, what) })
}

// A memory that does not match its checksum is reported and never returned; the others
// are returned.
func TestADamagedMemoryIsNamed(t *testing.T) {
	t.Parallel()
	for column, value := range map[string]string{
		"content": "the charger of the east dock needs 91 minutes", "human_summary": "the charger of the west", "context": `{"dock":"west"}`,
		"category": "gotcha", "confidence": "0.25", "observed_at": "2031-01-01T00:00:00.000000000Z", "created_at": "", "robot": "r2", "uses": "1",
	} {
		t.Run(column, func(t *testing.T) {
			n := damaged(t, column, value)
			rest := []int64{1, 3, 4}
			recalled, err := n.Recall(t.Context(), &robotmem.RecallRequest{Query: "charger dock minutes", N: 10, MinConfidence: new(float64)})
			if err != nil || !slices.Equal(idsOf(recalled.Memories), rest) || !named(recalled.Degraded, "memory 2: ") {
				t.Errorf("recall: %+v, %v", recalled, err)
			}
			listed, err := n.List(t.Context(), &robotmem.ListRequest{})
			if err != nil || !slices.Equal(idsOf(listed.Memories), rest) || !named(listed.Degraded, "memory 2: ") {
				t.Errorf("list: %+v, %v", listed, err)
			}
			var report bytes.Buffer
			for op, err := range map[string]error{
				"get":     second(n.Get(t.Context(), &robotmem.MemoryRequest{MemoryID: 2})),
				"history": second(n.History(t.Context(), &robotmem.MemoryRequest{MemoryID: 2})),
				"update":  second(n.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 2, NewContent: "the charger needs an hour"})),
			} {
				if !errors.Is(err, robotmem.Corrupt) {
					t.Errorf("%s: %v, want corrupt", op, err)
				}
			}
			d, err := n.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
			if err != nil || d.Healthy || !slices.ContainsFunc(d.Checks, func(c admin.Check) bool { return c.Status == "fail" && strings.Contains(c.Detail, "memory 2") }) {
				t.Errorf("doctor: %+v, %v", d, err)
			}
			out, err := n.Export(t.Context(), archive.NewWriter(&report, false), archive.ExportOptions{})
			if err != nil || out.Memories != 3 || !slices.Equal(out.Damaged, []int64{2}) {
				t.Errorf("export: %+v, %v", out, err)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// A damaged past state and a damaged session are reported by the calls that would return
// them.
func TestDamagedPastStatesAndEpisodesAreNamed(t *testing.T) {
	t.Parallel()
	n := openTest(t, Options{})
	s, err := n.StartSession(t.Context(), &robotmem.StartSessionRequest{Context: robotmem.Object{"task": "dock"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"the left arm slips on wet glass", "the right wheel squeaks when cold"} {
		if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: what, SessionID: s.SessionID}); err != nil {
			t.Fatal(err)
		}
	}
	between := time.Now().UTC()
	if _, err := n.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 1, NewContent: "the left arm holds wet glass since its new pad"}); err != nil {
		t.Fatal(err)
	}
	change(t, n, "UPDATE versions SET content = 'the left arm breaks wet glass'")
	change(t, n, "UPDATE sessions SET context = '{\"task\":\"undock\"}'")
	if _, err := n.History(t.Context(), &robotmem.MemoryRequest{MemoryID: 1}); !errors.Is(err, robotmem.Corrupt) {
		t.Errorf("history: %v", err)
	}
	then, err := n.Recall(t.Context(), &robotmem.RecallRequest{Query: "arm glass wheel", AsOf: &between})
	if err != nil || !slices.Equal(idsOf(then.Memories), []int64{2}) || !named(then.Degraded, "memory 1: ") {
		t.Errorf("recall as of: %+v, %v", then, err)
	}
	sessions, err := n.Sessions(t.Context(), &robotmem.SessionsRequest{})
	if err != nil || !named(sessions.Degraded, s.SessionID) || len(sessions.Sessions[0].Context) != 0 {
		t.Errorf("sessions: %+v, %v", sessions, err)
	}
	if _, err := n.Session(t.Context(), &robotmem.SessionRequest{SessionID: s.SessionID}); !errors.Is(err, robotmem.Corrupt) {
		t.Errorf("session: %v", err)
	}
	d, err := n.Doctor(t.Context(), &admin.DoctorRequest{Deep: true})
	if err != nil || d.Healthy {
		t.Errorf("doctor: %+v, %v", d, err)
	}
}

// A changed outcome is damage of its session.
func TestADamagedOutcomeIsNamed(t *testing.T) {
	t.Parallel()
	n := openTest(t, Options{})
	for _, score := range []float64{0.25, 0.75} {
		s, err := n.StartSession(t.Context(), &robotmem.StartSessionRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.EndSession(t.Context(), &robotmem.EndSessionRequest{SessionID: s.SessionID, OutcomeScore: &score}); err != nil {
			t.Fatal(err)
		}
	}
	change(t, n, "UPDATE session_outcomes SET score = 0.250000001 WHERE id = 1")
	sessions, err := n.Sessions(t.Context(), &robotmem.SessionsRequest{})
	if err != nil || len(sessions.Degraded) != 1 || len(sessions.Sessions) != 2 {
		t.Fatalf("sessions: %+v, %v", sessions, err)
	}
	if got := sessions.Sessions; *got[0].OutcomeScore != 0.75 || got[1].OutcomeScore != nil || !named(sessions.Degraded, got[1].SessionID) {
		t.Errorf("sessions: %+v", sessions)
	}
}

// An import of an archive repairs a damaged memory.
func TestAnImportReplacesADamagedMemory(t *testing.T) {
	t.Parallel()
	n := openTest(t, Options{})
	if _, err := n.Learn(t.Context(), &robotmem.LearnRequest{Insight: "the charger of the east dock needs 21 minutes"}); err != nil {
		t.Fatal(err)
	}
	data, want := exported(t, n, archive.ExportOptions{}), hashes(t, n)
	change(t, n, "UPDATE memories SET content = 'the charger of the east dock needs 91 minutes'")
	r, err := imported(t, n, data, archive.ImportOptions{})
	if err != nil || r.Memories.Updated != 1 {
		t.Fatalf("import: %+v, %v", r, err)
	}
	if got := hashes(t, n); got != want {
		t.Errorf("after the import\n%s, want\n%s", got, want)
	}
	found, err := n.Recall(context.Background(), &robotmem.RecallRequest{Query: "charger 21 minutes"})
	if err != nil || len(found.Memories) != 1 || len(found.Degraded) != 0 {
		t.Errorf("recall: %+v, %v", found, err)
	}
	if d, err := n.Doctor(t.Context(), &admin.DoctorRequest{Deep: true}); err != nil || !d.Healthy {
		t.Errorf("doctor: %+v, %v", d, err)
	}
}
