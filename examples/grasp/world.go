package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// situation is an object that lies before the arm.
type situation struct {
	Object string
	Wet    bool
}

var situations = []situation{{"glass", false}, {"glass", true}, {"mug", false}, {"mug", true}, {"box", false}, {"box", true}}

func (s situation) task() string {
	return "pick " + map[bool]string{true: "wet ", false: "dry "}[s.Wet] + s.Object
}

// limits are the forces in newtons below which the object slips and above which it breaks.
func (s situation) limits() (low, high float64) {
	l := map[string][2]float64{"glass": {6, 14}, "mug": {9, 20}, "box": {14, 26}}[s.Object]
	if s.Wet {
		return l[0] + 3, l[1] + 2
	}
	return l[0], l[1]
}

// grasp tries a force. The gripper is inexact, and one grasp in twenty fails anyway.
func (s situation) grasp(force float64, r *rand.Rand) bool {
	low, high := s.limits()
	force += r.NormFloat64()
	return force > low && force < high && r.Float64() > 0.05
}

// result holds the outcomes of a policy: runs, then episodes.
type result struct {
	name   string
	choose policy
	wrong  float64 // share of the stored outcomes that is wrong
	runs   [][]bool
}

// share returns the mean and the standard deviation over the runs of the success rate
// in some episodes, in percent.
func (r *result) share(from, to int) (mean, deviation float64) {
	n, squares := float64(len(r.runs)), 0.0
	for _, run := range r.runs {
		rate := 0.0
		for _, success := range run[from:to] {
			if success {
				rate += 100 / float64(to-from)
			}
		}
		mean, squares = mean+rate/n, squares+rate*rate/n
	}
	return mean, math.Sqrt(max(0, squares-mean*mean))
}

func (r *result) rate(from, to int) string {
	mean, deviation := r.share(from, to)
	return fmt.Sprintf("%.1f ± %.1f", mean, deviation)
}

// draw plots the success rate of ten episodes each, with a band of one standard deviation.
func draw(results []result) string {
	const step, left, top, wide, high = 10, 50, 20, 560, 300
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 370" font-family="sans-serif" font-size="13"><rect width="800" height="370" fill="#fff"/>`)
	episodes := len(results[0].runs[0])
	at := func(episode, percent float64) string {
		return fmt.Sprintf("%.1f,%.1f ", left+episode/float64(episodes)*wide, top+(100-max(0, min(100, percent)))/100*high)
	}
	for p := 0; p <= 100; p += 25 {
		fmt.Fprintf(&b, `<path d="M%sL%s" stroke="#ddd"/><text x="44" y="%d" text-anchor="end">%d %%</text>`, at(0, float64(p)), at(float64(episodes), float64(p)), top+(100-p)*high/100+4, p)
	}
	for i, colour := range []string{"#888", "#d95f02", "#1b6ca8", "#7a4fb3", "#2b8a3e"} {
		line, above, below := "", "", ""
		for from := 0; from+step <= episodes; from += step {
			mean, deviation := results[i].share(from, from+step)
			x := float64(from + step/2)
			line, above, below = line+at(x, mean), above+at(x, mean+deviation), at(x, mean-deviation)+below
		}
		fmt.Fprintf(&b, `<polygon points="%s%s" fill="%s" opacity=".07"/><polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`, above, below, colour, line, colour)
		fmt.Fprintf(&b, `<text x="625" y="%d" fill="%s">%s</text><text x="625" y="%d" fill="#666">%s %%</text>`, 40+i*55, colour, results[i].name, 57+i*55, results[i].rate(0, episodes))
	}
	fmt.Fprintf(&b, `<text x="330" y="352" text-anchor="middle">episode, 0 to %d; success rate of 10 episodes, band: one standard deviation</text></svg>`, episodes)
	return b.String()
}
