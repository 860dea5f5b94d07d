package recording

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
)

// Options is what of a recording is kept. The zero value keeps all.
type Options struct {
	// Topics are globs as of [path.Match], where a * also spans slashes at the
	// end of a glob: /camera/* takes /camera/front/image. Empty means all.
	Topics []string
	// Exclude are globs of topics that Topics took and that are left out.
	Exclude []string
	// RateHz is how many messages of log time's second are kept at most, by
	// glob; 0 is no limit. The limit of the longest glob that fits counts.
	RateHz map[string]float64
	// Keyframes is how much a message must differ from the last that was kept,
	// by glob: the mean absolute difference of a thumbnail's grey (0 to 1) for
	// images, of the ranges in metres for scans, metres or radians of the way
	// for poses. Other messages are all kept. 0 keeps all.
	Keyframes map[string]float64
	// A segment ends before the message that would make it longer than this.
	SegmentSeconds  float64 // of log time; 0 is 10
	SegmentBytes    int     // 0 is 1 MiB
	SegmentMessages int     // 0 is 10,000
	// Robot names the robot in each perception's context; "" leaves it out.
	Robot string
	// MapID names the map that poses in the frame "map" are of; "" leaves it out.
	MapID string
}

const (
	segmentSeconds  = 10
	segmentBytes    = 1 << 20
	segmentMessages = 10_000
	// maxSegmentBytes is what a caller can ask for: an open segment is in memory.
	maxSegmentBytes = 64 << 20
)

func (o Options) normal() (Options, error) {
	if o.SegmentSeconds <= 0 {
		o.SegmentSeconds = segmentSeconds
	}
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = segmentBytes
	}
	if o.SegmentMessages <= 0 {
		o.SegmentMessages = segmentMessages
	}
	if o.SegmentBytes > maxSegmentBytes {
		return o, fmt.Errorf("segments of %d bytes are too large; at most %d", o.SegmentBytes, maxSegmentBytes)
	}
	for _, glob := range o.globs() {
		if _, err := path.Match(glob, ""); err != nil {
			return o, fmt.Errorf("topic glob %q: %w", glob, err)
		}
	}
	for glob, hz := range o.RateHz {
		if !(hz >= 0) {
			return o, fmt.Errorf("the rate of %q is %g Hz; give 0 or more", glob, hz)
		}
	}
	for glob, change := range o.Keyframes {
		if !(change >= 0) {
			return o, fmt.Errorf("the least change of %q is %g; give 0 or more", glob, change)
		}
	}
	return o, nil
}

// mark tells imports of one recording with different options apart, "" for those
// that keep all.
func (o Options) mark() string {
	whole := o.SegmentSeconds == segmentSeconds && o.SegmentBytes == segmentBytes && o.SegmentMessages == segmentMessages
	if len(o.globs()) == 0 && whole {
		return ""
	}
	// Keys of maps are sorted.
	chosen, err := json.Marshal([]any{o.Topics, o.Exclude, o.RateHz, o.Keyframes, o.SegmentSeconds, o.SegmentBytes, o.SegmentMessages})
	if err != nil {
		return "" // globs and finite numbers have a JSON form
	}
	sum := sha256.Sum256(chosen)
	return "#" + hex.EncodeToString(sum[:8])
}

func (o Options) globs() []string {
	all := append(append([]string(nil), o.Topics...), o.Exclude...)
	for glob := range o.RateHz {
		all = append(all, glob)
	}
	for glob := range o.Keyframes {
		all = append(all, glob)
	}
	return all
}

// chosen says whether messages of the topic are kept.
func (o Options) chosen(topic string) bool {
	return (len(o.Topics) == 0 || matchesAny(o.Topics, topic)) && !matchesAny(o.Exclude, topic)
}

func matchesAny(globs []string, topic string) bool {
	for _, glob := range globs {
		if matches(glob, topic) {
			return true
		}
	}
	return false
}

func matches(glob, topic string) bool {
	if ok, err := path.Match(glob, topic); err == nil && ok {
		return true
	}
	if glob == "*" {
		return true
	}
	n := len(glob) - 1
	if n < 1 || glob[n] != '*' || glob[n-1] == '\\' {
		return false
	}
	// The star at the end spans slashes: the beginning must match some of it.
	for i := range len(topic) + 1 {
		if ok, err := path.Match(glob[:n], topic[:i]); err == nil && ok {
			return true
		}
	}
	return false
}

// limit is the value of the longest glob that fits.
func limit(limits map[string]float64, topic string) float64 {
	best, value := "", 0.0
	for glob, v := range limits {
		if matches(glob, topic) && (len(glob) > len(best) || len(glob) == len(best) && glob > best) {
			best, value = glob, v
		}
	}
	return value
}

// Progress is how far an import has come.
type Progress struct {
	Messages, Total uint64 // Total is 0 when the recording does not say
	Perceptions     int
	Bytes           uint64 // of messages read
	LogTime         uint64 // of the last one, ns
}

// Report accounts for every message of a recording.
type Report struct {
	Recording   string // its ID
	Session     string
	Messages    uint64 // read
	Perceptions int    // made, with the manifest
	Stored      int    // of them new to the sink
	Topics      []TopicReport
	// Broken is where the recording is damaged, at most 100 places.
	Broken []*BreakError
}

// TopicReport accounts for a topic: Read is Kept plus all of Skipped.
type TopicReport struct {
	Topic, SchemaName string
	Read              uint64
	Kept              uint64 // messages within perceptions
	Perceptions       int
	Skipped           map[string]uint64 // messages by reason
	// Notes are what is kept but not understood, by reason.
	Notes map[string]uint64
}

// The reasons for which messages are skipped.
const (
	SkippedTopic     = "topic not chosen"
	SkippedRate      = "over the rate"
	SkippedUnchanged = "unchanged"
)
