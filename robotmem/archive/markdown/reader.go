package markdown

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/archive/jsonl"
)

// Recognizes reports whether a path is a Markdown file or a folder of them: a file of an
// export is in the folder, or all its files are Markdown.
func Recognizes(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return err == nil && info.Mode().IsRegular() && isNote(path)
	}
	notes, others, front := 0, 0, false
	err = walk(os.DirFS(path), func(name string, _ fs.DirEntry) error {
		switch {
		case !isNote(name):
			others++
		case isExported(filepath.Join(path, name)):
			front = true
			return fs.SkipAll
		default:
			notes++
		}
		return nil
	})
	return err == nil && (front || others == 0 && notes > 0)
}

// walk visits all files but those whose name, or the name of a folder of theirs, begins with a dot.
func walk(fsys fs.FS, visit func(name string, d fs.DirEntry) error) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		return visit(name, d)
	})
}

func isNote(name string) bool { return strings.EqualFold(filepath.Ext(name), ".md") }

// isExported reports whether an export wrote the file.
func isExported(path string) bool {
	const magic = fence + "robotmem:"
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}

// Reader is the [archive.Source] of a folder of Markdown files, or of one file.
type Reader struct {
	root    *os.Root
	files   []string
	next    int
	pending []payload
	open    *os.File
	links   bool
	facts   []Fact
	refused func(where string, err error)
}

var _ archive.Source = (*Reader)(nil)

type payload struct {
	name string
	archive.Payload
}

// Fact is a fact of a note that a person wrote.
type Fact struct {
	Where   string          // the name of the file
	Request json.RawMessage // a learn request
}

// batchFiles is how many files are read for one entry.
const batchFiles = 200

// Open opens a file or a folder. refused is called for each file that cannot be read; the
// others are read nevertheless.
func Open(path string, refused func(where string, err error)) (*Reader, error) {
	n := &Reader{refused: refused}
	info, err := os.Stat(path)
	if err != nil {
		return nil, invalid(err)
	}
	folder := path
	if !info.IsDir() {
		folder, n.files, n.links = filepath.Dir(path), []string{filepath.Base(path)}, true
	}
	if n.root, err = os.OpenRoot(folder); err != nil {
		return nil, invalid(err)
	}
	if n.files != nil {
		return n, nil
	}
	err = walk(n.root.FS(), func(name string, d fs.DirEntry) error {
		if d.Type().IsRegular() && isNote(name) {
			n.files = append(n.files, name)
		}
		return nil
	})
	return n, err
}

func invalid(err error) error {
	return &robotmem.Error{Kind: robotmem.Invalid, Field: "file", Err: err}
}

// Facts are the facts of the notes that people wrote, after the last call of Next.
func (n *Reader) Facts() []Fact { return n.facts }

// Close closes the folder.
func (n *Reader) Close() error { return errors.Join(n.closePayload(), n.root.Close()) }

func (n *Reader) closePayload() error {
	if n.open == nil {
		return nil
	}
	err := n.open.Close()
	n.open = nil
	return err
}

// Next implements archive.Source.
func (n *Reader) Next() (*archive.Entry, error) {
	if err := n.closePayload(); err != nil {
		return nil, err
	}
	for len(n.pending) > 0 {
		p := n.pending[0]
		n.pending = n.pending[1:]
		f, err := n.root.Open(p.name)
		if err != nil {
			n.refused(p.name, err)
			continue
		}
		n.open = f
		return &archive.Entry{Payload: &archive.Data{SHA256: p.SHA256, Bytes: p.Bytes, Reader: f}}, nil
	}
	for n.next < len(n.files) {
		entry := &archive.Entry{}
		for ; n.next < len(n.files) && len(entry.Memories) < batchFiles && len(entry.Sessions) == 0; n.next++ {
			if err := n.read(n.files[n.next], entry); err != nil {
				n.refused(n.files[n.next], err)
			}
		}
		if len(entry.Memories) > 0 && len(entry.Sessions) > 0 { // an entry has one kind of record
			entry.Sessions = nil
			n.next-- // the session is the next entry
		}
		if len(entry.Memories)+len(entry.Sessions) > 0 {
			return entry, nil
		}
	}
	if !n.links {
		n.links = true
		return n.readLinks()
	}
	return nil, io.EOF
}

func (n *Reader) read(name string, entry *archive.Entry) error {
	info, err := n.root.Stat(name)
	if err != nil {
		return err
	}
	if info.Size() > maxFile {
		return fmt.Errorf("has %d bytes; the limit is %d", info.Size(), maxFile)
	}
	data, err := n.root.ReadFile(name)
	if err != nil {
		return err
	}
	fields, body, err := cutFrontMatter(data)
	if err != nil {
		return err
	}
	var sort string
	if raw := fields["robotmem"]; raw != nil && json.Unmarshal(raw, &sort) != nil {
		return errors.New("robotmem: must be memory or session")
	}
	switch {
	case sort == "session":
		s, err := sessionNote(fields, info.ModTime())
		if err != nil {
			return err
		}
		s.Where = name
		entry.Sessions = append(entry.Sessions, *s)
	case fields["uid"] != nil:
		m, err := n.memoryNote(name, fields, body, info.ModTime())
		if err != nil {
			return err
		}
		m.Where = name
		entry.Memories = append(entry.Memories, *m)
	default:
		return n.learn(name, fields, body)
	}
	return nil
}

// record decodes the fields of a file. Unknown fields are refused.
func record(fields map[string]json.RawMessage, into any) (hash string, err error) {
	if raw := fields["hash"]; raw != nil {
		_ = json.Unmarshal(raw, &hash) // without a hash the file counts as edited
	}
	for _, name := range []string{"robotmem", "hash", "payload_file"} {
		delete(fields, name)
	}
	data, err := robotmem.EncodeJSON(fields)
	if err != nil {
		return "", err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return hash, nil
}

func sessionNote(fields map[string]json.RawMessage, changed time.Time) (*archive.Session, error) {
	s := &archive.Session{}
	hash, err := record(fields, s)
	if err != nil {
		return nil, err
	}
	if now, err := s.Hash(); err != nil || now == hash {
		return s, err
	}
	s.UpdatedAt, err = edited(s.UpdatedAt, changed)
	return s, err
}

// edited is the updated_at of a file that was edited: the time of the file.
func edited(updated string, changed time.Time) (string, error) {
	at, err := time.Parse(time.RFC3339Nano, updated)
	if err == nil && !changed.After(at) {
		return "", errors.New("was edited, but the file's time is not after its updated_at; touch it to say that this is the newer state")
	}
	return changed.UTC().Format(time.RFC3339Nano), nil
}

func (n *Reader) memoryNote(name string, fields map[string]json.RawMessage, body []byte, changed time.Time) (*archive.Memory, error) {
	var beside string
	if raw := fields["payload_file"]; raw != nil {
		if err := json.Unmarshal(raw, &beside); err != nil || beside != filepath.Base(beside) || !filepath.IsLocal(beside) {
			return nil, errors.New("payload_file: must be the name of a file in the same folder")
		}
	}
	m := &archive.Memory{}
	hash, err := record(fields, m)
	if err != nil {
		return nil, err
	}
	m.Content = noteText(body)
	if beside != "" && m.Payload != nil {
		n.pending = append(n.pending, payload{filepath.Join(filepath.Dir(name), beside), *m.Payload})
	}
	now, err := m.Hash()
	if err != nil || now == hash {
		return m, err
	}
	if m.UpdatedAt, err = edited(m.UpdatedAt, changed); err != nil {
		return nil, err
	}
	m.ValidFrom = m.UpdatedAt
	m.Version++
	if m.Type == "fact" {
		m.Summary = ""
	}
	return m, nil
}

// noteText is the text of an exported file, without the empty line after the front matter and
// the line break at the end.
func noteText(body []byte) string {
	text := strings.TrimPrefix(strings.TrimPrefix(string(body), "\r"), "\n")
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// learn gathers the facts of a note that a person wrote: its text, or each point if the text
// is a list.
func (n *Reader) learn(name string, fields map[string]json.RawMessage, body []byte) error {
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	for _, text := range points(strings.TrimSpace(string(body))) {
		insight, err := robotmem.EncodeJSON(text)
		if err != nil {
			return err
		}
		fields["insight"] = insight
		line, err := robotmem.EncodeJSON(fields)
		if err != nil {
			return err
		}
		n.facts = append(n.facts, Fact{name, line})
	}
	return nil
}

// points are the points of a text that is a list, or the text.
func points(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		point, ok := strings.CutPrefix(line, "- ")
		if !ok {
			point, ok = strings.CutPrefix(line, "* ")
		}
		if !ok && line != "" {
			return []string{text}
		}
		if ok && strings.TrimSpace(point) != "" {
			out = append(out, strings.TrimSpace(point))
		}
	}
	if len(out) == 0 {
		return []string{text}
	}
	return out
}

// readLinks reads the references between memories.
func (n *Reader) readLinks() (*archive.Entry, error) {
	entry := &archive.Entry{Links: []archive.Link{}}
	f, err := n.root.Open(linksFile)
	if errors.Is(err, fs.ErrNotExist) {
		return entry, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for number := 1; lines.Scan(); number++ {
		var l archive.Link
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			n.refused(fmt.Sprintf("%s: line %d", linksFile, number), fmt.Errorf("is not JSON: %s", strings.TrimPrefix(err.Error(), "json: ")))
			continue
		}
		entry.Links = append(entry.Links, l)
	}
	return entry, lines.Err()
}

// Counts counts the facts of notes.
type Counts struct {
	Read       int64 `json:"read"`
	Created    int64 `json:"created"`
	Duplicates int64 `json:"duplicates"`
	Bad        int64 `json:"bad"`
}

// learnBatch is how many facts are learnt in one request.
const learnBatch = 500

// Learn learns the facts of notes. refused is called for each fact that is not stored.
func Learn(ctx context.Context, svc robotmem.Service, facts []Fact, refused func(where string, err error)) (c Counts, err error) {
	for part := range slices.Chunk(facts, learnBatch) {
		var items []json.RawMessage
		for _, f := range part {
			items = append(items, f.Request)
		}
		created, duplicates, err := jsonl.Learn(ctx, svc, items, false, func(i int, err *robotmem.Error) {
			c.Bad++
			refused(part[i].Where, err)
		})
		if err != nil {
			return c, err
		}
		c.Read += int64(len(part))
		c.Created += created
		c.Duplicates += duplicates
	}
	return c, nil
}
