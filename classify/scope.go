package classify

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

const (
	maxScope = 32   // files and entities that are kept of one text, each
	maxTries = 1024 // words of one text that are compared with the scope rules
	maxWord  = 256  // bytes; no path or name that a person writes is longer
	maxSpan  = 200  // bytes between two backticks
)

// scopeRule recognizes one kind of name. Its expression matches whole words.
type scopeRule struct {
	file    bool // to ScopeFiles, not to ScopeEntities
	needs   shape
	endings map[string]bool // what may follow the last dot; if empty, anything
	except  map[string]bool // whole words, lower case
	mark    int32           // what it signals, an index into markTexts; -1 is nothing
	re      *regexp.Regexp
}

// shape is what makes a word look like code. Expressions run only on words with a shape.
type shape uint8

const (
	shapeUnderscore shape = 1 << iota
	shapeSlash
	shapeDot
	shapeCapital // a capital after a small letter or a digit
	shapeCall    // an opening parenthesis follows
	shapeSpan    // a code span
)

// shapeOf is the notation of shapes in a file's "needs".
var shapeOf = map[rune]shape{
	'_': shapeUnderscore, '/': shapeSlash, '.': shapeDot, 'A': shapeCapital, '(': shapeCall, '`': shapeSpan,
}

// wordByte are the bytes of a word of code, with the shape that each adds.
var wordByte = func() (t [256]struct {
	in    bool
	shape shape
}) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-~+@_/." {
		t[c].in = true
	}
	t['_'].shape, t['/'].shape, t['.'].shape = shapeUnderscore, shapeSlash, shapeDot
	return t
}()

// names is a list without doubles that stops growing at maxScope.
type names []string

func (n *names) add(s string) {
	if len(*n) < maxScope && !slices.Contains(*n, s) {
		// Do not hold on to the whole text.
		*n = append(*n, strings.Clone(s))
	}
}

// findScope collects files, entities and marks from the text's words.
func (m *run) findScope() {
	s := m.content
	for i := 0; i < len(s) && m.tries < maxTries; {
		switch {
		case wordByte[s[i]].in:
			i = m.word(i)
		case s[i] == '`':
			i = m.span(i)
		case s[i] == ':' && strings.HasPrefix(s[i:], "://"):
			if n := strings.IndexAny(s[i:], " \t\r\n\"'<>)，。"); n >= 0 {
				i += n
			} else {
				i = len(s)
			}
		default:
			i++
		}
	}

	// A span comes before the words inside it, but ends after them.
	slices.SortStableFunc(m.marks, func(a, b mark) int { return cmp.Compare(a.end, b.end) })
}

// word tries the word that starts at i and returns where the text goes on.
func (m *run) word(i int) int {
	s, from := m.content, i

	var looks shape
	for ; i < len(s) && wordByte[s[i]].in; i++ {
		looks |= wordByte[s[i]].shape
		if 'A' <= s[i] && s[i] <= 'Z' && i > from && s[i-1] >= '0' && (s[i-1] <= '9' || s[i-1] >= 'a') {
			looks |= shapeCapital
		}
	}

	end := i
	for end > from && strings.IndexByte(".-/+@~", s[end-1]) >= 0 {
		end--
	}

	from = trimFront(s, from, end)
	after := end
	if end == i && i < len(s) && s[i] == '(' {
		looks |= shapeCall
		after++
		if strings.HasPrefix(s[i:], "()") {
			after++
		}
	}

	if looks == 0 || from == end {
		return i
	}
	if !m.try(from, end, after, looks) && looks&(shapeUnderscore|shapeCapital) != 0 {
		m.pieces(from, end)
	}

	return i
}

// trimFront removes punctuation before a word, but not the dots of ./run.sh and .bashrc.
func trimFront(s string, from, end int) int {
	for from < end && strings.IndexByte("-+@", s[from]) >= 0 {
		from++
	}

	dots := from
	for dots < end && s[dots] == '.' {
		dots++
	}
	if n := dots - from; n > 2 || n == 2 && (dots == end || s[dots] != '/') {
		from = dots
	}

	return from
}

// pieces tries the parts of a compound such as left_arm/right_arm.
func (m *run) pieces(from, end int) {
	for at := from; at <= end; at++ {
		if at < end && strings.IndexByte("/-+@~", m.content[at]) < 0 {
			continue
		}
		if from < at {
			m.try(from, at, at, shapeUnderscore|shapeCapital|shapeDot)
		}
		from = at + 1
	}
}

// try gives the word [from, end) to the first rule that matches; rules for calls see it up to after.
func (m *run) try(from, end, after int, looks shape) bool {
	rule, value := m.lookup(from, end, after, looks)
	if rule == nil {
		return false
	}
	m.found(rule, value, from, end)
	return true
}

func (m *run) lookup(from, end, after int, looks shape) (*scopeRule, string) {
	if end-from > maxWord || m.tries == maxTries {
		return nil, ""
	}

	m.tries++
	for i := range m.scope {
		rule := &m.scope[i]
		if rule.needs&looks == 0 {
			continue
		}
		word := m.content[from:end]
		if rule.needs&shapeCall != 0 {
			word = m.content[from:after]
		}
		if value, ok := rule.match(word); ok {
			return rule, value
		}
	}

	return nil, ""
}

// match returns the first group that is not empty, or the word if the rule has no groups.
func (r *scopeRule) match(word string) (string, bool) {
	if len(r.endings) > 0 && !r.endings[strings.ToLower(word[strings.LastIndexByte(word, '.')+1:])] {
		return "", false
	}
	if !r.re.MatchString(word) || len(r.except) > 0 && r.except[strings.ToLower(word)] {
		return "", false
	}
	if r.re.NumSubexp() == 0 {
		return word, true
	}

	for _, group := range r.re.FindStringSubmatch(word)[1:] {
		if group != "" {
			return group, true
		}
	}

	return "", true
}

func (m *run) found(rule *scopeRule, value string, from, end int) {
	m.matches++

	switch {
	case value == "":
	case rule.file:
		m.files.add(value)
	default:
		m.entities.add(value)
	}
	if rule.mark >= 0 {
		m.signals[rule.mark] = true
		m.marks = append(m.marks, mark{rule.mark, from, end})
	}
}

// span handles the backtick at i. A single word in a span is tried like other words, and the span
// is a name only if no rule knows the word. A longer span is a name, and its words are tried too.
func (m *run) span(i int) int {
	s, open := m.content, i
	for i < len(s) && s[i] == '`' {
		i++
	}

	// A fence, or an empty span.
	if i-open > 1 {
		m.try(open, i, i, shapeSpan)
		return i
	}

	window := s[i:min(len(s), i+maxSpan)]
	n := strings.IndexAny(window, "`\n")
	if n < 1 || window[n] != '`' {
		return i
	}

	end := i + n + 1
	if strings.ContainsAny(strings.TrimSpace(window[:n]), " \t") {
		m.try(open, end, end, shapeSpan)
		m.words(i, end-1)
		return end
	}

	known := m.words(i, end-1)
	if rule, value := m.lookup(open, end, end, shapeSpan); rule != nil {
		if known {
			value = ""
		}
		m.found(rule, value, open, end)
	}

	return end
}

// words tries the words in [from, to) and reports whether a rule knew one.
func (m *run) words(from, to int) bool {
	before := m.matches
	for from < to {
		if wordByte[m.content[from]].in {
			from = m.word(from)
		} else {
			from++
		}
	}

	return m.matches > before
}
