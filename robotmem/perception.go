package robotmem

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/robotmem/text"
)

// perceptionRecord is the payload of a perception on its way into the file.
type perceptionRecord struct {
	perceptionType string
	mediaType      string
	metadata       string // JSON
	given          bool   // a payload was given, empty or not
	data           []byte
	size           int64
	sum            [sha256.Size]byte
	features       *features
}

// features is what a perception is compared by; only equal kinds compare.
type features struct {
	kind   string
	vector []float32
	self   int64 // the memory they come from, left out of the answer
}

const maxMetadata = 64 << 10

func dataURI(id int64) string { return "robotmem://perception/" + strconv.FormatInt(id, 10) + "/data" }

// SavePerception implements Service.
func (e *Engine) SavePerception(ctx context.Context, req *SavePerceptionRequest) (*SavePerceptionResponse, error) {
	r := *req
	if err := normalize("save_perception", &r); err != nil {
		return nil, err
	}
	rec, err := e.perceptionRecord(&r)
	if err != nil {
		return nil, wrap("save_perception", err)
	}
	if err := e.storeLarge(ctx, rec); err != nil {
		return nil, wrap("save_perception", err)
	}
	p := rec.perception
	res := &SavePerceptionResponse{PerceptionType: p.perceptionType, MediaType: p.mediaType, Bytes: p.size, Summary: rec.summary}
	if p.given {
		res.SHA256 = hex.EncodeToString(p.sum[:])
	}
	err = e.write(ctx, func(tx *writeTx) (err error) {
		if err := tx.joinSession(rec); err != nil {
			return err
		}
		if err := tx.insertPayload(p); err != nil {
			return err
		}
		if res.MemoryID, res.UID, err = tx.insert(rec); err != nil {
			return err
		}
		res.Collection = rec.collection
		return tx.insertFeatures(res.MemoryID, p.features)
	})
	if err != nil {
		return nil, wrap("save_perception", err)
	}
	return res, nil
}

// checkSession refuses what its session does not take, before a large payload
// is written for it.
func (e *Engine) checkSession(ctx context.Context, rec *record) error {
	return e.read(ctx, func(c *conn) error {
		probe := *rec
		return c.joinSession(&probe)
	})
}

// perceptionRecord reads the payload and prepares what will be stored.
func (e *Engine) perceptionRecord(r *SavePerceptionRequest) (*record, error) {
	p := &perceptionRecord{perceptionType: r.PerceptionType}
	var metadata Object
	var err error
	if metadata, p.metadata, err = normalObject("metadata", r.Metadata, maxMetadata); err != nil {
		return nil, err
	}
	if p.data, p.given, err = e.payload(r); err != nil {
		return nil, err
	}
	if p.given {
		p.size, p.sum = int64(len(p.data)), sha256.Sum256(p.data)
		if p.mediaType, err = perception.Sniff(p.data, r.MediaType); err != nil {
			return nil, fail(Invalid, "media_type", "%v", err)
		}
	}
	rec, err := e.prepare("perception", r.Description, r.Context)
	if err != nil {
		return nil, err
	}
	rec.collection, rec.session, rec.observed, rec.perception = r.Collection, r.SessionID, r.ObservedAt, p
	if p.given {
		item := perception.Item{Type: p.perceptionType, MediaType: p.mediaType, Data: p.data, Metadata: metadata}
		if s := perception.Summarize(item); s != "" {
			rec.summary = summarize(s)
			rec.ftsSummary = text.Index(rec.summary)
		}
		if kind, vector, ok := perception.Features(item); ok {
			p.features = &features{kind: kind, vector: vector}
		}
	}
	return rec, nil
}

// payload returns the bytes of a request, from the one place that holds them.
func (e *Engine) payload(r *SavePerceptionRequest) (data []byte, given bool, err error) {
	sources := 0
	for _, has := range []bool{r.Data != "", r.DataBase64 != nil, r.Path != ""} {
		if has {
			sources++
		}
	}
	if sources > 1 {
		return nil, false, fail(Invalid, "data", "give at most one of data, data_base64 and path")
	}
	field := "data"
	switch {
	case r.Path != "":
		data, err = e.readAllowed(r.Path)
	case r.DataBase64 != nil:
		data, field = r.DataBase64, "data_base64"
	case r.Data != "":
		if !utf8.ValidString(r.Data) {
			return nil, false, fail(Invalid, "data", "is not valid UTF-8; pass bytes as data_base64")
		}
		data = []byte(r.Data)
	default:
		return nil, false, nil
	}
	if err == nil && int64(len(data)) > e.options.MaxPayload {
		err = fail(TooLarge, field, "is %d bytes; the limit of one payload is %d", len(data), e.options.MaxPayload)
	}
	return data, true, err
}

// readAllowed reads a file below one of the allowed folders. os.Root refuses
// every way out of the folder, symbolic links included.
func (e *Engine) readAllowed(path string) ([]byte, error) {
	if len(e.options.AllowPaths) == 0 {
		return nil, fail(Forbidden, "path", "no folder is allowed; start the node with --allow-path FOLDER, or pass the bytes as data_base64 (--file on the command line)")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fail(Invalid, "path", "is not a path")
	}
	for _, folder := range e.options.AllowPaths {
		base, err := filepath.Abs(folder)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(base, abs)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			continue
		}
		return e.readBelow(base, rel)
	}
	return nil, fail(Forbidden, "path", "is outside the folders that are allowed; the operator adds one with --allow-path")
}

func (e *Engine) readBelow(folder, rel string) (data []byte, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fail(Forbidden, "path", "the allowed folder cannot be opened (%s)", reason(err))
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	// Looked at before it is opened: opening a named pipe waits for its writer.
	if info, err := root.Stat(rel); err == nil && !info.Mode().IsRegular() {
		return nil, fail(Invalid, "path", "is not a regular file")
	}
	f, err := root.Open(rel)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fail(NotFound, "path", "there is no such file")
	}
	if err != nil {
		return nil, fail(Forbidden, "path", "cannot be opened below the allowed folder (%s)", reason(err))
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, fail(Invalid, "path", "is not a regular file")
	}
	if info.Size() > e.options.MaxPayload {
		return nil, fail(TooLarge, "path", "is %d bytes; the limit of one payload is %d", info.Size(), e.options.MaxPayload)
	}
	data, err = io.ReadAll(io.LimitReader(f, e.options.MaxPayload+1))
	if err != nil {
		return nil, fail(Unavailable, "path", "cannot be read (%s)", reason(err))
	}
	return data, nil
}

// Data implements Service.
func (e *Engine) Data(ctx context.Context, req *DataRequest) (*DataResponse, error) {
	r := *req
	if err := normalize("data", &r); err != nil {
		return nil, err
	}
	res := &DataResponse{MemoryID: r.MemoryID}
	err := e.read(ctx, func(c *conn) error {
		m, err := c.memory(r.MemoryID, e.now())
		if err != nil {
			return err
		}
		if m.SHA256 == "" {
			return fail(NotFound, "memory_id", "memory %d is a %s without bytes; get returns its text", r.MemoryID, m.Type)
		}
		res.MediaType, res.SHA256 = m.MediaType, m.SHA256
		res.DataBase64, err = e.loadPayload(c, m.SHA256)
		return err
	})
	if err != nil {
		return nil, wrap("data", err)
	}
	res.Bytes = int64(len(res.DataBase64))
	return res, nil
}

// Get implements Service.
func (e *Engine) Get(ctx context.Context, req *GetRequest) (*Memory, error) {
	r := *req
	if err := normalize("get", &r); err != nil {
		return nil, err
	}
	var m *Memory
	err := e.read(ctx, func(c *conn) (err error) {
		if m, err = c.memory(r.MemoryID, e.now()); err != nil || m.SHA256 == "" {
			return err
		}
		m.Bytes, err = c.payloadSize(m.SHA256)
		return err
	})
	if err != nil {
		return nil, wrap("get", err)
	}
	return m, nil
}
