package main

import "math/rand/v2"

// cell is a square of the world, one metre wide.
type cell struct{ x, y int }

// headings has a fixed order, so that all runs give the same result.
var headings = []struct {
	name string
	d    cell
}{{"east", cell{1, 0}}, {"south", cell{0, 1}}, {"west", cell{-1, 0}}, {"north", cell{0, -1}}}

func (c cell) next(heading int) cell {
	return cell{c.x + headings[heading].d.x, c.y + headings[heading].d.y}
}

const (
	width, height = 32, 20
	walls         = 4    // walls across the world, each with one gap
	clutter       = 0.15 // share of the other cells that are blocked
)

// world is the real map. The robot does not read it; it only learns whether a move succeeded.
type world struct {
	blocked     [width][height]bool
	start, goal cell
}

// newWorld draws random worlds until one has a path to the goal. The same seed gives
// the same world.
func newWorld(seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 2))
	for {
		w := &world{start: cell{0, rng.IntN(height)}, goal: cell{width - 1, rng.IntN(height)}}
		for i := range walls {
			x := (i+1)*width/(walls+1) + rng.IntN(3) - 1

			gap := rng.IntN(height)
			for y := range height {
				w.blocked[x][y] = y != gap
			}
		}

		for x := range width {
			for y := range height {
				w.blocked[x][y] = w.blocked[x][y] || rng.Float64() < clutter
			}
		}
		if !w.blocked[w.start.x][w.start.y] && !w.blocked[w.goal.x][w.goal.y] && w.shortest() > 0 {
			return w
		}
	}
}

// free reports whether a robot can be on c.
func (w *world) free(c cell) bool {
	return inside(c) && !w.blocked[c.x][c.y]
}

func inside(c cell) bool { return c.x >= 0 && c.x < width && c.y >= 0 && c.y < height }

// shortest returns the length of the shortest path in the real map, 0 if there is none.
func (w *world) shortest() int {
	route := plan(w.start, w.goal, func(c cell) (int, bool) { return 1, w.free(c) })
	return len(route)
}
