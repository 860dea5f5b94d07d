// Package documents stores documents through any Service: a file, or the files of a folder that is followed.
package documents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/robotmem/robotmem-go/perception/documents"
	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/robotmem"
)

// Stored is what became of a document.
type Stored struct {
	robotmem.SaveDocumentResponse
	Notes []string `json:"notes,omitempty"` // what was not read of it
}

// String says it in a line, and each note in one more.
func (s *Stored) String() string {
	out := fmt.Sprintf("%s: %s, %d passages", s.Name, s.Status, s.Passages)
	if s.Status == "updated" {
		out += fmt.Sprintf(": %d new, %d kept, %d gone", s.Added, s.Kept, s.Removed)
	}

	for _, note := range append(slices.Clone(s.Notes), s.Interpreted...) {
		out += "\n  " + note
	}

	return out
}

// Save reads the document in data and stores it under a name.
func Save(
	ctx context.Context, svc robotmem.Service, r *documents.Reader, data []byte, req robotmem.SaveDocumentRequest,
) (*Stored, error) {
	doc, err := r.Read(ctx, req.Name, data)
	if err != nil {
		return nil, wrap(err)
	}

	sum := sha256.Sum256(data)
	req.SHA256, req.MediaType, req.Title, req.Pages = hex.EncodeToString(sum[:]), doc.MediaType, doc.Title, doc.Pages

	req.Passages = make([]robotmem.DocumentPassage, len(doc.Passages))
	for i, p := range doc.Passages {
		const most = 16 // headings above a passage
		req.Passages[i] = robotmem.DocumentPassage{Text: p.Text, Page: p.Page, LastPage: p.Last, Section: p.Section[:min(most, len(p.Section))]}
	}

	res, err := svc.SaveDocument(ctx, &req)
	if err != nil {
		return nil, err
	}

	return &Stored{SaveDocumentResponse: *res, Notes: doc.Notes}, nil
}

// SaveFile stores the document in a file.
func SaveFile(
	ctx context.Context, svc robotmem.Service, r *documents.Reader, path string, req robotmem.SaveDocumentRequest,
) (*Stored, error) {
	f, info, err := importers.Open(path)
	if err != nil {
		return nil, wrap(err)
	}
	defer f.Close()

	if info.Size() > r.MaxBytes() {
		return nil, robotmem.Errorf(robotmem.TooLarge, "file", "%s has %d bytes, and the limit is %d; split it", req.Name, info.Size(), r.MaxBytes())
	}

	data, err := io.ReadAll(io.LimitReader(f, r.MaxBytes()+1))
	if err == nil {
		if after, e := f.Stat(); e == nil && (int64(len(data)) != info.Size() || !after.ModTime().Equal(info.ModTime())) {
			err = robotmem.Errorf(robotmem.Conflict, "file", "%s changed while it was read; import it again when it is whole", req.Name)
		}
	}
	if err != nil {
		return nil, wrap(err)
	}

	return Save(ctx, svc, r, data, req)
}

// wrap returns the error of the reader as one of a Service.
func wrap(err error) error {
	kind := robotmem.Invalid

	switch {
	case errors.As(err, new(*robotmem.Error)), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, documents.ErrTooLarge):
		kind = robotmem.TooLarge
	case errors.Is(err, fs.ErrNotExist):
		kind = robotmem.NotFound
	}

	return &robotmem.Error{Op: "import", Kind: kind, Field: "file", Err: err}
}
