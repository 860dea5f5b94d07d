package folder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importing"
)

// maxInline is the largest file that is handed over in memory; larger ones are
// streamed.
const maxInline = 1 << 20

// importFile stores one file. Only the sink's error is returned.
func (im *importer) importFile(name string, siblings map[string]bool, in *episode) error {
	p, err := im.perceive(name, siblings)
	im.files++
	if im.o.Progress != nil {
		defer im.o.Progress(importing.Progress{Done: im.files, What: name})
	}
	var skip skipped
	switch {
	case errors.As(err, &skip):
		in.missing = in.missing || skip.mend
		im.report.Skip(name, skip.reason, 1)
		return nil
	case err != nil:
		in.missing = true
		im.report.Break(name, err, 1)
		return nil
	}
	p.Context = merge(in.context, p.Context)
	im.report.Messages++
	return im.report.Save(im.ctx, im.sink, in.id, *p)
}

// skipped is why a file is left out.
type skipped struct {
	reason string
	mend   bool // it is a mistake that can be put right
}

func (s skipped) Error() string { return s.reason }

func (im *importer) perceive(name string, siblings map[string]bool) (*importing.Perception, error) {
	side, err := im.sidecarOf(name, siblings)
	if err != nil {
		return nil, err
	}
	f, err := im.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch size := info.Size(); {
	case !info.Mode().IsRegular():
		return nil, skipped{reason: "not a regular file"}
	case size == 0:
		return nil, skipped{reason: "empty"}
	case size > im.o.MaxBytes:
		return nil, skipped{reason: fmt.Sprintf("it has %d bytes; the limit is %d", size, im.o.MaxBytes)}
	}
	head, size, sum, err := digest(f, im.o.MaxBytes)
	if err != nil {
		return nil, err
	}
	p := &importing.Perception{
		Origin:     im.origin(name + "@" + hex.EncodeToString(sum[:16])),
		Type:       side.Type,
		MediaType:  side.MediaType,
		Metadata:   side.Metadata,
		Context:    side.Context,
		ObservedAt: side.ObservedAt, Size: size, Messages: 1,
	}
	if err := im.describe(p, name, head, side); err != nil {
		return nil, err
	}
	if p.ObservedAt.IsZero() {
		if p.ObservedAt = timeIn(name); p.ObservedAt.IsZero() {
			p.ObservedAt = importing.Clock(info.ModTime())
		}
	}
	if size <= maxInline {
		p.Data = head
		return p, nil
	}
	p.Open = func() (io.ReadCloser, error) { return im.root.Open(name) }
	return p, nil
}

// digest reads a file of at most limit bytes, and keeps the first maxInline.
func digest(f fs.File, limit int64) (head []byte, size int64, sum [sha256.Size]byte, err error) {
	hash := sha256.New()
	r := io.TeeReader(io.LimitReader(f, limit), hash)
	if head, err = io.ReadAll(io.LimitReader(r, maxInline)); err != nil {
		return nil, 0, sum, err
	}
	rest, err := io.Copy(io.Discard, r)
	return head, int64(len(head)) + rest, [sha256.Size]byte(hash.Sum(nil)), err
}

// describe fills in what the sidecar leaves open.
func (im *importer) describe(p *importing.Perception, name string, head []byte, side *sidecar) error {
	declared := p.MediaType
	if declared == "" {
		declared = mediaTypes[extension(name)]
	}
	var err error
	if p.MediaType, err = perception.Sniff(wholeRunes(head), declared); err != nil {
		return skipped{fmt.Sprintf("%s: media_type %s", side.name, err), true}
	}
	if p.Type == "" {
		p.Type = kindOf(name, p.MediaType, p.Metadata)
	}
	if p.Type == "" {
		p.Type = im.o.Other
	}
	if p.Type == "" {
		return skipped{"nothing tells its type (" + p.MediaType + "); give a sidecar with perception_type, or a type for all others (--type)", true}
	}
	p.Description = side.Description
	if p.Description == "" {
		p.Description = inWords(name)
	}
	meta := map[string]any{"path": importing.Cut(name, 1024)}
	maps.Copy(meta, p.Metadata)
	p.Metadata = meta
	return nil
}

// wholeRunes drops a character that the end of a head cuts in two, so that text
// stays text.
func wholeRunes(head []byte) []byte {
	if len(head) < maxInline {
		return head
	}
	if i := bytes.LastIndexByte(head, '\n'); i > 0 {
		return head[:i+1]
	}
	return head
}

// merge lays own keys over those of the session.
func merge(session, own map[string]any) map[string]any {
	if len(session) == 0 {
		return own
	}
	out := maps.Clone(session)
	maps.Copy(out, own)
	return out
}
