// Package secrets finds keys, tokens and passwords in free text, by the rules of gitleaks.
package secrets

//go:generate go run ./internal/generate

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Finding is a secret in a text.
type Finding struct {
	Rule  string // the rule of gitleaks, such as github-pat
	About string // what the rule finds, in a sentence
	Start int    // of the secret, in bytes
	End   int
}

// rule is a rule of gitleaks.
type rule struct {
	id, about, pattern string
	group              int     // of the secret; 0 is the first that matched
	entropy            float64 // the least of a secret, in bits for a byte; 0 for any
	keywords           []string
	allows             []allow

	compile sync.Once
	matcher *regexp.Regexp
}

// allow lists matches that are not secrets.
type allow struct {
	all      bool   // both a pattern and a word must fit
	target   string // of the patterns: the secret, or the whole match or line
	words    []string
	patterns []string
}

// masked is the beginning of the text that replaces a secret.
const masked = "[secret: "

// general is the rule for anything that looks like the value of a key. Robots write many such values.
const general = "generic-api-key"

// Find returns the secrets in a text, in its order. A secret that is wrapped over lines is found as well. A text without the
// keywords of any rule costs some microseconds.
func Find(text string) (found []Finding) {
	candidates := candidatesIn(text)
	if candidates == nil {
		return nil
	}
	joined, at := join(text)

	for _, r := range candidates {
		found = r.find(found, text, nil)
		if at != nil {
			found = r.find(found, joined, at)
		}
	}

	slices.SortStableFunc(found, func(a, b Finding) int { return a.Start - b.Start })
	// The first rule that finds a secret names it, and the widest finding remains of those that overlap.
	for i := 1; i < len(found); {
		last := &found[i-1]
		if found[i].Start < last.End {
			last.End = max(last.End, found[i].End)
			if last.Rule == general {
				last.Rule, last.About = found[i].Rule, found[i].About
			}
			found = slices.Delete(found, i, i+1)
		} else {
			i++
		}
	}

	return found
}

// keyword is a word without which a rule finds nothing.
type keyword struct {
	text string
	rule int
}

// keywords has the keywords of all rules by their first two bytes, which all of them have.
var keywords = sync.OnceValue(func() map[[2]byte][]keyword {
	all := map[[2]byte][]keyword{}

	for i, r := range every {
		for _, word := range r.keywords {
			head := [2]byte([]byte(word))
			all[head] = append(all[head], keyword{word, i})
		}
	}

	return all
})

// candidatesIn returns the rules of which a text has a keyword, in their order.
func candidatesIn(text string) (candidates []*rule) {
	lower := strings.ToLower(text)
	all := keywords()

	var numbers []int

	for i := 0; i+2 <= len(lower); i++ {
		for _, word := range all[[2]byte{lower[i], lower[i+1]}] {
			if strings.HasPrefix(lower[i:], word.text) && !slices.Contains(numbers, word.rule) {
				numbers = append(numbers, word.rule)
			}
		}
	}
	slices.Sort(numbers)

	for _, n := range numbers {
		candidates = append(candidates, every[n])
	}

	return candidates
}

// Mask replaces each secret of a text by the name of its rule, and returns what it has found.
func Mask(text string) (string, []Finding) {
	found := Find(text)
	if found == nil {
		return text, nil
	}

	var b strings.Builder

	last := 0
	for _, f := range found {
		b.WriteString(text[last:f.Start])
		b.WriteString(masked + f.Rule + "]")
		last = f.End
	}
	b.WriteString(text[last:])

	return b.String(), found
}

// find adds the secrets that the rule finds. at has the positions of the bytes of a joined text, nil for the text itself.
func (r *rule) find(found []Finding, text string, at []int) []Finding {
	r.compile.Do(func() { r.matcher = regexp.MustCompile(r.pattern) })

	for _, m := range r.matcher.FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		for g := 1; 2*g+1 < len(m); g++ {
			if m[2*g] >= 0 && (r.group == 0 || r.group == g) {
				start, end = m[2*g], m[2*g+1]
				break
			}
		}
		secret, match := text[start:end], text[m[0]:m[1]]
		if secret == "" || strings.HasPrefix(secret, strings.TrimSpace(masked)) || r.entropy > 0 && entropy(secret) <= r.entropy || r.allowed(secret, match, lineOf(text, start, end)) ||
			r.id == general && measured(secret) || r.id == "password" && (spoken.MatchString(secret) || measured(secret)) {
			continue
		}
		if at != nil {
			start, end = at[start], at[end-1]+1
		}
		found = append(found, Finding{r.id, r.about, start, end})
	}

	return found
}

func (r *rule) allowed(secret, match, line string) bool {
	for _, a := range append([]allow{everywhere}, r.allows...) {
		target := secret
		switch a.target {
		case "match":
			target = match
		case "line":
			target = line
		}
		lower := strings.ToLower(secret)
		byPattern := slices.ContainsFunc(a.patterns, func(pattern string) bool { return compiled(pattern).MatchString(target) })
		byWord := slices.ContainsFunc(a.words, func(word string) bool { return strings.Contains(lower, word) })
		if a.all && len(a.patterns) > 0 && len(a.words) > 0 {
			if byPattern && byWord {
				return true
			}
		} else if byPattern || byWord {
			return true
		}
	}

	return false
}

var patterns sync.Map // of *regexp.Regexp by their text

func compiled(pattern string) *regexp.Regexp {
	if known, ok := patterns.Load(pattern); ok {
		return known.(*regexp.Regexp) //nolint:forcetypeassert // nothing else is stored
	}
	made := regexp.MustCompile(pattern)
	patterns.Store(pattern, made)

	return made
}

// number, and identifier, are values that robots write beside words such as key and token: measurements, ids and sums.
var (
	number     = regexp.MustCompile(`^[-+]?[0-9.,:eE+-]+[A-Za-z%°/²]{0,6}$`)
	identifier = regexp.MustCompile(`(?i)^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|/?[a-z0-9_.-]+(?:/[a-z0-9_.-]+)+)$`)
)

func measured(secret string) bool {
	return number.MatchString(secret) || identifier.MatchString(secret)
}

// entropy is that of Shannon, in bits for a byte.
func entropy(s string) (bits float64) {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}

	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}

	return bits
}

func lineOf(text string, start, end int) string {
	first := strings.LastIndexByte(text[:start], '\n') + 1
	if n := strings.IndexByte(text[end:], '\n'); n >= 0 {
		return text[first : end+n]
	}
	return text[first:]
}

// wrapped matches a break of a line in the middle of what may be a token, with a backslash of a shell.
var wrapped = regexp.MustCompile(`([A-Za-z0-9_+/=-])\\?\r?\n[ \t]*([A-Za-z0-9_+/=-])`)

// join returns a text without the breaks of lines that may be in a token, and the position of each of its bytes in the
// text. Both are empty for a text without any.
func join(text string) (joined string, at []int) {
	breaks := wrapped.FindAllStringSubmatchIndex(text, -1)
	if breaks == nil {
		return "", nil
	}

	var b strings.Builder
	last := 0

	keep := func(to int) {
		for i := last; i < to; i++ {
			at = append(at, i)
		}
		b.WriteString(text[last:to])
	}
	for _, m := range breaks {
		keep(m[3])
		last = m[4]
	}
	keep(len(text))

	return b.String(), at
}
