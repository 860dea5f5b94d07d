package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/robotmem/robotmem-go/robotmem"
)

// barWidth is the length of a bar for a rate of 1.
const barWidth = 20

// printAdvice writes the suggestion, then a table with bars for each parameter.
func printAdvice(w *lines, r *robotmem.AdviseResponse) {
	if r.Suggestion != nil {
		w.line("try %s", r.Suggestion.Text)
		w.detail("as in", strings.Trim(fmt.Sprint(r.Suggestion.MemoryIDs), "[]"))
	}
	if o := r.Overall; o != nil {
		w.detail("overall", estimateText(o))
	}
	w.detail("evidence", fmt.Sprintf("%s, %d attempts, %d memories without a known result", r.Evidence, r.Attempts, r.Unknown))
	for _, p := range r.Parameters {
		header := strings.TrimSpace(p.Path + " " + p.Unit)
		if p.Best != nil {
			w.line("\n%s: best %s, %s", header, valueText(*p.Best), estimateText(&p.Best.Estimate))
		} else {
			w.line("\n%s", header)
		}
		table(w, "VALUE\tRATE\tTRIES\t\t95 %\tLAST TRIED\tMEMORIES", p.Values, func(v robotmem.ValueRecord) []any {
			tries := fmt.Sprint(v.Attempts)
			if v.Successes != nil {
				tries = fmt.Sprintf("%g of %g", *v.Successes, v.Attempts)
			}
			return []any{valueText(v), fmt.Sprintf("%.3g", v.Rate), tries, bar(v.Estimate), fmt.Sprintf("%.3g to %.3g", v.Low, v.High), *v.LastTried, strings.Trim(fmt.Sprint(v.MemoryIDs), "[]")}
		})
	}
	for i, d := range r.Differs {
		if i == 0 {
			w.line("\nwhat differs between successes and failures:")
		}
		w.line("  %s (%.2g bits, p = %.2g)", d.Text, d.Bits, d.P)
	}
	for _, note := range r.Notes {
		w.line("note: %s", note)
	}
}

// bar draws a success rate: full up to the rate, and light up to the high end of the interval.
func bar(e robotmem.Estimate) string {
	if e.Successes == nil {
		return ""
	}
	full, high := int(math.Round(barWidth*e.Rate)), int(math.Round(barWidth*e.High))
	return strings.Repeat("█", full) + strings.Repeat("░", high-full) + strings.Repeat("·", barWidth-high)
}

func valueText(v robotmem.ValueRecord) string {
	if v.From == nil {
		return fmt.Sprint(v.Value)
	}
	return fmt.Sprintf("%.4g to %.4g", *v.From, *v.To)
}

func estimateText(e *robotmem.Estimate) string {
	if e.Successes != nil {
		return fmt.Sprintf("%.0f %% success (%.0f to %.0f %%) of %.3g attempts", 100*e.Rate, 100*e.Low, 100*e.High, e.Attempts)
	}
	return fmt.Sprintf("%.4g (%.4g to %.4g) of %.3g attempts", e.Rate, e.Low, e.High, e.Attempts)
}

func printAggregate(w *lines, r *robotmem.AggregateResponse) {
	table(w, "GROUP\tMEMORIES\tSUCCESS\tFAILURE\tPARTIAL\tUNKNOWN\tLAST", r.Groups, func(g robotmem.OutcomeGroup) []any {
		return []any{contextText(g.Group), g.Memories, g.Successes, g.Failures, g.Partial, g.Unknown, g.Last}
	})
	w.line("%d memories", r.Memories)
	for _, note := range r.Notes {
		w.line("note: %s", note)
	}
}
