package documents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/perception/documents"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/folder"
)

// WatchOptions are those of a Watcher. A zero field stands for its default.
type WatchOptions struct {
	Collection string
	Limits     documents.Limits
	Settle     time.Duration // a file is read when it has not changed for so long: 1 s; below 0 at once
	Rescan     time.Duration // how often all is looked at without an event: 1 minute
	// Report is called for each document that was stored, removed or refused.
	Report func(Change)
}

// Change is what became of a document of the folder.
type Change struct {
	Name   string  // of the document
	Stored *Stored // nil if it was removed or refused
	Err    error   // why it was refused; what was stored of it before stays
}

// Watcher keeps the documents of a memory equal to the files of a folder. It has no state of its own: which documents
// come from the folder, and of which files they were made, is asked of the memory.
type Watcher struct {
	svc     robotmem.Service
	folder  *folder.Folder
	reader  *documents.Reader
	options WatchOptions
	prefix  string // of the names of its documents

	read    map[string]file   // files that were looked at, by name
	refused map[string]string // the hash of a file that cannot be read, or why it was refused otherwise
	files   int               // how many there were
}

type file struct {
	size     int64
	modified time.Time
	sha256   string
}

// Watch opens a folder. Its documents are called by the name of the folder and their path in it.
func Watch(svc robotmem.Service, dir string, o WatchOptions) (*Watcher, error) {
	f, err := folder.Open(dir, folder.Options{Settle: o.Settle, Rescan: o.Rescan})
	if err != nil {
		return nil, wrap(err)
	}
	if o.Collection == "" {
		o.Collection = robotmem.DefaultCollection
	}
	if o.Report == nil {
		o.Report = func(Change) {}
	}

	return &Watcher{
		svc: svc, folder: f, reader: documents.NewReader(o.Limits), options: o, prefix: filepath.Base(f.Path) + "/",
		read: map[string]file{}, refused: map[string]string{},
	}, nil
}

// Close ends the watching.
func (w *Watcher) Close() error { return errors.Join(w.folder.Close(), w.reader.Close()) }

// Run keeps the documents equal to the files until the context ends.
func (w *Watcher) Run(ctx context.Context) error {
	for {
		if err := w.Pass(ctx); err != nil {
			// A node that is away for a while does not end the watching.
			if robotmem.KindOf(err) != robotmem.Unavailable || ctx.Err() != nil {
				return ended(ctx, err)
			}
			w.options.Report(Change{Err: err})
		}

		// The program for PDF is not kept for files that may never come.
		if !w.folder.Waiting() {
			_ = w.reader.Close()
		}
		if err := w.folder.Wait(ctx, nil); err != nil {
			return ended(ctx, err)
		}
	}
}

// Once makes the documents equal to the files as they are, and waits for those that are being written.
func (w *Watcher) Once(ctx context.Context) error {
	for {
		if err := w.Pass(ctx); err != nil || !w.folder.Waiting() {
			return err
		}
		if err := w.folder.Wait(ctx, nil); err != nil {
			return err
		}
	}
}

func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// source is the section of the context of a document that says from which folder it is.
func (w *Watcher) source() robotmem.Object {
	return robotmem.Object{"source": map[string]any{"folder": w.folder.Path}}
}

func (w *Watcher) owns(d *robotmem.Document) bool {
	source, _ := d.Context["source"].(map[string]any)
	return source["folder"] == w.folder.Path
}

// Pass compares all files with all documents once.
func (w *Watcher) Pass(ctx context.Context) error {
	listed, err := w.svc.Documents(ctx, &robotmem.DocumentsRequest{Collection: w.options.Collection})
	if err != nil {
		return err
	}

	files, skipped, err := w.folder.Files(func(name string) bool { return documents.Accepts(name, nil) != "" })
	if err != nil {
		return &robotmem.Error{Op: "watch", Kind: robotmem.Unavailable, Field: "folder", Err: err}
	}

	for _, name := range skipped {
		w.refuse(name, "link", errors.New("it is a link or a device, which is not followed"))
	}

	stored := map[string]*robotmem.Document{}
	own := 0

	for i := range listed.Documents {
		d := &listed.Documents[i]
		stored[d.Name] = d
		if w.owns(d) {
			own++
		}
	}

	// A folder on a disk that is not there is empty, too.
	if len(files) == 0 && w.files == 0 && own > 0 {
		return robotmem.Errorf(robotmem.Conflict, "folder", "%s has no document, and %d are stored from it; "+
			"is its disk there? Remove them with robotmem documents remove if they are not wanted", w.folder.Path, own)
	}
	w.files = max(w.files, len(files))

	there := map[string]bool{}
	for _, f := range files {
		there[w.prefix+f.Name] = true
		w.folder.There(f.Name)
		if !f.Whole {
			continue
		}
		if err := w.file(ctx, f, stored[w.prefix+f.Name]); err != nil {
			return err
		}
	}

	for name, d := range stored {
		if there[name] || !w.owns(d) || !w.folder.Gone(strings.TrimPrefix(name, w.prefix)) {
			continue
		}

		_, err := w.svc.RemoveDocument(ctx, &robotmem.RemoveDocumentRequest{
			Name: name, Collection: w.options.Collection, Reason: "its file was deleted",
		})
		if err != nil && robotmem.KindOf(err) != robotmem.NotFound {
			return err
		}
		delete(w.read, strings.TrimPrefix(name, w.prefix))
		w.options.Report(Change{Name: name})
	}

	return nil
}

// file stores a file if its document was made of another text.
func (w *Watcher) file(ctx context.Context, f folder.File, stored *robotmem.Document) error {
	known, looked := w.read[f.Name]
	same := looked && known.size == f.Size && known.modified.Equal(f.Modified)
	if same && (stored != nil && stored.SHA256 == known.sha256 || w.refused[f.Name] == known.sha256) {
		return nil
	}

	if stored != nil && stored.SHA256 != "" && !w.owns(stored) {
		w.refuse(f.Name, "foreign", robotmem.Errorf(robotmem.Conflict, "name",
			"a document of this name is stored from elsewhere; remove it with robotmem documents remove %s, or rename the folder", stored.Name))
		return nil
	}

	data, err := w.folder.Read(f.Name, w.reader.MaxBytes())

	switch {
	case errors.Is(err, folder.ErrChanging), errors.Is(err, fs.ErrNotExist):
		return nil // the next pass sees it as it is then
	case err != nil:
		w.refuse(f.Name, err.Error(), err)
		return nil
	}

	digest := sha256.Sum256(data)
	sum := hex.EncodeToString(digest[:])
	w.read[f.Name] = file{f.Size, f.Modified, sum}
	if stored != nil && stored.SHA256 == sum || w.refused[f.Name] == sum {
		return nil
	}

	res, err := Save(ctx, w.svc, w.reader, data, robotmem.SaveDocumentRequest{
		Name: w.prefix + f.Name, Collection: w.options.Collection, Context: w.source(),
	})
	if err != nil {
		// The text is at fault, or the memory.
		if kind := robotmem.KindOf(err); ctx.Err() == nil && slices.Contains([]robotmem.Kind{robotmem.Invalid, robotmem.TooLarge}, kind) {
			w.refuse(f.Name, sum, err)
			return nil
		}
		return err
	}

	delete(w.refused, f.Name)
	w.options.Report(Change{Name: res.Name, Stored: res})

	return nil
}

// refuse reports a file once for each reason.
func (w *Watcher) refuse(name, why string, err error) {
	if w.refused[name] == why {
		return
	}
	w.refused[name] = why
	w.options.Report(Change{Name: w.prefix + name, Err: err})
}
