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
		s := &sidecar{name: side}
		data, err := importing.ReadFile(im.root, path.Join(path.Dir(name), side), maxSidecar)
		if err == nil {
			err = s.parse(data)
		}
		if err != nil {
			return nil, skipped{"bad sidecar " + side + ": " + err.Error(), true}
		}
		return s, nil
	}
	return new(sidecar), nil
}

func (s *sidecar) parse(data []byte) error {
	if err := decode(data, s); err != nil {
		return err
	}
	n := utf8.RuneCountInString(strings.TrimSpace(s.Description))
	// The path is added to the metadata.
	const maxMetadata = importing.MaxMetadata - 8<<10
	metadata, err := json.Marshal(s.Metadata)
	switch {
	case s.Type != "" && !slices.Contains(perceptionTypes, s.Type):
		return fmt.Errorf("perception_type is %.40q; give one of %s", s.Type, strings.Join(perceptionTypes, ", "))
	case s.Description != "" && n < importing.MinDescription || len(s.Description) > importing.MaxDescription:
		return fmt.Errorf("description has %d characters; give %d up to %d bytes", n, importing.MinDescription, importing.MaxDescription)
	case !s.ObservedAt.Equal(importing.Clock(s.ObservedAt)):
		return fmt.Errorf("observed_at is of the year %d; give %d to %d", s.ObservedAt.UTC().Year(), importing.MinYear, importing.MaxYear)
	case err != nil || len(metadata) > maxMetadata:
		return fmt.Errorf("metadata has %d bytes; the limit is %d", len(metadata), maxMetadata)
	}
	return nil
}

func (im *importer) readSession(name string) (*session, error) {
	data, err := importing.ReadFile(im.root, name, maxSidecar)
	if err != nil {
		return nil, err
	}
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
