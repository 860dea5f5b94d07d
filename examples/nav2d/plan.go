package main

import (
	"container/heap"
	"slices"
)

// plan returns the cheapest path as a list of headings, nil if there is none (Dijkstra 1959).
// cost returns the cost of entering a cell, and whether that is possible.
func plan(from, to cell, cost func(cell) (price int, ok bool)) []int {
	type step struct {
		from    cell
		heading int
	}
	paid := map[cell]int{from: 0}
	came := map[cell]step{}

	open := &frontier{{from, 0}}
	for open.Len() > 0 {
		at := heap.Pop(open).(reached)
		if at.cell == to {
			break
		}
		if at.paid > paid[at.cell] {
			continue // a cheaper path to this cell was found
		}

		for h := range headings {
			c := at.next(h)
			price, ok := cost(c)
			if !inside(c) || !ok {
				continue
			}
			sum := at.paid + price
			if before, seen := paid[c]; !seen || sum < before {
				paid[c], came[c] = sum, step{at.cell, h}
				heap.Push(open, reached{c, sum})
			}
		}
	}
	if _, ok := came[to]; !ok {
		return nil
	}

	var route []int
	for c := to; c != from; c = came[c].from {
		route = append(route, came[c].heading)
	}
	slices.Reverse(route)

	return route
}

// reached is a cell and the cost of the path to it.
type reached struct {
	cell
	paid int
}

type frontier []reached

func (f frontier) Len() int      { return len(f) }
func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(x any)   { *f = append(*f, x.(reached)) }

// Less breaks ties by position, so that all runs give the same result.
func (f frontier) Less(i, j int) bool {
	a, b := f[i], f[j]
	if a.paid != b.paid {
		return a.paid < b.paid
	}
	if a.x != b.x {
		return a.x < b.x
	}

	return a.y < b.y
}

func (f *frontier) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}
