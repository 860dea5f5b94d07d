package main

import (
	"fmt"
	"math"
	"strings"
)

// peg is a simulated insertion: it jams below one force and seats above it.
type peg struct{ seatsAt float64 }

// attempt is one push.
type attempt struct {
	force float64 // newtons
	ok    bool
	depth float64 // millimetres
	trace string  // the axial force over time, as CSV
}

const (
	holeDepth = 20.0 // mm
	samples   = 10
	sampleS   = 0.02
)

// push is deterministic, so that all runs of the example give the same result.
func (p peg) push(force float64) attempt {
	a := attempt{force: force, ok: force >= p.seatsAt, depth: holeDepth}
	if !a.ok {
		a.depth = math.Round(10*holeDepth*force/p.seatsAt/2) / 10
	}

	var csv strings.Builder
	csv.WriteString("t,Fz\n")

	for i := range samples {
		f := force * float64(i+1) / samples
		if a.ok && i > samples/2 {
			f = 0.2 * force // the peg has dropped into its seat
		}
		fmt.Fprintf(&csv, "%.2f,%.2f\n", float64(i)*sampleS, f)
	}
	a.trace = csv.String()

	return a
}
