package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	testRows      = 2000
	testQuestions = 40
)

func silent(string, int, int) {}

func testCorpus(t *testing.T) *corpus {
	t.Helper()
	c, err := newCorpus(t.Context(), testRows, testQuestions, silent)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// All engines run in all ways. Those that rank exactly by the measure of the correct
// results find all of them.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--n", "2000", "--questions", "40", "--json"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Rows != testRows || got.Dims != dims || got.Machine.Cores < 1 || !strings.HasPrefix(got.Machine.Go, "go") {
		t.Errorf("heading: %d rows of %d dimensions on %+v", got.Rows, got.Dims, got.Machine)
	}
	least := map[string]float64{ // the least fraction of correct results
		"robotmem hybrid":                  0.97, // equal only if both lists are
		"robotmem hybrid, filter":          1,
		"robotmem meaning":                 0.98, // searched with codes of two bits per dimension
		"robotmem meaning, filter":         1,
		"robotmem-words words":             1,
		"robotmem-words words, filter":     1,
		"bleve words":                      0.5, // with another formula and tokenizer
		"bleve words, filter":              1,   // only two rows match
		"fts5 words":                       0.5,
		"fts5 words, filter on the top 50": 0,
		"fts5 words, filter joined":        1,
		"fts5 words, filter as a subset":   1,
	}
	for _, r := range got.Results {
		name := r.Engine + " " + r.What
		want, ok := least[name]
		delete(least, name)
		switch {
		case !ok:
			t.Errorf("%s is not expected", name)
		case r.Found < want || r.Found > 1:
			t.Errorf("%s found %.3f, want at least %.3f", name, r.Found, want)
		case r.Questions != testQuestions || r.P50MS <= 0 || r.P95MS < r.P50MS || r.FirstMS <= 0 || r.LoadS <= 0:
			t.Errorf("%s: %+v", name, r)
		case r.Slower <= 0 || strings.HasPrefix(r.Engine, "robotmem") && r.Slower != 1:
			t.Errorf("%s is %v times slower", name, r.Slower)
		}
	}
	missing := 0
	for _, c := range candidates() {
		if c.missing != "" {
			missing++
			maps.DeleteFunc(least, func(name string, _ float64) bool { return strings.HasPrefix(name, c.name+" ") })
		}
	}
	for name := range least {
		t.Errorf("%s is not in the report", name)
	}
	if len(got.LeftOut) != missing {
		t.Errorf("left out: %q, want %d", got.LeftOut, missing)
	}
}

// The node's results by words equal those of a scan of all rows, in the same order.
func TestNodeEqualsExhaustiveSearch(t *testing.T) {
	c := testCorpus(t)
	truth := newTruth(c, silent)
	if err := truth.index(); err != nil {
		t.Fatal(err)
	}
	n := &node{}
	t.Cleanup(func() {
		if err := n.close(); err != nil {
			t.Error(err)
		}
	})
	if err := n.load(t.Context(), c, &clock{progress: silent}); err != nil {
		t.Fatal(err)
	}
	for _, w := range n.ways() {
		for i := range c.questions {
			q := &c.questions[i]
			got, err := w.ask(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			// By their scores: the engine orders equal ones by time.
			want, of := []float64{}, map[int]float64{}
			for _, s := range truth.words(q, w.rare, ofNode) {
				want, of[s.row] = append(want, s.score), s.score
			}
			scores := []float64{}
			for _, row := range got {
				scores = append(scores, of[row])
			}
			want = want[:min(ten, len(want))]
			if diff := cmp.Diff(want, scores); diff != "" {
				t.Errorf("%s, %q (-want +got):\n%s", w.what, q.text, diff)
			}
		}
	}
}

// The correct results by meaning are the first rows of a full sort.
func TestMeaningIsTheHeadOfAFullSort(t *testing.T) {
	c := testCorpus(t)
	truth := newTruth(c, silent)
	for i := range c.questions[:5] {
		q := &c.questions[i]
		var all []scored
		for row := range c.len() {
			sum := 0.0
			for d, x := range c.vector(row) {
				sum += float64(x) * float64(q.vector[d])
			}
			all = append(all, scored{row, sum})
		}
		slices.SortFunc(all, better)
		got := truth.meaning(q, false)
		if len(got) != fused {
			t.Fatalf("%d rows, want %d", len(got), fused)
		}
		for j, s := range got {
			if math.Abs(s.score-all[j].score) > 2e-6 {
				t.Errorf("%q: number %d scores %v, want %v", q.text, j, s.score, all[j].score)
			}
		}
	}
}

func TestRightAnswers(t *testing.T) {
	list := func(scores ...float64) (l []scored) {
		for i, s := range scores {
			l = append(l, scored{i, s})
		}
		return l
	}
	for name, tt := range map[string]struct {
		list   []scored
		answer []int
		want   int
		found  int
	}{
		"all":                {list(12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2), []int{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, 10, 10},
		"the eleventh":       {list(12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 10}, 10, 9},
		"equal to the tenth": {list(12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 3), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 10}, 10, 10},
		"too late":           {list(12, 11), []int{20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 0}, 2, 0},
		"twice":              {list(12, 11), []int{0, 0}, 2, 1},
		"few match":          {list(12, 11), []int{1, 0, 5}, 2, 2},
		"no match":           {nil, []int{1}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := tenOf(tt.list)
			if got := r.found(tt.answer); got != tt.found || r.want != tt.want {
				t.Errorf("found %d of %d, want %d of %d", got, r.want, tt.found, tt.want)
			}
		})
	}
}

func TestFuse(t *testing.T) {
	got := fuse([]scored{{7, 3}, {5, 2}, {6, 2}, {8, 1}}, []scored{{5, 0.9}, {9, 0.8}})
	want := []scored{{5, 1.0/62 + meaningWeight/61}, {7, 1.0 / 61}, {6, 1.0 / 62}, {8, 1.0 / 64}, {9, meaningWeight / 62}}
	near := cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(scored{}), near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i + 1)
	}
	for _, tt := range []struct {
		values []float64
		p      int
		want   float64
	}{{hundred, 50, 50}, {hundred, 95, 95}, {[]float64{4}, 95, 4}, {[]float64{1, 2, 3}, 50, 2}} {
		if got := percentile(tt.values, tt.p); got != tt.want {
			t.Errorf("percentile %d of %d values is %v, want %v", tt.p, len(tt.values), got, tt.want)
		}
	}
}

func TestWrongFlags(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"engine":    {[]string{"--only", "bleve,lucene"}, `no engine "lucene"; there are robotmem,`},
		"rows":      {[]string{"--n", "3"}, "--n is 3"},
		"questions": {[]string{"--questions", "0"}, "--questions is 0"},
		"argument":  {[]string{"bleve"}, `what is "bleve"?`},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), tt.args, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if err := run(t.Context(), []string{"--help"}, io.Discard, io.Discard); err != flag.ErrHelp {
		t.Errorf("help: %v", err)
	}
	if fts5Missing != "" {
		err := run(t.Context(), []string{"--only", "fts5"}, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "-tags sqlite_fts5") {
			t.Errorf("an engine that is missing: %v", err)
		}
	}
}

func TestTable(t *testing.T) {
	r := report{
		Machine: machine{CPU: "a CPU", Cores: 2, Go: "go1.26", OS: "linux/amd64", Load: "0.10"},
		Rows:    100, Dims: 384,
		Results: []result{
			{Engine: "robotmem", What: "hybrid", LoadS: 1.25, Questions: 3, FirstMS: 2, P50MS: 0.5, P95MS: 1, Found: 0.9, Bytes: 3e6, Slower: 1},
			{Engine: "robotmem", What: "meaning", LoadS: 1.25, Questions: 3, FirstMS: 2, P50MS: 0.25, P95MS: 1, Found: 1, Bytes: 3e6},
			{Engine: "quick", What: "words", LoadS: 0.25, Questions: 3, FirstMS: 2, P50MS: 0.125, P95MS: 1, Found: 1, Slower: 0.25},
		},
		LeftOut: []string{"x: why"},
	}
	var got bytes.Buffer
	if err := r.writeText(&got); err != nil {
		t.Fatal(err)
	}
	want := `100 rows, 384 dimensions; a CPU, 2 cores, go1.26, linux/amd64, load 0.10 before

engine    what     load s  first ms  p50 ms  p95 ms  found    MB  times slower  asked
robotmem  hybrid   1.2     2.00      0.50    1.00    90.0 %   3   1.0           3
          meaning          2.00      0.25    1.00    100.0 %      -             3
quick     words    0.2     2.00      0.12    1.00    100.0 %  -   0.25          3

left out: x: why
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// If the queries of a way are slow, fewer are measured.
func TestSlowWaysAreAskedLess(t *testing.T) {
	c := testCorpus(t)
	want := make([]right, len(c.questions))
	asked := 0
	w := way{what: "slow", ask: func(context.Context, *question) ([]int, error) {
		if asked++; asked == 2 {
			time.Sleep(slow + time.Millisecond)
		}
		return nil, nil
	}}
	r, err := ask(t.Context(), w, c, want, silent)
	if err != nil || r.Questions != slowAsk || asked != warmUp+slowAsk {
		t.Errorf("%d questions timed and %d asked (%v), want %d and %d", r.Questions, asked, err, slowAsk, warmUp+slowAsk)
	}
}
