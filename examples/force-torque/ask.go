package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/robotmem/robotmem-go/examples/robotfailures"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// ask recalls one kind of recording in several ways, and draws the first recording
// and the one that is most similar to it.
func ask(ctx context.Context, m robotmem.Service, recordings []robotfailures.Failure, out string) error {
	var blow robotfailures.Failure

	for _, f := range recordings {
		if f.Class == "fr_collision" {
			blow = f
			break
		}
	}
	fmt.Printf("in question: %s %d, %s\n", blow.Set, blow.Index, blow.Label())
	like := &robotmem.Like{DataBase64: blow.CSV(), MediaType: "text/csv"}

	var alike []robotmem.Memory

	for _, question := range []struct {
		name string
		req  robotmem.RecallRequest
	}{
		{"by likeness", robotmem.RecallRequest{Like: like}},
		{"by words: Fz peak", robotmem.RecallRequest{Query: "Fz peak"}},
		{"by likeness, only those of LP4 that are not normal", robotmem.RecallRequest{Like: like,
			ContextFilter: robotmem.Object{"set": "LP4", "failure.class": map[string]any{"$ne": "normal"}}}},
		{"by likeness and words: approach, Fz peak", robotmem.RecallRequest{Like: like, Query: "approach, Fz peak"}},
	} {
		question.req.N = 3
		found, err := m.Recall(ctx, &question.req)
		if err != nil {
			return err
		}
		fmt.Printf("\n%s (%.1f ms)\n", question.name, found.QueryMS)

		for i := range found.Memories {
			answer := &found.Memories[i]
			fmt.Printf("  %4d %s %-4v %-16s %s\n", answer.MemoryID, answer.Context["set"], answer.Context["index"],
				classOf(answer), answer.Summary)
		}
		if len(found.Memories) == 0 {
			return fmt.Errorf("nothing was found %s", question.name)
		}
		if alike == nil {
			alike = found.Memories
		}
	}
	if out == "" {
		return nil
	}

	return draw(ctx, m, out, alike[:2])
}

// draw writes the plots of recordings into a folder.
func draw(ctx context.Context, m robotmem.Service, folder string, recordings []robotmem.Memory) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	fmt.Println()

	for _, r := range recordings {
		plot, err := m.Preview(ctx, &admin.PreviewRequest{MemoryID: r.MemoryID})
		if err != nil {
			return err
		}
		path := filepath.Join(folder, fmt.Sprintf("%v-%v.svg", r.Context["set"], r.Context["index"]))
		if err := os.WriteFile(path, plot.DataBase64, 0o644); err != nil {
			return err
		}
		fmt.Println("drawn:", path)
	}

	return nil
}
