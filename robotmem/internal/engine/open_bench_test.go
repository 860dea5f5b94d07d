package engine

import (
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
)

// BenchmarkOpenAndRecall opens a file of 1,000 facts and asks one question, as a command
// of the CLI does.
func BenchmarkOpenAndRecall(b *testing.B) {
	path := b.TempDir() + "/memory.db"
	open := func() *Engine {
		n, err := openFile(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	n := open()
	if _, err := n.LearnBatch(b.Context(), &robotmem.LearnBatchRequest{Items: facts(1000)}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := n.Close(); err != nil {
			b.Fatal(err)
		}
		n = open()
		res, err := n.Recall(b.Context(), &robotmem.RecallRequest{Query: "grip"})
		if err != nil || res.Total == 0 {
			b.Fatal(res, err)
		}
	}
	if err := n.Close(); err != nil {
		b.Fatal(err)
	}
}
