package engine_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/robotmem/robotmem-go/robotmem"
	"github.com/robotmem/robotmem-go/robotmem/local"
)

// TestStatements learns the pairs of testdata/statements.txt, each pair in a collection
// of its own and in both orders.
func TestStatements(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/statements.txt")
	if err != nil {
		t.Fatal(err)
	}
	var texts [][2]string
	var want []string
	count := map[string]int{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(line, " | ")
		if len(parts) != 3 {
			t.Fatalf("%q has %d parts, want 3", line, len(parts))
		}
		texts = append(texts, [2]string{parts[1], parts[2]}, [2]string{parts[2], parts[1]})
		want = append(want, parts[0], parts[0])
		count[parts[0]]++
	}
	if count["two"] < 60 || count["one"] < 40 {
		t.Fatalf("pairs %v, want at least 60 and 40", count)
	}
	e, err := local.Open(t.Context(), t.TempDir()+"/memory.db", local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	req := &robotmem.LearnBatchRequest{}
	for i, pair := range texts {
		for _, text := range pair {
			req.Items = append(req.Items, robotmem.LearnRequest{Insight: text, Collection: "pair" + string(rune('a'+i/26%26)) + string(rune('a'+i%26)) + string(rune('a'+i/676))})
		}
	}
	res, err := e.LearnBatch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]string{"two": "created", "one": "duplicate"}
	for i, pair := range texts {
		first, second := res.Results[2*i], res.Results[2*i+1]
		if first.Error != nil || second.Error != nil || first.Status != "created" || second.Status != status[want[i]] {
			t.Errorf("%q, then %q: got %+v %+v, want the second %s", pair[0], pair[1], second.LearnResponse, second.Error, status[want[i]])
		}
	}
}

// TestANumberThatIsANameIsAName learns pairs of facts that differ in a version, a part number, a symbol
// or the prefix of a unit, and pairs that say the same. Merging the former loses a fact, so none may be;
// keeping one of the latter twice costs a line.
func TestANumberThatIsANameIsAName(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/names.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	e, err := local.Open(t.Context(), t.TempDir()+"/memory.db", local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()

	different, lost, same, kept := 0, 0, 0, 0
	for line := range strings.Lines(string(data)) {
		var pair struct {
			ID, A, B string
			Same     bool
		}
		if err := json.Unmarshal([]byte(line), &pair); err != nil {
			t.Fatal(err)
		}
		var last *robotmem.LearnResponse
		for _, text := range []string{pair.A, pair.B} {
			if last, err = e.Learn(t.Context(), &robotmem.LearnRequest{Insight: text, Collection: pair.ID}); err != nil {
				t.Fatal(err)
			}
		}
		merged := last.Status == "duplicate"
		switch {
		case pair.Same:
			same++
			if !merged {
				kept++
				t.Logf("kept twice: %q and %q", pair.A, pair.B)
			}
		default:
			different++
			if merged {
				lost++
				t.Errorf("%q is taken for %q", pair.B, pair.A)
			}
		}
	}
	if different < 120 || same < 30 {
		t.Errorf("%d pairs that differ and %d that do not, want at least 120 and 30", different, same)
	}
	if kept > same/4 {
		t.Errorf("%d of %d pairs that say the same are kept twice, want at most a quarter", kept, same)
	}
	t.Logf("%d of %d facts lost, %d of %d repetitions kept", lost, different, kept, same)
}
