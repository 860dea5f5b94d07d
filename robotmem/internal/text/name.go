package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A number is bound by a sign (= : < >) or by a verb (is, was, of, at, to, 设为,
// 是) to what stands before: one identifier, or two plain words.

var binders = wordSet(`is was are were be of at to equals`)

// skippedVerbs stand between the name and "to" or "is", or before the name:
// "speed was limited to 0.5", "set speed to 0.5".
var skippedVerbs = wordSet(`set sets reset limited limit changed change increased increase reduced reduce
	raised raise lowered lower decreased decrease adjusted adjust capped moved kept keep use using was is be been
	now still never always not should must can`)

var hedges = wordSet(`about around approximately roughly exactly nearly almost only just`)

var hanHedges = []string{"大约", "约", "大概"}

var hanBinders = []string{
	"设置为", "设定为", "调整为", "调整到", "限制为", "设为", "调到", "降到", "升到", "等于", "為", "为", "是", "至", "到",
}

const (
	maxNameBytes    = 48
	maxHanNameRunes = 8
)

// nameBefore returns the name that binds the number at i, or "".
func nameBefore(s string, i int) string {
	i = skipBack(s, i, " \t[({\"'~")
	for {
		start := wordStart(s, i)
		if _, ok := hedges[fold(s[start:i])]; !ok {
			break
		}
		i = skipBack(s, start, " \t")
	}
	i = trimHan(s, i, hanHedges)
	if i == 0 {
		return ""
	}
	if at := skipSigns(s, i); at < i {
		return words(s, skipBack(s, at, " \t\"'"))
	}
	if at := trimHan(s, i, hanBinders); at < i {
		return words(s, skipBack(s, at, " \t"))
	}
	start := wordStart(s, i)
	if _, ok := binders[fold(s[start:i])]; !ok || start == i {
		return ""
	}
	return words(s, skipBack(s, start, " \t"))
}

// words reads the name that ends at i.
func words(s string, i int) string {
	var start int
	for range 3 {
		start = wordStart(s, i)
		if _, ok := skippedVerbs[fold(s[start:i])]; !ok {
			break
		}
		i = skipBack(s, start, " \t")
	}
	if start == i {
		return hanName(s, i)
	}
	last := strings.TrimRight(s[start:i], "_")
	if c, _ := classAt(last, 0); c != letter || Stop(fold(last)) {
		return ""
	}
	name := snake(last)
	if strings.Contains(name, "_") || start == 0 || s[start-1] != ' ' {
		return name
	}
	before := wordStart(s, start-1)
	first := fold(s[before : start-1])
	if c, _ := classAt(first, 0); c != letter || Stop(first) {
		return name
	}
	if _, verb := skippedVerbs[first]; verb {
		return name
	}
	return first + "_" + name
}

// hanName reads the Chinese words that end at i, less the particles that lead
// to them.
func hanName(s string, i int) string {
	start := i
	for range maxHanNameRunes {
		r, n := utf8.DecodeLastRuneInString(s[:start])
		if n == 0 || classOf(r) != han {
			break
		}
		start -= n
	}
	name := s[start:i]
	for _, lead := range []string{"把", "将", "將", "的"} {
		if at := strings.LastIndex(name, lead); at >= 0 && at+len(lead) < len(name) {
			name = name[at+len(lead):]
		}
	}
	return name
}

// wordStart returns where the word that ends at i starts. The scan is bounded,
// so that many numbers in a long text stay cheap.
func wordStart(s string, i int) int {
	low := max(0, i-maxNameBytes)
	for i > low {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		if c := classOf(r); c != letter && c != digit {
			break
		}
		i -= n
	}
	return i
}

func skipBack(s string, i int, set string) int {
	low := max(0, i-maxNameBytes)
	for i > low && strings.IndexByte(set, s[i-1]) >= 0 {
		i--
	}
	return i
}

// skipSigns steps back over =, :=, <= and their like.
func skipSigns(s string, i int) int {
	for range 3 {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		if !strings.ContainsRune("=:<>≤≥≈", r) || n == 0 {
			break
		}
		i -= n
	}
	return i
}

// trimHan steps back over the first ending that fits.
func trimHan(s string, i int, endings []string) int {
	for _, e := range endings {
		if strings.HasSuffix(s[:i], e) {
			return i - len(e)
		}
	}
	return i
}

// snake spells an identifier in lower snake case.
func snake(w string) string {
	var b strings.Builder
	prev := rune('_')
	for _, r := range w {
		if unicode.IsUpper(r) && unicode.IsLower(prev) {
			b.WriteByte('_')
		}
		b.WriteRune(foldRune(r))
		prev = r
	}
	return b.String()
}
