package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/budget"
	"github.com/robotmem/robotmem-go/robotmem/internal/disk"
	"github.com/robotmem/robotmem-go/robotmem/internal/files"
	"github.com/robotmem/robotmem-go/robotmem/internal/keys"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

// Options say how a file is opened. Disk, Log, Check, Migrate and Group are required.
type Options struct {
	ReadOnly    bool          // nothing is written, and a write fails with Unavailable
	Normal      bool          // synchronous=NORMAL: a power failure may take the last commits
	BusyTimeout time.Duration // how long to wait for another process's lock
	Memory      budget.Memory // bounds the page caches and the number of readers
	Disk        disk.Disk
	Keys        *keys.Keys // of an encrypted file; nil if it is in clear
	Escrow      []string   // public keys that open a new encrypted file too
	Log         *slog.Logger
	Create      bool              // begin a new memory in a file of no bytes
	SetUp       func(*Conn) error // of each connection; may be nil
	// Check returns the schema version of a file, 0 of an empty one. It fails
	// unless the file is empty or of a version that is known, and only reads.
	Check func(*Conn) (version int, err error)
	// Migrate brings a file to schema version Version, and fails as Check does.
	Migrate func(*Conn) error
	Version int
	Group   Group
}

// DB is one file that this process has open: a writing connection and a pool of
// reading ones. Its methods may be called by several goroutines.
type DB struct {
	files files.Memory
	path  string // of the database
	o     Options

	readOnly  string      // why nothing is written, "" if it is
	immutable fs.FileInfo // of a file that is read without a log, as it was when it was opened
	open      openFiles

	writer *Conn      // owned by runWriter
	queue  writeQueue // owned by runWriter
	*store.Queue[*Conn]
	lone     *job          // what runWriter runs next, alone
	callers  int           // how many wrote or waited when the last group ended; owned by runWriter
	syncTime time.Duration // of the last commit; owned by runWriter
	readers  chan *Conn    // nil entries are connections not opened yet

	commits, logged atomic.Int64 // transactions that were written, and their bytes in the log
}

// OpenDB opens the file at path and creates it if it is absent. It fails with
// Corrupt if the file is damaged, empty or another program's, Conflict if a newer program
// wrote it, Unavailable if it cannot be opened.
func OpenDB(ctx context.Context, path string, o Options) (*DB, error) {
	if _, err := texts(); err != nil {
		return nil, err
	}

	place, err := files.Resolve(path)
	if err != nil {
		return nil, err
	}

	db := &DB{
		files: place, path: place.DB(), o: o,
		Queue: store.NewQueue[*Conn](), readers: make(chan *Conn, budget.MaxReaders),
	}
	for range o.Memory.Readers() {
		db.readers <- nil
	}
	if err := db.openFile(ctx); err != nil {
		return nil, err
	}
	db.Serve(db.runWriter)

	return db, nil
}

func (db *DB) readerCacheKiB() int { return int(db.o.Memory.Part(budget.ReaderCacheKiB)) }

// openFile opens the writing connection, or the first reading one of a file that cannot be written.
func (db *DB) openFile(ctx context.Context) error {
	switch db.readOnly = cannotWrite(db.path); {
	case db.o.ReadOnly:
		db.readOnly = AskedReadOnly
	case db.readOnly == "":
		if err := refuseEmptied(db.files, &db.o); err != nil {
			return err
		}
		err := db.openWritable(ctx)

		// A folder that takes no log is noticed only when the file is opened.
		if db.readOnly = folderRefuses(db.path, err); db.readOnly == "" {
			return err
		}
	}

	if !db.o.ReadOnly {
		db.o.Log.Warn("the memory is served read-only", "reason", db.readOnly)
	}
	if err := db.openReadOnly(ctx); err != nil {
		return errors.Join(err, db.closeReaders())
	}

	return nil
}

// openWritable opens the writing connection of a file, which it creates if absent.
func (db *DB) openWritable(ctx context.Context) error {
	if err := Create(ctx, db.o.Disk, db.path, db.connOptions(int(db.o.Memory.Part(budget.WriterCacheKiB)))); err != nil {
		return db.notOpened(err)
	}

	leave, err := db.enterToWrite(ctx)
	if err != nil {
		return db.notOpened(err)
	}

	defer leave()
	if db.writer, err = OpenWriter(ctx, db.path, db.connOptions(int(db.o.Memory.Part(budget.WriterCacheKiB))),
		&db.o); err != nil {
		return db.notOpened(err)
	}

	// With a short timeout the writer can answer jobs whose time is over while another process has the lock.
	if err := db.writer.BusyTimeout(min(lockSlice, db.o.BusyTimeout)); err != nil {
		return errors.Join(err, db.writer.Close())
	}

	db.queue = openWriteQueue(db.path)

	// One reader is opened with the file. If the file is moved later, no other reader can be opened.
	c, err := db.openReader(ctx)
	if err != nil {
		db.queue.close()
		return errors.Join(err, db.writer.Close())
	}

	db.firstReader(c)

	return nil
}

// firstReader puts a connection into the pool and remembers the files that it has open,
// so that recall goes on when they are moved.
func (db *DB) firstReader(c *Conn) {
	<-db.readers
	db.readers <- c
	db.noteFiles()
}

// enterToWrite waits as enter does. It checks the file read-only, so that not a byte of one that is
// not ours changes. A file that OpenWriter will migrate has no other user until leave: a program of
// the older version would continue to write older rows, which the newer one calls damaged.
func (db *DB) enterToWrite(ctx context.Context) (leave func(), err error) {
	// Processes that find an older file at the same time keep each other out while they check it, so the pauses grow.
	for deadline, pause := time.Now().Add(db.o.BusyTimeout), openRetry; ; pause = min(2*pause, time.Second) {
		if leave, err = enter(ctx, db.path, time.Until(deadline)); err != nil {
			return nil, err
		}
		version, err := db.lookAt(ctx)
		if err == nil && (version == 0 || version == db.o.Version) {
			return leave, nil
		}

		// KeepOut locks the range that leave releases, and two locks of one process exclude each other too.
		leave()
		if err != nil {
			return nil, err
		}
		f, err := os.OpenFile(db.path, os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		err = KeepOut(f, db.path, nil)
		if err == nil || errors.Is(err, errors.ErrUnsupported) {
			// SQLite needs this range. The lock of enterRange stays.
			unlockPart(f, sharedRange)
			return func() { _ = f.Close() }, nil
		}
		_ = f.Close()
		if !errors.Is(err, ErrLocked) || time.Now().After(deadline) {
			return nil, robotmem.Errorf(robotmem.Unavailable, "db",
				"the file has schema version %d and must be migrated to %d, and another process has it open (%w), which would continue to write version %d; nothing was changed; stop every robotmem that uses the file (robotmem web, mcp), then start this one again",
				version, db.o.Version, err, version)
		}
		time.Sleep(rand.N(pause))
	}
}

// OpenWriter opens a writing connection and migrates the file. Of o the fields Disk and
// Migrate count.
func OpenWriter(ctx context.Context, path string, co ConnOptions, o *Options) (*Conn, error) {
	c, err := Open(ctx, path, co)
	if err != nil {
		return nil, err
	}
	err = o.Migrate(c)
	// The driver syncs a new log but not its folder: with the name, acknowledged writes
	// would be lost. SQLite has created the log by now, and no process removes it while
	// a connection is open.
	if err == nil {
		err = o.Disk.SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	MakePrivate(path)

	return c, nil
}

// lookAt returns the schema version of the file, 0 of an empty one, and fails if it is not ours. A
// file with a hot journal cannot be read before a writer rolls it back: then the writer checks it.
func (db *DB) lookAt(ctx context.Context) (version int, err error) {
	if info, err := os.Stat(db.path); err != nil || info.Size() == 0 {
		// OpenWriter fails with the reason.
		return 0, nil
	}
	co := db.connOptions(int(db.o.Memory.Part(budget.WriterCacheKiB)))
	co.ReadOnly = true
	c, err := Open(ctx, db.path, co)
	if err == nil {
		version, err = db.o.Check(c)
		err = errors.Join(err, c.Close())
	}
	if errors.Is(err, sqlite3.READONLY_ROLLBACK) {
		return 0, nil
	}

	return version, err
}

// PageSize is the size of a page of a new file in bytes. The log holds whole pages, so that with
// small ones a learn writes little.
const PageSize = 2048

func (db *DB) connOptions(cacheKiB int) ConnOptions {
	return ConnOptions{
		Normal: db.o.Normal, BusyTimeout: db.o.BusyTimeout, VFS: db.o.Disk.VFS(), CacheKiB: cacheKiB, SetUp: db.o.SetUp,
		Keys: db.o.Keys, ReadOnly: db.readOnly != "", Immutable: db.immutable != nil,
	}
}

// Path is the file's, absolute, without symbolic links.
func (db *DB) Path() string { return db.path }

// Keys are those of an encrypted file, nil if it is in clear.
func (db *DB) Keys() *keys.Keys { return db.o.Keys }

// Files is the place of the memory.
func (db *DB) Files() files.Memory { return db.files }

// Read runs f on a reading connection inside one snapshot.
func (db *DB) Read(ctx context.Context, f func(*Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	release, open := db.Hold()
	if !open {
		return store.ErrClosed
	}
	defer release()
	if err := db.unchanged(); err != nil {
		return err
	}
	c, err := db.reader(ctx)
	if err != nil {
		return err
	}

	return db.readOn(ctx, c, f)
}

// TryRead is Read for more connections of a call that is reading: it does nothing if no connection
// is idle.
func (db *DB) TryRead(ctx context.Context, f func(*Conn) error) (err error) {
	release, open := db.Hold()
	if !open {
		return store.ErrClosed
	}

	defer release()

	select {
	case c := <-db.readers:
		if c == nil {
			// A failed opening gives the entry back, so that the pool does not shrink.
			if c, err = db.openReader(ctx); err != nil {
				db.readers <- nil
				return err
			}
		}

		return db.readOn(ctx, c, f)
	default:
		return nil
	}
}

// readOn runs f on a connection of the pool inside one snapshot and gives the connection back.
func (db *DB) readOn(ctx context.Context, c *Conn, f func(*Conn) error) (err error) {
	defer func() { db.readers <- c }()
	c.SetInterrupt(ctx)
	defer func() {
		c.SetInterrupt(context.Background())

		// After some errors SQLite has ended the transaction itself.
		if !c.GetAutocommit() {
			err = errors.Join(err, c.Exec("ROLLBACK"))
		}
	}()
	if err := c.Exec("BEGIN"); err != nil {
		return err
	}

	return f(c)
}

// reader takes a connection from the pool, opening it on first use. While the file is
// not in place it waits for an open one: the first is opened with the file.
func (db *DB) reader(ctx context.Context) (*Conn, error) {
	select {
	case c := <-db.readers:
		if c != nil {
			return c, nil
		}
		c, err := db.openReader(ctx)
		if err == nil {
			return c, nil
		}

		// The empty entry goes back after the call below has found an open connection. Otherwise that call would take
		// it again.
		defer func() { db.readers <- nil }()
		if db.InPlace() != nil {
			return db.reader(ctx)
		}

		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// openReader opens a reading connection, but not of another file that took the name.
func (db *DB) openReader(ctx context.Context) (c *Conn, err error) {
	if err = db.InPlace(); err == nil {
		c, err = Open(ctx, db.path, db.connOptions(db.readerCacheKiB()))
	}

	// Another file may have taken the name between the check and the opening.
	if away := db.InPlace(); err == nil && away != nil {
		return nil, errors.Join(away, c.Close())
	}

	return c, err
}

// Close waits for the calls in flight and closes the file. Further calls fail with
// Unavailable. Closing twice is harmless.
func (db *DB) Close() error {
	if !db.Queue.Close() {
		return nil
	}
	db.queue.close()
	if db.open.folder != nil {
		_ = db.open.folder.Close() // nothing was written
	}
	err := db.closeReaders()
	if db.writer != nil {
		err = errors.Join(err, db.writer.Close())
	}

	return err
}

// closeReaders closes the pool, to which every call has given its connection back.
func (db *DB) closeReaders() (err error) {
	for range len(db.readers) {
		if c := <-db.readers; c != nil {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}
