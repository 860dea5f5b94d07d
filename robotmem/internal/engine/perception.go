package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception"
	foreign "github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/record"
	"github.com/robotmem/robotmem-go/robotmem/internal/store"
)

func (n *Engine) SavePerception(
	ctx context.Context, req *robotmem.SavePerceptionRequest,
) (*robotmem.SavePerceptionResponse, error) {
	return n.SavePerceptionFrom(ctx, req, nil)
}

func (n *Engine) SavePerceptionFrom(
	ctx context.Context, req *robotmem.SavePerceptionRequest, data io.Reader,
) (*robotmem.SavePerceptionResponse, error) {
	return serve("save_perception", req, func(r *robotmem.SavePerceptionRequest) (*robotmem.SavePerceptionResponse, error) {
		in, err := n.incoming(r, data)
		if err != nil {
			return nil, err
		}
		if in.file != nil {
			defer in.file.Close()
		}

		return n.keepPerception(ctx, r, in)
	})
}

func (n *Engine) keepPerception(
	ctx context.Context, r *robotmem.SavePerceptionRequest, in *incoming,
) (*robotmem.SavePerceptionResponse, error) {
	if err := n.Store.Writable(); err != nil {
		return nil, err
	}

	rec, err := n.describePerception(r)
	if err != nil {
		return nil, err
	}

	if in.reader != nil {
		if in.size < 0 || in.size > record.InlinePayload {
			// Check the session and the origin before a large payload is written.
			var known *robotmem.SavePerceptionResponse
			err := n.Store.Read(ctx, func(c *store.Conn) (err error) {
				probe := *rec
				known, err = c.KnownOrigin(&probe, n.Now())
				return err
			})
			if err != nil || known != nil {
				return known, err
			}
		}
		if err := n.readPayload(ctx, rec, in); err != nil {
			return nil, err
		}
	}

	rec.PerceptionType = cmp.Or(rec.PerceptionType, "visual") // nothing but a description

	// A repeated call must bring the same bytes, otherwise it is another call of the same id.
	rec.Call = rec.Call.WithPayload(rec.SHA256)
	res, answered := &robotmem.SavePerceptionResponse{}, false
	err = n.Store.WriteInTime(ctx, func(tx *store.Tx) (err error) {
		if answered, err = tx.Answered(rec.Call, res); err != nil || answered {
			return err
		}
		if err := n.insertPerception(tx, rec, res); err != nil {
			return err
		}

		return tx.KeepAnswer(rec.Call, res.MemoryID, res)
	})
	// The commit of an undecided write may still succeed and refer to the file.
	if !errors.Is(err, store.ErrUndecided) && (err != nil || answered || res.Status == "duplicate") {
		n.dropUnused(ctx, rec.Perception.Stored)
	}

	return res, err
}

// describePerception prepares the record of a request without its payload.
func (n *Engine) describePerception(r *robotmem.SavePerceptionRequest) (*record.Record, error) {
	metadata, raw, err := r.Metadata.Normalize("metadata", record.MaxMetadata)
	if err != nil {
		return nil, err
	}
	if _, err := perception.Sniff(nil, r.MediaType); err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "media_type", "%v", err)
	}

	rec, err := n.records.Prepare("perception", r.Description, r.Context)
	if err != nil {
		return nil, err
	}

	rec.Perception = &record.PerceptionRecord{Declared: r.MediaType, Origin: r.Origin}
	rec.Collection, rec.SessionID, rec.Source, rec.PerceptionType = r.Collection, r.SessionID, r.Source, r.PerceptionType
	if r.ObservedAt != nil {
		rec.ObservedAt = *r.ObservedAt
	}

	// The hash of the payload is added to the call when it has been read.
	named := *r
	named.RequestID, named.Data, named.DataBase64 = "", "", nil
	if rec.Call, err = record.CallOf("save_perception", r.RequestID, &named); err != nil {
		return nil, err
	}

	if rec.Metadata = metadata; len(metadata) > 0 {
		rec.RawMetadata = raw
	}

	return rec, nil
}

// insertPerception stores a perception and fills the response.
func (n *Engine) insertPerception(tx *store.Tx, rec *record.Record, res *robotmem.SavePerceptionResponse) error {
	p := rec.Perception
	// A copy: the function may run twice and sets the session's collection.
	settled := *rec
	known, err := tx.KnownOrigin(&settled, tx.Now)
	if err != nil {
		return err
	}

	if known != nil {
		*res = *known
		return nil
	}

	if err := tx.InsertPayload(p); err != nil {
		return err
	}

	id, uid, err := tx.Insert(&settled)
	if err != nil {
		return err
	}

	*res = robotmem.SavePerceptionResponse{
		Status: "created", MemoryID: id, UID: uid, Collection: settled.Collection,
		PerceptionType: settled.PerceptionType, MediaType: settled.MediaType, Summary: settled.Summary,
	}
	if p.Stored != nil {
		res.Bytes, res.SHA256 = p.Stored.Size, settled.SHA256
	}

	return errors.Join(tx.InsertOrigin(settled.Collection, p.Origin, id), tx.InsertFeatures(id, p.Features))
}

// incoming is the payload of a request that is being read.
type incoming struct {
	reader io.Reader // nil if there is none
	size   int64     // -1 if unknown
	field  string    // the request field, for errors
	limit  int64     // bytes
	file   *os.File  // nil unless it is read from one
}

// incoming returns the payload of a request, which may have one source only.
func (n *Engine) incoming(r *robotmem.SavePerceptionRequest, stream io.Reader) (*incoming, error) {
	sources := 0

	for _, has := range []bool{r.Data != "", r.DataBase64 != nil, r.Path != "", stream != nil} {
		if has {
			sources++
		}
	}

	inline := func(field string, data []byte) (*incoming, error) {
		if int64(len(data)) > n.options.MaxPayload {
			return nil, robotmem.Errorf(robotmem.TooLarge, field,
				"is %d bytes; the limit of one payload in a request is %d; send it as a stream (multipart/form-data, or --file on the command line)",
				len(data), n.options.MaxPayload)
		}

		return &incoming{
			reader: bytes.NewReader(data), size: int64(len(data)), field: field, limit: n.options.MaxPayload,
		}, nil
	}

	switch {
	case sources > 1:
		return nil, robotmem.Errorf(robotmem.Invalid, "data", "give at most one of data, data_base64 and path")
	case stream != nil:
		return &incoming{reader: stream, size: -1, field: "data", limit: n.options.MaxStream}, nil
	case r.Path != "":
		return n.openAllowed(r.Path)
	case r.DataBase64 != nil:
		return inline("data_base64", r.DataBase64)
	case r.Data != "" && !utf8.ValidString(r.Data):
		return nil, robotmem.Errorf(robotmem.Invalid, "data", "is not valid UTF-8; pass bytes as data_base64")
	case r.Data != "":
		return inline("data", []byte(r.Data))
	}

	return &incoming{}, nil
}

// openAllowed opens a file below one of the allowed folders. os.Root prevents leaving
// the folder, also through symbolic links.
func (n *Engine) openAllowed(path string) (*incoming, error) {
	if len(n.options.AllowPaths) == 0 {
		return nil, robotmem.Errorf(robotmem.Forbidden, "path",
			"no folder is allowed; start the node with --allow-path FOLDER, or pass the bytes as data_base64 (--file on the command line)")
	}

	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Invalid, "path", "is not a path")
	}

	for _, folder := range n.options.AllowPaths {
		rel := ""
		base, err := filepath.Abs(folder)
		if err == nil {
			rel, err = filepath.Rel(base, abs)
		}
		if err == nil && filepath.IsLocal(rel) {
			return n.openBelow(base, rel)
		}
	}

	return nil, robotmem.Errorf(robotmem.Forbidden, "path",
		"is outside the folders that are allowed; the operator adds one with --allow-path")
}

func (n *Engine) openBelow(folder, rel string) (*incoming, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, robotmem.Errorf(robotmem.Forbidden, "path", "the allowed folder cannot be opened (%s)",
			robotmem.Reason(err))
	}

	defer root.Close()

	f, info, err := foreign.OpenFile(root, rel)
	switch {
	case errors.Is(err, foreign.ErrNotRegular):
		return nil, robotmem.Errorf(robotmem.Invalid, "path", "is not a regular file")
	case errors.Is(err, os.ErrNotExist):
		return nil, robotmem.Errorf(robotmem.NotFound, "path", "there is no such file")
	case err != nil:
		return nil, robotmem.Errorf(robotmem.Forbidden, "path", "cannot be opened below the allowed folder (%s)",
			robotmem.Reason(err))
	case info.Size() > n.options.MaxStream:
		_ = f.Close() // it was only opened
		return nil, robotmem.Errorf(robotmem.TooLarge, "path", "is %d bytes; the limit of one payload is %d",
			info.Size(), n.options.MaxStream)
	}

	return &incoming{reader: f, size: info.Size(), field: "path", limit: n.options.MaxStream, file: f}, nil
}
