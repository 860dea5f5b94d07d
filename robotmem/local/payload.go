package local

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/payload"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/sqlite"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
)

// A payload passes through here as a stream. Up to inlinePayload it ends in the
// file, above that in the folder beside it; what is decoded for a summary, for
// likeness and for a picture is at most decodeLimit of it.

const (
	// inlinePayload is the size up to which the file is as fast as a folder;
	// above it the log would be written twice over.
	inlinePayload = 256 << 10
	// decodeLimit is the largest payload that is decoded.
	decodeLimit = 32 << 20
	// headLimit is what is looked at of a larger one.
	headLimit = 64 << 10
)

// readPayload takes a payload in, to the folder if it is large, and works out
// what is said and compared of it.
func (e *Engine) readPayload(ctx context.Context, rec *record, in *incoming) error {
	p := rec.perception
	body := &countingReader{Reader: in.reader}
	w, err := e.store.payloads().Write(ctx, body, payload.Options{
		Limit: in.limit, Inline: inlinePayload, Expect: in.size, HeadLimit: decodeLimit,
		Hint: func(head []byte) payload.Hint { return payload.HintOf(p.declared, p.object, head) },
	})
	switch {
	case errors.Is(err, payload.ErrTooLarge):
		return robotmem.Errorf(robotmem.TooLarge, in.field, "is over %d bytes, the limit of one payload; nothing was stored", in.limit)
	case errors.Is(err, payload.ErrShort), errors.Is(err, payload.ErrLong):
		return robotmem.Errorf(robotmem.Invalid, in.field, "changed while it was read: %d bytes were expected; nothing was stored", in.size)
	}
	if failed := e.notKept(ctx, in.field, in.needed(body.bytes), err); failed != nil {
		return failed
	}
	if err != nil {
		return robotmem.Errorf(robotmem.Invalid, in.field, "could not be read to its end (%s); nothing was stored", rootReason(err))
	}
	p.stored = w
	if p.mediaType, err = perception.Sniff(w.Head, p.declared); err != nil {
		e.dropUnused(ctx, rec)
		return robotmem.Errorf(robotmem.Invalid, "media_type", "%v", err)
	}
	e.understand(rec)
	return nil
}

// notKept is why a payload could not be written when that is not its source's
// fault; nil if it is, or if it was written.
func (e *Engine) notKept(ctx context.Context, field, needed string, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case !errors.Is(err, payload.ErrDisk):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return errPayloadGone // evicted while it was found to be there already
	case sqlite.NoSpace(err):
		return e.store.DiskFull(field, "the payload", needed, err)
	}
	e.log.Error("payload not stored", "err", err)
	return robotmem.Errorf(robotmem.Unavailable, field, "could not be written (%s); nothing was stored; check the disk's space", rootReason(err))
}

// dropUnused removes the files that were written for perceptions which were not
// stored after all, unless another names them. One that stays is an orphan, which
// harms nothing.
func (e *Engine) dropUnused(ctx context.Context, records ...*record) {
	var files [][sha256.Size]byte
	for _, rec := range records {
		if w := rec.perception.stored; w != nil && w.New {
			files = append(files, w.Sum)
		}
	}
	if len(files) == 0 {
		return
	}
	if err := e.store.removeFiles(context.WithoutCancel(ctx), files); err != nil {
		e.log.Warn("the file of a payload that was not stored stays", "err", err)
	}
}

// understand works out the summary and the features of a payload.
func (e *Engine) understand(rec *record) {
	p := rec.perception
	item := itemOf(p.perceptionType, p.mediaType, p.object, p.stored.Head, p.stored.Size)
	summary, kind, vector := perception.Describe(item)
	if summary != "" {
		rec.summary = summarize(summary)
		rec.ftsSummary = text.Index(rec.summary)
	}
	p.stored.Head = nil
	switch {
	case kind != "":
		p.features = &features{kind: kind, vector: vector}
	case !p.later:
		p.features = featuresOf(item)
	}
}

// itemOf is a payload as perception reads it: whole up to decodeLimit, else its
// beginning.
func itemOf(perceptionType, mediaType string, metadata robotmem.Object, data []byte, size int64) perception.Item {
	if size > int64(len(data)) {
		data = data[:min(len(data), headLimit)]
	}
	return perception.Item{Type: perceptionType, MediaType: mediaType, Data: data, Size: size, Metadata: metadata}
}

func featuresOf(item perception.Item) *features {
	kind, vector, _ := perception.Features(item)
	return &features{kind: kind, vector: vector}
}

// rootReason is the innermost cause of a disk's or a reader's error, without
// the path.
func rootReason(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

// OpenData implements Streams.
func (e *Engine) OpenData(ctx context.Context, req *robotmem.DataRequest) (*robotmem.DataReader, error) {
	r := *req
	if err := robotmem.Validate("data", &r); err != nil {
		return nil, err
	}
	var res *robotmem.DataReader
	find := func(c *conn) error {
		m, err := c.memory(r.MemoryID, e.now())
		if err == nil {
			res, err = e.store.openData(c, m)
		}
		return err
	}
	err := e.store.read(ctx, find)
	if errors.Is(err, robotmem.Corrupt) {
		err = e.store.read(ctx, find) // it may have been evicted after the snapshot was taken
	}
	if err != nil {
		return nil, sqlite.Wrap("data", err)
	}
	return res, nil
}

// Data implements Service.
func (e *Engine) Data(ctx context.Context, req *robotmem.DataRequest) (*robotmem.DataResponse, error) {
	d, err := e.OpenData(ctx, req)
	if err != nil {
		return nil, err
	}
	res := &robotmem.DataResponse{MemoryID: d.MemoryID, MediaType: d.MediaType, Bytes: d.Bytes, SHA256: d.SHA256}
	if d.Bytes > e.options.MaxPayload {
		err = robotmem.Errorf(robotmem.TooLarge, "memory_id", "memory %d has %d bytes, too many for one answer (%d); read them as a stream: GET %s, or robotmem data %d --output FILE", d.MemoryID, d.Bytes, e.options.MaxPayload, fmt.Sprintf("/api/memory/%d/data", d.MemoryID), d.MemoryID)
	} else {
		res.DataBase64, err = readAll(d, d.Bytes)
	}
	if err := errors.Join(err, d.Close()); err != nil {
		return nil, sqlite.Wrap("data", err)
	}
	return res, nil
}

// readAll reads size bytes, and to the end, where the checksum is compared.
func readAll(r io.Reader, size int64) ([]byte, error) {
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
	if told := (*robotmem.Error)(nil); errors.As(err, &told) {
		return err
	}
	if err == nil || errors.Is(err, payload.ErrDamaged) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return robotmem.Errorf(robotmem.Corrupt, "", "the payload is damaged; run robotmem doctor")
	}
	return robotmem.Errorf(robotmem.Unavailable, "", "the payload cannot be read (%s)", rootReason(err))
}

// Preview implements Service.
func (e *Engine) Preview(ctx context.Context, req *robotmem.PreviewRequest) (*robotmem.PreviewResponse, error) {
	r := *req
	if err := robotmem.Validate("preview", &r); err != nil {
		return nil, err
	}
	res := &robotmem.PreviewResponse{MemoryID: r.MemoryID}
	var item perception.Item
	err := e.store.read(ctx, func(c *conn) error {
		m, err := c.memory(r.MemoryID, e.now())
		if err == nil {
			res.Summary, res.SHA256 = m.Summary, m.SHA256
			item, err = e.store.item(c, m)
		}
		return err
	})
	if err != nil {
		return nil, sqlite.Wrap("preview", err)
	}
	p, err := perception.MakePreview(item, perception.PreviewOptions{Width: r.Width, Height: r.Height})
	if err != nil {
		return nil, sqlite.Wrap("preview", robotmem.Errorf(robotmem.NotFound, "memory_id", "no picture can be made of memory %d: %v; data returns its bytes", r.MemoryID, err))
	}
	res.MediaType, res.Width, res.Height, res.DataBase64 = p.MediaType, p.Width, p.Height, p.Data
	return res, nil
}
