package perception

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSummary is what a memory's summary holds, in characters.
const maxSummary = 300

// maxNameRunes bounds a name (of a channel, a key, a field) within a summary, so
// that one cannot push out the figures.
const maxNameRunes = 40

// Summarize writes one line about the data, from the data itself and its
// metadata, never from a description: a search for "Fz peak" or "640x480" finds
// it. It is "" for an item without data, never longer than 300 characters, and
// the same for the same item. Data that is not understood is counted: "1,234
// bytes of application/octet-stream".
func Summarize(it Item) string {
	if len(it.Data) == 0 {
		return ""
	}
	return clean(summarize(it), maxSummary)
}

func summarize(it Item) string {
	for _, f := range formats {
		if f.accepts(it) && f.summarize != nil {
			if s := f.summarize(it); s != "" {
				return s
			}
		}
	}
	var s string
	switch it.encoding() {
	case npyArray:
		s = summarizeNPY(it)
	case jsonText:
		s = summarizeJSON(it)
	case textTable, freeText:
		s = summarizeText(it)
	}
	if s != "" {
		return s
	}
	return plural(uint64(max(it.Size, int64(len(it.Data)))), "byte") + " of " + clean(it.mediaType(), maxMediaType)
}

// summarizeText quotes how the text begins. How many lines it has is only told if
// all of it is here.
func summarizeText(it Item) string {
	data := wholeLines(it)
	if !utf8.Valid(data) {
		return ""
	}
	lines := bytes.Count(bytes.TrimSpace(data), []byte("\n")) + 1
	begin := clean(string(data[:min(len(data), 4*maxSummary)]), 200)
	if begin == "" {
		return ""
	}
	if onlyHead(it) {
		return "text, beginning: " + begin
	}
	return "text, " + plural(uint64(lines), "line") + ": " + begin
}

// maxKeys is how many keys of a JSON object a summary names.
const maxKeys = 8

func summarizeJSON(it Item) string {
	if onlyHead(it) || !json.Valid(it.Data) {
		return ""
	}
	dec := json.NewDecoder(bytes.NewReader(it.Data))
	open, err := dec.Token()
	if err != nil {
		return ""
	}
	var keys []string
	count := uint64(0)
	for ; dec.More(); count++ {
		if open == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return ""
			}
			if s, ok := key.(string); ok && len(keys) < maxKeys {
				keys = append(keys, clean(s, maxNameRunes))
			}
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return ""
		}
	}
	switch open {
	case json.Delim('{'):
		s := "JSON object, " + plural(count, "key")
		if len(keys) > 0 {
			s += ": " + strings.Join(keys, ", ")
		}
		return s
	case json.Delim('['):
		return "JSON list, " + plural(count, "element")
	}
	return ""
}

// clean makes one line of s: what cannot be seen is a space, runs of space are
// one, and at most limit characters remain, the last an ellipsis if any went.
func clean(s string, limit int) string {
	var b strings.Builder
	n, gap, lastLen := 0, false, 0
	for _, r := range s {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) || r == utf8.RuneError {
			gap = n > 0
			continue
		}
		need := 1
		if gap {
			need = 2
		}
		if n+need > limit {
			out := b.String()
			if n == limit {
				out = out[:len(out)-lastLen]
			}
			return strings.TrimRight(out, " ") + "…"
		}
		if gap {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		n, gap, lastLen = n+need, false, utf8.RuneLen(r)
	}
	return b.String()
}

// plural is "1 byte", "1,234 bytes".
func plural(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if noun == "vertex" {
		return thousands(n) + " vertices"
	}
	return thousands(n) + " " + noun + "s"
}

func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// figure writes a reading with three significant digits, large ones in full.
func figure(v float64) string {
	const threeDigits, inFull = 999.5, 1e7
	if m := math.Abs(v); m >= threeDigits && m < inFull {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
