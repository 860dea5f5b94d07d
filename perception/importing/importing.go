// Package importing is what an importer hands over, whatever it reads: sessions,
// the perceptions in them, and an account of what was left out.
package importing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"
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
	// Origin names it in its collection: it is stored once, however often it is
	// imported. At most [MaxOrigin] bytes.
	Origin      string
	Type        string // visual, tactile, auditory, proprioceptive, procedural or spatial
	Description string // [MinDescription] characters to [MaxDescription] bytes
	MediaType   string // "" leaves it to the bytes
	Data        []byte // the payload, unless Open is set
	// Open gives a large payload of Size bytes as a stream. It is called within
	// Save and not after.
	Open       func() (io.ReadCloser, error)
	Size       int64
	Metadata   map[string]any // at most [MaxMetadata] bytes as JSON
	Context    map[string]any // params, spatial, robot, task, env
	ObservedAt time.Time      // MinYear to MaxYear, or zero when the source has no clock
	Messages   int            // the source's own units in it (frames, files), for the account
}

// Session is one episode.
type Session struct {
	Origin    string // as of a Perception
	Context   map[string]any
	StartedAt time.Time // zero when the source has no clock
}

// ErrEnded is Start's answer for a session that was imported to its end before.
var ErrEnded = errors.New("the session was imported before and has ended")

// Sink stores what an importer finds.
type Sink interface {
	// Start begins a session. The same Origin continues the same session; for
	// one that has ended the error wraps [ErrEnded].
	Start(ctx context.Context, s Session) (id string, err error)
	// Save stores the perceptions in the session, or in none if it is "", and
	// tells how many were new. It keeps no reference to them.
	Save(ctx context.Context, session string, ps []Perception) (stored int, err error)
	// End closes a session whose import is complete. The outcome is 0 (failure)
	// to 1 (success), nil when unknown.
	End(ctx context.Context, session string, outcome *float64) error
}

// Progress is how far an import is.
type Progress struct {
	Done, Total int64  // frames or files; Total is 0 when it is not known
	What        string // what is being read: an episode, a file
}

// Report is the account of an import. Nothing of the source is left out of it.
type Report struct {
	Sessions    int   // imported now, whole
	Ended       int   // sessions that were imported before, whole, and left as they are
	Perceptions int   // handed over
	Stored      int   // of them new
	Known       int   // of them stored before
	Messages    int64 // the source's own units that were read
	// Skipped counts what was left out: by file, episode or feature, then by
	// reason.
	Skipped map[string]map[string]int64
	// Broken is the first thing that could not be read, "" when all could. What
	// was whole is stored nevertheless.
	Broken string
}

// Skip adds n units of what to those left out for the reason.
func (r *Report) Skip(what, reason string, n int64) {
	if r.Skipped == nil {
		r.Skipped = map[string]map[string]int64{}
	}
	if r.Skipped[what] == nil {
		r.Skipped[what] = map[string]int64{}
	}
	r.Skipped[what][reason] += n
}

// Break notes something that could not be read, and n units left out with it.
func (r *Report) Break(what string, err error, n int64) {
	if r.Broken == "" {
		r.Broken = what + ": " + err.Error()
	}
	r.Skip(what, err.Error(), n)
}

// Save hands the perceptions to the sink and counts them.
func (r *Report) Save(ctx context.Context, sink Sink, session string, ps ...Perception) error {
	if len(ps) == 0 {
		return nil
	}
	stored, err := sink.Save(ctx, session, ps)
	if err != nil {
		return err
	}
	r.Perceptions += len(ps)
	r.Stored += stored
	r.Known += len(ps) - stored
	return nil
}

// Origin shortens s to [MaxOrigin] bytes. What is cut off is replaced by a hash
// of the whole, so that two long names stay two.
func Origin(s string) string {
	if len(s) <= MaxOrigin && utf8.ValidString(s) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	tail := "~" + hex.EncodeToString(sum[:16])
	return Cut(s, MaxOrigin-len(tail)) + tail
}

// Clock is t in UTC, or the zero time if t is of a year that cannot be stored: a
// clock that shows such a time was never set.
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

// FolderName is what the source in a folder is called: name, or else the folder's
// own name.
func FolderName(name, folder string) (string, error) {
	if name != "" {
		return name, nil
	}
	full, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	return filepath.Base(full), nil
}
