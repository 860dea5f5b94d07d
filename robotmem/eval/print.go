package eval

import (
	"bufio"
	"fmt"
	"io"
	"slices"
)

// Print prints a table of the deployments, as the program answers them and left out, and if asked the
// questions that were not answered well.
func (res *DeploymentResult) Print(out io.Writer, wrong bool) error {
	to := bufio.NewWriter(out)
	row := func(s *DeploymentScore, note string) {
		fmt.Fprintf(to, "%-11s %9d  %.3f  %.3f  %10.3f  %12.2f  %s\n", s.Deployment, s.Answerable, s.Hit1, s.Hit5, s.TwinFirst, s.Unsaid, note)
	}
	fmt.Fprintln(to, "DEPLOYMENT  QUESTIONS  HIT@1  HIT@5  TWIN FIRST  UNKNOWN UNSAID")

	for _, s := range res.Deployments {
		note := ""
		if slices.Contains(Untouched, s.Deployment) {
			note = "untouched: nothing was chosen by it"
		}
		row(s, note)
	}

	row(res.Mean, "without the untouched")
	row(res.Untouched, "")

	fmt.Fprintln(to, "\nEach left out, by the setting that is best on the others:")

	for _, s := range res.LeftOut {
		row(s, res.Chosen[s.Deployment])
	}

	row(res.LeftOutMean, "")
	if !wrong {
		return to.Flush()
	}

	for _, s := range res.Deployments {
		for _, w := range s.Wrong {
			fmt.Fprintf(to, "\n%s, %s: %s\n  got %v, want %v\n", s.Deployment, w.Kind, w.Query, w.Got, w.Want)
		}
	}

	return to.Flush()
}
