// Force-torque stores 463 recordings of robot arm failures and recalls them by similarity, by
// the words of their summaries, by both, and by similarity with an exact filter.
//
// It classifies each recording by its nearest neighbour in the same set, and fails
// if that is correct less often than with the raw readings in any set.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/robotmem/robotmem-go/examples/robotfailures"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", "", "write two plots into this folder")
	flag.Parse()
	if err := run(context.Background(), *out); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out string) (err error) {
	recordings, err := robotfailures.Load()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "robotmem-force-torque-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	m, err := local.Open(ctx, filepath.Join(dir, "memory.db"), local.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()

	begun := time.Now()
	if err := store(ctx, m, recordings); err != nil {
		return err
	}
	fmt.Printf("%d recordings stored in %.1f s\n\n", len(recordings), time.Since(begun).Seconds())
	if err := compare(ctx, m, recordings); err != nil {
		return err
	}

	return ask(ctx, m, recordings, out)
}

// store saves each recording as a perception. Its class is in the context, for
// filters, and not in the description, so that a search by words cannot use it.
func store(ctx context.Context, m robotmem.Service, recordings []robotfailures.Failure) error {
	for _, f := range recordings {
		_, err := m.SavePerception(ctx, &robotmem.SavePerceptionRequest{
			Description:    "wrench at the wrist after a failure during " + f.Task,
			PerceptionType: "tactile",
			MediaType:      "text/csv",
			DataBase64:     f.CSV(),
			Metadata:       robotmem.Object{"kind": "wrench", "duration_s": robotfailures.Window.Seconds()},
			Context: robotmem.Object{
				"set": f.Set, "index": f.Index, "failure": map[string]any{"class": f.Label()},
			},
		})
		if err != nil {
			return err
		}
	}

	return nil
}
