package local

import (
	"context"
	"time"

	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// store is the file as tables of memories, sessions and perceptions.
type store struct {
	*sqlite.DB
	clock func() time.Time
	disk  sqlite.Disk
	user  string // who runs this program
	// changed is told the change counter after each commit that moved it.
	changed func(revision int64)

	// The writer owns all below.
	tx        *writeTx // of the group that is being committed
	before    int64    // the change counter when the group began
	groups    groupCache
	paths     map[string]int64 // numbers of context paths
	purges    int64            // that the writer has followed
	rewritten int64            // the last purge that the writer has rewritten the file for
}

// conn is a connection that knows the tables.
type conn struct{ *sqlite.Conn }

// writeTx is what a job writes through. It is valid until the job returns.
type writeTx struct {
	*conn
	store    *store
	now      time.Time
	revision int64           // the change counter as of this job
	caller   robotmem.Caller // whose job it is
	pending  pending
}

var _ sqlite.Group = (*store)(nil)

// nextRevision counts one change: of a memory, or of an episode's state.
func (tx *writeTx) nextRevision() int64 {
	tx.revision++
	return tx.revision
}

// Begin implements sqlite.Group.
func (s *store) Begin(c *sqlite.Conn) (err error) {
	s.tx = &writeTx{conn: &conn{c}, store: s, now: s.clock().UTC()}
	if s.tx.revision, err = s.tx.changes(); err != nil {
		return err
	}
	s.before = s.tx.revision
	purges, err := s.tx.purges()
	if err == nil && purges != s.purges {
		// Another process has purged: the number of a path that went may be another's now.
		s.purges = purges
		s.forget()
	}
	return err
}

// Commit implements sqlite.Group.
func (s *store) Commit(*sqlite.Conn) error {
	if s.tx.revision == s.before {
		return nil
	}
	return s.tx.setChanges(s.tx.revision)
}

// Committed implements sqlite.Group.
func (s *store) Committed() {
	if s.tx.revision != s.before {
		s.changed(s.tx.revision)
	}
}

// Undone implements sqlite.Group: something that the writer remembers may have
// been undone.
func (s *store) Undone() { s.forget() }

// forget drops what the writer remembers of the file.
func (s *store) forget() {
	s.groups.reset()
	clear(s.paths)
}

// job is f as a job of the writer, in the name of a caller.
func (s *store) job(caller robotmem.Caller, f func(*writeTx) error) func(*sqlite.Conn) error {
	return func(*sqlite.Conn) error {
		tx, revision := s.tx, s.tx.revision
		tx.pending, tx.caller = pending{}, caller
		err := f(tx)
		if err == nil {
			err = tx.flush()
		}
		if err != nil {
			tx.revision = revision // nothing was written, or all is undone
		}
		return err
	}
}

// read runs f on a reading connection inside one snapshot.
func (s *store) read(ctx context.Context, f func(*conn) error) error {
	return s.Read(ctx, func(c *sqlite.Conn) error { return f(&conn{c}) })
}

// write runs f in a transaction and returns once it is durable, or has failed and
// left no trace.
func (s *store) write(ctx context.Context, f func(*writeTx) error) error {
	return s.Write(ctx, s.job(s.caller(ctx), f))
}

// writeInTime is write for a caller who does not wait past the end of ctx for a
// disk that hangs.
func (s *store) writeInTime(ctx context.Context, f func(*writeTx) error) error {
	return s.WriteInTime(ctx, s.job(s.caller(ctx), f))
}

// writeAlone runs f on the writing connection outside any transaction.
func (s *store) writeAlone(ctx context.Context, f func(*conn) error) error {
	return s.WriteAlone(ctx, func(c *sqlite.Conn) error { return f(&conn{c}) })
}

// payloads is the folder of large payloads, beside the file.
func (s *store) payloads() payload.Folder { return payloadFolder(s.Path(), s.disk) }

// payloadFolder is the folder of large payloads of the file at path.
func payloadFolder(path string, d sqlite.Disk) payload.Folder {
	return payload.Folder{Dir: path + payloadsSuffix, Disk: d}
}

// payloadsSuffix makes the folder's name of the file's.
const payloadsSuffix = ".payloads"

// openStoreConn opens a connection to a file that is not this process's own.
func openStoreConn(ctx context.Context, path string, o sqlite.ConnOptions) (*conn, error) {
	c, err := sqlite.Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return &conn{c}, nil
}

func (s *store) now() time.Time { return s.clock().UTC() }
