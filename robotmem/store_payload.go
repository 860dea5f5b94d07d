package robotmem

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"

	"github.com/ncruces/go-sqlite3"
	"github.com/robotmem/robotmem-go/perception"
)

// inlinePayload is the size up to which the file is as fast as a folder; above
// it the log would be written twice over.
const inlinePayload = 256 << 10

// codecRaw marks a payload that is stored as it came.
const codecRaw = "raw"

// files is the folder of large payloads, beside the file.
func (e *Engine) files() perception.Files { return perception.Files{Dir: e.path + ".payloads"} }

// storeLarge writes a large payload to the folder, synced, before the row that
// names it.
func (e *Engine) storeLarge(ctx context.Context, rec *record) error {
	p := rec.perception
	if p.size <= inlinePayload {
		return nil // the transaction that stores it checks the session
	}
	if err := e.checkSession(ctx, rec); err != nil {
		return err
	}
	if err := e.files().Put(p.sum, p.data); err != nil {
		e.log.Error("payload not stored", "err", err)
		return fail(Unavailable, "data", "the payload's %d bytes could not be written (%s); nothing was stored; check the disk's space", p.size, reason(err))
	}
	return nil
}

// insertPayload stores the row of a payload, and its bytes when they are few.
// The same bytes are stored once.
func (tx *writeTx) insertPayload(p *perceptionRecord) error {
	if !p.given {
		return nil
	}
	var data []byte
	if p.size <= inlinePayload {
		data = p.data
		if data == nil {
			data = []byte{}
		}
	}
	return tx.exec("INSERT OR IGNORE INTO payloads(sha256, bytes, codec, created_at, data) VALUES (?,?,?,?,?)",
		p.sum[:], p.size, codecRaw, formatTime(tx.now), data)
}

func (tx *writeTx) insertFeatures(id int64, f *features) error {
	if f == nil {
		return nil
	}
	blob := make([]byte, 0, 4*len(f.vector))
	for _, v := range f.vector {
		blob = binary.LittleEndian.AppendUint32(blob, math.Float32bits(v))
	}
	return tx.exec("INSERT INTO features(memory_id, kind, vector) VALUES (?,?,?)", id, f.kind, blob)
}

func decodeVector(blob []byte) []float32 {
	out := make([]float32, len(blob)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(blob[4*i:]))
	}
	return out
}

func (c *conn) payloadSize(hexSum string) (int64, error) {
	sum, err := hex.DecodeString(hexSum)
	if err != nil {
		return 0, err
	}
	return c.number("SELECT bytes FROM payloads WHERE sha256 = ?", sum)
}

// loadPayload returns the bytes of a payload and checks them.
func (e *Engine) loadPayload(c *conn, hexSum string) ([]byte, error) {
	var sum [sha256.Size]byte
	if n, err := hex.Decode(sum[:], []byte(hexSum)); err != nil || n != len(sum) {
		return nil, fail(Corrupt, "", "the memory names its payload wrongly; run robotmem doctor")
	}
	var data []byte
	inline := false
	found, err := c.one("SELECT data FROM payloads WHERE sha256 = ?", []any{sum[:]}, func(s *sqlite3.Stmt) {
		inline = s.ColumnType(0) != sqlite3.NULL
		data = s.ColumnBlob(0, []byte{})
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, fail(Corrupt, "", "the payload is missing; run robotmem doctor")
	case inline && sha256.Sum256(data) != sum:
		return nil, fail(Corrupt, "", "the payload is damaged; run robotmem doctor")
	case inline:
		return data, nil
	}
	data, err = e.files().Get(sum)
	switch {
	case errors.Is(err, perception.ErrMissing):
		return nil, fail(Corrupt, "", "the payload is missing from the folder beside the file; run robotmem doctor")
	case errors.Is(err, perception.ErrDamaged):
		return nil, fail(Corrupt, "", "the payload is damaged; run robotmem doctor")
	}
	return data, err
}

// likenessSignal orders the admitted perceptions by the distance of their
// features to those asked for.
func (e *Engine) likenessSignal(c *conn, q *question, a *admitted) ([]ranked, error) {
	want, err := e.wantedFeatures(c, q)
	if err != nil || want == nil {
		return nil, err
	}
	var items []ranked
	err = c.query("SELECT memory_id, vector FROM features WHERE kind = ?", []any{want.kind}, func(s *sqlite3.Stmt) error {
		id := s.ColumnInt64(0)
		if _, past := a.past[id]; id == want.self || !past && !a.set.Test(uint(id)) {
			return nil
		}
		items = append(items, ranked{id, euclid(want.vector, decodeVector(s.ColumnRawBlob(1)))})
		return nil
	})
	slices.SortFunc(items, func(x, y ranked) int { return cmp.Or(cmp.Compare(x.value, y.value), cmp.Compare(x.id, y.id)) })
	return items, err
}

func euclid(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.MaxFloat64
	}
	sum := 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		sum += d * d
	}
	return math.Sqrt(sum)
}

// wantedFeatures are those of the memory or the bytes in question; nil, with a
// note in degraded, when they have none.
func (e *Engine) wantedFeatures(c *conn, q *question) (*features, error) {
	if q.Like.MemoryID == 0 {
		mediaType, err := perception.Sniff(q.Like.DataBase64, q.Like.MediaType)
		if err != nil {
			return nil, fail(Invalid, "like.media_type", "%v", err)
		}
		kind, vector, ok := perception.Features(perception.Item{Type: q.PerceptionType, MediaType: mediaType, Data: q.Like.DataBase64})
		if !ok {
			return nil, fail(Invalid, "like.data_base64", "is %s, which cannot be compared", mediaType)
		}
		return &features{kind: kind, vector: vector}, nil
	}
	want := &features{self: q.Like.MemoryID}
	found, err := c.one("SELECT kind, vector FROM features WHERE memory_id = ?", []any{want.self}, func(s *sqlite3.Stmt) {
		want.kind, want.vector = s.ColumnText(0), decodeVector(s.ColumnRawBlob(1))
	})
	if err != nil || found {
		return want, err
	}
	if _, err := c.memory(want.self, q.now); err != nil {
		return nil, fail(NotFound, "like.memory_id", "there is no memory %d", want.self)
	}
	return nil, fail(Invalid, "like.memory_id", "memory %d has nothing to compare by; it must be a perception whose data is a trace or an image", want.self)
}
