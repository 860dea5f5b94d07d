package markdown

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/perception/importers"
	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/archive/jsonl"
)

const (
	maxFile    = 64 << 20 // bytes
	batchFiles = 200      // that are stored in one transaction
)

// Recognizes reports whether a path is a Markdown file or a folder of them: an export, or a
// folder without files other than Markdown and payloads of the same names.
func Recognizes(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return err == nil && info.Mode().IsRegular() && isNote(path)
	}
	_, noLinks := os.Stat(filepath.Join(path, linksFile))
	notes, others, err := list(os.DirFS(path), ".")
	return err == nil && len(notes) > 0 && (others == 0 || noLinks == nil)
}

func isNote(name string) bool { return strings.EqualFold(filepath.Ext(name), ".md") }

// list returns the Markdown files and counts the files without a Markdown file of the same
// name. A name that begins with a dot hides a file or a folder.
func list(fsys fs.FS, start string) (notes []string, others int, err error) {
	err = fs.WalkDir(fsys, start, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != start && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && isNote(name):
			notes = append(notes, name)
		case !d.IsDir() && !isNote(name):
			// The file of a payload has the name of its memory with another extension.
			if _, err := fs.Stat(fsys, strings.TrimSuffix(name, filepath.Ext(name))+".md"); err != nil {
				others++
			}
		}

		return nil
	})

	return notes, others, err
}

// Reader is the [archive.Source] of a folder of Markdown files, or of one file.
type Reader struct {
	root    *os.Root
	files   []string
	next    func() (*archive.Entry, error, bool)
	stop    func()
	lines   bytes.Buffer // a learn request for each fact
	where   []string     // the file of each fact
	refused func(where string, err error)
}

var _ archive.Source = (*Reader)(nil)

// Open opens a file or a folder. refused is called for each file that cannot be read; the
// others are read nevertheless.
func Open(path string, refused func(where string, err error)) (*Reader, error) {
	start := "."
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path, start = filepath.Dir(path), filepath.Base(path)
	}
	n := &Reader{refused: refused}

	var err error
	if n.root, err = os.OpenRoot(path); err == nil {
		n.files, _, err = list(n.root.FS(), start)
	}
	if err != nil {
		return nil, &robotmem.Error{Kind: robotmem.Invalid, Field: "file", Err: err}
	}
	n.next, n.stop = iter.Pull2(n.entries)

	return n, nil
}

// Close closes the folder.
func (n *Reader) Close() error {
	n.stop()
	return n.root.Close()
}

func (n *Reader) Next() (*archive.Entry, error) {
	if entry, err, ok := n.next(); ok {
		return entry, err
	}
	return nil, io.EOF
}

func (n *Reader) entries(yield func(*archive.Entry, error) bool) {
	for files := range slices.Chunk(n.files, batchFiles) {
		sessions, memories := &archive.Entry{}, &archive.Entry{}

		var payloads []*memoryNote

		for _, name := range files {
			note, err := n.read(name)
			if err != nil {
				n.refused(name, err)
				continue
			}

			switch note := note.(type) {
			case *sessionNote:
				sessions.Sessions = append(sessions.Sessions, note.Session)
			case *memoryNote:
				memories.Memories = append(memories.Memories, note.Memory)
				if note.Beside != "" && note.Payload != nil {
					payloads = append(payloads, note)
				}
			}
		}

		// Memories refer to sessions, and payloads to memories.
		if !yield(sessions, nil) || !yield(memories, nil) {
			return
		}

		for _, m := range payloads {
			name := filepath.Join(filepath.Dir(m.Where), m.Beside)
			f, _, err := importers.OpenFile(n.root, name)
			if err != nil {
				n.refused(name, err)
				continue
			}

			payload := &archive.Data{SHA256: m.Payload.SHA256, Bytes: m.Payload.Bytes, Reader: f}
			more := yield(&archive.Entry{Payload: payload}, nil)
			_ = f.Close() // it was only read
			if !more {
				return
			}
		}
	}

	// A link may refer to any memory, so links come last.
	yield(n.links(), nil)
}

// read reads a file: a *sessionNote, a *memoryNote, or nil for a note that a person wrote.
func (n *Reader) read(name string) (any, error) {
	f, info, err := importers.OpenFile(n.root, name)
	if err != nil {
		return nil, err
	}

	defer f.Close()
	if info.Size() > maxFile {
		return nil, fmt.Errorf("has %d bytes; the limit is %d", info.Size(), maxFile)
	}

	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, err
	}

	fields, body, err := CutFrontMatter(data)
	if err != nil {
		return nil, err
	}

	s, m := &sessionNote{}, &memoryNote{}

	switch {
	case string(fields["robotmem"]) == `"session"`:
		if err = decode(fields, s); err == nil {
			s.Where = name
			_, err = edited(s, s.Sum, &s.UpdatedAt, info.ModTime())
		}
		return s, err
	case fields["uid"] == nil:
		n.learn(name, fields, string(body))
		return nil, nil
	}

	// A path in payload_file could lead out of the folder.
	err = decode(fields, m)
	if err == nil && m.Beside != "" && (m.Beside != filepath.Base(m.Beside) || !filepath.IsLocal(m.Beside)) {
		err = errors.New("payload_file: must be the name of a file in the same folder")
	}
	if err != nil {
		return nil, err
	}

	m.Where, m.Memory.Content = name, NoteText(body)
	changed, err := edited(m, m.Sum, &m.UpdatedAt, info.ModTime())
	if changed {
		m.ValidFrom = m.UpdatedAt
		m.Version++
	}

	// The old summary no longer fits. An import makes a new one of the text.
	if changed && m.Type == "fact" {
		m.Summary = ""
	}

	return m, err
}

// edited reports whether a record has another hash than its file says. The time of such a
// file becomes its updated_at.
func edited(record interface{ Hash() (string, error) }, sum string, updated *string, changed time.Time) (bool, error) {
	now, err := record.Hash()
	if err != nil || now == sum {
		return false, err
	}

	// The newer state wins in an import. A copy tool may have set an older time.
	if at, err := time.Parse(time.RFC3339Nano, *updated); err == nil && !changed.After(at) {
		return false, errors.New("was edited, but the file's time is not after its updated_at; " +
			"touch it to say that this is the newer state")
	}

	*updated = changed.UTC().Format(time.RFC3339Nano)

	return true, nil
}

// links reads the references between memories.
func (n *Reader) links() *archive.Entry {
	entry := &archive.Entry{}
	data, err := n.root.ReadFile(linksFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		n.refused(linksFile, err)
	}

	for i, line := range slices.Collect(bytes.Lines(data)) {
		var l archive.Link
		if err := json.Unmarshal(line, &l); err != nil {
			n.refused(fmt.Sprintf("%s: line %d", linksFile, i+1), fmt.Errorf("is not JSON: %w", err))
			continue
		}
		entry.Links = append(entry.Links, l)
	}

	return entry
}

// learn gathers the facts of a note that a person wrote: its text, or each point if the text
// is a list.
func (n *Reader) learn(name string, fields map[string]json.RawMessage, body string) {
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}

	for _, text := range points(strings.TrimSpace(body)) {
		fields["insight"], _ = json.Marshal(text) // a text is always JSON
		line, _ := json.Marshal(fields)           // and so were the fields
		n.lines.Write(append(line, '\n'))
		n.where = append(n.where, name)
	}
}

// points returns the points of a text that is a list, or else the text itself.
func points(text string) (out []string) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "* "):
			out = append(out, strings.TrimSpace(line[2:]))
		case line != "" || text == "":
			return []string{text}
		}
	}

	return out
}

// Counts counts the facts of notes.
type Counts struct {
	Read       int64 `json:"read"`
	Created    int64 `json:"created"`
	Duplicates int64 `json:"duplicates"`
	Bad        int64 `json:"bad"`
}

// Facts returns the number of facts in notes that people wrote, after the last call of Next.
func (n *Reader) Facts() int64 { return int64(len(n.where)) }

// Learn learns these facts. refused is called for each fact that is not stored.
func (n *Reader) Learn(
	ctx context.Context, svc robotmem.Service, refused func(where string, err error),
) (Counts, error) {
	if n.lines.Len() == 0 {
		return Counts{}, nil // all of them are memories that were exported
	}

	c, err := jsonl.Import(ctx, svc, &n.lines, jsonl.Options{
		Lines: true,
		Refused: func(_ string, line int64, reason string) {
			refused(n.where[line-1], errors.New(reason))
		},
	})

	return Counts{c.Lines, c.Created, c.Duplicates, c.Bad}, err
}
