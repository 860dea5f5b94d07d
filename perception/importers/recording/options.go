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
	"strings"

	"github.com/robotmem/robotmem-go/perception/events"
)

// Options chooses what of a recording is stored. The zero value stores everything.
type Options struct {
	// Topics and Exclude choose what is stored, and of a recording also what is read for events. Poses are always read.
	//
	// Topics are globs as of [path.Match]. A * at the end also matches slashes if it is the only
	// wildcard: /camera/* matches /camera/front/image. Empty means all topics.
	Topics []string
	// Exclude are globs of topics to leave out, even if Topics match them.
	Exclude []string
	// Namespace is that of one robot of several, such as /r1: only topics below it count, and transforms. "" is all.
	Namespace string
	// RateHz is the most messages that are stored per second of log time, by glob; 0 is no
	// limit. Of several matching globs the longest counts.
	RateHz map[string]float64
	// SegmentSeconds is the log time of a segment, which may end sooner; 0 is 10.
	SegmentSeconds float64
	// Robot names the robot in the context of each perception, unless it is "".
	Robot string
	// MapID names the map of the poses in the frame "map", unless it is "".
	MapID string
	// Events are the rules by which messages say what happened; nil stores the messages alone.
	Events *events.Rules
}

const (
	segmentSeconds = 10
	// A segment also ends before the message that would exceed one of these.
	segmentBytes    = 1 << 20
	segmentMessages = 10_000
)

func (o Options) normal() (Options, error) {
	o.SegmentSeconds = cmp.Or(max(o.SegmentSeconds, 0), segmentSeconds)
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
	if len(o.globs()) == 0 && o.SegmentSeconds == segmentSeconds && o.Namespace == "" {
		return ""
	}
	// json.Marshal sorts the keys of maps. The nil stands for an option of earlier versions.
	// It does not fail, since normal has checked that all numbers are finite.
	parts := []any{o.Topics, o.Exclude, o.RateHz, nil, o.SegmentSeconds, segmentBytes, segmentMessages}
	if o.Namespace != "" {
		parts = append(parts, o.Namespace)
	}
	text, _ := json.Marshal(parts)
	sum := sha256.Sum256(text)

	return "#" + hex.EncodeToString(sum[:8])
}

// eventsHash tells imports with different rules apart. It is "" without rules, as that of versions that had none.
func (o Options) eventsHash() string {
	if o.Events == nil {
		return ""
	}
	return "!" + o.Events.ID()
}

func (o Options) globs() []string {
	return slices.Concat(o.Topics, o.Exclude, slices.Collect(maps.Keys(o.RateHz)))
}

// InNamespace reports whether the messages of a topic are of the robot that is chosen. Transforms of all robots have
// one topic.
func (o Options) InNamespace(topic string) bool {
	namespace := "/" + strings.Trim(o.Namespace, "/")
	return namespace == "/" || strings.HasPrefix(topic, namespace+"/") || topic == "/tf" || topic == "/tf_static"
}

func (o Options) includes(topic string) bool {
	if !o.InNamespace(topic) {
		return false
	}
	match := func(glob string) bool { return matches(glob, topic) }
	return (len(o.Topics) == 0 || slices.ContainsFunc(o.Topics, match)) && !slices.ContainsFunc(o.Exclude, match)
}

// Includes reports whether the messages of a topic are stored.
func (o Options) Includes(topic string) bool { return o.includes(topic) }

// Rate returns the most messages of a topic that are stored per second; 0 is no limit.
func (o Options) Rate(topic string) float64 { return limit(o.RateHz, topic) }

func matches(glob, topic string) bool {
	if ok, err := path.Match(glob, topic); err == nil && ok {
		return true
	}
	before, ok := strings.CutSuffix(glob, "*")
	return ok && strings.HasPrefix(topic, before)
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

// rateSlack is the part of the period by which a message may come early, as messages of a camera
// do that runs at just the rate.
const rateSlack = 0.01
