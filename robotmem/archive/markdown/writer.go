package markdown

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
)

// writer is the [archive.Sink] of a folder.
type writer struct {
	root  *os.Root
	links *os.File
	lines *bufio.Writer
}

const (
	linksFile  = "links.jsonl"
	nameLength = 40 // bytes of the text in a file name
)

// Write calls export with a sink that writes to the folder dir, which must be new or empty.
func Write(dir string, export func(archive.Sink) error) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return invalidDir("%v", err)
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) > 0 {
		return invalidDir("%s is not empty; name a new folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return invalidDir("%v", err)
	}
	s := &writer{root: root}
	err = export(s)
	if s.links != nil {
		err = errors.Join(err, s.links.Close())
	}
	return errors.Join(err, root.Close())
}

func invalidDir(format string, args ...any) error {
	return &robotmem.Error{Kind: robotmem.Invalid, Field: "markdown", Err: fmt.Errorf(format, args...)}
}

// Begin implements archive.Sink.
func (s *writer) Begin(*archive.Manifest) (err error) {
	if s.links, err = s.root.OpenFile(linksFile, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		s.lines = bufio.NewWriter(s.links)
	}
	return err
}

// Link implements archive.Sink.
func (s *writer) Link(l *archive.Link) error {
	line, err := robotmem.EncodeJSON(l)
	if err == nil {
		_, err = s.lines.Write(append(line, '\n'))
	}
	return err
}

// Close implements archive.Sink.
func (s *writer) Close() error { return s.lines.Flush() }

// folderName is the folder of a collection, whose name may be two dots.
func folderName(collection string) string {
	if strings.Trim(collection, ".") == "" {
		return "_" + collection
	}
	return collection
}

// fileName is made of the beginning of the text and the end of the uid.
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

func (s *writer) create(name string, write func(io.Writer) error) error {
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
func (s *writer) Session(session *archive.Session) error {
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
func (s *writer) Memory(m *archive.Memory, b *archive.Bytes) error {
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

// extensions are the usual ones; package mime knows several for some types.
var extensions = map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "text/csv": ".csv", "text/plain": ".txt", "application/json": ".json", "audio/wav": ".wav", "audio/flac": ".flac"}

// extension is the end of a payload's file name, .bin if the type is unknown. It is never .md,
// the extension of a memory.
func extension(mediaType string) string {
	base, _, err := mime.ParseMediaType(mediaType)
	if err != nil || extensions[base] == "" {
		return ".bin"
	}
	return extensions[base]
}
