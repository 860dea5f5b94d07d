package robotmem

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem/pagesum"
)

// refuseEmptied fails when a file without a byte has once held something: what
// belongs to it lies beside it. A memory that is new has neither a log nor
// payloads, and SQLite would delete the log.
func refuseEmptied(path string) error {
	empty := func() bool { info, err := os.Stat(path); return err == nil && info.Size() == 0 }
	if !empty() {
		return nil
	}
	beside := ""
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		beside = "its log lies"
	}
	if entries, err := os.ReadDir(path + payloadsSuffix); err == nil && len(entries) > 0 {
		beside = "payloads lie"
	}
	if beside == "" || !empty() { // another process has just begun it
		return nil
	}
	return fail(Corrupt, "db", "the file is empty, and yet %s beside it: something has emptied it; bring it back from a backup, or move what lies beside it away to begin anew", beside)
}

// refuseDamagedHeader fails when page 1 matches its checksum only if it says
// that pages have checksums, and it does not say so: one flipped byte would
// turn all of them off.
func refuseDamagedHeader(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil //nolint:nilerr // opening it says what is wrong
	}
	defer f.Close()
	page := make([]byte, 1<<16)
	n, err := io.ReadFull(f, page)
	if n < 512 || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil //nolint:nilerr // likewise
	}
	const reservedAt = 20
	if pagesum.Known(int(page[reservedAt])) {
		return nil // reading it says what is wrong
	}
	for _, reserved := range []int{pagesum.Reserved, pagesum.ReservedBySQLite} {
		page[reservedAt] = byte(reserved)
		for size := 512; size <= n; size *= 2 { // the size that the header claims may be what is wrong
			if pagesum.Fits(page[:size], 1, reserved) {
				return classifySQLite(sqlite3.CORRUPT)
			}
		}
	}
	return nil
}

// alone runs f on the writing connection outside a transaction, with no other
// connection of this process open.
func (e *Engine) alone(ctx context.Context, f func(*conn) error) error {
	// Held all the while: who reads waits for the readers that are taken here, and
	// Close for who reads.
	e.closing.RLock()
	defer e.closing.RUnlock()
	if e.closed {
		return errClosed
	}
	e.emptying.Lock()
	defer e.emptying.Unlock()
	held := 0
	defer func() {
		for range held {
			e.readers <- nil
		}
	}()
	for range poolSize() {
		select {
		case c := <-e.readers:
			held++
			if c != nil {
				if err := c.close(); err != nil {
					return err
				}
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	job := &writeJob{alone: f}
	if err := e.enqueue(ctx, job); err != nil {
		return err
	}
	return e.await(ctx, job)
}

// repairChecksums gives an older file its checksums, unless another program has
// it open: the check-up that follows then says so.
func (e *Engine) repairChecksums(ctx context.Context, res *RepairResponse) error {
	has := false
	err := e.read(ctx, func(c *conn) (err error) { has, err = c.hasChecksums(); return err })
	if err != nil || has {
		return err
	}
	err = e.alone(ctx, (*conn).addChecksums)
	if errors.Is(err, sqlite3.BUSY) {
		e.log.Warn("no checksums were added: another program has the file open")
		return nil
	}
	if err == nil {
		res.Repaired = append(res.Repaired, "checksums of all pages")
	}
	return err
}
