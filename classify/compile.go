package classify

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxCells bounds the automaton's table to 64 MiB.
const maxCells = 16 << 20

type pattern struct {
	target int32 // what it proves, an index into run.proved
	parts  int32
	first  int32 // where its parts' progress starts in run.progress
	gap    int32
	starts bool           // the first part opens a sentence
	names  bool           // an underscore is a boundary
	re     *regexp.Regexp // instead of parts
}

type use struct {
	pattern, part int32
	guards        []guard
}

// guard is an exception of a literal: the hit does not count inside text, which starts before it.
type guard struct {
	before int
	text   string
}

// compiler adds patterns to the rules.
type compiler struct {
	*Rules
	ids map[string]int32 // of literals
}

// source is a pattern of the file.
type source struct {
	Phrase   string
	Regex    string
	Literals []string
	Except   []string
	Gap      *int // bytes
}

// add compiles s for a target. names is set for tags.
func (c compiler) add(target int32, names bool, s source) error {
	p := pattern{target: target, names: names, gap: defaultGap}
	if s.Gap != nil {
		if *s.Gap < 1 || *s.Gap > maxGap {
			return fmt.Errorf("gap is not a number of bytes from 1 to %d", maxGap)
		}
		p.gap = int32(*s.Gap)
	}

	if (s.Phrase == "") == (s.Regex == "") {
		return errors.New("a pattern is either a phrase or a regex")
	}

	parts, err := s.compile(&p)
	if err != nil {
		return err
	}

	var except []string

	for _, e := range s.Except {
		spelt, err := spellings(e)
		if err != nil {
			return fmt.Errorf("except %q: %w", e, err)
		}
		except = append(except, spelt...)
	}

	id := int32(len(c.patterns))
	p.parts, p.first = int32(len(parts)), c.progress
	c.progress += p.parts
	c.patterns = append(c.patterns, p)

	for i, part := range parts {
		for _, literal := range part {
			l := c.id(literal)
			c.uses[l] = append(c.uses[l], use{pattern: id, part: int32(i), guards: guardsOf(literal, except)})
		}
	}

	return nil
}

// compile fills in p and returns the literals of its parts. A regular expression has one part.
func (s source) compile(p *pattern) ([][]string, error) {
	if s.Regex == "" {
		phrase, starts := strings.CutPrefix(strings.TrimSpace(s.Phrase), "^")
		parts, err := phraseParts(phrase)
		if err != nil {
			return nil, fmt.Errorf("phrase %q: %w", s.Phrase, err)
		}
		p.starts = starts

		return parts, nil
	}

	re, err := regexp.Compile("(?i)" + s.Regex)
	if err != nil {
		return nil, fmt.Errorf("regex %q: %s", s.Regex, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}

	p.re = re

	var literals []string

	for _, l := range s.Literals {
		spelt, err := spellings(l)
		if err != nil {
			return nil, fmt.Errorf("literal %q: %w", l, err)
		}
		literals = append(literals, spelt...)
	}

	if len(literals) == 0 {
		return nil, fmt.Errorf("regex %q: no literal: name in \"literals\" what every match contains", s.Regex)
	}

	return [][]string{literals}, nil
}

func (c compiler) id(literal string) int32 {
	id, ok := c.ids[literal]
	if !ok {
		id = int32(len(c.literals))
		c.ids[literal] = id
		c.literals = append(c.literals, literal)
		c.uses = append(c.uses, nil)
	}

	return id
}

// build prepares the automaton, which does not look for marks.
func (c compiler) build() error {
	texts, size := c.literals[len(markTexts):], 0
	for _, l := range texts {
		size += len(l)
	}
	if size*128 > maxCells {
		return fmt.Errorf("%d bytes of literals, at most %d", size, maxCells/128)
	}

	c.auto = sync.OnceValue(func() *automaton { return newAutomaton(texts) })
	for _, uses := range c.uses {
		// A later part first, so that one hit cannot serve as two parts.
		slices.SortStableFunc(uses, func(a, b use) int { return cmp.Compare(b.part, a.part) })
	}

	return nil
}

func guardsOf(literal string, except []string) []guard {
	var out []guard

	for _, e := range except {
		for i := range len(e) - len(literal) + 1 {
			if strings.HasPrefix(e[i:], literal) {
				out = append(out, guard{before: i, text: e})
			}
		}
	}

	return out
}

const (
	defaultGap = 80  // bytes between two parts of a sequence: a clause or two
	maxGap     = 400 // beyond that two words have little to do with each other
	maxSpell   = 256 // spellings of one part, so that braces cannot explode
	maxLiteral = 120 // bytes
	maxParts   = 4
)

// markTexts are the marks that stand for what a scope rule with that signal found. Their literals have
// the first ids.
var markTexts = []string{"<file>", "<code>"}

// phraseParts returns the spellings of each part of a sequence. They are normal; marks stay.
func phraseParts(s string) (parts [][]string, err error) {
	sections := strings.Split(" "+s+" ", " ... ")
	if len(sections) > maxParts {
		return nil, fmt.Errorf("more than %d parts", maxParts)
	}

	for _, section := range sections {
		part, err := spellings(section)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if !slices.ContainsFunc(slices.Concat(parts...), func(l string) bool { return !slices.Contains(markTexts, l) }) {
		return nil, errors.New("no literal")
	}

	return parts, nil
}

// spellings expands "found|notic{e,ed}" to found, notice, noticed.
func spellings(section string) ([]string, error) {
	var out []string

	for alternative := range strings.SplitSeq(section, "|") {
		expanded, err := expand(alternative)
		if err != nil {
			return nil, err
		}

		for _, e := range expanded {
			l := normal(e)
			switch {
			case l == "":
				return nil, errors.New("no literal: a part or an alternative is empty")
			case len(l) > maxLiteral:
				return nil, fmt.Errorf("literal of %d bytes, at most %d", len(l), maxLiteral)
			case strings.ContainsAny(l, "{}^<>") && !slices.Contains(markTexts, l):
				return nil, fmt.Errorf("unexpected mark in %q", l)
			}
			out = append(out, l)
		}
	}

	if len(out) > maxSpell {
		return nil, fmt.Errorf("%d spellings, at most %d", len(out), maxSpell)
	}

	return out, nil
}

// expand resolves braces from the left: a{b,c}d is abd, acd.
func expand(s string) ([]string, error) {
	before, rest, found := strings.Cut(s, "{")
	if !found {
		return []string{s}, nil
	}

	inside, after, found := strings.Cut(rest, "}")
	if !found {
		return nil, errors.New("a brace is not closed")
	}

	tails, err := expand(after)
	if err != nil {
		return nil, err
	}

	var out []string

	for choice := range strings.SplitSeq(inside, ",") {
		for _, tail := range tails {
			out = append(out, before+choice+tail)
		}
		if len(out) > maxSpell {
			return nil, fmt.Errorf("more than %d spellings", maxSpell)
		}
	}

	return out, nil
}
