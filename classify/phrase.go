package classify

import (
	"errors"
	"fmt"
	"strings"
)

const (
	defaultGap = 80  // bytes between two parts of a sequence: a clause or two
	maxGap     = 400 // beyond that two words have little to do with each other
	maxSpell   = 256 // spellings of one part, so that braces cannot explode
	maxLiteral = 120 // bytes
	maxParts   = 4
)

type phrase struct {
	starts bool       // ^: the first part opens a sentence
	parts  [][]string // spellings of each part, normal; fileMark and codeMark stay
}

// Marks that stand for what a scope rule with that signal found.
const (
	fileMark = "<file>"
	codeMark = "<code>"
)

func parsePhrase(s string) (phrase, error) {
	var p phrase
	s = strings.TrimSpace(s)
	s, p.starts = strings.CutPrefix(s, "^")
	sections := strings.Split(" "+s+" ", " ... ")
	if len(sections) > maxParts {
		return p, fmt.Errorf("more than %d parts", maxParts)
	}
	literals := 0
	for _, section := range sections {
		part, err := spellings(section)
		if err != nil {
			return p, err
		}
		for _, l := range part {
			if l != fileMark && l != codeMark {
				literals++
			}
		}
		p.parts = append(p.parts, part)
	}
	if literals == 0 {
		return p, errors.New("no literal")
	}
	return p, nil
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
			case strings.ContainsAny(l, "{}^<>") && l != fileMark && l != codeMark:
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
