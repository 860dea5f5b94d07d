package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/robotmem/robotmem-go/robotmem/archive"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// markdownSink writes a file for every memory and episode:
//
//	COLLECTION/memories/TEXT-UID.md      a memory of no episode
//	COLLECTION/SESSION/TEXT-UID.md       a memory of one
//	COLLECTION/SESSION/TEXT-UID.png      its payload, beside it
//	COLLECTION/SESSION/session.md        the episode
//	links.jsonl                          who refers to whom
type markdownSink struct {
	root  *os.Root
	links *os.File
	lines *bufio.Writer
}

const (
	linksFile  = "links.jsonl"
	nameLength = 40 // bytes of a file's name that are of the text
)

// markdown writes a folder that is new or empty.
func (c *exportCmd) markdown(ctx context.Context, _ *app, m *local.Node, o local.ExportOptions) (*local.ExportReport, error) {
	refused := func(err error) error { return invalid("markdown", "%v", err) }
	if err := os.MkdirAll(c.Markdown, 0o700); err != nil {
		return nil, refused(err)
	}
	if found, err := os.ReadDir(c.Markdown); err != nil || len(found) > 0 {
		return nil, invalid("markdown", "%s is not empty; name a new folder", c.Markdown)
	}
	root, err := os.OpenRoot(c.Markdown)
	if err != nil {
		return nil, refused(err)
	}
	defer root.Close()
	sink := &markdownSink{root: root}
	report, err := m.Export(ctx, sink, o)
	return report, errors.Join(err, sink.end())
}

// Begin implements archive.Sink.
func (s *markdownSink) Begin(*archive.Manifest) (err error) {
	if s.links, err = s.root.OpenFile(linksFile, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		s.lines = bufio.NewWriter(s.links)
	}
	return err
}

// Link implements archive.Sink.
func (s *markdownSink) Link(l *archive.Link) error {
	line, err := encode(l)
	if err == nil {
		_, err = s.lines.Write(line)
	}
	return err
}

// Close implements archive.Sink.
func (s *markdownSink) Close() error { return s.lines.Flush() }

func (s *markdownSink) end() error {
	if s.links == nil {
		return nil
	}
	return s.links.Close()
}

// folderName is a collection as a folder: its name, which may be two dots.
func folderName(collection string) string {
	if strings.Trim(collection, ".") == "" {
		return "_" + collection
	}
	return collection
}

// fileName is the beginning of a text as a file's name, with the end of the uid.
func fileName(m *archive.Memory) string {
	var b strings.Builder
	for _, r := range strings.ToLower(m.Content) {
		switch {
		case b.Len() >= nameLength:
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimSuffix(b.String(), "-") + "-" + m.UID[len(m.UID)-12:]
}

func (s *markdownSink) create(name string, write func(io.Writer) error) error {
	if err := s.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := s.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// Session implements archive.Sink.
func (s *markdownSink) Session(session *archive.Session) error {
	hash, err := session.Hash()
	if err != nil {
		return err
	}
	name := filepath.Join(folderName(session.Collection), session.SessionID, "session.md")
	return s.create(name, func(w io.Writer) error {
		return writeFrontMatter(w, session, []string{"robotmem", "session_id", "collection", "status"}, map[string]string{"robotmem": "session", "hash": hash})
	})
}

// Memory implements archive.Sink.
func (s *markdownSink) Memory(m *archive.Memory, b *archive.Bytes) error {
	hash, err := m.Hash()
	if err != nil {
		return err
	}
	folder := "memories"
	if m.Session != "" {
		folder = m.Session
	}
	base := filepath.Join(folderName(m.Collection), folder, fileName(m))
	more := map[string]string{"robotmem": "memory", "hash": hash}
	if b != nil {
		name := base + extension(m.MediaType)
		more["payload_file"] = filepath.Base(name)
		r, err := b.Open()
		if err != nil {
			return err
		}
		err = s.create(name, func(w io.Writer) error { _, err := io.Copy(w, r); return err })
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return s.create(base+".md", func(w io.Writer) error {
		if err := writeFrontMatter(w, m, []string{"robotmem", "uid", "type", "collection", "category", "tags", "user_tags", "context"}, more, "content"); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "\n%s\n", m.Content)
		return err
	})
}

// extensions are those that other programs know; mime has several of some.
var extensions = map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "text/csv": ".csv", "text/plain": ".txt", "application/json": ".json", "audio/wav": ".wav", "audio/flac": ".flac"}

// extension is the end of a payload's name; .bin when nothing is known, and never
// that of a memory.
func extension(mediaType string) string {
	base, _, err := mime.ParseMediaType(mediaType)
	if err != nil || extensions[base] == "" {
		return ".bin"
	}
	return extensions[base]
}
