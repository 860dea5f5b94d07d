package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/maintenance"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

func unhealthy(t *testing.T, e *Engine, check string) {
	t.Helper()
	d, err := e.Doctor(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.Checks, func(c admin.Check) bool { return c.Name == check })
	if i < 0 || d.Checks[i].Status != maintenance.CheckFail || d.Healthy {
		t.Errorf("the doctor finds %+v, want %s to fail", d.Checks, check)
	}
	if _, err := e.Repair(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	embedded(t, e)
	if d, err = e.Doctor(t.Context(), nil); err != nil || !d.Healthy {
		t.Errorf("after the repair: %+v, %v", d.Checks, err)
	}
}

// Doctor finds and Repair fixes each kind of difference between the in-memory indexes
// and the file.
func TestDoctorFindsWhatDiffersInMemory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	w := newWordEmbedder("test:words", 64)
	e := openTest(t, Options{Embedder: w})
	var texts []string
	for i := range 300 {
		texts = append(texts, fmt.Sprintf("fact %d of the gripper", i))
	}
	learnAll(t, e, texts...)
	embedded(t, e)
	d, err := e.Doctor(t.Context(), nil)
	if err != nil || !d.Healthy {
		t.Fatalf("at first: %+v, %v", d, err)
	}
	for _, tt := range []struct {
		check  string
		damage func()
	}{
		{"index of words in memory", func() { e.index.Postings.Index.Apply(nil, []int64{7}) }},
		{"index of vectors in memory", func() { e.index.Vectors.Codes.Remove(9) }},
		{"vectors", func() { // of length 1, with one sign changed
			err := e.Store.Write(t.Context(), func(tx *store.Tx) error {
				var raw []byte
				_, err := sqlite.FileOf(tx.Conn).One("SELECT vector FROM vectors_1 WHERE memory_id = 5", nil, func(s store.Row) { raw = s.ColumnBlob(0, nil) })
				raw[3] ^= 0x80
				return errors.Join(err, sqlite.FileOf(tx.Conn).Exec("UPDATE vectors_1 SET vector = ? WHERE memory_id = 5", raw))
			})
			if err != nil {
				t.Fatal(err)
			}
		}},
	} {
		tt.damage()
		unhealthy(t, e, tt.check)
	}
	_, ids := recalled(t, e, &robotmem.RecallRequest{Query: "fact 8 of the gripper", N: 1})
	if !slices.Equal(ids, []int64{9}) {
		t.Errorf("found %v", ids)
	}
}

// SQLite's record of the largest id is not needed to answer.
func TestListWithoutSequence(t *testing.T) {
	t.Parallel()
	e := openTest(t, Options{})
	learnAll(t, e, "the gripper slips", "the dock is wet")
	err := e.Store.Write(t.Context(), func(tx *store.Tx) error { return sqlite.FileOf(tx.Conn).Exec("DELETE FROM sqlite_sequence") })
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.List(t.Context(), &robotmem.ListRequest{})
	if err != nil || len(res.Memories) != 2 {
		t.Errorf("list answers %+v, %v", res, err)
	}
}

// The index of vectors agrees with the exact distances of vec1.
func TestNearestVectorsAreThoseOfSQL(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	w := newWordEmbedder("test:words", 64)
	e := openTest(t, Options{Embedder: w})
	var texts []string
	for i := range 200 {
		texts = append(texts, fmt.Sprintf("fact %d of gripper %d", i, i%7))
	}
	learnAll(t, e, texts...)
	embedded(t, e)
	raw, err := binary.Append(nil, binary.LittleEndian, w.vector("fact 11 of gripper 4"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want []int64
	err = e.Store.Read(t.Context(), func(c *store.Conn) error {
		codes, m, err := e.index.Vectors.At(c)
		if err != nil {
			return err
		}
		hits, err := codes.Search(vector.Query{Vector: vector.Unit(w.vector("fact 11 of gripper 4")), N: 10}, e.index.Source(c, &m))
		for _, h := range hits {
			got = append(got, h.ID)
		}
		if err == nil {
			want, err = sqlite.FileOf(c).IDs("SELECT memory_id FROM vectors_"+strconv.FormatInt(m.ID, 10)+" WHERE vector IS NOT NULL ORDER BY vec1_cos_distance(vector_float32(vector), ?), 1 LIMIT ?", raw, 10)
		}
		return err
	})
	if err != nil || !slices.Equal(got, want) || len(got) != 10 {
		t.Errorf("the index finds %v, vec1 %v, %v", got, want, err)
	}
}

// The next recall reflects what another process stores, embeds and forgets.
func TestVectorsOfAnotherProcess(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/m.db"
	open := func() *Engine {
		e, err := openFile(t.Context(), path, Options{Embedder: newWordEmbedder("test:words", 64)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	a, b := open(), open()
	learnAll(t, a, "the gripper holds wet glass", "battery low in aisle four")
	embedded(t, a)
	embedded(t, b)
	for _, step := range []struct {
		do    func() error
		query string
		want  int64
	}{
		{func() error { return nil }, "wet glass", 1},
		{func() error {
			_, err := a.Learn(t.Context(), &robotmem.LearnRequest{Insight: "door three sticks"})
			embedded(t, a)
			return err
		}, "door three", 3},
		{func() error {
			_, err := a.Forget(t.Context(), &robotmem.ForgetRequest{MemoryID: 3, Reason: "test"})
			return err
		}, "battery low in aisle", 2},
		{func() error {
			_, err := a.Update(t.Context(), &robotmem.UpdateRequest{MemoryID: 1, NewContent: "lidar is blind in fog"})
			embedded(t, a)
			return err
		}, "blind in fog", 1},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		res, ids := recalled(t, b, &robotmem.RecallRequest{Query: step.query, N: 1})
		if res.Mode != "hybrid" || !slices.Equal(ids, []int64{step.want}) {
			t.Errorf("%q: mode %s %v, ids %v, want %d", step.query, res.Mode, res.Degraded, ids, step.want)
		}
	}
	if _, ids := recalled(t, b, &robotmem.RecallRequest{Query: "door three", N: 10}); slices.Contains(ids, 3) {
		t.Errorf("what was forgotten is found: %v", ids)
	}
}

// Doctor compares integers: a mean without an exact float representation is not damage.
func TestDoctorTrustsFiguresOfAnySize(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine at a time: nothing for -race")
	}
	e := openTest(t, Options{})
	for i := range 120 {
		learnAll(t, e, fmt.Sprintf("fact %d of the gripper %s", i, strings.Repeat("holds ", (i*i)%11)))
		if _, err := e.Recall(t.Context(), &robotmem.RecallRequest{Query: "gripper"}); err != nil {
			t.Fatal(err)
		}
		d := &admin.DoctorResponse{}
		if err := e.Store.Read(t.Context(), func(c *store.Conn) error { return e.maintenance.ExaminePostings(c, d) }); err != nil {
			t.Fatal(err)
		}
		if len(d.Checks) != 1 || d.Checks[0].Status != maintenance.CheckOK {
			t.Fatalf("of %d facts: %+v", i+1, d.Checks)
		}
	}
}
