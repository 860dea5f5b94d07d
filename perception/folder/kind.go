package folder

import (
	"path"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/robotmem/robotmem-go/perception/importing"
)

// kinds are the types of perceptions.
var kinds = []string{"visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"}

// mediaTypes are those that the bytes alone do not show for sure.
var mediaTypes = map[string]string{
	".csv":   "text/csv; charset=utf-8",
	".tsv":   "text/tab-separated-values; charset=utf-8",
	".tum":   "text/plain; charset=utf-8",
	".kitti": "text/plain; charset=utf-8",
	".json":  "application/json",
}

func extension(name string) string { return strings.ToLower(path.Ext(name)) }

// senses are words that tell what numbers are of. A word of the path that begins
// with one of them decides, in this order.
var senses = []struct {
	kind  string
	words []string
}{
	{"tactile", []string{"wrench", "force", "torque", "tactile", "touch"}},
	{"procedural", []string{"action", "command", "trajector", "plan"}},
	{"proprioceptive", []string{"joint", "imu", "proprio", "effort", "encoder", "state"}},
}

// kindOf is the type of a file, "" when nothing tells.
func kindOf(name, mediaType string, metadata map[string]any) string {
	base, _, _ := strings.Cut(mediaType, ";")
	family, _, _ := strings.Cut(base, "/")
	switch {
	case family == "image" || family == "video":
		return "visual"
	case family == "audio":
		return "auditory"
	case base == "application/x-pcd" || base == "application/x-ply":
		return "spatial"
	case extension(name) == ".tum" || extension(name) == ".kitti":
		return "procedural"
	}
	if kind, _ := metadata["kind"].(string); strings.EqualFold(kind, "wrench") {
		return "tactile"
	}
	switch base {
	case "text/csv", "text/tab-separated-values", "application/x-npy":
		if kind := senseOf(name); kind != "" {
			return kind
		}
		return "proprioceptive"
	case "application/json", "text/plain":
		return senseOf(name)
	}
	return ""
}

func senseOf(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, s := range senses {
		for _, word := range words {
			for _, known := range s.words {
				if strings.HasPrefix(word, known) {
					return s.kind
				}
			}
		}
	}
	return ""
}

// inWords describes a file by its path.
func inWords(name string) string {
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

// spaced puts blanks for underscores and hyphens, save within a date.
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

// timeIn is the date and time in a file's name, taken as UTC; zero without one.
func timeIn(name string) time.Time {
	m := stamp.FindStringSubmatch(path.Base(name))
	if m == nil {
		return time.Time{}
	}
	t, err := time.Parse("20060102150405", strings.Join(m[1:], ""))
	if err != nil {
		return time.Time{} // such as a 13th month
	}
	return importing.Clock(t)
}
