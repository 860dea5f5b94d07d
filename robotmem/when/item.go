package when

import "strings"

// maxEvent is how many words may stand between a preposition and its time, as
// in "before the crash at 14:05"; maxHanEvent is the same in characters.
const (
	maxEvent    = 6
	maxHanEvent = 8
)

// item reads one phrase: prepositions, an anchor or two, and in Chinese what
// follows them.
func (p *parser) item() (it item, ok bool) {
	it.start = p.i
	lead := p.preposition(&it)
	if !p.anchor(&it.a) {
		if it.prep == plain || it.prep == between || !p.event(&it) {
			p.i = it.start
			return it, false
		}
		it.end = p.i
		return it, true
	}
	ranged := p.upper(&it)
	switch {
	case ranged:
	case it.prep == between:
		p.i = it.start
		return it, false
	case lead == leadFrom && (p.word("on", "onward", "onwards") || it.a.clock.set() && it.a.dayless()):
		it.prep = since
	case it.prep == plain || it.prep == since:
		p.suffix(&it)
	case it.prep != around:
		p.possessed(&it)
	}
	if !it.licensed(lead) {
		p.i = it.start
		return it, false
	}
	it.end = p.i
	return it, true
}

// A lead is what the word before an anchor tells of it where it makes no bound
// of its own.
type lead uint8

const (
	noLead   lead = iota
	leadFrom      // "from": the begin of a range, or the range itself
	leadAt        // "at", "on", "during", 在
	leadIn        // "in", "over", "for": of many uses beside time
)

// licensed reports whether an anchor that could be something else ("14:05",
// "morning", "May") has beside it what makes it a time.
func (it *item) licensed(by lead) bool {
	a := it.a
	timeOfDay := a.clock.set() || a.part.set()
	switch {
	case !a.bare, it.upper != plain && !it.b.bare:
		return true
	case it.upper != plain:
		return a.clock.set() && it.b.clock.set() || it.prep == between || by != noLead
	case !timeOfDay && a.grain == year:
		return it.prep != plain && it.prep != around || by == leadFrom || by == leadIn
	case it.prep == until:
		return a.clock.set() || !a.part.set() // "by night" is a habit
	case it.prep != plain:
		return true
	}
	return by == leadFrom || by == leadAt || by == leadIn && !timeOfDay
}

// preposition takes what stands before an anchor.
func (p *parser) preposition(it *item) lead {
	switch {
	case p.words("up until"), p.words("up to"), p.word("until", "till", "by"), p.han("直到", "截至", "截止到"):
		it.prep = until
	case p.words("prior to"), p.words("earlier than"), p.word("before"):
		it.prep = before
	case p.words("later than"), p.word("after"):
		it.prep = after
	case p.word("since"):
		it.prep = since
	case p.word("around", "about"):
		it.prep = around
	case p.word("between"):
		it.prep = between
	case p.word("from"), p.han("自从", "从", "自"):
		return leadFrom
	case p.word("at", "on", "during"), p.han("在"):
		return leadAt
	case p.word("in", "over", "within", "for"):
		return leadIn
	}
	return noLead
}

// upper reads the second anchor of a range and what joins it to the first.
func (p *parser) upper(it *item) bool {
	ok := p.try(func() bool {
		upper, alike := until, false
		switch {
		case it.prep == between && p.word("and"), it.prep == between && p.sign("&"):
		case it.prep != plain && it.prep != since && it.prep != after:
			return false
		case p.word("to", "until", "till", "through"), p.words("and until"), p.han("到", "至"):
		case p.words("and before"), p.words("but before"), it.prep != plain && p.word("before"):
			upper = before
		case p.sign("-~–—\uff5e"), p.han("和", "与"):
			alike = true
		default:
			return false
		}
		joined := p.peek(-1).text
		if !p.anchor(&it.b) {
			return false
		}
		if alike && it.a.date.set() != it.b.date.set() && it.a.clock.set() != it.b.clock.set() {
			return false
		}
		closed := p.han("之间", "期间", "之前", "以前", "间", "为止")
		it.upper = upper
		return joined != "和" && joined != "与" || closed
	})
	if !ok {
		it.b, it.upper = anchor{}, plain
		return false
	}
	if !it.a.clock.half || !it.b.clock.set() || it.b.clock.half || it.a.date.set() || it.a.part.set() {
		return true
	}
	// "between 2 and 3:30 pm": the second one says the half of the day.
	if of := it.a.clock.of + noon; it.b.clock.of > noon && of <= it.b.clock.of {
		it.a.clock.of = of
	}
	return true
}

// event reads what a preposition is followed by when its time comes later: of
// "before the crash at 14:05" all but the first word. The words of the event
// stay in Rest.
func (p *parser) event(it *item) bool {
	start := p.i
	if it.prep == around {
		return false
	}
	for n := range maxEvent + 1 {
		if n > 0 && p.timeOf(&it.a, &it.event[1]) {
			it.event[0] = start
			return true
		}
		if t := p.peek(0); t.kind == breakToken || t.kind == hanToken {
			break
		}
		p.i++
	}
	p.i, it.event = start, [2]int{}
	return false
}

// timeOf reads the time of an event that ends here: "at 14:05", "yesterday at
// 14:05".
func (p *parser) timeOf(a *anchor, end *int) bool {
	*end = p.i
	return p.try(func() bool {
		at := p.word("at", "around")
		return p.anchor(a) && a.clock.set() && (at || !a.bare)
	})
}

// possessed reads on after "before yesterday's", up to a time of day.
func (p *parser) possessed(it *item) {
	last := p.peek(-1)
	if !it.a.hasDay() || it.a.clock.set() || last.kind != wordToken || last.end-last.start == len(last.text) {
		return
	}
	whole := *it
	if !p.try(func() bool {
		if !p.event(it) {
			return false
		}
		m, ok := whole.a.merge(it.a, p.calendar)
		it.a = m
		return ok
	}) {
		*it = whole
	}
}

// suffix reads the Chinese words that stand behind an anchor as English
// prepositions stand before it, with or without an event in between.
func (p *parser) suffix(it *item) {
	certain := it.a.clock.grain != hour || it.a.hasDay() || it.a.part.set() || !it.a.clock.half || p.peek(-2).text != "一"
	if !certain {
		return
	}
	if it.prep == since {
		p.han("以来", "至今", "到现在", "开始", "起")
		return
	}
	if prep, ok := p.postposition(); ok {
		it.prep = prep
	} else if it.a.clock.set() && it.a.clock.grain != noUnit {
		start := p.i
		for n := 0; n <= maxHanEvent && p.peek(0).kind == hanToken; n++ {
			end := p.i
			if prep, ok := p.behind(); ok && n > 0 {
				it.prep, it.event = prep, [2]int{start, end}
				return
			}
			p.i = end + 1
		}
		p.i = start
	}
	if p.peek(-1).kind == hanToken || p.peek(0).kind == hanToken {
		p.han("期间", "以内", "之内", "内", "里")
		p.han("的")
	}
}

// postposition is a word behind an anchor and what it makes of it.
func (p *parser) postposition() (preposition, bool) {
	if prep, ok := p.behind(); ok {
		return prep, true
	}
	switch {
	case p.han("以来", "至今", "到现在", "开始", "起"):
		return since, true
	case p.han("左右", "前后"):
		return around, true
	case p.han("为止"):
		return until, true
	}
	// 前 and 后 alone also begin words for what is in front and behind.
	if t := p.peek(1); t.kind == hanToken && strings.Contains("夹爪臂端轮面方侧视置进退部排左右天期台续", t.text) {
		return plain, false
	}
	switch {
	case p.han("前"):
		return before, true
	case p.han("后"):
		return after, true
	}
	return plain, false
}

func (p *parser) behind() (preposition, bool) {
	switch {
	case p.han("之前", "以前"):
		return before, true
	case p.han("之后", "以后"):
		return after, true
	}
	return plain, false
}
