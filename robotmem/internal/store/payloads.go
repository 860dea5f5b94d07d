package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
)

// StoredPayload is a row of payloads.
type StoredPayload struct {
	Sum    [sha256.Size]byte
	Size   int64
	Codec  payload.Codec
	Inline []byte // as stored; nil for a payload in the folder
}

// Bytes returns an inline payload, decoded and verified.
func (p *StoredPayload) Bytes() (data []byte, ok bool) {
	data, err := p.Codec.Decode(p.Inline, p.Size)
	return data, err == nil && sha256.Sum256(data) == p.Sum
}

// ErrPayloadGone reports that a payload file was removed after it was written and before
// the row was stored.
var ErrPayloadGone = robotmem.Errorf(robotmem.Unavailable, "data",
	"the payload was removed while it was being saved; save it again")

var errPayloadName = robotmem.Errorf(robotmem.Corrupt, "", "the memory refers to an invalid payload; "+
	"run robotmem doctor")

// InsertPayload stores the row of a payload, with the bytes of a small one. Equal
// payloads are stored once. A row whose bytes are missing is replaced, because the
// payload has just been written.
func (tx *Tx) InsertPayload(p *record.PerceptionRecord) error {
	w := p.Stored
	if w == nil {
		return nil
	}

	known, err := tx.Payload(hex.EncodeToString(w.Sum[:]))
	if err != nil {
		return err
	}
	if known != nil && tx.Store.HasPayload(known) {
		return nil
	}

	// A cleanup may have removed the file, which had no row, after it was written. Cleanups hold the same lock as
	// this transaction, so the file cannot disappear after this check.
	if w.Inline == nil && !tx.Store.HasPayload(&StoredPayload{Sum: w.Sum, Size: w.Size, Codec: w.Codec}) {
		return ErrPayloadGone
	}

	return tx.Exec(PutPayload,
		w.Sum[:], w.Size, string(w.Codec), FormatTime(tx.Now), w.Inline, w.Stored)
}

// HasPayload reports whether the bytes of a row exist. It verifies inline bytes and only
// opens files.
func (s *Store) HasPayload(p *StoredPayload) bool {
	r, err := s.OpenPayload(p)
	return err == nil && r.Close() == nil
}

// Payload returns the row of a payload, nil if there is none.
func (c *Conn) Payload(hexSum string) (*StoredPayload, error) {
	p := &StoredPayload{}
	if n, err := hex.Decode(p.Sum[:], []byte(hexSum)); err != nil || n != len(p.Sum) {
		return nil, errPayloadName
	}
	found, err := c.One(PayloadOf, []any{p.Sum[:]}, func(s Row) {
		p.Size, p.Codec = s.ColumnInt64(0), payload.Codec(s.ColumnText(1))
		if s.ColumnType(2) != Null {
			p.Inline = s.ColumnBlob(2, []byte{})
		}
	})
	if err != nil || !found {
		return nil, err
	}

	return p, nil
}

func (c *Conn) PayloadSize(hexSum string) (int64, error) {
	p, err := c.Payload(hexSum)
	if err != nil || p == nil {
		return 0, err
	}
	return p.Size, nil
}

// lostPayload returns the error for a memory's payload that has no row.
func (c *Conn) lostPayload(m *robotmem.Memory) error {
	err := error(robotmem.Errorf(robotmem.Corrupt, "", "the payload is missing; run robotmem doctor"))
	_, qerr := c.One(LastEviction, []any{m.MemoryID}, func(s Row) {
		err = robotmem.Errorf(robotmem.NotFound, "memory_id",
			"the bytes of memory %d were evicted at %s: %s; its description and "+
				"summary remain", m.MemoryID, s.ColumnText(0), s.ColumnText(1))
	})

	return errors.Join(qerr, err)
}

// OpenPayload opens a payload. Inline bytes are verified immediately, files while they are read.
func (s *Store) OpenPayload(p *StoredPayload) (io.ReadSeekCloser, error) {
	if p.Inline != nil {
		data, ok := p.Bytes()
		if !ok {
			return nil, damagedPayload(nil)
		}
		return robotmem.NewDataReader(&robotmem.DataResponse{DataBase64: data}), nil
	}

	r, err := s.Payloads().Open(p.Sum, p.Codec, p.Size)
	switch {
	case errors.Is(err, payload.ErrMissing):
		return nil, robotmem.Errorf(robotmem.Corrupt, "", "the payload is missing from the folder beside the file; "+
			"run robotmem doctor")
	case err != nil:
		return nil, damagedPayload(err)
	}

	return checked{r}, nil
}

// checked reads a payload file and converts its errors for callers.
type checked struct{ *payload.Reader }

func (c checked) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = robotmem.Wrap("data", damagedPayload(err))
	}
	return n, err
}

// KnownOrigin joins the record's session and returns the response to a save whose origin is
// stored already, nil if it is not.
func (c *Conn) KnownOrigin(r *record.Record, now time.Time) (*robotmem.SavePerceptionResponse, error) {
	if err := c.JoinSession(r); err != nil || r.Perception.Origin == "" {
		return nil, err
	}

	id, err := c.Number(MemoryOfOrigin, r.Collection,
		r.Perception.Origin)
	if err != nil || id == 0 {
		return nil, err
	}

	m, err := c.Memory(id, now)
	if err != nil {
		return nil, err
	}

	res := &robotmem.SavePerceptionResponse{
		Status: "duplicate", MemoryID: id, UID: m.UID, Collection: m.Collection,
		PerceptionType: m.PerceptionType, MediaType: m.MediaType, SHA256: m.SHA256, Summary: m.Summary,
	}
	if m.SHA256 != "" {
		res.Bytes, err = c.PayloadSize(m.SHA256)
	}

	return res, err
}

func (tx *Tx) InsertOrigin(collection, origin string, id int64) error {
	if origin == "" {
		return nil
	}
	return tx.Exec(InsertOrigin, collection, origin, id)
}

func (s *Store) OpenData(c *Conn, m *robotmem.Memory) (*robotmem.DataReader, error) {
	if m.SHA256 == "" {
		return nil, robotmem.Errorf(robotmem.NotFound, "memory_id",
			"memory %d is a %s without bytes; get returns its text", m.MemoryID, m.Type)
	}
	p, err := c.Payload(m.SHA256)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, c.lostPayload(m)
	}
	body, err := s.OpenPayload(p)
	if err != nil {
		return nil, err
	}

	return &robotmem.DataReader{
		ReadSeekCloser: body,
		MemoryID:       m.MemoryID,
		MediaType:      m.MediaType,
		Bytes:          p.Size,
		SHA256:         m.SHA256,
	}, nil
}

// Item reads a stored perception for decoding.
func (s *Store) Item(c *Conn, m *robotmem.Memory) (perception.Item, error) {
	d, err := s.OpenData(c, m)
	if err != nil {
		return perception.Item{}, err
	}

	// Of a payload that is too large to be decoded, only the head is read.
	var data []byte
	if d.Bytes <= record.DecodeLimit {
		data, err = ReadAll(d, d.Bytes)
	} else {
		data = make([]byte, record.HeadLimit)
		if _, err = io.ReadFull(d, data); err != nil {
			err = damagedPayload(err)
		}
	}

	return record.ItemOf(m.PerceptionType, m.MediaType, m.Metadata, data, d.Bytes), errors.Join(err, d.Close())
}

// ReadAll reads size bytes and then the end of the stream, where the reader verifies the checksum.
func ReadAll(r io.Reader, size int64) ([]byte, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, damagedPayload(err)
	}
	if _, err := r.Read(make([]byte, 1)); err != io.EOF {
		return nil, damagedPayload(err)
	}

	return data, nil
}

func damagedPayload(err error) error {
	// An error that is already meant for the caller stays as it is.
	if told := (*robotmem.Error)(nil); errors.As(err, &told) {
		return err
	}

	short := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
	if err == nil || short || errors.Is(err, payload.ErrDamaged) {
		return robotmem.Errorf(robotmem.Corrupt, "", "the payload is damaged; run robotmem doctor")
	}

	return robotmem.Errorf(robotmem.Unavailable, "", "the payload cannot be read (%s)", robotmem.Reason(err))
}
