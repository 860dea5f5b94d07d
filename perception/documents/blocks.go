package documents

import (
	"context"
	"fmt"
	"strings"
)

type kind uint8

const (
	paragraph kind = iota
	heading
	item // of a list
	row  // of a table
	code
)

// block is a part of a document that belongs together.
type block struct {
	kind  kind
	level int // of a heading, from 1
	text  string
	marks []mark // where its pages begin
}

// mark says that a page begins at a byte of a block.
type mark struct{ at, page int }

// blocks gathers the blocks of a document, within its limits.
type blocks struct {
	ctx    context.Context
	limits *Limits
	list   []block
	bytes  int
	page   int // that is being read, 0 if the format has none
}

// add appends a block, unless it is empty.
func (b *blocks) add(k kind, level int, text string) error {
	return b.append(block{kind: k, level: level, text: text, marks: []mark{{0, b.page}}})
}

func (b *blocks) append(one block) error {
	text := strings.Map(visible, ligatures.Replace(one.text))
	switch one.kind {
	case code:
		text = strings.Trim(text, "\n")
	case heading:
		if text = clean(text); len(text) > maxTitle {
			one.kind = paragraph // a whole paragraph in large letters
		}
	default:
		text = tidy(text)
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}

	// The marks were made for the text as it was read; a share of it is exact enough.
	if len(text) != len(one.text) {
		for i := range one.marks {
			one.marks[i].at = one.marks[i].at * len(text) / max(1, len(one.text))
		}
	}
	one.text = text

	b.list = append(b.list, one)
	b.bytes += len(text)

	switch {
	case b.bytes > b.limits.Text:
		return fmt.Errorf("%w: it has over %d bytes of text; split it", ErrTooLarge, b.limits.Text)
	case b.page > b.limits.Pages:
		return fmt.Errorf("%w: it has over %d pages; split it", ErrTooLarge, b.limits.Pages)
	case len(b.list)%1024 == 0 && b.ctx.Err() != nil:
		return b.ctx.Err()
	}

	return nil
}

// tidy makes one space of several, and keeps the ends of lines.
func tidy(text string) string {
	if !strings.Contains(text, "\n") {
		return strings.Join(strings.Fields(text), " ")
	}

	var lines []string

	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}

	return strings.Join(lines, "\n")
}

// pageAt returns the page of a byte of a block.
func (b *block) pageAt(at int) int {
	page := 0
	for _, m := range b.marks {
		if m.at <= at || page == 0 {
			page = m.page
		}
	}

	return page
}
