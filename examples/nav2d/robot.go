package main

import (
	"context"
	"errors"
)

// drive is the cost of a trip.
type drive struct {
	steps int // attempted moves, including bumps
	bumps int
}

// unknownPrice is the cost of entering an unknown cell in planning; a known one costs
// 1. So the robot tries an unknown short cut only if it saves enough steps.
const unknownPrice = 2

// run drives a robot from start to goal. The robot plans with its map, drives, and plans again
// after a bump. Both sessions use the same code; only the initial map differs.
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
				break // plan again
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
