package local

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
)

// perceptionRecord is what a perception has beside a fact, on its way into the
// file.
type perceptionRecord struct {
	perceptionType string
	declared       string // media type as the caller gave it
	mediaType      string
	object         robotmem.Object // metadata
	metadata       string          // the same as JSON
	origin         string
	stored         *payload.Written // nil without a payload
	features       *features        // nil leaves them to the background
	later          bool             // those that do not come with the summary are left so
}

const maxMetadata = 64 << 10

func dataURI(id int64) string { return "robotmem://perception/" + strconv.FormatInt(id, 10) + "/data" }

// SavePerception implements Service.
func (e *Engine) SavePerception(ctx context.Context, req *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error) {
	return e.savePerception(ctx, req, nil)
}

// SavePerceptionFrom implements Streams.
func (e *Engine) SavePerceptionFrom(ctx context.Context, req *robotmem.SavePerceptionRequest, data io.Reader) (*robotmem.SavePerceptionResponse, error) {
	return e.savePerception(ctx, req, data)
}

func (e *Engine) savePerception(ctx context.Context, req *robotmem.SavePerceptionRequest, stream io.Reader) (*robotmem.SavePerceptionResponse, error) {
	r := *req
	if err := robotmem.Validate("save_perception", &r); err != nil {
		return nil, err
	}
	in, err := e.incoming(&r, stream)
	if err != nil {
		return nil, sqlite.Wrap("save_perception", err)
	}
	res, err := e.keepPerception(ctx, &r, in)
	if err := errors.Join(err, in.close()); err != nil {
		return nil, sqlite.Wrap("save_perception", err)
	}
	return res, nil
}

func (e *Engine) keepPerception(ctx context.Context, r *robotmem.SavePerceptionRequest, in *incoming) (*robotmem.SavePerceptionResponse, error) {
	if err := e.store.Writable(); err != nil {
		return nil, err
	}
	rec, err := e.describePerception(r)
	if err != nil {
		return nil, err
	}
	if in.reader != nil {
		if in.size < 0 || in.size > inlinePayload {
			if known, err := e.foreseen(ctx, rec); err != nil || known != nil {
				return known, err
			}
		}
		if err := e.readPayload(ctx, rec, in); err != nil {
			return nil, err
		}
	}
	res := &robotmem.SavePerceptionResponse{}
	err = e.store.writeInTime(ctx, func(tx *writeTx) error {
		*res = robotmem.SavePerceptionResponse{}
		return e.insertPerception(tx, rec, res)
	})
	if errors.Is(err, sqlite.ErrUndecided) {
		return nil, err // the file may be named yet
	}
	if err != nil || res.Status == "duplicate" {
		e.dropUnused(ctx, rec)
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// describePerception prepares all of a request but its payload.
func (e *Engine) describePerception(r *robotmem.SavePerceptionRequest) (*record, error) {
	p := &perceptionRecord{perceptionType: r.PerceptionType, declared: r.MediaType, origin: r.Origin}
	var err error
	if p.object, p.metadata, err = r.Metadata.Normalize("metadata", maxMetadata); err != nil {
		return nil, err
	}
	if r.MediaType != "" {
		if _, err := perception.Sniff(nil, r.MediaType); err != nil {
			return nil, robotmem.Errorf(robotmem.Invalid, "media_type", "%v", err)
		}
	}
	rec, err := e.records.prepare("perception", r.Description, r.Context)
	if err != nil {
		return nil, err
	}
	rec.collection, rec.session, rec.observed, rec.perception = r.Collection, r.SessionID, r.ObservedAt, p
	rec.source = r.Source
	return rec, nil
}

// foreseen looks at the session and the origin before a large payload is
// written for nothing. It returns the answer if the origin is known.
func (e *Engine) foreseen(ctx context.Context, rec *record) (known *robotmem.SavePerceptionResponse, err error) {
	err = e.store.read(ctx, func(c *conn) error {
		probe := *rec
		if err := c.joinSession(&probe); err != nil {
			return err
		}
		id, err := c.originOf(probe.collection, rec.perception.origin)
		if err != nil || id == 0 {
			return err
		}
		known, err = c.knownPerception(id, e.now())
		return err
	})
	return known, err
}

// insertPerception stores a perception and fills the response.
func (e *Engine) insertPerception(tx *writeTx, rec *record, res *robotmem.SavePerceptionResponse) error {
	p := rec.perception
	settled := *rec // a job may run twice, and the session's collection may differ
	if err := tx.joinSession(&settled); err != nil {
		return err
	}
	id, err := tx.originOf(settled.collection, p.origin)
	if err != nil {
		return err
	}
	if id != 0 {
		known, err := tx.knownPerception(id, tx.now)
		if err == nil {
			*res = *known
		}
		return err
	}
	if err := tx.insertPayload(p); err != nil {
		return err
	}
	if res.MemoryID, res.UID, err = tx.insert(&settled); err != nil {
		return err
	}
	if err := tx.insertOrigin(settled.collection, p.origin, res.MemoryID); err != nil {
		return err
	}
	res.Status, res.Collection = "created", settled.collection
	res.PerceptionType, res.MediaType, res.Summary = p.perceptionType, p.mediaType, settled.summary
	if p.stored != nil {
		res.Bytes, res.SHA256 = p.stored.Size, hex.EncodeToString(p.stored.Sum[:])
	}
	return tx.insertFeatures(res.MemoryID, p.features)
}

// incoming is the payload of a request on its way in.
type incoming struct {
	reader io.Reader // nil if there is none
	size   int64     // -1 if unknown
	field  string    // what the caller named it
	limit  int64     // bytes
	closer io.Closer
}

func (in *incoming) close() error {
	if in.closer == nil {
		return nil
	}
	return in.closer.Close()
}

// incoming finds the one place that holds a request's payload.
func (e *Engine) incoming(r *robotmem.SavePerceptionRequest, stream io.Reader) (*incoming, error) {
	sources := 0
	for _, has := range []bool{r.Data != "", r.DataBase64 != nil, r.Path != "", stream != nil} {
		if has {
			sources++
		}
	}
	inline := func(field string, data []byte) (*incoming, error) {
		if int64(len(data)) > e.options.MaxPayload {
			return nil, robotmem.Errorf(robotmem.TooLarge, field, "is %d bytes; the limit of one payload in a request is %d; send it as a stream (multipart/form-data, or --file on the command line)", len(data), e.options.MaxPayload)
		}
		return &incoming{reader: bytes.NewReader(data), size: int64(len(data)), field: field, limit: e.options.MaxPayload}, nil
	}
	switch {
	case sources > 1:
		return nil, robotmem.Errorf(robotmem.Invalid, "data", "give at most one of data, data_base64 and path")
	case stream != nil:
		return &incoming{reader: stream, size: -1, field: "data", limit: e.options.MaxStream}, nil
	case r.Path != "":
		return e.openAllowed(r.Path)
	case r.DataBase64 != nil:
		return inline("data_base64", r.DataBase64)
	case r.Data != "" && !utf8.ValidString(r.Data):
		return nil, robotmem.Errorf(robotmem.Invalid, "data", "is not valid UTF-8; pass bytes as data_base64")
	case r.Data != "":
		return inline("data", []byte(r.Data))
	}
	return &incoming{}, nil
}

// openAllowed opens a file below one of the allowed folders. os.Root refuses
// every way out of the folder, symbolic links included.
func (e *Engine) openAllowed(path string) (*incoming, error) {
	if len(e.options.AllowPaths) == 0 {
		return nil, robotmem.Errorf(robotmem.Forbidden, "path", "no folder is allowed; start the node with --allow-path FOLDER, or pass the bytes as data_base64 (--file on the command line)")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "path", "is not a path")
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
		return e.openBelow(base, rel)
	}
	return nil, robotmem.Errorf(robotmem.Forbidden, "path", "is outside the folders that are allowed; the operator adds one with --allow-path")
}

func (e *Engine) openBelow(folder, rel string) (in *incoming, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Forbidden, "path", "the allowed folder cannot be opened (%s)", sqlite.Reason(err))
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	// Looked at before it is opened: opening a named pipe waits for its writer.
	if info, err := root.Stat(rel); err == nil && !info.Mode().IsRegular() {
		return nil, robotmem.Errorf(robotmem.Invalid, "path", "is not a regular file")
	}
	f, err := root.Open(rel)
	if errors.Is(err, os.ErrNotExist) {
		return nil, robotmem.Errorf(robotmem.NotFound, "path", "there is no such file")
	}
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Forbidden, "path", "cannot be opened below the allowed folder (%s)", sqlite.Reason(err))
	}
	info, err := f.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
		err = robotmem.Errorf(robotmem.Invalid, "path", "is not a regular file")
	case info.Size() > e.options.MaxStream:
		err = robotmem.Errorf(robotmem.TooLarge, "path", "is %d bytes; the limit of one payload is %d", info.Size(), e.options.MaxStream)
	default:
		return &incoming{reader: f, size: info.Size(), field: "path", limit: e.options.MaxStream, closer: f}, nil
	}
	return nil, errors.Join(err, f.Close())
}

// Get implements Service.
func (e *Engine) Get(ctx context.Context, req *robotmem.GetRequest) (*robotmem.Memory, error) {
	r := *req
	if err := robotmem.Validate("get", &r); err != nil {
		return nil, err
	}
	var m *robotmem.Memory
	err := e.store.read(ctx, func(c *conn) (err error) {
		if m, err = c.memory(r.MemoryID, e.now()); err != nil {
			return err
		}
		if m.SHA256 != "" {
			m.Bytes, err = c.payloadSize(m.SHA256)
			return err
		}
		if m.Type != "fact" || m.Status != "active" {
			return nil
		}
		rec, err := e.records.recordOf(m)
		if err == nil {
			m.Conflicts, err = c.dissent(rec)
		}
		return err
	})
	if err != nil {
		return nil, sqlite.Wrap("get", err)
	}
	return m, nil
}
