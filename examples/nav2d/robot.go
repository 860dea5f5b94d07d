package main

import (
	"context"
	"errors"
)

// drive is what a trip cost.
type drive struct {
	steps int // moves that were tried; a bump is one of them
	bumps int
}

// unknownPrice is what a step into the unknown costs in planning, a known one
// costs 1: an unexplored short cut has to save something to be tried.
const unknownPrice = 2

// run drives a robot from start to goal. It is the same robot in both
// sessions: it plans with what it believes, drives, and plans anew when it
// bumps. Only what it knows before it starts is different.
func run(ctx context.Context, e *episode, w *world, known belief) (drive, error) {
	var d drive
	at, corridor := w.start, w.start
	known[at] = free
	price := func(c cell) (int, bool) {
		switch known[c] {
		case free:
			return 1, true
		case blocked:
			return 0, false
		}
		return unknownPrice, true
	}
	for heading := -1; at != w.goal; {
		route := plan(at, w.goal, price)
		if route == nil {
			return d, errors.New("there is no way to the goal")
		}
		for _, h := range route {
			if h != heading && corridor != at {
				if err := e.drove(ctx, corridor, at); err != nil {
					return d, err
				}
				corridor = at
			}
			heading = h
			d.steps++
			if !w.free(at.next(h)) {
				d.bumps++
				known[at.next(h)] = blocked
				if err := e.bumped(ctx, at, h); err != nil {
					return d, err
				}
				break // plan anew
			}
			at = at.next(h)
			known[at] = free
		}
	}
	if err := e.drove(ctx, corridor, at); err != nil {
		return d, err
	}
	return d, e.arrived(ctx, w, d)
}
