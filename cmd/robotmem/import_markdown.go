package main

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
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// isMarkdown reports whether a path is a note, or a folder of notes: one of an
// export is in it, or nothing else than notes.
func isMarkdown(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return err == nil && info.Mode().IsRegular() && isNote(path)
	}
	notes, others, front := 0, 0, false
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != path && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || strings.HasPrefix(d.Name(), "."):
		case !isNote(name):
			others++
		case beginsWith(name, []byte(fence+"robotmem:")):
			front = true
			return fs.SkipAll
		default:
			notes++
		}
		return nil
	})
	return err == nil && (front || others == 0 && notes > 0)
}

func isNote(name string) bool { return strings.EqualFold(filepath.Ext(name), ".md") }

func beginsWith(path string, magic []byte) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, magic)
}

// notes is the archive.Source of a folder of notes. Those that name no memory
// are gathered, to be learnt.
type notes struct {
	root    *os.Root
	files   []string
	next    int
	pending []notePayload
	open    *os.File
	links   bool
	written []learntNote
	bad     func(where string, err error)
}

type notePayload struct {
	name string
	archive.Payload
}

// learntNote is a fact of a note that somebody wrote.
type learntNote struct {
	where string
	line  json.RawMessage
}

// noteBatch is how many notes are taken at once.
const noteBatch = 200

func openNotes(path string, bad func(string, error)) (*notes, error) {
	n := &notes{bad: bad}
	info, err := os.Stat(path)
	if err != nil {
		return nil, invalid("file", "%v", err)
	}
	folder := path
	if !info.IsDir() {
		folder, n.files, n.links = filepath.Dir(path), []string{filepath.Base(path)}, true
	}
	if n.root, err = os.OpenRoot(folder); err != nil {
		return nil, invalid("file", "%v", err)
	}
	if n.files != nil {
		return n, nil
	}
	err = fs.WalkDir(n.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.Type().IsRegular() && isNote(name) && !strings.HasPrefix(d.Name(), "."):
			n.files = append(n.files, name)
		}
		return nil
	})
	return n, err
}

// Close closes the folder.
func (n *notes) Close() error { return errors.Join(n.closePayload(), n.root.Close()) }

func (n *notes) closePayload() error {
	if n.open == nil {
		return nil
	}
	err := n.open.Close()
	n.open = nil
	return err
}

// Next implements archive.Source.
func (n *notes) Next() (*archive.Entry, error) {
	if err := n.closePayload(); err != nil {
		return nil, err
	}
	for len(n.pending) > 0 {
		p := n.pending[0]
		n.pending = n.pending[1:]
		f, err := n.root.Open(p.name)
		if err != nil {
			n.bad(p.name, err)
			continue
		}
		n.open = f
		return &archive.Entry{Payload: &archive.Data{SHA256: p.SHA256, Bytes: p.Bytes, Reader: f}}, nil
	}
	for n.next < len(n.files) {
		entry := &archive.Entry{}
		for ; n.next < len(n.files) && len(entry.Memories) < noteBatch && len(entry.Sessions) == 0; n.next++ {
			if err := n.read(n.files[n.next], entry); err != nil {
				n.bad(n.files[n.next], err)
			}
		}
		if len(entry.Memories) > 0 && len(entry.Sessions) > 0 { // one sort at a time
			session := entry.Sessions
			entry.Sessions = nil
			n.files, n.next = append([]string{session[0].Where}, n.files[n.next:]...), 0
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

func (n *notes) read(name string, entry *archive.Entry) error {
	info, err := n.root.Stat(name)
	if err != nil {
		return err
	}
	if info.Size() > maxMarkdown {
		return fmt.Errorf("has %d bytes; the limit is %d", info.Size(), maxMarkdown)
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

// record decodes the fields of a note. A field that no record has is refused.
func record(fields map[string]json.RawMessage, into any) (hash string, err error) {
	if raw := fields["hash"]; raw != nil {
		_ = json.Unmarshal(raw, &hash) // any other value is no hash, and the note one that was edited
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

// edited is the time of a note that somebody changed: that of the file.
func edited(updated string, changed time.Time) (string, error) {
	at, err := time.Parse(time.RFC3339Nano, updated)
	if err == nil && !changed.After(at) {
		return "", errors.New("was edited, but the file's time is not after its updated_at; touch it to say that this is the newer state")
	}
	return changed.UTC().Format(time.RFC3339Nano), nil
}

func (n *notes) memoryNote(name string, fields map[string]json.RawMessage, body []byte, changed time.Time) (*archive.Memory, error) {
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
		n.pending = append(n.pending, notePayload{filepath.Join(filepath.Dir(name), beside), *m.Payload})
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

// noteText is the text of an exported note: all between the empty line after the
// front matter and the line break at the end.
func noteText(body []byte) string {
	text := string(body)
	for _, eol := range []string{"\r\n", "\n"} {
		if t, ok := strings.CutPrefix(text, eol); ok {
			text = t
			break
		}
	}
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// learn gathers what a note says that somebody wrote: its text, or when it is
// nothing but a list, each of its points.
func (n *notes) learn(name string, fields map[string]json.RawMessage, body []byte) error {
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
		n.written = append(n.written, learntNote{name, line})
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

// readLinks reads who refers to whom.
func (n *notes) readLinks() (*archive.Entry, error) {
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
			n.bad(fmt.Sprintf("%s: line %d", linksFile, number), errors.New(jsonFault(lines.Bytes())))
			continue
		}
		entry.Links = append(entry.Links, l)
	}
	return entry, lines.Err()
}

// markdown imports notes.
func (c *importCmd) markdown(ctx context.Context, a *app) error {
	return a.UseFile(ctx, "file", func(m *robotmem.Engine) error {
		ctx, bar := a.watched(ctx)
		defer bar.Done()
		bad := 0
		refused := func(where string, err error) {
			bar.Clear()
			fmt.Fprintf(a.Stderr, "robotmem: import: %s: %s\n", oneLine(where), oneLine(err.Error()))
		}
		src, err := openNotes(c.File, func(where string, err error) { bad++; refused(where, err) })
		if err != nil {
			return err
		}
		defer src.Close()
		report, err := m.Import(ctx, src, robotmem.ImportOptions{Collection: a.Config.Collection, DryRun: c.DryRun, Refused: refused})
		learnt := &notesLearnt{}
		if err == nil && !c.DryRun {
			err = learnt.learn(ctx, inCollection(m, a.Config.Collection), src.written, refused)
		}
		bar.Done()
		if report == nil {
			return err
		}
		report.Memories.Refused += int64(bad)
		if c.DryRun {
			learnt.Read = int64(len(src.written))
		}
		return c.arrivedNotes(a, report, learnt, err)
	})
}

// notesLearnt is what became of the facts of notes that somebody wrote.
type notesLearnt struct {
	Read       int64 `json:"read"`
	Created    int64 `json:"created"`
	Duplicates int64 `json:"duplicates"`
	Bad        int64 `json:"bad"`
}

func (l *notesLearnt) learn(ctx context.Context, m robotmem.Service, found []learntNote, refused func(string, error)) error {
	op := robotmem.OpByName("learn_batch")
	for len(found) > 0 {
		part := found[:min(importRows, len(found))]
		found = found[len(part):]
		b := &importBatch{}
		for _, f := range part {
			b.items = append(b.items, f.line)
		}
		request, err := b.request(false)
		if err != nil {
			return err
		}
		answer, err := op.Call(ctx, m, request)
		if err != nil {
			return err
		}
		for i, item := range answer.(*robotmem.LearnBatchResponse).Results {
			l.Read++
			switch {
			case item.Error != nil:
				l.Bad++
				refused(part[i].where, &robotmem.Error{Kind: item.Error.Kind, Field: item.Error.Field, Err: errors.New(item.Error.Detail)})
			case item.Status == "created":
				l.Created++
			default:
				l.Duplicates++
			}
		}
	}
	return nil
}

func (c *importCmd) arrivedNotes(a *app, r *robotmem.ImportReport, l *notesLearnt, failed error) error {
	var err error
	if c.JSON {
		err = a.PrintJSON(struct {
			*robotmem.ImportReport
			Learnt *notesLearnt `json:"learnt"`
		}{r, l})
	} else {
		if err = c.printArrived(a, r); err == nil && l.Read > 0 {
			_, err = fmt.Fprintf(a.Stdout, "notes: %d facts, %d new, %d known, %d bad\n", l.Read, l.Created, l.Duplicates, l.Bad)
		}
	}
	if failed == nil && r.Memories.Refused+r.Sessions.Refused+l.Bad > 0 {
		failed = &exitError{code: exitCodes[robotmem.Invalid]}
	}
	return errors.Join(failed, err)
}
