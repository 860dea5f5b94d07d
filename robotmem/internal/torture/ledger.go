package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// state is a memory as an answer must show it.
type state struct {
	ID     int64  `json:",omitempty"` // 0 until the node has answered
	Text   string // no two memories share one
	Status string
	Data   string `json:",omitempty"` // SHA-256 of its payload
}

func (s state) String() string {
	return fmt.Sprintf("%d %s %.60q %.12s", s.ID, s.Status, s.Text, s.Data)
}

// call is one request for a change. It is told to a ledger when it begins and
// again when it is answered.
type call struct {
	Robot string // calls of one robot follow one another
	N     int
	// Parts are the states that the call leads to. Each part is stored as a whole or
	// not at all, and not before the part or the call in front of it.
	Parts   [][]state
	Loose   bool // Parts lists states that are each possible by themselves
	Outcome outcome
}

type outcome uint8

const (
	begun        outcome = iota // it may be stored or not
	acknowledged                // it must be stored
	refused                     // it must not be stored
)

func (c call) id() string { return fmt.Sprint(c.Robot, " ", c.N) }

// ledger knows which writes were acknowledged and which were begun. Only one
// robot at a time changes a memory.
type ledger struct {
	mu     sync.Mutex // guards the fields below
	open   map[string]call
	kept   map[int64]state
	byText map[string]state // acknowledged without an id
	writes int              // acknowledged since they were last taken
}

func newLedger() *ledger {
	return &ledger{open: map[string]call{}, kept: map[int64]state{}, byText: map[string]state{}}
}

// ledgerAt returns the ledger of a recording at the moment when the first n calls had been told.
// Of the later calls, those that had begun by then may be stored or not. With later, all of them may.
func ledgerAt(calls []call, n int, later bool) *ledger {
	l := newLedger()
	for _, c := range calls[:n] {
		l.tell(c)
	}

	for _, c := range calls[n:] {
		if _, open := l.open[c.id()]; open || later {
			c.Loose = false
			// The call as it was told later, with the states that it led to.
			l.open[c.id()] = c
		}
	}

	return l
}

func (l *ledger) tell(c call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Outcome == begun {
		l.open[c.id()] = c
		return
	}

	delete(l.open, c.id())
	if c.Outcome == refused {
		return
	}

	for _, part := range c.Parts {
		l.writes += len(part)
		for _, s := range part {
			if s.ID == 0 {
				l.byText[s.Text] = s
				continue
			}
			l.kept[s.ID] = s
		}
	}
}

// take returns how many writes were acknowledged since it was last called.
func (l *ledger) take() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.writes
	l.writes = 0
	return n
}

// compare compares the memories of a node with the ledger. The node's writers have ended: calls
// that had begun are resolved by what was found, and what was found is expected from then on.
func (l *ledger) compare(found map[int64]state) (lost, wrong []string) {
	l.mu.Lock()
	defer l.mu.Unlock()

	ids := map[string]int64{}
	for id, s := range found {
		ids[s.Text] = id
	}

	expected := maps.Clone(l.kept)
	for text, s := range l.byText {
		if s.ID = ids[text]; s.ID == 0 {
			lost = append(lost, s.String())
		}
		expected[s.ID] = s
	}

	// Robots with a missing call that was acknowledged later. No call that they made after it may be stored.
	missing := map[string]bool{}

	calls := slices.SortedFunc(maps.Values(l.open), func(a, b call) int { return a.N - b.N })
	for _, c := range calls {
		absent := missing[c.Robot]
		for _, part := range c.Parts {
			var there []state

			for _, s := range part {
				if s.ID == 0 {
					s.ID = ids[s.Text]
				}
				if s.ID != 0 && found[s.ID] == s {
					there = append(there, s)
					expected[s.ID] = s
				}
			}
			if n := len(there); n > 0 && !c.Loose && (absent || n < len(part)) {
				wrong = append(wrong,
					fmt.Sprintf("a call of %s is stored in part, or without the one before it: %d of %d, %s", c.Robot,
						n, len(part), there[0]))
			}
			absent = absent || len(there) == 0
		}
		missing[c.Robot] = missing[c.Robot] || absent && c.Outcome == acknowledged
	}

	delete(expected, 0)

	for id, want := range expected {
		if got, ok := found[id]; !ok {
			lost = append(lost, want.String())
		} else if got != want {
			lost = append(lost, fmt.Sprintf("%s, want %s", got, want))
		}
	}

	for id, got := range found {
		if _, ok := expected[id]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s: nobody wrote it", got))
		}
	}

	clear(l.open)
	clear(l.byText)
	l.kept = maps.Clone(found)

	return lost, wrong
}
