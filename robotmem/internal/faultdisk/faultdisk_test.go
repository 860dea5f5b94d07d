package faultdisk_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/admin"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/faultdisk"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// record learns so many facts, marks each and returns what the disk was asked
// for. The engine is left open: closing it would bring everything to the disk.
func record(t *testing.T, n int, durability local.Durability, lies bool) *faultdisk.Log {
	t.Helper()
	d := newDisk(t)
	dir := d.Root()
	o := local.Options{Durability: durability}
	disk.Choose(&o, d)
	e, err := local.Open(t.Context(), filepath.Join(dir, "sub", "memory.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	d.Lie(lies)
	for i := range n {
		if _, err := e.Learn(t.Context(), &robotmem.LearnRequest{Insight: fmt.Sprintf("fact number %d", i+1)}); err != nil {
			t.Fatal(err)
		}
		d.Mark()
	}
	return d.Log()
}

func newDisk(t *testing.T) *faultdisk.Disk {
	t.Helper()
	d, err := faultdisk.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// cuts is what came of cutting a recording.
type cuts struct{ made, lossy, refused, lost int }

// cutAt cuts at these points and counts the files that do not open and those
// that lack what was acknowledged.
func cutAt(t *testing.T, log *faultdisk.Log, points []int) (got cuts) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	r := log.Replay()
	for _, at := range points {
		r.Advance(at)
		dir := t.TempDir()
		loss, err := r.Cut(rnd, 512, dir)
		if err != nil {
			t.Fatal(err)
		}
		got.made++
		if loss > 0 {
			got.lossy++
		}
		d, err := faultdisk.Over(dir)
		if err != nil {
			t.Fatal(err)
		}
		var o local.Options
		disk.Choose(&o, d)
		e, err := local.Open(t.Context(), filepath.Join(d.Root(), "sub", "memory.db"), o)
		if err != nil {
			t.Logf("at %d, %d lost: %v", at, loss, err)
			got.refused++
			continue
		}
		stats, err := e.Stats(t.Context(), &admin.StatsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if int(stats.Total) < log.Marks(at) {
			t.Logf("at %d, %d lost: %d facts of %d", at, loss, stats.Total, log.Marks(at))
			got.lost++
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		d.Close()
	}
	return got
}

// Whatever a loss of power takes, from the file's first byte on: it opens, and
// what was acknowledged is there.
func TestWhatWasAcknowledgedSurvivesEveryCut(t *testing.T) {
	log := record(t, 2, local.DurabilityFull, false)
	got := cutAt(t, log, log.Turns())
	if got.lossy == 0 {
		t.Error("no cut took anything away: the test tests nothing")
	}
	if got.lost > 0 || got.refused > 0 {
		t.Errorf("of %d cuts %d lost what was acknowledged and %d left a file that does not open", got.made, got.lost, got.refused)
	}
}

// The harness sees a loss where there is one.
func TestCutsLoseWhatWasNotSynced(t *testing.T) {
	for _, c := range []struct {
		name       string
		durability local.Durability
		lies       bool
	}{
		{"normal durability", local.DurabilityNormal, false},
		{"a disk that lies about syncs", local.DurabilityFull, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := record(t, 5, c.durability, c.lies)
			end := log.Len()
			got := cutAt(t, log, []int{end, end, end, end, end, end})
			if got.lost == 0 {
				t.Errorf("%d cuts of which %d took something away lost nothing that was acknowledged", got.made, got.lossy)
			}
			if got.refused > 0 {
				t.Errorf("%d cuts left a file that does not open", got.refused)
			}
		})
	}
}
