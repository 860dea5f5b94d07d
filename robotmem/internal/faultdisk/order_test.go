package faultdisk

import (
	"path/filepath"
	"sync"
	"testing"
)

// Whoever finds a folder that another has just made, and syncs its name, has synced it.
func TestASyncIsRecordedAfterTheNameThatItSyncs(t *testing.T) {
	for range 300 {
		d, err := New(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}

		folder := filepath.Join(d.Root(), "payloads")
		var both sync.WaitGroup
		for range 4 {
			both.Go(func() {
				if err := d.MkdirAll(folder, 0o700); err != nil {
					t.Error(err)
				}
				if err := d.SyncFolder(d.Root()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		d.Close()

		if first := d.log[0].kind; first != mkdir {
			t.Fatalf("the first operation of the log is %v, want the folder", first)
		}
	}
}
