// Force-torque puts 463 recordings of a robot arm that failed into a memory and
// finds them again: by likeness, by the words of their summaries, by both, and
// by likeness among those that an exact filter admits.
//
// It names the class of each recording by the nearest of the others in its set,
// and fails if that is right less often than with the raw readings in any set.
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

// store saves each recording as a perception. What is known of it is context,
// which filters see; its class is not in its words, so that none can find it by
// them.
func store(ctx context.Context, m robotmem.Service, recordings []robotfailures.Failure) error {
	for _, f := range recordings {
		_, err := m.SavePerception(ctx, &robotmem.SavePerceptionRequest{
			Description:    "wrench at the wrist after a failure during " + f.Task,
			PerceptionType: "tactile",
			MediaType:      "text/csv",
			DataBase64:     f.CSV(),
			Metadata:       robotmem.Object{"kind": "wrench", "duration_s": robotfailures.Window.Seconds()},
			Context:        robotmem.Object{"set": f.Set, "index": f.Index, "failure": map[string]any{"class": f.Label()}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
