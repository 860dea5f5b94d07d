package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// storedPayload is a row of payloads.
type storedPayload struct {
	sum    [sha256.Size]byte
	size   int64
	codec  payload.Codec
	inline []byte // as stored; nil when it lies in the folder
}

// bytes are those of a payload of the file, if they are what was saved.
func (p *storedPayload) bytes() (data []byte, ok bool) {
	data, err := p.codec.Decode(p.inline, p.size)
	return data, err == nil && sha256.Sum256(data) == p.sum
}

// errPayloadGone says that a payload was taken away between its writing and the
// row that names it.
var errPayloadGone = robotmem.Errorf(robotmem.Unavailable, "data", "the payload was removed while it was being saved; save it again")

// insertPayload stores the row of a payload, with its bytes when they are few.
// The same bytes are stored once; a row that does not lead to them any more is
// written anew, as it has just been saved.
func (tx *writeTx) insertPayload(p *perceptionRecord) error {
	w := p.stored
	if w == nil {
		return nil
	}
	known, err := tx.payload(hex.EncodeToString(w.Sum[:]))
	if err != nil {
		return err
	}
	if known != nil && tx.store.leadsTo(known) {
		return nil
	}
	var data any
	if w.Inline != nil {
		data = w.Inline
	} else if !tx.store.inFolder(w) {
		// What nothing names is removed under the same lock as this.
		return errPayloadGone
	}
	return tx.Exec(`INSERT INTO payloads(sha256, bytes, codec, created_at, data, stored) VALUES (?,?,?,?,?,?)
		ON CONFLICT(sha256) DO UPDATE SET bytes = excluded.bytes, codec = excluded.codec, data = excluded.data, stored = excluded.stored`,
		w.Sum[:], w.Size, string(w.Codec), formatTime(tx.now), data, w.Stored)
}

// leadsTo reports whether a row leads to the bytes. A file's have just been read,
// and are only looked for.
func (s *store) leadsTo(p *storedPayload) bool {
	r, err := s.openPayload(p)
	return err == nil && r.Close() == nil
}

func (s *store) inFolder(w *payload.Written) bool {
	r, err := s.payloads().Open(w.Sum, w.Codec, w.Size)
	return err == nil && r.Close() == nil
}

// payload returns the row of a payload, nil if there is none.
func (c *conn) payload(hexSum string) (*storedPayload, error) {
	p := &storedPayload{}
	if n, err := hex.Decode(p.sum[:], []byte(hexSum)); err != nil || n != len(p.sum) {
		return nil, robotmem.Errorf(robotmem.Corrupt, "", "the memory names its payload wrongly; run robotmem doctor")
	}
	found, err := c.One("SELECT bytes, codec, data FROM payloads WHERE sha256 = ?", []any{p.sum[:]}, func(s *sqlite3.Stmt) {
		p.size, p.codec = s.ColumnInt64(0), payload.Codec(s.ColumnText(1))
		if s.ColumnType(2) != sqlite3.NULL {
			p.inline = s.ColumnBlob(2, []byte{})
		}
	})
	if err != nil || !found {
		return nil, err
	}
	return p, nil
}

func (c *conn) payloadSize(hexSum string) (int64, error) {
	p, err := c.payload(hexSum)
	if err != nil || p == nil {
		return 0, err
	}
	return p.size, nil
}

// lostPayload says why a memory's payload has no row.
func (c *conn) lostPayload(m *robotmem.Memory) error {
	err := error(robotmem.Errorf(robotmem.Corrupt, "", "the payload is missing; run robotmem doctor"))
	_, qerr := c.One("SELECT evicted_at, reason FROM evictions WHERE memory_id = ? ORDER BY id DESC LIMIT 1", []any{m.MemoryID}, func(s *sqlite3.Stmt) {
		err = robotmem.Errorf(robotmem.NotFound, "memory_id", "the bytes of memory %d were evicted at %s: %s; its description and summary remain", m.MemoryID, s.ColumnText(0), s.ColumnText(1))
	})
	return errors.Join(qerr, err)
}

// openPayload returns the bytes of a payload. Those of the file are checked at once,
// those of the folder as they are read.
func (s *store) openPayload(p *storedPayload) (io.ReadSeekCloser, error) {
	if p.inline != nil {
		data, ok := p.bytes()
		if !ok {
			return nil, damagedPayload(nil)
		}
		return robotmem.NewDataReader(&robotmem.DataResponse{DataBase64: data}), nil
	}
	r, err := s.payloads().Open(p.sum, p.codec, p.size)
	switch {
	case errors.Is(err, payload.ErrMissing):
		return nil, robotmem.Errorf(robotmem.Corrupt, "", "the payload is missing from the folder beside the file; run robotmem doctor")
	case err != nil:
		return nil, damagedPayload(err)
	}
	return checked{r}, nil
}

// checked reads a payload of the folder, with errors as callers see them.
type checked struct{ *payload.Reader }

func (c checked) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = sqlite.Wrap("data", damagedPayload(err))
	}
	return n, err
}

// knownPerception answers a save whose origin is stored already.
func (c *conn) knownPerception(id int64, now time.Time) (*robotmem.SavePerceptionResponse, error) {
	m, err := c.memory(id, now)
	if err != nil {
		return nil, err
	}
	res := &robotmem.SavePerceptionResponse{
		Status: "duplicate", MemoryID: id, UID: m.UID, PerceptionType: m.PerceptionType, Collection: m.Collection,
		MediaType: m.MediaType, SHA256: m.SHA256, Summary: m.Summary,
	}
	if m.SHA256 != "" {
		res.Bytes, err = c.payloadSize(m.SHA256)
	}
	return res, err
}

// originOf returns the memory that has an origin, 0 if none does.
func (c *conn) originOf(collection, origin string) (int64, error) {
	if origin == "" {
		return 0, nil
	}
	return c.Number("SELECT memory_id FROM origins WHERE collection = ? AND origin = ?", collection, origin)
}

func (tx *writeTx) insertOrigin(collection, origin string, id int64) error {
	if origin == "" {
		return nil
	}
	return tx.Exec("INSERT INTO origins(collection, origin, memory_id) VALUES (?,?,?)", collection, origin, id)
}

func (s *store) openData(c *conn, m *robotmem.Memory) (*robotmem.DataReader, error) {
	if m.SHA256 == "" {
		return nil, robotmem.Errorf(robotmem.NotFound, "memory_id", "memory %d is a %s without bytes; get returns its text", m.MemoryID, m.Type)
	}
	p, err := c.payload(m.SHA256)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, c.lostPayload(m)
	}
	body, err := s.openPayload(p)
	if err != nil {
		return nil, err
	}
	return &robotmem.DataReader{ReadSeekCloser: body, MemoryID: m.MemoryID, MediaType: m.MediaType, Bytes: p.size, SHA256: m.SHA256}, nil
}

// item reads a stored perception for decoding.
func (s *store) item(c *conn, m *robotmem.Memory) (perception.Item, error) {
	d, err := s.openData(c, m)
	if err != nil {
		return perception.Item{}, err
	}
	var data []byte
	if d.Bytes <= decodeLimit {
		data, err = readAll(d, d.Bytes)
	} else {
		data = make([]byte, headLimit)
		if _, err = io.ReadFull(d, data); err != nil {
			err = damagedPayload(err)
		}
	}
	return itemOf(m.PerceptionType, m.MediaType, m.Metadata, data, d.Bytes), errors.Join(err, d.Close())
}
