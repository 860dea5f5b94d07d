package perception

import (
	"bytes"
	"strconv"
	"strings"
)

// maxCloudHeader bounds the part of a point cloud that is read for its header;
// real ones take a few hundred bytes.
const maxCloudHeader = 8 << 10

// cloudLines calls f with the words of each header line until it returns false.
func cloudLines(data []byte, f func(words []string) bool) {
	for line := range bytes.Lines(data[:min(len(data), maxCloudHeader)]) {
		words := strings.Fields(string(line))
		if len(words) > 0 && !f(words) {
			return
		}
	}
}

// summarizePCD writes "point cloud, 1,234 points, fields x y z, binary".
func summarizePCD(data []byte) string {
	if !isPCD(data) {
		return ""
	}
	var fields []string
	points, form := "", ""
	cloudLines(data, func(words []string) bool {
		switch words[0] {
		case "FIELDS", "COLUMNS":
			fields = words[1:]
		case "POINTS":
			points = strings.Join(words[1:], " ")
		case "DATA":
			form = strings.Join(words[1:], " ")
			return false
		}
		return true
	})
	n, err := strconv.ParseUint(points, 10, 64)
	// A point takes a byte at least, unless the points are compressed.
	if err != nil || form == "" || n > uint64(len(data)) && form != "binary_compressed" {
		return ""
	}
	return "point cloud, " + plural(n, "point") + ", fields " + clean(strings.Join(fields, " "), maxSummary/2) + ", " + clean(form, maxNameRunes)
}

// summarizePLY writes "point cloud, 8 points, fields x y z, ascii", or of one
// with faces "mesh, 8 vertices, 12 faces, fields x y z, binary_little_endian".
func summarizePLY(data []byte) string {
	if !isPLY(data) {
		return ""
	}
	var fields []string
	counts := map[string]uint64{}
	element, form, ended := "", "", false
	cloudLines(data, func(words []string) bool {
		switch {
		case words[0] == "end_header":
			ended = true
		case words[0] == "format" && len(words) > 1:
			form = words[1]
		case words[0] == "element" && len(words) == 3:
			if n, err := strconv.ParseUint(words[2], 10, 64); err == nil {
				element = words[1]
				counts[element] = n
			}
		case words[0] == "property" && element == "vertex":
			fields = append(fields, words[len(words)-1])
		}
		return !ended
	})
	vertices, faces := counts["vertex"], counts["face"]
	if !ended || vertices > uint64(len(data)) || faces > uint64(len(data)) {
		return ""
	}
	what := "point cloud, " + plural(vertices, "point")
	if faces > 0 {
		what = "mesh, " + plural(vertices, "vertex") + ", " + plural(faces, "face")
	}
	return what + ", fields " + clean(strings.Join(fields, " "), maxSummary/2) + ", " + clean(form, maxNameRunes)
}

var cloudFormat = format{
	name:    "cloud",
	accepts: func(it Item) bool { return isPCD(it.Data) || isPLY(it.Data) },
	summarize: func(it Item) string {
		if s := summarizePCD(it.Data); s != "" {
			return s
		}
		return summarizePLY(it.Data)
	},
}
