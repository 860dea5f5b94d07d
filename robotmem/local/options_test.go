package local

import (
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/engine"
)

type noEmbedder struct{ robotmem.Embedder }

type noReranker struct{ robotmem.Reranker }

// The engine reads its options by their names, so that one that was renamed would be lost without a word.
func TestEveryOptionReachesTheEngine(t *testing.T) {
	o := Options{
		Taxonomy:   []byte("x"),
		Entities:   []byte("x"),
		Secrets:    "mask",
		MaxPayload: 1,
		MaxStream:  2,
		AllowPaths: []string{"/data"},
		ClientType: "test",
		Embedder:   noEmbedder{},
		Reranker:   noReranker{},
		Weights:    map[string]float64{"vector": 0.5},
		Fusion:     "rrf",
		Memory:     3,
		RealWeight: 4,
		Retention:  admin.Retention{MinFreeBytes: 5},
		Clock:      time.Now,
		Location:   time.UTC,
		Logger:     slog.Default(),
		ModelUse:   func() (*admin.LanguageModelUse, error) { return nil, nil },
	}
	got := reflect.ValueOf(engine.OptionsOf(&o))
	for field, value := range got.Fields() {
		if field.Name != "Disk" && value.IsZero() {
			t.Errorf("%s is lost", field.Name)
		}
	}
}
