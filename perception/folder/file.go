package folder

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/robotmem/robotmem-go/perception"
	"github.com/robotmem/robotmem-go/perception/importing"
	"github.com/robotmem/robotmem-go/perception/media"
)

// maxInline is the largest file that is passed to the sink in memory. Larger ones are streamed.
const maxInline = 1 << 20

// importFile stores one file. It returns only errors of the sink.
func (im *importer) importFile(name string, siblings map[string]bool, in *episode) error {
	p, err := im.perception(name, siblings)
	im.files++
	if im.o.Progress != nil {
		defer im.o.Progress(importing.Progress{Done: im.files, What: name})
	}
	var skip skipped
	switch {
	case errors.As(err, &skip):
		in.missing = in.missing || skip.fixable
		im.report.Skip(name, skip.reason, 1)
		return nil
	case err != nil:
		in.missing = true
		im.report.Break(name, err, 1)
		return nil
	}
	p.Context = merge(in.context, p.Context)
	im.report.Messages++
	return im.report.Save(im.ctx, im.sink, in.id, *p)
}

type skipped struct {
	reason  string
	fixable bool // the user can correct it and import again
}

func (s skipped) Error() string { return s.reason }

func (im *importer) perception(name string, siblings map[string]bool) (*importing.Perception, error) {
	side, err := im.sidecarOf(name, siblings)
	if err != nil {
		return nil, err
	}
	f, info, err := importing.OpenFile(im.root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch size := info.Size(); {
	case size == 0:
		return nil, skipped{reason: "empty"}
	case size > im.o.MaxBytes:
		return nil, skipped{reason: fmt.Sprintf("it has %d bytes; the limit is %d", size, im.o.MaxBytes)}
	}
	head, size, sum, err := digest(f, im.o.MaxBytes)
	if err != nil {
		return nil, err
	}
	p := &importing.Perception{
		Origin:   im.origin(name + "@" + hex.EncodeToString(sum[:16])),
		Metadata: side.Metadata, Context: side.Context,
		ObservedAt: side.ObservedAt, Size: size, Messages: 1,
	}
	if err := im.describe(p, name, head, side); err != nil {
		return nil, err
	}
	if p.ObservedAt.IsZero() {
		p.ObservedAt = cmp.Or(timeIn(name), importing.Clock(info.ModTime()))
	}
	if size <= maxInline {
		p.Data = head
		return p, nil
	}
	p.Open = func() (io.ReadCloser, error) { return im.root.Open(name) }
	return p, nil
}

// digest reads a file of at most limit bytes, and returns the first maxInline.
func digest(f fs.File, limit int64) (head []byte, size int64, sum [sha256.Size]byte, err error) {
	hash := sha256.New()
	r := io.TeeReader(io.LimitReader(f, limit), hash)
	if head, err = io.ReadAll(io.LimitReader(r, maxInline)); err != nil {
		return nil, 0, sum, err
	}
	rest, err := io.Copy(io.Discard, r)
	return head, int64(len(head)) + rest, [sha256.Size]byte(hash.Sum(nil)), err
}

// describe sets what the sidecar does not say.
func (im *importer) describe(p *importing.Perception, name string, head []byte, side *sidecar) error {
	var err error
	if p.MediaType, err = perception.Sniff(wholeLines(head), cmp.Or(side.MediaType, mediaTypes[extension(name)])); err != nil {
		return skipped{fmt.Sprintf("%s: media_type %s", side.name, err), true}
	}
	if p.Type = cmp.Or(side.Type, typeOf(name, p.MediaType, p.Metadata), im.o.Other); p.Type == "" {
		return skipped{"its type is unknown (" + p.MediaType + "); give a sidecar with perception_type, or a type for all others (--type)", true}
	}
	p.Description = cmp.Or(side.Description, descriptionOf(name))
	p.Metadata = merge(map[string]any{"path": importing.Cut(name, 1024)}, p.Metadata)
	return nil
}

// wholeLines drops the last line of a head that is cut, which may end within a character:
// the rest is still recognised as text.
func wholeLines(head []byte) []byte {
	if len(head) < maxInline {
		return head
	}
	if i := bytes.LastIndexByte(head, '\n'); i > 0 {
		return head[:i+1]
	}
	return head
}

// merge adds the keys of a file to the others; its own win.
func merge(others, own map[string]any) map[string]any {
	if len(others) == 0 {
		return own
	}
	out := maps.Clone(others)
	maps.Copy(out, own)
	return out
}

var perceptionTypes = []string{"visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"}

// mediaTypes are declared by the extension, since the bytes alone do not prove them.
var mediaTypes = map[string]string{
	".csv":   "text/csv; charset=utf-8",
	".tsv":   "text/tab-separated-values; charset=utf-8",
	".tum":   "text/plain; charset=utf-8",
	".kitti": "text/plain; charset=utf-8",
	".json":  "application/json",
}

func extension(name string) string { return strings.ToLower(path.Ext(name)) }

// typeWords are words that say what numbers measure. The first type decides of which a word
// of the path begins with one of them.
var typeWords = []struct {
	perceptionType string
	words          []string
}{
	{"tactile", []string{"wrench", "force", "torque", "tactile", "touch"}},
	{"procedural", []string{"action", "command", "trajector", "plan"}},
	{"proprioceptive", []string{"joint", "imu", "proprio", "effort", "encoder", "state"}},
}

// typeOf returns the type of a file, "" if it is unknown.
func typeOf(name, mediaType string, metadata map[string]any) string {
	base, _, _ := strings.Cut(mediaType, ";")
	family, _, _ := strings.Cut(base, "/")
	switch {
	case family == "image" || family == "video":
		return "visual"
	case family == "audio":
		return "auditory"
	case base == media.TypePCD || base == media.TypePLY:
		return "spatial"
	case extension(name) == ".tum" || extension(name) == ".kitti":
		return "procedural"
	}
	if kind, _ := metadata["kind"].(string); strings.EqualFold(kind, "wrench") {
		return "tactile"
	}
	switch base {
	case "text/csv", "text/tab-separated-values", media.TypeNPY:
		return cmp.Or(typeByWords(name), "proprioceptive")
	case "application/json", "text/plain":
		return typeByWords(name)
	}
	return ""
}

func typeByWords(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, s := range typeWords {
		known := func(word string) bool {
			return slices.ContainsFunc(s.words, func(known string) bool { return strings.HasPrefix(word, known) })
		}
		if slices.ContainsFunc(words, known) {
			return s.perceptionType
		}
	}
	return ""
}

func descriptionOf(name string) string {
	dir, base := path.Split(name)
	line := spaced(strings.TrimSuffix(base, path.Ext(base)))
	if dir = spaced(strings.ReplaceAll(strings.Trim(dir, "/"), "/", " ")); dir != "" {
		line += ", " + dir
	}
	if len([]rune(line)) < importing.MinDescription {
		line = "file " + strings.ToValidUTF8(base, "?")
	}
	return importing.Cut(line, importing.MaxDescription)
}

// spaced replaces underscores and hyphens by spaces, except in a date.
func spaced(name string) string {
	runes := []rune(strings.ToValidUTF8(name, "?"))
	for i, r := range runes {
		within := i > 0 && i+1 < len(runes) && unicode.IsDigit(runes[i-1]) && unicode.IsDigit(runes[i+1])
		if r == '_' || r == '-' && !within {
			runes[i] = ' '
		}
	}
	return strings.Join(strings.Fields(string(runes)), " ")
}

var stamp = regexp.MustCompile(`(?:^|\D)(\d{4})-?(\d\d)-?(\d\d)[T_ -](\d\d)[-:_.]?(\d\d)[-:_.]?(\d\d)(?:\D|$)`)

// timeIn returns the date and time in a file's name, taken as UTC, zero if there is none.
func timeIn(name string) time.Time {
	m := stamp.FindStringSubmatch(path.Base(name))
	if m == nil {
		return time.Time{}
	}
	t, _ := time.Parse("20060102150405", strings.Join(m[1:], "")) // zero for a 13th month
	return importing.Clock(t)
}
