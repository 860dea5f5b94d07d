// Package importers has what all importers share: the sessions and perceptions that they
// pass to a [Sink], and the [Report] of an import.
package importers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of a [Perception].
const (
	MaxOrigin      = 256      // bytes
	MinDescription = 5        // characters
	MaxDescription = 16 << 10 // bytes
	MaxMetadata    = 64 << 10 // bytes as JSON
	MinYear        = 1678     // of ObservedAt in UTC, unless it is zero
	MaxYear        = 2261
)

// Perception is one thing to store.
type Perception struct {
	// Origin identifies it in its collection: it is stored once, however often it is
	// imported. At most [MaxOrigin] bytes.
	Origin      string
	Type        string         // visual, tactile, auditory, proprioceptive, procedural or spatial
	Description string         // [MinDescription] characters to [MaxDescription] bytes
	MediaType   string         // "" detects it from the bytes
	Data        []byte         // the payload
	Metadata    map[string]any // at most [MaxMetadata] bytes as JSON
	Context     map[string]any // params, spatial, robot, task, env
	ObservedAt  time.Time      // MinYear to MaxYear, or zero if the source has no clock
	Messages    int            // how many units of the source it holds (frames, files), for the report
}

// Session is one episode.
type Session struct {
	Origin    string // identifies it, as the Origin of a Perception does
	Context   map[string]any
	StartedAt time.Time // when it began; zero if the source has no clock
}

// Ending is how an episode ended.
type Ending struct {
	Outcome *float64  // 0 (failure) to 1 (success), nil if it is unknown
	At      time.Time // zero if the source has no clock
}

// Fact is something that happened.
type Fact struct {
	Origin     string // identifies it within its collection, so that a repeated import stores it once
	Text       string // 1 byte to [MaxDescription] bytes
	Outcome    string // success, failure, partial, unknown, or "" if it has none
	Context    map[string]any
	ObservedAt time.Time // as that of a Perception
	Source     string    // who reported it
}

// ErrEnded is the error of Start for a session that was imported to its end before.
var ErrEnded = errors.New("the session was imported before and has ended")

// Sink stores sessions and perceptions.
type Sink interface {
	// Start begins a session. A known Origin continues its session; if that has ended,
	// the error wraps [ErrEnded].
	Start(ctx context.Context, s Session) (id string, err error)
	// Save stores the perceptions in the session, or in none if it is "", and returns how
	// many were new. It keeps no reference to them.
	Save(ctx context.Context, session string, ps []Perception) (stored int, err error)
	// Learn stores the facts in the session, or in none if it is "", and returns how many were new. It
	// keeps no reference to them.
	Learn(ctx context.Context, session string, facts []Fact) (stored int, err error)
	// End ends a session whose import is complete.
	End(ctx context.Context, session string, ending Ending) error
}

// Progress is the progress of an import.
type Progress struct {
	Done, Total int64 // frames or messages; Total is 0 if it is unknown
}

// Report counts what an import read, stored and left out.
type Report struct {
	Sessions    int   `json:"sessions"`                 // completed by this import
	Ended       int   `json:"sessions_known,omitempty"` // completed by an earlier import, and not changed
	Perceptions int   `json:"perceptions"`              // passed to the sink
	Stored      int   `json:"stored"`                   // how many of these were new
	Messages    int64 `json:"messages"`                 // the source's units that were read
	// Skipped counts what was left out, by file, episode or feature and by reason.
	Skipped map[string]map[string]int64 `json:"skipped,omitempty"`
	// Broken is the first thing that could not be read, "" if there is none. Everything
	// else is stored nevertheless.
	Broken string `json:"broken,omitempty"`
}

// Skip counts n units of a file, episode or feature as left out for the reason.
func (r *Report) Skip(what, reason string, n int64) {
	if r.Skipped == nil {
		r.Skipped = map[string]map[string]int64{}
	}
	if r.Skipped[what] == nil {
		r.Skipped[what] = map[string]int64{}
	}
	r.Skipped[what][reason] += n
}

// Break records the error with which a file, episode or feature could not be read, and counts n units of it
// as left out.
func (r *Report) Break(what string, err error, n int64) {
	if r.Broken == "" {
		r.Broken = what + ": " + err.Error()
	}
	r.Skip(what, err.Error(), n)
}

// Origin shortens s to [MaxOrigin] bytes. It replaces the end by a hash of the whole, so that
// different long names stay different.
func Origin(s string) string {
	if len(s) <= MaxOrigin && utf8.ValidString(s) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	tail := "~" + hex.EncodeToString(sum[:16])
	return Cut(s, MaxOrigin-len(tail)) + tail
}

// Clock returns t in UTC, or the zero time if its year cannot be stored: the clock was never set.
func Clock(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < MinYear || t.Year() > MaxYear {
		return time.Time{}
	}
	return t
}

// Cut shortens s to at most n bytes of valid UTF-8.
func Cut(s string, n int) string {
	return strings.ToValidUTF8(s[:min(n, len(s))], "")
}
