package timeparse

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Reading is the result of Parse.
type Reading struct {
	// After <= observed_at < Before, where nil is no bound.
	After, Before *time.Time
	Phrases       []Phrase // in the order of the question
	// Rest is the question without the words of bounds: "slips the crash" of "slips before the crash at
	// 14:05".
	Rest string
	// Note is a sentence about time words that were not used, or empty.
	Note string
}

// A Phrase is a time expression, question[Start:End] in bytes, with its bounds, nil if it was not used.
type Phrase struct {
	Text          string
	Start, End    int
	After, Before *time.Time
}

// Parse reads the time expressions of a question in English or Chinese. Days, weeks and times of day
// are those of now's Location.
func Parse(question string, now time.Time) Reading {
	named, ofRules := grammar()
	p := &parser{calendar: calendar{now}, named: named, rules: ofRules, question: question, s: mask(question, named)}
	items, unread := p.items()
	if unread != "" {
		return Reading{
			Rest: strings.ToValidUTF8(question, ""), Note: `"` + unread + `" was not read, so no time words were used.`,
		}
	}

	return p.read(items)
}

// read resolves the items and joins their bounds.
func (p *parser) read(items []item) Reading {
	r := Reading{Rest: strings.ToValidUTF8(p.question, "")}
	// "yesterday ... at 14:05" is 14:05 of yesterday, so the day is found before any time of day is resolved.
	in := p.commonDay(items)

	var used []string

	for _, it := range items {
		ph := p.phrase(it, in)
		r.Phrases = append(r.Phrases, ph)
		if ph.After != nil && (r.After == nil || ph.After.After(*r.After)) {
			r.After = ph.After
		}
		if ph.Before != nil && (r.Before == nil || ph.Before.Before(*r.Before)) {
			r.Before = ph.Before
		}
		if ph.After != nil || ph.Before != nil {
			used = append(used, `"`+ph.Text+`"`)
		}
	}

	// Several phrases narrow the time together. Without a common moment the caller would find nothing.
	switch {
	case r.After != nil && r.Before != nil && !r.After.Before(*r.Before):
		r.After, r.Before = nil, nil
		r.Note = "No moment is at once " + strings.Join(used, " and ") + ": none of them was used."
	case len(used) > 0:
		r.Rest = p.rest(items, r.Phrases)
	}

	return r
}

// commonDay returns the day of phrases that name no day, if exactly one phrase names one.
func (p *parser) commonDay(items []item) (in span) {
	for _, it := range items {
		a := it.a
		isDay := a.date.set() && a.grain <= day && !a.date.to.IsZero() && a.point.IsZero()

		// "since Monday" alone bounds the time and does not say which day another phrase means.
		if !isDay || it.ranged || it.prep.bounds() && !a.timed() {
			continue
		}

		if in.set() {
			return span{}
		}

		// Without its clock it is the whole day.
		a.clockGrain = 0
		in = p.resolve(a, span{}).span
	}

	return in
}

// phrase resolves one item.
func (p *parser) phrase(it item, in span) Phrase {
	ph := Phrase{Text: p.question[it.start:it.end], Start: it.start, End: it.end}
	lo, hi := it.bounds(p.resolve(it.a, in))
	if it.ranged {
		lo, hi = p.rangeOf(it, in)
	}

	// An empty interval, or one before year 1, gets no bounds.
	if !lo.IsZero() && !hi.IsZero() && !lo.Before(hi) || lo.Year() < 1 || hi.Year() < 1 {
		return ph
	}
	if !lo.IsZero() {
		ph.After = &lo
	}
	if !hi.IsZero() {
		ph.Before = &hi
	}

	return ph
}

// bounds returns the interval that the preposition makes of a place. The zero time is no bound.
func (it *item) bounds(at place) (lo, hi time.Time) {
	switch it.prep {
	case before:
		return lo, at.lo
	case until:
		return lo, at.hi
	case since:
		return at.lo, hi
	case after:
		return at.hi, hi
	case around:
		// "around" widens the interval by its own length on both sides, at least by half an hour.
		wide := max(30*time.Minute, at.hi.Sub(at.from))
		return at.lo.Add(-wide), at.hi.Add(wide)
	}

	return at.from, at.to
}

// rangeOf returns the time from the first anchor to the second. If the second is a time of day, it is the
// first such time after the first anchor. If it is a weekday before the first anchor, it is the next one.
func (p *parser) rangeOf(it item, in span) (lo, hi time.Time) {
	a, b := it.a, it.b

	// "between 9 and 11 yesterday": the day of the second anchor is that of the first one too.
	if a.dayless() && b.date.set() && b.grain <= day && b.point.IsZero() {
		in = b.date
	}

	first, last := p.resolve(a, in), p.resolve(b, span{})
	switch {
	case b.dayless():
		// Try the time on the same day, half a day later and on the next day. Half a day later counts only if the words
		// leave open which half of the day is meant.
		for _, more := range []time.Duration{0, noon, 2 * noon} {
			later := b
			later.clock += more
			if last = p.resolve(later, p.dayOf(first.lo, 0)); last.lo.After(first.lo) &&
				(more != noon || b.half && !a.half) {
				break
			}
		}
	case b.latest && a.date.set() && last.lo.Before(first.lo):
		// The date is yet to come, so the range has no end.
		last.hi = hi
	case a.dayless() && !first.lo.Before(last.hi):
		first = p.resolve(a, p.dayOf(in.from, -1))
	case !first.lo.Before(last.hi):
		first, last = last, first
	}

	if it.prep == after {
		return first.hi, last.hi
	}

	return first.lo, last.hi
}

// closing holds the punctuation that follows a word without a space, in both widths.
const closing = ",.;:?!)]}、。，；：？！）"

// rest is the question without the phrases that have bounds.
func (p *parser) rest(items []item, phrases []Phrase) string {
	// The words are replaced by spaces first, so that the positions of the phrases stay valid. The event of a phrase
	// stays: it is what the question is about.
	b := []byte(p.question)

	for i, it := range items {
		if phrases[i].After != nil || phrases[i].Before != nil {
			copy(b[it.start:it.event.start], strings.Repeat(" ", len(b)))
			copy(b[it.event.end:it.end], strings.Repeat(" ", len(b)))
		}
	}

	var rest strings.Builder

	for word := range strings.FieldsSeq(strings.ToValidUTF8(string(b), "")) {
		r, _ := utf8.DecodeRuneInString(word)
		if rest.Len() > 0 && !strings.ContainsRune(closing, r) {
			rest.WriteByte(' ')
		} else if rest.Len() == 0 {
			word = strings.TrimLeft(word, closing)
		}
		rest.WriteString(word)
	}

	// A question of time words alone leaves only punctuation.
	if strings.ContainsFunc(rest.String(), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return rest.String()
	}

	return ""
}

const (
	maxPhrases = 16 // of a question
	maxWindow  = 80 // bytes that one rule looks at
	maxEvent   = 6  // words between a preposition and its time, as in "before the crash at 14:05"
)

// An item is one phrase before it is resolved. Positions are bytes.
type item struct {
	prep       preposition
	a, b       anchor // b of ranges only
	ranged     bool
	start, end int
	event      struct{ start, end int } // "the crash" of "before the crash at 14:05"
}

// A parser walks one question.
type parser struct {
	calendar
	named    map[string]*regexp.Regexp // of patterns
	rules    []*regexp.Regexp
	question string // as it was asked
	s        string // masked
	i        int
	start    int  // of what was taken last
	owned    bool // the last anchor ends with 's
}

// take consumes a match at the current position and returns its groups.
func (p *parser) take(re *regexp.Regexp) []string {
	m := re.FindStringSubmatch(p.s[p.i:min(len(p.s), p.i+maxWindow)])
	if m != nil {
		p.start = p.i + len(m[0]) - len(strings.TrimLeftFunc(m[0], unicode.IsSpace))
		p.i += len(m[0])
	}
	return m
}

func (p *parser) has(pattern string) bool { return p.take(p.named[pattern]) != nil }

// try runs a rule and resets the position if it fails.
func (p *parser) try(rule func() bool) bool {
	i := p.i
	if rule() {
		return true
	}
	p.i = i
	return false
}

func (p *parser) next() string {
	m := p.named["word"].FindString(p.s[p.i:min(len(p.s), p.i+maxWindow)])
	return strings.TrimLeftFunc(m, unicode.IsSpace)
}

func (p *parser) goesOn(words string) bool { return slices.Contains(strings.Fields(words), p.next()) }

// follows reports whether one of these words is before what was taken last.
func (p *parser) follows(words string) bool {
	head := strings.TrimRightFunc(p.s[max(0, p.start-maxWindow):p.start], unicode.IsSpace)
	return slices.ContainsFunc(strings.Fields(words), func(w string) bool {
		rest, ok := strings.CutSuffix(head, w)
		return ok && (!isLetter(w[0]) || rest == "" || !isLetter(rest[len(rest)-1]))
	})
}

func isLetter(c byte) bool  { return 'a' <= c && c <= 'z' }
func isDigit(s string) bool { return s != "" && '0' <= s[0] && s[0] <= '9' }

// items reads the phrases. unread is one of which only a part could be read.
func (p *parser) items() (found []item, unread string) {
	for p.i < len(p.s) && len(found) < maxPhrases {
		begin := p.i
		p.has("space")
		it := item{start: p.i}
		ok := p.item(&it)
		it.end = p.i
		if it.event.end == 0 {
			it.event.start, it.event.end = it.end, it.end
		}

		// The hours of a named shift are not known. "before yesterday's crash" does not
		// mean before yesterday.
		owned := (it.prep == before || it.prep == after) && p.owned
		if (it.a.date.set() || it.a.dayless()) && (p.has("named shift") || owned) {
			return nil, p.question[it.start:p.i]
		}
		if ok {
			found = append(found, it)
		} else if p.i = begin; !p.has("word") {
			break
		}
	}

	return found, ""
}

// item reads a preposition, an anchor or two, and in Chinese what follows them.
func (p *parser) item(it *item) bool {
	if m := p.take(p.named["preposition"]); m != nil {
		it.prep = prepositions[strings.Join(strings.Fields(m[0]), " ")]
	}

	// lead is the preposition as read. The cases below may replace it.
	lead := it.prep
	switch {
	case !p.anchor(&it.a):
		return lead.bounds() && lead != between && lead != around && p.event(it)
	case p.upper(it):
	case lead == from && (p.has("onward") || it.a.timed() && it.a.dayless()):
		it.prep = since
	case !lead.bounds():
		p.suffix(it)
	case lead == between:
		return false
	}

	return it.licensed(lead)
}

// licensed reports whether a bare anchor has beside it what makes it a time.
func (it *item) licensed(lead preposition) bool {
	timeOfDay := it.a.timed() || it.a.part.to > 0
	switch {
	case !it.a.bare || it.ranged && !it.b.bare:
		return true
	case it.ranged:
		return it.a.timed() && it.b.timed() || lead != plain
	case it.prep == until:
		// "by night" is a habit.
		return it.a.timed() || it.a.part.to == 0
	}

	return it.prep.bounds() || lead == from || lead == at || lead == in && !timeOfDay
}

// anchor reads atoms that fit together: "14:05, yesterday", "昨天下午3点".
func (p *parser) anchor(a *anchor) (ok bool) {
	if *a, ok = p.atom(); !ok {
		return false
	}

	// Further atoms refine the anchor as long as they fit. try steps back before the first that does not.
	for p.try(func() bool {
		p.has("link")
		next, ok := p.atom()
		if ok {
			next, ok = a.merge(next)
		}
		if ok {
			*a = next
		}

		return ok
	}) {
	}

	p.owned = p.has("possessive")

	return true
}

// atom reads the shortest expression that comes next.
func (p *parser) atom() (a anchor, ok bool) {
	if first := p.next(); !isDigit(first) && !slices.Contains(openers, first) {
		return a, false
	}

	for i, re := range p.rules {
		start := p.i
		if m := p.take(re); m != nil {
			if a, ok = rules[i].read(p, m); ok && !p.follows(rules[i].after) && !p.goesOn(rules[i].before) {
				return a, true
			}
		}
		p.i = start
	}

	return anchor{}, false
}

// upper reads the second anchor of a range and the word that joins it to the first.
func (p *parser) upper(it *item) bool {
	it.ranged = it.prep != before && it.prep != until && it.prep != around && p.try(func() bool {
		m := p.take(p.named["join"])
		if m == nil || (m[1] != "") != (it.prep == between) || !p.anchor(&it.b) {
			return false
		}

		// A dash or a Chinese word also joins a date to its time of day. Those are one anchor, not a range.
		if m[2]+m[3] != "" && it.a.date.set() != it.b.date.set() && it.a.timed() != it.b.timed() {
			return false
		}

		return p.has("end of range") || m[3] == ""
	})

	return it.ranged
}

// event reads on after a preposition whose time comes later.
func (p *parser) event(it *item) bool {
	it.event.start = p.i
	for range maxEvent {
		if r, _ := utf8.DecodeRuneInString(p.next()); unicode.Is(unicode.Han, r) || unicode.IsPunct(r) ||
			!p.has("word") {
			break
		}
		it.event.end = p.i
		if p.try(func() bool {
			certain := p.goesOn("at") && p.has("word")
			return p.anchor(&it.a) && it.a.timed() && (certain || !it.a.bare)
		}) {
			return true
		}
	}
	it.a = anchor{}

	return false
}

// suffix reads a Chinese postposition, also after an event: 14:05崩溃之前.
func (p *parser) suffix(it *item) {
	if strings.HasSuffix(p.s[:p.i], "一点") && it.a.bare { // 慢一点后: a little
		return
	}

	start := p.i
	m := p.take(p.named["postposition"])

	switch {
	case m == nil, m[1] != "" && !it.a.timed():
		p.i = start
	// 前 and 后 alone also begin words for what is in front and behind.
	case len(m[2]) == len("前") &&
		(m[1] != "" || p.goesOn("夹 爪 臂 端 轮 面 方 侧 视 置 进 退 部 排 左 右 天 期 台 续")):
		p.i = start
	default:
		it.prep = postpositions[m[2]]
		if m[1] != "" {
			it.event.start, it.event.end = start, start+len(m[1])
			return
		}
	}

	p.has("within")
}
