package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robotmem/robotmem-go/perception/importing"
)

// maxSidecar is more bytes than the largest description, metadata and context take.
const maxSidecar = 256 << 10

// sidecar is what a user wrote about a file.
type sidecar struct {
	name        string
	Description string         `json:"description"`
	Type        string         `json:"perception_type"`
	MediaType   string         `json:"media_type"`
	Metadata    map[string]any `json:"metadata"`
	Context     map[string]any `json:"context"`
	ObservedAt  time.Time      `json:"observed_at"`
}

type session struct {
	Context   map[string]any `json:"context"`
	Outcome   *float64       `json:"outcome_score"`
	StartedAt time.Time      `json:"started_at"`
}

// isSidecar reports whether the file describes another one of its folder. siblings holds the
// names of the files, stems those without the extension.
func isSidecar(name string, siblings, stems map[string]bool) bool {
	about, ok := strings.CutSuffix(name, ".json")
	return ok && (siblings[about] || stems[about])
}

// sidecarOf reads the sidecar of a file. It is empty if there is none.
func (im *importer) sidecarOf(name string, siblings map[string]bool) (*sidecar, error) {
	base := path.Base(name)
	for _, side := range []string{base + ".json", strings.TrimSuffix(base, path.Ext(base)) + ".json"} {
		if side == base || side == sessionFile || !siblings[side] {
			continue
		}
		data, err := im.read(path.Join(path.Dir(name), side))
		if err == nil {
			var s *sidecar
			if s, err = parseSidecar(data); err == nil {
				s.name = side
				return s, nil
			}
		}
		return nil, skipped{"bad sidecar " + side + ": " + err.Error(), true}
	}
	return new(sidecar), nil
}

func (im *importer) readSession(name string) (*session, error) {
	data, err := im.read(name)
	if err != nil {
		return nil, err
	}
	return parseSession(data)
}

func (im *importer) read(name string) ([]byte, error) {
	f, err := im.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSidecar+1))
	if err == nil && len(data) > maxSidecar {
		err = fmt.Errorf("it has more than %d bytes", maxSidecar)
	}
	return data, err
}

func parseSidecar(data []byte) (*sidecar, error) {
	s := new(sidecar)
	if err := decode(data, s); err != nil {
		return nil, err
	}
	if s.Type != "" && !slices.Contains(perceptionTypes, s.Type) {
		return nil, fmt.Errorf("perception_type is %.40q; give one of %s", s.Type, strings.Join(perceptionTypes, ", "))
	}
	if n := utf8.RuneCountInString(strings.TrimSpace(s.Description)); s.Description != "" && n < importing.MinDescription || len(s.Description) > importing.MaxDescription {
		return nil, fmt.Errorf("description has %d characters; give %d up to %d bytes", n, importing.MinDescription, importing.MaxDescription)
	}
	if !s.ObservedAt.Equal(importing.Clock(s.ObservedAt)) {
		return nil, fmt.Errorf("observed_at is of the year %d; give %d to %d", s.ObservedAt.UTC().Year(), importing.MinYear, importing.MaxYear)
	}
	// The path is added to it.
	if text, err := json.Marshal(s.Metadata); err != nil || len(text) > importing.MaxMetadata-8<<10 {
		return nil, fmt.Errorf("metadata has %d bytes; the limit is %d", len(text), importing.MaxMetadata-8<<10)
	}
	return s, nil
}

func parseSession(data []byte) (*session, error) {
	s := new(session)
	if err := decode(data, s); err != nil {
		return nil, err
	}
	if s.Outcome != nil && !(*s.Outcome >= 0 && *s.Outcome <= 1) {
		return nil, fmt.Errorf("outcome_score is %v; give 0 to 1", *s.Outcome)
	}
	return s, nil
}

// decode reads one JSON object. Unknown keys are errors. The error names the line.
func decode(data []byte, into any) error {
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return errors.New("line 1: it is not a JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	d.DisallowUnknownFields()
	err := d.Decode(into)
	at := d.InputOffset()
	switch {
	case err == io.ErrUnexpectedEOF:
		at = int64(len(data))
	case err == nil && len(bytes.TrimSpace(data[at:])) > 0:
		err = errors.New("more follows after the object")
	}
	if err == nil {
		return nil
	}
	return importing.JSONError(data, at, err)
}
