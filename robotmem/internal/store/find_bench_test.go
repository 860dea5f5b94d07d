package store_test

import (
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// BenchmarkFind loads a fact with eight context values and verifies its checksum.
func BenchmarkFind(b *testing.B) {
	n, err := local.Open(b.Context(), b.TempDir()+"/memory.db", local.Options{Durability: local.DurabilityNormal})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	_, err = n.Learn(b.Context(), &robotmem.LearnRequest{
		Insight: "grip_force=12.5 N holds the wet glass when the gripper closes at 20 mm/s",
		Context: robotmem.Object{"params": map[string]any{"grip_force": 12.5, "speed": 20, "force": "12.5 N"}, "task": map[string]any{"success": true, "name": "hold"}, "robot": map[string]any{"id": "arm7"}, "i": 7, "spatial": map[string]any{"position": []any{1.5, 2, 3}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	err = engine.Of(n).Store.Read(b.Context(), func(c *store.Conn) error {
		now := time.Now()
		for b.Loop() {
			if m, err := c.Find(1, now); err != nil || m == nil {
				b.Fatal(m, err)
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
