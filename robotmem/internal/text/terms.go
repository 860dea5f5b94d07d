package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tokenize is the tokenizer clause of an FTS5 table that holds Index texts. Marks count as word
// characters so that Indic vowel signs do not split words. The token characters are those that
// Terms puts into identifiers and numbers. The clause contains no double quotes:
//
//	CREATE VIRTUAL TABLE t USING fts5(body, tokenize = "<Tokenize>")
const Tokenize = `porter unicode61 remove_diacritics 2 categories 'L* N* Mn Mc' tokenchars '._/:-'`

// Terms returns the search terms of s in text order: lower case, unstemmed, with repetitions,
// each at most 64 bytes. A compound gives the whole and its parts, a number its value, its unit
// and both together. Every term is one token of FTS5 under Tokenize. Any input is allowed.
func Terms(s string) []string {
	p := scanner{s: normalize(s)}
	p.out = make([]string, 0, len(p.s)/5+4)
	p.scan()
	return p.out
}

// Stems returns the stems of BaseTerms, other than stop words, sorted and each once.
func Stems(s string) []string {
	var stems []string

	for _, t := range BaseTerms(s) {
		if !Stop(t) {
			stems = append(stems, Stem(t))
		}
	}
	slices.Sort(stems)

	return slices.Compact(stems)
}

// BaseTerms returns Terms with every number that has a unit in the canonical unit of
// its dimension, to compare texts that use different units. It is not for the index.
func BaseTerms(s string) []string {
	p := scanner{s: normalize(s), base: true}
	p.scan()
	return p.out
}

// Query returns the distinct terms of a question, the stop words separately. Two terms
// with the same stem count as one. Search for content, and for stop only if content is
// empty. All of them are terms of Terms(s).
func Query(s string) (content, stop []string) {
	p := scanner{s: normalize(s), question: true}

	// A text with kana is Japanese, whose ideographs the Chinese dictionary does not know.
	p.chinese = !strings.ContainsFunc(p.s, func(r rune) bool {
		return unicode.In(r, unicode.Hiragana, unicode.Katakana)
	})
	p.scan()
	seen := make(map[string]bool, len(p.out)+len(p.stop))

	fresh := func(t string) bool {
		stem := Stem(t)
		known := seen[stem]
		seen[stem] = true
		return !known
	}
	for _, t := range p.out {
		switch {
		case !fresh(t):
		case Stop(t):
			stop = append(stop, t)
		default:
			content = append(content, t)
		}
	}

	for _, t := range p.stop {
		if fresh(t) {
			stop = append(stop, t)
		}
	}

	return content, stop
}

// scanner reads a normalized text once and collects its terms.
type scanner struct {
	s        string
	out      []string
	question bool // pairs stand for their characters, except of short runs
	chinese  bool // a question without kana: Chinese stop words are separated
	base     bool // numbers with units are converted

	sequence bool // words for Sequence: with diacritics and symbols, numbers once
	exact    bool // of Sequence: the next word keeps its case

	others      bool // collect equivalents of numbers with units
	equivalents []Equivalent
	stop        []string // terms of Chinese stop words
}

func (p *scanner) emit(w string) {
	switch {
	case p.exact:
		p.exact = false
	case !p.sequence:
		w = fold(w)
	case w != "A" || len(p.out) == 0:
		// A single capital A within a text, as in "bin A", is a name and not the article.
		w = strings.ToLower(w)
	}
	p.out = append(p.out, w)
}

func (p *scanner) scan() {
	for i := 0; i < len(p.s); {
		c, n := classAt(p.s, i)
		switch c {
		case digit:
			i = p.number(i)
		case letter:
			// An underscore between words belongs to no word.
			if p.s[i] == '_' {
				i++
				continue
			}
			i = p.word(i)
		case han, unspace:
			i = p.unspaced(i, c)
		default:
			if startsNumber(p.s, i) {
				i = p.number(i)
				continue
			}
			if p.sequence && symbol(p.s, i, n) || !p.sequence && emoji(p.s[i:i+n]) {
				p.emit(p.s[i : i+n])
			}
			i += n
		}
	}
}

// word reads the word, path, dotted name or hyphenation that starts with the letter or
// digit at i and returns its end.
func (p *scanner) word(i int) int {
	s, start := p.s, i
	plain := true // lower-case letters only, except that the first may be a capital

	for i < len(s) {
		c, n := classAt(s, i)
		switch {
		case c == letter:
			if s[i] == '_' || i > start && (s[i] < 'a' || s[i] > 'z') {
				plain = false
			}
		case c == digit:
			plain = false
		case c == other && joins(s, i):
			plain = false
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		i += n
	}

	// Most words need no analysis of their parts.
	if plain {
		p.emit(s[start:i])
	} else {
		p.compound(strings.TrimRight(s[start:i], "_"))
	}

	return p.nameSigns(start, i)
}

// signNames are how the signs of a name are spelt in a term, which no tokenizer may split: C# is csharp.
var signNames = map[string]string{"#": "sharp", "++": "plusplus", "*": "star"}

// emoji reports whether a character is a picture, which is searched like a word.
func emoji(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= 0x2600 && r <= 0x27BF || r >= 0x1F300 && r <= 0x1FAFF
}

// nameSigns emits the signs after the word from start to i that belong to its name, as in C++, C#, A*
// and R-, and returns the end of them. Around a word the same signs are markup: *now*.
func (p *scanner) nameSigns(start, i int) int {
	end := i
	for end < len(p.s) && strings.IndexByte("#*+-", p.s[end]) >= 0 {
		end++
	}

	// The same sign on both sides is markup.
	if end == i || start > 0 && p.s[start-1] == p.s[i] {
		return i
	}

	if c, _ := classAt(p.s, end); c == letter || c == digit {
		// The sign joins two words, as in C-rail and a+b.
		return i
	}

	if p.sequence {
		p.emit(p.s[i:end])
		return end
	}

	if name := signNames[p.s[i:end]]; name != "" && isASCII(p.s[start:i]) {
		p.emit(p.s[start:i] + name)
	}

	return i
}

// joins reports whether the ASCII sign at i joins two parts of a word. A colon does so
// between digits only (14:05), where a sentence has none.
func joins(s string, i int) bool {
	switch s[i] {
	case '.', '/', '-', '\'':
	case ':':
		if i == 0 || !isDigit(s[i-1]) || i+1 >= len(s) || !isDigit(s[i+1]) {
			return false
		}
	default:
		return false
	}
	c, _ := classAt(s, i+1)

	return c == letter || c == digit
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// compound emits a word that is not only lower-case letters: the whole and the parts
// that a search may use.
func (p *scanner) compound(w string) {
	if at := strings.IndexByte(w, '\''); at >= 0 {
		p.apostrophe(w, at)
		return
	}
	if at := timestamp(w); at > 0 {
		p.split(w[:at])
		p.split(strings.TrimSuffix(w[at+1:], "Z"))
		return
	}
	p.split(w)
}

// apostrophe resolves English contractions, so that "not" finds "doesn't" and "robot"
// finds "robot's". Other words are split at the sign.
func (p *scanner) apostrophe(w string, at int) {
	head, tail := w[:at], w[at+1:]

	// The contraction ends at the next sign. The rest is split apart from it.
	rest := ""
	if next := strings.IndexAny(tail, "'-/."); next >= 0 {
		tail, rest = tail[:next], tail[next+1:]
	}

	switch fold(tail) {
	case "s", "re", "ll", "ve", "d", "m":
		p.split(head)
		if p.sequence { // it'll is not it'd
			p.emit(tail)
		}
	case "t":
		// The negation becomes a term of its own, so that "not" finds it.
		if base, ok := negated(head); ok {
			p.split(base)
			p.emit("not")
			break
		}
		fallthrough
	default:
		p.split(head)
		p.split(tail)
	}

	for piece := range strings.SplitSeq(rest, "'") { // rare: rock'n'roll, mother's-in-law
		p.split(piece)
	}
}

// negated returns the verb of a word without its "n't": "do" of "don".
func negated(head string) (string, bool) {
	switch fold(head) {
	case "can":
		return "can", true
	case "won":
		return "will", true
	case "shan":
		return "shall", true
	}
	if n := len(head); n > 2 && head[n-1]|0x20 == 'n' {
		return head[:n-1], true
	}

	return "", false
}

// timestamp returns the offset of the T of an ISO 8601 timestamp, or 0. Its date and
// its time are separate terms.
func timestamp(w string) int {
	for i := len("2026-11-21"); i+1 < len(w) && i < len("+002026-11-21")+1; i++ {
		if w[i]|0x20 == 't' && w[i-3] == '-' && isDigit(w[i-1]) && isDigit(w[i+1]) {
			return i
		}
	}
	return 0
}

// split emits w and each of its parts: elements of a path, then groups at : and -, then
// dotted names, then words of snake_case and CamelCase. A hyphenation without digits
// is no name: only its words are emitted.
func (p *scanner) split(w string) {
	w = strings.Trim(w, "./:-_'")
	if w == "" {
		return
	}

	sep := separator(w)
	if sep == 0 {
		p.emit(w)
		p.camelCase(w)
		return
	}

	if sep != '-' || strings.ContainsAny(w, "0123456789_") {
		p.emit(w)
	}

	// AX-12 is also indexed as ax12, because a question may spell it so. A question with a hyphen needs no second form.
	whole := strings.NewReplacer("-", "", "_", "").Replace(w)
	isIndexed := !p.sequence && (!p.question || strings.Contains(w, "_"))
	if isIndexed && len(whole) < len(w) && identifies(whole) {
		p.emit(whole)
	}

	if sep == ':' {
		if last := strings.LastIndexByte(w, ':'); last != strings.IndexByte(w, ':') {
			p.emit(w[:last]) // 14:05 of 14:05:30
		}
	}

	for part := range strings.SplitSeq(w, string(sep)) {
		p.split(part)
	}
}

// identifies reports whether a word is letters and then digits, as names of parts are.
func identifies(w string) bool {
	digits := strings.TrimLeft(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
	return len(digits) > 0 && len(digits) < len(w) && strings.Trim(digits, "0123456789") == ""
}

// separator returns the sign at which w is split first, or 0.
func separator(w string) byte {
	for _, sep := range []byte("/:-._") {
		if strings.IndexByte(w, sep) < 0 {
			continue
		}
		if sep == '.' && strings.Trim(w, "0123456789") == "." { // a decimal
			return 0
		}

		return sep
	}

	return 0
}

// camelCase emits the words of CamelCase (HTTPServer: http, server) and the halves of a
// numbered name (joint3: joint, 3). Single letters are omitted: the "i" of iPhone finds
// nothing that iphone and phone do not find.
func (p *scanner) camelCase(w string) {
	if at := numbered(w); at > 0 {
		p.emit(w[:at])
		p.camelCase(w[:at])
		p.emit(w[at:])
		return
	}

	start := 0

	// Two runes are remembered: in HTTPServer only the lower-case e shows that the S before it starts a word.
	var before, prev rune

	for i, r := range w {
		cut := -1

		switch {
		case unicode.IsUpper(r) && (unicode.IsLower(prev) || unicode.IsDigit(prev) && i+1 < len(w)):
			cut = i
		case unicode.IsLower(r) && unicode.IsUpper(prev) && unicode.IsUpper(before) && w[i:] != "s":
			// The capital before r starts a word.
			cut = i - utf8.RuneLen(prev)
		}
		if cut > start {
			p.emitPart(w[start:cut])
			start = cut
		}
		before, prev = prev, r
	}

	if start > 0 {
		p.emitPart(w[start:])
	}
}

func (p *scanner) emitPart(w string) {
	if len(w) > 1 {
		p.emit(w)
	}
}

// numbered returns the offset of the digits of a name like joint3 or ur5e, or 0. A single
// letter before them (v1, h264) is no name.
func numbered(w string) int {
	i := 0
	for i < len(w) && ascii[w[i]&0x7f] == letter && w[i] < utf8.RuneSelf {
		i++
	}

	j := i
	for j < len(w) && isDigit(w[j]) {
		j++
	}
	if i < 2 || j == i || len(w)-j > 1 {
		return 0
	}

	return i
}

// Scripts without spaces are indexed by each character and each pair of neighbours. That needs no
// dictionary: traditional characters, names and misspellings work like any other text, a word of
// one or two characters is found anywhere, and no update of a dictionary makes an index stale.
//
// Dictionary words in addition were tried and did not find more (docs/explanation/text.md). A segmentation
// helps for the question: "夹爪的力是多少" asks for 夹爪 and 力. Only with word boundaries can 的 and 多少 be
// recognised as stop words and removed with the pairs 爪的, 的力, 力是 and 是多.

// In kana and Hangul most characters are part of many words. A question asks for those of
// a short run only: a Korean noun may be one of them, before a particle.

// pairsAlone is the length of a run in a question, in characters, that is asked by pairs.
const pairsAlone = 3

// unspaced emits the run of class c at i and returns its end.
func (p *scanner) unspaced(i int, c runeClass) int {
	start := i
	for i < len(p.s) {
		next, n := classAt(p.s, i)
		if next != c {
			break
		}
		i += n
	}

	run := p.s[start:i]
	switch {
	case p.sequence:
		p.out = append(p.out, strings.Split(run, "")...)
	case c == han && p.chinese:
		p.queryRun(run)
	default:
		// In a longer run of kana or Hangul a question drops the single characters, which are part of many words.
		from := len(p.out)
		p.pairs(run, 0, len(run), len(run))
		if p.question && c == unspace && len(p.out)-from >= 2*pairsAlone-1 {
			isSingle := func(w string) bool { return utf8.RuneCountInString(w) == 1 }
			pairs := slices.DeleteFunc(p.out[from:], isSingle)
			p.out = p.out[:from+len(pairs)]
		}
	}

	return i
}

// pairs emits the characters of run from i to end, and after each its pair with the
// next unless that ends after limit.
func (p *scanner) pairs(run string, i, end, limit int) {
	for i < end {
		_, n := utf8.DecodeRuneInString(run[i:])
		p.out = append(p.out, run[i:i+n])
		if next := i + n; next < limit {
			_, m := utf8.DecodeRuneInString(run[next:])
			p.out = append(p.out, run[i:next+m])
		}
		i += n
	}
}

// queryRun emits a Chinese run of a question. Characters and pairs of stop words go to p.stop.
func (p *scanner) queryRun(run string) {
	for len(run) > 0 {
		cut := min(len(run), maxSegmented)
		for cut < len(run) && !utf8.RuneStart(run[cut]) {
			cut++
		}

		words := segment(run[:cut])
		start := 0

		for i, w := range words {
			end := start + len(w)

			// A pair must not reach into a stop word: it would ask for a character that the question does not mean.
			limit := cut
			if i+1 < len(words) && Stop(words[i+1]) {
				limit = end
			}
			if Stop(w) {
				before := len(p.out)
				p.pairs(run, start, end, end)
				p.stop = append(p.stop, p.out[before:]...)
				p.out = p.out[:before]
			} else {
				p.pairs(run, start, end, limit)
			}
			start = end
		}
		run = run[cut:]
	}
}
