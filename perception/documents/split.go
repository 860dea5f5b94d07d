package documents

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Characters of a passage.
const (
	leastSection = 80   // a shorter section goes on over the next heading
	leastPassage = 200  // a shorter passage goes on in its section
	goodPassage  = 800  // after which a new one begins
	mostPassage  = 1200 // which only a single row, item or line of code may reach
)

// unit is what is never torn: a sentence, an item, a row, a line of code.
type unit struct {
	text       string
	runes      int
	page, last int
	joint      string // what stands before it in the same passage
	bound      bool   // the passage should go on with it: the next sentence of a paragraph, the next item of a list
}

// split divides the blocks of a document into passages.
func split(b *blocks) ([]Passage, error) {
	s := &splitter{}

	for i := range b.list {
		one := &b.list[i]
		if one.kind == heading {
			s.heading(one)
			continue
		}

		for _, u := range unitsOf(one, i > 0 && b.list[i-1].kind == one.kind) {
			s.add(u)
		}

		if len(s.out) > b.limits.Passages {
			return nil, fmt.Errorf("%w: it has over %d passages; split it", ErrTooLarge, b.limits.Passages)
		}
		if i%1024 == 0 && b.ctx.Err() != nil {
			return nil, b.ctx.Err()
		}
	}
	s.flush()

	return s.out, nil
}

type splitter struct {
	out   []Passage
	path  []string // the headings above what comes next
	level []int    // of each

	text       strings.Builder
	runes      int
	page, last int
	section    []string
}

// heading begins a section. A short passage joins the one before it in its section, or goes on with the heading in its
// text.
func (s *splitter) heading(h *block) {
	for len(s.level) > 0 && s.level[len(s.level)-1] >= h.level {
		s.level, s.path = s.level[:len(s.level)-1], s.path[:len(s.path)-1]
	}
	s.level, s.path = append(s.level, h.level), append(slices.Clip(s.path), h.text)

	switch last := len(s.out) - 1; {
	case s.runes >= leastPassage:
		s.flush()
	case s.runes > 0 && last >= 0 && slices.Equal(s.out[last].Section, s.section) &&
		utf8.RuneCountInString(s.out[last].Text)+s.runes < mostPassage:
		s.out[last].Text += "\n\n" + strings.TrimSpace(s.text.String())
		s.out[last].Last = s.last
		s.text.Reset()
		s.runes = 0
	case s.runes >= leastSection:
		s.flush()
	}

	if s.runes > 0 {
		s.put(unit{text: h.text, runes: utf8.RuneCountInString(h.text), page: h.pageAt(0), last: h.pageAt(0), joint: "\n\n"})
	}
}

func (s *splitter) add(u unit) {
	limit := goodPassage
	if u.bound {
		limit = goodPassage + (mostPassage-goodPassage)/2
	}
	// Pages may be left out between two units.
	apart := s.runes > 0 && u.page > s.last+1
	if apart || s.runes > 0 && s.runes+u.runes > mostPassage || s.runes >= leastPassage && s.runes+u.runes > limit {
		s.flush()
	}
	if s.runes == 0 {
		s.section, s.page = slices.Clone(s.path), u.page
	}
	s.put(u)
}

func (s *splitter) put(u unit) {
	if s.runes > 0 {
		s.text.WriteString(u.joint)
		s.runes += len(u.joint)
	}
	s.text.WriteString(u.text)
	s.runes += u.runes
	s.last = u.last
}

func (s *splitter) flush() {
	if text := strings.TrimSpace(s.text.String()); text != "" {
		s.out = append(s.out, Passage{Text: text, Page: s.page, Last: s.last, Section: s.section})
	}
	s.text.Reset()
	s.runes = 0
}

// unitsOf divides a block. follows says that the block before it is of the same kind.
func unitsOf(b *block, follows bool) (out []unit) {
	first := "\n\n"
	if follows && b.kind != paragraph {
		first = "\n"
	}

	put := func(at int, text, joint string, bound bool) {
		if strings.TrimSpace(text) == "" {
			return
		}
		if len(out) == 0 {
			joint = first
		}
		out = append(out, unit{
			text: text, runes: utf8.RuneCountInString(text), joint: joint, bound: bound,
			page: b.pageAt(at), last: b.pageAt(at + len(text) - 1),
		})
	}

	switch {
	case b.kind == code:
		// Lines of a program belong together, so only those of a long one are told apart.
		at := 0

		for line := range strings.SplitAfterSeq(b.text, "\n") {
			eachPiece(strings.TrimRight(line, "\n"), func(from int, piece string) { put(at+from, piece, "\n", true) })
			at += len(line)
		}
	case b.kind != paragraph && utf8.RuneCountInString(b.text) <= mostPassage:
		put(0, b.text, "\n", follows)
	default:
		eachSentence(b.text, func(at int, sentence string) {
			joint := " "
			if at > 0 {
				before, _ := utf8.DecodeLastRuneInString(b.text[:at])
				switch {
				case before == '\n':
					joint = "\n"
				case !unicode.IsSpace(before):
					joint = ""
				}
			}
			eachPiece(strings.TrimRightFunc(sentence, unicode.IsSpace), func(from int, piece string) {
				if from > 0 {
					joint = ""
				}
				put(at+from, piece, joint, true)
			})
		})
	}

	return out
}

// eachSentence calls f for each sentence of a text, by the rules of Unicode (UAX 29), which know 。 and what is no end,
// such as the point in "fig. a". A number and a short word with a point that stand before a number ("Fig. 3") end none.
func eachSentence(text string, f func(at int, sentence string)) {
	// The end of a line is no end of a sentence.
	at, state, rest := 0, -1, strings.ReplaceAll(text, "\n", " ")
	begin := 0

	for rest != "" {
		var sentence string

		sentence, rest, state = uniseg.FirstSentenceInString(rest, state)
		at += len(sentence)
		if rest != "" && abbreviated(text[begin:at], rest) {
			continue
		}
		f(begin, text[begin:at])
		begin = at
	}
	if begin < at {
		f(begin, text[begin:at])
	}
}

// abbreviations before which a point ends no sentence, although a capital letter or a number follows.
var abbreviations = []string{
	"fig", "figs", "no", "nos", "p", "pp", "sec", "ch", "eq", "vs", "e.g", "i.e", "cf", "approx", "max", "min", "dr", "mr", "mrs", "st",
	"abb", "nr", "bzw", "z.b", "tab", "vol", "ref",
}

func abbreviated(sentence, rest string) bool {
	s := strings.TrimRightFunc(sentence, unicode.IsSpace)
	if !strings.HasSuffix(s, ".") {
		return false
	}

	words := strings.Fields(strings.TrimSuffix(s, "."))
	if len(words) == 0 {
		return false
	}

	last := strings.ToLower(strings.TrimLeft(words[len(words)-1], "([\"'"))
	next, _ := utf8.DecodeRuneInString(rest)

	// The number of a list that PDF has in the text: "1. Switch off the robot."
	number := len(words) == 1 && strings.Trim(last, "0123456789") == ""

	return number || slices.Contains(abbreviations, last) && (unicode.IsDigit(next) || last != "no")
}

// eachPiece calls f with a text as a whole, or if it is too long for a passage with pieces of it, which end at a space or
// a sign if there is one.
func eachPiece(text string, f func(at int, piece string)) {
	at := 0

	for utf8.RuneCountInString(text[at:]) > mostPassage {
		end := at
		for range mostPassage {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}

		window := text[at:end]
		cut := strings.LastIndexByte(window, '\n')
		if cut < len(window)/3 {
			cut = strings.LastIndexFunc(window, unicode.IsSpace)
		}
		if cut < len(window)/4 {
			cut = strings.LastIndexAny(window, "，、；：,;:")
		}
		if cut >= len(window)/4 {
			_, size := utf8.DecodeRuneInString(window[cut:])
			cut += size
		} else {
			// A text without any sign. A letter and its accents stay together.
			cut = len(window)
			for g := uniseg.NewGraphemes(window); g.Next(); {
				if from, to := g.Positions(); to == len(window) && from > 0 {
					cut = from
				}
			}
		}

		f(at, text[at:at+cut])
		at += cut
	}

	f(at, text[at:])
}
