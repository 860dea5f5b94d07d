// Nav2d drives a robot without a camera through a grid of walls twice. In the first session it
// has no map. It detects walls by bumping into them and stores them in robotmem. In the second
// session it opens the file again, recalls the walls and plans with them.
//
// It prints steps and collisions of both sessions for 20 worlds, and fails if
// the second session is not better on average.
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

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func main() {
	log.SetFlags(0)
	seeds := flag.Int("seeds", 20, "how many worlds")
	db := flag.String("db", "", "keep the memory in this new file (default: a temporary one)")
	flag.Parse()
	if err := compare(context.Background(), *seeds, *db); err != nil {
		log.Fatal(err)
	}
}

// trip holds the results in one world: both drives, and the shortest path.
type trip struct {
	first, second drive
	shortest      int
}

func compare(ctx context.Context, seeds int, db string) (err error) {
	if seeds < 1 {
		return errors.New("-seeds must be at least 1")
	}
	began := time.Now()
	if db == "" {
		dir, err := os.MkdirTemp("", "robotmem-nav2d-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		db = filepath.Join(dir, "memory.db")
	} else if _, err := os.Stat(db); err == nil {
		return fmt.Errorf("%s exists already, and the first session must know nothing; pass a new file", db)
	}

	trips := make([]trip, seeds)
	for i := range trips {
		trips[i].shortest = newWorld(uint64(i + 1)).shortest()
	}

	for _, session := range []func(*trip) *drive{
		func(t *trip) *drive { return &t.first },
		func(t *trip) *drive { return &t.second },
	} {
		if err := driveAll(ctx, db, trips, session); err != nil {
			return err
		}
	}
	total := report(trips)
	if err := reportMemory(ctx, db); err != nil {
		return err
	}
	fmt.Printf("%d worlds of %dx%d cells, both sessions, in %.1f s\n", seeds, width, height,
		time.Since(began).Seconds())
	if total.second.steps >= total.first.steps || total.second.bumps >= total.first.bumps {
		return errors.New("the second session is not better than the first")
	}

	return nil
}

// driveAll drives once through every world. It opens and closes the file, so that the
// next session must read the memories from disk.
func driveAll(ctx context.Context, db string, trips []trip, session func(*trip) *drive) (err error) {
	m, err := local.Open(ctx, db, local.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()

	for i := range trips {
		seed := i + 1
		d, err := liveOne(ctx, m, collectionOf(seed), newWorld(uint64(seed)))
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		*session(&trips[i]) = d
	}

	return nil
}

func liveOne(ctx context.Context, m *local.Node, collection string, w *world) (drive, error) {
	e, err := startEpisode(ctx, m, collection, w)
	if err != nil {
		return drive{}, err
	}
	known, err := e.remember(ctx)
	if err != nil {
		return drive{}, err
	}
	d, err := run(ctx, e, w, known)
	if err != nil {
		return drive{}, err
	}

	return d, e.end(ctx, d)
}

func report(trips []trip) trip {
	const row = "%5v  %9v %11v  %9v %11v  %9v\n"
	fmt.Printf(row, "", "session 1", "", "session 2", "", "shortest")
	fmt.Printf(row, "seed", "steps", "collisions", "steps", "collisions", "way")

	var sum trip

	for i, t := range trips {
		fmt.Printf(row, i+1, t.first.steps, t.first.bumps, t.second.steps, t.second.bumps, t.shortest)
		sum.first.steps += t.first.steps
		sum.first.bumps += t.first.bumps
		sum.second.steps += t.second.steps
		sum.second.bumps += t.second.bumps
		sum.shortest += t.shortest
	}
	fmt.Printf(row, "total", sum.first.steps, sum.first.bumps, sum.second.steps, sum.second.bumps, sum.shortest)

	return sum
}

// reportMemory prints the number of memories in the file, and the texts of the trips
// in the first world.
func reportMemory(ctx context.Context, db string) (err error) {
	m, err := local.Open(ctx, db, local.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	stats, err := m.Stats(ctx, &admin.StatsRequest{})
	if err != nil {
		return err
	}
	fmt.Printf("\n%d memories in %d collections, %d sessions, %d recalls\n", stats.Total, stats.Collections,
		stats.Sessions, stats.Recalls)
	trips, err := m.Recall(ctx,
		&robotmem.RecallRequest{Query: "how was the goal reached", Collection: collectionOf(1), N: 2})
	if err != nil {
		return err
	}

	for _, memory := range trips.Memories {
		fmt.Println("  ", memory.Content)
	}

	return nil
}

// collectionOf returns the collection of a world.
func collectionOf(seed int) string { return fmt.Sprintf("nav2d-seed-%02d", seed) }
