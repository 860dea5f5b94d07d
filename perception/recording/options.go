package recording

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
)

// Options chooses what of a recording is stored. The zero value stores everything.
type Options struct {
	// Topics are globs as of [path.Match]. A * at the end of a glob also matches slashes:
	// /camera/* matches /camera/front/image. Empty means all topics.
	Topics []string
	// Exclude are globs of topics to leave out, even if Topics match them.
	Exclude []string
	// RateHz is the most messages that are stored per second of log time, by glob; 0 is no
	// limit. Of several matching globs the longest counts.
	RateHz map[string]float64
	// A segment ends before the message that would exceed one of these.
	SegmentSeconds  float64 // of log time; 0 is 10
	SegmentBytes    int     // 0 is 1 MiB
	SegmentMessages int     // 0 is 10,000
	// Robot names the robot in the context of each perception, unless it is "".
	Robot string
	// MapID names the map of the poses in the frame "map", unless it is "".
	MapID string
}

const (
	segmentSeconds  = 10
	segmentBytes    = 1 << 20
	segmentMessages = 10_000
	// maxSegmentBytes limits SegmentBytes, since open segments are in memory.
	maxSegmentBytes = 64 << 20
)

func (o Options) normal() (Options, error) {
	o.SegmentSeconds = cmp.Or(max(o.SegmentSeconds, 0), segmentSeconds)
	o.SegmentBytes = cmp.Or(max(o.SegmentBytes, 0), segmentBytes)
	o.SegmentMessages = cmp.Or(max(o.SegmentMessages, 0), segmentMessages)
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
	return o, nil
}

// hash tells imports of one recording with different options apart. It is "" if the
// options store everything.
func (o Options) hash() string {
	usual := o.SegmentSeconds == segmentSeconds && o.SegmentBytes == segmentBytes && o.SegmentMessages == segmentMessages
	if len(o.globs()) == 0 && usual {
		return ""
	}
	// json.Marshal sorts the keys of maps. The nil stands for an option of earlier versions.
	// It does not fail, since normal has checked that all numbers are finite.
	text, _ := json.Marshal([]any{o.Topics, o.Exclude, o.RateHz, nil, o.SegmentSeconds, o.SegmentBytes, o.SegmentMessages})
	sum := sha256.Sum256(text)
	return "#" + hex.EncodeToString(sum[:8])
}

func (o Options) globs() []string {
	return slices.Concat(o.Topics, o.Exclude, slices.Collect(maps.Keys(o.RateHz)))
}

func (o Options) includes(topic string) bool {
	match := func(glob string) bool { return matches(glob, topic) }
	return (len(o.Topics) == 0 || slices.ContainsFunc(o.Topics, match)) && !slices.ContainsFunc(o.Exclude, match)
}

func matches(glob, topic string) bool {
	if ok, err := path.Match(glob, topic); err == nil && ok || glob == "*" {
		return true
	}
	n := len(glob) - 1
	if n < 1 || glob[n] != '*' || glob[n-1] == '\\' {
		return false
	}
	// The star at the end matches any rest of the topic.
	for i := range len(topic) + 1 {
		if ok, err := path.Match(glob[:n], topic[:i]); err == nil && ok {
			return true
		}
	}
	return false
}

// limit returns the value of the longest matching glob.
func limit(limits map[string]float64, topic string) float64 {
	best, value := "", 0.0
	for glob, v := range limits {
		if matches(glob, topic) && (len(glob) > len(best) || len(glob) == len(best) && glob > best) {
			best, value = glob, v
		}
	}
	return value
}

// rateSlack is how much of the period a message may come early, as messages of a camera
// do that runs at just the rate.
const rateSlack = 0.01

// tooSoon reports that the message comes before the rate allows the next.
func (t *topic) tooSoon(logTime uint64) bool {
	return t.rate > 0 && t.stored && logTime >= t.lastTime && float64(logTime-t.lastTime)*1e-9 < (1-rateSlack)/t.rate
}
