package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// engine is one way to keep the rows and to answer questions about them.
type engine interface {
	// load takes all rows in, and leaves the engine as fast as it gets. What it
	// does by itself is timed; what it must not be charged for, such as making
	// rows, it does inside of unpaid.
	load(ctx context.Context, c *corpus, clock *clock) error
	// ways are the kinds of questions that it answers, once loaded.
	ways() []way
	close() error
}

// way is one kind of question to an engine.
type way struct {
	what string // in the table
	kind kind   // what the right answers are ranked by
	rare bool   // only rows of the rare trial are right
	// ask returns row numbers, best first; ten of them are looked at.
	ask func(ctx context.Context, q *question) ([]int, error)
}

// candidate is an engine that can be asked for by name.
type candidate struct {
	name    string
	open    func() engine
	missing string // why this program cannot run it; empty if it can
}

func candidates() []candidate {
	return []candidate{
		{name: nodeName, open: func() engine { return &node{meaning: true} }},
		{name: nodeWordsName, open: func() engine { return &node{} }},
		{name: "fts5", open: newFTS5, missing: fts5Missing},
		{name: "bleve", open: func() engine { return &bleveEngine{} }},
		{name: "chromem", open: func() engine { return &chromemEngine{} }},
		{name: "hnsw", open: newHNSW, missing: hnswMissing},
	}
}

// choose returns the engines named in only, comma separated, or all that this
// program can run; left says which ones it cannot, and why.
func choose(only string) (chosen []candidate, left []string, err error) {
	all := candidates()
	if only == "" {
		for _, c := range all {
			if c.missing != "" {
				left = append(left, c.name+": "+c.missing)
				continue
			}
			chosen = append(chosen, c)
		}
		return chosen, left, nil
	}
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	for name := range strings.SplitSeq(only, ",") {
		i := slices.Index(names, strings.TrimSpace(name))
		switch {
		case i < 0:
			return nil, nil, fmt.Errorf("--only: there is no engine %q; there are %s", name, strings.Join(names, ", "))
		case all[i].missing != "":
			return nil, nil, fmt.Errorf("--only: %s: %s", name, all[i].missing)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil, nil
}
