package faultdisk_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem/internal/faultdisk"
)

// outcomes cuts a log at its end many times and returns what a name held: nil if
// it was not there.
func outcomes(t *testing.T, log *faultdisk.Log, name string) (found [][]byte) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 4))
	r := log.Replay()
	r.Advance(log.Len())
	for range 200 {
		dir := t.TempDir()
		if _, err := r.Cut(rnd, 512, dir); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		found = append(found, data)
	}
	return found
}

// put writes a file through a disk.
func put(t *testing.T, d *faultdisk.Disk, name string, data []byte, sync bool) {
	t.Helper()
	f, err := d.Create(filepath.Join(d.Root(), name), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, data)
	if sync {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, f payload.File, data []byte) {
	t.Helper()
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
}

func syncRoot(t *testing.T, d *faultdisk.Disk) {
	t.Helper()
	if err := d.SyncFolder(d.Root()); err != nil {
		t.Fatal(err)
	}
}

// What the model lets a loss of power do, and what not.
func TestWhatACutMayDo(t *testing.T) {
	data := bytes.Repeat([]byte("robotmem"), 256) // 4 sectors
	there := func(b []byte) bool { return bytes.Equal(b, data) }
	gone := func(b []byte) bool { return b == nil }
	torn := func(b []byte) bool { return b != nil && !there(b) }
	for _, c := range []struct {
		name        string
		do          func(*faultdisk.Disk)
		look        string
		must, mayBe []func([]byte) bool // every outcome is one of mayBe, and each of must is seen
	}{
		{"synced, name and all", func(d *faultdisk.Disk) {
			put(t, d, "a", data, true)
			syncRoot(t, d)
		}, "a", nil, []func([]byte) bool{there}},
		{"synced without its name", func(d *faultdisk.Disk) {
			put(t, d, "a", data, true)
		}, "a", []func([]byte) bool{there, gone}, []func([]byte) bool{there, gone}},
		{"a name without its bytes", func(d *faultdisk.Disk) {
			put(t, d, "a", data, false)
			syncRoot(t, d)
		}, "a", []func([]byte) bool{there, torn}, []func([]byte) bool{there, torn}},
		{"renamed and not settled: the old name", func(d *faultdisk.Disk) {
			put(t, d, "a", data, true)
			syncRoot(t, d)
			if err := d.Rename(filepath.Join(d.Root(), "a"), filepath.Join(d.Root(), "b")); err != nil {
				t.Fatal(err)
			}
		}, "a", []func([]byte) bool{there, gone}, []func([]byte) bool{there, gone}},
		{"removed and settled", func(d *faultdisk.Disk) {
			put(t, d, "a", data, true)
			syncRoot(t, d)
			if err := d.Remove(filepath.Join(d.Root(), "a")); err != nil {
				t.Fatal(err)
			}
			syncRoot(t, d)
		}, "a", nil, []func([]byte) bool{gone}},
		{"in a folder whose name is not on the disk", func(d *faultdisk.Disk) {
			sub := filepath.Join(d.Root(), "sub")
			if err := d.MkdirAll(sub, 0o700); err != nil {
				t.Fatal(err)
			}
			put(t, d, "sub/a", data, true)
			if err := d.SyncFolder(sub); err != nil {
				t.Fatal(err)
			}
		}, "sub/a", []func([]byte) bool{there, gone}, []func([]byte) bool{there, gone}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDisk(t)
			c.do(d)
			found := outcomes(t, d.Log(), c.look)
			for i, is := range c.must {
				if !slices.ContainsFunc(found, is) {
					t.Errorf("outcome %d of %d is never seen", i+1, len(c.must))
				}
			}
			for _, f := range found {
				if !slices.ContainsFunc(c.mayBe, func(is func([]byte) bool) bool { return is(f) }) {
					t.Fatalf("an outcome of %d bytes that must not be", len(f))
				}
			}
		})
	}
}

// Garbage stays within what was written: what lies in the same sector and is on
// the disk is left alone.
func TestGarbageStaysWithinTheWrite(t *testing.T) {
	d := newDisk(t)
	f, err := d.Create(filepath.Join(d.Root(), "a"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write(t, f, bytes.Repeat([]byte{7}, 300))
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	syncRoot(t, d)
	write(t, f, bytes.Repeat([]byte{8}, 300))
	garbage := false
	for _, got := range outcomes(t, d.Log(), "a") {
		if len(got) < 300 || !bytes.Equal(got[:300], bytes.Repeat([]byte{7}, 300)) {
			t.Fatalf("%d bytes, and not those that were synced", len(got))
		}
		for _, b := range got[300:] {
			garbage = garbage || b != 0 && b != 8
		}
	}
	if !garbage {
		t.Error("no cut left garbage")
	}
}

// A full disk refuses growth and nothing else, a stalled one answers once it is
// let go, a broken one says so.
func TestFaults(t *testing.T) {
	d := newDisk(t)
	name := filepath.Join(d.Root(), "a")
	f, err := d.Create(name, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d.Limit(100)
	write(t, f, make([]byte, 60))
	if _, err := f.Write(make([]byte, 60)); !errors.Is(err, syscall.ENOSPC) || d.Refused() != 1 {
		t.Errorf("got %v and %d refusals, want no space and 1", err, d.Refused())
	}
	if free, err := d.FreeBytes(name); free != 40 || err != nil {
		t.Errorf("%d bytes are free, %v, want 40", free, err)
	}
	if err := d.Remove(name); err != nil {
		t.Fatal(err)
	}
	if free, err := d.FreeBytes(d.Root()); free != 100 || err != nil {
		t.Errorf("%d bytes are free, %v, want 100", free, err)
	}
	d.FailSyncs(syscall.EIO)
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v, want EIO", err)
	}
	d.FailSyncs(nil)
	release := d.StallSyncs()
	done := make(chan error)
	go func() { done <- f.Sync() }()
	for d.Held() == 0 {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-done:
		t.Error("a sync came through a stall")
	default:
	}
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
