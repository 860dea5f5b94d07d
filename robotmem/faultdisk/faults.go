package faultdisk

import (
	"sync"
	"syscall"

	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

const (
	unlimited = -1
	errFull   = syscall.ENOSPC
)

// faults is what a disk does besides storing.
type faults struct {
	free    int64 // bytes that files may still grow by; unlimited for any number
	refused int
	syncErr error
	stalled chan struct{} // closed when it ends; nil without
	stalls  kind          // write for both, syncFile for syncs alone
	held    int
}

// give returns space to a disk with a limit.
func (f *faults) give(n int64) {
	if f.free != unlimited {
		f.free += n
	}
}

// Limit leaves so many bytes free: what would grow a file beyond them fails with
// ENOSPC, and shrinking or removing one gives its bytes back. Writing over what is
// there goes on. Less than 0 takes the limit away.
func (d *Disk) Limit(free int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults.free = max(free, unlimited)
}

// FreeBytes implements [robotmem.Disk]: what the limit leaves, or the real disk.
func (d *Disk) FreeBytes(path string) (int64, error) {
	d.mu.Lock()
	free := d.faults.free
	d.mu.Unlock()
	if free != unlimited {
		return free, nil
	}
	return sqlite.SystemDisk{}.FreeBytes(path)
}

// Refused is how many writes the limit has refused.
func (d *Disk) Refused() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.faults.refused
}

func (d *Disk) refused() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults.refused++
}

// Stall holds up every write and sync from now on until release is called, which
// may be done more than once. A disk stalls once at a time.
func (d *Disk) Stall() (release func()) { return d.stall(write) }

// StallSyncs is Stall for syncs alone: writes go on, as into a cache.
func (d *Disk) StallSyncs() (release func()) { return d.stall(syncFile) }

func (d *Disk) stall(from kind) (release func()) {
	stalled := make(chan struct{})
	d.mu.Lock()
	d.faults.stalled, d.faults.stalls = stalled, from
	d.mu.Unlock()
	return sync.OnceFunc(func() {
		d.mu.Lock()
		d.faults.stalled = nil
		d.mu.Unlock()
		close(stalled)
	})
}

// Held is how many writes and syncs stalls have held up.
func (d *Disk) Held() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.faults.held
}

// FailSyncs makes every sync fail with this error, such as EIO; nil lets them
// through again.
func (d *Disk) FailSyncs(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults.syncErr = err
}

// wait waits for the end of a stall that holds up such operations.
func (d *Disk) wait(what kind) {
	d.mu.Lock()
	stalled := d.faults.stalled
	if what < d.faults.stalls {
		stalled = nil
	}
	if stalled != nil {
		d.faults.held++
	}
	d.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
}

// beforeSync waits for the end of a stall, and fails if syncs are to.
func (d *Disk) beforeSync() error {
	d.wait(syncFile)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.faults.syncErr
}

// grow takes the space for a file that will reach this size.
func (n node) grow(size int64) error {
	d := n.disk
	d.wait(write)
	d.mu.Lock()
	defer d.mu.Unlock()
	more := size - d.sizes[n.inode]
	if more <= 0 {
		return nil
	}
	if d.faults.free != unlimited {
		if more > d.faults.free {
			d.faults.refused++
			return errFull
		}
		d.faults.free -= more
	}
	d.sizes[n.inode] = size
	return nil
}

// shrink gives back the space of a file that has been cut to this size.
func (n node) shrink(size int64) {
	d := n.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults.give(d.sizes[n.inode] - size)
	d.sizes[n.inode] = size
}
