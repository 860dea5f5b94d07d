package text

import (
	"sort"
	"strings"
	"unicode"
)

// Tokens estimates how many tokens a language model counts for s, rather too many
// than too few: the estimate is for cl100k_base and o200k_base, the vocabularies
// for which a test compares them. A model's tokenizer needs megabytes of tables.
func Tokens(s string) int {
	eighths, run, last := 0, 0, kind{}

	for _, r := range s {
		k := kindOf(r)
		switch run++; {
		case k == last, last.name == 'A' && k.name == 'a' && run == 2:
			// a capital letter begins a word.
			eighths += k.next
		default:
			run = 1

			eighths += k.first
			switch {
			case last.name == ' ' && k.name == '0':
				// A space before a number is a token.
				eighths += k.first
			case last.name == 'a' && k.name == 'A': // an identifier, base64
				eighths += k.first / 2
			}
		}
		last = k
	}

	return (eighths + 7) / 8
}

// kind is a class of characters: the first one of a run and those after it cost so many
// eighths of a token.
type kind struct {
	name        rune
	first, next int
}

func kindOf(r rune) kind {
	switch {
	case r == ' ':
		// One belongs to the word that follows.
		return kind{' ', 0, 8}
	case 'a' <= r && r <= 'z':
		return kind{'a', 8, 1}
	case 'A' <= r && r <= 'Z':
		return kind{'A', 8, 4}
	case '0' <= r && r <= '9':
		return kind{'0', 8, 3}
	case r < 0x80:
		return kind{'.', 8, 4}
	case unicode.Is(unicode.Cyrillic, r):
		return kind{'u', 6, 6}
	case r < 0x800 && !unicode.Is(unicode.Latin, r):
		return kind{'u', 8, 8}
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return kind{'u', 13, 13}
	}

	return kind{'u', 8 * len(string(r)) / 2, 8 * len(string(r)) / 2}
}

// ClipTokens cuts s to an estimate of n tokens, at a space if one is near.
func ClipTokens(s string, n int) string {
	if Tokens(s) <= n {
		return s
	}
	fits := s[:sort.Search(len(s), func(i int) bool { return Tokens(s[:i+1]) >= n })]
	if at := strings.LastIndexByte(fits, ' '); at > len(fits)*3/4 {
		fits = fits[:at]
	}

	return strings.TrimRight(strings.ToValidUTF8(fits, ""), " ") + "…"
}

// gap stands for what ClipMiddle has cut.
const gap = " … "

// ClipMiddle cuts s to an estimate of n tokens. It cuts in the middle, clauses without a number first:
// the beginning of a fact says what it is about, and its end how it ended.
func ClipMiddle(s string, n int) string {
	if Tokens(s) <= n {
		return s
	}

	clauses := clausesOf(s)
	for len(clauses) > 2 {
		// The longest clause without a number.
		drop := -1

		for i := 1; i < len(clauses)-1; i++ {
			if strings.ContainsAny(clauses[i], "0123456789") || clauses[i] == gap {
				continue
			}
			if drop < 0 || len(clauses[i]) > len(clauses[drop]) {
				drop = i
			}
		}
		if drop < 0 {
			break
		}
		clauses[drop] = gap
		if short := joined(clauses); Tokens(short) <= n {
			return short
		}
	}

	short := joined(clauses)
	if Tokens(short) <= n {
		return short
	}

	// Half of the tokens are for the beginning, half for the end.
	runes := []rune(short)

	head, tail := ClipTokens(short, n/2-1), len(runes)
	for tail > 0 && Tokens(string(runes[tail-1:])) <= n-n/2-1 {
		tail--
	}

	end := string(runes[tail:])
	if at := strings.IndexByte(end, ' '); at >= 0 && at < len(end)/4 {
		end = end[at+1:]
	}

	return strings.TrimSuffix(head, "…") + gap + strings.TrimSpace(end)
}

// clausesOf divides a text after its punctuation. The clauses joined are the text.
func clausesOf(s string) (out []string) {
	start := 0

	for i, r := range s {
		end := i + len(string(r))
		switch {
		case strings.ContainsRune("，。；：！？、", r):
		case strings.ContainsRune(",;:.!?", r) && end < len(s) && s[end] == ' ':
		default:
			continue
		}
		out = append(out, s[start:end])
		start = end
	}

	return append(out, s[start:])
}

// joined returns clauses with one gap for each run of gaps.
func joined(clauses []string) string {
	var b strings.Builder

	last := ""
	for _, c := range clauses {
		if c != gap || last != gap {
			b.WriteString(c)
		}
		last = c
	}

	return strings.ReplaceAll(b.String(), gap+" ", gap)
}
