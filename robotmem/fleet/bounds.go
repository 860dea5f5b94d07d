package fleet

import "github.com/robotmem/robotmem-go/robotmem"

const (
	maxInner   = 50_000 // items of the lists within the items of a request: past states, tags, outcomes
	maxNesting = 64     // levels of JSON; a context has at most 32
)

// The levels of JSON that hold the items of a request, and those of the lists within them.
const (
	itemLevel  = 2
	innerLevel = 4
)

// CheckBounds counts the items of a request without decoding it. It fails with TooLarge over a bound. What is no JSON
// is counted as well as possible.
func CheckBounds(data []byte) error {
	var (
		items, inner int
		lists        [maxNesting + 1]bool // whether the level is one of a list
		empty        bool                 // nothing has come in the innermost list or object
		level        int
	)

	count := func() {
		switch {
		case level == itemLevel:
			items++
		case level == innerLevel && lists[level]:
			inner++
		}
	}

	for i := 0; i < len(data); i++ {
		c := data[i]
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case ']', '}':
			empty = false
			level = max(0, level-1)
			continue
		case ',':
			count()
			continue
		}

		// The first item of a list has no comma before it.
		if empty {
			count()
			empty = false
		}

		switch c {
		case '[', '{':
			if level++; level > maxNesting {
				return robotmem.Errorf(robotmem.TooLarge, "body", "is nested more than %d levels deep", maxNesting)
			}
			lists[level], empty = c == '[', true
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		}

		if items > MaxItems || inner > maxInner {
			break
		}
	}

	switch {
	case items > MaxItems:
		return robotmem.Errorf(robotmem.TooLarge, "body", "has more than %d items; send them in several requests", MaxItems)
	case inner > maxInner:
		return robotmem.Errorf(robotmem.TooLarge, "body", "has more than %d past states, tags and other items of its items; send them in several requests", maxInner)
	}

	return nil
}

// CheckBounds fails with TooLarge if a push says more than a site takes at once.
func (p *PushRequest) CheckBounds() error {
	past := 0
	for i := range p.Memories {
		past += len(p.Memories[i].Versions)
	}

	for i := range p.Past {
		past += len(p.Past[i].Versions)
	}

	for _, b := range []struct {
		what      string
		has, most int
	}{{"changes", p.size(), MaxItems}, {"past states", past, MaxPast}, {"uids to purge", len(p.Purged), MaxPurges}} {
		if b.has > b.most {
			return robotmem.Errorf(robotmem.TooLarge, "body", "has %d %s, and a site takes %d at once; send them in several requests", b.has, b.what, b.most)
		}
	}

	return nil
}
