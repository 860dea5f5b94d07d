package media

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

const (
	// MaxSummary is the length of a summary in characters.
	MaxSummary = 300
	// MaxName is the length in characters of one name within a summary, such as
	// that of a channel, so that a long name cannot push out the figures.
	MaxName = 40
)

// Clean returns s as one line: each run of white space and unprintable characters becomes one
// space. A longer line than limit characters is cut and ends with an ellipsis.
func Clean(s string, limit int) string {
	var out []rune
	gap := false

	for _, r := range s {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) || r == utf8.RuneError {
			gap = len(out) > 0
			continue
		}
		if gap {
			out = append(out, ' ')
		}
		if out, gap = append(out, r), false; len(out) > limit {
			return strings.TrimRight(string(out[:limit-1]), " ") + "…"
		}
	}

	return string(out)
}

// Count is [Plural] with a plural of its own: "8 vertices".
func Count(n int64, noun, nouns string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Comma(n) + " " + nouns
}

// Plural returns "1 byte", "1,234 bytes".
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Comma(n) + " " + noun + "s"
}

// Figure returns a reading with three significant digits, and from 1,000 to ten
// million all digits before the point.
func Figure(v float64) string {
	const threeDigits, inFull = 999.5, 1e7
	if m := math.Abs(v); m >= threeDigits && m < inFull {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Sides returns the sides of a box, "4.2 x 3.1 x 1.8".
func Sides[F float32 | float64](low, high [3]F) string {
	sides := make([]string, len(low))
	for i := range low {
		sides[i] = Figure(float64(high[i]) - float64(low[i]))
	}
	return strings.Join(sides, " x ")
}

// Clock formats all times of one recording in one unit, so that they can be compared.
type Clock struct {
	Unit     string // "" if the duration is unknown
	scale    float64
	decimals int
}

// NewClock chooses the unit for a recording of this duration.
func NewClock(seconds float64) Clock {
	switch {
	case !(seconds > 0) || math.IsInf(seconds, 1):
		return Clock{}
	case seconds < 10e-3:
		return Clock{"ms", 1e3, 3}
	case seconds < 1:
		return Clock{"ms", 1e3, 0}
	case seconds < 100:
		return Clock{"s", 1, 2}
	}

	return Clock{"s", 1, 0}
}

// At returns a time with its unit.
func (c Clock) At(seconds float64) string {
	return strconv.FormatFloat(seconds*c.scale, 'f', c.decimals, 64) + " " + c.Unit
}

// Finite reports whether v is neither NaN nor infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Part returns the limits of part i of n equal parts of length. A part has at
// least one element: if there are fewer than n, neighbours share one.
func Part(i, n, length int) (from, to int) {
	from = int(int64(i) * int64(length) / int64(n))
	to = int(int64(i+1) * int64(length) / int64(n))
	return from, max(to, from+1)
}
