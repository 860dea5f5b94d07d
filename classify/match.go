package classify

// maxKept is the longest text in bytes whose buffers are kept for the next call.
const maxKept = 1 << 20

// run holds the state of one Classify. It is reused through Rules.runs.
type run struct {
	*Rules
	content string
	text    []byte  // content in lower case, offset by offset the same
	ends    []int32 // ends of sentences

	// The current sentence; hits arrive in text order, so it only advances.
	sentence, from, lead int

	proved   []bool // by target
	progress []step // by part of a pattern

	signals         [2]bool // by mark
	files, entities names
	marks           []mark
	tries, matches  int // words compared with the scope rules, and how many matched
}

// step is the last match of a part of a sequence. Of a regular expression, the sentence tried.
type step struct {
	end      int
	sentence int // from 1; 0 is never
}

// mark is a section of text that a scope rule recognized as <file> or <code>.
type mark struct {
	literal    int32
	start, end int
}

func (m *run) start(content string) {
	m.content = content
	m.text = fold(m.text, content)
	m.ends = sentences(m.ends, m.text)
	m.sentence, m.from = 0, 0
	m.lead = lead(m.text, 0, int(m.ends[0]))
	clear(m.proved)
	clear(m.progress)
	m.signals, m.tries, m.matches = [2]bool{}, 0, 0
	m.files, m.entities = names{}, names{}
	m.marks = m.marks[:0]
}

// match runs the automaton and merges its hits with the marks, by their ends.
func (m *run) match() {
	next := 0
	m.auto().scan(m.text, func(id int32, end int) {
		for next < len(m.marks) && m.marks[next].end <= end {
			m.markHit(m.marks[next])
			next++
		}
		m.hit(id+int32(len(markTexts)), end)
	})

	for ; next < len(m.marks); next++ {
		m.markHit(m.marks[next])
	}
}

func (m *run) markHit(k mark) {
	m.seek(k.end)

	for _, u := range m.uses[k.literal] {
		m.advance(&m.patterns[u.pattern], u.part, k.start, k.end)
	}
}

// hit handles an occurrence of a literal that ends at end.
func (m *run) hit(literal int32, end int) {
	start := -1

	var before, after edge

	for i := range m.uses[literal] {
		u := &m.uses[literal][i]
		p := &m.patterns[u.pattern]
		if m.proved[p.target] {
			continue
		}
		if start < 0 {
			start = startOf(m.text, end, m.literals[literal])
			before, after = m.edges(literal, start, end)
			m.seek(end)
		}
		if m.guarded(u.guards, start) {
			continue
		}
		if p.re != nil {
			m.tryRegexp(p)
			continue
		}
		if !p.fits(before, after) || u.part == 0 && p.starts && start != m.lead {
			continue
		}
		m.advance(p, u.part, start, end)
	}
}

// edges returns the edges of a hit. A side on which the literal has no letter of a word is open.
func (m *run) edges(literal int32, start, end int) (before, after edge) {
	l := m.literals[literal]
	if edgeAfter([]byte(l), 0) == edgeInner {
		before = edgeBefore(m.text, start)
	}
	if edgeBefore([]byte(l), len(l)) == edgeInner {
		after = edgeAfter(m.text, end)
	}

	return before, after
}

func (p *pattern) fits(before, after edge) bool {
	if before == edgeInner || after == edgeInner {
		return false
	}
	if !p.names && (before == edgeName || after == edgeName) {
		return false
	}
	// "Always-on" at the start of a sentence is a name, not a rule.
	return !p.starts || after != edgeDash
}

func (m *run) guarded(guards []guard, start int) bool {
	for _, g := range guards {
		from := start - g.before
		to := from + len(g.text)
		if from >= 0 && to <= len(m.text) && string(m.text[from:to]) == g.text {
			return true
		}
	}

	return false
}

// advance records that a part of p is at [start, end), if the part before it is near enough in the
// same sentence.
func (m *run) advance(p *pattern, part int32, start, end int) {
	here := m.sentence + 1
	if part > 0 {
		prev := m.progress[p.first+part-1]
		if prev.sentence != here || start < prev.end || start-prev.end > int(p.gap) {
			return
		}
	}
	if part == p.parts-1 {
		m.proved[p.target] = true
		return
	}
	m.progress[p.first+part] = step{end: end, sentence: here}
}

// tryRegexp tries p on the current sentence, once.
func (m *run) tryRegexp(p *pattern) {
	tried := &m.progress[p.first]
	if tried.sentence == m.sentence+1 {
		return
	}
	tried.sentence = m.sentence + 1
	if p.re.MatchString(m.content[m.from:m.ends[m.sentence]]) {
		m.proved[p.target] = true
	}
}

// seek makes the sentence that holds the byte before end the current one.
func (m *run) seek(end int) {
	if end <= int(m.ends[m.sentence]) {
		return
	}

	for end > int(m.ends[m.sentence]) {
		m.from = int(m.ends[m.sentence])
		m.sentence++
	}
	m.lead = lead(m.text, m.from, int(m.ends[m.sentence]))
}
