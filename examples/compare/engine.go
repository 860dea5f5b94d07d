package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// engine is a search engine that stores the rows and answers queries.
type engine interface {
	// load stores all rows and prepares the engine for queries. Its time is
	// measured, except for the time inside of unpaid, such as for generating rows.
	load(ctx context.Context, c *corpus, clock *clock) error
	// ways returns the kinds of queries of a loaded engine.
	ways() []way
	close() error
}

// way is one kind of query of an engine.
type way struct {
	what string // name in the table
	kind kind   // ranking of the correct results
	rare bool   // only rows of the rare trial are correct
	// ask returns row numbers, best first. The first ten are compared.
	ask func(ctx context.Context, q *question) ([]int, error)
}

// candidate is an engine that can be selected by name.
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
	}
}

// choose returns the engines named in only, comma separated, or all engines that this
// program can run. left names the other engines, with the reasons.
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
