package recall

import (
	"regexp"
	"strings"
	"time"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/internal/text"
	"github.com/robotmem/robotmem-go/robotmem/internal/timeparse"
)

// A time in a question narrows the answer only if it is one of the past: "yesterday", "last week", "on 3
// November". A time of day or a weekday alone may be that of a rule ("can I fly at 7:30"), and a time to
// come is never one of observation, so memories of that time are lifted at most.

// span is an interval of time. A zero time means that it has no bound on that side.
type span struct{ after, before time.Time }

func (s span) holds(t time.Time) bool {
	return (s.after.IsZero() || !t.Before(s.after)) && (s.before.IsZero() || t.Before(s.before))
}

// timeBoost multiplies the score of a memory that is of a time which the question names but is not narrowed to. It
// is worth about three ranks.
const timeBoost = 1.05

var (
	clockAlone   = regexp.MustCompile(`(?i)^(?:(?:at|on|in|by|around|about|from|to|until|till|before|after|since|between|and|every|the|um|gegen|ab|bis|vor|nach|am|[-–—~,，:：. ]|\d{1,2}(?:[:：.]\d\d)?|[ap]\.?m\.?|o'clock|uhr|noon|midday|midnight|morning|afternoon|evening|night|点|半|分|时|凌晨|早上|上午|中午|下午|傍晚|晚上|在|前|后|之前|之后|以前|以后|到|至|左右)\s*)+$`)
	weekdayAlone = regexp.MustCompile(`(?i)^(?:on|in|at|by|about|around|for|until|till|before|after|from|the|在|am|bis)?\s*(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?|(?:周|星期|礼拜)[一二三四五六日天])(?:\s+(?:morning|afternoon|evening|night|noon)|\s*(?:早上|上午|中午|下午|傍晚|晚上))?$`)
	bounded      = regexp.MustCompile(`(?i)^(?:since|after|before|until|till|between|from)\b|前$|后$|以来$|起$`)
	pastTense    = regexp.MustCompile(`(?i)\b(?:did|was|were|had|happened|went|\p{L}+ed|slipped|failed|fell|lost|broke|saw|found|learnt|said|ran|hit|got)\b|了|过`)
	present      = regexp.MustCompile(`(?i)\b(?:can|may|must|should|shall|will|could|would|do|does|is|are|am|allowed|kann|darf|muss|soll|ist|sind|wird)\b|能|可以|要|会|该|吗`)
)

// readTimes reads the time expressions of the query. Those of the past become bounds and are removed from
// the text. The bounds of the request apply too.
func (q *Query) readTimes(now time.Time) {
	reading := timeparse.Parse(q.Query, now)
	for _, at := range []*time.Time{reading.After, reading.Before} {
		if at != nil && (at.UTC().Year() < 1678 || at.UTC().Year() > 2261) {
			// Times are stored as nanoseconds in an int64, so no memory can be of this time. The words stay in the
			// query, because a text may have them.
			return
		}
	}

	past := 0

	for _, p := range reading.Phrases {
		switch {
		case p.After == nil && p.Before == nil:
		case q.ofThePast(p, now):
			past++
		default:
			q.lifts = append(q.lifts, spanOf(p))
		}
	}

	if reading.Note != "" {
		q.Note("parse_time: " + reading.Note)
	}
	if past == 0 {
		return
	}

	if len(q.lifts) > 0 {
		// "yesterday at 14:05" is one phrase. Of two phrases of which only one is past, the words of the other stay.
		reading = onlyPast(q, reading, now)
	}

	q.lifts = nil
	q.Narrowed = true
	q.Query = reading.Rest

	for _, p := range reading.Phrases {
		q.Times = append(q.Times, robotmem.TimePhrase{Text: p.Text, After: p.After, Before: p.Before})
	}

	// The narrower one of two bounds applies.
	if reading.After != nil && (q.After == nil || reading.After.After(*q.After)) {
		q.After = reading.After
	}
	if before := untilNow(reading, now); before != nil && (q.Before == nil || before.Before(*q.Before)) {
		q.Before = before
	}

	// If the rest only asks "what went wrong" or "what worked", its words are not searched for. The memories of
	// that time are the answer, ordered by their outcome.
	if text.AsksOnlyHow(q.Query) {
		q.Query = ""
	}
}

// ofThePast reports whether a phrase names a time of the past, and not a time of day or a weekday alone.
func (q *Query) ofThePast(p timeparse.Phrase, now time.Time) bool {
	if p.After != nil && p.After.After(now) {
		return false
	}
	words := strings.TrimSpace(p.Text)
	if !clockAlone.MatchString(words) && !weekdayAlone.MatchString(words) {
		return true
	}
	// "what slipped after 14:05" asks for past events, "can I fly before 8" for a rule.
	return bounded.MatchString(words) && pastTense.MatchString(q.Query) && !present.MatchString(q.Query)
}

func spanOf(p timeparse.Phrase) (s span) {
	if p.After != nil {
		s.after = *p.After
	}
	if p.Before != nil {
		s.before = *p.Before
	}

	return s
}

// onlyPast reads the question again without the phrases that do not narrow it. The words of these stay in the rest.
func onlyPast(q *Query, reading timeparse.Reading, now time.Time) timeparse.Reading {
	// Spaces keep the positions of the other phrases.
	hidden := []byte(q.Query)
	for _, p := range reading.Phrases {
		if !q.ofThePast(p, now) {
			copy(hidden[p.Start:p.End], strings.Repeat(" ", p.End-p.Start))
		}
	}

	again := timeparse.Parse(string(hidden), now)
	for _, p := range reading.Phrases {
		if !q.ofThePast(p, now) {
			again.Rest += " " + p.Text
		}
	}

	return again
}

// untilNow returns the end of a reading, or nil if it extends until now: on a weekend, "last week" may mean the week
// that is ending.
func untilNow(r timeparse.Reading, now time.Time) *time.Time {
	weekend := now.Weekday() == time.Sunday || now.Weekday() == time.Saturday
	if !weekend || r.Before == nil {
		return r.Before
	}

	for _, p := range r.Phrases {
		if lastWeek.MatchString(p.Text) && p.Before != nil && r.Before.Equal(*p.Before) {
			return nil
		}
	}

	return r.Before
}

var lastWeek = regexp.MustCompile(`(?i)^(?:in |during )?(?:the )?last week$|^上个?(?:周|星期|礼拜)$`)

// lifted reports whether a memory is of a time that the question names but is not narrowed to.
func (q *Query) lifted(observed int64) bool {
	for _, s := range q.lifts {
		if s.holds(time.Unix(0, observed)) {
			return true
		}
	}
	return false
}
