package engine

import (
	"math"
	"strconv"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/internal/store/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/vector"
)

func damageVector(t *testing.T, e *Engine, id int64, v []float32) {
	t.Helper()
	err := e.Store.Write(t.Context(), func(tx *store.Tx) error {
		m, err := tx.PresentModel()
		if err != nil {
			return err
		}
		return sqlite.FileOf(tx.Conn).Exec("UPDATE vectors_"+strconv.FormatInt(m.ID, 10)+" SET vector = ? WHERE memory_id = ?", vector.Encode(v), id)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A vector with a NaN does not remove the others from recall, and a repair replaces it.
func TestNaNVectorHidesNoOther(t *testing.T) {
	t.Parallel()
	w := newWordEmbedder("test:words", 64)
	e := openTest(t, Options{Embedder: w})
	learnAll(t, e, "the gripper holds wet glass", "battery low in aisle four", "door blocked")
	embedded(t, e)
	bad := make([]float32, 64)
	bad[3] = float32(math.NaN())
	damageVector(t, e, 2, bad)
	res, _ := recalled(t, e, &robotmem.RecallRequest{Query: "wet glass"})
	if res.Mode != "hybrid" {
		t.Errorf("recall: mode %s, degraded %v", res.Mode, res.Degraded)
	}
	d, err := e.Doctor(t.Context(), nil)
	if err != nil {
		t.Fatalf("doctor: %v", err)
	}
	if d.Healthy {
		t.Errorf("doctor calls it healthy")
	}
	r, err := e.Repair(t.Context(), nil)
	if err != nil {
		t.Fatalf("repair: %v", err)
	}
	if !r.Doctor.Healthy {
		t.Errorf("repair leaves %+v", r.Doctor.Checks)
	}
	embedded(t, e)
	res, _ = recalled(t, e, &robotmem.RecallRequest{Query: "wet glass"})
	if res.Mode != "hybrid" {
		t.Errorf("after the repair: mode %s, degraded %v", res.Mode, res.Degraded)
	}
}
