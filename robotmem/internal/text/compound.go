package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// compound emits a word that is more than lower-case letters: the whole and
// the parts that somebody may search by.
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

// apostrophe undoes English contractions, so that "doesn't" is found by "not"
// and "robot's" by "robot". Other words are taken apart at the sign.
func (p *scanner) apostrophe(w string, at int) {
	head, tail := w[:at], w[at+1:]
	rest := ""
	if next := strings.IndexAny(tail, "'-/."); next >= 0 {
		tail, rest = tail[:next], tail[next+1:]
	}
	switch fold(tail) {
	case "s", "re", "ll", "ve", "d", "m":
		p.split(head)
	case "t":
		if base, ok := negated(head); ok {
			p.split(base)
			p.emit("not")
			break
		}
		p.split(head)
		p.split(tail)
	default:
		p.split(head)
		p.split(tail)
	}
	for rest != "" { // rare: rock'n'roll, mother's-in-law
		piece := rest
		if next := strings.IndexByte(rest, '\''); next >= 0 {
			piece, rest = rest[:next], rest[next+1:]
		} else {
			rest = ""
		}
		p.split(piece)
	}
}

// negated returns the verb of a word that "n't" was cut from: "do" of "don".
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

// timestamp returns where the T of an ISO 8601 timestamp stands, or 0: its date
// and its time are searched for, hardly ever both.
func timestamp(w string) int {
	for i := len("2026-11-21"); i+1 < len(w) && i < len("+002026-11-21")+1; i++ {
		if w[i]|0x20 == 't' && w[i-3] == '-' && isDigit(w[i-1]) && isDigit(w[i+1]) {
			return i
		}
	}
	return 0
}

// split emits w and, when it has parts, each of them: elements of a path, then
// groups at : and -, then dotted names, then words of snake_case and CamelCase.
// A hyphenation without digits is no name: only its words are emitted.
func (p *scanner) split(w string) {
	w = strings.Trim(w, "./:-_'")
	if w == "" {
		return
	}
	sep := separator(w)
	if sep == 0 {
		p.emit(w)
		p.humps(w)
		return
	}
	if sep != '-' || strings.ContainsAny(w, "0123456789_") {
		p.emit(w)
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

// separator names the sign at which w falls apart first, or 0.
func separator(w string) byte {
	for _, sep := range []byte("/:-._") {
		if strings.IndexByte(w, sep) < 0 {
			continue
		}
		if sep == '.' && decimal(w) {
			return 0
		}
		return sep
	}
	return 0
}

// decimal reports digits with a single point among them.
func decimal(w string) bool {
	points := 0
	for i := 0; i < len(w); i++ {
		if w[i] == '.' {
			points++
		} else if !isDigit(w[i]) {
			return false
		}
	}
	return points == 1
}

// humps emits the words of CamelCase (HTTPServer: http, server) and the halves
// of a numbered name (joint3: joint, 3). Single letters are left out: the "i" of
// iPhone finds nothing that iphone and phone do not.
func (p *scanner) humps(w string) {
	if at := numbered(w); at > 0 {
		p.emit(w[:at])
		p.humps(w[:at])
		p.emit(w[at:])
		return
	}
	start := 0
	var before, prev rune
	for i, r := range w {
		cut := -1
		switch {
		case unicode.IsUpper(r) && (unicode.IsLower(prev) || unicode.IsDigit(prev) && i+1 < len(w)):
			cut = i
		case unicode.IsLower(r) && unicode.IsUpper(prev) && unicode.IsUpper(before) && w[i:] != "s":
			cut = i - utf8.RuneLen(prev) // the capital before r begins a word
		}
		if cut > start {
			p.hump(w[start:cut])
			start = cut
		}
		before, prev = prev, r
	}
	if start > 0 {
		p.hump(w[start:])
	}
}

func (p *scanner) hump(w string) {
	if len(w) > 1 {
		p.emit(w)
	}
}

// numbered returns where the digits of a name like joint3 or ur5e start, or 0.
// One letter before them (v1, h264) is no name of its own.
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
