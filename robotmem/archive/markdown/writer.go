package markdown

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/archive"
)

const (
	linksFile  = "links.jsonl"
	nameLength = 40 // bytes of the text in a file name
)

// writer is the [archive.Sink] of a folder.
type writer struct {
	root  *os.Root
	links *os.File
}

// Write calls export with a sink that writes to the folder dir, which must be new or empty.
func Write(dir string, export func(archive.Sink) error) error {
	// The error of ReadDir is ignored, because OpenRoot fails for the same reason.
	err := os.MkdirAll(dir, 0o700)
	if found, _ := os.ReadDir(dir); len(found) > 0 {
		err = cmp.Or(err, fmt.Errorf("%s is not empty; name a new folder", dir))
	}

	s := &writer{}
	if err == nil {
		s.root, err = os.OpenRoot(dir)
	}
	if err != nil {
		return &robotmem.Error{Kind: robotmem.Invalid, Field: "markdown", Err: err}
	}
	if s.links, err = s.open(linksFile); err == nil {
		err = errors.Join(export(s), s.links.Close())
	}

	return errors.Join(err, s.root.Close())
}

func (s *writer) Begin(*archive.Manifest) error { return nil }

func (s *writer) Close() error { return nil }

func (s *writer) Link(l *archive.Link) error { return json.NewEncoder(s.links).Encode(l) }

func (s *writer) Session(session *archive.Session) error {
	sum, err := session.Hash()
	name := filepath.Join(folder(session.Collection), session.SessionID, "session.md")
	return errors.Join(err, s.note(name, sessionNote{"session", *session, sum}, ""))
}

func (s *writer) Memory(m *archive.Memory, b *archive.Bytes) error {
	sum, err := m.Hash()
	note := memoryNote{Kind: "memory", Memory: *m, Sum: sum}
	name := filepath.Join(folder(m.Collection), cmp.Or(m.Session, "memories"), fileName(m))

	// The extension is only for people and other programs. The media type is in the front matter.
	if b != nil {
		mediaType, _, _ := strings.Cut(m.MediaType, ";")
		beside := name + cmp.Or(extensions[strings.TrimSpace(mediaType)], ".bin")
		note.Beside = filepath.Base(beside)
		r, err := b.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(s.create(beside, r), r.Close()); err != nil {
			return err
		}
	}

	return errors.Join(err, s.note(name+".md", note, "\n"+m.Content+"\n"))
}

func (s *writer) note(name string, record any, body string) error {
	var b bytes.Buffer
	if err := WriteFrontMatter(&b, record); err != nil {
		return err
	}
	b.WriteString(body)
	return s.create(name, &b)
}

func (s *writer) create(name string, data io.Reader) error {
	f, err := s.open(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, data)
	return errors.Join(err, f.Close())
}

func (s *writer) open(name string) (*os.File, error) {
	if err := s.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return s.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// folder returns the folder of a collection. The name of a collection may be two dots, which would lead out of dir.
func folder(collection string) string {
	if strings.Trim(collection, ".") == "" {
		return "_" + collection
	}
	return collection
}

var noWord = regexp.MustCompile(`[^\pL\pN]+`)

// fileName returns the file name of a memory: the beginning of its text and the end of its uid.
func fileName(m *archive.Memory) string {
	words := noWord.ReplaceAllString(strings.ToLower(m.Content[:min(len(m.Content), 4*nameLength)]), "-")
	words = strings.ToValidUTF8(words[:min(len(words), nameLength)], "")
	return strings.Trim(words, "-") + "-" + m.UID[len(m.UID)-12:]
}

// extensions maps the media types of common payloads to file name extensions. Package mime is not used, because it
// knows several extensions for some types. None is .md, the extension of a memory.
var extensions = map[string]string{
	"image/jpeg":       ".jpg",
	"image/png":        ".png",
	"text/csv":         ".csv",
	"text/plain":       ".txt",
	"application/json": ".json",
	"audio/wav":        ".wav",
	"audio/flac":       ".flac",
}
