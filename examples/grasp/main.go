// Grasp lets a simulated arm pick wet and dry objects for 200 episodes, 20 times: without
// memory, with recall, and with advise. It prints how often each policy succeeded, with the
// standard deviation of the runs, and draws it in grasp.svg.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

func main() {
	results, err := compare(context.Background(), 200, 20)
	if err == nil {
		err = os.WriteFile("grasp.svg", []byte(draw(results)), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}

	for _, r := range results {
		mean, deviation := r.mean(0, 200)
		late, lateDeviation := r.mean(150, 200)
		fmt.Printf("%-20s %.1f ± %.1f %%, last 50 episodes %.1f ± %.1f %%\n", r.name, mean, deviation, late,
			lateDeviation)
	}
}

// situation is an object that lies before the arm.
type situation struct {
	object    string
	low, high float64 // forces in newtons below which it slips and above which it breaks
}

var situations = []situation{
	{"dry glass", 6, 14}, {"wet glass", 9, 16}, {"dry mug", 9, 20}, {"wet mug", 12, 22}, {"dry box", 14, 26},
	{"wet box", 17, 28},
}

// arm is one life, with a part of the memory of its own.
type arm struct {
	*local.Node
	collection string
	r          *rand.Rand
}

// result holds the outcomes of a policy: runs, then episodes. The policy chooses a force;
// 0 means a guess.
type result struct {
	name   string
	choose func(ctx context.Context, m arm, s situation) (force float64, err error)
	wrong  float64 // share of the stored outcomes that is wrong
	runs   [][]float64
}

func compare(ctx context.Context, episodes, seeds int) ([]result, error) {
	dir, err := os.MkdirTemp("", "robotmem-grasp-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	m, err := local.Open(ctx, filepath.Join(dir, "memory.db"), local.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = m.Close() }()

	results := []result{{name: "without memory"}, {name: "recall", choose: withRecall}, {
		name: "advise", choose: withAdvise,
	},
		{name: "advise, 10 % wrong", choose: withAdvise, wrong: 0.1}, {name: "best possible"}}
	for i := range results {
		for seed := range seeds {
			if err := results[i].live(ctx, m, episodes, seed); err != nil {
				return nil, err
			}
		}
	}

	return results, nil
}

func withRecall(ctx context.Context, m arm, s situation) (force float64, err error) {
	found, err := m.Recall(ctx, &robotmem.RecallRequest{
		Query: s.object, Collection: m.collection, ContextFilter: robotmem.Object{
			"object": s.object, "outcome": "success",
		}, N: 1})
	if err != nil || len(found.Memories) == 0 {
		return 0, err
	}
	_, err = fmt.Sscan(fmt.Sprint(found.Memories[0].Params.(map[string]any)["grip_force"]), &force)

	return force, err
}

func withAdvise(ctx context.Context, m arm, s situation) (float64, error) {
	advice, err := m.Advise(ctx, &robotmem.AdviseRequest{
		Collection: m.collection, ContextFilter: robotmem.Object{"object": s.object}, Explore: true, Seed: m.r.Int64()})
	if err != nil || advice.Suggestion == nil || advice.Suggestion.Rate < 0.5 { // nothing works yet
		return 0, err
	}
	return advice.Suggestion.Parameters["params.grip_force"].(float64), nil
}

// live runs one life of the arm. The gripper is inexact, and one grasp in twenty fails anyway.
func (p *result) live(ctx context.Context, node *local.Node, episodes, seed int) (err error) {
	r, run := rand.New(rand.NewPCG(uint64(seed), 1)), make([]float64, episodes)

	m := arm{node, fmt.Sprintf("%x-%d", p.name, seed), r}
	for episode := range run {
		s, force := situations[r.IntN(len(situations))], 0.0
		if p.choose != nil {
			force, err = p.choose(ctx, m, s)
		} else if p.name == "best possible" {
			force = (s.low + s.high) / 2
		}
		if err != nil {
			return err
		}
		if force == 0 {
			force = 2 + 28*r.Float64()
		}
		felt := force + r.NormFloat64()
		success := felt > s.low && felt < s.high && r.Float64() > 0.05
		if success {
			run[episode] = 100
		}
		told := success != (r.Float64() < p.wrong)
		_, err = m.Learn(ctx, &robotmem.LearnRequest{Insight: fmt.Sprintf("attempt %d: %s with %.1f N, success %t",
			episode, s.object, force, told), Collection: m.collection, Context: robotmem.Object{
			"episode": episode, "object": s.object, "params": map[string]any{"grip_force": force}, "task": map[string]any{"success": told}}})
		if err != nil {
			return err
		}
	}
	p.runs = append(p.runs, run)

	return nil
}

// mean returns the success rate in some episodes, in percent, and its standard deviation over the runs.
func (p *result) mean(from, to int) (mean, deviation float64) {
	n, squares := float64(len(p.runs)), 0.0
	for _, run := range p.runs {
		rate := 0.0
		for _, percent := range run[from:to] {
			rate += percent / float64(to-from)
		}
		mean, squares = mean+rate/n, squares+rate*rate/n
	}

	return mean, math.Sqrt(max(0, squares-mean*mean))
}

// draw plots the success rate of ten episodes each, from 0 to 100 %.
func draw(results []result) string {
	var b strings.Builder
	fmt.Fprint(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 800 320" font-size="13"><path d="M0 0V300H600" fill="none" stroke="#888"/>`)

	for i, colour := range []string{"#888", "#d95f02", "#1b6ca8", "#7a4fb3", "#2b8a3e"} {
		points, episodes := "", len(results[i].runs[0])
		for from := 0; from+10 <= episodes; from += 10 {
			mean, _ := results[i].mean(from, from+10)
			points += fmt.Sprintf("%d,%.1f ", (from+5)*600/episodes, 300-3*mean)
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s"/><text x="610" y="%d" fill="%s">%s</text>`,
			points, colour, 40+i*30, colour, results[i].name)
	}

	return b.String() + "</svg>"
}
